"""One exchange of a session at a time, different sessions side by side.

An exchange is kept apart by the session that it is in. Where there is none yet it is kept apart by the binding, and only until
the session is there: who finds that one meanwhile waits for this moment, and then for the exchange.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from afterglow.errors import NotFound
from afterglow.store.contract import Store
from afterglow.turns import Binding, Session

_Key = tuple[str, str]
"""An owner and a session; where a session is being begun its binding's owner and nothing."""
_inside: ContextVar[frozenset[object]] = ContextVar("inside", default=frozenset())
"""The exchanges that this runs inside of: a tool that talks to its own session does not wait for itself."""


def leave() -> None:
    """From here on this runs inside nobody's exchange, whoever began it."""
    _inside.set(frozenset())


class Order:
    """Who may talk in which session."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()
        self.live: dict[_Key, Hold] = {}
        """The exchange that is under way at each place."""

    @asynccontextmanager
    async def alone(self, place: Binding | Session, named: str | None = None) -> AsyncGenerator[Hold]:
        """No other exchange is in this session within. Who is called from inside of one goes on at once."""
        hold = Hold(self)
        try:
            await self._begin(hold, place, named)
            before = _inside.set(_inside.get() | {hold})
            try:
                yield hold
            finally:
                _inside.reset(before)
        finally:
            hold.release()

    async def _begin(self, hold: Hold, place: Binding | Session, named: str | None) -> None:
        beginning = (place.binding if isinstance(place, Session) else place).owner, ""
        key = await self._key(place, named)
        if key is not None:
            if (lock := self._locks.get(beginning)) is not None and lock.locked():
                async with lock:  # perhaps it is this session that is just being begun
                    pass
            await hold.move(key)
            return
        await hold.move(beginning)
        if (key := await self._key(place, named)) is not None:  # whoever held it before has begun one
            await hold.move(key)

    async def _key(self, place: Binding | Session, named: str | None) -> _Key | None:
        session = await self._session(place, named)
        return None if session is None else (session.owner, session.id)

    async def _session(self, place: Binding | Session, named: str | None) -> Session | None:
        if not isinstance(place, Session) and named is None:
            return await self._store.current_session(place)
        try:
            return await self._store.session(place.owner, place.id if isinstance(place, Session) else named or "")
        except NotFound:
            return place if isinstance(place, Session) else None

    def lock(self, key: _Key) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock


class Hold:
    """An exchange's hold on the session that it is in."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._lock: asyncio.Lock | None = None
        self.key: _Key | None = None

    async def move(self, key: _Key) -> None:
        """Go on in this session. What was held is let go before, so that no two wait for each other."""
        if key == self.key:
            return
        self.release()
        if self._order.live.get(key) not in _inside.get():
            lock = self._order.lock(key)
            await lock.acquire()
            self._lock = lock
            self._order.live[key] = self
        self.key = key

    def release(self) -> None:
        if self._lock is not None and self.key is not None:
            del self._order.live[self.key]
            self._lock.release()
        self._lock = self.key = None
