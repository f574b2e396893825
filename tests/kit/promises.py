"""Promise P4, watched over the whole suite: what holds a transaction calls no model and opens no connection.

Every verb runs inside `_write` or `_read` of its store. While it runs, a context variable says so; tasks and threads that the
verb starts inherit it. A model call or a connection that finds it set is noted, and fails the test.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from afterglow.model.langchain import LangChainModel
from afterglow.model.metered import Metered
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore

_verb: ContextVar[str] = ContextVar("verb")
"""The verb whose transaction is open here."""


@contextmanager
def no_call_inside_a_transaction() -> Iterator[list[str]]:
    """The list of offences, which fills while the block runs."""
    offences: list[str] = []

    def note(what: str) -> None:
        if (verb := _verb.get(None)) is not None:
            offences.append(f"`{verb}` holds a transaction and {what} (promise P4)")

    with pytest.MonkeyPatch.context() as patch:
        for store in (SQLiteStore, PostgresStore):
            for door in ("_write", "_read"):
                patch.setattr(store, door, _marked(getattr(store, door)))
        for model in (Metered, ScriptedModel, OfflineModel, LangChainModel):
            patch.setattr(model, "complete", _noted(model.complete, note, f"calls {model.__name__}.complete"))
            if hasattr(model, "stream"):
                patch.setattr(model, "stream", _noted_stream(model.stream, note, f"calls {model.__name__}.stream"))
        connect = socket.socket.connect

        def watched(self: socket.socket, address: Any) -> None:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                note(f"connects to {address}")
            connect(self, address)

        patch.setattr(socket.socket, "connect", watched)
        yield offences


def _marked(door: Callable[..., Any]) -> Callable[..., Any]:
    """`_write` or `_read` whose verb runs with its name in `_verb`."""

    @functools.wraps(door)
    def wrapped(self: Any, name: str, scope: Any, verb: Callable[[Any], Any]) -> Any:
        def inside(tx: Any) -> Any:
            token = _verb.set(name)
            try:
                return verb(tx)
            finally:
                _verb.reset(token)

        return door(self, name, scope, inside)

    return wrapped


def _noted(call: Callable[..., Any], note: Callable[[str], None], what: str) -> Callable[..., Any]:
    @functools.wraps(call)
    async def wrapped(*given: Any, **more: Any) -> Any:
        note(what)
        return await call(*given, **more)

    return wrapped


def _noted_stream(call: Callable[..., Any], note: Callable[[str], None], what: str) -> Callable[..., Any]:
    @functools.wraps(call)
    async def wrapped(*given: Any, **more: Any) -> AsyncIterator[Any]:
        note(what)
        async with aclosing(call(*given, **more)) as pieces:
            async for piece in pieces:
                yield piece

    return wrapped
