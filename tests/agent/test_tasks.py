"""Tasks: what the agent does at set times, on both databases, with a clock that is moved by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterglow import failpoints
from afterglow.agent import Agent
from afterglow.agent.tasks import Tasks, name_of
from afterglow.clock import FixedClock
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import RATE_LIMITED, ScriptedModel, Step, calls
from afterglow.settings import Settings
from afterglow.store.inbox import Waiting
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.tasks import Task
from afterglow.transfer import export_lines, import_lines
from afterglow.turns import Binding
from afterglow.work import Limits
from afterglow.worker import Worker
from afterglow.working import working
from tests.agent.conftest import OpenAgent
from tests.conftest import OpenStore
from tests.kit.loops import for_each
from tests.kit.models import said_last
from tests.kit.records import KATE, NOON, OTHER

pytestmark = pytest.mark.spec("AGENT-7")

LIMITS = Limits(attempts_max=3, backoff_seconds=30)
WORK = {"work": {"attempts_max": 3, "backoff_seconds": 30}}
RICH = {"away_summary": {"style": "rich"}}


async def drain(agent: Agent) -> int:
    """What is due for the agent by now."""
    return await Worker(agent.memory.store, agent.acts, holder="w", limits=LIMITS).drain()


async def drain_at(agent: Agent, clock: FixedClock, moment: datetime) -> int:
    clock.move((moment - clock.now()).total_seconds())
    return await drain(agent)


async def events(agent: Agent) -> list[tuple[str, str, str]]:
    found = await agent.memory.goals(KATE)
    return [(each.goal, each.outcome, each.note) for each in reversed(found)]


async def talk_of(agent: Agent) -> list[tuple[str, str]]:
    sessions = await agent.memory.sessions(owner=KATE.owner)
    return [(turn.role, turn.text) for session in sessions for turn in await agent.memory.turns(session)]


def runs(model: ScriptedModel) -> int:
    return sum(request.purpose == "agent" for request in model.requests)


def planning(*answers: Any) -> Callable[[Request], Step]:
    """A model that does tasks, and plans their times from a list."""
    left = list(answers)

    def step(request: Request) -> Step:
        if request.purpose != "reschedule":
            return f"Done: {said_last(request).splitlines()[-1]}"
        answer = left.pop(0)
        return json.dumps(answer) if isinstance(answer, dict) else answer

    return step


@pytest.mark.spec("AWAY-12")
async def test_what_is_to_be_done_once_is_done_once_and_the_digest_tells_it(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    model = ScriptedModel(["Call Ben now: 555 0100."])
    agent = agent_with(model, settings=RICH)
    task = await agent.tasks.create("Remind me to call Ben.", at="2026-03-02T15:00")
    assert (task.id, task.kind, task.next_at) == ("remind-me-to-call-ben", "once", NOON + timedelta(hours=3))
    assert await drain(agent) == 0, "it is not time yet"
    assert await drain_at(agent, clock, NOON + timedelta(hours=3)) == 1
    done = await agent.tasks.show(task.id)
    assert (done.state, done.runs, done.next_at, done.last_at) == ("done", 1, None, clock.now())
    assert done.note == "Call Ben now: 555 0100."
    asked = model.requests[0].messages[-1].text
    assert "“remind-me-to-call-ben” is due" in asked and "Remind me to call Ben." in asked
    assert [role for role, _ in await talk_of(agent)] == ["user", "assistant"]
    assert await events(agent) == [(task.id, "completed", "Call Ben now: 555 0100.")]
    assert "Remind me to call Ben" in (await agent.memory.preview_digest(KATE)).text
    assert await drain_at(agent, clock, NOON + timedelta(days=3)) == 0
    assert await agent.memory.store.work_list(KATE.owner) == []


async def test_the_reply_is_delivered_after_it_is_written_down(agent_with: OpenAgent, clock: FixedClock) -> None:
    sent: list[tuple[Binding, str, str]] = []

    async def deliver(to: Binding, part: Any) -> None:
        sent.append((to, part.text, (await agent.tasks.show("tea")).state))

    agent = agent_with(["Tea time."], deliver=deliver)
    await agent.tasks.create("Say it is tea time", at=NOON + timedelta(minutes=1), id="tea")
    await drain_at(agent, clock, NOON + timedelta(minutes=1))
    assert sent == [(KATE, "Tea time.", "done")]


async def test_a_way_of_sending_that_fails_undoes_nothing(agent_with: OpenAgent, clock: FixedClock) -> None:
    async def deliver(to: Binding, part: Any) -> None:
        raise RuntimeError("blocked by the user")

    agent = agent_with(["Tea time."], deliver=deliver)
    await agent.tasks.create("Say it is tea time", at=NOON + timedelta(minutes=1), id="tea")
    assert await drain_at(agent, clock, NOON + timedelta(minutes=1)) == 1
    assert (await agent.tasks.show("tea")).runs == 1 and await drain_at(agent, clock, NOON + timedelta(days=1)) == 0


@pytest.mark.parametrize(
    ("zone", "begin", "wanted"),
    [
        ("Europe/Berlin", datetime(2026, 3, 28, tzinfo=UTC), ["28 01:30", "29 01:00", "30 00:30"]),
        ("Europe/Berlin", datetime(2026, 10, 24, tzinfo=UTC), ["24 00:30", "25 00:30", "26 01:30"]),
        ("America/New_York", datetime(2026, 3, 7, tzinfo=UTC), ["07 07:30", "08 07:00", "09 06:30"]),
        ("America/New_York", datetime(2026, 10, 31, tzinfo=UTC), ["31 06:30", "01 07:30", "02 07:30"]),
    ],
)
async def test_a_daily_task_runs_once_a_day_through_a_change_of_clocks(
    agent_with: OpenAgent, clock: FixedClock, zone: str, begin: datetime, wanted: list[str]
) -> None:
    clock.move((begin - clock.now()).total_seconds())
    agent = agent_with()
    await agent.tasks.create("Say hello", cron="30 2 * * *", zone=zone, id="hello")
    for _ in range(3 * 24 * 2):  # every half hour of three days
        clock.move(1800)
        await drain(agent)
    found = [event.at for event in reversed(await agent.memory.goals(KATE))]
    assert [f"{at:%d %H:%M}" for at in found] == wanted


async def test_what_was_missed_is_caught_up_with_once(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with()
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert task.next_at == NOON + timedelta(hours=21)
    assert await drain_at(agent, clock, NOON + timedelta(days=10)) == 1
    after = await agent.tasks.show(task.id)
    assert (after.runs, after.next_at) == (1, NOON + timedelta(days=10, hours=21))
    assert await drain(agent) == 0
    assert await drain_at(agent, clock, NOON + timedelta(days=10, hours=21)) == 1


async def test_a_clock_that_is_a_little_behind_the_databases_does_not_run_it_twice(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    from afterglow.agent.task_runs import after_run

    agent = agent_with()
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert task.next_at is not None
    tomorrow = task.next_at + timedelta(days=1)
    assert after_run(task, task.next_at - timedelta(seconds=5), "").next_at == tomorrow
    assert after_run(task, task.next_at + timedelta(seconds=5), "").next_at == tomorrow


@pytest.mark.parametrize("seconds", [5, 59, 3600])
async def test_run_by_hand_just_before_its_time_it_runs_at_its_time_all_the_same(
    agent_with: OpenAgent, clock: FixedClock, seconds: int
) -> None:
    def script(request: Request) -> Step:
        clock.move(10)  # the run takes a while, and its time may come meanwhile
        return "Hello."

    agent = agent_with(script)
    task = await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    assert task.next_at is not None
    clock.move((task.next_at - clock.now()).total_seconds() - seconds)
    await agent.tasks.run("daily")
    assert (await agent.tasks.show("daily")).next_at == task.next_at
    assert await drain_at(agent, clock, task.next_at + timedelta(seconds=10)) == 1
    assert (await agent.tasks.show("daily")).next_at == task.next_at + timedelta(days=1)


async def test_it_ends_after_so_many_runs_or_on_a_day(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with()
    await agent.tasks.create("Count", cron="0 * * * *", runs_max=2, id="twice")
    await agent.tasks.create("Count", cron="0 * * * *", until="2026-03-02T15:30", id="until")
    for hour in range(1, 8):
        await drain_at(agent, clock, NOON + timedelta(hours=hour))
    found = {each.id: (each.state, each.runs) for each in await agent.tasks.list(ended=True)}
    assert found == {"twice": ("done", 2), "until": ("done", 3)}
    assert await agent.tasks.list() == []


async def test_the_model_plans_the_times_until_it_says_that_it_is_over(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    model = ScriptedModel(
        planning(
            {"next_at": "2026-03-03T08:00", "why": "Begin in the morning."},
            {"next_at": "2026-03-05T08:00:00+01:00", "why": "The parcel is in Bonn."},
            {"next_at": None, "why": "It has come."},
        )
    )
    agent = agent_with(model)
    task = await agent.tasks.create("Look for the parcel", plan="daily until it is there", zone="Europe/Berlin")
    assert task.planning and task.next_at is None
    assert await drain(agent) == 1
    first = await agent.tasks.show(task.id)
    assert first.next_at == datetime(2026, 3, 3, 7, tzinfo=UTC), "by the clocks of its zone"
    assert (first.why, first.runs, first.planning) == ("Begin in the morning.", 0, False)
    assert first.next_at is not None
    assert await drain_at(agent, clock, first.next_at) == 2, "a run, and a planning"
    second = await agent.tasks.show(task.id)
    assert (second.runs, second.next_at) == (1, datetime(2026, 3, 5, 7, tzinfo=UTC))
    told = model.requests[-1].messages[-1].text
    assert "Tuesday, 2026-03-03T08:00 in Europe/Berlin" in told and "daily until it is there" in told
    assert "Done: Look for the parcel" in told and "run 1 times, last at 2026-03-03T08:00" in told
    assert await drain_at(agent, clock, datetime(2026, 3, 5, 7, tzinfo=UTC)) == 2
    last = await agent.tasks.show(task.id)
    assert (last.state, last.runs, last.why, last.next_at) == ("done", 2, "It has come.", None)
    assert [outcome for _, outcome, _ in await events(agent)] == ["completed", "completed"]
    assert await agent.memory.store.work_list(KATE.owner) == []


async def test_a_time_that_cannot_be_used_is_asked_for_once_more(agent_with: OpenAgent) -> None:
    model = ScriptedModel(
        planning({"next_at": "2026-03-01T08:00", "why": "x"}, {"next_at": "2026-03-04T08:00", "why": "y"})
    )
    agent = agent_with(model)
    task = await agent.tasks.create("Look", plan="now and then")
    await drain(agent)
    assert (await agent.tasks.show(task.id)).next_at == datetime(2026, 3, 4, 8, tzinfo=UTC)
    assert "is not in the future. Answer again" in model.requests[-1].messages[-1].text


@pytest.mark.parametrize(
    ("far", "said"),
    [
        ("9999-12-31T23:59:00", "9999-12-31 23:59:00 is no time that comes"),
        ("9999-12-31T23:59:00Z", "more than 400 days away"),
        ("0001-01-01T00:00:00", "not in the future"),
    ],
)
async def test_a_time_that_no_clock_shows_is_asked_for_once_more(agent_with: OpenAgent, far: str, said: str) -> None:
    model = ScriptedModel(planning({"next_at": far, "why": "never"}, {"next_at": "2026-03-04T08:00", "why": "y"}))
    agent = agent_with(model, settings={"zone": "America/New_York"})
    task = await agent.tasks.create("Look", plan="now and then")
    await drain(agent)
    assert f"{said}. Answer again" in model.requests[-1].messages[-1].text
    assert (await agent.tasks.show(task.id)).next_at == datetime(2026, 3, 4, 13, tzinfo=UTC)


async def test_times_are_by_the_persons_clocks(agent_with: OpenAgent) -> None:
    awake = {"away_summary": {"awake_hours": {"start": "08:00", "end": "22:00", "zone": "Asia/Tokyo"}}}
    model = ScriptedModel(["Hello."])
    agent = agent_with(model, settings={"zone": "Europe/Berlin", **awake})
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert (task.zone, task.next_at) == ("Asia/Tokyo", datetime(2026, 3, 3, 0, tzinfo=UTC))
    named = await agent.tasks.create("Say bye", at="2026-03-03T09:00", zone="UTC")
    assert (named.zone, named.next_at) == ("UTC", datetime(2026, 3, 3, 9, tzinfo=UTC))
    await agent.invoke("What time is it?")
    assert "(now: Monday 2026-03-02 21:00 JST)" in model.requests[-1].messages[-1].text


async def test_a_failure_to_plan_never_repeats_the_run_and_is_told(agent_with: OpenAgent, clock: FixedClock) -> None:
    past = {"next_at": "2025-01-01T08:00", "why": "x"}
    far = {"next_at": "2031-01-01T08:00", "why": "x"}
    good = {"next_at": "2026-03-08T08:00", "why": "At last."}
    model = ScriptedModel(planning(past, far, "no JSON", "no JSON either", past, past, good))
    agent = agent_with(model, settings=WORK)
    task = await agent.tasks.create("Look", plan="now and then", at=NOON + timedelta(hours=1))
    await drain_at(agent, clock, NOON + timedelta(hours=1))
    for _ in range(5):
        clock.move(100)
        await drain(agent)
    failed = await agent.tasks.show(task.id)
    assert (failed.state, failed.runs, failed.planning) == ("active", 1, True)
    assert runs(model) == 1, "the run is not repeated"
    assert [each[:2] for each in await events(agent)] == [("look", "completed"), ("look", "failed")]
    assert "could not be planned" in (await events(agent))[1][2]
    clock.move(86400)
    assert await drain(agent) == 1
    assert (await agent.tasks.show(task.id)).next_at == datetime(2026, 3, 8, 8, tzinfo=UTC)
    assert runs(model) == 1


async def test_a_planned_time_after_its_last_day_ends_it(agent_with: OpenAgent) -> None:
    agent = agent_with(planning({"next_at": "2026-03-09T08:00", "why": "A week later."}))
    task = await agent.tasks.create("Look", plan="weekly", until="2026-03-05")
    await drain(agent)
    assert (await agent.tasks.show(task.id)).state == "done"


@pytest.mark.spec("AWAY-12")
async def test_a_run_that_fails_is_tried_again_then_told_and_the_next_time_stays(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    model = ScriptedModel([RATE_LIMITED, RATE_LIMITED, RATE_LIMITED, "Fine again."])
    agent = agent_with(model, settings=WORK | RICH)
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert task.next_at is not None
    for wait in (0, 10, 100, 200):
        await drain_at(agent, clock, task.next_at + timedelta(seconds=wait))
        if wait == 10:
            assert runs(model) == 1 and await events(agent) == [], "it waits, and has not failed yet"
    after = await agent.tasks.show(task.id)
    assert (after.state, after.runs, after.next_at) == ("active", 1, task.next_at + timedelta(days=1))
    ((goal, outcome, note),) = await events(agent)
    assert (goal, outcome) == (task.id, "failed") and "429" in note
    assert after.note.startswith("failed: ModelBusy")
    assert "429" in (await agent.memory.preview_digest(KATE)).text
    assert await drain_at(agent, clock, task.next_at + timedelta(days=1)) == 1
    assert [outcome for _, outcome, _ in await events(agent)] == ["failed", "completed"]
    assert [role for role, _ in await talk_of(agent)] == ["user", "user", "assistant"], "what failed was asked once"


async def test_what_is_to_be_done_once_waits_a_day_for_a_model_that_is_away(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    down = True

    def script(request: Request) -> Step:
        return RATE_LIMITED if down else "Call Ben."

    agent = agent_with(ScriptedModel(script), settings=WORK)
    task = await agent.tasks.create("Remind me of Ben", at=NOON + timedelta(minutes=1))
    for _ in range(6):
        clock.move(3601)
        await drain(agent)
    assert (await agent.tasks.show(task.id)).state == "active" and await events(agent) == []
    down = False
    clock.move(3601)
    await drain(agent)
    assert (await agent.tasks.show(task.id)).note == "Call Ben."
    down = True
    late = await agent.tasks.create("Remind me of Ann", at=clock.now() + timedelta(minutes=1))
    for _ in range(30):
        clock.move(3601)
        await drain(agent)
    assert (await agent.tasks.show(late.id)).state == "done"
    assert [outcome for _, outcome, _ in await events(agent)] == ["completed", "failed"]


async def test_a_run_whose_worker_died_each_time_counts_as_failed(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with(settings=WORK)
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert task.next_at is not None
    clock.move((task.next_at - clock.now()).total_seconds())
    for _ in range(3):
        assert await agent.memory.store.claim(["task"], limit=1, holder="dead", limits=LIMITS)
        clock.move(LIMITS.lease_seconds + 1)
    assert await drain(agent) == 0, "it is parked"
    clock.move(86401)
    assert await drain(agent) == 1
    assert [outcome for _, outcome, _ in await events(agent)] == ["failed"]
    assert (await agent.tasks.show(task.id)).state == "active" and await talk_of(agent) == []


async def test_without_a_model_it_is_said_that_it_failed(agent_with: OpenAgent, clock: FixedClock) -> None:
    from afterglow.model.offline import NAME

    agent = agent_with(ScriptedModel(["unused"], name=NAME))
    await agent.tasks.create("Say hello", at=NOON + timedelta(minutes=1))
    await drain_at(agent, clock, NOON + timedelta(minutes=1))
    ((_, outcome, why),) = await events(agent)
    assert outcome == "failed" and "no model is set up that could do it" in why
    await agent.tasks.create("Say it again", at=NOON + timedelta(days=1), id="again")
    with pytest.raises(BadInput, match="no model is set up"):
        await agent.tasks.run("again")


@pytest.mark.spec("P9")
@pytest.mark.parametrize("place", ["commit_task:before", "commit_task:after"])
async def test_broken_off_at_the_commit_nothing_is_done_twice(
    agent_with: OpenAgent, clock: FixedClock, open_store: OpenStore, place: str
) -> None:
    model = ScriptedModel(["Hello.", "Hello again."])
    agent = agent_with(model, settings=WORK)
    task = await agent.tasks.create("Say hello", cron="0 9 * * *")
    assert task.next_at is not None
    failpoints.arm(place, "error")
    await drain_at(agent, clock, task.next_at)
    failpoints.disarm()
    clock.move(LIMITS.lease_seconds + 100)
    await drain(agent_with(model, over=await open_store()))
    after = await agent.tasks.show(task.id)
    assert (after.runs, after.next_at, after.note) == (1, task.next_at + timedelta(days=1), "Hello.")
    assert runs(model) == 1, "the reply that was there is taken"
    assert [role for role, _ in await talk_of(agent)] == ["user", "assistant"]
    assert [outcome for _, outcome, _ in await events(agent)] == ["completed"]


async def test_run_by_hand_its_next_time_stays(agent_with: OpenAgent, clock: FixedClock) -> None:
    model = ScriptedModel(["One.", "Two.", "Three.", "Four."])
    agent = agent_with(model)
    daily = await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    once = await agent.tasks.create("Say bye", at=NOON + timedelta(days=1), id="once")
    assert await agent.tasks.run("daily") == "One."
    assert await agent.tasks.run("daily") == "Two."
    assert (await agent.tasks.show("daily")).next_at == daily.next_at
    assert await agent.tasks.run("once") == "Three."
    assert (await agent.tasks.show("once")).state == "done"
    assert once.next_at is not None
    assert await drain_at(agent, clock, once.next_at) == 1, "the daily one"
    assert [note for _, _, note in await events(agent)] == ["One.", "Two.", "Three.", "Four."]
    with pytest.raises(BadInput, match="is done; make it anew"):
        await agent.tasks.run("once")
    with pytest.raises(BadInput, match="no agent here"):
        await Tasks(agent.memory, binding=KATE).run("daily")


async def test_what_fails_by_hand_is_raised_and_tried_again(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with([RATE_LIMITED, "Hello."])
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    with pytest.raises(Exception, match="429"):
        await agent.tasks.run("daily")
    clock.move(60)
    assert await drain(agent) == 1
    assert (await agent.tasks.show("daily")).runs == 1


async def test_what_is_to_be_done_once_and_fails_by_hand_waits_for_its_time(
    agent_with: OpenAgent, clock: FixedClock
) -> None:
    agent = agent_with([RATE_LIMITED, "Call Ben."])
    task = await agent.tasks.create("Remind me to call Ben", at=NOON + timedelta(days=7), id="ben")
    with pytest.raises(Exception, match="429"):
        await agent.tasks.run("ben")
    assert await drain_at(agent, clock, NOON + timedelta(days=1)) == 0
    assert (await agent.tasks.show("ben")).next_at == task.next_at
    assert await drain_at(agent, clock, NOON + timedelta(days=7)) == 1
    assert [note for _, _, note in await events(agent)] == ["Call Ben."]


@pytest.mark.parametrize("when", [{"at": NOON + timedelta(days=7)}, {"cron": "0 12 9 3 *"}], ids=["once", "cron"])
async def test_broken_off_by_hand_a_task_waits_for_its_time(
    agent_with: OpenAgent, clock: FixedClock, when: dict[str, Any]
) -> None:
    asked = asyncio.Event()

    class Hanging(ScriptedModel):
        async def complete(self, request: Request) -> Any:
            if not asked.is_set():
                asked.set()
                await asyncio.Event().wait()
            return await super().complete(request)

    agent = agent_with(Hanging(["Call Ben."]))
    await agent.tasks.create("Remind me to call Ben", id="ben", **when)
    running = asyncio.create_task(agent.tasks.run("ben"))
    async with asyncio.timeout(30):
        await asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await drain_at(agent, clock, NOON + timedelta(days=1)) == 0
    assert await drain_at(agent, clock, NOON + timedelta(days=7)) == 1
    assert [note for _, _, note in await events(agent)] == ["Call Ben."]


async def test_broken_off_by_hand_what_was_due_already_is_due_still(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with(ScriptedModel(lambda request: "Call Ben.", delay_seconds=0.3))
    await agent.tasks.create("Remind me to call Ben", id="ben", at=NOON + timedelta(days=7))
    clock.move(timedelta(days=8).total_seconds())
    running = asyncio.create_task(agent.tasks.run("ben"))
    await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await drain(agent) == 1
    assert [note for _, _, note in await events(agent)] == ["Call Ben."]


async def test_a_task_that_cancels_itself_has_its_run_written_down(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with([calls(("cancel_task", {"name": "parcel"})), "It has come."])
    await agent.tasks.create("Look for the parcel, and cancel this when it is there", cron="0 * * * *", id="parcel")
    await drain_at(agent, clock, NOON + timedelta(hours=1))
    after = await agent.tasks.show("parcel")
    assert (after.state, after.runs, after.next_at, after.note) == ("cancelled", 1, None, "It has come.")
    assert [outcome for _, outcome, _ in await events(agent)] == ["completed"]
    assert await agent.memory.store.work_list(KATE.owner) == []


async def test_cancelled_it_runs_no_more_and_its_name_is_free(agent_with: OpenAgent, clock: FixedClock) -> None:
    model = ScriptedModel(["First.", "Second."])
    agent = agent_with(model)
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    await agent.tasks.run("daily")
    assert (await agent.tasks.cancel("daily")).state == "cancelled"
    assert (await agent.tasks.cancel("daily")).state == "cancelled", "again is no harm"
    assert await drain_at(agent, clock, NOON + timedelta(days=2)) == 0
    new = await agent.tasks.create("Say bye", cron="0 9 * * *", id="daily")
    assert (new.runs, new.prompt) == (0, "Say bye")
    assert await agent.tasks.run("daily") == "Second.", "a run of the one before is none of this one's"
    assert len(await events(agent)) == 2
    with pytest.raises(NotFound, match="has no task"):
        await agent.tasks.cancel("nothing")


async def test_the_result_of_a_task_that_was_replaced_is_dropped(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with()
    await agent.tasks.create("Say hello", at=NOON + timedelta(minutes=1), id="x")
    clock.move(60)
    (claim,) = await agent.memory.store.claim(["task"], limit=1, holder="w", limits=LIMITS)
    commit = await agent.acts["task"](claim)
    assert commit is not None
    await agent.tasks.cancel("x")
    clock.move(1)
    await agent.tasks.create("Say bye", at=NOON + timedelta(days=1), id="x")
    with pytest.raises(ClaimLost):
        await commit()
    assert (await agent.tasks.show("x")).runs == 0 and await events(agent) == []


async def test_names_are_made_of_words_and_give_way_to_each_other(agent_with: OpenAgent) -> None:
    agent = agent_with()
    made = [await agent.tasks.create("Water the plants!", cron="0 9 * * *") for _ in range(3)]
    assert [each.id for each in made] == ["water-the-plants", "water-the-plants-2", "water-the-plants-3"]
    with pytest.raises(BadInput, match="an active task 'water-the-plants' already"):
        await agent.tasks.create("Again", cron="0 9 * * *", id="water-the-plants")
    assert (await agent.tasks.create("Same", cron="0 9 * * *", id="water-the-plants", to=OTHER)).owner == OTHER.owner
    assert name_of("!!!") == "task" and name_of("浇花，每天早上") == "浇花-每天早上"
    assert len(name_of("x" * 500)) <= 40


@for_each(
    "given, why",
    [
        ({}, "say when in one way"),
        ({"at": "2026-03-03", "cron": "0 9 * * *"}, "say when in one way"),
        ({"cron": "0 9 * * *", "plan": "daily"}, "say when in one way"),
        ({"at": "2026-03-01"}, "is past"),
        ({"at": NOON - timedelta(seconds=1)}, "is past"),
        ({"at": "soon"}, "is no time"),
        ({"at": "9999-12-31T23:59"}, "too far away; give one before 2200-01-01"),
        ({"cron": "0 9 * * *", "until": "9999-12-31T23:59"}, "until 9999-12-31 is too far away"),
        ({"cron": "0 9 * *"}, "no cron expression"),
        ({"cron": "0 9 * * *", "zone": "Mars/Base"}, "no zone"),
        ({"cron": "0 9 * * *", "runs_max": 0}, "give 1 or more"),
        ({"cron": "0 9 * * *", "until": "2026-03-02T13:00"}, "is after the last"),
        ({"plan": "  "}, "have 1 to 1,000 characters"),
        ({"cron": "0 9 * * *", "id": "x" * 81}, "at most 80"),
        ({"cron": "0 9 * * *", "id": " "}, "is blank"),
        ({"cron": "0 9 * * *", "prompt": "  "}, "has 1 to 10,000 characters"),
        ({"cron": "0 9 * * *", "prompt": "x" * 10_001}, "has 1 to 10,000 characters"),
    ],
)
async def test_what_cannot_be_a_task_is_refused_and_leaves_nothing(
    agent_with: OpenAgent, given: dict[str, Any], why: str
) -> None:
    agent = agent_with()
    with pytest.raises(BadInput, match=why):
        await agent.tasks.create(**{"prompt": "Say hello", **given})
    assert await agent.tasks.list(ended=True) == [] and await agent.memory.store.work_list(KATE.owner) == []


async def test_whose_it_is_must_be_said(agent_with: OpenAgent) -> None:
    agent = agent_with(binding=None)
    with pytest.raises(BadInput, match="say whom the task is for"):
        await agent.tasks.create("Say hello", cron="0 9 * * *")
    with pytest.raises(BadInput, match="say whose task"):
        await agent.tasks.list()


@pytest.mark.spec("SAFE-2")
async def test_another_owners_tasks_cannot_be_reached(agent_with: OpenAgent) -> None:
    agent = agent_with()
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="mine")
    for act in (agent.tasks.show, agent.tasks.cancel, agent.tasks.run):
        with pytest.raises(NotFound):
            await act("mine", owner=OTHER.owner)
    assert await agent.tasks.list(OTHER.owner) == []
    assert (await agent.tasks.show("mine")).state == "active"


async def test_there_is_a_limit_on_how_many_run(agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    from afterglow.store import tasks

    monkeypatch.setattr(tasks, "ACTIVE_MAX", 3)
    agent = agent_with()
    for _ in range(3):
        await agent.tasks.create("Say hello", cron="0 9 * * *")
    with pytest.raises(BadInput, match="has 3 active tasks"):
        await agent.tasks.create("Say hello", cron="0 9 * * *")


@pytest.mark.spec("SAFE-1")
async def test_a_secret_in_a_task_is_taken_out(agent_with: OpenAgent) -> None:
    agent = agent_with()
    task = await agent.tasks.create("Log in with sk-proj-" + "aB3dE6gH9" * 6, cron="0 9 * * *")
    assert "sk" not in task.prompt + task.id


@pytest.mark.spec("AGENT-8")
async def test_the_model_sets_lists_and_cancels_tasks(agent_with: OpenAgent) -> None:
    script: list[Step] = [
        calls(
            ("schedule_task", {"prompt": "Remind them of Ben", "at": "2026-03-03T09:00", "name": "ben"}),
            ("schedule_task", {"prompt": "Report", "cron": "0 7 * * 1-5", "zone": "Europe/Berlin"}),
            ("schedule_task", {"prompt": "Report"}),
            ("schedule_task", {"prompt": "Report", "cron": "often"}),
        ),
        calls(("list_tasks", {})),
        calls(("cancel_task", {"name": "ben"}), ("cancel_task", {"name": "nobody"})),
        "All set.",
    ]
    agent = agent_with(script)
    await agent.invoke("Set it up")
    used = [text for role, text in await talk_of(agent) if role == "tool"]
    assert used[0] == "It is set. - ben: next at Tuesday 2026-03-03 09:00 UTC: Remind them of Ben"
    assert "next at Tuesday 2026-03-03 07:00 Europe/Berlin (0 7 * * 1-5)" in used[1]
    assert "refused: say when in one way" in used[2] and "refused: 'often' is no cron expression" in used[3]
    assert used[4].startswith("- report: next at") and "- ben:" in used[4], "those that run first stand first"
    assert used[5] == "The task ben is cancelled." and "has no task 'nobody'" in used[6]
    assert {each.id: each.created_by for each in await agent.tasks.list()} == {"report": "agent"}


async def test_of_two_workers_only_the_primarys_runs_tasks(
    agent_with: OpenAgent, open_store: OpenStore, clock: FixedClock
) -> None:
    ran: list[str] = []

    def script(name: str) -> Callable[[Request], Step]:
        def step(request: Request) -> Step:
            ran.append(name)
            return "Hello."

        return step

    first = agent_with(script("first"), settings={"work": {"poll_seconds": 0.05}})
    second = agent_with(script("second"), over=await open_store(), settings={"work": {"poll_seconds": 0.05}})

    async def due(name: str) -> None:
        """A task becomes due, by a step of the clock that ends no lease, and is done."""
        task = await first.tasks.create("Say hello", at=clock.now() + timedelta(seconds=1), id=name)
        clock.move(2)
        await _until(first, task, 1)

    async with working(second.memory.store, second.acts, second.memory.settings, "auto") as beside_second:
        async with working(first.memory.store, first.acts, first.memory.settings, "auto") as beside_first:
            assert (beside_second.is_primary, beside_first.is_primary) == (True, False)
            for number in range(3):
                await due(f"task {number}")
    assert ran == ["second"] * 3
    async with working(first.memory.store, first.acts, first.memory.settings, "auto") as beside_first:
        assert beside_first.is_primary
        await due("another")
    assert ran == [*["second"] * 3, "first"]


async def test_who_is_not_primary_leaves_tasks_alone(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with(settings={"work": {"poll_seconds": 0.01}})
    store = agent.memory.store
    await store.take_primary("another", 1, lease_seconds=3600)
    task = await agent.tasks.create("Say hello", at=NOON + timedelta(seconds=1))
    clock.move(2)
    async with working(store, agent.acts, agent.memory.settings, "auto") as beside:
        await asyncio.sleep(0.3)
        assert not beside.is_primary
    assert (await agent.tasks.show(task.id)).runs == 0


async def _until(agent: Agent, task: Task, count: int) -> None:
    async with asyncio.timeout(30):
        while (await agent.tasks.show(task.id)).runs < count:  # noqa: ASYNC110 - another store's worker does it
            await asyncio.sleep(0.02)


@pytest.mark.spec("LOG-7")
async def test_tasks_and_waiting_messages_go_through_an_export(
    agent_with: OpenAgent, clock: FixedClock, tmp_path: Any
) -> None:
    agent = agent_with(planning({"next_at": "2026-03-04T08:00", "why": "Then."}))
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily", runs_max=5, until="2026-06-01")
    await agent.tasks.create("Look", plan="now and then", id="planned", to=OTHER)
    await agent.tasks.create("Say bye", at=NOON + timedelta(hours=1), id="gone", created_by="agent")
    await agent.tasks.run("daily")
    await agent.tasks.cancel("gone")
    store = agent.memory.store
    for number in (1, 2):
        await store.put_message(waiting(number))
    lines = [line async for line in export_lines(agent.memory)]
    assert json.loads(lines[0])["format"]["version"] == 6
    twin = Memory(
        await SQLiteStore.open(tmp_path / "twin.db", clock),
        Settings.model_validate({"data_dir": str(tmp_path), "zone": "UTC"}),
        environ={},
    )
    await import_lines(twin, lines)
    await import_lines(twin, lines)
    for owner in (KATE.owner, OTHER.owner):
        assert await twin.store.tasks(owner, ended=True) == await store.tasks(owner, ended=True)
        kinds = [(each.kind, each.subject, each.ready_at) for each in await store.work_list(owner)]
        assert [(each.kind, each.subject, each.ready_at) for each in await twin.store.work_list(owner)] == kinds
    kept = await twin.store.waiting_messages(KATE.owner, KATE.owner)
    assert kept == await store.waiting_messages(KATE.owner, KATE.owner) and len(kept) == 2
    assert [line async for line in export_lines(twin)] == lines
    await twin.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "often"}, "the kind of a task is 'often'"),
        ({"state": "asleep"}, "the state of a task"),
        ({"created_by": "somebody"}, "the creator of a task"),
        ({"zone": "Mars/Base"}, "no zone 'Mars/Base'"),
        ({"next_at": None}, "no time at which it runs"),
        ({"colour": "red"}, "unknown field 'colour'"),
    ],
)
async def test_a_task_that_cannot_be_done_is_not_imported(
    agent_with: OpenAgent, change: dict[str, Any], why: str
) -> None:
    agent = agent_with()
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    lines = [line async for line in export_lines(agent.memory)]
    changed = [
        json.dumps({"task": {**json.loads(line)["task"], "id": "other", **change}}) if '{"task"' in line else line
        for line in lines
    ]
    with pytest.raises(BadInput, match=why):
        await import_lines(agent.memory, changed)


async def test_an_imported_cron_that_is_none_ends_after_its_run(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with()
    task = await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    await agent.memory.store.restore_task(replace(task, id="odd", schedule="now and then", next_at=NOON))
    assert await drain(agent) == 1
    odd = await agent.tasks.show("odd")
    assert (odd.state, odd.runs) == ("done", 1) and "no cron expression" in odd.why


@pytest.mark.spec("SAFE-5")
async def test_a_forgotten_owners_tasks_are_gone_and_do_not_come_back(agent_with: OpenAgent, clock: FixedClock) -> None:
    agent = agent_with()
    await agent.memory.append(KATE, "user", "hello")
    await agent.tasks.create("Say hello", cron="0 9 * * *", id="daily")
    await agent.memory.store.put_message(waiting(1))
    lines = [line async for line in export_lines(agent.memory)]
    clock.move(60)
    await agent.memory.forget.owner(KATE.owner)
    assert await agent.tasks.list(ended=True) == []
    await import_lines(agent.memory, lines)
    assert await agent.tasks.list(ended=True) == []
    assert await agent.memory.store.waiting_messages(KATE.owner, KATE.owner) == []
    assert await drain_at(agent, clock, NOON + timedelta(days=3)) == 0


def waiting(number: int) -> Waiting:
    return Waiting(
        owner=KATE.owner,
        place=KATE.owner,
        number=number,
        agent=KATE.agent,
        channel=KATE.channel,
        sender=KATE.sender,
        session=None,
        reason="user_message",
        text=f"message {number}",
        parts=({"type": "text", "text": "a part"},),
        at=NOON,
        key=f"key {number}",
    )
