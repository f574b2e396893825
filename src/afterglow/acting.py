"""Who is acting: every door says so once, and whatever changes memory behind it is written down under that name."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

LIBRARY = "library"
"""A program that came through no door."""
_acting: ContextVar[str] = ContextVar("acting", default=LIBRARY)


def who() -> str:
    """Who acts here: `cli:ana`, `token:phone`, `worker:facts`; a program that came through no door is `library`."""
    return _acting.get()


@contextmanager
def acting_as(name: str) -> Generator[None]:
    """Within this, and in the tasks that are begun in it, this one acts."""
    before = _acting.set(name)
    try:
        yield
    finally:
        _acting.reset(before)
