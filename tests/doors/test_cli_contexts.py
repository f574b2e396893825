"""What the command line shows of contexts: their parts, why they are so, folding by hand, looking through it, sources."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from typer.testing import Result

import afterglow
from afterglow import BadInput, Context, Memory, Reply
from afterglow.cli import doctor, models
from afterglow.cli.folding import why_not
from afterglow.cli.moments import moment
from afterglow.clock import SystemClock
from afterglow.compaction import Limits
from afterglow.model import scripted
from afterglow.settings import load
from afterglow.spend import Amount, Call, Reservation, Usage, day_of
from afterglow.turns import Folded
from afterglow.work import Limits as WorkLimits
from tests.kit.command_line import (
    EVIL,
    RAW,
    Prepare,
    Run,
    answering,
    asked,
    execute,
    in_a_terminal,
    levels,
    remember,
)
from tests.kit.models import summary
from tests.kit.records import KATE, NOON
from tests.kit.turns import session, turns

pytestmark = pytest.mark.spec("DOOR-2")

PADDING = "so to speak " * 13
SHOWN: list[Context] = []
"""What the model was shown by the last talk of this test."""


def exchanges(count: int, reply: str = f"I see. {PADDING}", named: str = "talk") -> Callable[[Memory], Any]:
    """Talk as a library user would; what is due is done behind each reply."""

    async def act(memory: Memory) -> None:
        SHOWN.clear()

        def respond(context: Context) -> str:
            SHOWN.append(context)
            return reply

        for number in range(count):
            await memory.exchange(KATE, f"FACT-{number} {PADDING}", respond, session=named)
            await memory.settle()

    return act


@pytest.fixture
def talked(run: Run, folder: Path, prepare: Prepare) -> Path:
    """A data folder with a talk of 12 exchanges, folded twice by the model that needs no key."""

    def make() -> None:
        run("init")
        remember(folder, exchanges(12))

    return prepare("talked", make)


@pytest.fixture
def unfolded(run: Run, folder: Path, prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a talk of 12 exchanges, not folded yet."""
    monkeypatch.setenv("AFTERGLOW_COMPACTION__INTERVAL", "0")

    def make() -> None:
        run("init")
        remember(folder, exchanges(12))

    return prepare("unfolded", make)


# context


@pytest.mark.spec("CTX-7", "DOOR-2")
def test_the_context_is_shown_part_by_part_then_message_by_message(run: Run, talked: Path) -> None:
    text = run("context", "talk").stdout
    assert "Turns 1 to 14 are folded into 2 blocks; turns 15 to 24 stand word for word." in text
    for part in ("block 1 (level 0)", "block 2 (level 0)", "around the record", "tail"):
        assert part in text
    data = asked(run, "context", "talk")
    assert sum(part["tokens"] for part in data["portions"]) == data["tokens"]
    assert text.startswith(f"{data['tokens']:,} of 8,000 tokens in 11 messages")
    assert data["limit_tokens"] == 8000
    assert "[Session summary" in text and "FACT-11" in text
    assert "`afterglow expand talk 2`" in run("context", "talk").stderr


@pytest.mark.spec("CTX-7")
def test_what_the_model_saw_at_a_turn_is_what_it_was_shown_then(run: Run, begun: Path) -> None:
    remember(begun, exchanges(12))
    assert len(SHOWN) == 12
    for shown in SHOWN:
        data = asked(run, "context", "talk", "--at", str(shown.at))
        assert [each["text"] for each in data["messages"]] == [each.text for each in shown.messages]
        assert data["tokens"] == shown.tokens
    assert "When turn 9 of 24 was the newest" in run("context", "talk", "--at", "9").stdout


