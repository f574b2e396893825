"""Where two things meet while a person is away: joined owners, two processes, a slow store, a forgetting, an import."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import re
import socket
import tempfile
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterglow.channels import Part
from afterglow.clock import FixedClock, SystemClock
from afterglow.digest import try_compose_away_digest
from afterglow.errors import BadInput, NotFound
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.settings import Settings
from afterglow.store import presence
from afterglow.store.arrivals import Arriving, Handler
from afterglow.store.sqlite import SQLiteStore
from afterglow.transfer import export_lines, import_lines
from afterglow.turns import Binding
from tests.conftest import OpenStore
from tests.kit.away import AWAY, GOOD, HOURS, PROSE, Chat, answering, away_with, later, stewarded, write
from tests.kit.databases import other_store
from tests.kit.records import KATE, NOON, OTHER
from tests.kit.talks import drain
from tests.paths.conftest import OpenMemory

WEB = Binding(agent="kate", channel="web", sender="ana")
RICH = {**AWAY, "style": "rich"}


async def joined(memory: Memory) -> None:
    """Ana writes from Telegram and from the web, and is one person."""
    for binding in (KATE, WEB):
        await memory.append(binding, "user", "hi")
    await memory.join(WEB.owner, KATE.owner)


@pytest.mark.spec("AWAY-12", "AWAY-7")
async def test_a_step_is_there_once_also_when_two_of_one_persons_bindings_write_it(
    memory_with: OpenMemory, open_store: OpenStore
) -> None:
    memory, other = memory_with(), memory_with(over=await open_store())
    await joined(memory)
    for number in range(20):
        both = await asyncio.gather(
            memory.record_goal(KATE, f"g{number}", "done", step=1), other.record_goal(WEB, f"g{number}", "done", step=1)
        )
        assert both[0] == both[1]


@pytest.mark.spec("AWAY-7")
async def test_an_event_that_commits_while_another_binding_comes_in_is_told_next(
    memory_with: OpenMemory, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    other = memory_with(over=await open_store())
    await write(memory, chat)
    await joined(memory)
    await memory.record_goal(KATE, "early", "done")
    later(memory, 5 * HOURS)
    late: list[asyncio.Task[Any]] = []
    real = presence._absence
    loop, outside = asyncio.get_running_loop(), contextvars.copy_context()

    def begin() -> None:
        late.append(loop.create_task(other.record_goal(WEB, "LATE", "done")))

    def meanwhile(*args: Any) -> Any:
        loop.call_soon_threadsafe(begin, context=outside)  # another caller, not this transaction, begins it
        time.sleep(0.2)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(presence, "_absence", meanwhile)
        await write(memory, chat, to=WEB)
    await asyncio.gather(*late)
    later(memory, 5 * HOURS)
    await write(memory, chat, to=WEB)
    assert ["early" in each or "LATE" in each for each in chat.seen] == [False, True, False, True, False]


@pytest.mark.spec("AWAY-7")
async def test_who_was_seen_in_the_future_elsewhere_is_told_again_soon(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary=AWAY), Chat()
    later(memory, 365 * 24 * HOURS)
    await write(memory, chat, to=WEB)
    later(memory, -365 * 24 * HOURS)
    await joined(memory)
    found: list[str | None] = []
    for day in range(3):
        await memory.record_goal(KATE, f"g{day}", "done")
        later(memory, 24 * HOURS)
        handled = await write(memory, chat)
        found.append(handled.digest or handled.stopped_by)
    assert found == ["clock", "delivered", "delivered"]


@pytest.mark.spec("AWAY-4", "AWAY-12")
async def test_of_joined_owners_the_later_step_is_how_a_goal_stands_and_pages_skip_none(
    memory_with: OpenMemory,
) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    await write(memory, chat)
    await joined(memory)
    for number in range(3):
        await memory.record_goal(WEB, f"x{number}", "done")
        await memory.record_goal(KATE, f"y{number}", "done")
    await memory.record_goal(WEB, "deploy", "running")
    later(memory, HOURS)
    await memory.record_goal(KATE, "deploy", "failed", note="quota")
    got, before = list[str](), None
    while page := await memory.goals(KATE, limit=1, before=before):
        got.append(page[0].goal)
        before = page[0]
    assert sorted(got) == ["deploy", "deploy", *(f"{name}{number}" for name in "xy" for number in range(3))]
    later(memory, 5 * HOURS)
    await write(memory, chat)
    assert "Failed" in chat.seen[-2] and "deploy: quota" in chat.seen[-2] and "In progress" not in chat.seen[-2]


@pytest.mark.spec("AWAY-10")
async def test_the_daily_digest_tells_also_what_happened_for_another_of_ones_bindings(memory_with: OpenMemory) -> None:
    chat = Chat()
    memory, steward = stewarded(memory_with, chat)
    await write(memory, chat)
    await joined(memory)
    await steward.turn()
    await memory.record_goal(WEB, "g", "done")
    later(memory, 20 * HOURS)
    await steward.turn()
    await drain(memory)
    assert len(chat.seen) == 2 and chat.to == [KATE]


@pytest.mark.spec("AWAY-4")
async def test_many_small_steps_do_not_hide_what_needs_you(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary={**RICH, "max_events": 5}), Chat()
    await write(memory, chat)
    await memory.record_goal(KATE, "pay", "needs_you", title="Approve the payment", note="900 EUR")
    await memory.record_goal(KATE, "sign", "needs_you", title="Sign the form")
    await memory.record_goal(KATE, "sign", "done", title="Sign the form")
    for number in range(20):
        await memory.record_goal(KATE, "poll", "running", step=number, title="Poll the feed")
    later(memory, 5 * HOURS)
    await write(memory, chat)
    told = chat.seen[-2]
    assert "Approve the payment: 900 EUR" in told and "Sign the form" not in told, "that one is done"
    assert "newest 5 of 23 steps" in told


@pytest.mark.spec("P12", "SAFE-3")
async def test_a_goal_that_comes_while_its_owner_is_forgotten_belongs_to_a_new_beginning(
    memory_with: OpenMemory, open_store: OpenStore
) -> None:
    memory = memory_with(away_summary=PROSE)
    other = memory_with(away_summary=PROSE, over=await open_store())
    for number in range(10):
        await memory.append(KATE, "user", "hi")
        await memory.record_goal(KATE, "g", "done")
        await asyncio.gather(
            memory.store.forget_owner(KATE.owner, keep_stones=False),
            *(other.record_goal(KATE, f"g{each}", "done", note=f"{number}") for each in range(3)),
        )
        assert not await memory.goals(KATE) or KATE.owner in [owner.id for owner in await memory.store.owners()]
        with contextlib.suppress(NotFound):
            await memory.forget.owner(KATE.owner, keep_stones=False)
        assert await memory.goals(KATE) == [] and await memory.store.presence(KATE.owner, "kate") is None


@pytest.mark.spec("P12", "SAFE-3")
async def test_goals_of_a_forgotten_owner_do_not_come_back_by_an_import(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary=AWAY), Chat()
    await write(memory, chat)
    await memory.record_goal(KATE, "g", "done", note="the secret")
    lines = [line async for line in export_lines(memory)]
    await memory.forget.owner(KATE.owner)
    later(memory, 60)
    await memory.append(KATE, "user", "a new beginning")
    await import_lines(memory, lines)
    assert await memory.goals(KATE) == []
    assert (await write(memory, chat)).stopped_by == "first"


@pytest.mark.spec("P12", "SAFE-3")
async def test_a_digest_of_one_who_was_parted_does_not_keep_what_the_other_forgets(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    await write(memory, chat, to=WEB)
    await joined(memory)
    fact = await memory.facts.add(KATE.owner, "I prefer small hotels.", type="preference")
    await memory.record_goal(WEB, "g", "done")
    later(memory, 5 * HOURS)
    await write(memory, chat, to=WEB)
    assert "small hotels" in (await memory.digests(owner=WEB.owner))[0].text
    await memory.part(WEB.owner)
    await memory.facts.forget(KATE.owner, fact.id)
    assert [each.text for each in await memory.digests(owner=WEB.owner)] == [""]


@pytest.mark.spec("P12", "LOG-7")
async def test_the_words_of_a_digest_do_not_bring_back_what_was_forgotten_here(
    memory_with: OpenMemory, tmp_path: Path
) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    await write(memory, chat)
    await memory.facts.add(KATE.owner, "I prefer small hotels.", type="preference")
    await memory.record_goal(KATE, "g", "done")
    later(memory, 5 * HOURS)
    await write(memory, chat)
    lines = [line async for line in export_lines(memory)]
    async with other_store(tmp_path) as store:
        twin = memory_with(away_summary=RICH, over=store)
        fact = await twin.facts.add(KATE.owner, "I prefer small hotels.", type="preference")
        await twin.facts.forget(KATE.owner, fact.id)
        later(twin, 60)
        await import_lines(twin, [line for line in lines if '"goal"' not in line[:8]])
        kept = await twin.digests(owner=KATE.owner)
        assert all("small hotels" not in each.text for each in kept)


@pytest.mark.spec("LOG-7")
async def test_an_export_of_joined_owners_comes_back_equal(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    await joined(memory)
    for binding in (KATE, WEB, KATE, WEB):
        await memory.record_goal(binding, binding.channel, "done")
        later(memory, 5 * HOURS)
        await write(memory, chat, to=binding)
    lines = [line async for line in export_lines(memory)]
    async with other_store(tmp_path) as store:
        twin = memory_with(away_summary=RICH, over=store)
        await import_lines(twin, lines)
        kept = [(each.owner, each.number) for each in await twin.digests(owner=KATE.owner)]
        assert kept == [(each.owner, each.number) for each in await memory.digests(owner=KATE.owner)]
        assert [line async for line in export_lines(twin)] == lines


@pytest.mark.spec("LOG-7", "AWAY-7")
async def test_what_happened_here_is_told_also_after_an_import(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory, chat = memory_with(away_summary=RICH), Chat()
    await away_with(memory, chat, "done", "done", "done")
    await write(memory, chat)
    lines = [line async for line in export_lines(memory)]
    async with other_store(tmp_path) as store:
        twin = memory_with(away_summary=RICH, over=store)
        await twin.record_goal(KATE, "NEW here", "done", step=1)
        await import_lines(twin, lines)
        later(twin, 48 * HOURS)
        await write(twin, chat)
        assert "NEW here" in chat.seen[-2]


@pytest.mark.spec("AWAY-6")
async def test_the_message_waits_for_one_deadline_however_slow_the_store_is(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By order, not by time: the message goes on before the slow store has answered."""
    memory, chat = memory_with(away_summary={**AWAY, "deadline_seconds": 0.2}), Chat()
    await away_with(memory, chat, "done")
    goes_on = asyncio.Event()
    real = memory.store.come_in

    async def slow(*args: Any) -> Any:
        await goes_on.wait()
        return await real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(memory.store, "come_in", slow)
        handled = await write(memory, chat, "hello")
    assert (handled.digest, chat.seen[-1]) == (None, "answer to hello")
    goes_on.set()
    while not (found := [each for each in await memory.digests(owner=KATE.owner) if each.status == "failed"]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert found[0].reason == "the database took longer than the deadline"


@pytest.mark.spec("AWAY-6")
async def test_a_deliver_that_is_not_async_does_not_hold_up_the_message_either(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary={**AWAY, "deadline_seconds": 2}), Chat()
    await away_with(memory, chat, "done")
    ended, may_end = list[str](), threading.Event()

    def slow(to: Binding, part: Part) -> None:
        may_end.wait(60)
        ended.append("delivered")

    handled = await memory.on_inbound(Inbound(binding=KATE), lambda _: list(ended), deliver=slow)
    assert handled.digest == "failed" and handled.result == [], "it went on while that was still going on"
    may_end.set()


@pytest.mark.spec("AWAY-6", "LOG-4")
async def test_the_reason_of_a_failure_is_the_right_one_and_holds_no_secret(memory_with: OpenMemory) -> None:
    token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawE"
    memory, chat = memory_with(away_summary={**AWAY, "threshold_hours": 0}), Chat()
    failures = [
        RuntimeError(f"403 for https://api.telegram.org/bot{token}/sendMessage"),
        TimeoutError("connect timed out"),
    ]
    await write(memory, chat)
    for failure in failures:
        await memory.record_goal(KATE, "g", "done")
        await write(memory, Chat(failing=failure))
    reasons = [each.reason for each in await memory.digests(owner=KATE.owner) if each.status == "failed"]
    assert any("403" in each for each in reasons) and any("connect timed out" in each for each in reasons)
    assert all("AAHdq" not in each and "seconds" not in each for each in reasons)


@pytest.mark.spec("AWAY-6")
async def test_a_digest_of_several_messages_says_how_many_were_sent(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary={**RICH, "deadline_seconds": 2}), Chat()
    to = Binding(agent="kate", channel="discord", sender="ana")
    await write(memory, chat, to=to)
    for number in range(40):
        outcome = ["done", "failed", "escalate", "cancelled"][number % 4]
        await memory.record_goal(to, f"g{number}", outcome, title="t" * 70 + str(number), note="n" * 100)
    later(memory, 5 * HOURS)
    sent = list[Part]()

    async def deliver(_: Binding, part: Part) -> None:
        if sent:
            await asyncio.sleep(100)
        sent.append(part)

    handled = await memory.on_inbound(Inbound(binding=to), deliver=deliver)
    assert handled.reason.startswith("1 of ") and "longer than 2 seconds" in handled.reason


@pytest.mark.spec("AWAY-6", "AWAY-11")
async def test_who_is_stopped_while_telling_says_so_and_leaves_the_message_to_the_next(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary=AWAY), Chat(hangs=True)
    await away_with(memory, Chat(), "done")
    telling = asyncio.create_task(write(memory, chat, "hello", id="m"))
    async with asyncio.timeout(60):
        await chat.delivering.wait()
    telling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await telling
    (kept,) = [each for each in await memory.digests(owner=KATE.owner) if each.total]
    assert (kept.status, kept.reason) == ("failed", "it was stopped while it was sent")
    assert (await write(memory, Chat(), "hello", id="m")).result == "handled"


@pytest.mark.spec("AWAY-11", "P7")
async def test_a_message_of_a_process_that_is_gone_is_handled_at_once(
    memory_with: OpenMemory, open_store: OpenStore
) -> None:
    memory, chat = memory_with(over=await open_store(SystemClock())), Chat()
    gone = Handler(name=f"{socket.gethostname()}:4194305", token=1)  # no process has such a number
    arriving = Arriving(binding=KATE, message=f"{KATE.owner}/m", handler=gone, lease_seconds=60)
    await memory.store.come_in(KATE.owner, arriving, memory.settings.away_of(KATE))
    async with asyncio.timeout(30):
        assert (await write(memory, chat, id="m")).result == "handled"


@pytest.mark.spec("AWAY-11")
@pytest.mark.parametrize("ids", [("x" * 500 + "1", "x" * 500 + "2"), ("", ""), ("a\0b", "a\0c"), ("\ud83d", "\ud83e")])
async def test_ids_of_any_kind_are_told_apart_and_an_empty_one_is_none(
    memory_with: OpenMemory, ids: tuple[str, str]
) -> None:
    memory, chat = memory_with(), Chat()
    for number, each in enumerate(ids):
        await write(memory, chat, str(number), id=each)
    assert chat.seen == ["answer to 0", "answer to 1"]


@pytest.mark.spec("AWAY-11")
async def test_an_id_is_one_of_its_chat_also_where_two_are_one_person(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(), Chat()
    for binding in (KATE, OTHER):
        await memory.append(binding, "user", "hi")
    await memory.join(OTHER.owner, KATE.owner)
    for binding in (KATE, OTHER):
        await write(memory, chat, binding.sender, to=binding, id="5")
    assert chat.seen == ["answer to ana", "answer to ben"]


@pytest.mark.spec("AWAY-11")
def test_what_is_no_message_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadInput, match="binding of a message"):
        Inbound(binding="kate/telegram/42")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="id of a message"):
        Inbound(binding=KATE, id=5)  # type: ignore[arg-type]


