"""What a person meets who tries the command line for the first time: slips of the hand, odd states, hints to be pasted."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from afterglow import Memory, Settings
from afterglow.cli.forgotten import SHOWN
from afterglow.errors import BadInput
from afterglow.model import scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.work import Due, Limits
from afterglow.worker import Worker
from tests.kit.command_line import Prepare, Run, asked, findings, one_line, really, summary_form
from tests.kit.command_line import facts_of as items
from tests.kit.loops import for_each
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-2")


@pytest.fixture
def told(run: Run, folder: Path, prepare: Prepare) -> Path:
    """A data folder in which ana said what she likes and what a hall costs, and it was read for facts."""

    async def say(memory: Memory) -> None:
        await memory.append(KATE, "user", "I prefer aisle seats on flights. My dentist is Dr Weber.", session="talk")
        await memory.append(KATE, "user", "We decided to rent the hall for 500 EUR.", session="talk")

    def make() -> None:
        run("init")
        really(folder, say)
        run("facts", "extract")

    return prepare("told and read", make)


def settings(folder: Path, text: str) -> None:
    (folder / "afterglow.toml").write_text(text)


# whose memory


def test_of_several_owners_the_one_who_talks_in_this_terminal_is_meant(
    run: Run, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ben")
    here = replace(KATE, agent="assistant", channel="terminal", sender="ben")

    async def say(memory: Memory) -> None:
        await memory.append(OTHER, "user", "I like salmon.")

    really(told, say)
    assert "say whose with --owner" in run("search", "dentist", code=2).stderr

    async def talk(memory: Memory) -> None:
        await memory.append(here, "user", "My dentist is Dr Brandt.")

    really(told, talk)
    assert "Brandt" in run("search", "dentist").stdout
    assert asked(run, "goals", "record", "parcel", "done")["owner"] == here.owner


# facts


@pytest.mark.spec("FACT-11")
def test_what_is_approved_or_rejected_twice_is_said_to_be_so_already(run: Run, told: Path) -> None:
    (waiting,) = items(run, "--status", "pending")
    id = waiting["id"]
    run("facts", "approve", id)
    (before,) = (each for each in items(run) if each["id"] == id)
    again = run("facts", "approve", id)
    assert again.stdout.startswith(f"{id} was active already; nothing was changed: We decided")
    assert asked(run, "facts", "approve", id)["changed"] is False
    assert [each for each in items(run) if each["id"] == id] == [before]
    assert "only a pending one can be rejected" in run("facts", "reject", id, code=2).stderr
    run("facts", "forget", id, "--yes")
    assert run("facts", "reject", id).stdout == f"{id} was forgotten already; nothing was changed.\n"
    assert run("facts", "forget", id, "--yes").stdout == f"{id} was forgotten already.\n"
    assert "only a pending one can be approved" in run("facts", "approve", id, code=2).stderr


@pytest.mark.spec("SAFE-3")
def test_a_fact_is_forgotten_only_if_that_is_meant_and_its_bytes_are_searched(run: Run, told: Path) -> None:
    fact = asked(run, "facts", "add", "Ana keeps a quokka called Bertram")["fact"]["id"]
    for call in (("facts", "forget"), ("forget", "fact")):
        assert f"this forgets fact {fact} for ever; say --yes" in run(*call, fact, code=2).stderr
    done = run("facts", "forget", fact, "--yes", "--verify").stdout
    assert done.startswith(f"Forgotten: {fact}\nSearched the rows of every table, the database, ")
    assert one_line(done).endswith(": nothing of it was found.")
    assert not [path for path in told.rglob("*") if path.is_file() and b"quokka" in path.read_bytes()]


@pytest.mark.spec("FACT-11")
def test_the_facts_of_a_session_that_is_not_there_are_not_an_empty_list(run: Run, told: Path) -> None:
    assert "there is no session 'nosuch'" in run("facts", "list", "--session", "nosuch", code=2).stderr
    assert len(items(run, "--session", "talk")) == 2


@pytest.mark.spec("LOG-3")
def test_who_said_it_is_told_in_words(run: Run, told: Path) -> None:
    (page,) = told.rglob("facts/2*.json")
    document = json.loads(page.read_text())
    document["facts"].append({"content": "The cat is called Miez."})
    page.write_text(json.dumps(document))
    run("facts", "rebuild")
    by_file, by_owner = items(run, "--status", "pending")[0]["id"], items(run, "--type", "person")[0]["id"]
    assert "said by the owner" in one_line(run("facts", "show", by_owner).stdout)
    shown = one_line(run("facts", "show", by_file).stdout)
    assert "said by somebody else's text: a tool's answer, a page, a mail, a file" in shown and "external" not in shown


@pytest.mark.spec("FACT-6")
def test_a_rebuild_says_what_it_took_in_and_each_trouble_once(run: Run, told: Path) -> None:
    (page,) = told.rglob("facts/2*.json")
    document = json.loads(page.read_text())
    document["facts"].append({"content": "The cat is called Miez."})
    page.write_text(json.dumps(document))
    (page.parent / "undated.json").write_text("broken")
    done = run("facts", "rebuild", code=1)
    (taken,) = (each for each in items(run, "--status", "pending") if "Miez" in each["content"])
    assert f"Taken in as pending: 1\n  {taken['id']}  The cat is called Miez.\n" in done.stdout
    assert one_line(done.stderr).count("undated.json") == 1
    assert "is left as it is: it is not JSON" in one_line(done.stderr)
    assert "`afterglow facts list --status pending`" in one_line(done.stderr)
    assert json.loads(run("facts", "rebuild", "--json", code=1).stdout)["taken"] == []
    assert "undated.json" not in run("facts", "approve", taken["id"]).stderr, "what is logged stays in the log"


# forgetting


@pytest.mark.spec("SAFE-3")
def test_the_proof_is_short_and_names_every_place_only_if_asked(run: Run, told: Path) -> None:
    for number in range(5):
        really(
            told, lambda memory, n=number: memory.append(replace(OTHER, sender=f"s{n}"), "user", "The same sentence.")
        )
    really(told, lambda memory: memory.append(KATE, "user", "The same sentence.", session="talk"))
    shown = run("forget", "turn", "talk", "2", "--yes", "--verify").stdout
    assert "3 memory files, 2 other files: nothing" in one_line(shown) and str(told) not in shown
    shown = run("forget", "turn", "talk", "3", "--yes", "--verify").stdout
    assert shown.count("The same words were said elsewhere: ") == SHOWN
    assert "The same words were said in 2 more places; -v names them all." in one_line(shown)
    shown = run("forget", "turn", "talk", "1", "--yes", "--verify", "-v").stdout
    assert str(told / "afterglow.log") in shown.replace("\n", "")


# doctor


@pytest.mark.spec("FACT-6")
def test_the_doctor_shows_memory_files_that_cannot_be_read(run: Run, told: Path) -> None:
    (fine,) = findings(run, "memory files")
    assert fine["level"] == "fine"
    (page,) = told.rglob("facts/2*.json")
    page.write_text("broken")
    run("facts", "rebuild", code=1)
    (trouble,) = findings(run, "memory files")
    assert trouble["level"] == "warning" and f"{page.name} of {KATE.owner} is left as it is" in trouble["text"]
    page.unlink()
    assert "`afterglow facts rebuild`" in trouble["mend"]
    run("facts", "rebuild")
    assert findings(run, "memory files") == [fine]


def test_the_doctor_checks_every_model_that_the_settings_name(run: Run, told: Path, subtests: pytest.Subtests) -> None:
    for text, name, words in (
        ('[summaries]\nmodel = "nonsense"', "summaries.model", "is of no provider in particular"),
        ('[summaries]\nmodel = "gpt-4.1-mini"', "summaries.model", "OPENAI_API_KEY"),
        ('[facts]\nmodel = "claude-haiku-4-5"', "facts.model", "ANTHROPIC_API_KEY"),
        ('[[agents]]\nid = "kate"\n[agents.facts]\nmodel = "nosuch:x"', "facts.model of kate", "provider"),
        ('[compaction]\nbase_url = "http://127.0.0.1:9/v1"', "model", "no model is named"),
        ('[search]\nembedder = "openai:text-embedding-3-small"', "search.embedder", "OPENAI_API_KEY"),
        ('[search]\nembedder = "nonsense"', "search.embedder", "is no embedder"),
    ):
        with subtests.test(text=text):
            settings(told, text)
            (found,) = findings(run, name, code=1)
            assert found["level"] == "fault" and words in found["text"] and found["mend"]


def test_the_doctor_says_where_each_model_comes_from(run: Run, told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    settings(told, '[summaries]\nmodel = "gpt-4.1-mini"\n[search]\nembedder = "none"')
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    (found,) = findings(run, "summaries.model")
    assert found["text"] == f"openai:gpt-4.1-mini (summaries.model, {told / 'afterglow.toml'})"
    assert findings(run, "facts.model") == [], "it is the model of compaction"
    assert findings(run, "search.embedder")[0]["text"] == "none: search is by words alone"
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:11434")
    wrong = findings(run, "model", code=1)[-1]
    assert (wrong["level"], wrong["text"]) == ("fault", "OPENAI_BASE_URL in the environment is no such address")


@pytest.mark.spec("SRC-6")
def test_the_doctor_looks_for_what_each_source_needs(run: Run, told: Path, subtests: pytest.Subtests) -> None:
    for text, words in (
        ('kind = "calendar"\naddress = "nosuch.ics"', "there is nothing at "),
        ('kind = "mail"\naddress = "maildir:nosuch"', "there is nothing at "),
        ('kind = "command"\ncommand = ["nosuch-program"]', "there is no program nosuch-program"),
        ('kind = "agent"\naddress = "nosuch_package.module:report"', "nosuch_package.module:report is not installed"),
        ('kind = "http"\naddress = "https://a.example"\npassword_env = "NOSUCH"', "NOSUCH"),
    ):
        with subtests.test(text=text):
            settings(told, f"[sources.one]\n{text}")
            (found,) = findings(run, "source")
            assert found["level"] == "warning" and found["text"].startswith("one: ") and words in found["text"]


# hints


def test_a_hint_can_be_pasted(run: Run, told: Path) -> None:
    chosen = ["--data-dir", str(told), "--owner", KATE.owner]
    shown = one_line(run("facts", "list", *chosen).stderr).replace("- ", "-")
    hint = shown.partition("`afterglow ")[2].partition("`")[0]
    assert shlex.split(hint) == ["--data-dir", str(told), "facts", "list", "--status", "pending", "--owner", KATE.owner]
    assert "500 EUR" in run(*shlex.split(hint)).stdout
    (waiting,) = items(run, "--status", "pending")
    shown = one_line(run("facts", "show", waiting["id"], "--owner", KATE.owner).stderr)
    assert f"`afterglow facts approve {waiting['id']} --owner {KATE.owner}` believes it" in shown
    ended = one_line(run("sunset", "talk", "--owner", KATE.owner).stdout)
    assert f"`afterglow summarize talk --owner {KATE.owner}`" in ended


@pytest.mark.spec("SUM-10")
def test_work_of_several_owners_is_listed_with_whose_it_is(run: Run, told: Path) -> None:
    async def ask(memory: Memory, owner: str) -> None:
        now = memory.store.clock.now()
        await memory.store.mark_due(owner, Due(kind="facts", at=now, reason="manual", subject="talk"))
        claim = await memory.store.claim_one(owner, "facts", "talk", holder="me", limits=Limits(), anyway=True)
        assert claim is not None
        await memory.store.give_back(claim, "ModelBusy: no", wait_seconds=600, park=True)

    really(told, lambda memory: ask(memory, KATE.owner))
    assert "owner" not in run("work", "--kind", "facts").stdout
    really(told, lambda memory: memory.append(OTHER, "user", "Hello.", session="talk"))
    really(told, lambda memory: ask(memory, OTHER.owner))
    shown = run("work", "--kind", "facts").stdout
    assert shown.split()[:3] == ["kind", "owner", "about"] and KATE.owner in shown and OTHER.owner in shown


@pytest.mark.spec("SAFE-4", "P6")
def test_work_that_is_tried_again_by_hand_need_not_wait_for_the_breaker(run: Run, told: Path) -> None:
    """The server's breaker is open, and the operator, who has put the key right, is in another process."""
    model = ScriptedModel([scripted.WRONG_KEY, scripted.WRONG_KEY, summary_form, summary_form])
    chosen = Settings.model_validate({"data_dir": str(told), "spend": {"breaker_failures": 1, "breaker_seconds": 3600}})

    async def serve(memory: Memory) -> None:
        server = Memory(memory.store, chosen, model=model, environ={}, folds=False)
        worker = Worker(memory.store, {"summary": server.acts["summary"]}, holder="server", limits=Limits())
        await memory.sunset(await memory.session("talk", owner=KATE.owner))
        await memory.append(OTHER, "user", "We decided to keep the boat, all in all.", session="other")
        calls = [len(model.requests)]
        for begin in (None, "other", "retry", "retry"):
            if begin == "other":
                await memory.sunset(await memory.session("other", owner=OTHER.owner))
            elif begin == "retry":
                await asyncio.to_thread(run, "work", "retry", "talk", "--kind", "summary")
            await worker.drain()
            calls.append(len(model.requests))
        assert calls == [0, 1, 1, 2, 2], (
            "a piece that is new waits, one that is wished for does not, but not all the time"
        )

    really(told, serve)
    (failed,) = asked(run, "work", "--kind", "summary", "--owner", KATE.owner)["items"]
    assert "is left alone for" in failed["last_error"]