@pytest.mark.spec("CTX-7", "CTX-1")
def test_explain_says_how_each_block_came_about_and_when_it_folds_next(run: Run, talked: Path) -> None:
    text = run("context", "talk", "--explain").stdout
    for words in ("turns 1–4, 2026-03-02 12:00", "interval: enough exchanges were over", "offline, without a prompt"):
        assert words in text
    assert "exchanges  2 since the last compaction, of 5" in text
    assert "nothing is to be folded now" in text and "nobody had to wait" in text and "idle" in text
    explained = asked(run, "context", "talk", "--explain")["explained"]
    (first, second) = explained["blocks"]
    assert (first["first_seq"], first["last_seq"], second["first_seq"], second["last_seq"]) == (1, 4, 5, 14)
    assert {"level", "children", "input_hash", "prompt", "model", "input_tokens", "output_tokens", "reason"} <= set(
        first
    )
    assert explained["decision"] is None and explained["session"]["folded"]["waits"] == 0


@pytest.mark.spec("CTX-13")
def test_explain_counts_what_a_block_lost_and_names_the_first(run: Run, unfolded: Path) -> None:
    paths = " ".join(f"/srv/photos/{number}/scan-{number}.jpg" for number in range(200))

    async def act(memory: Memory) -> None:
        await memory.exchange(KATE, f"Sort these: {paths}", lambda context: "I do.", session="talk")

    remember(unfolded, act)
    remember(unfolded, exchanges(4))
    run("compact", "talk")
    blocks = asked(run, "context", "talk", "--explain")["explained"]["blocks"]
    block = max(blocks, key=lambda each: each["lost_count"])
    assert block["lost_count"] > 5
    shown = " ".join(run("context", "talk", "--explain").stdout.split())
    assert f"lost {block['lost_count']:,} identifiers: {', '.join(block['lost'][:5])}, …" in shown


def test_explain_speaks_of_then_with_at_and_leaves_it_out_without_explain(run: Run, talked: Path) -> None:
    assert len(asked(run, "context", "talk", "--explain", "--at", "12")["explained"]["blocks"]) == 1
    assert "explained" not in asked(run, "context", "talk")


@pytest.mark.spec("CTX-1")
def test_a_system_prompt_that_alone_is_over_the_limit_is_told_in_a_sentence(run: Run, begun: Path) -> None:

    async def act(memory: Memory) -> None:
        reply = Reply(text="Yes.", usage={"input_tokens": 9000, "output_tokens": 2})
        await memory.exchange(KATE, "Hello?", lambda context: reply, session="talk")

    remember(begun, act)
    text = " ".join(run("context", "talk", "--explain").stdout.split())
    assert "The system prompt and the tools alone take more than context.context_limit_tokens" in text
    assert "of system prompt and tools)" in text


