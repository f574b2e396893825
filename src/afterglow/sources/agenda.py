"""What stands in a calendar, in words: `Edgewood Park hike 9:00 AM–12:00 PM (completed). Dentist 2:00 PM (in 45 minutes).`"""

from __future__ import annotations

from datetime import datetime, timedelta

from afterglow.sources import Window
from afterglow.sources.events import Event, Found
from afterglow.sources.listing import Item, Listing
from afterglow.sources.moments import day, point, stretch, wait


def agenda(found: Found, window: Window) -> Listing:
    """The events as sentences. What goes on or comes next ranks first, then what has just passed."""
    nearest = sorted(found.events, key=lambda event: _distance(event, window.now))
    ranks = {event: rank for rank, event in enumerate(nearest)}
    unread = "1 event" if found.unread == 1 else f"{found.unread} events"
    return Listing(
        items=tuple(Item(text=sentence(event, window.now), rank=ranks[event]) for event in found.events),
        notes=(f"{unread} could not be read.",) if found.unread else (),
    )


def sentence(event: Event, now: datetime) -> str:
    """One event as a sentence, in the zone of `now`."""
    state = _state(event, now)
    where = f", {event.place}" if event.place else ""
    tentative = "tentative, " if event.tentative else ""
    return f"{event.title} {_when(event, now)}{where} ({tentative}{state})."


def _when(event: Event, now: datetime) -> str:
    start, end = event.start.astimezone(now.tzinfo), event.end.astimezone(now.tzinfo)
    if not event.all_day:
        return stretch(start, end, now)
    last = end - timedelta(days=1) if end > start else start  # the end of an all-day event is the day after it
    if start.date() == last.date():
        return "all day" if start.date() == now.date() else f"all day {day(start, now)}"
    return f"all day {day(start, now)}–{day(last, now)}"


def _state(event: Event, now: datetime) -> str:
    if event.start > now and event.all_day:
        days = (event.start.astimezone(now.tzinfo).date() - now.date()).days
        return "tomorrow" if days == 1 else f"in {days} days"
    if event.start > now:
        return f"in {wait(event.start, now)}"
    if event.end > now:
        return "today" if event.all_day else f"going on, until {point(event.end.astimezone(now.tzinfo), now)}"
    return "completed" if event.end > event.start else "past"


def _distance(event: Event, now: datetime) -> tuple[int, timedelta]:
    """What goes on or comes comes first, the nearest of it first; then what is over, the latest first."""
    if event.end > now or event.start >= now:
        return 0, max(event.start - now, timedelta(0))
    return 1, now - event.end
