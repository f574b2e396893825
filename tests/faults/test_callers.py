"""What callers do to a store: fail, give up, come too late, come all at once. No other caller notices, and none hangs."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from afterglow import failpoints
from afterglow.clock import SystemClock
from afterglow.errors import NotFound, StoreError, StoreUnavailable, StoreUnusable
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresLimits, PostgresStore
from afterglow.store.sqlite import SQLiteLimits, SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Turn
from afterglow.work import Due
from tests.conftest import OpenStore
from tests.faults import verbs
from tests.faults.nursery import Nursery
from tests.faults.tasks import binding
from tests.faults.tasks import open_store as open_at
from tests.kit.promises import broken
from tests.kit.records import KATE, OTHER, said

PATIENCE_SECONDS = 60
"""Longer than anything here takes: who has no answer by then would never have had one."""


async def answers_of(*calls: Any) -> list[Any]:
    return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), PATIENCE_SECONDS)


async def texts(store: Store, owner: str = KATE.owner) -> set[str]:
    return {turn.text for turn in await store.turns_before(owner, None, 10**6)}


@pytest.mark.spec("P7", "P13")
async def test_a_verb_that_fails_disturbs_no_other_in_its_batch(store: Store) -> None:
    def bad(tx: Tx) -> None:
        tx.run("UPDATE sessions SET tokens = 99999")
        tx.run("INSERT INTO nowhere VALUES (1)")

    calls = [store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(30)]
    wrong: list[Any] = [store.append(KATE.owner, "no such session", said("x")) for _ in range(10)]
    broken_verbs: list[Any] = [store._write("bad", KATE.owner, bad) for _ in range(10)]
    answers = await answers_of(*(each for group in zip(calls[:10], wrong, broken_verbs, strict=True) for each in group))
    answers += await answers_of(*calls[10:])
    kinds = [type(answer) for answer in answers]
    assert kinds == [Turn, NotFound, StoreError] * 10 + [Turn] * 20
    assert await broken(store) == []


@pytest.mark.spec("P7")
async def test_a_verb_that_ends_the_transaction_of_its_batch_fails_alone(tmp_path: Path) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", SystemClock())
    calls: list[Any] = [store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(10)]
    for at, ending in ((3, "ROLLBACK"), (7, "COMMIT")):
        calls.insert(at, store._write("bad", KATE.owner, lambda tx, ending=ending: tx.run(ending)))
    answers = await answers_of(*calls)
    assert [type(answer) for answer in answers if not isinstance(answer, Turn)] == [StoreError, StoreError]
    seqs = [answer.seq for answer in answers if isinstance(answer, Turn)]
    session = await store.current_session(KATE)
    assert session is not None and session.turns == max(seqs)
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("P7", "P13")
async def test_callers_that_give_up_leave_the_others_their_answers(store: Store) -> None:
    tasks = [asyncio.create_task(store.append(KATE.owner, KATE, said(f"turn {n}"))) for n in range(60)]
    await asyncio.sleep(0)
    for task in tasks[::3]:
        task.cancel()
    answers = await answers_of(*tasks)
    assert {type(answer) for answer in answers} == {Turn, asyncio.CancelledError}
    kept = {answer.text for answer in answers if isinstance(answer, Turn)}
    assert len(kept) >= 40 and kept <= await texts(store)
    assert await store.append(KATE.owner, KATE, said("and on it goes"))
    assert await broken(store) == []


@pytest.mark.spec("P1", "P13")
async def test_closing_answers_everybody_who_waits_and_keeps_what_was_acknowledged(open_store: OpenStore) -> None:
    store = await open_store()
    calls = [asyncio.create_task(store.append(KATE.owner, KATE, said(f"turn {n}"))) for n in range(100)]
    waiting = [asyncio.create_task(store.wait_for_work(3600)) for _ in range(3)]
    reads = [asyncio.create_task(store.sessions(EVERYONE)) for _ in range(20)]
    await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.gather(store.close(), store.close()), PATIENCE_SECONDS)
    answers = await answers_of(*calls)
    assert {type(answer) for answer in answers} == {Turn}, "they came before the end"
    await answers_of(*waiting, *reads)
    again = await open_store()
    assert await texts(again) == {f"turn {n}" for n in range(100)}
    assert await broken(again) == []


@pytest.mark.spec("P13")
async def test_a_closed_store_says_so_to_every_verb_and_may_be_closed_again(open_store: OpenStore) -> None:
    store = await open_store()
    await verbs.prepare(store)
    await store.close()
    for name, verb in verbs.VERBS.items():
        if name == "close":
            await verb(store)
            continue
        with pytest.raises(StoreUnusable, match=r"closed; open it again"):
            await verb(store)


@pytest.mark.spec("P13")
async def test_a_store_serves_several_event_loops_and_its_end_leaves_none_of_them_hanging(
    open_store: OpenStore,
) -> None:
    store = await open_store(SystemClock())
    acknowledged: list[str] = []
    begun, enough = threading.Barrier(4), threading.Event()
    ended: list[str] = []

    async def write(number: int) -> None:
        await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        for count in range(10**6):
            turn = await store.append(binding(number).owner, binding(number), said(f"{number} {count}"))
            acknowledged.append(turn.text)
            if len(acknowledged) >= 40:
                enough.set()

    def run(number: int) -> None:
        try:
            asyncio.run(write(number))
        except StoreUnusable:
            ended.append("told")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(enough.wait, PATIENCE_SECONDS)
    await asyncio.wait_for(store.close(), PATIENCE_SECONDS)
    for thread in threads:
        await asyncio.to_thread(thread.join, PATIENCE_SECONDS)
    assert ended == ["told"] * 4
    again = await open_store()
    stored = {text for number in range(4) for text in await texts(again, binding(number).owner)}
    assert set(acknowledged) == stored
    assert await broken(again) == []


@pytest.mark.spec("P1")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_writer_thread_that_dies_leaves_no_caller_waiting(tmp_path: Path) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", SystemClock())
    await store.append(KATE.owner, KATE, said("before"))

    def die() -> None:
        raise SystemExit

    failpoints.arm("append:before", die)
    answers = await answers_of(*(store.append(KATE.owner, KATE, said(f"turn {n}", key=f"{n}")) for n in range(20)))
    unsure = [answer for answer in answers if isinstance(answer, StoreUnavailable)]
    assert unsure and all("try again with the same key" in str(answer) for answer in unsure)
    assert {type(answer) for answer in answers} <= {StoreUnavailable, StoreUnusable}, "some came after its end"
    with pytest.raises(StoreUnusable, match="close the store and open it again"):
        await store.append(KATE.owner, KATE, said("too late"))
    await asyncio.wait_for(store.close(), PATIENCE_SECONDS)
    again = await SQLiteStore.open(tmp_path / "afterglow.db", SystemClock())
    assert await texts(again) == {"before"}
    assert await broken(again) == []
    await again.close()


@pytest.mark.spec("SUM-11", "P8")
async def test_a_file_that_another_process_keeps_locked_is_said_to_be_once_to_all_who_wait(tmp_path: Path) -> None:
    path = tmp_path / "afterglow.db"
    store = await SQLiteStore.open(path, SystemClock(), SQLiteLimits(busy_timeout_seconds=0.3))
    await store.append(KATE.owner, KATE, said("before"))
    begins: list[int] = []
    begin = store._begin
    store._begin = lambda: (begins.append(1), begin())[1]  # type: ignore[method-assign]
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = await answers_of(*(store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(30)))
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 30
    assert all("locked for too long; nothing was changed" in str(answer) for answer in answers)
    assert len(begins) <= 2, "they wait together, not one after another"
    assert await texts(store) == {"before"}, "reading goes on meanwhile"
    other.execute("ROLLBACK")
    other.close()
    assert (await store.append(KATE.owner, KATE, said("after"))).seq == 2
    await store.close()


@pytest.mark.spec("P7")
async def test_a_reader_that_failed_reads_again(store: Store) -> None:
    await store.append(KATE.owner, KATE, said("hello"))

    def bad(tx: Tx) -> None:
        tx.rows("SELECT * FROM sessions")
        tx.rows("SELECT * FROM nowhere")

    def writing(tx: Tx) -> None:
        tx.run("UPDATE sessions SET tokens = 99999")

    for _ in range(10):
        answers = await answers_of(*(store._read("bad", KATE.owner, verb) for verb in (bad, writing)))
        assert all(isinstance(answer, StoreError) for answer in answers), "reading never writes"
    assert await texts(store) == {"hello"}
    assert await broken(store) == []


@pytest.mark.spec("P8", "P13")
async def test_more_callers_than_connections_wait_their_turn(postgres_address: str) -> None:
    store = await PostgresStore.open(postgres_address, SystemClock(), PostgresLimits(pool_max=2))
    answers = await answers_of(
        *(store.append(binding(n % 5).owner, binding(n % 5), said(f"turn {n}")) for n in range(100)),
        *(store.sessions(EVERYONE) for _ in range(50)),
    )
    assert {type(answer) for answer in answers} == {Turn, list}
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("P13")
async def test_no_thread_is_left_behind_by_a_store_that_was_closed_or_could_not_be_opened(
    open_store: OpenStore, tmp_path: Path
) -> None:
    def ours() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if "afterglow" in thread.name}

    before = ours()
    for _ in range(3):
        store = await open_store(SystemClock())
        await answers_of(
            *(store.append(OTHER.owner, OTHER, said("hello")) for _ in range(20)), store.wait_for_work(0.01)
        )
        await store.close()
    (tmp_path / "diary").write_text("dear diary " * 1000)
    for opening in (
        SQLiteStore.open(tmp_path / "diary", SystemClock()),
        PostgresStore.open(f"postgresql:///db?host={tmp_path}", SystemClock()),
    ):
        with pytest.raises(StoreError):
            await opening
    gc.collect()
    assert not ours() - before


@pytest.mark.spec("P13")
async def test_a_store_that_was_opened_before_a_fork_says_so_in_the_new_process(address: str, nursery: Nursery) -> None:
    told = nursery.well("use_after_fork", address=address)
    assert len(told) == 2
    assert all("was opened before this process was forked; open it here" in line for line in told)


@pytest.mark.spec("P3")
async def test_a_worker_is_woken_only_by_work_that_was_really_committed(tmp_path: Path) -> None:
    store = await open_at(str(tmp_path / "afterglow.db"))
    waiting = asyncio.create_task(store.wait_for_work(PATIENCE_SECONDS))
    await asyncio.sleep(0)
    due = Due(kind="facts", at=store.clock.now(), reason="interval", subject="s")
    failpoints.arm("mark_due:before", "error")
    with pytest.raises(RuntimeError):
        await store.mark_due("o", due)
    await store.sessions(EVERYONE)
    assert not waiting.done()
    await store.mark_due("o", due)
    await asyncio.wait_for(waiting, PATIENCE_SECONDS / 2)
    await store.close()
