"""PostgreSQL is stopped without warning and started again: callers are told to repeat, and repeating is safe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from afterglow import failpoints
from afterglow.clock import SystemClock
from afterglow.errors import StoreUnavailable
from afterglow.store.postgres import PostgresLimits, PostgresStore
from afterglow.store.transaction import EVERYONE
from afterglow.work import Due
from tests.faults.tasks import binding, digest
from tests.kit.campaign import Campaign
from tests.kit.promises import broken, doubled, lost
from tests.kit.records import KATE, OTHER, said


@pytest.fixture
async def store(own_server: Any) -> AsyncIterator[PostgresStore]:
    name = f"stopped_{os.urandom(6).hex()}"
    with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    store = await PostgresStore.open(own_server.get_uri(database=name), SystemClock())
    yield store
    await store.close()


def stop(server: Any) -> None:
    """As if the machine had failed: no goodbye to its clients, and recovery at the next start."""
    postmaster = psutil.Process(server.get_pid())
    postmaster.send_signal(signal.SIGQUIT)
    psutil.wait_procs([postmaster], timeout=60)
    assert not postmaster.is_running()


async def stopped(server: Any, store: PostgresStore, stops: Iterator[int]) -> str:
    """Write from six callers while the server is stopped and started again, and say what was done."""
    acknowledged: list[tuple[Any, ...]] = []
    refused: list[StoreUnavailable] = []
    stopping = asyncio.Event()

    async def caller(number: int) -> None:
        for count in range(10**6):
            if stopping.is_set():
                return
            key = f"{number}-{count}"
            while True:
                try:
                    turn = await store.append(binding(number).owner, binding(number), said(f"turn {key}", key=key))
                    break
                except StoreUnavailable as error:
                    refused.append(error)
                    await asyncio.sleep(0.05)
            acknowledged.append((turn.owner, turn.session, turn.seq, key, digest(turn.text)))

    callers = [asyncio.create_task(caller(number)) for number in range(6)]
    times = 0
    for number in stops:
        times += 1
        await _more_than(len(acknowledged) + 60, acknowledged, callers)
        told = len(refused)
        open_transaction, gone = _hold_a_transaction_open()
        await asyncio.to_thread(open_transaction.wait, 60)
        await asyncio.to_thread(stop, server)
        gone.set()
        await asyncio.to_thread(server.ensure_postgres_running)
        await _more_than(len(acknowledged) + 60, acknowledged, callers)
        assert len(refused) > told, f"stop {number}: the caller that had a transaction open must be told"
    stopping.set()
    await asyncio.gather(*callers)

    assert all("try again with the same key" in str(error) for error in refused)
    assert await lost(store, acknowledged, digest) == []
    assert await doubled(store) == []
    assert sum(session.turns for session in await store.sessions(EVERYONE)) == len(acknowledged)
    assert await broken(store) == []
    return f"{times} stops, {len(acknowledged)} turns acknowledged, {len(refused)} refused"


@pytest.mark.spec("P1", "LOG-1", "P13")
async def test_a_server_that_is_stopped_loses_and_doubles_nothing(own_server: Any, store: PostgresStore) -> None:
    await stopped(own_server, store, iter(range(1)))


@pytest.mark.campaign
@pytest.mark.spec("P1", "LOG-1", "P13")
async def test_a_server_that_is_stopped_again_and_again_loses_and_doubles_nothing(
    own_server: Any, store: PostgresStore, campaign: Campaign
) -> None:
    campaign.did(await stopped(own_server, store, campaign.rounds(at_least=2, whole=3)))


def _hold_a_transaction_open() -> tuple[threading.Event, threading.Event]:
    """The next append stands still just before its commit until the server is gone."""
    there, gone = threading.Event(), threading.Event()

    def stand_still() -> None:
        there.set()
        gone.wait(60)

    failpoints.arm("append:before", stand_still)
    return there, gone


async def _more_than(count: int, acknowledged: list[Any], callers: list[asyncio.Task[None]]) -> None:
    while len(acknowledged) < count:
        done, _ = await asyncio.wait(callers, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


@pytest.mark.spec("P13")
async def test_idle_connections_that_were_ended_are_replaced_and_no_caller_notices(
    own_server: Any, store: PostgresStore
) -> None:
    both = threading.Barrier(2)
    for round in range(3):
        failpoints.watch(lambda place: place == "append:before" and both.wait(60))
        await asyncio.gather(*(store.append(to.owner, to, said(f"turn {round}")) for to in (KATE, OTHER)))
        failpoints.disarm()
        await asyncio.gather(*(store.append(KATE.owner, KATE, said(f"turn {round} {n}")) for n in range(29)))
        ended = _end_connections(own_server, store)
        assert ended > 1, "the pool had several connections"
        assert (await store.append(KATE.owner, KATE, said(f"after the end {round}"))).seq == 31 * (round + 1)
    assert await broken(store) == []


def _end_connections(server: Any, store: PostgresStore) -> int:
    database = conninfo_to_dict(store._address)["dbname"]
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", (database,)
        )
        return sum(row[0] for row in ended)


@pytest.mark.spec("P13")
async def test_a_worker_that_waits_hears_of_work_again_after_its_connection_was_ended(
    own_server: Any, store: PostgresStore
) -> None:
    await store.wait_for_work(10)  # the listener says so once it listens
    _end_connections(own_server, store)
    await store.wait_for_work(30)  # and again when it is back
    waiting = asyncio.create_task(store.wait_for_work(60))
    await asyncio.sleep(0)
    await store.mark_due("o", Due(kind="facts", at=store.clock.now(), reason="interval", subject="s"))
    await asyncio.wait_for(waiting, 30)


@pytest.mark.spec("P13", "P7")
async def test_many_who_wait_for_work_take_no_connection_from_those_who_write(store: PostgresStore) -> None:
    await store.wait_for_work(10)
    waiting = [asyncio.create_task(store.wait_for_work(60)) for _ in range(50)]
    await asyncio.sleep(0)
    turn = await asyncio.wait_for(store.append(KATE.owner, KATE, said("goes on")), 30)
    assert turn.seq == 1
    await store.close()
    await asyncio.wait_for(asyncio.gather(*waiting), 30)


@pytest.mark.spec("P7", "P8")
async def test_a_row_that_another_keeps_locked_is_not_waited_for_for_ever(
    own_server: Any, store: PostgresStore
) -> None:
    turn = await store.append(KATE.owner, KATE, said("one"))
    impatient = await PostgresStore.open(
        store._address, SystemClock(), PostgresLimits(pool_max=2, lock_timeout_seconds=0.2)
    )
    with psycopg.connect(store._address) as connection:
        connection.execute("SELECT * FROM sessions WHERE id = %s FOR UPDATE", (turn.session,))
        calls = (impatient.append(KATE.owner, KATE, said(f"kept out {n}")) for n in range(6))
        answers = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
        assert [type(answer) for answer in answers] == [StoreUnavailable] * 6
        assert all("nothing was changed" in str(answer) for answer in answers)
        other = await impatient.append(binding(1).owner, binding(1), said("another session goes on"))
        assert other.seq == 1
    assert (await impatient.append(KATE.owner, KATE, said("let in"))).seq == 2
    await impatient.close()


@pytest.mark.spec("LOG-1", "P1")
async def test_a_turn_whose_commit_was_done_and_never_answered_is_there_once_when_it_is_sent_again(
    store: PostgresStore,
) -> None:
    given = conninfo_to_dict(store._address)
    async with _cut_line(Path(str(given["host"])) / ".s.PGSQL.5432") as (folder, cut_the_next_answer):
        address = f"postgresql://postgres@/{given['dbname']}?{urlencode({'host': folder})}"
        distant = await PostgresStore.open(address, SystemClock())
        await distant.append(KATE.owner, KATE, said("one", key="one"))
        failpoints.arm("append:before", cut_the_next_answer.set)
        with pytest.raises(StoreUnavailable, match="may or may not have been written"):
            await distant.append(KATE.owner, KATE, said("two", key="two"))
        assert [turn.text for turn in await store.turns_before(KATE.owner, None, 9)].count("two") == 1
        again = await distant.append(KATE.owner, KATE, said("two", key="two"))
        assert again.seq == 2
        await distant.close()
    assert await broken(store) == []


@contextlib.asynccontextmanager
async def _cut_line(socket_path: Path) -> AsyncIterator[tuple[str, threading.Event]]:
    """A way to the server that, once told to, drops the line instead of passing on the next answer."""
    cut = threading.Event()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(socket_path)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, answers: bool) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    if answers and cut.is_set():
                        cut.clear()
                        break
                    target.write(data)
                    await target.drain()
            for each in (writer, far_writer):
                each.close()

        await asyncio.gather(copy(reader, far_writer, False), copy(far_reader, writer, True))

    with tempfile.TemporaryDirectory(prefix="ag-") as folder:  # pytest's own path is too long for a socket
        server = await asyncio.start_unix_server(pass_on, Path(folder) / ".s.PGSQL.5432")
        try:
            yield folder, cut
        finally:
            server.close()
            await server.wait_closed()