# a folder that cannot be written


@pytest.mark.spec("DOOR-8")
@for_each("call", ["facts extract", "serve --port 0", "facts list", "init", "status", "facts rebuild"])
def test_a_data_folder_that_cannot_be_is_told_in_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("AFTERGLOW_DATA_DIR", str(tmp_path / "file" / "data"))
    error = run(*call.split(), code=1).stderr
    assert error.startswith("Error: ") and "InternalError" not in error and error.count(".\n") <= 1


@pytest.mark.spec("DOOR-8")
def test_a_log_that_cannot_be_written_stops_the_server_with_a_sentence_and_no_other_command(
    run: Run, told: Path
) -> None:
    (told / "afterglow.log").unlink(missing_ok=True)
    (told / "afterglow.log").mkdir()
    error = one_line(run("serve", "--port", "0", code=1).stderr)
    assert "cannot write the log at" in error and "server.log_to" in error
    assert "there is nothing new" in run("facts", "extract").stdout


@pytest.mark.spec("DOOR-8")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@for_each("call", ["facts extract", "serve --port 0", "facts add x", "status"])
def test_a_folder_without_the_right_to_write_is_told_in_one_sentence(run: Run, told: Path, call: str) -> None:
    for path in (told / "afterglow.db", told / "afterglow.log", told):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        error = one_line(run(*call.split(), code=1).stderr)
        assert "cannot write the" in error and "writable" in error
    finally:
        told.chmod(0o700)


# empty turns


@pytest.mark.spec("LOG-1")
@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_a_turn_that_says_nothing_is_refused_and_one_that_loses_all_is_kept(run: Run, told: Path, text: str) -> None:
    async def say(memory: Memory) -> None:
        with pytest.raises(BadInput, match="this turn is empty"):
            await memory.append(KATE, "user", text, session="talk")
        await memory.append(KATE, "assistant", text, session="talk", parts=[{"type": "tool_call", "id": "1"}])
        assert (await memory.append(KATE, "user", "<private>all of it</private>", session="talk")).text == ""

    really(told, say)
