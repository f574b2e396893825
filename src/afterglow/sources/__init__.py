"""Sources: asked about a window of time during compaction, such as a calendar, a mailbox or another agent.

A source is handed the window and the user's prompt, and gives a short text. It reads and changes nothing. Whatever it says
was written by others: it is shown as a record, and is never an instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The time a source is asked about, in the owner's zone. `now` is when it is asked."""

    start: datetime
    end: datetime
    now: datetime


class Source(Protocol):
    """Something that can say what happened in a window of time."""

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        """What there is to say about the window, in at most so many tokens; or SourceError."""
        ...


def window_for(
    first_at: datetime,
    last_at: datetime,
    watermark: datetime | None,
    now: datetime,
    gap_seconds: float,
    zone: tzinfo,
) -> Window:
    """What to ask a source about when the turns from `first_at` to `last_at` are folded.

    It begins where the source's last report ended, if that is earlier, so that nothing falls through between two
    compactions. After an absence it ends now, so that the absence is reported on.
    """
    start = first_at if watermark is None else min(first_at, watermark)
    end = now if now - last_at > timedelta(seconds=gap_seconds) else last_at
    start = min(start, end)  # a clock may go back, and turns come out of order
    return Window(start=start.astimezone(zone), end=end.astimezone(zone), now=now.astimezone(zone))


def request_text(window: Window, prompt: str) -> str:
    """What a source that reads text is asked. The prompt is the user's own, unchanged."""
    period = f"from {iso(window.start)} to {iso(window.end)}"
    return f"Provide a contextual summary for the period {period}. {prompt}"


def iso(moment: datetime) -> str:
    """A moment in ISO 8601, to the second, with its offset."""
    return moment.isoformat(timespec="seconds")
