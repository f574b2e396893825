"""The server's life: open the store, listen, serve and do what is due until a signal, finish what was begun, close."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from afterglow import web
from afterglow.agent import Agent
from afterglow.agent.tasks import missing_package
from afterglow.clock import SystemClock
from afterglow.errors import BadInput, NotAllowed
from afterglow.forgetting import finish_forgetting
from afterglow.memory import Memory, open_store
from afterglow.settings import Loaded
from afterglow.store.contract import Store
from afterglow.web.headers import HEADERS
from afterglow.web.origins import is_loopback
from afterglow.web.signin import new_link
from afterglow.work import Kind
from afterglow.worker import Act
from afterglow.working import DRAIN_SECONDS_MAX, working

KEEP_ALIVE_SECONDS = 15
HEAD_BYTES_MAX = 64 * 1024

_log = logging.getLogger(__name__)
_SWITCH_SECONDS = 0.001


async def serve(
    loaded: Loaded, *, announce: Callable[[str], None], invite: Callable[[str], None] | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the address once connections are accepted, and `invite` a link.

    The link signs one browser in to the page.

    The first signal drains: no new connections, the requests under way are finished, the store is closed. A second one
    ends the process at once, which loses nothing that was acknowledged.
    """
    chosen = loaded.settings
    with _listener(chosen.server.host, chosen.server.port) as listener:
        store = await open_store(chosen, SystemClock())
        try:
            await check_address(store, chosen.server.host)
            with _explained(chosen.server.host, chosen.server.port):
                listener.listen()
            memory = Memory(store, chosen, folds=False)
            await finish_forgetting(store, memory.files.rebuild, chosen.data_dir)
            agent = Agent(memory)
            acts: dict[Kind, Act] = {**memory.acts, **_tasks_of(agent)}
            async with _closing(agent), working(store, acts, chosen, chosen.primary, memory.watches) as beside:
                app = web.app(memory, beside, agent)
                link = await new_link(store, _page_url(listener)) if invite else ""

                def on_listening() -> None:
                    announce(_url(listener))
                    if invite:
                        invite(link)

                _answer_evenly()
                server = _Server(_config(app), on_listening, app.state.streams.stopping.set)
                await server.serve([listener])
            _log.info("stopped")
        finally:
            await store.close()


def _answer_evenly() -> None:
    """Python would stop everybody for up to a tenth of a second to look through what is never let go of, and let a thread
    that works behind the answers keep them waiting for 5 ms at a time."""
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_SECONDS)


@contextlib.asynccontextmanager
async def _closing(agent: Agent) -> AsyncGenerator[None]:
    """The agent is there until what it does has come to its end."""
    try:
        yield
    finally:
        await agent.close()


def _tasks_of(agent: Agent) -> Mapping[Kind, Act]:
    """What the agent does at set times, where its packages are installed."""
    if (missing := missing_package()) is None:
        return agent.acts
    _log.info(
        "tasks are not done here: they need the package %s; install it with: pip install '.[agent]' in Afterglow's folder",
        missing,
    )
    return {}


async def check_address(store: Store, host: str) -> None:
    """An address that others can reach needs a token to be let in with."""
    if is_loopback(host) or any(token.revoked_at is None for token in await store.tokens()):
        return
    raise NotAllowed(
        f"{host} can be reached from other machines, and there is no token to tell who may come in; "
        "make one with `afterglow token create`, or set server.host to 127.0.0.1"
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it listens, and leaves the process alive when it was told to stop."""

    def __init__(
        self, config: uvicorn.Config, on_listening: Callable[[], None], on_stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_listening = on_listening
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True
        self._on_stopping()  # streams never end by themselves


class _Protocol(H11Protocol):
    """uvicorn's HTTP/1.1, with our shape also for requests that are not HTTP enough to reach a route."""

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            message = "this is not a request of HTTP/1.1 that can be understood"
            body = json.dumps({"error": {"kind": "BadInput", "message": message}}).encode()
            headers = [*HEADERS, (b"content-type", b"application/json"), (b"connection", b"close")]
            head = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _config(app: Callable[..., Awaitable[None]]) -> uvicorn.Config:
    async def stoppable(scope: Any, receive: Any, send: Any) -> None:
        with contextlib.suppress(asyncio.CancelledError):  # when the time to drain is over; the gate has answered
            await app(scope, receive, send)

    return uvicorn.Config(
        stoppable,
        http=_Protocol,
        ws="none",
        lifespan="off",
        proxy_headers=False,  # nothing here depends on what a proxy claims
        server_header=False,
        log_config=None,
        log_level="error",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS_MAX,
        h11_max_incomplete_event_size=HEAD_BYTES_MAX,
    )


@contextlib.contextmanager
def _listener(host: str, port: int) -> Generator[socket.socket]:
    """A socket bound to the address. It is bound before the store is opened, so that a taken port changes nothing."""
    with _explained(host, port):
        # One address for localhost, whatever the machine's list of hosts makes of the name.
        name = "127.0.0.1" if host == "localhost" else host
        family, kind, protocol, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    with listener:
        with _explained(host, port):
            if os.name == "posix":  # elsewhere it would let two programs share the port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        yield listener


@contextlib.contextmanager
def _explained(host: str, port: int) -> Generator[None]:
    try:
        yield
    except socket.gaierror as error:
        raise BadInput(f"server.host: the name {host} is not known here ({error.strerror}); give an address") from None
    except OSError as error:
        match error.errno:
            case errno.EADDRINUSE:
                problem = f"port {port} on {host} is taken by another program; stop it, or set server.port or --port"
            case errno.EACCES:
                problem = f"port {port} on {host} may not be opened by this user; set server.port or --port over 1023"
            case errno.EADDRNOTAVAIL:
                problem = f"{host} is not an address of this machine; set server.host to one that is"
            case _:
                problem = f"cannot listen on port {port} of {host}: {error.strerror}; set server.host or server.port"
        raise BadInput(problem) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _page_url(listener: socket.socket) -> str:
    """Where a browser on this machine finds the page; a server that listens everywhere is also here."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        return f"http://127.0.0.1:{port}"
    return _url(listener)
