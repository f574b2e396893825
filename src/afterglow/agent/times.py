"""When a task runs: cron expressions and moments as people write them, in the zone they mean, by APScheduler's triggers.

A cron expression means here what it means to Debian's cron, and to every other schedule of Afterglow. APScheduler reads some
of it otherwise, and is corrected for that:

- it counts weekdays from Monday, cron from Sunday: they are given to it by name;
- it wants day and weekday both to fit, cron either of them where both are named: it is asked once for each;
- around a clock change it takes a time that comes twice twice, moves one that the clocks skip, and misses some that there are
  (00:24 on the Monday after Berlin goes forward). So it only says what stands on a clock that nobody ever changes, and when
  that is, is worked out here: a time of the day is taken once a day, the first time it comes, or when the clocks have passed
  the gap it is in. Where minute or hour begin with a star, a distance is meant: every time the clocks really show is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import takewhile
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from afterglow.errors import BadInput, MissingPackage
from afterglow.settings import Settings
from afterglow.turns import Binding

_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELD = re.compile(r"(\*|[0-7]|[a-z]{3})(?:-([0-7]|[a-z]{3}))?(?:/([1-9]\d?))?")
_LOOKED_AT_MAX = 10_000
"""More times than this are not looked through for one that there is."""
LAST = datetime(2200, 1, 1, tzinfo=UTC)
"""No task runs later. A day that never comes is not looked for any longer, and any zone can tell what comes before."""
_CHANGE = timedelta(hours=3)
"""More than any change of clocks."""
_PLAIN = re.compile(r"[0-9a-z*,/-]+", re.IGNORECASE)


def zone_of(name: str) -> ZoneInfo:
    """The zone of this name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(f"there is no zone {name[:60]!r}; name one such as Europe/Berlin, or UTC") from None


def zone_for(settings: Settings, binding: Binding) -> str:
    """The zone whose clocks a person goes by: their own, or else that of the settings."""
    return settings.away_of(binding).zone_or(settings.zone)


def moment_of(text: str, zone: tzinfo) -> datetime:
    """The moment that is written, as 2026-03-02T09:15; without an offset it is a time of the zone's own."""
    try:
        given = datetime.fromisoformat(text.strip())
        return given.astimezone(UTC) if given.tzinfo else at_wall(given, zone)
    except (ValueError, OverflowError):
        raise BadInput(f"{text[:40]!r} is no time; give one such as 2026-03-02T09:15") from None


def at_wall(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which the clocks of a zone show this: the first of two, and where they skip it the end of the gap."""
    wall = wall.replace(tzinfo=None, fold=0)
    if moments := _showing(wall, zone):
        return moments[0]
    early, late = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (1, 0))
    while late - early > timedelta(seconds=1):  # the change lies between the two readings of what is skipped
        middle = early + (late - early) / 2
        early, late = (middle, late) if _offset(middle, zone) == _offset(early, zone) else (early, middle)
    return late.replace(microsecond=0)


def check_cron(cron: str) -> str:
    """The expression, if it is one that ever comes."""
    plain = " ".join(cron.split())
    if next_time(plain, datetime(2026, 1, 1, tzinfo=UTC), UTC) is None:
        raise BadInput(f"{plain!r} names no day that there is; give one that comes")
    return plain


def next_time(cron: str, after: datetime, zone: tzinfo) -> datetime | None:
    """The first moment after this one that the expression names; None where none comes any more."""
    fields = cron.split()
    if len(fields) != 5:
        _wrong(cron, "it has not five fields")
    wall = after.astimezone(zone).replace(tzinfo=None, fold=0)
    if not fields[0].startswith("*") and not fields[1].startswith("*"):
        return next((moment for each in _shown(fields, wall) if (moment := at_wall(each, zone)) > after), None)
    first = next((moment for each in _shown(fields, wall) for moment in _showing(each, zone) if moment > after), None)
    # Behind the place where the clocks are put back they show again what they showed before it.
    around = (after - _CHANGE, after + _CHANGE)
    if first is None or _offset(around[0], zone) <= _offset(around[1], zone):
        return first
    soon = takewhile(lambda each: each < wall + _CHANGE, _shown(fields, wall - _CHANGE))
    return min([first, *(moment for each in soon for moment in _showing(each, zone) if moment > after)])


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _showing(wall: datetime, zone: tzinfo) -> list[datetime]:
    """The moments at which the clocks of a zone show this: one, two where they are put back, none where they skip it."""
    moments = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return [each for each in moments if each.astimezone(zone).replace(tzinfo=None, fold=0) == wall]


def _shown(fields: list[str], after: datetime) -> Iterator[datetime]:
    """What the expression names on a clock that nobody ever changes, one after another."""
    triggers = _triggers(tuple(fields))
    now = after.replace(tzinfo=UTC)
    for _ in range(_LOOKED_AT_MAX):
        found = [each.get_next_fire_time(None, now + timedelta(microseconds=1)) for each in triggers]
        if not (found := [each for each in found if each is not None]):
            return
        now = min(found)
        yield now.replace(tzinfo=None)


@lru_cache(maxsize=500)
def _triggers(fields: tuple[str, ...]) -> list[Any]:
    """One trigger; two where day and weekday are both named, of which either is enough."""
    try:
        from apscheduler.triggers.cron import CronTrigger  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingPackage(
            f"times by cron need the package {(error.name or 'apscheduler').split('.')[0]}; install it with: "
            "pip install '.[agent]' in Afterglow's folder"
        ) from None
    minute, hour, day, month, weekday = fields
    cron = " ".join(fields)
    if odd := next((each for each in fields if not _PLAIN.fullmatch(each)), None):
        _wrong(cron, f"{odd!r} is not of numbers, names, and * , - /")
    days: list[tuple[str, str]] = [(day, _weekdays(weekday, cron))]
    if not day.startswith("*") and not weekday.startswith("*"):
        days = [(day, "*"), ("*", _weekdays(weekday, cron))]
    try:
        return [
            CronTrigger(
                minute=minute, hour=hour, day=one, month=month.lower(), day_of_week=other, timezone=UTC, end_date=LAST
            )
            for one, other in days
        ]
    except ValueError as error:
        _wrong(cron, str(error))


def _weekdays(field: str, cron: str) -> str:
    """The weekdays of a cron field by their names, each written out: 5-7 is fri,sat,sun."""
    if field == "*":
        return field
    found = {number for part in field.lower().split(",") for number in _weekdays_of(part, cron)}
    return ",".join(_WEEKDAYS[number] for number in sorted(found))


def _weekdays_of(part: str, cron: str) -> list[int]:
    match = _FIELD.fullmatch(part)
    if match is None:
        _wrong(cron, f"{part!r} is no weekday")
    first, last, step = match.groups()
    if first == "*":
        begin, end = 0, 6
    else:
        begin = _weekday(first, cron)
        end = _weekday(last, cron) if last else 6 if step else begin
    end += 7 if end < begin and end == 0 else 0  # Sunday is at both ends of a week
    if end < begin:
        _wrong(cron, f"{part!r} runs backwards")
    return [number % 7 for number in range(begin, end + 1, int(step or 1))]


def _weekday(text: str, cron: str) -> int:
    if text.isdigit():
        return int(text)
    if text not in _WEEKDAYS:
        _wrong(cron, f"{text!r} is no weekday")
    return _WEEKDAYS.index(text)


def _wrong(cron: str, why: str) -> NoReturn:
    raise BadInput(
        f"{cron[:80]!r} is no cron expression ({why}); write five fields such as '30 18 * * 1-5': minute, hour, day, month, "
        "weekday"
    )
