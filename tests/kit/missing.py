"""Packages that are not installed, as the tests of what is said then need it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from afterglow.errors import MissingPackage


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Within it, importing these packages, or a module of theirs, fails; adapters are imported as if for the first time."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(sys.modules):
            if name.partition(".")[0] in packages:
                patch.setitem(sys.modules, name, None)
            if name.startswith("afterglow.adapters."):
                patch.delitem(sys.modules, name)
        for name in packages:
            patch.setitem(sys.modules, name, None)
        yield


def said_by(adapter: str) -> str:
    """What the import of this adapter fails with."""
    with pytest.raises(MissingPackage) as caught:
        importlib.import_module(f"afterglow.adapters.{adapter}")
    return str(caught.value)
