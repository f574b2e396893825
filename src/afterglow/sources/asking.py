"""Asking all sources at once, each about its own window and with its own deadline.

A source that fails, is late or does not stop when it is told to is left out with a sentence that says why. It holds up
nobody: what is late is cancelled and left to end behind the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo

from afterglow.errors import AfterglowError
from afterglow.sources import Source, Window, window_for
from afterglow.sources.patience import asking, is_asking
from afterglow.sources.texts import one_line

NOTHING = "Nothing to report."
_ERROR_TOKENS_MAX = 120

_log = logging.getLogger(__name__)
_ending: set[asyncio.Task[str]] = set()
"""What was late and has not ended yet; held here so that it is not forgotten half-way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A source that is asked, what it is asked for, and within which limits."""

    name: str
    label: str
    source: Source
    prompt: str
    deadline_seconds: float
    tokens_max: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What became of asking one source: a text on one line, or the sentence that says why there is none."""

    source: str
    label: str
    window: Window
    text: str = ""
    error: str | None = None


async def ask_all(
    wanted: Sequence[Wanted],
    *,
    first_at: datetime,
    last_at: datetime,
    watermarks: Mapping[str, datetime],
    now: datetime,
    gap_seconds: float,
    zone: tzinfo,
) -> list[Answer]:
    """What each source says about the turns from `first_at` to `last_at`, in the order they were given. Never raises."""

    def window(name: str) -> Window:
        return window_for(first_at, last_at, watermarks.get(name), now, gap_seconds, zone)

    return list(await asyncio.gather(*(ask(one, window(one.name)) for one in wanted)))


async def ask(wanted: Wanted, window: Window) -> Answer:
    """What one source says about the window. Never raises."""
    if is_asking():
        return _failed(
            wanted, window, "it is not asked from within another source; sources would ask each other for ever"
        )
    with asking(wanted.deadline_seconds):
        asked = asyncio.create_task(_report(wanted, window))
    try:
        await asyncio.wait({asked}, timeout=wanted.deadline_seconds)
    finally:
        if not asked.done():
            _leave(asked)
    if not asked.done():
        return _failed(wanted, window, f"it did not answer within {wanted.deadline_seconds:g} seconds")
    return _answer(wanted, window, asked)


async def settle(seconds: float | None = None) -> None:
    """Wait until everything that was late has ended, or for so long."""
    deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline):
            while _ending:
                await asyncio.wait(_ending)


async def _report(wanted: Wanted, window: Window) -> str:
    said = await wanted.source.report(window, wanted.prompt, tokens_max=wanted.tokens_max)
    if not isinstance(said, str):  # pyright: ignore[reportUnnecessaryIsInstance] - anybody's source, types or not
        raise TypeError(f"it gave {type(said).__name__} where a text was asked for")
    return one_line(said, wanted.tokens_max) or NOTHING


def _answer(wanted: Wanted, window: Window, asked: asyncio.Task[str]) -> Answer:
    error = asyncio.CancelledError("it gave up") if asked.cancelled() else asked.exception()
    if error is None:
        return Answer(source=wanted.name, label=wanted.label, window=window, text=asked.result())
    if not isinstance(error, AfterglowError):  # nobody foresaw it: the operator needs the place
        _log.warning("source %s failed", wanted.name, exc_info=error)
    return _failed(wanted, window, str(error) or type(error).__name__)


def _failed(wanted: Wanted, window: Window, error: str) -> Answer:
    return Answer(
        source=wanted.name, label=wanted.label, window=window, error=one_line(error, _ERROR_TOKENS_MAX) or "it failed"
    )


def _leave(asked: asyncio.Task[str]) -> None:
    """Cancel what is late, and let it end by itself: closing a connection or a process may take a while."""
    asked.cancel()
    _ending.add(asked)
    asked.add_done_callback(_ended)


def _ended(asked: asyncio.Task[str]) -> None:
    _ending.discard(asked)
    if not asked.cancelled() and (error := asked.exception()) is not None:
        _log.debug("a source that was late ended with: %s", error)
