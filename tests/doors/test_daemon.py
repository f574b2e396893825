"""The server as a process: starting, signals, addresses, and what is left after it was killed."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow import BadInput, NotAllowed, SystemClock
from afterglow import settings as settings_module
from afterglow.clock import new_token
from afterglow.daemon import check_address, serve
from afterglow.settings import Loaded
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from tests.kit.command_line import wait_until
from tests.kit.processes import Process
from tests.kit.records import KATE
from tests.kit.servers import PATIENCE_SECONDS, TURN, Server, Start, opened, token


def loaded(folder: Path, **overrides: Any) -> Loaded:
    return settings_module.load(environ={}, overrides={"data_dir": str(folder), **overrides})


async def keep_writing(
    url: str, secret: str, name: str, acknowledged: dict[str, dict[str, Any]], enough: asyncio.Event
) -> None:
    """Write turn after turn until the server is gone; say so when a hundred are acknowledged."""
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        for n in range(1_000_000):
            body = {**TURN, "session": name, "key": f"{name}-{n}", "text": f"turn {n} of {name}"}
            try:
                answer = await client.post("/api/v1/turns", json=body)
            except httpx.TransportError:
                return
            assert answer.status_code == 201, answer.text
            acknowledged[body["key"]] = answer.json()
            if len(acknowledged) == 100:
                enough.set()


def written_under_load(server: Server, secret: str, sig: int) -> dict[str, dict[str, Any]]:
    """Load the server from eight sides, send it the signal, and give what it had acknowledged."""
    acknowledged: dict[str, dict[str, Any]] = {}

    async def load() -> None:
        enough = asyncio.Event()
        writers = [keep_writing(server.url, secret, f"s{n}", acknowledged, enough) for n in range(8)]
        loading = asyncio.gather(*writers)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await enough.wait()
        server.process.send_signal(sig)
        await loading

    asyncio.run(load())
    return acknowledged


def check_kept(folder: Path, acknowledged: dict[str, dict[str, Any]]) -> None:
    async def look() -> None:
        async with opened(folder) as store:
            for key, turn in acknowledged.items():
                kept = await store.turn(KATE.owner, turn["session"], turn["seq"])
                assert (kept.key, kept.text) == (key, turn["text"])
            assert not await store.check()

    asyncio.run(look())


@pytest.mark.spec("LOG-1")
def test_a_server_stopped_under_load_loses_nothing_it_acknowledged(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start()
    acknowledged = written_under_load(server, secret, signal.SIGTERM)
    assert (server.process.wait(PATIENCE_SECONDS), server.errors) == (0, "")
    check_kept(tmp_path, acknowledged)


@pytest.mark.spec("LOG-1")
def test_a_server_killed_under_load_starts_again_with_all_it_acknowledged(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start()
    acknowledged = written_under_load(server, secret, signal.SIGKILL)
    assert server.process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    again = start(**{"server.port": server.port})
    assert again.port == server.port
    with client_of(again, secret) as client:
        for key, turn in list(acknowledged.items())[-8:]:
            body = {**TURN, "session": turn["session"], "key": key, "text": "said twice"}
            assert client.post("/api/v1/turns", json=body).json() == turn, "the key still gives the same turn"
    assert again.stop(signal.SIGINT) == 0
    check_kept(tmp_path, acknowledged)


def half_a_request(server: Server, secret: str) -> tuple[socket.socket, bytes]:
    """A connection with a request that the server is reading, and the end of its body, which is yet to be sent."""
    body = json.dumps({**TURN, "session": "s", "key": "slow", "text": "sent slowly"}).encode()
    head = (
        f"POST /api/v1/turns HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS)
    connection.sendall(head.encode())
    assert connection.recv(1000).startswith(b"HTTP/1.1 100")
    connection.sendall(body[:20])
    return connection, body[20:]


def read_all(connection: socket.socket) -> str:
    gathered = b""
    while data := connection.recv(65536):
        gathered += data
    return gathered.decode()


def is_closed(server: Server) -> bool:
    """Whether the server accepts no more connections."""
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_request_under_way_is_finished_before_the_server_stops(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start()
    connection, rest = half_a_request(server, secret)
    with connection:
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_closed(server))
        assert server.process.poll() is None
        connection.sendall(rest)
        assert read_all(connection).startswith("HTTP/1.1 201")
    assert (server.process.wait(PATIENCE_SECONDS), server.errors) == (0, "")
    check_kept(tmp_path, {"slow": {"session": "s", "seq": 1, "text": "sent slowly"}})


def test_a_request_that_never_ends_is_broken_off_when_the_time_to_drain_is_over(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start(drain_seconds=1)
    connection, _ = half_a_request(server, secret)
    with connection:
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began >= 1, "it had its time"
        head, _, body = read_all(connection).partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 503") and "nosniff" in head
    assert "stopping" in json.loads(body)["error"]["message"]
    assert "Traceback" not in server.errors


def test_a_second_signal_ends_it_at_once(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start()
    connection, _ = half_a_request(server, secret)
    with connection:
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_closed(server))
        assert server.process.poll() is None
        assert (server.stop(), server.errors) == (128 + signal.SIGTERM, "")


def test_it_serves_postgresql_as_well(start: Start, postgres_address: str) -> None:
    async def make() -> str:
        store = await PostgresStore.open(postgres_address, SystemClock())
        secret = new_token(store.clock)
        await store.add_token("test", "owner", secret)
        await store.close()
        return secret

    secret = asyncio.run(make())
    server = start(database=postgres_address)
    with client_of(server, secret) as client:
        assert client.post("/api/v1/turns", json=TURN).status_code == 201
        assert client.get("/api/v1/status", timeout=PATIENCE_SECONDS).json()["totals"]["turns"] == 1
    assert (server.stop(), server.errors) == (0, "")


def test_an_idle_connection_does_not_hold_up_the_stop(start: Start) -> None:
    server = start(drain_seconds=10 * PATIENCE_SECONDS)
    with (
        httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
        socket.create_connection(("127.0.0.1", server.port)),
    ):
        assert client.get("/healthz").status_code == 200
        assert (server.stop(signal.SIGINT), server.errors) == (0, "")


@pytest.mark.spec("DOOR-3", "SAFE-1")
def test_what_is_no_request_gets_the_same_shape_of_error(shared: Server, subtests: pytest.Subtests) -> None:
    for sent in (
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"POST /api/v1/turns HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET /" + b"x" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ):
        with subtests.test(sent=sent[:20]):
            with socket.create_connection(("127.0.0.1", shared.port), timeout=PATIENCE_SECONDS) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                head, _, body = read_all(connection).partition("\r\n\r\n")
            assert head.startswith("HTTP/1.1 400 ")
            assert "nosniff" in head and "default-src 'none'" in head and "\r\nserver:" not in head.lower()
            assert json.loads(body)["error"]["kind"] == "BadInput"


def test_a_body_over_the_limit_is_answered_while_it_is_sent(shared: Server, secret: str) -> None:
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    with httpx.Client(base_url=shared.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        sizes = (b" " * 10_000 for _ in range(100))
        assert client.post("/api/v1/turns", content=sizes).status_code == 413
        assert client.post("/api/v1/turns", content=b" " * 1_000_000).status_code == 413
        assert client.get("/api/v1/status").status_code == 200, "the server goes on"


def test_a_request_to_upgrade_is_answered_as_a_plain_one(shared: Server) -> None:
    headers = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-key": "x", "sec-websocket-version": "13"}
    with httpx.Client(base_url=shared.url, timeout=PATIENCE_SECONDS) as client:
        assert client.get("/healthz", headers=headers).status_code == 200
        assert client.get("/healthz", headers={**headers, "origin": "http://evil.example"}).status_code == 403


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("shared")
    server = Server(folder, **{"log.turn_bytes_max": 2000})
    yield server
    code, errors = server.stop(), server.errors
    server.close()
    assert (code, errors) == (0, "")


@pytest.fixture
def secret(shared: Server) -> str:
    where = httpx.get(f"{shared.url}/api/v1/status", timeout=PATIENCE_SECONDS).json()["where"]
    return token(Path(where).parent)


# --- addresses ------------------------------------------------------------------------------------------------------


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def quiet(_: str) -> None:
    raise AssertionError("it announced itself")


async def test_a_port_that_is_taken_is_said_so_and_nothing_is_made(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=rf"port {port} on 127\.0\.0\.1 is taken by another program; .*--port"):
            await serve(loaded(tmp_path / "new", **{"server.port": port}), announce=quiet)
    assert not (tmp_path / "new").exists()


async def test_of_two_servers_on_one_port_the_second_says_so(start: Start, tmp_path: Path) -> None:
    first = start()
    with pytest.raises(BadInput, match="taken"):
        await serve(loaded(tmp_path / "new", **{"server.port": first.port}), announce=quiet)
    assert first.stop() == 0


@pytest.mark.parametrize(
    ("host", "said"),
    [("203.0.113.7", "is not an address of this machine"), ("no-such-host.invalid", "is not known here")],
)
async def test_an_address_that_cannot_be_used_is_said_so(tmp_path: Path, host: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        await serve(loaded(tmp_path, **{"server.host": host, "server.port": 0}), announce=quiet)


@pytest.mark.spec("SAFE-1")
@pytest.mark.parametrize("host", ["0.0.0.0", pytest.param("::", marks=needs_ipv6)])
def test_an_address_others_can_reach_demands_a_token_that_is_not_revoked(tmp_path: Path, host: str) -> None:
    given = loaded(tmp_path, **{"server.host": host, "server.port": 0})

    async def revoke() -> None:
        async with opened(tmp_path) as store:
            (made,) = await store.tokens()
            await store.revoke_token(made.id)

    with pytest.raises(NotAllowed, match="afterglow token create"):
        asyncio.run(serve(given, announce=quiet))
    token(tmp_path)
    asyncio.run(revoke())
    with pytest.raises(NotAllowed, match="afterglow token create"):
        asyncio.run(serve(given, announce=quiet))


@pytest.mark.spec("SAFE-1")
async def test_an_address_is_checked_alike_on_every_store(store: Store) -> None:
    await check_address(store, "127.0.0.1")
    with pytest.raises(NotAllowed):
        await check_address(store, "192.0.2.1")
    made = await store.add_token("test", "read", new_token(store.clock))
    await check_address(store, "192.0.2.1")
    await store.revoke_token(made.id)
    with pytest.raises(NotAllowed):
        await check_address(store, "192.0.2.1")


@pytest.mark.spec("SAFE-1")
def test_with_a_token_it_listens_everywhere_and_asks_everyone_for_one(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path, "read")
    server = start(**{"server.host": "0.0.0.0"})
    assert server.url == f"http://0.0.0.0:{server.port}"
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE_SECONDS) as client:
        assert client.get("/healthz").status_code == 200
        for path in ("/api/v1", "/readyz", "/api/v1/status", "/nowhere"):
            assert client.get(path).status_code == 401, path
        client.headers["authorization"] = f"Bearer {secret}"
        assert client.get("/api/v1/status").status_code == 200
    assert server.stop() == 0


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", pytest.param("::1", marks=needs_ipv6)])
def test_it_announces_the_address_that_answers(start: Start, host: str) -> None:
    server = start(**{"server.host": host})
    assert server.url, server.errors
    assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE_SECONDS).status_code == 200
    assert server.stop() == 0


@pytest.mark.spec("SAFE-1")
def test_it_listens_on_this_machine_unless_told_otherwise(tmp_path: Path) -> None:
    assert loaded(tmp_path).settings.server.host == "127.0.0.1"


def client_of(server: Server, secret: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {secret}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS)


def say(server: Server, secret: str, session: str) -> None:
    """Talk until there is something to fold."""
    with client_of(server, secret) as client:
        for n in range(10):
            text = f"In part {n} of the plan the red kettle goes to Ana, and the green one stays where it is for now."
            body = {**TURN, "session": session, "role": "assistant" if n % 2 else "user", "text": text}
            assert client.post("/api/v1/turns", json=body).status_code == 201


def work_of(server: Server, secret: str) -> list[dict[str, Any]]:
    """The folding of contexts that is due or under way."""
    with client_of(server, secret) as client:
        return client.get("/api/v1/work", params={"kind": "context"}).json()["items"]


def folded(server: Server, secret: str, session: str) -> dict[str, Any]:
    """The context, once the server has folded it."""
    with client_of(server, secret) as client:

        def context() -> Any:
            return client.get(f"/api/v1/sessions/{session}/context").json()

        wait_until(lambda: context()["messages"][0]["seq"] == 0)
        return context()


@pytest.mark.spec("CTX-1", "P5")
def test_the_server_folds_contexts_behind_the_replies(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    server = start(**{"compaction.model": "offline"})
    say(server, secret, "plan")
    context = folded(server, secret, "plan")
    assert [message["seq"] for message in context["messages"]] == [0, 5, 6, 7, 8, 9, 10]
    assert "red kettle" in context["messages"][0]["text"]
    assert server.stop() == 0


@pytest.mark.spec("P3", "P6")
def test_what_was_due_when_a_server_was_killed_is_done_by_the_next(start: Start, tmp_path: Path) -> None:
    secret = token(tmp_path)
    short = {"work.lease_max_seconds": 1, "work.lease_seconds": 1}
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a model that never answers: its work stays claimed
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        down = start(**short, **{"compaction.model": "openai:none", "compaction.base_url": address})
        say(down, secret, "plan")
        wait_until(lambda: [each["state"] for each in work_of(down, secret)] == ["claimed"])
        down.stop(signal.SIGKILL)

    async def check_left() -> None:
        async with opened(tmp_path) as store:
            (work,) = await store.work_list(KATE.owner, kind="context")
            assert (work.reason, work.subject) == ("interval", "plan")
            assert work.holder and work.last_error is None

    asyncio.run(check_left())
    server = start(**short, **{"compaction.model": "offline"})
    assert folded(server, secret, "plan")["messages"][0]["seq"] == 0
    assert server.stop() == 0


@pytest.mark.spec("DOOR-2")
def test_serve_with_json_tells_the_address_and_the_link_in_one_document(tmp_path: Path) -> None:
    given = ("--data-dir", tmp_path, "serve", "--port", "0", "--json")
    with Process(*given, imports=["afterglow.daemon"], cwd=tmp_path) as process:
        assert process.stdout is not None
        told = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == ""
        assert process.wait() == 0
    assert told["page"].startswith(f"{told['address']}/#signin=ag_")
