"""Attempts to break quiet and ended sessions: kills, races, clocks, models that fail for ever. One summary for each end."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from afterglow import contexts, endings
from afterglow.clock import FixedClock, SystemClock
from afterglow.errors import ClaimLost, ModelError, StoreUnavailable, StoreUnusable
from afterglow.memory import Memory
from afterglow.model import Completion, Request, scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.steward import Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.tokens import estimate
from afterglow.turns import Session
from afterglow.work import Due, Limits
from afterglow.worker import Worker
from afterglow.working import working
from tests.conftest import OpenStore
from tests.faults.nursery import Nursery
from tests.faults.quiet_tasks import PATIENT, answer, is_done, sender
from tests.faults.tasks import open_store as open_at
from tests.kit import faults
from tests.kit.campaign import Campaign
from tests.kit.faults import is_in, spent, until
from tests.kit.promises import broken
from tests.kit.records import KATE, NOON, OTHER, said
from tests.kit.talks import drain, exchanges, reread

QUIET_TASKS = {"module": "quiet_tasks"}
HALF_HOUR, HOUR = 1800, 3600
PATIENCE = 60
FILLING = "as one may put it, and "


def memory_over(store: Store, model: ScriptedModel | None = None, *, folds: bool = False, **given: Any) -> Memory:
    """A memory with these settings, which leaves all work to a worker unless it `folds`."""
    return faults.memory_over(store, model or ScriptedModel(answer), folds=folds, **given)


async def is_primary(steward: Steward) -> bool:
    return steward.is_primary


def sixteen(address: str) -> tuple[int, int]:
    """How many processes and sessions: fewer on PostgreSQL, which makes no file of its own to fight for."""
    return (4, 150) if address.startswith("postgresql:") else (16, 500)


async def ending(store: Store, count: int) -> None:
    """So many sessions that are over: one in three by sunset, one in three by its timer, one in three only quiet."""

    async def one(number: int) -> None:
        to, now = sender(number), store.clock.now()
        due: list[Due] = [Due(kind="idle", at=now, reason="timer", rearm=True)] if number % 3 == 1 else []
        turn = await store.append(to.owner, to, said(f"FACT-{number:05d} so to speak", at=now, terms=["fact"]), due)
        await store.append(to.owner, to, said("I see.", "assistant", at=now, terms=["see"]))
        if number % 3 == 0:
            await store.request_sunset(to.owner, turn.session, Due(kind="summary", at=now, reason="sunset-event"))

    for first in range(0, count, 50):
        await asyncio.gather(*(one(number) for number in range(first, min(count, first + 50))))


def made(told: Sequence[Any]) -> Counter[tuple[str, int]]:
    return Counter((line[1], line[2]) for line in told if line[0] == "made")


def unexpected(told: Sequence[Any]) -> list[str]:
    """Warnings that have no business here: nothing fails in these tests but processes."""
    return [f"{line[1]} {line[2]}" for line in told if line[0] == "warned"]


async def rows(store: Store) -> list[tuple[str, int]]:
    def look(tx: Tx) -> list[tuple[str, int]]:
        return [(row["session"], row["last_seq"]) for row in tx.rows("SELECT session, last_seq FROM summaries")]

    return await store._read("look", EVERYONE, look)


# --- many processes, and kill -9


async def attend_at_once(address: str, nursery: Nursery, processes: int, sessions: int) -> int:
    """Let processes attend to sessions that are over, and say how many of them made a summary."""
    store = await open_at(address)
    await ending(store, sessions)
    order = {"address": address, "settings": {"work": PATIENT}, **QUIET_TASKS}
    children = nursery.run("attend", children=processes, **order)
    assert [child.status for child in children] == [0] * processes, nursery.errors()
    told = [line for child in children for line in child.lines]
    assert unexpected(told) == []
    assert set(made(told).values()) == {1}
    summarised = await rows(store)
    assert len(summarised) == len(set(summarised)) == sessions
    assert {last for _, last in summarised} == {2}
    asked = Counter(line[3] for line in told if line[0] == "paid" and line[2] == "summary")
    assert set(asked.values()) == {1}, "the model is asked once about each session"
    assert await broken(store) == []
    assert await spent(store) >= sum(line[1] for line in told if line[0] == "paid")
    await store.close()
    return sum(bool(made(child.lines)) for child in children)


@pytest.mark.spec("SUM-11", "SUM-10", "P3", "P13")
async def test_some_processes_make_exactly_one_summary_for_each_session_that_ends(
    address: str, nursery: Nursery
) -> None:
    await attend_at_once(address, nursery, 4, 24)


@pytest.mark.whole
@pytest.mark.spec("SUM-11", "SUM-10", "P3", "P13")
async def test_many_processes_make_exactly_one_summary_for_each_session_that_ends(
    address: str, nursery: Nursery
) -> None:
    processes, sessions = sixteen(address)
    assert await attend_at_once(address, nursery, processes, sessions) >= processes // 4, "they share the work"


@pytest.mark.campaign
@pytest.mark.spec("SUM-2", "SUM-10", "SUM-11", "P1", "P3", "SAFE-4")
async def test_killed_by_chance_again_and_again_everything_drains_and_nothing_is_doubled(
    address: str, nursery: Nursery, campaign: Campaign
) -> None:
    processes, sessions = sixteen(address)
    store = await open_at(address)
    await ending(store, sessions)
    order = {"address": address, "talks": sessions, "kill_every": 0.25, "kills": 8, **QUIET_TASKS}
    told: list[Any] = []
    killed = 0
    for number in campaign.rounds(whole=3):
        ended = nursery.run("attend", children=processes, seed=campaign.seed + number, **order)
        assert all(child.was_killed for child in ended), f"{campaign}, round {number}: {nursery.errors()}"
        told += [line for child in ended for line in child.lines]
        killed += len(ended)
    told += nursery.well("attend", children=processes, address=address, **QUIET_TASKS)
    kinds = Counter(line[0] for line in told)
    campaign.did(
        f"{killed} processes killed, {kinds['said']} messages, {kinds['ended']} sunsets, {len(await rows(store))} summaries "
        f"made and {len(made(told))} told of, {kinds['paid']} calls"
    )
    assert unexpected(told) == [], f"{campaign}"
    assert set(made(told).values()) == {1}, f"{campaign}: a summary of the same turns was committed twice"
    assert await broken(store) == [], f"{campaign}"
    assert await is_done(store)
    for _, owner, session, seq in (line for line in told if line[0] in ("said", "ended")):
        assert (await store.session(owner, session)).summary_seq >= seq, f"{campaign}: {session} to {seq}"
    assert await spent(store) >= sum(line[1] for line in told if line[0] == "paid"), f"{campaign}"
    await store.close()


# --- killed at every place


VERBS = ("request_sunset", "clear_session", "sweep", "take_primary", "leave_primary")
VERBS += ("commit_summary", "commit_blocks", "claim", "append")
PLACES = [f"{verb}:{side}" for verb in VERBS for side in ("before", "after")]


async def killed_around_an_end(address: str, nursery: Nursery, place: str, times: tuple[int, ...]) -> None:
    """Be killed when this place is reached for the first time, for the second, …; then end all sessions and look."""
    told: list[Any] = []
    killed = 0
    for nth in times:
        child = nursery.one("end_all_ways", failpoints=f"{place}=kill@{nth}", address=address, **QUIET_TASKS)
        assert child.was_killed or child.status == 0, nursery.errors()
        killed += child.was_killed
        told += child.lines
    assert killed
    told += nursery.well("end_all_ways", address=address, **QUIET_TASKS)
    assert unexpected(told) == []
    store = await open_at(address)
    assert set(made(told).values()) <= {1}
    assert await broken(store) == []
    for which in range(4):
        sessions = await store.sessions(sender(which).owner)
        said_in = [turn for each in sessions for turn in await store.turns(each.owner, each.id) if turn.role == "user"]
        assert {turn.key for turn in said_in} == {f"k{which}-{count}" for count in range(1 if which < 3 else 2)}
        for each in sessions:
            assert each.state == "closed" and each.summary_seq == each.said_seq
            announced = [turn for turn in await store.turns(each.owner, each.id) if turn.role == "system"]
            assert len(announced) == (each.closed_by == "cleared")
    assert await spent(store) >= sum(line[1] for line in told if line[0] == "paid")
    await store.close()


@pytest.mark.spec("P1", "P3", "SUM-2", "IDLE-2", "IDLE-4")
@pytest.mark.parametrize("place", PLACES)
async def test_killed_at_any_place_around_an_end_there_is_one_summary_and_nothing_is_lost(
    address: str, nursery: Nursery, place: str
) -> None:
    await killed_around_an_end(address, nursery, place, (1,))


@pytest.mark.whole
@pytest.mark.spec("P1", "P3", "SUM-2", "IDLE-2", "IDLE-4")
@pytest.mark.parametrize("place", PLACES)
async def test_killed_twice_around_an_end_there_is_one_summary_and_nothing_is_lost(
    tmp_path: Path, nursery: Nursery, place: str
) -> None:
    await killed_around_an_end(str(tmp_path / "afterglow.db"), nursery, place, (1, 2))


# --- who is primary


@pytest.mark.spec("SUM-1", "SUM-10")
async def test_when_the_primary_is_killed_another_candidate_takes_over(address: str, nursery: Nursery) -> None:
    store = await open_at(address)
    waiting = Steward(store, "elsewhere:1", Stewardship(lease_seconds=0.5))
    child = nursery.one("hold_until_killed", address=address, lease_seconds=0.5, **QUIET_TASKS)
    assert child.was_killed
    lease = (await store.fleet()).lease
    before_its_end = lease is not None
    async with asyncio.timeout(PATIENCE):
        while not waiting.is_primary:
            await waiting.turn()
            await asyncio.sleep(0.02)
    taken = (await store.fleet()).lease
    assert taken is not None and taken.holder == "elsewhere:1"
    if before_its_end and lease is not None:
        assert taken.until.timestamp() - 0.5 >= lease.until.timestamp() - 0.001, "not before the dead one's lease ended"
    await store.close()


@pytest.mark.spec("SUM-1")
async def test_of_two_that_are_told_to_be_primary_at_once_the_second_stops_and_names_the_first(
    address: str, nursery: Nursery, tmp_path: Path
) -> None:
    order = {"address": address, "lease_seconds": 60, "until_refused": str(tmp_path / "refused"), **QUIET_TASKS}
    told = nursery.well("be_primary", children=2, **order)
    (first,) = [line[1] for line in told if line[0] == "primary"]
    (refused,) = [line[1] for line in told if line[0] == "refused"]
    assert f"told to be primary, and {first} is" in refused


@pytest.mark.spec("SUM-1")
async def test_who_is_told_to_be_primary_need_not_wait_for_the_lease_of_a_killed_process_of_this_machine(
    address: str, nursery: Nursery
) -> None:
    child = nursery.one("hold_until_killed", address=address, primary="true", lease_seconds=3600, **QUIET_TASKS)
    assert child.was_killed
    (told,) = nursery.well("be_primary", address=address, lease_seconds=60, **QUIET_TASKS)
    assert told[0] == "primary"


@pytest.mark.spec("SUM-1")
async def test_of_a_killed_process_of_another_machine_it_cannot_be_told_that_it_is_dead(
    address: str, nursery: Nursery
) -> None:
    nursery.one("hold_until_killed", address=address, holder="mars:1", lease_seconds=3600, **QUIET_TASKS)
    (told,) = nursery.well("be_primary", address=address, lease_seconds=60, **QUIET_TASKS)
    assert told[0] == "refused" and "mars:1" in told[1]


@pytest.mark.spec("SUM-1")
async def test_candidates_that_come_and_go_at_once_always_learn_who_is_primary(open_store: OpenStore) -> None:
    stores = [await open_store(SystemClock()) for _ in range(4)]

    async def come_and_go(store: Store, name: str) -> None:
        for token in range(60):
            mine = hash((name, token)) % 2**60
            lease = await store.take_primary(name, mine, lease_seconds=60)
            assert lease.holder, "there is a primary, or it would be this one"
            await store.leave_primary(mine)

    await asyncio.gather(*(come_and_go(store, f"m:{number}") for number, store in enumerate(stores)))


@pytest.mark.spec("SUM-1", "SUM-10", "P3")
async def test_a_primary_that_was_stopped_for_longer_than_its_lease_wakes_up_as_no_primary_and_doubles_nothing(
    address: str, nursery: Nursery
) -> None:
    store = await open_at(address)
    for number in range(20):
        turn = said(f"FACT-{number}", at=store.clock.now(), terms=["fact"])
        await store.append(sender(number).owner, sender(number), turn)
    children = nursery.run("sleep_as_primary", children=2, address=address, **QUIET_TASKS)
    assert [child.status for child in children] == [0, 0], nursery.errors()
    assert children[0].lines == [["stopped", True], ["woken", False, False]]
    told = children[1].lines
    assert unexpected(told) == []
    assert set(made(told).values()) == {1} and len(made(told)) == 20
    asked = Counter(line[3] for line in told if line[0] == "paid")
    assert set(asked.values()) == {1}, "what the woken one made due costs nothing"
    await store.close()


@pytest.mark.spec("SUM-1", "IDLE-4")
async def test_a_process_that_is_not_to_be_primary_keeps_timers_and_makes_no_summary(
    store: Store, clock: FixedClock
) -> None:
    model = ScriptedModel(answer)
    memory = memory_over(store, model, work={"poll_seconds": 0.1})
    session = await exchanges(memory, 3)
    await store.append(OTHER.owner, OTHER, said("FACT", at=clock.now()))
    clock.move(HALF_HOUR)
    async with working(store, memory.acts, memory.settings, "false"), asyncio.timeout(PATIENCE):
        await until(lambda: is_in(memory, session, "idle"))
        for _ in range(5):
            await asyncio.sleep(0.05)  # time enough to do what it must not
    kinds = Counter(each.kind for each in await store.work_list(EVERYONE))
    assert kinds["summary"] == 1, "it is due to another process; the other session is due to none yet"
    assert [request for request in model.requests if request.purpose == "summary"] == []
    assert (await store.fleet()).lease is None


@pytest.mark.spec("SUM-1", "SUM-2")
@pytest.mark.parametrize("auto_summarize", [True, False])
async def test_a_sunset_and_a_manual_run_need_no_auto_summarize(store: Store, auto_summarize: bool) -> None:
    memory = memory_over(store, auto_summarize=auto_summarize, work={"poll_seconds": 0.1})
    by_hand, over = await exchanges(memory, 3), await exchanges(memory, 3, to=OTHER)
    assert (await memory.summarize(by_hand)) is not None
    async with working(store, memory.acts, memory.settings, "auto"), asyncio.timeout(PATIENCE):
        await memory.sunset(over)
        await until(lambda: memory.summaries(owner=OTHER.owner))
    assert len(await rows(store)) == 2


@pytest.mark.spec("SUM-1")
async def test_a_steward_goes_on_after_any_error_and_stops_even_without_an_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward = Steward(store, "s", Stewardship(lease_seconds=0.03))
    take, wrong = store.take_primary, [RuntimeError("who could have known"), StoreUnavailable("the database is away")]
    stop = asyncio.Event()

    async def failing(*given: Any, **more: Any) -> Any:
        if wrong:
            raise wrong.pop()
        return await take(*given, **more)

    async def away(*given: Any, **more: Any) -> None:
        raise StoreUnavailable("the database is away")

    monkeypatch.setattr(store, "take_primary", failing)
    running = asyncio.create_task(steward.run(stop))
    async with asyncio.timeout(PATIENCE):
        await until(lambda: is_primary(steward))
        monkeypatch.setattr(store, "leave_primary", away)
        stop.set()
        await running


# --- end to end


@pytest.mark.spec("SUM-2", "SUM-7")
async def test_a_session_that_was_sunset_is_on_top_for_a_process_that_starts_right_after(
    address: str, nursery: Nursery
) -> None:
    store = await open_at(address)
    await ending(store, 9)
    nursery.well("attend", address=address, **QUIET_TASKS)
    ((_, session, last_seq),) = nursery.well("end_one", address=address, sender=100, **QUIET_TASKS)
    listed = nursery.well("list_summaries", address=address, **QUIET_TASKS)
    assert session not in [line[0] for line in listed], "there was no primary: the request is stored"
    nursery.well("attend", address=address, **QUIET_TASKS)
    listed = nursery.well("list_summaries", address=address, **QUIET_TASKS)
    assert len(listed) == 5 and listed[0] == [session, last_seq, "sunset-event"]
    await store.close()


# --- clocks that jump


YEARS = 10 * 365 * 86400
BEFORE_SUMMER = datetime(2026, 3, 28, 23, 40, tzinfo=UTC)
BEFORE_WINTER = datetime(2026, 10, 24, 23, 40, tzinfo=UTC)


@pytest.mark.spec("IDLE-4", "IDLE-2", "P2")
@pytest.mark.parametrize("moment", ["before_idle", "before_clear", "while_claimed"])
@pytest.mark.parametrize(
    ("start", "jump"),
    [(NOON, -HOUR), (NOON, YEARS), (BEFORE_SUMMER, 0), (BEFORE_WINTER, 0)],
    ids=["hour_back", "ten_years_on", "to_summer", "to_winter"],
)
async def test_whenever_the_clock_jumps_each_timer_goes_off_once(
    open_store: OpenStore, clock: FixedClock, jump: int, moment: str, start: datetime
) -> None:
    clock.move((start - NOON).total_seconds())
    store = await open_store()
    model = ScriptedModel(answer)
    memory = memory_over(store, model, zone="Europe/Berlin")
    session = await exchanges(memory, 3)
    if moment != "before_idle":
        clock.move(HALF_HOUR)
    if moment == "while_claimed":  # by one that is never heard of again
        assert await store.claim(("idle",), limit=1, holder="gone", limits=Limits())
    elif moment == "before_clear":
        await drain(memory)
    clock.move(jump)
    stewards = [Steward(store, name, Stewardship()) for name in ("one", "two")]
    for _ in range(20):
        for steward in stewards:
            await steward.turn()
        assert sum(steward.is_primary for steward in stewards) == 1
        await drain(memory)
        clock.move(600)
    session = await reread(memory, session)
    assert (session.state, session.closed_by) == ("closed", "cleared")
    assert [turn.role for turn in await memory.turns(session)].count("system") == 1
    assert Counter(request.purpose for request in model.requests) == {"fold": 1, "summary": 1, "facts": 1}
    assert await broken(store) == []


@pytest.mark.spec("SUM-1", "SUM-3", "P2")
@pytest.mark.parametrize("jump", [-HOUR, -HOUR // 2, YEARS], ids=["hour_back", "half_an_hour_back", "ten_years_on"])
async def test_whenever_the_clock_jumps_sweeps_go_on_and_a_dead_primary_is_followed(
    store: Store, clock: FixedClock, jump: int
) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    dead, living = Steward(store, "dead", Stewardship()), Steward(store, "living", Stewardship())
    await dead.turn()
    await exchanges(memory, 3)
    clock.move(jump)
    found = 0
    for _ in range(20):
        found += await living.turn()
        await drain(memory)
        clock.move(600)
    assert living.is_primary and found == 1
    assert len(await rows(store)) == 1


@pytest.mark.spec("SUM-3", "P2")
async def test_a_clock_that_was_set_back_puts_off_no_sweep(store: Store, clock: FixedClock) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    steward = Steward(store, "s", Stewardship())
    await steward.turn()
    clock.move(-HOUR)
    await exchanges(memory, 3)
    clock.move(700)
    assert await steward.turn() == 1


@pytest.mark.spec("IDLE-3", "IDLE-2")
async def test_a_message_at_the_last_moment_keeps_the_session_from_being_cleared(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store)
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    await drain(memory)
    clock.move(HOUR)
    (claim,) = await store.claim(("clear",), limit=1, holder="w", limits=Limits())
    commit = await memory.acts["clear"](claim)
    assert commit is not None
    await exchanges(memory, 1, first=4)
    with contextlib.suppress(ClaimLost):
        await commit()
    session = await reread(memory, session)
    assert (session.state, session.turns) == ("open", 8)


@pytest.mark.spec("SUM-3")
async def test_a_session_that_is_dated_years_ahead_gets_its_summary_too(store: Store, clock: FixedClock) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    clock.move(YEARS)
    await exchanges(memory, 3)
    clock.move(-YEARS)
    steward = Steward(store, "s", Stewardship())
    assert await steward.turn() == 1
    await drain(memory)
    assert len(await rows(store)) == 1
    clock.move(HOUR)
    assert await steward.turn() == 0


# --- a model that fails for ever


def failing_for(names: Sequence[str], failing: list[bool]) -> Any:
    def step(request: Request) -> Any:
        bad = failing[0] and any(name in request.material for name in names)
        return scripted.Failure(raises=lambda name: ModelError(f"{name} has no answer")) if bad else answer(request)

    return step


@pytest.mark.spec("SUM-10", "SUM-3", "SAFE-4", "P6")
async def test_sessions_that_fail_for_ever_are_parked_and_keep_no_other_waiting_and_can_be_retried(
    store: Store, clock: FixedClock
) -> None:
    names, failing = [f"FACT-{number:05d}" for number in range(16, 20)], [True]
    model = ScriptedModel(failing_for(names, failing))
    memory = memory_over(store, model, timeout_summarize_seconds=0)
    for number in range(20):  # those that fail are the newest
        await exchanges(memory, 1, to=sender(number), first=number)
        clock.move(60)
    steward = Steward(store, "s", Stewardship(sweep_sessions=4, drift_days=0))
    for hour in range(7 * 24):
        await steward.turn()
        await drain(memory)
        clock.move(HOUR)
        if hour == 11:
            assert len(await rows(store)) == 16, "those that fail take no other's place"
    assert {each.owner for each in await store.work_list(EVERYONE, "parked")} == {
        sender(number).owner for number in range(16, 20)
    }
    assert len(await rows(store)) == 16
    calls = Counter(request.owner for request in model.requests)
    assert {calls[sender(number).owner] for number in range(16)} == {1}
    assert max(calls.values()) <= Limits().attempts_max + 7, "a few tries, and then one a day"
    failing[0] = False
    assert await store.retry(EVERYONE, kind="summary") == 4
    for _ in range(3):  # a model that failed so often is asked with care at first
        await drain(memory)
        clock.move(HOUR)
    assert len(await rows(store)) == 20 and await store.work_list(EVERYONE, "parked") == []
    assert await broken(store) == []


@pytest.mark.spec("SUM-3", "P7")
@pytest.mark.parametrize("places", [1, 2, 4, 10])
async def test_old_sessions_are_not_starved_by_new_ones_that_keep_coming(
    store: Store, clock: FixedClock, places: int
) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    old = await exchanges(memory, 1, to=KATE)
    clock.move(HOUR)
    steward = Steward(store, "s", Stewardship(sweep_sessions=places, drift_days=0))
    await steward.turn()
    for number in range(3):
        for new in range(places):
            await exchanges(memory, 1, to=sender(number * places + new))
        clock.move(HOUR)
        assert await steward.turn() <= places
        await drain(memory)
    assert (await reread(memory, old)).summary_seq == 2


# --- a turn during the summary


class During(ScriptedModel):
    """Does something once while it is asked for a summary, or for a fold."""

    def __init__(self, purpose: str) -> None:
        super().__init__(answer)
        self._purpose = purpose
        self.then: Callable[[], Awaitable[object]] | None = None

    async def complete(self, request: Request) -> Completion:
        if self.then is not None and request.purpose == self._purpose:
            then, self.then = self.then, None
            await then()
        return await super().complete(request)


@pytest.mark.spec("SUM-2", "SUM-5", "P3")
@pytest.mark.parametrize("by", ["idle", "sweep", "sunset"])
async def test_a_turn_during_the_summary_is_not_covered_by_it_and_makes_it_due_again(
    store: Store, clock: FixedClock, by: str
) -> None:
    model = During("summary")
    memory = memory_over(store, model, timeout_summarize_seconds=HALF_HOUR if by == "idle" else 0)
    session = await exchanges(memory, 3)
    steward = Steward(store, "s", Stewardship())

    async def one_more() -> None:
        await memory.append(session, "user", "FACT-99999 one more thing")
        if by == "sunset":
            await memory.sunset(await reread(memory, session))

    async def go_on() -> None:
        clock.move(HALF_HOUR)
        if by == "sweep":
            await steward.turn()
        await drain(memory)

    model.then = one_more
    await go_on() if by != "sunset" else await _summarise_now(memory, session)
    assert await rows(store) == [(session.id, 6)]
    await go_on()
    assert sorted(await rows(store)) == [(session.id, 6), (session.id, 7)]
    (newest,) = await memory.summaries(owner=KATE.owner)
    assert newest.last_seq == 7 and "FACT-99999" in newest.summary
    assert await broken(store) == []


async def _summarise_now(memory: Memory, session: Session) -> None:
    due = Due(kind="summary", at=memory.store.clock.now(), reason="manual", subject=session.id)
    await memory.store.mark_due(session.owner, due)
    claims = await memory.store.claim(("summary",), limit=1, holder="w", limits=Limits())
    commit = await memory.acts["summary"](claims[0])
    assert commit is not None
    await commit()


# --- what failed elsewhere


@pytest.mark.spec("SUM-3", "SUM-5", "IDLE-1")
async def test_a_day_of_talk_costs_one_summary_for_each_time_it_went_quiet(store: Store, clock: FixedClock) -> None:
    model = ScriptedModel(answer)
    memory = memory_over(store, model)
    steward = Steward(store, "s", Stewardship())
    for hour in range(9):
        for minute in range(0, 60, 5):
            if hour % 3 != 2:
                await exchanges(memory, 1, first=hour * 100 + minute)
            await steward.turn()
            await drain(memory)
            clock.move(300)
    assert [request.purpose for request in model.requests].count("summary") == 3
    assert len(await rows(store)) == 3


@pytest.mark.spec("SUM-5")
async def test_a_summary_that_is_gone_can_be_made_again_though_it_counts_as_done(store: Store) -> None:
    memory = memory_over(store)
    session = await exchanges(memory, 3)
    await memory.summarize(session)

    def lose(tx: Tx) -> None:
        tx.run("DELETE FROM summaries")

    await store._write("lose", EVERYONE, lose)
    assert await memory.summarize(session) is None
    assert await broken(store) != []
    remade = await memory.summarize(session, force=True)
    assert remade is not None and remade.last_seq == 6
    assert await broken(store) == []


@pytest.mark.spec("SUM-7", "P6")
async def test_an_error_is_not_passed_off_as_an_empty_list(open_store: OpenStore) -> None:
    memory = memory_over(await open_store())
    await memory.summarize(await exchanges(memory, 3))
    await memory.store.close()
    for asked in (memory.summaries(owner=EVERYONE), memory.health(), memory.store.stale_sessions(EVERYONE)):
        with pytest.raises(StoreUnusable):
            await asked


@pytest.mark.spec("SUM-4", "SUM-8")
async def test_stale_sessions_are_all_found_page_by_page(store: Store, clock: FixedClock) -> None:
    for number in range(120):
        await store.append(sender(number).owner, sender(number), said("FACT", at=clock.now()))
    found: list[Session] = []
    while page := await store.stale_sessions(EVERYONE, limit=50, before=found[-1] if found else None):
        found += page
    assert len(found) == len({session.id for session in found}) == 120


@pytest.mark.spec("SUM-6", "CTX-10")
async def test_one_exchange_that_is_longer_than_the_model_can_take_still_gets_its_summary(store: Store) -> None:
    def strict(request: Request) -> Any:
        size = estimate(request.material) + estimate(request.instructions)
        return scripted.TOO_LONG if size > 4_000 else answer(request)

    model = ScriptedModel(strict, window_tokens=4_000, usd_per_million_tokens=1.0)
    memory = memory_over(store, model, compaction={"interval": 0}, timeout_summarize_seconds=0)
    await memory.append(KATE, "user", "FACT-00001 do all of it")
    for number in range(60):
        await memory.append(KATE, "assistant", f"step {number} {FILLING * 12}")
    await memory.append(KATE, "assistant", "FACT-00061 and done")
    made = await memory.summarize(await memory.open_session(KATE))
    assert made is not None and not made.degraded and made.last_seq == 62
    asked = [request for request in model.requests if request.purpose == "summary"]
    assert len(asked) > 1 and "FACT-00061" in made.summary
    shown = "".join(request.material for request in asked)
    assert all(f"step {number} " in shown for number in range(60)), "nothing is dropped"
    assert made.input_tokens == sum(model.most(request).input_tokens for request in asked)


@pytest.mark.spec("SUM-6", "CTX-10")
async def test_an_exchange_of_more_turns_than_are_read_at_once_is_read_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "_BITE_TURNS", 50)
    monkeypatch.setattr(endings, "_PAGE_TURNS", 50)
    model = ScriptedModel(answer)
    memory = memory_over(store, model, compaction={"interval": 0}, timeout_summarize_seconds=0)
    session = await memory.open_session(KATE)
    await store.append(KATE.owner, KATE, said("FACT-00001 do it"))
    for number in range(120):
        await store.append(KATE.owner, KATE, said(f"step {number}", "assistant"))
    made = await memory.summarize(session)
    assert made is not None and made.last_seq == 121
    shown = model.requests[-1].material
    assert "FACT-00001" in shown and all(f"step {number}\n" in shown for number in range(120))


@pytest.mark.spec("SUM-6", "P6")
async def test_a_model_that_finds_everything_too_long_costs_no_session_its_summary(store: Store) -> None:
    memory = memory_over(store, ScriptedModel(lambda request: scripted.TOO_LONG))
    made = await memory.summarize(await exchanges(memory, 3))
    assert made is not None and made.degraded and "FACT-00001" in made.summary


@pytest.mark.spec("IDLE-5")
async def test_a_session_that_was_summarised_many_times_hides_no_other_from_a_new_one(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    for number in range(2):
        session = await memory.open_session(KATE, named=f"old-{number}")
        await memory.append(session, "user", f"FACT-{number}")
        await memory.summarize(session)
        clock.move(60)
    busy = await memory.open_session(KATE, named="busy")
    for number in range(30):
        await memory.append(busy, "user", f"FACT-1{number}")
        await memory.summarize(busy)
        clock.move(60)
    earlier = await store.summaries_at(KATE.owner, clock.now(), besides="new", limit=3)
    assert [each.session for each in earlier] == ["busy", "old-1", "old-0"]


@pytest.mark.spec("IDLE-1", "SUM-2", "FACT-1")
@pytest.mark.parametrize("how", ["sunset", "clear", "marker"])
async def test_however_a_session_ends_its_summary_and_facts_are_due(store: Store, how: str) -> None:
    memory = memory_over(store, timeout_summarize_seconds=0)
    session = await exchanges(memory, 3)
    if how == "marker":
        await memory.append(session, "user", "[SUNSET HANDOVER]")
    else:
        await (memory.sunset(session) if how == "sunset" else memory.clear(session))
    assert {each.kind for each in await store.work_list(KATE.owner)} == {"summary", "facts"}
    await drain(memory)
    assert (await reread(memory, session)).state == "closed" and len(await rows(store)) == 1


# --- restarts


@pytest.mark.spec("IDLE-4", "IDLE-2")
async def test_timers_of_a_program_that_ended_go_off_once_and_late_in_any_process_that_comes(
    open_store: OpenStore, clock: FixedClock
) -> None:
    first = await open_store()
    for number in range(10):
        await exchanges(memory_over(first), 1, to=sender(number), first=number)
    await first.close()
    clock.move(86_400)
    models = [ScriptedModel(answer) for _ in range(3)]
    memories = [memory_over(await open_store(), model) for model in models]
    for _ in range(3):
        await asyncio.gather(*(drain(memory) for memory in memories))
        clock.move(HOUR)
    for number in range(10):
        (session,) = await memories[0].sessions(owner=sender(number).owner)
        assert session.closed_by == "cleared"
        assert [turn.role for turn in await memories[0].turns(session)].count("system") == 1
    calls = Counter((request.purpose, request.session) for model in models for request in model.requests)
    assert set(calls.values()) == {1} and len(await rows(memories[0].store)) == 10
    assert await broken(memories[0].store) == []


@pytest.mark.spec("IDLE-2", "IDLE-3")
async def test_a_session_that_was_restored_has_its_timers_again_with_the_next_message(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store)
    session = await exchanges(memory, 3)
    for seconds in (HALF_HOUR, HOUR):
        clock.move(seconds)
        await drain(memory)
    await memory.restore(session)
    await exchanges(memory, 1, first=4)
    for state, seconds in (("idle", HALF_HOUR), ("closed", HOUR)):
        clock.move(seconds)
        await drain(memory)
        assert (await reread(memory, session)).state == state
    assert [turn.role for turn in await memory.turns(session)].count("system") == 2
    assert len(await rows(store)) == 2


# --- a library on its own


@pytest.mark.spec("IDLE-1", "IDLE-2", "IDLE-3")
@pytest.mark.parametrize("trouble", ["none", "a_failure", "a_message_meanwhile", "a_message_after"])
async def test_a_program_alone_sees_its_sessions_go_quiet_and_end(open_store: OpenStore, trouble: str) -> None:
    failures = [scripted.SERVER_ERROR] if trouble == "a_failure" else []
    model = During("fold")
    model._script = lambda request: failures.pop() if failures else answer(request)
    timers = {"timeout_summarize_seconds": 0.3, "timeout_clear_seconds": 3 if trouble == "a_message_after" else 0.4}
    patient = {"backoff_seconds": 0.01, "backoff_max_seconds": 0.05}
    memory = memory_over(await open_store(SystemClock()), model, folds=True, work=patient, **timers)
    session = await exchanges(memory, 3)

    async def one_more() -> None:
        await memory.append(session, "user", "FACT-99999 one more thing")

    if trouble == "a_message_meanwhile":
        model.then = one_more
    async with asyncio.timeout(PATIENCE):
        if trouble == "a_message_after":
            await until(lambda: is_in(memory, session, "idle"))
            await one_more()
        await until(lambda: is_in(memory, session, "closed"))
    assert [turn.role for turn in await memory.turns(session)].count("system") == 1
    await memory.close()


@pytest.mark.spec("IDLE-4", "P2")
async def test_a_program_alone_sees_its_session_go_quiet_also_if_the_clock_was_set_back_and_right_again(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store, folds=True, timeout_summarize_seconds=0.1, timeout_clear_seconds=0)
    turn = await memory.append(KATE, "user", f"FACT-00001 {FILLING * 9}")
    clock.move(-HOUR)
    await asyncio.sleep(0.01)  # it works out how long to wait
    clock.move(2 * HOUR)
    session = await memory.session(turn.session, owner=turn.owner)
    async with asyncio.timeout(PATIENCE):
        await until(lambda: is_in(memory, session, "idle"))
    await memory.close()


# --- timers that must not be lost, nor go off early


@pytest.mark.spec("IDLE-3", "IDLE-4")
async def test_a_heartbeat_during_the_idle_fold_costs_no_session_its_timer(store: Store, clock: FixedClock) -> None:
    model = During("fold")
    memory = memory_over(store, model)
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    model.then = lambda: memory.append(session, "user", "are you alive?", origin="heartbeat")
    await drain(memory)
    assert await broken(store) == []
    assert (await reread(memory, session)).state == "idle"


@pytest.mark.spec("IDLE-3")
async def test_a_message_cancels_the_clearing_so_that_a_late_worker_does_not_clear_too_soon(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store)
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    await drain(memory)
    clock.move(HOUR - 60)
    await exchanges(memory, 1, first=4)
    clock.move(HOUR)  # no worker runs for a while
    await Worker(store, {"idle": memory.acts["idle"]}, holder="w", limits=Limits()).drain()
    await drain(memory)
    assert (await reread(memory, session)).state == "idle"
    clock.move(HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "closed"


@pytest.mark.spec("IDLE-4", "P2")
async def test_a_session_that_is_dated_years_ahead_goes_quiet_after_its_next_message(
    store: Store, clock: FixedClock
) -> None:
    memory = memory_over(store)
    clock.move(YEARS)
    session = await exchanges(memory, 3)
    clock.move(-YEARS)
    await exchanges(memory, 1, first=4)
    clock.move(HALF_HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "idle"


@pytest.mark.spec("IDLE-2", "IDLE-4")
async def test_a_session_that_was_restored_and_left_alone_goes_quiet_again(store: Store, clock: FixedClock) -> None:
    model = ScriptedModel(answer)
    memory = memory_over(store, model)
    session = await exchanges(memory, 3)
    for seconds in (HALF_HOUR, HOUR):
        clock.move(seconds)
        await drain(memory)
    await memory.restore(session)
    for state, seconds in (("idle", HALF_HOUR), ("closed", HOUR)):
        clock.move(seconds)
        await drain(memory)
        assert (await reread(memory, session)).state == state
    assert [request.purpose for request in model.requests].count("summary") == 1, "nothing was said since"


@pytest.mark.spec("SUM-3", "IDLE-3")
async def test_heartbeats_of_a_day_cost_no_summary(store: Store, clock: FixedClock) -> None:
    model = ScriptedModel(answer)
    memory = memory_over(store, model)
    session = await exchanges(memory, 3)
    steward = Steward(store, "s", Stewardship())
    for _ in range(48):
        clock.move(HALF_HOUR)
        await memory.append(session, "user", "are you alive?", origin="heartbeat")
        await memory.append(session, "assistant", "yes", origin="heartbeat")
        await steward.turn()
        await drain(memory)
    assert [request.purpose for request in model.requests].count("summary") <= 1
