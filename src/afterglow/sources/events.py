"""The events of a calendar that lie in a span of time, with everything that repeats written out.

A calendar comes from outside. Each series of events is read by itself, so that a broken one spoils no other; those that
repeat come last, and only as long as there is time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, cast

from afterglow.clock import Deadline
from afterglow.errors import MissingPackage, SourceError
from afterglow.sources.ics import Cut, cut_up, first_day, rules_of
from afterglow.sources.recurrence import is_bearable, rule_parts
from afterglow.sources.texts import shorter

try:
    import icalendar
    import recurring_ical_events  # pyright: ignore[reportMissingTypeStubs]
except ImportError:
    raise MissingPackage(
        "a calendar needs the packages icalendar and recurring-ical-events; "
        "install them with: pip install '.[sources]' in Afterglow's folder"
    ) from None

SERIES_MAX = 20_000
EVENTS_MAX = 2_000
SECONDS_MAX = 5.0
"""How long reading one calendar's series may take."""

_TITLE_CHARS_MAX = 120
_PLACE_CHARS_MAX = 80
_MARGIN = timedelta(days=2)
"""Days and times without a zone are first compared without one; so the span is taken wider, and narrowed afterwards."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event that takes place once, its moments in UTC. Where `end` is `start`, it has no length."""

    title: str
    start: datetime
    end: datetime
    all_day: bool = False
    place: str = ""
    tentative: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The events of a span, in order, and how many events or series could not be read."""

    events: tuple[Event, ...]
    unread: int


def find_events(texts: Iterable[str], start: datetime, end: datetime, zone: tzinfo) -> Found:
    """What takes place between two moments. Days and times without a zone are those of `zone`; or SourceError."""
    span = start.astimezone(UTC), end.astimezone(UTC)
    cuts = [cut_up(text, *span) for text in texts]
    series = [(cut, uid) for cut in cuts for uid in cut.series]
    series.sort(key=lambda one: bool(rules_of(one[0].series[one[1]])))
    unread = sum(cut.broken for cut in cuts) + max(0, len(series) - SERIES_MAX)
    enough = Deadline(SECONDS_MAX)
    found: set[Event] = set()
    understood = sum(cut.elsewhere for cut in cuts)
    for cut, uid in series[:SERIES_MAX]:
        try:
            if enough.passed or len(found) >= EVENTS_MAX or not _is_bearable_series(cut.series[uid], span[1]):
                raise ValueError("it would take too long")
            found.update(_in_span(_written_out(cut, uid, *span), span, zone))
            understood += 1
        except Exception:  # noqa: BLE001 - the libraries raise whatever a broken event makes them stumble over
            unread += 1
    if unread and not understood:
        raise SourceError("not one event of the calendar can be read; see whether it is a whole iCalendar file")
    return Found(events=tuple(sorted(found, key=lambda one: (one.start, one.end, one.title))), unread=unread)


def _is_bearable_series(events: list[str], end: datetime) -> bool:
    first = first_day(events) or end.date()
    years = max(1.0, (end.date() - first).days / 365)
    return all(is_bearable(rule_parts(rule), years) for rule in rules_of(events))


def _written_out(cut: Cut, uid: str, start: datetime, end: datetime) -> list[Any]:
    calendar = icalendar.Calendar.from_ical(cut.series_text(uid))
    query = cast("Any", recurring_ical_events).of(calendar, components=["VEVENT"])
    return query.between(start - _MARGIN, end + _MARGIN)


def _in_span(components: Iterable[Any], span: tuple[datetime, datetime], zone: tzinfo) -> Iterator[Event]:
    for component in components:
        if str(component.get("STATUS", "")).strip().upper() == "CANCELLED":
            continue
        event = _event(component, zone)
        ends_in_time = event.end > span[0] or (event.end == event.start and event.end >= span[0])
        if ends_in_time and event.start <= span[1]:
            yield event


def _event(component: Any, zone: tzinfo) -> Event:
    begins, ends = component.start, component.end
    place = shorter(_text(component, "LOCATION"), _PLACE_CHARS_MAX)
    return Event(
        title=shorter(_text(component, "SUMMARY"), _TITLE_CHARS_MAX) or "(no title)",
        start=_moment(begins, zone),
        end=_moment(max(begins, ends), zone),
        all_day=not isinstance(begins, datetime),
        place="" if "://" in place else place,  # a link to a meeting is a key to it
        tentative=str(component.get("STATUS", "")).strip().upper() == "TENTATIVE",
    )


def _text(component: Any, name: str) -> str:
    value = component.get(name, "")
    return str(cast("list[Any]", value)[0] if isinstance(value, list) else value)


def _moment(stamp: date, zone: tzinfo) -> datetime:
    """The moment in UTC. A day begins at midnight in the owner's zone; a time without a zone is one of that zone."""
    moment = stamp if isinstance(stamp, datetime) else datetime.combine(stamp, time())
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
