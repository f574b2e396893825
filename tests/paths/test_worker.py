"""The background path: what happens to work under every outcome of its act."""

from __future__ import annotations

import asyncio
import logging

import pytest

from afterglow.clock import FixedClock, SystemClock
from afterglow.errors import ClaimLost
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.transaction import EVERYONE
from afterglow.work import Claim, Due, Kind, Limits, backoff_seconds
from afterglow.worker import Act, Commit, Worker
from tests.conftest import OpenStore
from tests.kit.records import KATE, NOON, said

LIMITS = Limits(lease_seconds=60, attempts_max=3, backoff_seconds=10, backoff_max_seconds=100)


def worker(store: Store, act: Act, kind: Kind = "context", limits: Limits = LIMITS, poll_seconds: float = 30) -> Worker:
    return Worker(store, {kind: act}, holder="test", limits=limits, poll_seconds=poll_seconds)


async def ask(store: Store, *subjects: str) -> None:
    for subject in subjects:
        await store.mark_due("o", Due(kind="context", at=NOON, reason="interval", subject=subject))


def waiting(store: Store, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Is set when a worker begins to wait for work."""
    begun, wait = asyncio.Event(), store.wait_for_work

    async def wait_for_work(seconds: float) -> None:
        begun.set()
        await wait(seconds)

    monkeypatch.setattr(store, "wait_for_work", wait_for_work)
    return begun


async def test_all_that_is_due_is_done_once(store: Store) -> None:
    done: list[str] = []

    async def act(claim: Claim) -> Commit | None:
        done.append(claim.subject)
        return None

    await ask(store, *(f"s{n}" for n in range(11)))
    assert await worker(store, act).drain() == 11
    assert sorted(done) == sorted(f"s{n}" for n in range(11))
    assert await store.work_list(EVERYONE) == []


async def test_the_commit_an_act_returns_ends_the_claim(store: Store) -> None:
    async def act(claim: Claim) -> Commit | None:
        async def commit() -> None:
            await store.finish(claim)

        return commit

    await ask(store, "s1")
    await worker(store, act).drain()
    assert await store.work_list(EVERYONE) == []


@pytest.mark.spec("CTX-9")
async def test_the_lost_wake_up_a_turn_during_the_work_is_worked_on_next(store: Store, clock: FixedClock) -> None:
    seen: list[int] = []
    asked = Due(kind="context", at=NOON, reason="interval")

    async def act(claim: Claim) -> Commit | None:
        session = await store.session(claim.owner, claim.subject)
        seen.append(session.turns)
        if session.turns == 1:
            await store.append(KATE.owner, KATE, said("meanwhile"), [asked])
        return None

    await store.append(KATE.owner, KATE, said("first"), [asked])
    await worker(store, act).drain()
    assert seen == [1, 2]
    assert await store.work_list(EVERYONE) == []


@pytest.mark.spec("P6", "SUM-10")
async def test_failing_work_is_tried_again_later_and_then_parked(
    store: Store, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    attempts: list[int] = []

    async def act(claim: Claim) -> Commit | None:
        attempts.append(claim.attempt)
        raise TimeoutError("the model did not answer")

    await ask(store, "s1")
    one = worker(store, act)
    for _ in range(6):
        await one.drain()
        clock.move(LIMITS.backoff_max_seconds)
    assert attempts == [1, 2, 3]
    (parked,) = await store.work_list(EVERYONE, "parked")
    assert parked.last_error == "TimeoutError: the model did not answer"


@pytest.mark.spec("P7")
async def test_one_bad_session_does_not_delay_the_others(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    done: list[str] = []

    async def act(claim: Claim) -> Commit | None:
        if claim.subject == "bad":
            raise ValueError("poison")
        done.append(claim.subject)
        return None

    await ask(store, "bad", "good1", "good2")
    await worker(store, act).drain()
    assert sorted(done) == ["good1", "good2"]


@pytest.mark.spec("P3")
async def test_a_result_that_is_refused_is_dropped_and_the_work_tried_again(store: Store, clock: FixedClock) -> None:
    async def act(claim: Claim) -> Commit | None:
        async def commit() -> None:
            raise ClaimLost("another was first")

        return commit

    await ask(store, "s1")
    await worker(store, act).drain()
    (work,) = await store.work_list(EVERYONE)
    assert (work.state, work.last_error) == ("waiting", "ClaimLost: another was first")


async def test_a_long_act_keeps_its_lease(store: Store, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease runs by the store's clock, which is moved by hand; the worker renews it by the time that really passes."""
    limits = Limits(lease_seconds=0.3)
    begun, may_end = asyncio.Event(), asyncio.Event()
    renewed = 0
    renew = store.renew

    async def counted(claim: Claim, limits: Limits) -> Claim:
        nonlocal renewed
        again = await renew(claim, limits)
        renewed += 1
        return again

    async def act(claim: Claim) -> Commit | None:
        begun.set()
        await may_end.wait()
        return None

    monkeypatch.setattr(store, "renew", counted)
    await ask(store, "s1")
    working = asyncio.create_task(worker(store, act, limits=limits).drain())
    async with asyncio.timeout(60):
        await begun.wait()
        for _ in range(5):
            clock.move(0.2)
            assert await store.claim(["context"], limit=1, holder="thief", limits=limits) == []
            since = renewed + 2  # one may have been under way when the clock was moved
            while renewed < since:  # noqa: ASYNC110 - the worker has no event for it
                await asyncio.sleep(0.01)
        may_end.set()
        assert await working == 1


async def test_an_act_whose_claim_has_passed_on_is_stopped(open_store: OpenStore) -> None:
    store = await open_store(SystemClock())
    limits = Limits(lease_seconds=0.3)
    reached_end = False

    async def act(claim: Claim) -> Commit | None:
        nonlocal reached_end
        await store.finish(claim)
        await asyncio.sleep(20)
        reached_end = True
        return None

    await ask(store, "s1")
    assert await asyncio.wait_for(worker(store, act, limits=limits).drain(), 30) == 1
    assert not reached_end


async def test_a_running_worker_is_woken_by_new_work_and_stops_when_told(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(SystemClock())
    done = asyncio.Event()

    async def act(claim: Claim) -> Commit | None:
        done.set()
        return None

    if isinstance(store, PostgresStore):
        await store.wait_for_work(60)  # ends when the listener begins, which wakes every waiter
    stop = asyncio.Event()
    waits = waiting(store, monkeypatch)
    running = asyncio.create_task(worker(store, act, poll_seconds=600).run(stop))
    await asyncio.wait_for(waits.wait(), 30)
    await ask(store, "s1")
    await asyncio.wait_for(done.wait(), 30)
    stop.set()
    await asyncio.wait_for(running, 30)


def test_waiting_doubles_up_to_the_limit_and_chance_shortens_it_by_half_at_most() -> None:
    assert [backoff_seconds(n, LIMITS, 0.0) for n in (1, 2, 3, 4, 5, 99)] == [10, 20, 40, 80, 100, 100]
    assert backoff_seconds(1, LIMITS, 1.0) == 5


@pytest.mark.spec("P7")
async def test_a_slow_piece_of_work_holds_up_no_other(open_store: OpenStore) -> None:
    store = await open_store(SystemClock())
    slow_begun, slow_ends, quick_done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def act(claim: Claim) -> Commit | None:
        if claim.subject == "slow":
            slow_begun.set()
            await slow_ends.wait()
        else:
            quick_done.set()
        return None

    stop = asyncio.Event()
    running = asyncio.create_task(worker(store, act).run(stop))
    await ask(store, "slow")
    await asyncio.wait_for(slow_begun.wait(), 30)
    await ask(store, "quick")
    await asyncio.wait_for(quick_done.wait(), 30)
    slow_ends.set()
    stop.set()
    await asyncio.wait_for(running, 30)


@pytest.mark.spec("P8")
async def test_an_act_that_takes_too_long_is_broken_off(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)

    async def act(claim: Claim) -> Commit | None:
        await asyncio.sleep(60)
        return None

    await ask(store, "s1")
    await worker(store, act, limits=Limits(act_seconds_max=0.1)).drain()
    (work,) = await store.work_list(EVERYONE)
    assert (work.state, work.attempts) == ("waiting", 1)
    assert "took longer than 0.1 seconds" in (work.last_error or "") and "work.act_seconds_max" in (
        work.last_error or ""
    )


async def test_what_an_error_says_is_kept_without_secrets_and_whatever_it_holds(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    secret = "sk-proj-" + "aB3dE6gH9" * 6

    async def act(claim: Claim) -> Commit | None:
        raise ValueError(f"bad \ud800 \0 {secret}")

    await ask(store, "s1")
    await worker(store, act).drain()
    (work,) = await store.work_list(EVERYONE)
    assert work.last_error == "ValueError: bad ?  [redacted: OpenAI key]"
