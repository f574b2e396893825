"""The command line of facts: list, show with proof, search, add, edit, approve, reject, forget, extract, rebuild."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from afterglow import Memory
from tests.conftest import KATE, OTHER
from tests.doors.conftest import EVIL, Run
from tests.doors.test_cli_contexts import KEYS
from tests.doors.test_cli_summaries import really

pytestmark = pytest.mark.spec("FACT-11", "DOOR-2")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEYS, "OLLAMA_HOST", "OLLAMA_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def told(run: Run, folder: Path) -> Path:
    """A data folder in which ana said what she likes, what was decided, and what it costs."""
    run("init")

    async def say(memory: Memory) -> None:
        await memory.append(KATE, "user", "I prefer aisle seats on flights. My dentist is Dr Weber.")
        await memory.append(KATE, "assistant", "Noted.")
        await memory.append(KATE, "user", "We decided to rent the hall for 500 EUR.")

    really(folder, say)
    return folder


def items(run: Run, *more: str) -> list[dict[str, Any]]:
    return json.loads(run("facts", "list", "--json", *more).stdout)["items"]


def test_facts_are_read_listed_and_shown_with_their_proof(run: Run, told: Path) -> None:
    assert "`afterglow facts extract`" in run("facts").stderr
    assert run("facts", "extract").stdout == "1 session read: 3 new facts (1 pending).\n"
    assert run("facts", "extract").stdout == "Everything was read before; there is nothing new.\n"
    shown = run("facts")
    assert "I prefer aisle seats on" in shown.stdout and "500 EUR" not in shown.stdout
    assert "1 more waits for your approval" in shown.stderr
    (waiting,) = items(run, "--status", "pending")
    assert waiting["why"] == "it holds money"
    proof = run("facts", "show", waiting["id"]).stdout
    assert "Proof: turn 3" in proof and "user 3: We decided to rent the hall for 500 EUR." in proof
    data = json.loads(run("facts", "show", waiting["id"], "--json").stdout)
    assert [turn["seq"] for turn in data["proofs"][0]["turns"]] == [1, 2, 3]
    assert [each["content"] for each in items(run, "--type", "person")] == ["My dentist is Dr Weber."]
    assert "No fact fits" in run("facts", "list", "--type", "event").stderr


def test_the_owner_approves_rejects_edits_and_forgets(run: Run, told: Path) -> None:
    run("facts", "extract")
    (waiting,) = items(run, "--status", "pending")
    assert run("facts", "approve", waiting["id"]).stdout.startswith("Approved: ")
    assert "only a pending one can be rejected" in run("facts", "reject", waiting["id"], code=1).stderr
    added = json.loads(run("facts", "add", "I like green tea", "--type", "preference", "--json").stdout)["fact"]
    edited = json.loads(run("facts", "edit", added["id"], "I like black tea", "--json").stdout)["fact"]
    assert edited["supersedes"] == added["id"]
    assert run("facts", "forget", edited["id"], "--yes").stdout == f"Forgotten: {edited['id']}\n"
    assert "black tea" not in run("facts", "list", "--status", "all").stdout
    assert "(forgotten)" in run("facts", "show", edited["id"]).stdout


def test_facts_are_found_by_search_and_the_files_follow(run: Run, told: Path) -> None:
    run("facts", "extract")
    assert "I prefer aisle seats on flights." in run("facts", "search", "aisle", "seat").stdout
    hits = json.loads(run("search", "aisle", "--kind", "fact", "--json").stdout)["items"]
    assert [hit["kind"] for hit in hits] == ["fact"]
    (index,) = told.rglob("index.json")
    assert json.loads(index.read_text())["count"] == 3
    (fact,) = items(run, "--type", "preference")
    run("facts", "forget", fact["id"], "--yes")
    assert not any("aisle" in file.read_text() for file in told.rglob("*.json"))
    index.write_text("broken")
    rebuilt = run("facts", "rebuild")
    assert rebuilt.stdout.startswith("The files of 1 owner are in ")


def test_whose_facts_is_asked_where_there_are_several(run: Run, told: Path) -> None:
    async def say(memory: Memory) -> None:
        await memory.append(OTHER, "user", "I like tea.")

    really(told, say)
    error = run("facts", "add", "I like tea", code=1).stderr
    assert KATE.owner in error and OTHER.owner in error and "--owner" in error
    run("facts", "add", "I like tea", "--owner", OTHER.owner)
    assert items(run, "--owner", KATE.owner) == []
    assert len(items(run)) == 1, "without a name it is everybody's"


def test_what_a_fact_holds_does_not_come_alive_in_a_terminal(run: Run, told: Path) -> None:
    run("facts", "add", EVIL)
    assert "\x1b[31m" not in run("facts").stdout


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        ("facts show nothing", 1, "there is no fact 'nothing'"),
        ("facts approve nothing", 1, "there is no fact 'nothing'"),
        ("facts add x --type secret", 1, "type 'secret' is not known"),
        ("facts list --status open", 1, "status 'open' is not known"),
        ("facts extract nowhere", 1, "nowhere"),
        ("facts search", 2, "Missing argument"),
        ("search x --kind thing", 1, "cannot be searched"),
        ("search x --regex --kind fact", 2, "--regex looks through turns alone"),
    ],
)
def test_bad_input_is_told_in_a_sentence(run: Run, told: Path, call: str, code: int, words: str) -> None:
    assert words in run(*call.split(), code=code).stderr
