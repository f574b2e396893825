"""The verbs of messages that wait for the agent's answer.

A message is written down before anything can fail, and stays until it is answered; each place has its own line, in the order
in which the messages came. Answering a line is work of kind `reply`, so one process does it at a time, and another takes over
when that one dies. Coming again under its key, a message that still waits is the one that is there.

Who took a message listens for its answer. Where another process made it, the row stays, as answered: whoever deletes it hands
the answer over, so that it is heard once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from afterglow.clock import to_us
from afterglow.errors import BadInput
from afterglow.store import queue, sessions
from afterglow.store.rows import from_row, to_row
from afterglow.store.transaction import Tx
from afterglow.turns import Binding
from afterglow.work import Claim, Due

WAITING_MAX = 1_000
"""More messages of one place do not wait: somebody who writes faster than can be answered is stopped here."""
HURRY_SECONDS = 2.0
"""After a failure a new message has its line tried again so soon; that is as often as many messages have it tried."""


_UNANSWERED = "answered_at IS NULL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A message that is still to be answered."""

    owner: str
    place: str
    number: int = 0
    agent: str
    channel: str
    sender: str
    session: str | None
    """The session it goes to by its id; None where it goes to the open one of its binding."""
    reason: str
    text: str
    parts: tuple[Any, ...] = ()
    at: datetime
    key: str
    taken: bool = False
    """Whether it is one of those that are answered together now."""
    listener: str | None = None
    """Who hands its answer over; None where nobody is left to."""
    answered_at: datetime | None = None
    """When another than its listener answered it; it is only to be handed over now."""

    @property
    def binding(self) -> Binding:
        return Binding(agent=self.agent, channel=self.channel, sender=self.sender)


def put_message(tx: Tx, message: Waiting, due: Due) -> Waiting:
    """The message, behind those that wait there already, and the work to answer it."""
    _check_room(tx, message)
    sessions.lock_all_owners(tx, to_us(message.at))  # nobody else numbers one now
    row = tx.one(
        """INSERT INTO inbox (owner, place, number, agent, channel, sender, session, reason, text, parts, at, key, listener)
           SELECT :owner, :place, coalesce(max(number), 0) + 1, :agent, :channel, :sender, :session, :reason, :text, :parts,
                  :at, :key, :listener FROM inbox WHERE {mine} AND owner = :owner AND place = :place
           ON CONFLICT (owner, place, key) DO UPDATE SET listener = coalesce(excluded.listener, inbox.listener)
           RETURNING *""",
        **{name: value for name, value in to_row(message).items() if name not in ("number", "taken", "answered_at")},
    )
    queue.mark_due(tx, due, message.owner, message.place)
    queue.hurry(tx, due.kind, message.owner, message.place, HURRY_SECONDS)
    return from_row(Waiting, row)


def waiting_messages(tx: Tx, place: str, limit: int, which: str = "1 = 1") -> list[Waiting]:
    """The first that wait at this place, in order."""
    rows = tx.rows(
        f"""SELECT * FROM inbox WHERE {{mine}} AND owner = :owner AND place = :place AND {which}
            ORDER BY number LIMIT :limit""",
        owner=tx.owner,
        place=place,
        limit=limit,
    )
    return [from_row(Waiting, row) for row in rows]


def take_messages(tx: Tx, limit: int, claim: Claim) -> list[Waiting]:
    """The messages that are answered together now: those that were taken before, or else the first that are of one reason."""
    queue.check(tx, claim)
    waiting = waiting_messages(tx, claim.subject, limit, _UNANSWERED)
    taken = [each for each in waiting if each.taken]
    if taken:
        return taken
    batch = list(takewhile(lambda each: each.reason == waiting[0].reason, waiting))
    if batch:
        tx.run(
            "UPDATE inbox SET taken = 1 WHERE {mine} AND owner = :owner AND place = :place AND number <= :last",
            owner=claim.owner,
            place=claim.subject,
            last=batch[-1].number,
        )
    return batch


def _check_room(tx: Tx, message: Waiting) -> None:
    waiting = tx.one(
        "SELECT count(*) AS n FROM inbox WHERE {mine} AND owner = :owner AND place = :place",
        owner=message.owner,
        place=message.place,
    )["n"]
    if waiting >= WAITING_MAX:
        raise BadInput(
            f"{WAITING_MAX} messages wait here already, and more are not taken; try again when some are answered"
        )


def waiting_places(tx: Tx, limit: int, after: tuple[str, str]) -> list[tuple[str, str]]:
    """A page of the places where messages wait: as (owner, place)."""
    rows = tx.rows(
        """SELECT owner, place FROM inbox WHERE {mine} AND (owner, place) > (:owner, :place)
           GROUP BY owner, place ORDER BY owner, place LIMIT :limit""",
        owner=after[0],
        place=after[1],
        limit=limit,
    )
    return [(row["owner"], row["place"]) for row in rows]


def end_messages(tx: Tx, keys: Sequence[str], by: str | None, claim: Claim, now: datetime) -> list[Waiting]:
    """Those of these messages that still waited are answered, and the claim ends; where others wait, the work stays due."""
    named = {f"k{n}": key for n, key in enumerate(keys)}
    these = f"""FROM inbox WHERE {{mine}} AND owner = :owner AND place = :place AND {_UNANSWERED}
                AND key IN ({", ".join(f":{each}" for each in named)})"""
    # Locked first, so that nobody takes one back whose answer is handed over.
    rows = tx.rows(f"SELECT * {these} ORDER BY number {{lock}}", owner=claim.owner, place=claim.subject, **named)
    ended = [from_row(Waiting, row) for row in rows]
    if ended and by is not None and ended[-1].listener not in (None, by):
        ended[-1] = _left_to_its_listener(tx, ended[-1], now)
    tx.run(f"DELETE {these}", owner=claim.owner, place=claim.subject, **named)
    left = waiting_messages(tx, claim.subject, 1, _UNANSWERED)
    queue.finish(tx, claim)
    if left:
        queue.mark_due(tx, Due(kind="reply", at=now, reason="more wait"), claim.owner, claim.subject)
    return ended


def _left_to_its_listener(tx: Tx, message: Waiting, now: datetime) -> Waiting:
    tx.run(
        "UPDATE inbox SET answered_at = :now WHERE {mine} AND owner = :owner AND place = :place AND number = :number",
        now=to_us(now),
        owner=message.owner,
        place=message.place,
        number=message.number,
    )
    return replace(message, answered_at=now)


def take_back(tx: Tx, place: str, key: str) -> bool:
    """The message is not to be answered any more; the answer is whether it still waited."""
    gone = tx.row(
        "DELETE FROM inbox WHERE {mine} AND owner = :owner AND place = :place AND key = :key RETURNING number",
        owner=tx.owner,
        place=place,
        key=key,
    )
    return gone is not None


def stop_listening(tx: Tx, listener: str) -> None:
    """This one hands nothing over any more: what it took is anybody's to answer and to hand over."""
    tx.run("UPDATE inbox SET listener = NULL WHERE {mine} AND listener = :listener", listener=listener)