@pytest.mark.spec("AWAY-12")
async def test_a_goal_has_a_name_that_can_be_seen(memory_with: OpenMemory) -> None:
    memory = memory_with()
    for wrong in ("   ", "\u200b", "#2"):
        with pytest.raises(BadInput):
            await memory.record_goal(KATE, "g" if wrong == "#2" else wrong, "done", step=wrong)
    assert (await memory.record_goal(KATE, "g", "done", title=" \u202e ")).title == "g"


@pytest.mark.spec("AWAY-12")
async def test_another_outcome_of_the_same_step_is_warned_of(
    memory_with: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    memory = memory_with()
    await memory.record_goal(KATE, "g", "running", step=1)
    await memory.record_goal(KATE, "g", "done", step=1)
    assert "is running already, and stays so" in caplog.text


@pytest.mark.spec("AWAY-3")
async def test_the_original_s_function_takes_the_largest_limit(memory_with: OpenMemory) -> None:
    memory = memory_with(away_summary={**AWAY, "max_events": 1000})
    await memory.record_goal(KATE, "g", "done")
    now = NOON + timedelta(hours=5)
    assert await try_compose_away_digest(memory.settings.away_of(KATE), NOON, now, memory.goal_log(KATE))


@pytest.mark.spec("AWAY-2")
async def test_a_preview_is_what_is_told(memory_with: OpenMemory) -> None:
    model, _ = answering(GOOD)
    memory, chat = memory_with(away_summary={**PROSE, "max_events": 2}, answering=model), Chat()
    await write(memory, chat)
    await memory.record_goal(KATE, "old", "done")
    later(memory, 5 * HOURS)
    await write(memory, chat)
    await memory.record_goal(KATE, "report", "done", step=1, title="Weekly report", at=NOON - timedelta(hours=1))
    await memory.record_goal(KATE, "deploy", "failed", step=1, title="Deploy", note="quota exceeded")
    later(memory, 5 * HOURS)
    await drain(memory)
    preview = await memory.preview_digest(KATE)
    await write(memory, chat)
    told = (await memory.digests(owner=KATE.owner))[0].text
    assert preview.text == told and GOOD in told and "Weekly report" in told
    looked_back = await memory.preview_digest(KATE, since=NOON - timedelta(hours=2))
    assert looked_back.total == 3 and "newest 2 of 3 steps" in looked_back.text


@pytest.mark.spec("AWAY-8", "AWAY-9")
async def test_prose_comes_out_as_plain_text_in_both_styles_and_says_no_time(memory_with: OpenMemory) -> None:
    said = "The weekly report is **done** in [2 h](https://evil.example/x)."
    for style in ("classic", "rich"):
        model, asked = answering(said, GOOD)
        memory, chat = memory_with(away_summary={**PROSE, "style": style, "show_cost": True}, answering=model), Chat()
        binding = Binding(agent="kate", channel=f"html-{style}", sender="ana")
        await write(memory, chat, to=binding)
        await memory.record_goal(binding, "report", "done", step=1, title="Weekly report 2")
        later(memory, 5 * HOURS)
        await drain(memory)
        assert " 5 h" not in asked[0].material, "how long it was is not known yet"
        await write(memory, chat, to=binding)
        told = (await memory.digests(owner=binding.owner))[0].text
        assert "\\*\\*done\\*\\*" in told and "\\[2 h\\]" in told and "cost $" in told


@pytest.mark.spec("AWAY-8")
async def test_of_many_events_in_a_row_not_each_costs_a_call(memory_with: OpenMemory) -> None:
    model, asked = answering(GOOD)
    memory, chat = memory_with(away_summary=PROSE, answering=model), Chat()
    await write(memory, chat)
    for number in range(60):
        await memory.record_goal(KATE, "report", "done", step=number, title="Weekly report")
        later(memory, 120)
        await drain(memory)
    assert 3 <= len(asked) <= 5, "two hours, and one in half an hour"


@pytest.mark.spec("AWAY-4")
async def test_what_was_learnt_is_told_whatever_the_zone(memory_with: OpenMemory) -> None:
    memory, chat = memory_with(away_summary={**RICH, "awake_hours": {"zone": "Pacific/Auckland"}}), Chat()
    later(memory, 1.5 * HOURS)  # the next day in Auckland
    await write(memory, chat)
    await memory.facts.add(KATE.owner, "I prefer small hotels.", type="preference")
    await memory.record_goal(KATE, "g", "done")
    later(memory, 5 * HOURS)
    await write(memory, chat)
    assert "small hotels" in chat.seen[-2]


STEPS = st.lists(
    st.tuples(st.just("goal"), st.sampled_from([KATE, WEB, OTHER]), st.just(0.0))
    | st.tuples(st.just("write"), st.sampled_from([KATE, WEB, OTHER]), st.just(0.0))
    | st.tuples(st.just("move"), st.just(KATE), st.sampled_from([-30.0, -0.5, 0.0, 0.1, 5.0, 30.0, 24.0 * 365])),
    min_size=5,
    max_size=25,
)


@pytest.mark.spec("AWAY-2", "AWAY-7", "P9", "SAFE-2")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_whatever_happens_no_event_is_told_twice_or_to_another(
    tmp_path: Path, steps: list[tuple[str, Binding, float]]
) -> None:
    """Goals, messages of three bindings, two of them one person, and a clock that goes where it likes."""

    async def play() -> None:
        clock = FixedClock(NOON)
        store = await SQLiteStore.open(Path(tempfile.mkdtemp(dir=tmp_path)) / "a.db", clock)
        away = {**RICH, "max_events": 1000}
        chosen = Settings.model_validate({"data_dir": str(tmp_path), "zone": "UTC", "away_summary": away})
        memory, chat = Memory(store, chosen, environ={}, folds=False), Chat()
        await joined(memory)
        made = dict[str, str]()
        for number, (what, binding, hours) in enumerate(steps):
            if what == "goal":
                made[f"event{number}e"] = binding.sender
                await memory.record_goal(binding, f"event{number}e", "done")
            elif what == "move":
                clock.move(hours * HOURS)
            else:
                before = len(chat.seen)
                await write(memory, chat, to=binding)
                told = "".join(chat.seen[before:-1])
                assert all(made[each] == binding.sender for each in re.findall(r"event\d+e", told))
        found = Counter(re.findall(r"event\d+e", "".join(chat.seen)))
        assert all(count == 1 for count in found.values())
        await store.close()

    asyncio.run(play())
