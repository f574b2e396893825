"""An end for what would never end: a test of a search that hangs fails, and the run goes on."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

SECONDS = 15
"""A linear search of 200,000 characters takes a fraction of this, a quadratic one more than twice as long."""


@contextmanager
def patience() -> Generator[None]:
    """End a test that hangs, after seconds of the processor: a busy machine is no fault."""

    def hangs(*_: Any) -> None:
        raise TimeoutError(f"it did not end in {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, hangs)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
