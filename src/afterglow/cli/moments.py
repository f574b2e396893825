"""Moments as people type them: `2026-03-02`, `2026-03-02T09:15`, with an offset or without, `2h`, `1d`, `now`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from afterglow.clock import moment_within
from afterglow.errors import BadInput

_SPAN = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FORMS = "give a time such as 2026-03-02T09:15 or 2026-03-02, or how long ago: 30m, 2h, 1d, 1w, or now"


def moment(text: str, now: datetime, zone: tzinfo) -> datetime:
    """The moment that is meant, in the zone. A time without an offset is one of the zone's own."""
    text = text.strip()
    try:
        if text == "now":
            return now.astimezone(zone)
        if span := _SPAN.fullmatch(text):
            return (now - timedelta(**{_UNITS[span[2]]: int(span[1])})).astimezone(zone)
        given = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise BadInput(f"{text[:40]!r} is no time; {FORMS}") from None
    return moment_within(given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(zone)
