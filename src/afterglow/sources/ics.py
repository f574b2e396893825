"""The text of a calendar cut into its events, without reading them: a broken event spoils no other, and most are not
needed at all."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from afterglow.errors import SourceError
from afterglow.sources.recurrence import is_bearable, rule_parts

_HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:afterglow\r\n"
_MARKS = ("BEGIN:VEVENT", "BEGIN:VTIMEZONE", "BEGIN:VCALENDAR", "END:VCALENDAR")
_CALENDAR_ZONE = re.compile(r"(?im)^X-WR-TIMEZONE\b[^:\r\n]*:[^\r\n]{1,100}$")
_STAMP = re.compile(r"(?im)^(DTSTART|DTEND)\b[^:\r\n]*:(\d{4})(\d\d)(\d\d)")
_UID = re.compile(r"(?im)^UID\b[^:\r\n]*:([^\r\n]*)")
_RULE = re.compile(r"(?im)^(?:RRULE|EXRULE)\b[^:\r\n]*:([^\r\n]*)")
_REPEATS = re.compile(r"(?im)^(RRULE|RDATE|RECURRENCE-ID)\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """A calendar cut up: what stands before the events, and the events of each series."""

    prelude: str
    series: dict[str, list[str]]
    elsewhere: int
    """How many events lie outside the time, and were passed over."""
    broken: int
    """How many events were broken off."""

    def series_text(self, uid: str) -> str:
        """A calendar with this series alone."""
        return f"{self.prelude}{''.join(self.series[uid])}END:VCALENDAR\r\n"


def cut_up(text: str, start: datetime, end: datetime) -> Cut:
    """The series that may have something to do with the time between two moments; or SourceError."""
    unfolded = re.sub(r"\r?\n[ \t]", "", text.replace("\0", ""))
    found, broken = _blocks(unfolded)
    if not found and not broken and "BEGIN:VCALENDAR" not in unfolded[:10_000].upper():
        raise SourceError("what was read is no calendar: it has no line BEGIN:VCALENDAR")
    zones = [lines for name, lines in found if name == "VTIMEZONE" and _is_plain_zone(lines)]
    own = _CALENDAR_ZONE.search(unfolded)
    prelude = _HEAD + (f"{own[0].strip()}\r\n" if own else "") + "".join(zones)
    events = [lines for name, lines in found if name == "VEVENT"]
    near = [lines for lines in events if _may_concern(lines, start.date(), end.date())]
    series: dict[str, list[str]] = defaultdict(list)
    for number, lines in enumerate(near):
        uid = _UID.search(lines)
        series[uid[1].strip() if uid else f"event {number}"].append(lines)
    return Cut(prelude=prelude, series=dict(series), elsewhere=len(events) - len(near), broken=broken)


def rules_of(events: list[str]) -> list[str]:
    """The rules by which a series repeats."""
    return [rule.strip() for lines in events for rule in _RULE.findall(lines)]


def first_day(events: list[str]) -> date | None:
    """The earliest day on which an event of the series begins; None where none can be read."""
    days = [day for lines in events if (day := _days(lines).get("DTSTART")) is not None]
    return min(days, default=None)


def _blocks(text: str) -> tuple[list[tuple[str, str]], int]:
    """The events and the time zones, each with its lines, and how many began and never ended."""
    found: list[tuple[str, str]] = []
    broken = 0
    name, held = "", list[str]()
    for line in re.split(r"\r?\n|\r", text):
        mark = line.strip().upper()
        if mark in _MARKS:
            broken += name == "VEVENT"
            name, held = mark.partition(":")[2] if mark in _MARKS[:2] else "", []
        if name:
            held.append(line + "\r\n")
            if mark == f"END:{name}":
                found.append((name, "".join(held)))
                name = ""
    return found, broken + (name == "VEVENT")


def _may_concern(lines: str, start: date, end: date) -> bool:
    """Whether an event may lie in the time. What repeats always may; what cannot be told is looked at closely later."""
    days = _days(lines)
    if _REPEATS.search(lines) or "DTSTART" not in days:
        return True
    begins = days["DTSTART"]
    if begins > end + timedelta(days=2):
        return False
    if "DTEND" not in days and re.search(r"(?im)^DURATION\b", lines):
        return True
    return days.get("DTEND", begins) >= start - timedelta(days=2)


def _days(lines: str) -> dict[str, date]:
    days: dict[str, date] = {}
    for name, year, month, day in _STAMP.findall(lines):
        try:
            days.setdefault(name.upper(), date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return days


def _is_plain_zone(lines: str) -> bool:
    """Whether a zone changes its clock by the year, as zones do; one that does so every second is a trap."""
    parts = [rule_parts(rule) for rule in rules_of([lines])]
    return len(lines) < 100_000 and all(rule.get("FREQ") == "YEARLY" and is_bearable(rule, 200) for rule in parts)
