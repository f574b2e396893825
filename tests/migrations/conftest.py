"""Migrations are tried in real processes on both databases, as the faults are."""

from tests.faults.conftest import address, nursery

__all__ = ["address", "nursery"]
