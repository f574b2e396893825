"""Messages that came in, by the platform's id, for a while: platforms deliver twice.

A message is new to whoever takes it first. While that one handles it, it is under way for everybody else; when its lease has
ended, or it is known to be gone, the message is new again. What was handled is known for a week.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from afterglow.store.transaction import Tx
from afterglow.turns import Binding

_KEPT_US = 7 * 24 * 3600 * 1_000_000
_SECOND = 1_000_000

State = Literal["new", "again", "under way"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Handler:
    """Who handles a message: the process, and the token of this one message."""

    name: str
    token: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Arriving:
    """A message that comes in: from where, under which id, who handles it, and for how long unless that is renewed."""

    binding: Binding
    message: str | None
    handler: Handler
    lease_seconds: float
    instead_of: Handler | None = None
    """One who is known to be gone."""


def take(tx: Tx, arriving: Arriving, now: int) -> tuple[State, Handler | None]:
    """Whether the message is new, and from now on this handler's; or else whose it is."""
    if arriving.message is None:
        return "new", None
    tx.run("DELETE FROM arrivals WHERE {mine} AND owner = :owner AND at < :old", owner=tx.owner, old=now - _KEPT_US)
    there = tx.row(
        "SELECT handler, token, lease_until FROM arrivals WHERE {mine} AND owner = :owner AND message = :message",
        owner=tx.owner,
        message=arriving.message,
    )
    if there is not None and there["token"] is None:
        return "again", None
    lease = int(arriving.lease_seconds * _SECOND)
    if there is not None and now < there["lease_until"] <= now + lease:
        handler = Handler(name=there["handler"], token=there["token"])
        if handler != arriving.instead_of:
            return "under way", handler
    tx.run(
        """INSERT INTO arrivals (owner, message, at, handler, token, lease_until)
           VALUES (:owner, :message, :now, :handler, :token, :until)
           ON CONFLICT (owner, message) DO UPDATE SET handler = :handler, token = :token, lease_until = :until""",
        owner=tx.owner,
        message=arriving.message,
        now=now,
        handler=arriving.handler.name,
        token=arriving.handler.token,
        until=now + lease,
    )
    return "new", None


def handled(tx: Tx, message: str, token: int) -> None:
    """The message is dealt with: coming again it is known, and nothing is done."""
    tx.run(
        "UPDATE arrivals SET token = NULL WHERE {mine} AND message = :message AND token = :token",
        message=message,
        token=token,
    )


def renew_arrival(tx: Tx, message: str, token: int, lease_seconds: float) -> None:
    """It takes longer: whoever has the same message goes on waiting."""
    tx.run(
        """UPDATE arrivals SET lease_until = {now} + :lease WHERE {mine} AND message = :message AND token = :token""",
        lease=int(lease_seconds * _SECOND),
        message=message,
        token=token,
    )
