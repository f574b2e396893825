"""Promise P4, watched in every test: what holds a transaction calls no model and opens no connection.

Every verb runs inside `_write` or `_read` of its store. While it runs, a context variable says so, in its thread and in the
tasks that it starts. A call of a model or an embedder, a connection or a new process that finds it set fails the test.
The children of the nursery (tests/faults) are watched too; commands that tests start as real processes are not.
"""

from __future__ import annotations

import functools
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from afterglow.model.langchain import LangChainModel
from afterglow.model.metered import Metered
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.search.metered import MeteredEmbedder
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
        patch.setattr(MeteredEmbedder, "embed", _noted(MeteredEmbedder.embed, note, "calls MeteredEmbedder.embed"))
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _noted_connect(getattr(socket.socket, name), note))
        start = subprocess.Popen.__init__

        def watched_start(self: Any, *given: Any, **more: Any) -> None:
            note("starts a process")
            start(self, *given, **more)

        patch.setattr(subprocess.Popen, "__init__", watched_start)
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


def _noted_connect(connect: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    @functools.wraps(connect)
    def wrapped(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            note(f"connects to {address}")
        return connect(self, address)

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
