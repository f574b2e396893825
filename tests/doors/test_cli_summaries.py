"""What the command line shows and does of sessions that are quiet or over: summaries, sunset, clearing, work, health."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import afterglow
from afterglow import Binding, Memory
from afterglow.cli import summaries
from afterglow.clock import FixedClock, SystemClock
from afterglow.errors import StoreFull, StoreUnavailable
from afterglow.model import Request, scripted
from afterglow.summaries import CATEGORIES
from afterglow.work import Due, Limits
from tests.kit.command_line import (
    EVIL,
    Prepare,
    Run,
    ago,
    answering,
    asked,
    in_a_terminal,
    levels,
    one_line,
    really,
    summary_form,
    titles,
)
from tests.kit.processes import Process
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-2")

PRICED = "openai:gpt-4o-mini"


def say(name: str, text: str = "", to: Binding | None = None) -> Callable[[Memory], Awaitable[None]]:
    """A talk of that name, on a binding of its own."""

    async def act(memory: Memory) -> None:
        binding = to or Binding(agent="kate", channel="web", sender=name)
        await memory.append(binding, "user", text or f"Please look at {name}. We decided to keep it.", session=name)
        await memory.append(binding, "assistant", f"I looked at {name}, it is fine.", session=name)

    return act


@pytest.fixture
def three(run: Run, folder: Path, prepare: Prepare) -> Path:
    """Three talks: alpha 40 days ago, beta 3 days ago, gamma an hour ago."""

    def make() -> None:
        run("init")
        for name, clock in (("alpha", ago(days=40)), ("beta", ago(days=3)), ("gamma", ago(hours=1))):
            really(folder, say(name), clock)

    return prepare("three", make)


def failing_for(*names: str) -> Callable[[Request], scripted.Step]:
    return lambda request: (
        scripted.WRONG_KEY if any(name in request.material for name in names) else summary_form(request)
    )


def work_on_summaries(run: Run) -> list[Any]:
    return asked(run, "work", "--kind", "summary")["items"]


# summaries


@pytest.mark.spec("SUM-7")
def test_summaries_come_newest_first_with_all_that_was_found_in_them(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, summary_form)
    run("summarize", "--all")
    result = run("summaries")
    assert titles(run) == ["About gamma", "About beta", "About alpha"]
    text = one_line(result.stdout)
    for words in ("They looked at beta and kept it.", "decided Keep beta.", "outcome It is fine.", "open Ask Carla."):
        assert words in text
    assert "people beta" in text and "kate decision kate/web/beta" in text
    assert result.stderr == "", "nothing is degraded"
    assert asked(run, "summaries")["degraded"] is None


@pytest.mark.spec("SUM-7")
def test_five_are_shown_unless_more_are_asked_for(run: Run, begun: Path) -> None:
    for number in range(7):
        really(begun, say(f"talk{number}"))
    run("summarize")
    assert len(titles(run)) == 5
    assert len(titles(run, "--limit", "7")) == 7


@pytest.mark.spec("SUM-7", "SUM-2")
def test_the_session_that_just_ended_is_on_top(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, summary_form)
    run("summarize", "--all")
    really(three, say("beta"))
    run("sunset", "beta", "--now")
    assert titles(run, "--limit", "5")[0] == "About beta"


@pytest.mark.spec("SUM-7")
def test_every_filter_leaves_what_fits(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, summary_form)
    run("summarize", "--all")
    found = {
        "--owner kate/web/beta": ["beta"],
        "--agent kate": ["gamma", "beta", "alpha"],
        "--agent otto": [],
        "--since 4d": ["gamma", "beta"],
        "--until 4d": ["alpha"],
        "--since 4d --until 1d": ["beta"],
        "--category decision": ["beta"],
        "--words carla": ["gamma", "beta", "alpha"],
        "--words looked --words alpha": ["alpha"],
        "--limit 1": ["gamma"],
    }
    wanted = {filters: [f"About {name}" for name in names] for filters, names in found.items()}
    assert {filters: titles(run, *filters.split()) for filters in found} == wanted


@pytest.mark.spec("SUM-7")
def test_times_are_in_the_zone_of_the_person(run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really(begun, say("beta"), FixedClock(datetime.fromisoformat("2026-03-02T23:30:00+00:00")))
    run("summarize", "--all")
    monkeypatch.setenv("AFTERGLOW_ZONE", "Asia/Tokyo")
    assert "2026-03-03 08:30" in run("summaries").stdout
    assert titles(run, "--since", "2026-03-03", "--until", "2026-03-04")
    monkeypatch.setenv("AFTERGLOW_ZONE", "UTC")
    assert not titles(run, "--since", "2026-03-03", "--until", "2026-03-04")


@pytest.mark.spec("SUM-7")
def test_it_says_when_the_answer_is_degraded_and_marks_each_that_is(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("summarize", "gamma")
    answering(monkeypatch, summary_form)
    run("summarize", "beta")
    result = run("summaries")
    assert result.stdout.count("(made without a model)") == 1
    assert "1 of these was made without a model" in result.stderr
    data = asked(run, "summaries")
    assert [each["degraded"] for each in data["items"]] == [True, False]
    assert data["degraded"] == "1 of these was made without a model"
    assert "made without a model" in run("summaries", "gamma").stderr


@pytest.mark.spec("SUM-7")
def test_an_empty_answer_says_why_and_what_to_do(run: Run, begun: Path) -> None:
    assert "no session has said anything yet" in run("summaries").stderr
    really(begun, say("old"), ago(days=50))
    assert "`afterglow summarize --all` makes them now" in run("summaries").stderr
    really(begun, say("beta"))
    told = one_line(run("summaries").stderr)
    assert "`afterglow summarize` makes them now. No process is primary" in told
    assert "No process is primary" in asked(run, "summaries")["why_none"]
    run("summarize", "--all")
    assert "No summary fits" in run("summaries", "--agent", "nobody").stderr
    assert asked(run, "summaries")["why_none"] is None


@pytest.mark.spec("SUM-7", "P6")
def test_an_error_is_not_passed_off_as_an_empty_list(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("the database does not answer; try again")

    monkeypatch.setattr("afterglow.store.sqlite.SQLiteStore.summaries", broken)
    assert "the database does not answer" in run("summaries", code=1).stderr
    assert json.loads(run("summaries", "--json", code=1).stderr)["error"]["kind"] == "StoreUnavailable"


@pytest.mark.spec("SUM-6", "SUM-7")
def test_one_summary_is_shown_whole_with_where_it_comes_from(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(
        monkeypatch, lambda request: summary_form(request).replace("and kept it", "and kept it" + " for long" * 99)
    )
    assert "has no summary yet; `afterglow summarize beta` makes one" in run("summaries", "beta", code=2).stderr
    run("summarize", "beta")
    assert run("summaries", "beta").stdout.count("long") == 99
    assert run("summaries").stdout.count("long") < 99 and run("summaries", "--full").stdout.count("long") == 99
    text = one_line(run("summaries", "beta").stdout)
    assert "covers turns 1 to 2" in text and "(manual)" in text and "by scripted, " in text
    assert asked(run, "summaries", "beta")["stale"] is False
    really(three, say("beta"))
    assert "2 turns came since; `afterglow summarize beta`" in one_line(run("summaries", "beta").stderr)
    assert asked(run, "summaries", "beta")["stale"] is True


def test_what_strangers_wrote_reaches_no_terminal_as_it_is_and_fits_into_80_columns(run: Run, begun: Path) -> None:
    really(begun, say("evil", f"{EVIL} We decided on {'x' * 200} {EVIL}."))
    run("summarize", "evil")
    run("sunset", "evil")
    for call in ("summaries", "summaries evil", "sessions", "status", "doctor", "work"):
        lines = run(*call.split()).stdout.splitlines()
        assert max((cell_len(line) for line in lines), default=0) <= 80, call


def test_the_help_names_the_categories_there_are() -> None:
    assert re.split(", | or ", summaries._CATEGORIES) == list(CATEGORIES)  # pyright: ignore[reportPrivateUsage]


# summarize


@pytest.mark.spec("SUM-8")
def test_it_looks_30_days_back_unless_told_otherwise(run: Run, three: Path) -> None:
    def made(*args: str) -> list[str]:
        return sorted(each["session"] for each in asked(run, "summarize", *args)["items"])

    assert made("--days", "1") == ["gamma"]
    assert made() == ["beta"]
    assert "Every session of the last 30 days has a summary" in run("summarize").stderr
    assert made("--all") == ["alpha"]
    assert made("--all") == []


@pytest.mark.spec("SUM-8")
def test_it_can_be_for_one_owner_or_one_session(run: Run, three: Path) -> None:
    assert len(asked(run, "summarize", "--all", "--owner", "kate/web/alpha")["items"]) == 1
    assert asked(run, "summarize", "beta")["summary"]["session"] == "beta"
    assert [each["session"] for each in asked(run, "summaries")["items"]] == ["beta", "alpha"]


@pytest.mark.spec("SUM-8")
def test_the_cost_is_shown_before_and_after(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = answering(monkeypatch, summary_form, name=PRICED, usd_per_million_tokens=20.0)
    result = run("summarize", "--all")
    before = re.search(r"3 sessions are to be summarised by openai:gpt-4o-mini: roughly ([\d,]+) tokens, \$0\.00\d\d\.",
                       one_line(result.stderr))  # fmt: skip
    assert before, result.stderr
    assert 3_000 < int(before[1].replace(",", "")) < 10_000
    spent = sum(each["cost_usd"] for each in asked(run, "summaries")["items"])
    assert spent > 0
    assert result.stdout == f"3 summaries were made, ${spent:.4f}.\n"
    assert len(model.requests) == 3


@pytest.mark.spec("SUM-8")
def test_a_cost_that_is_not_known_is_not_called_nothing(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, summary_form)
    result = run("summarize", "--all")
    assert "at a cost that is not known" in one_line(result.stderr)
    assert result.stdout == "3 summaries were made, at a cost that is not known.\n"
    again = asked(run, "summarize", "beta", "--force")
    assert again["cost_usd"] is None and again["estimate"]["cost_usd"] is None


@pytest.mark.spec("SUM-8")
def test_without_a_model_it_costs_nothing_and_says_so(run: Run, three: Path) -> None:
    result = run("summarize", "--all")
    assert "by offline" in result.stderr and "at no cost" in one_line(result.stderr)
    assert result.stdout == "3 summaries were made, at no cost, 3 of them without a model.\n"


@pytest.mark.spec("SUM-8")
def test_a_dry_run_tells_the_cost_and_makes_nothing(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = answering(monkeypatch, summary_form, name=PRICED)
    assert run("summarize", "--dry-run").stdout.startswith("2 sessions of the last 30 days are to be summarised by")
    estimate = asked(run, "summarize", "--dry-run", "--all")["estimate"]
    assert estimate["sessions"] == 3 and estimate["cost_usd"] > 0 and estimate["models"] == [PRICED]
    assert not model.requests and not titles(run)


@pytest.mark.spec("SUM-5", "SUM-8")
def test_what_has_nothing_new_costs_no_call_unless_it_is_forced(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = answering(monkeypatch, summary_form)
    run("summarize", "--all")
    run("summarize", "--all")
    assert "No call was made" in run("summarize", "beta").stderr
    assert len(model.requests) == 3
    refused = run("summarize", "--force", code=2)
    assert "pays for every summary again" in refused.stderr and len(model.requests) == 3
    run("summarize", "beta", "--force")
    assert len(model.requests) == 4
    assert len(asked(run, "summarize", "--force", "--yes")["items"]) == 2, "of the last 30 days"
    assert len(asked(run, "summarize", "--force", "--yes", "--all")["items"]) == 3


@pytest.mark.spec("SUM-8", "SUM-10")
def test_a_session_that_fails_delays_no_other_and_is_told(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, failing_for("gamma"))
    result = run("summarize", "--all", code=1)
    told = one_line(result.stderr)
    assert "1 of 3 sessions could not be summarised; the first, gamma: scripted does not accept the key" in told
    assert "2 summaries were made" in told
    assert titles(run) == ["About beta", "About alpha"]
    assert "session gamma failed" in (three / "afterglow.log").read_text()
    answering(monkeypatch, summary_form)
    assert [each["session"] for each in asked(run, "summarize", "--all")["items"]] == ["gamma"]


def test_one_session_that_fails_is_told_in_a_sentence(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, failing_for("gamma"))
    assert "gamma could not be summarised: scripted does not accept the key" in run("summarize", "gamma", code=1).stderr
    monkeypatch.undo()


@pytest.mark.spec("SUM-8")
def test_an_agent_whose_model_cannot_be_had_delays_no_other(run: Run, begun: Path) -> None:
    really(begun, say("alpha"))
    really(begun, say("beta", to=Binding(agent="otto", channel="web", sender="ana")))
    settings = (begun / "afterglow.toml").read_text()
    (begun / "afterglow.toml").write_text(
        settings + '\n[[agents]]\nid = "otto"\n[agents.compaction]\nmodel = "nonsense"\n'
    )
    told = one_line(run("summarize", code=1).stderr)
    assert "1 of 2 sessions could not be summarised; the first, beta: " in told and "nonsense" in told
    assert [each["session"] for each in asked(run, "summaries")["items"]] == ["alpha"]


@pytest.mark.spec("P6")
def test_an_unexpected_error_delays_no_other(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(request: Request) -> str:
        if "gamma" in request.material:
            raise RuntimeError("a mistake")
        return summary_form(request)

    answering(monkeypatch, script)
    assert "an error of Afterglow's own (RuntimeError)" in one_line(run("summarize", "--all", code=1).stderr)
    assert len(titles(run)) == 2
    assert "a mistake" in (three / "afterglow.log").read_text()


@pytest.mark.spec("P6")
def test_what_cannot_be_stored_is_not_paid_for_again_and_again(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any, **__: Any) -> None:
        raise StoreFull("the disk is full; make room, then repeat")

    model = answering(monkeypatch, summary_form)
    monkeypatch.setenv("AFTERGLOW_WORK__CONCURRENCY", "1")
    monkeypatch.setattr("afterglow.store.sqlite.SQLiteStore.commit_summary", full)
    told = one_line(run("summarize", "--all", code=1).stderr)
    assert "the disk is full" in told and "Broken off: 0 summaries were made" in told
    assert len(model.requests) == 1


@pytest.mark.spec("SUM-1", "SUM-8")
def test_by_hand_it_is_never_gated(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_PRIMARY", "false")
    monkeypatch.setenv("AFTERGLOW_AUTO_SUMMARIZE", "false")
    assert len(asked(run, "summarize", "--all")["items"]) == 3


BROKEN_OFF = """
import sys
from afterglow import means
from afterglow.cli import main
from afterglow.model import scripted
from tests.kit.command_line import summary_form
def answer(request):
    if "alpha" not in request.material:
        return summary_form(request)
    print("asked of alpha", file=sys.stderr, flush=True)
    return scripted.TIMEOUT
