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
from hashlib import sha256
from inspect import isawaitable
from typing import Any, Literal

from afterglow.digest import Gate
from afterglow.errors import BadInput, ClaimLost
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.store.arrivals import Arriving, Handler
from afterglow.store.contract import Store
from afterglow.store.presence import Arrival
from afterglow.telling import Deliver, Telling, Told
from afterglow.turns import Binding
from afterglow.work import error_text
from afterglow.worker import holder_name, is_gone

LEASE_SECONDS = 60.0
"""How long a message is left to a process that said nothing of it since."""
_LOOK_SECONDS = 1.0
_LOOKS_MAX = 600
_KEY_CHARS_MAX = 300
_LATE = "the database took longer than the deadline"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Inbound:
    """A message that comes in from a platform: from which binding, and under which id."""

    binding: Binding
    text: str = ""
    id: str | None = None
    """The platform's own id of the message, by which it is known when it comes twice. An empty one is none."""
    raw: Any = None
    """The message as the platform's library has it."""

    def __post_init__(self) -> None:
        if not isinstance(self.binding, Binding):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller checks
            raise BadInput(f"the binding of a message must be a Binding, and this is a {type(self.binding).__name__}")
        if not isinstance(self.id, str | None):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            raise BadInput(f"the id of a message must be text, and this is a {type(self.id).__name__}")


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
        self._late: set[asyncio.Task[Any]] = set()

    async def on_inbound(self, message: Inbound, deliver: Deliver, process: Process | None = None) -> Handled:
        """See the person, tell them what happened if it is to be told, then hand the message on."""
        away = self._settings.away_of(message.binding)
        handler = Handler(name=holder_name(), token=self._store.clock.bits(62))
        deadline = asyncio.get_running_loop().time() + away.deadline_seconds
        arrival = await self._arrived(message, away, handler, deadline)
        if arrival is not None and arrival.state != "new":
            return Handled(again=True)
        told, noted = Told(), None
        async with self._ours(message, handler.token):
            if arrival is not None and arrival.digest is not None:
                told = await self._telling.tell(message.binding, arrival.digest, away, deliver, deadline)
                noted = asyncio.create_task(self._telling.note(message.binding, arrival.digest, told))
            try:
                result = None if process is None else process(message)
                if isawaitable(result):
                    result = await result
            finally:
                if noted is not None:
                    await asyncio.shield(noted)
        stopped_by = None if arrival is None else arrival.stopped_by
        return Handled(digest=told.status, stopped_by=stopped_by, reason=told.reason, result=result)

    async def _arrived(self, message: Inbound, away: AwaySettings, handler: Handler, deadline: float) -> Arrival | None:
        """What is known of the message and the person; None where nobody can say, and the message goes on all the same."""
        gone = None
        for _ in range(_LOOKS_MAX):
            arriving = Arriving(
                binding=message.binding,
                message=_key(message),
                handler=handler,
                lease_seconds=LEASE_SECONDS,
                instead_of=gone,
            )
            arrival = await self._come_in(message.binding, arriving, away, deadline)
            if arrival is None or arrival.state != "under way" or arrival.handler is None:
                return arrival
            gone = arrival.handler if is_gone(arrival.handler.name) else None
            if gone is None:
                await asyncio.sleep(_LOOK_SECONDS)
            deadline = asyncio.get_running_loop().time() + away.deadline_seconds
        raise ClaimLost(
            f"another process has handled a message of {message.binding.owner} for long; let the platform deliver it again"
        )

    async def _come_in(
        self, binding: Binding, arriving: Arriving, away: AwaySettings, deadline: float
    ) -> Arrival | None:
        coming = asyncio.create_task(self._store.come_in(binding.owner, arriving, away))
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.shield(coming)
        except TimeoutError as error:
            reason = _LATE if not coming.done() else error_text(error)
        except Exception as error:  # noqa: BLE001 - the boundary: the message goes on whatever is wrong here
            reason = error_text(error)
        _log.warning("who came in at %s could not be noted: %s", binding.owner, reason)
        if not coming.done():
            self._keep(asyncio.create_task(self._note_late(binding, coming)))
        return None

    async def _note_late(self, binding: Binding, coming: asyncio.Task[Arrival]) -> None:
        """A digest that was claimed when the message had gone on is told to nobody, and its row says why."""
        try:
            arrival = await coming
        except Exception:  # noqa: BLE001 - it was told of already
            return
        if arrival.digest is not None:
            await self._telling.note(binding, arrival.digest, Told(status="failed", reason=_LATE))

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._late.add(task)
        task.add_done_callback(self._late.discard)

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
            await asyncio.shield(asyncio.create_task(self._let_go(owner, key, token, handled)))

    async def _let_go(self, owner: str, key: str, token: int, handled: bool) -> None:
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
    """What the message is known by: its id is one of its chat's."""
    if not message.id:
        return None
    key = f"{message.binding.owner}/{message.id}"
    if len(key) <= _KEY_CHARS_MAX and key.isprintable():
        return key
    return sha256(key.encode(errors="surrogatepass")).hexdigest()
