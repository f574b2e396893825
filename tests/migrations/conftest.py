"""Migrations are tried in real processes on both databases, as the faults are, from a database that is empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import nursery
from tests.kit.databases import empty_schema


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a database is to be made, for tasks.open_store."""
    if request.param == "sqlite":
        yield str(tmp_path / "afterglow.db")
        return
    with empty_schema() as schema:
        yield schema


__all__ = ["address", "nursery"]
