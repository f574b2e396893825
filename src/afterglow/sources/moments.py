"""Moments as people say them: `2:00 PM`, `Mar 2, 9:00 AM`, `in 45 minutes`. In English, and in the owner's zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def clock_time(moment: datetime) -> str:
    return f"{moment.hour % 12 or 12}:{moment.minute:02} {'AM' if moment.hour < 12 else 'PM'}"


def day(moment: date, now: date) -> str:
    """The day, with the year where it is another one."""
    year = f", {moment.year}" if moment.year != now.year else ""
    return f"{_MONTHS[moment.month - 1]} {moment.day}{year}"


def point(moment: datetime, now: datetime) -> str:
    """The time, with the day where it is another one. Both are in the owner's zone."""
    if moment.date() == now.date():
        return clock_time(moment)
    return f"{day(moment, now)}, {clock_time(moment)}"


def stretch(start: datetime, end: datetime, now: datetime) -> str:
    """From when to when, with the days that are not today's, each once."""
    if start == end:
        return point(start, now)
    ends = clock_time(end) if end.date() == start.date() else point(end, now)
    if start.date() != end.date() and end.date() == now.date():
        ends = f"today, {clock_time(end)}"
    return f"{point(start, now)}–{ends}"


def wait(until: datetime, now: datetime) -> str:
    """How long it is until then. Counted in UTC: between two times of one zone an hour may be missing or twice there."""
    left = until.astimezone(UTC) - now.astimezone(UTC)
    minutes = max(1, round(left / timedelta(minutes=1)))
    if minutes < 120:
        return _of(minutes, "minute") if minutes != 60 else "1 hour"
    return _of(round(minutes / 60), "hour") if minutes < 48 * 60 else _of(round(minutes / 1440), "day")


def _of(count: int, unit: str) -> str:
    return f"{count} {unit}" + ("" if count == 1 else "s")
