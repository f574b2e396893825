"""Settings files for tests, and what loading says of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadSettings
from afterglow.settings import Settings, load

PASSWORD = "hunter2"


@pytest.fixture(autouse=True)
def empty_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and a data folder beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return folder


def written(folder: Path, text: str, name: str = "afterglow.toml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def loaded_from(text: str, name: str = "afterglow.toml", **environ: str) -> Settings:
    return load(written(Path.cwd(), text, name), environ=environ).settings


def problems(
    text: str = "",
    name: str = "afterglow.toml",
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> list[str]:
    """What load says of a file, with the file's folder left out."""
    file = written(Path.cwd(), text, name)
    with pytest.raises(BadSettings) as caught:
        load(file, environ=environ or {}, overrides=overrides or {})
    return str(caught.value).replace(f"{file.parent}{os.sep}", "").split("\n")


def the_problem(text: str = "", name: str = "afterglow.toml", environ: Mapping[str, str] | None = None) -> str:
    (problem,) = problems(text, name, environ)
    return problem
