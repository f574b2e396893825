"""The programs in examples/, run as a person runs them."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

RunExample = Callable[..., str]


def run_example(program: Path, *args: str | Path) -> str:
    """What it prints, run in this process, without a key of any provider."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as told:
        for name in os.environ:
            if name.endswith("_API_KEY"):
                patch.delenv(name)
        patch.setattr(sys, "argv", [str(program), *map(str, args)])
        runpy.run_path(str(program), run_name="__main__")
    return told.getvalue()


def run_example_alone(program: Path, *args: str | Path) -> str:
    """The same in a process of its own, where a warning is an error."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    command = [sys.executable, "-W", "error", str(program), *map(str, args)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


here_and_alone = pytest.mark.parametrize("run", [run_example, pytest.param(run_example_alone, marks=pytest.mark.whole)])
"""The test runs its program in this process, and in the whole suite also in a process of its own."""
