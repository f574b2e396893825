"""Without its library an adapter says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.adapters.conftest import LIBRARIES

NEEDED = {"telegram": "telegram", "aiogram": "aiogram", "slack": "slack_bolt", "discord": "discord"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_adapter_without_its_library_says_what_to_install(library: str) -> None:
    code = f"import sys; sys.modules[{NEEDED[library]!r}] = None; import afterglow.adapters.{library}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert f"pip install '.[{library}]'" in ran.stderr.splitlines()[-1]
    assert "MissingPackage" in ran.stderr.splitlines()[-1]
