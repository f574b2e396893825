"""The digest: whether somebody who is back is told what the agent did meanwhile, and in which words. Pure.

Four gates, the cheapest first: it is wanted; the person was seen before; they were away long enough; something happened.
The classic text is that of the program it comes from, to the letter. The rich one goes by goals, not by steps, and begins with
what needs the person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Literal, Protocol, get_args

from afterglow.channels import escaped
from afterglow.goals import GoalEvent, Outcome

Gate = Literal["disabled", "first", "clock", "too soon", "nothing happened"]
Status = Literal["claimed", "delivered", "failed", "none"]
STATUSES: tuple[Status, ...] = get_args(Status)
Occasion = Literal["return", "daily"]
OCCASIONS: tuple[Occasion, ...] = get_args(Occasion)

SHOWN_MAX = 10
"""The most goals, facts or threads that the rich text lists under one heading."""
_TITLE_CHARS = 80
_NOTE_CHARS = 160
_MINUTE_SECONDS = 60
_HOUR_SECONDS = 60 * _MINUTE_SECONDS
_DAY_HOURS = 24
_WEEK = timedelta(days=6)
"""Of the time before this a weekday would say too little."""


class Away(Protocol):
    """What the settings say of digests."""

    @property
    def enabled(self) -> bool: ...
    @property
    def threshold_hours(self) -> float: ...
    @property
    def max_events(self) -> int: ...


class GoalLog(Protocol):
    """Where goal events are read from."""

    async def tail_since(self, since: datetime, limit: int) -> Sequence[GoalEvent]:
        """The newest events since a moment, the newest first, at most so many."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """What happened while somebody was away: the newest events, the newest first, and how many there were in all."""

    since: datetime
    until: datetime
    events: Sequence[GoalEvent]
    total: int
    waiting: Sequence[GoalEvent] = ()
    """Those among the older events that still need the person."""
    facts: Sequence[str] = ()
    """What was learnt meanwhile."""
    threads: Sequence[str] = ()
    """What was left open in the last conversation."""
    prose: str | None = None
    cost_usd: float | None = None
    """What the prose cost, where that is to be shown."""

    @property
    def elapsed(self) -> timedelta:
        return self.until - self.since


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """What became of the message for one absence. `number` is that of the absence."""

    owner: str
    agent: str
    number: int
    at: datetime
    since: datetime
    status: Status
    reason: str
    """Why there was none, or why it failed; empty for one that was delivered."""
    shown: int
    total: int
    text: str
    kind: Occasion = "return"
    remembers: bool = False
    """Whether the text tells facts or threads, which may be forgotten later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestPlace:
    """Where a digest stands in a list, the newest first; a list goes on behind it."""

    at: datetime
    owner: str
    agent: str
    number: int


def gate(away: Away, last_seen: datetime | None, now: datetime, events: int) -> Gate | None:
    """The gate that stops a digest; None where all are open. `events` is how many there are in the absence."""
    if not away.enabled:
        return "disabled"
    if last_seen is None:
        return "first"
    if now < last_seen:
        return "clock"
    if now - last_seen < timedelta(hours=away.threshold_hours):
        return "too soon"
    return None if events else "nothing happened"


async def try_compose_away_digest(away: Away, last_seen: datetime | None, now: datetime, log: GoalLog) -> str | None:
    """The classic text, if all gates are open. Who calls it keeps `last_seen`; `Memory.on_inbound` does all of it."""
    if gate(away, last_seen, now, events=1) is not None:
        return None
    assert last_seen is not None, "or a gate were closed"
    found = await log.tail_since(last_seen, away.max_events + 1)  # one more says whether there are more
    if not found:
        return None
    absence = Absence(since=last_seen, until=now, events=found[: away.max_events], total=len(found))
    return classic_text(absence)