@pytest.mark.spec("CTX-1")
def test_explain_says_what_is_due_and_what_failed(run: Run, unfolded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_COMPACTION__INTERVAL", "5")
    answering(monkeypatch, [scripted.RATE_LIMITED])
    run("compact", "talk", code=1)
    text = " ".join(run("context", "talk", "--explain").stdout.split())
    assert "exchanges 12 since it began, of 5" in text
    assert "decision fold: enough exchanges were over" in text
    assert "context (manual) is waiting, ready" in text and "after 1 try: ModelBusy: scripted cannot answer now" in text


def test_a_model_that_cannot_be_had_spoils_no_look_at_the_context(
    run: Run, talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_COMPACTION__MODEL", "nonsense")
    assert "FACT-11" in run("context", "talk").stdout
    assert "the model 'nonsense' is of no provider" in run("context", "talk", "--explain").stdout
    assert "use one of" in run("compact", "talk", code=1).stderr


def test_a_session_without_turns_has_an_empty_context(run: Run, begun: Path) -> None:
    remember(begun, lambda memory: memory.open_session(KATE, "new"))
    assert run("context", "new", "--explain").stdout.startswith("0 of 8,000 tokens in 0 messages")
    assert run("compact", "new").stdout == "Nothing was folded: the session has no turns yet.\n"


def test_it_all_fits_into_80_columns(run: Run, talked: Path) -> None:
    declare(talked, **{"a-source-with-a-rather-long-name-of-its-own": ["true", "x" * 90]})
    for call in ("context talk --explain", "compact talk", "expand talk 1", "sources", "sources check"):
        lines = run(*call.split()).stdout.splitlines()
        assert max(cell_len(line) for line in lines) <= 80, call


def test_a_terminal_without_unicode_gets_a_bar_it_can_show(talked: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert "##.." in execute("context", "talk", env=ascii_only).stdout
    assert "██░░" in execute("context", "talk").stdout


# compact


@pytest.mark.spec("CTX-1", "CTX-2", "P2")
def test_compact_folds_now_and_says_what_it_did(run: Run, unfolded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = answering(monkeypatch, summary, usd_per_million_tokens=2.0)
    before = run("export").stdout
    result = run("compact", "talk")
    assert "Folded 18 turns into 1 block" in result.stdout
    assert "By scripted, $0.00" in result.stdout
    assert "scripted, prompt fold-" in run("context", "talk", "--explain").stdout
    assert result.stderr == ""
    data = asked(run, "context", "talk")
    assert f"→ {data['tokens']:,} tokens in the context" in result.stdout
    assert [part["last_seq"] for part in data["portions"] if part["block"]] == [18]
    assert turn_lines(run("export").stdout) == turn_lines(before), "no turn is changed"
    assert run("compact", "talk").stdout == "Nothing was folded: no turn has come since it was last folded.\n"
    assert len(model.requests) == 1


def turn_lines(export: str) -> list[str]:
    return [line for line in export.splitlines() if line.startswith('{"turn"')]


def test_compact_answers_programs_with_all_there_is(run: Run, unfolded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_COMPACTION__FANOUT", "2")
    answering(monkeypatch, summary)
    data = asked(run, "compact", "talk")
    assert (data["folded_turns"], data["why_not"], data["cost_usd"]) == (18, None, None)
    assert data["tokens_after"] < data["tokens_before"]
    assert [block["reason"] for block in data["blocks"]] == ["manual"]
    remember(unfolded, exchanges(6))
    again = asked(run, "compact", "talk")
    assert [(block["level"], block["reason"]) for block in again["blocks"]] == [(0, "manual"), (1, "merge")]
    remember(unfolded, exchanges(12))
    assert "Folded 24 turns into 1 block" in run("compact", "talk").stdout
    assert asked(run, "compact", "talk")["why_not"]


@pytest.mark.spec("P6")
def test_a_failing_model_is_told_in_a_sentence_and_loses_nothing(
    run: Run, unfolded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, [scripted.RATE_LIMITED])
    result = run("compact", "talk", code=1)
    assert result.stderr.startswith("Error: nothing was folded: scripted cannot answer now (HTTP 429)")
    assert "Nothing is lost" in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 3, "the warning in the log is not shown as well"
    assert "scripted cannot answer now" in (unfolded / "afterglow.log").read_text()
    assert "scripted cannot answer now" in run("work").stdout.replace("\n", " ")
    answering(monkeypatch, [scripted.WRONG_KEY])
    error = json.loads(run("compact", "talk", "--json", code=1).stderr)["error"]
    assert error["kind"] == "ModelError" and "does not accept the key" in error["message"], "it was tried at once"
    answering(monkeypatch, summary)
    assert "Folded 18 turns" in run("compact", "talk").stdout, "a person need not wait for the back-off"
    assert "context" not in run("work").stdout


def test_what_was_done_before_a_failure_is_told_with_it(
    run: Run, unfolded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_COMPACTION__FANOUT", "2")
    answering(monkeypatch, summary)
    run("compact", "talk")
    remember(unfolded, exchanges(6))
    answering(monkeypatch, ["They went on to talk about FACT-3.", scripted.SERVER_ERROR])
    assert "1 block was made, and the rest was not" in run("compact", "talk", code=1).stderr


def test_a_session_that_another_process_folds_is_left_to_it(run: Run, unfolded: Path) -> None:
    async def claim() -> None:
        async with afterglow.open(unfolded) as memory:
            due = afterglow.work.Due(kind="context", at=memory.store.clock.now(), reason="manual", subject="talk")
            await memory.store.mark_due(KATE.owner, due)
            claimed = await memory.store.claim_one(
                KATE.owner, "context", "talk", holder="elsewhere:7", limits=WorkLimits()
            )
            assert claimed is not None

    asyncio.run(claim())
    assert "elsewhere:7 is folding it at this moment" in run("compact", "talk").stdout


@pytest.mark.spec("SRC-4")
def test_compact_names_the_sources_that_answered_and_those_that_did_not(run: Run, unfolded: Path) -> None:
    declare(unfolded, weather=["echo", "Rain."], broken=["false"])
    result = run("compact", "talk")
    assert "Asked: weather." in result.stdout
    assert "did not answer: broken" in result.stderr
    data = asked(run, "context", "talk", "--explain")
    assert [each["source"] for each in data["explained"]["reports"]] == ["weather"]
    declare(unfolded, weather=["false"])
    remember(unfolded, exchanges(6))
    assert "did not answer: weather" in run("compact", "talk").stderr
    assert "asked again in vain" in run("context", "talk", "--explain").stdout


def test_compact_shows_a_sign_of_life_in_a_terminal(unfolded: Path) -> None:
    shown = in_a_terminal("compact", "talk")
    assert "folding talk with offline …" in shown
    assert "Folded 18 turns into 1 block" in shown


def test_it_says_why_there_is_nothing_to_fold(subtests: pytest.Subtests) -> None:
    pair = ("user", "assistant")
    for log, folded, said in (
        ([], Folded(), "has no turns yet"),
        (turns(*pair), Folded(), "it has 2 turns, and compaction.keep_recent keeps the newest 4"),
        (turns(*pair * 5), Folded(to_seq=6, turns=10), "no turn has come since"),
        (turns(*pair * 5), Folded(to_seq=6, turns=8), "the 4 turns that are in no block yet are among the newest 4"),
        (turns(*pair * 5, tokens=3), Folded(), "so short that no summary would be shorter"),
        (turns("user", *["tool"] * 9), Folded(), "belong to one exchange with them"),
        (turns(*pair * 5), Folded(), "run this again"),
    ):
        with subtests.test(said=said):
            tail = [turn for turn in log if turn.seq > folded.to_seq]
            assert said in why_not(session(log, folded=folded), tail, Limits(keep_recent=4))


# expand


@pytest.mark.spec("CTX-7")
def test_a_block_is_expanded_to_its_turns_and_to_its_blocks(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_COMPACTION__FANOUT", "2")
    run("init")
    remember(folder, exchanges(12, reply=f"I see. {EVIL} {PADDING}"))
    text = run("expand", "talk", "3").stdout
    assert text.startswith("block 3 (level 1)  turns 1–14, ")
    assert not RAW.search(text) and "␛[31mred" in text
    data = asked(run, "expand", "talk", "3")
    assert [each["seq"] for each in data["items"]] == list(range(1, 15)), "the turns, though blocks lie between"
    assert data["items"][0]["text"].startswith("FACT-0") and data["block"]["children"] == [1, 2]
    children = asked(run, "expand", "talk", "3", "--blocks")["items"]
    assert [(each["number"], each["level"], each["first_seq"]) for each in children] == [(1, 0, 1), (2, 0, 5)]
    assert "block 2 (level 0)" in run("expand", "talk", "3", "--blocks").stdout
    assert "was made from turns" in run("expand", "talk", "1", "--blocks", code=2).stderr


@pytest.mark.spec("CTX-6", "LOG-6")
def test_a_turn_that_is_put_away_is_expanded_whole(run: Run, begun: Path) -> None:
    giant = "start " + "x " * 50_000 + "end"
    remember(begun, lambda memory: memory.append(KATE, "user", giant, session="talk"))
    assert "afterglow expand talk --turn N" in run("context", "talk").stderr.replace("\n", " ")
    assert run("expand", "talk", "--turn", "1").stdout == giant + "\n"


# sources


def declare(folder: Path, **commands: list[str]) -> None:
    """Declare these commands as sources, and have every agent ask them."""
    lines = [f'[sources.{name}]\nkind = "command"\ncommand = {json.dumps(line)}' for name, line in commands.items()]
    lines += [f'[[compaction.context_sources]]\nsource = "{name}"\nprompt = "About {name}?"' for name in commands]
    (folder / "afterglow.toml").write_text("\n".join(lines) + "\n")


ECHO = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"]
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.mark.spec("SRC-6")
def test_sources_are_listed_with_who_asks_them_and_no_password(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init")
    assert "No source is declared" in run("sources").stderr
    (folder / "afterglow.toml").write_text(
        """
        [sources.calendar-hand]
        kind = "calendar"
        address = "https://ana@example.org/cal.ics?passphrase=hunter2"
        [sources.mail]
        kind = "mail"
        address = "maildir:/tmp/mail"
        label = "Post"
        [sources.spare]
        kind = "command"
        command = ["khal", "list it"]
        [[compaction.context_sources]]
        hand = "calendar-hand"
        [[agents]]
        id = "kate"
        compaction = {context_sources = [{source = "mail"}]}
        """
    )
    rows = {each["name"]: each for each in asked(run, "sources")["items"]}
    assert rows["calendar-hand"]["asked_for"] == "everybody but kate"
    assert (rows["mail"]["asked_for"], rows["mail"]["label"]) == ("kate", "Post")
    assert (rows["spare"]["asked_for"], rows["spare"]["address"]) == ("nobody", "khal 'list it'")
    assert rows["calendar-hand"]["label"] == "Calendar"
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("sources").stdout
    assert "hunter2" not in shown + json.dumps(rows) and "example.org" in shown


@pytest.mark.spec("SRC-1", "SRC-2", "SRC-6")
def test_check_asks_for_the_window_with_the_prompt_of_the_settings(
    run: Run, talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_ZONE", "Europe/Berlin")
    declare(talked, echo=ECHO)

    def question(*args: str) -> dict[str, Any]:
        return json.loads(asked(run, "sources", "check", *args)["items"][0]["text"])

    told = question("--from", "2026-03-02T09:15", "--to", "2026-03-02T14:30:00Z")
    assert (told["from"], told["to"]) == ("2026-03-02T09:15:00+01:00", "2026-03-02T15:30:00+01:00")
    assert told["prompt"] == "About echo?" and told["request"].endswith("+01:00. About echo?")
    assert question("echo", "--prompt", "What else?")["prompt"] == "What else?"
    day = question()
    assert (datetime.fromisoformat(day["to"]) - datetime.fromisoformat(day["from"])).days == 1
    assert day["to"] == day["now"]


@pytest.mark.spec("SRC-4")
def test_check_shows_every_answer_and_fails_where_one_failed(run: Run, talked: Path) -> None:
    declare(talked, weather=["echo", EVIL], broken=[sys.executable, "-c", "raise SystemExit('no key')"], late=SLEEP)
    text = (talked / "afterglow.toml").read_text()
    (talked / "afterglow.toml").write_text(text + "deadline_seconds = 0.5\n")
    result = execute("sources", "check")
    assert result.returncode == 1
    assert "✓ weather  Weather, " in result.stdout and not RAW.search(result.stdout)
    assert "ended with status 1: no key" in result.stdout
    assert "✗ late  Late, " in result.stdout and "it did not answer within 0.5 seconds" in result.stdout
    assert result.stderr == ""
    assert "✓ weather" in run("sources", "check", "weather").stdout
    data = json.loads(execute("sources", "check", "--json").stdout)
    assert [bool(each["error"]) for each in data["items"]] == [False, True, True]
    assert "declared are: weather, broken, late" in run("sources", "check", "nope", code=2).stderr


def test_a_source_that_breaks_is_told_in_a_sentence_and_its_traceback_logged(talked: Path) -> None:
    (talked / "afterglow.toml").write_text('[sources.odd]\nkind = "agent"\naddress = "json:loads"\n')
    result = execute("sources", "check")
    assert (result.returncode, result.stderr) == (1, "")
    assert "✗ odd" in result.stdout and "Traceback" not in result.stdout
    assert "Traceback" in (talked / "afterglow.log").read_text()


def test_a_source_that_no_agent_asks_can_be_checked_too(run: Run, talked: Path) -> None:
    (talked / "afterglow.toml").write_text('[sources.spare]\nkind = "command"\ncommand = ["echo", "Here."]\n')
    assert "Here." in run("sources", "check").stdout


def test_a_window_that_is_none_is_refused(run: Run, talked: Path, subtests: pytest.Subtests) -> None:
    declare(talked, echo=ECHO)
    for given, said in (
        (["--from", "yesterday"], "'yesterday' is no time; give a time such as"),
        (["--from", "2026-02-30"], "is no time"),
        (["--from", ""], "is no time"),
        (["--from", "999999w"], "is no time"),
        (["--to", "\x1b[31m"], "is no time"),
        (["--from", "1h", "--to", "2h"], "the window ends before it begins"),
        (["--from", "now"], "the window ends before it begins"),
    ):
        with subtests.test(given=given):
            assert said in run("sources", "check", *given, code=2).stderr


def test_moments_are_read_as_people_type_them() -> None:
    meant = {
        "now": "2026-03-02T13:00:00+01:00",
        "30m": "2026-03-02T12:30:00+01:00",
        "2h": "2026-03-02T11:00:00+01:00",
        "1d": "2026-03-01T13:00:00+01:00",
        "1w": "2026-02-23T13:00:00+01:00",
        "2026-07-01": "2026-07-01T00:00:00+02:00",
        " 2026-03-02T09:15 ": "2026-03-02T09:15:00+01:00",
        "2026-03-02T09:15:00-05:00": "2026-03-02T15:15:00+01:00",
        "2026-03-02T09:15Z": "2026-03-02T10:15:00+01:00",
    }
    assert {text: moment(text, NOON, ZoneInfo("Europe/Berlin")).isoformat() for text in meant} == meant


def test_what_is_no_moment_is_refused(subtests: pytest.Subtests) -> None:
    for text in ("", "1y", "-2h", "2 h", "9" * 99, "12:30", "²h", "now!"):
        with subtests.test(text=text), pytest.raises(BadInput, match="is no time"):
            moment(text, NOON, ZoneInfo("America/Los_Angeles"))


def test_a_moment_that_some_zone_cannot_write_is_refused(subtests: pytest.Subtests) -> None:
    for text in ("0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59Z"):
        with subtests.test(text=text), pytest.raises(BadInput, match="the years 2 to 9998"):
            moment(text, NOON, ZoneInfo("America/Los_Angeles"))


# status and doctor


@pytest.mark.spec("SAFE-4")
def test_status_names_the_model_and_what_today_has_cost(run: Run, talked: Path) -> None:
    async def spend(memory: Memory) -> None:
        call = Call(day=day_of(SystemClock().now(), UTC), model="m", purpose="fold")
        most = Amount(tokens=100, micro_usd=9)
        reserved = await memory.store.reserve_spend(call, most, Amount(tokens=10**6, micro_usd=10**6))
        assert isinstance(reserved, Reservation)
        await memory.store.settle_spend(reserved, Usage(input_tokens=1200, output_tokens=34), 12_300)

    remember(talked, spend)
    text = run("status").stdout
    assert "offline" in text and "no key of a provider is in the environment" in text
    assert "$0.0123 of $5, 1,234 of 5,000,000 tokens, in 1 call" in " ".join(text.split())
    found = asked(run, "status")
    assert found["compaction"] == {
        "model": "offline",
        "from": "no key of a provider is in the environment",
        "error": None,
    }
    assert (found["spend"]["usd"], found["spend"]["ceiling_usd"]) == (0.0123, 5.0)


@pytest.mark.spec("CTX-1")
@pytest.mark.parametrize(
    ("environ", "name", "come_by"),
    [
        ({}, "offline", "no key of a provider is in the environment"),
        ({"GEMINI_API_KEY": "k"}, "google_genai:gemini-2.5-flash", "GEMINI_API_KEY in the environment"),
        ({"OPENAI_API_KEY": "k"}, "openai:gpt-4.1-mini", "OPENAI_API_KEY in the environment"),
        (
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"},
            "openai:m",
            "OPENAI_BASE_URL in the environment",
        ),
        ({"OLLAMA_HOST": "x", "OLLAMA_MODEL": "m"}, "ollama:m", "OLLAMA_HOST and OLLAMA_MODEL in the environment"),
        ({"AFTERGLOW_COMPACTION__MODEL": "offline"}, "offline", "compaction.model, environment AFTERGLOW_COMPACTION"),
        ({"AFTERGLOW_COMPACTION__MODEL": "gpt-4.1"}, None, "compaction.model, environment AFTERGLOW_COMPACTION"),
    ],
)
def test_the_model_and_where_it_comes_from(
    environ: dict[str, str], name: str | None, come_by: str, folder: Path
) -> None:
    loaded = load(environ={**environ, "AFTERGLOW_DATA_DIR": str(folder)})
    (chosen,) = models.chosen_models(loaded, environ)
    assert chosen.name == name
    assert chosen.come_by.startswith(come_by)
    assert (name is None) == ("needs a key" in (chosen.error or ""))


@pytest.mark.spec("CTX-1", "DOOR-8")
def test_doctor_finds_models_and_sources_that_cannot_be_had(
    run: Run, talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "✓ model" in run("doctor").stdout
    (talked / "afterglow.toml").write_text(
        """
        [compaction]
        model = "nonsense"
        [sources.mail]
        kind = "mail"
        address = "imaps://ana@mail.example.org/INBOX"
        password_env = "NOT_THERE"
        [[agents]]
        id = "kate"
        compaction = {model = "offline"}
        """
    )
    found = {each["name"]: each for each in json.loads(run("doctor", "--json", code=1).stdout)["items"]}
    assert found["model"]["level"] == "fault" and "'nonsense'" in found["model"]["text"]
    assert str(talked / "afterglow.toml") in found["model"]["mend"]
    assert found["model of kate"]["level"] == "fine"
    assert found["source"]["level"] == "warning" and "NOT_THERE" in found["source"]["text"]
    monkeypatch.setenv("NOT_THERE", "x")
    assert levels(run("doctor", "--json", code=1))["source"] == "fine"


def test_doctor_warns_of_a_key_whose_package_is_missing(
    run: Run, talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing: Callable[[str], Any] = lambda name: None if name == "langchain_anthropic" else name  # noqa: E731
    monkeypatch.setattr(models, "find_spec", missing)
    monkeypatch.setattr("afterglow.model.choice.find_spec", missing)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    shown = " ".join(run("doctor").stdout.split())
    assert "ANTHROPIC_API_KEY is set, but the package langchain-anthropic is missing" in shown
    assert "pip install '.[anthropic]'" in shown
    loaded = load(environ={"AFTERGLOW_COMPACTION__MODEL": "offline", "AFTERGLOW_DATA_DIR": str(talked)})
    assert [each.mark for each in doctor.models(loaded, os.environ)] == ["✓"], "a key that is not wanted is no matter"


def test_a_source_whose_package_is_missing_is_told(run: Run, talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (talked / "afterglow.toml").write_text('[sources.cal]\nkind = "calendar"\naddress = "/tmp/cal.ics"\n')

    def make_now(*_: Any, **__: Any) -> Any:
        raise afterglow.MissingPackage("a calendar needs the package icalendar; install it with: pip install x")

    monkeypatch.setattr("afterglow.sources.factory.make_now", make_now)
    shown: Result = run("doctor")
    assert "! source" in shown.stdout and "cal: a calendar needs the package icalendar" in shown.stdout
