"""A limit of a test's CPU time, so that a search that hangs fails its test and the run continues."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_SECONDS = 15
"""A linear search of 200,000 characters takes a fraction of this, a quadratic one more than twice as long."""


@contextmanager
def limit_cpu() -> Generator[None]:
    """Fail after seconds of CPU time, which a busy machine does not shorten."""

    def hangs(*_: Any) -> None:
        raise TimeoutError(f"it did not end in {_SECONDS} seconds of CPU time")

    before = signal.signal(signal.SIGPROF, hangs)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
