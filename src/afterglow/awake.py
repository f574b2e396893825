"""Awake hours: when somebody may be written to unasked. From `start` to before `end` by the clock on their wall.

Hours may go over midnight. What counts is what the clock shows, so that a day with a clock change has the same hours; where
the clocks skip the beginning, the hours begin when they have passed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class AwakeHours:
    """From when to when somebody is awake; where both are the same, always."""

    start: time
    end: time
    zone: tzinfo


def is_awake(at: datetime, hours: AwakeHours | None) -> bool:
    """Whether somebody with these hours may be written to at this moment; whoever has none always may."""
    if hours is None or hours.start == hours.end:
        return True
    shown = at.astimezone(hours.zone).time()
    if hours.start < hours.end:
        return hours.start <= shown < hours.end
    return shown >= hours.start or shown < hours.end


def next_awake(at: datetime, hours: AwakeHours | None) -> datetime:
    """This moment if it is within the hours, else the next at which they begin."""
    if hours is None or is_awake(at, hours):
        return at
    today = at.astimezone(hours.zone).date()
    days = (datetime.combine(today + timedelta(days=days), hours.start, tzinfo=hours.zone) for days in range(3))
    starts = (day.replace(fold=fold).astimezone(UTC) for day in days for fold in (0, 1))  # it may come twice
    start = min(each for each in starts if each > at and is_awake(each, hours))
    while start - _MINUTE > at and is_awake(start - _MINUTE, hours):  # the clocks skipped it: they show later already
        start -= _MINUTE
    return start