def classic_text(absence: Absence) -> str:
    """The counts of the events that are shown, to the letter as people know them."""
    counts = Counter(event.outcome for event in absence.events)
    shown = len(absence.events)
    other = counts["running"] + counts["needs_you"]
    lines = [
        f"**While you were away** (last {_hours_and_minutes(absence.elapsed)}):",
        f"- {shown} goal turn(s) recorded",
        *([f"- {counts['completed']} completed"] if counts["completed"] else []),
        *([f"- {counts['cancelled']} aborted/cancelled"] if counts["cancelled"] else []),
        *([f"- {counts['failed']} failed"] if counts["failed"] else []),
        *([f"- {other} in progress / other"] if other else []),
    ]
    if absence.total > shown:
        lines += ["", f"_(showing the most recent {shown} — older events may exist)_"]
    return "\n".join(lines) + "\n"


def rich_text(absence: Absence, zone: tzinfo) -> str:
    """What needs the person first, then what failed and why, what is done, what goes on, what was learnt, what is open."""
    goals = last_of_each_goal([*absence.events, *absence.waiting])
    day = "%a %H:%M" if absence.elapsed < _WEEK else "%d %B %H:%M"
    parts = [f"**While you were away** ({duration(absence.elapsed)}, since {absence.since.astimezone(zone):{day}})"]
    if absence.prose:
        parts.append(escaped(absence.prose))
    parts += [
        _listed(heading, [_line(goal, with_note=with_note) for goal in goals if goal.outcome == outcome])
        for heading, outcome, with_note in _HEADINGS
    ]
    parts.append(_listed("Learnt", [_brief(fact, _NOTE_CHARS) for fact in absence.facts]))
    parts.append(_listed("Still open", [_brief(thread, _NOTE_CHARS) for thread in absence.threads]))
    if absence.total > len(absence.events):
        parts.append(f"_(the newest {len(absence.events)} of {absence.total} steps)_")
    return "\n\n".join(part for part in parts if part) + "\n" + cost_text(absence)


def cost_text(absence: Absence) -> str:
    """What the prose cost, where that is to be shown."""
    return "" if absence.cost_usd is None else f"\n_(its sentences cost ${absence.cost_usd:.4f})_\n"


_HEADINGS: tuple[tuple[str, Outcome, bool], ...] = (
    ("Needs you", "needs_you", True),
    ("Failed", "failed", True),
    ("Done", "completed", False),
    ("Cancelled", "cancelled", True),
    ("In progress", "running", False),
)


def last_of_each_goal(events: Sequence[GoalEvent]) -> list[GoalEvent]:
    """How each goal stands, of events that come newest first. A title that one step gave holds for all."""
    newest: dict[str, GoalEvent] = {}
    titles: dict[str, str] = {}
    for event in events:
        newest.setdefault(event.goal, event)
        if event.title != event.goal:
            titles.setdefault(event.goal, event.title)
    return [replace(event, title=titles.get(goal, event.title)) for goal, event in newest.items()]


def _listed(heading: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = [f"- and {len(lines) - SHOWN_MAX} more"] if len(lines) > SHOWN_MAX else []
    return "\n".join([f"**{heading}**", *(f"- {line}" for line in lines[:SHOWN_MAX]), *more])


def _line(event: GoalEvent, *, with_note: bool) -> str:
    title = _brief(event.title, _TITLE_CHARS)
    return f"{title}: {_brief(event.note, _NOTE_CHARS)}" if with_note and event.note else title


def _brief(text: str, chars_max: int) -> str:
    """Somebody's words on one line, not too long, and with no markup that would come alive."""
    words = " ".join(text.split())
    return escaped(words if len(words) <= chars_max else words[: chars_max - 1].rstrip() + "…")


def _hours_and_minutes(elapsed: timedelta) -> str:
    seconds = max(0, int(elapsed.total_seconds()))
    return f"{seconds // _HOUR_SECONDS}h{seconds % _HOUR_SECONDS // _MINUTE_SECONDS}m"


def duration(elapsed: timedelta) -> str:
    """As people say it: the two largest units."""
    minutes = max(0, int(elapsed.total_seconds())) // _MINUTE_SECONDS
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, _DAY_HOURS)
    units = [(days, "d"), (hours, "h"), (minutes, "min")]
    said = [f"{count} {unit}" for count, unit in units if count]
    return " ".join(said[:2]) or "less than a minute"
