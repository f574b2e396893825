"""Somebody is back: they are seen, told what happened, and then their message goes on.

The digest comes before the message and never in its way: whatever happens to it, and however long it would take, the message
goes on when the deadline has passed. A message that the platform delivers again is recognised by its id. One that another
process is handling at this moment is waited for, and handled here only if that one dies.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Literal

from afterglow.digest import Gate
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.store.presence import Arrival, Arriving, Claimed
from afterglow.telling import Deliver, Telling
from afterglow.turns import Binding, check_text
from afterglow.work import error_text

LEASE_SECONDS = 60.0
"""How long a message is left to a process that said nothing of it since."""
_LOOK_SECONDS = 1.0
_LOOKS_MAX = 600
_ID_CHARS_MAX = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Inbound:
    """A message that comes in from a platform: from which binding, and under which id."""

    binding: Binding
    text: str = ""
    id: str | None = None
    """The platform's own id of the message, by which it is known when it comes twice."""
    raw: Any = None
    """The message as the platform's library has it."""

    def __post_init__(self) -> None:
        check_text(self.text, "the text")
        if self.id is not None:
            check_text(self.id, "the id")


Process = Callable[[Inbound], Awaitable[Any] | Any]
"""Whoever handles the message after the digest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Handled:
    """What became of a message."""

    again: bool = False
    """Whether it had come before, so that nothing was done."""
    digest: Literal["delivered", "failed"] | None = None
    stopped_by: Gate | None = None
    """The gate that stopped the digest."""
    reason: str = ""
    """Why the digest failed."""
    result: Any = None
    """What `process` gave."""


class Doorway:
    """Where messages come in."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._telling = Telling(store, settings)

    async def on_inbound(self, message: Inbound, deliver: Deliver, process: Process | None = None) -> Handled:
        """See the person, tell them what happened if it is to be told, then hand the message on."""
        away = self._settings.away_of(message.binding)
        token = self._store.clock.bits(62)
        arrival = await self._arrived(message, away, token)
        if arrival is not None and arrival.state != "new":
            return Handled(again=True)
        told = Handled() if arrival is None else Handled(stopped_by=arrival.stopped_by)
        if arrival is not None and arrival.digest is not None:
            told = await self._tell(message.binding, arrival.digest, away, deliver)
        async with self._ours(message, token):
            result = None if process is None else process(message)
            if isawaitable(result):
                result = await result
        return Handled(digest=told.digest, stopped_by=told.stopped_by, reason=told.reason, result=result)

    async def _arrived(self, message: Inbound, away: AwaySettings, token: int) -> Arrival | None:
        """What is known of the message and the person; None where nobody can say, and the message goes on all the same."""
        arriving = Arriving(binding=message.binding, message=_key(message), token=token, lease_seconds=LEASE_SECONDS)
        arrival = None
        for _ in range(_LOOKS_MAX):
            try:
                async with asyncio.timeout(away.deadline_seconds):
                    arrival = await self._store.come_in(message.binding.owner, arriving, away)
            except Exception as error:  # noqa: BLE001 - the boundary: the message goes on whatever is wrong here
                _log.warning("who came in at %s could not be noted: %s", message.binding.owner, error_text(error))
                return None
            if arrival.state != "under way":
                return arrival
            await asyncio.sleep(_LOOK_SECONDS)
        return arrival

    async def _tell(self, binding: Binding, claimed: Claimed, away: AwaySettings, deliver: Deliver) -> Handled:
        """Deliver the digest within its deadline, and write down what became of it."""
        text, remembers, reason = "", False, ""
        try:
            async with asyncio.timeout(away.deadline_seconds):
                composed = await self._telling.compose(binding.owner, binding, claimed.absence, away)
                text, remembers = composed.text, composed.remembers
                await self._telling.deliver(deliver, binding, text)
        except TimeoutError:
            reason = f"it took longer than {away.deadline_seconds:g} seconds"
        except Exception as error:  # noqa: BLE001 - the boundary: the message goes on whatever is wrong here
            reason = error_text(error)
        status = "failed" if reason else "delivered"
        try:
            async with asyncio.timeout(away.deadline_seconds):
                await self._store.end_digest(
                    binding.owner, binding.agent, claimed.number, status, reason=reason, text=text, remembers=remembers
                )
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("what became of a digest could not be written down: %s", error_text(error))
        if reason:
            _log.warning("the digest for %s was not delivered: %s", binding.owner, reason)
        return Handled(digest=status, reason=reason)

    @asynccontextmanager
    async def _ours(self, message: Inbound, token: int) -> AsyncGenerator[None]:
        """While this lasts, the message is ours; it is known ever after, unless handling it fails."""
        key = _key(message)
        if key is None:
            yield
            return
        owner = message.binding.owner
        renewing = asyncio.create_task(self._renew(owner, key, token))
        handled = False
        try:
            yield
            handled = True
        finally:
            renewing.cancel()
            try:
                if handled:
                    await self._store.handled(owner, key, token)
                else:  # so that it is handled at once when it comes again
                    await self._store.renew_arrival(owner, key, token, lease_seconds=0)
            except Exception as error:  # noqa: BLE001 - it was handled, whether that is known or not
                _log.warning("that a message of %s was handled could not be noted: %s", owner, error_text(error))

    async def _renew(self, owner: str, key: str, token: int) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                await self._store.renew_arrival(owner, key, token, lease_seconds=LEASE_SECONDS)
            except Exception as error:  # noqa: BLE001 - it is tried again
                _log.warning("a message of %s may be handled twice: %s", owner, error_text(error))


def _key(message: Inbound) -> str | None:
    if message.id is None:
        return None
    return f"{message.binding.agent}/{message.binding.channel}/{message.id}"[:_ID_CHARS_MAX]
