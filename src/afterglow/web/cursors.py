"""Where a list goes on: the place of its last item, packed so that nobody builds on what is in it."""

from __future__ import annotations

import base64
import json
from datetime import date
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.digest import Digest, DigestPlace
from afterglow.errors import BadInput
from afterglow.facts import Fact, FactPlace
from afterglow.goals import GoalEvent, GoalPlace
from afterglow.store.tasks import Task, TaskPlace, place_of
from afterglow.turns import Place, check_text
from afterglow.work import Work, WorkPlace

_WRONG = (ValueError, TypeError, AttributeError, OverflowError, RecursionError, BadInput)


def write(place: Place) -> str:
    """The cursor behind this place of a list of sessions."""
    return _packed(to_us(place.last_at), place.owner, place.session)


def read(cursor: str) -> Place:
    """The place a cursor stands for; what was there need not exist any more."""
    try:
        last_at, owner, name = _unpacked(cursor, int, str, str)
        return Place(last_at=from_us(last_at), owner=owner, session=name)
    except _WRONG:
        raise _no_cursor() from None


def of_fact(last: Fact) -> str:
    """The cursor behind this fact."""
    return _packed(last.source_date, last.id)


def fact(cursor: str) -> FactPlace:
    """The place in a list of facts that a cursor stands for."""
    try:
        source_date, name = _unpacked(cursor, str, str)
        return FactPlace(source_date=date.fromisoformat(source_date).isoformat(), id=name)
    except _WRONG:
        raise _no_cursor() from None


def of_goal(last: GoalEvent) -> str:
    """The cursor behind this goal event."""
    return _packed(to_us(last.at), last.number, last.owner)


def goal(cursor: str) -> GoalPlace:
    """The place in a list of goal events that a cursor stands for."""
    try:
        at, number, owner = _unpacked(cursor, int, int, str)
        return GoalPlace(at=from_us(at), number=number, owner=owner)
    except _WRONG:
        raise _no_cursor() from None


def of_digest(last: Digest) -> str:
    """The cursor behind this digest."""
    return _packed(to_us(last.at), last.owner, last.agent, last.number)


def digest(cursor: str) -> DigestPlace:
    """The place in a list of digests that a cursor stands for."""
    try:
        at, owner, agent, number = _unpacked(cursor, int, str, str, int)
        return DigestPlace(at=from_us(at), owner=owner, agent=agent, number=number)
    except _WRONG:
        raise _no_cursor() from None


def of_work(last: Work) -> str:
    """The cursor behind this piece of work."""
    return _packed(to_us(last.ready_at), last.owner, last.kind, last.subject)


def work(cursor: str) -> WorkPlace:
    """The place in a list of work that a cursor stands for."""
    try:
        at, owner, kind, subject = _unpacked(cursor, int, str, str, str)
        return WorkPlace(ready_at=from_us(at), owner=owner, kind=kind, subject=subject)
    except _WRONG:
        raise _no_cursor() from None


def of_task(last: Task) -> str:
    """The cursor behind this task."""
    place = place_of(last)
    return _packed(int(place.ended), place.at_us, place.owner, place.id)


def task(cursor: str) -> TaskPlace:
    """The place in a list of tasks that a cursor stands for."""
    try:
        ended, at, owner, name = _unpacked(cursor, int, int, str, str)
        return TaskPlace(ended=bool(ended), at_us=at, owner=owner, id=name)
    except _WRONG:
        raise _no_cursor() from None


def _packed(*parts: str | int) -> str:
    packed = json.dumps(parts, separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def _unpacked(cursor: str, *kinds: type[str] | type[int]) -> list[Any]:
    padded = cursor + "=" * (-len(cursor) % 4)
    parts: list[Any] = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    for part, kind in zip(parts, kinds, strict=True):
        if type(part) is not kind:
            raise ValueError("a part of another kind")
        if kind is str:
            check_text(str(part), "it")
        elif abs(int(part)) > 10**18:
            raise ValueError("a number that no database holds")
    return parts


def _no_cursor() -> BadInput:
    return BadInput("after: this is not the `next` of a page before; begin again without it")
