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

from afterglow.store.contract import Store
from afterglow.store.log import To

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
    async def alone(self, owner: str, to: To) -> AsyncGenerator[Hold]:
        """No other exchange is in this session within. Who is called from inside of one goes on at once."""
        hold = Hold(self)
        try:
            await self._begin(hold, owner, to)
            before = _inside.set(_inside.get() | {hold})
            try:
                yield hold
            finally:
                _inside.reset(before)
        finally:
            hold.release()

    async def _begin(self, hold: Hold, owner: str, to: To) -> None:
        beginning = owner, ""
        key = await self._key(owner, to)
        if key is not None:
            if (lock := self._locks.get(beginning)) is not None and lock.locked():
                async with lock:  # perhaps it is this session that is just being begun
                    pass
            await hold.move(key)
            return
        await hold.move(beginning)
        if (key := await self._key(owner, to)) is not None:  # whoever held it before has begun one
            await hold.move(key)

    async def _key(self, owner: str, to: To) -> _Key | None:
        if (known := to.session or to.client_session) is not None:
            return owner, known
        assert to.binding is not None, "a turn goes to a session or to a binding"
        session = await self._store.current_session(to.binding, named=to.name)
        return None if session is None else (session.owner, session.id)

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
