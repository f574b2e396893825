"""Windows to ask about, and calendars to ask."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from afterglow.sources import Source, Window
from afterglow.sources.asking import Answer, Wanted, ask_all

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def window(start: str, end: str, now: str | None = None, zone: ZoneInfo = LOS_ANGELES) -> Window:
    """A window from moments such as `2026-03-02 09:15` in the zone."""

    def moment(text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=zone)

    return Window(start=moment(start), end=moment(end), now=moment(now or end))


MORNING = window("2026-03-02 09:15", "2026-03-02 13:15")


def calendar(*events: str, before: str = "") -> str:
    """An iCalendar text; each event is given as its lines."""
    listed = "".join(f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:test\n{before}{listed}END:VCALENDAR\n".replace("\n", "\r\n")


def event(title: str, start: str, *more: str, uid: str | None = None) -> str:
    """The lines of an event; `start` as it stands after DTSTART, such as `;VALUE=DATE:20260302`."""
    return "\n".join([f"UID:{uid or title}", f"SUMMARY:{title}", f"DTSTART{start}", *more])


def wanted(source: Source, name: str = "one", **more: Any) -> Wanted:
    given = {"label": name.capitalize(), "prompt": "", "deadline_seconds": 10.0, "tokens_max": 300, **more}
    return Wanted(name=name, source=source, **given)


async def ask_about(asked: Window, *sources: Wanted) -> list[Answer]:
    """Ask about exactly this window."""
    zone = asked.now.tzinfo
    assert zone is not None
    return await ask_all(
        sources, first_at=asked.start, last_at=asked.end, watermarks={}, now=asked.now, gap_seconds=10**9, zone=zone
    )
