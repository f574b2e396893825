"""The work queue's promises, on every store."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.transaction import EVERYONE
from afterglow.work import Claim, Due, Kind, Limits
from tests.conftest import OpenStore
from tests.kit.records import KATE, NOON, OTHER, said

LIMITS = Limits(lease_seconds=60, lease_max_seconds=3600, attempts_max=3)
pytestmark = pytest.mark.spec("P13")


def due(subject: str = "s1", *, in_seconds: float = 0, kind: Kind = "context", **more: Any) -> Due:
    return Due(kind=kind, at=NOON + timedelta(seconds=in_seconds), reason="interval", subject=subject, **more)


async def take(
    store: Store, limit: int = 10, kinds: tuple[Kind, ...] = ("context",), holder: str = "w1"
) -> list[Claim]:
    return await store.claim(kinds, limit=limit, holder=holder, limits=LIMITS)


def test_a_request_checks_itself() -> None:
    with pytest.raises(BadInput, match="no work of kind 'nap'"):
        due(kind="nap")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="has no zone"):
        Due(kind="context", at=NOON.replace(tzinfo=None), reason="idle")


async def test_work_is_claimed_when_it_is_due_and_not_before(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due(in_seconds=30))
    assert await take(store) == []
    clock.move(30)
    (claim,) = await take(store)
    assert (claim.owner, claim.kind, claim.subject, claim.attempt, claim.reason) == (
        "o",
        "context",
        "s1",
        1,
        "interval",
    )


async def test_asking_again_is_one_piece_of_work(store: Store) -> None:
    for _ in range(5):
        await store.mark_due("o", due())
    (work,) = await store.work_list(EVERYONE)
    assert (work.state, work.wanted) == ("due", 5)
    assert len(await take(store)) == 1


async def test_a_timer_is_moved_later_and_plain_work_is_not(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due("timer", in_seconds=60, rearm=True))
    await store.mark_due("o", due("timer", in_seconds=90, rearm=True))
    await store.mark_due("o", due("plain", in_seconds=60))
    await store.mark_due("o", due("plain", in_seconds=90))
    clock.move(60)
    assert [claim.subject for claim in await take(store)] == ["plain"]
    clock.move(30)
    assert [claim.subject for claim in await take(store)] == ["timer"]


async def test_a_timer_that_is_rearmed_does_not_put_off_work_that_is_due(store: Store) -> None:
    await store.mark_due("o", due())
    await store.mark_due("o", due(in_seconds=1800, rearm=True))
    assert len(await take(store)) == 1


async def test_claimed_work_is_not_claimed_again_until_the_lease_ends(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    (first,) = await take(store)
    clock.move(59)
    assert await take(store, holder="w2") == []
    clock.move(1)
    (second,) = await take(store, holder="w2")
    assert second.attempt == 2
    for late in (
        store.finish(first),
        store.renew(first, LIMITS),
        store.give_back(first, "x", wait_seconds=1, park=False),
    ):
        with pytest.raises(ClaimLost):
            await late
    await store.finish(second)
    assert await store.work_list(EVERYONE) == []


async def test_a_renewed_lease_runs_from_then(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    clock.move(50)
    renewed = await store.renew(claim, LIMITS)
    assert renewed.until == clock.now() + timedelta(seconds=60)
    clock.move(59)
    assert await take(store) == []
    await store.finish(renewed)


@pytest.mark.spec("CTX-9", "P3")
async def test_a_turn_that_arrives_during_the_work_leaves_the_work_due(store: Store, clock: FixedClock) -> None:
    turn = await store.append(KATE.owner, KATE, said("one"), [Due(kind="context", at=clock.now(), reason="interval")])
    (claim,) = await take(store)
    await store.append(KATE.owner, KATE, said("two"), [Due(kind="context", at=clock.now(), reason="interval")])
    await store.finish(claim)
    (again,) = await take(store)
    assert (again.subject, again.attempt) == (turn.session, 1)


async def test_a_timer_armed_during_the_work_does_not_fire_at_once(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    await store.mark_due("o", due(in_seconds=1800, rearm=True))
    await store.finish(claim)
    assert await take(store) == []
    clock.move(1800)
    assert len(await take(store)) == 1


@pytest.mark.spec("IDLE-4")
@pytest.mark.parametrize("ending", ["fails", "dies"])
async def test_a_timer_armed_during_the_work_outlives_its_failure(store: Store, clock: FixedClock, ending: str) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    await store.mark_due("o", due(in_seconds=1800, rearm=True))
    if ending == "fails":
        await store.give_back(claim, "no", wait_seconds=10, park=False)
    clock.move(60)
    (again,) = await take(store)
    await store.finish(again)
    assert await take(store) == []
    clock.move(1800)
    assert len(await take(store)) == 1


@pytest.mark.spec("IDLE-4")
async def test_a_clock_that_jumps_on_and_back_leaves_no_work_behind(store: Store, clock: FixedClock) -> None:
    for n in range(3):
        await store.mark_due("o", due(f"s{n}"))
    clock.move(365 * 86400)
    (claim,) = await take(store, limit=1)
    await store.give_back(claim, "no", wait_seconds=10, park=False)
    clock.move(-365 * 86400 + 1)
    assert {claim.subject for claim in await take(store)} == {"s0", "s1", "s2"}


async def test_the_reason_is_that_of_the_request_that_counts(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    await store.mark_due(
        "o", Due(kind="context", at=NOON + timedelta(hours=1), reason="idle", subject="s1", rearm=True)
    )
    (claim,) = await take(store)
    assert claim.reason == "interval"


async def test_a_session_has_one_piece_of_work_however_its_owner_is_named(store: Store, clock: FixedClock) -> None:
    asked = Due(kind="context", at=NOON, reason="interval")
    turn = await store.append(KATE.owner, KATE, said("hi"), [asked])
    await store.append(OTHER.owner, OTHER, said("hi"))
    await store.join(KATE.owner, OTHER.owner)
    await store.mark_due(OTHER.owner, due(turn.session))
    assert [claim.subject for claim in await take(store)] == [turn.session]


async def test_a_finished_piece_of_work_is_gone_and_its_old_claim_opens_nothing(store: Store) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    await store.finish(claim)
    await store.mark_due("o", due())
    (newer,) = await take(store)
    with pytest.raises(ClaimLost):
        await store.finish(claim)
    await store.finish(newer)


@pytest.mark.spec("SUM-10", "P6")
async def test_failed_work_waits_and_is_then_parked_where_people_see_it(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    await store.give_back(claim, "TimeoutError: too slow", wait_seconds=10, park=False)
    assert await take(store) == []
    clock.move(10)
    (claim,) = await take(store)
    assert claim.attempt == 2
    await store.give_back(claim, "TimeoutError: too slow", wait_seconds=86400, park=True)
    (parked,) = await store.work_list(EVERYONE, "parked")
    assert (parked.attempts, parked.last_error) == (2, "TimeoutError: too slow")
    assert (await store.backlog(EVERYONE)).parked == 1
    await store.mark_due("o", due())
    assert await take(store) == [], "asking again does not spend on what keeps failing"
    clock.move(86400)
    assert len(await take(store)) == 1


@pytest.mark.spec("SUM-10")
async def test_work_whose_worker_dies_every_time_is_parked_too(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due())
    for attempt in (1, 2, 3):
        (claim,) = await take(store)
        assert claim.attempt == attempt
        clock.move(60)
    assert await take(store) == []
    (parked,) = await store.work_list(EVERYONE, "parked")
    assert "died" in (parked.last_error or "")
    clock.move(LIMITS.parked_retry_seconds)
    assert len(await take(store)) == 1
    clock.move(60)
    assert await take(store) == [], "once a day, also when the worker dies again"


@pytest.mark.spec("SUM-10")
async def test_parked_work_is_retried_at_once_when_asked(store: Store) -> None:
    await store.mark_due("o", due())
    (claim,) = await take(store)
    await store.give_back(claim, "no", wait_seconds=86400, park=True)
    assert await store.retry(EVERYONE, subject="s1") == 1
    (again,) = await take(store)
    assert again.attempt == 1
    with pytest.raises(NotFound):
        await store.retry(EVERYONE, subject="nothing of that name")


@pytest.mark.spec("P7")
async def test_an_owner_with_hundreds_of_rows_does_not_hold_up_another(store: Store, clock: FixedClock) -> None:
    for n in range(300):
        await store.mark_due("busy", due(f"s{n:05}", in_seconds=-3600))
    await store.mark_due("quiet", due("only"))
    first = await take(store, limit=10)
    assert [claim.owner for claim in first].count("quiet") == 1
    assert [claim.owner for claim in first].count("busy") == 5
    second = await take(store, limit=10)
    assert len({claim.subject for claim in second} - {claim.subject for claim in first}) == 10


@pytest.mark.spec("P7")
async def test_owners_take_turns(store: Store, clock: FixedClock) -> None:
    for owner in ("a", "b", "c"):
        for n in range(5):
            await store.mark_due(owner, due(f"{owner}{n}"))
    taken: list[str] = []
    for _ in range(9):
        clock.move(0.001)
        taken.append((await take(store, limit=1))[0].owner)
    assert {owner: taken.count(owner) for owner in "abc"} == {"a": 3, "b": 3, "c": 3}
    assert len(set(taken[:3])) == 3


@pytest.mark.spec("P7")
async def test_owners_take_turns_where_their_number_does_not_divide_the_limit(store: Store, clock: FixedClock) -> None:
    for owner, rows in (("a", 20), ("b", 20), ("c", 1)):
        for n in range(rows):
            await store.mark_due(owner, due(f"{owner}{n}", in_seconds=-1))
    rounds = 0
    while "c" not in {claim.owner for claim in await take(store, limit=4)}:
        clock.move(0.001)
        rounds += 1
    assert rounds <= 1


async def test_a_claim_takes_only_the_kinds_it_asks_for(store: Store) -> None:
    await store.mark_due("o", due("f", kind="facts"))
    await store.mark_due("o", due("c", kind="context"))
    assert [claim.kind for claim in await take(store, kinds=("context", "clear"))] == ["context"]
    assert [claim.kind for claim in await take(store, kinds=("facts",))] == ["facts"]


@pytest.mark.spec("IDLE-4")
async def test_a_lease_from_a_clock_that_was_set_back_counts_as_over(store: Store, clock: FixedClock) -> None:
    await store.mark_due("o", due(in_seconds=-90000))
    (claim,) = await take(store)
    clock.move(-7200)
    (again,) = await take(store)
    with pytest.raises(ClaimLost):
        await store.finish(claim)
    await store.finish(again)


@pytest.mark.spec("P3")
async def test_workers_at_once_never_get_the_same_work(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    for n in range(60):
        await stores[0].mark_due(f"o{n % 7}", due(f"s{n}"))
    taken: list[Claim] = []

    async def work(store: Store, holder: str) -> None:
        while claims := await take(store, limit=3, holder=holder):
            taken.extend(claims)
            for claim in claims:
                await store.finish(claim)

    for _ in range(20):
        await asyncio.gather(*(work(each, f"w{n}") for n, each in enumerate(stores)))
    assert sorted(claim.subject for claim in taken) == sorted(f"s{n}" for n in range(60))
    assert await stores[0].work_list(EVERYONE) == []


@pytest.mark.spec("SAFE-2")
async def test_an_owner_sees_and_retries_its_own_work_only(store: Store) -> None:
    await store.mark_due(KATE.owner, due("mine"))
    await store.mark_due(OTHER.owner, due("theirs"))
    for claim in await take(store):
        await store.give_back(claim, "no", wait_seconds=60, park=True)
    assert [work.subject for work in await store.work_list(KATE.owner)] == ["mine"]
    assert await store.retry(KATE.owner) == 1
    assert [work.subject for work in await store.work_list(EVERYONE, "parked")] == ["theirs"]


async def test_a_waiting_worker_is_woken_by_work_that_is_due_now(store: Store) -> None:
    if isinstance(store, PostgresStore):
        await store.wait_for_work(60)  # ends when the listener begins, which wakes every waiter
    waiting = asyncio.create_task(store.wait_for_work(600))
    await asyncio.sleep(0)
    assert not waiting.done()
    await store.mark_due("o", due())
    await asyncio.wait_for(waiting, 60)


@pytest.mark.spec("SUM-10", "P7")
async def test_what_is_due_is_claimed_however_many_others_were_done_before_it(store: Store) -> None:
    """Places in the round where nothing is left must not be looked at in vain, one claim after the other."""
    for number in range(40):
        owner = f"kate/web/{number}"
        await store.mark_due(owner, Due(kind="summary", at=NOON, reason="manual", subject="s"))
        claimed = await store.claim_one(owner, "summary", "s", holder="w", limits=Limits())
        assert claimed is not None
        await (store.finish(claimed) if number % 2 else store.give_back(claimed, "no", wait_seconds=3600, park=False))
    await store.mark_due("kate/web/last", Due(kind="summary", at=NOON, reason="manual", subject="s"))
    (claim,) = await store.claim(("summary",), limit=4, holder="w", limits=Limits())
    assert claim.owner == "kate/web/last"