model = scripted.ScriptedModel(answer)
means.choose = lambda *_, **__: model
main()
"""


@pytest.mark.spec("SUM-8")
def test_broken_off_it_says_how_far_it_came_and_goes_on_from_there(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_WORK__CONCURRENCY", "1")  # the newest first, so alpha last
    with Process("summarize", "--all", script=BROKEN_OFF) as process:
        assert process.stderr
        assert "asked of alpha\n" in iter(process.stderr.readline, "")
        process.send_signal(signal.SIGINT)
        told, wrong = process.communicate()
    assert (process.returncode, told) == (130, "")
    assert "Broken off: 2 summaries were made" in wrong and "Running it again goes on with the rest" in one_line(wrong)
    assert "Traceback" not in wrong
    assert [each["session"] for each in asked(run, "summarize", "--all")["items"]] == ["alpha"]


@pytest.mark.spec("SUM-8")
def test_a_terminal_is_shown_a_bar(three: Path) -> None:
    shown = in_a_terminal("summarize", "--all")
    assert "summarising" in shown and "3 summaries were made" in shown


@pytest.mark.parametrize(("answer", "code"), [("n", 130), ("y", 0)])
def test_a_person_is_asked_before_all_is_paid_for_again(answer: str, code: int, run: Run, three: Path) -> None:
    run("summarize", "--all")
    before = [each["created_at"] for each in asked(run, "summaries")["items"]]
    shown = in_a_terminal("summarize", "--all", "--force", typed=f"{answer}\n", code=code)
    assert "3 sessions are to be summarised by offline" in one_line(shown) and "Make all of them anew?" in shown
    after = [each["created_at"] for each in asked(run, "summaries")["items"]]
    assert (after == before) == (answer == "n")


@pytest.mark.spec("SUM-10")
def test_a_summary_by_hand_ends_the_work_that_was_parked_over_it(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really(three, lambda memory: fail(memory, "kate/web/beta", "beta", park=True))
    assert asked(run, "status")["summarization"]["parked"] == 1
    model = answering(monkeypatch, summary_form)
    run("summarize", "beta")
    assert asked(run, "status")["summarization"]["parked"] == 0
    assert work_on_summaries(run) == []
    assert len(model.requests) == 1


async def fail(memory: Memory, owner: str, subject: str, *, park: bool, kind: Any = "summary") -> None:
    """Have work about this fail."""
    due = Due(kind=kind, at=memory.store.clock.now(), reason="sunset-event", subject=subject)
    await memory.store.mark_due(owner, due)
    claim = await memory.store.claim_one(owner, kind, subject, holder="me", limits=Limits())
    assert claim is not None
    await memory.store.give_back(claim, "ModelBusy: the model said no", wait_seconds=600, park=park)


# sunset


@pytest.mark.spec("SUM-2")
def test_a_sunset_is_kept_when_no_process_is_primary_and_says_who_can_make_it(run: Run, three: Path) -> None:
    result = run("sunset", "beta")
    text = one_line(result.stdout)
    assert text.startswith("beta has ended. Its summary is due, and no process is primary now. That is kept")
    assert "`afterglow serve`" in text and "`afterglow summarize beta`" in text
    assert [each["reason"] for each in work_on_summaries(run)] == ["sunset-event"]
    assert asked(run, "sessions", "show", "beta")["session"]["closed_by"] == "sunset"
    run("summarize", "beta")
    assert work_on_summaries(run) == []


@pytest.mark.spec("SUM-2")
def test_a_sunset_names_the_primary_that_will_make_the_summary(run: Run, three: Path) -> None:
    really(three, lambda memory: memory.store.take_primary("elsewhere:7", 1, lease_seconds=600))
    assert "Its summary is due; elsewhere:7 is primary, and sees to it." in one_line(run("sunset", "beta").stdout)
    assert asked(run, "sunset", "gamma")["primaryHolder"] == "elsewhere:7"


@pytest.mark.spec("SUM-2")
def test_a_sunset_can_be_made_now(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = answering(monkeypatch, summary_form)
    text = run("sunset", "beta", "--now").stdout
    assert text.startswith("beta has ended.\nAbout beta\n") and "(sunset-event)" in text
    assert work_on_summaries(run) == []
    assert "Its summary covers all that was said." in run("sunset", "beta").stdout
    assert work_on_summaries(run) == [], "nothing is left for a primary to find out"
    assert len(model.requests) == 1


@pytest.mark.spec("SUM-2", "SUM-10")
def test_a_sunset_whose_summary_fails_stays_due(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, failing_for("beta"))
    told = one_line(run("sunset", "beta", "--now", code=1).stderr)
    assert "beta has ended, and its summary could not be made now: scripted does not accept the key" in told
    assert "It stays due" in told
    assert [each["reason"] for each in work_on_summaries(run)] == ["sunset-event"]
    answering(monkeypatch, summary_form)
    assert asked(run, "sunset", "beta", "--now")["summary"]["title"] == "About beta"


def test_a_summary_that_another_process_is_making_is_left_to_it(run: Run, three: Path) -> None:
    async def claim(memory: Memory) -> None:
        await memory.sunset(await memory.session("beta", owner="kate/web/beta"))
        owner = "kate/web/beta"
        assert await memory.store.claim_one(owner, "summary", "beta", holder="elsewhere:7", limits=Limits())

    really(three, claim)
    assert "elsewhere:7 is making its summary at this moment." in run("sunset", "beta", "--now").stdout


def test_a_session_in_which_nothing_was_said_needs_no_summary(run: Run, begun: Path) -> None:
    really(begun, lambda memory: memory.open_session(KATE, "silent"))
    nothing = "Nothing was said in it, so there is nothing to summarise.\n"
    assert run("summarize", "silent").stdout == nothing
    assert run("sunset", "silent").stdout == f"silent has ended.\n{nothing}"
    assert run("sunset", "silent", "--now").stdout == f"silent has ended.\n{nothing}"
    assert "nothing was said in it" in run("summaries", "silent", code=2).stderr
    assert work_on_summaries(run) == []


# sessions clear and restore


@pytest.mark.spec("IDLE-2")
def test_a_session_is_cleared_and_restored_by_hand(run: Run, begun: Path) -> None:
    really(begun, say("talk", to=KATE))
    result = run("sessions", "clear", "talk")
    assert result.stdout.startswith("talk is cleared, and closed since")
    assert "`afterglow sessions restore talk` undoes it" in one_line(result.stderr)
    assert "The context was cleared" in run("sessions", "show", "talk").stdout
    assert "was closed already" in run("sessions", "clear", "talk").stdout
    assert run("sessions", "restore", "talk").stdout == "talk is open again, with all its turns.\n"
    assert "nothing to restore" in run("sessions", "restore", "talk", code=2).stderr
    run("sessions", "clear", "talk")
    really(begun, say("next", to=KATE))
    assert "'next' has followed it on the same binding" in one_line(run("sessions", "restore", "talk", code=2).stderr)


def test_sessions_are_listed_with_their_state_and_what_they_were_about(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, summary_form)
    run("sunset", "beta", "--now")
    text = run("sessions").stdout
    assert "About beta" in text and "closed" in text and "open" in text
    assert [(each["id"], each["title"]) for each in asked(run, "sessions")["items"]] == [
        ("gamma", None),
        ("beta", "About beta"),
        ("alpha", None),
    ]


# work


@pytest.mark.spec("SUM-10", "IDLE-4")
def test_timers_that_wait_do_not_drown_what_failed(run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for number in range(3):
        really(begun, say(f"talk{number}"))
    really(begun, lambda memory: fail(memory, "kate/web/talk0", "talk0", park=True))
    really(begun, lambda memory: fail(memory, "kate/web/talk1", "talk1", park=False))
    run("sunset", "talk2")
    result = run("work")
    assert [(each["subject"], each["state"]) for each in work_on_summaries(run)] == [
        ("talk0", "parked"),
        ("talk1", "waiting"),
        ("talk2", "due"),
    ]
    assert "idle" not in result.stdout and result.stdout.count("the model said no") == 2
    assert "3 more wait for a time to come, as timers do" in one_line(result.stderr)
    assert {each["kind"] for each in asked(run, "work", "--state", "waiting")["items"]} == {"idle", "summary"}


@pytest.mark.spec("SUM-10")
def test_work_is_listed_and_tried_again_by_its_kind(run: Run, begun: Path) -> None:
    really(begun, say("talk", to=KATE))
    really(begun, lambda memory: fail(memory, KATE.owner, "talk", park=True))
    really(begun, lambda memory: fail(memory, KATE.owner, "talk", park=True, kind="clear"))
    assert [each["kind"] for each in asked(run, "work", "--kind", "clear")["items"]] == ["clear"]
    assert [each["kind"] for each in asked(run, "work", "--kind", "idle", "--state", "waiting")["items"]] == ["idle"]
    assert asked(run, "work", "retry", "--kind", "summary")["retried"] == 1
    assert {each["kind"]: each["state"] for each in asked(run, "work")["items"]} == {
        "clear": "parked",
        "summary": "due",
    }


def test_work_that_is_under_way_names_who_has_it(run: Run, begun: Path) -> None:
    async def claim(memory: Memory) -> None:
        await memory.store.mark_due(KATE.owner, Due(kind="facts", at=memory.store.clock.now(), reason="x", subject="t"))
        assert await memory.store.claim_one(KATE.owner, "facts", "t", holder="elsewhere:7", limits=Limits())

    really(begun, claim)
    assert "with elsewhere:7" in run("work").stdout


# status and doctor


@pytest.mark.spec("SUM-9")
def test_status_has_a_block_of_summarization_under_the_names_of_every_door(run: Run, three: Path) -> None:
    block = asked(run, "status")["summarization"]
    assert {
        "triggerSource", "lastSweepAt", "lastSuccessAt", "primaryFlag", "primaryHolder", "queueDepth", "oldestDueAt",
        "parked", "inProgress", "deferred", "off",
    } <= set(block)  # fmt: skip
    assert (block["queueDepth"], block["primaryFlag"], block["primaryHolder"]) == (0, "auto", None)
    assert "no process is primary" in block["off"][0]
    run("sunset", "beta")
    block = asked(run, "status")["summarization"]
    assert block["queueDepth"] == 1 and block["oldestDueAt"] is not None and block["lastSuccessAt"] is None
    run("summarize", "beta")
    block = asked(run, "status")["summarization"]
    assert (block["queueDepth"], block["triggerSource"]) == (0, "sunset-event") and block["lastSuccessAt"]


@pytest.mark.spec("SUM-9")
def test_status_says_who_is_primary_what_it_did_and_what_is_off(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sweep(memory: Memory) -> None:
        await memory.store.take_primary("elsewhere:7", 1, lease_seconds=600)
        await memory.store.sweep("periodic-sweep", quiet_before=SystemClock().now(), newest=10, oldest=0)

    really(three, sweep)
    text = one_line(run("status").stdout)
    assert "summaries 3 due, of which 0 under way, the oldest since" in text
    assert "none was made yet; last sweep" in text and "3 found" in text
    assert "primary elsewhere:7 (the setting is auto)" in text and "no process is primary" not in text
    monkeypatch.setenv("AFTERGLOW_AUTO_SUMMARIZE", "false")
    monkeypatch.setenv("AFTERGLOW_PRIMARY", "false")
    assert "auto_summarize is false" in one_line(run("status").stdout)
    assert asked(run, "status")["summarization"]["primaryFlag"] == "false"


@pytest.mark.spec("SUM-9")
def test_what_is_put_off_is_not_called_done(run: Run, three: Path) -> None:
    really(three, lambda memory: fail(memory, "kate/web/beta", "beta", park=False))
    block = asked(run, "status")["summarization"]
    assert (block["deferred"], block["queueDepth"], block["lastSuccessAt"]) == (1, 0, None)
    text = one_line(run("status").stdout)
    assert "1 put off after a failure" in text and "none was made yet" in text
    assert "completed" not in text


@pytest.mark.spec("SUM-9", "SUM-10")
def test_doctor_says_what_to_do_about_what_is_parked_or_waits_for_no_one(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = levels(run("doctor", "--json"))
    assert (found["work"], found["summaries"]) == ("fine", "fine") and "auto_summarize" not in found
    run("sunset", "beta")
    really(three, lambda memory: fail(memory, "kate/web/gamma", "gamma", park=True))
    found = levels(run("doctor", "--json"))
    assert (found["work"], found["summaries"]) == ("warning", "warning")
    text = one_line(run("doctor").stdout)
    assert "summary of gamma: ModelBusy: the model said no" in text and "`afterglow work retry`" in text
    assert "1 wait to be made, and no process is primary → start `afterglow serve`" in text
    monkeypatch.setenv("AFTERGLOW_AUTO_SUMMARIZE", "false")
    assert levels(run("doctor", "--json"))["auto_summarize"] == "fine", "that is a wish"
    really(three, lambda memory: memory.store.take_primary("elsewhere:7", 1, lease_seconds=600))
    assert levels(run("doctor", "--json"))["summaries"] == "fine"


# Errors


BAD_CALLS = [
    ("summaries nope", "there is no session 'nope'"),
    ("summaries --category bugs", "'bugs' is no category; choose one of planning"),
    ("summaries --limit 0", "Invalid value for '--limit'"),
    ("summaries --limit 5000", "summaries.results_max"),
    ("summaries --since now --until 1d", "is not after it"),
    ("summaries --since never", "'never' is no time"),
    ("summaries --words the", "there is no word to look for"),
    ("summaries --owner nobody", "there is no owner 'nobody'"),
    ("summaries beta --agent kate", "one session is shown whole"),
    ("summarize nope", "there is no session 'nope'"),
    ("summarize beta --all", "one of the three"),
    ("summarize beta --days 3", "one of the three"),
    ("summarize --days 3 --all", "one of the three"),
    ("summarize --days 0", "Invalid value for '--days'"),
    ("summarize --days 99999999", "Invalid value for '--days'"),
    ("summarize --owner nobody", "there is no owner 'nobody'"),
    ("sunset nope", "there is no session 'nope'"),
    ("sessions clear nope", "there is no session 'nope'"),
    ("sessions restore nope", "there is no session 'nope'"),
    ("work --kind nonsense", "Invalid value for '--kind'"),
    ("work retry beta --kind summary", "no work about 'beta' has failed"),
]


@pytest.mark.spec("DOOR-2", "DOOR-8")
def test_bad_input_gets_a_sentence_and_its_exit_code(
    run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    really(begun, say("beta"))
    for call, said in BAD_CALLS:
        with subtests.test(call=call):
            assert said in run(*call.split(), code=2).stderr
            assert said in json.loads(run(*call.split(), "--json", code=2).stderr)["error"]["message"]


@pytest.mark.spec("P13", "SUM-8")
def test_it_works_the_same_on_postgresql(run: Run, postgres_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_DATABASE", postgres_address)
    run("init")
    chosen = afterglow.settings.load(environ={"AFTERGLOW_DATABASE": postgres_address}).settings

    async def talk() -> None:
        async with afterglow.open(chosen) as memory:
            await say("beta")(memory)
            await say("gamma", to=OTHER)(memory)

    asyncio.run(talk())
    run("sunset", "beta")
    assert asked(run, "status")["summarization"]["queueDepth"] == 1
    assert len(asked(run, "summarize")["items"]) == 2
    assert len(titles(run)) == 2 and work_on_summaries(run) == []


@pytest.mark.spec("SUM-1")
def test_a_command_never_becomes_primary_whatever_a_server_is_told_to_be(
    run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really(begun, lambda memory: memory.store.take_primary("elsewhere:7", 99, lease_seconds=60))
    monkeypatch.setenv("AFTERGLOW_PRIMARY", "true")
    told = json.loads(run("status", "--json").stdout)["summarization"]
    assert (told["primaryFlag"], told["primaryHolder"]) == ("true", "elsewhere:7")
