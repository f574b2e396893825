"""A pooler between the store and PostgreSQL: PgBouncer itself, where it is installed."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from afterglow import Settings, StoreUnusable, SystemClock
from afterglow.memory import open_store
from afterglow.store.contract import Store
from tests.kit.command_line import wait_until
from tests.kit.promises import broken
from tests.kit.records import KATE, said

pytestmark = pytest.mark.spec("P13")

WRITERS = 8
SERVER_CONNECTIONS = 3


@pytest.fixture
def pooler(own_server: Any, tmp_path: Path) -> Iterator[Callable[[str, int], str]]:
    """Start PgBouncer in a mode, with so many connections to the server, and give its address."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    started: list[subprocess.Popen[bytes]] = []
    place = parse_qs(urlsplit(own_server.get_uri()).query)["host"][0]

    def start(mode: str, connections: int) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        file = tmp_path / "pgbouncer.ini"
        file.write_text(
            f"[databases]\n* = host={place} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\nauth_type = any\npool_mode = {mode}\ndefault_pool_size = {connections}\n"
        )
        command = [program, "-q", str(file)]
        if os.geteuid() == 0:  # which PgBouncer refuses to be
            command[1:1] = ["-u", pwd.getpwuid(Path(place).stat().st_uid).pw_name]
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        address = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        wait_until(lambda: answers(address))
        return address

    yield start
    for each in started:
        each.terminate()
        each.wait()


def answers(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


async def opened(address: str, **limits: Any) -> Store:
    return await open_store(Settings.model_validate({"database": address, "store": limits}), SystemClock())


async def write_from_many_sides(store: Store, session: str) -> None:
    await store.open_session(KATE, client_session=session)
    for number in range(10):
        turns = (store.append(KATE.owner, session, said(f"turn {number} of {n}")) for n in range(WRITERS))
        await asyncio.gather(*turns)
    assert len(await store.turns(KATE.owner, session, limit=1000)) == 10 * WRITERS
    assert await broken(store) == []


async def test_a_pooler_that_keeps_no_prepared_statements_is_refused_at_the_start(
    pooler: Callable[[str, int], str],
) -> None:
    address = await asyncio.to_thread(pooler, "transaction", SERVER_CONNECTIONS)
    with pytest.raises(StoreUnusable, match=r"Set `store\.prepared_statements` to false"):
        await opened(address)


async def test_every_write_through_a_pooler_of_transactions_succeeds_without_prepared_statements(
    pooler: Callable[[str, int], str],
) -> None:
    address = await asyncio.to_thread(pooler, "transaction", SERVER_CONNECTIONS)
    store = await opened(address, prepared_statements=False)
    try:
        await write_from_many_sides(store, "transaction")
        await store.wait_for_work(0.01)
        assert "afterglow-listener" not in {thread.name for thread in threading.enumerate()}, "LISTEN needs a session"
    finally:
        await store.close()


async def test_a_pooler_of_sessions_is_used_as_the_server_itself(pooler: Callable[[str, int], str]) -> None:
    store = await opened(await asyncio.to_thread(pooler, "session", 2 * WRITERS))
    try:
        await write_from_many_sides(store, "session")
    finally:
        await store.close()
