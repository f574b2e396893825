"""Promise P4, watched in every test: what holds a transaction calls no model and opens no connection.

Every verb runs inside `_write` or `_read` of its store. While it runs, a context variable says so, in its thread and in the
tasks that it starts. A call of a model or an embedder, a connection, a look-up of a host, and a new process or thread that
finds it set fails the test. The forked children of tests/faults are watched too; commands that tests start as real processes
are not, and neither is a verb that waits for a task which was started before it.
"""

from __future__ import annotations

import functools
import inspect
import os
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
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
def no_call_inside_a_transaction(tell: Callable[[str], object]) -> Iterator[None]:
    """While the block runs, `tell` is called with each offence as it happens."""

    def note(what: str) -> None:
        if (verb := _verb.get(None)) is not None:
            tell(f"`{verb}` holds a transaction and {what} (promise P4)")

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
        for owner, name, what in _CALLS:
            call = getattr(owner, name)
            of_class = inspect.isclass(owner) and inspect.ismethod(call)
            noted = _noted_call(call.__func__ if of_class else call, note, what)
            patch.setattr(owner, name, classmethod(noted) if of_class else noted)
        yield


_CALLS: tuple[tuple[Any, str, str], ...] = (
    (psycopg, "connect", "connects to PostgreSQL"),
    (psycopg.Connection, "connect", "connects to PostgreSQL"),
    (psycopg.AsyncConnection, "connect", "connects to PostgreSQL"),
    (socket, "getaddrinfo", "looks up a host"),
    (socket.socket, "sendto", "sends a datagram"),
    (subprocess.Popen, "__init__", "starts a process"),
    (os, "posix_spawn", "starts a process"),
    (threading.Thread, "start", "starts a thread"),
    (ThreadPoolExecutor, "submit", "hands work to a thread"),
)


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


def _noted_call(call: Callable[..., Any], note: Callable[[str], None], what: str) -> Callable[..., Any]:
    @functools.wraps(call)
    def wrapped(*given: Any, **more: Any) -> Any:
        note(what)
        return call(*given, **more)

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
