"""Whose memory a command is about: a mistyped owner is told of, and of several none is taken in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from afterglow import Memory
from tests.kit.command_line import Run, asked, one_line, remember
from tests.kit.loops import for_each
from tests.kit.records import KATE, OTHER
from tests.kit.web import Door

pytestmark = pytest.mark.spec("DOOR-2")
HERE = replace(KATE, agent="assistant", channel="terminal", sender="ben")


def owners(run: Run) -> list[str]:
    return [each["id"] for each in asked(run, "owners")["items"]]


@pytest.mark.spec("FACT-11")
def test_the_first_owner_is_made_by_naming_it_and_others_only_on_purpose(run: Run, begun: Path) -> None:
    run("facts", "add", "I like tea", "--owner", KATE.owner)
    mistyped = KATE.owner + "h"
    error = run("facts", "add", "I like tea", "--owner", mistyped, code=2).stderr
    assert f"there is no owner {mistyped!r}; say --new-owner if it is to be made" in one_line(error)
    assert owners(run) == [KATE.owner]
    run("facts", "add", "I like tea", "--owner", mistyped, "--new-owner")
    assert owners(run) == [KATE.owner, mistyped]


def test_of_the_owners_there_are_those_most_like_a_mistyped_name_are_named_first(run: Run, filled: Path) -> None:
    others = [replace(KATE, agent="alfred", sender=f"person-{number:02}") for number in range(30)]

    async def say(memory: Memory) -> None:
        for binding in (*others, replace(KATE, sender="zoe")):
            await memory.append(binding, "user", "hello")

    remember(filled, say)
    for command in (("sessions",), ("facts", "add", "I like tea"), ("forget", "owner", "--yes")):
        named = () if command[0] == "forget" else ("--owner",)
        error = run(*command, *named, "kate/telegram/zoey", code=2).stderr
        assert error.split("choose from:\n")[1].split()[:2] == ["kate/telegram/zoe", KATE.owner], command


@pytest.mark.spec("FACT-11")
async def test_over_http_no_mistyped_name_makes_an_owner(any_door: Door) -> None:
    fact = {"content": "I like tea", "owner": KATE.owner}
    async with any_door.client("owner") as client:
        assert (await client.post("/api/v1/facts", json=fact)).status_code == 201, "the first one is made"
        refused = await client.post("/api/v1/facts", json=fact | {"owner": KATE.owner + "h"})
        assert refused.status_code == 404
        assert "/api/v1/owners lists those there are" in refused.json()["error"]["message"]
        assert len((await client.get("/api/v1/owners")).json()["items"]) == 1
        there = await client.get("/api/v1/facts", params={"owner": KATE.owner + "h"})
        assert there.json()["items"] == [], "who has not said anything yet has nothing"
    async with any_door.client("other") as client:
        made = await client.post("/api/v1/facts", json={"content": "I like tea"})
        assert made.json()["owner"] == OTHER.owner, "a token was made for it"


def test_no_fact_is_added_to_one_of_several_owners_without_a_name(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ben")
    remember(filled, lambda memory: memory.append(HERE, "user", "hello"))
    error = run("facts", "add", "I like tea", code=2).stderr
    assert "say whose with --owner" in error and HERE.owner in error and KATE.owner in error
    assert not asked(run, "facts")["items"]


@pytest.mark.parametrize("command", ["search window", "facts search window", "search --regex window"])
def test_of_several_owners_a_search_says_whose_memory_it_looked_through(
    run: Run, filled: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ben")
    run("facts", "add", "I prefer the window", "--owner", KATE.owner)
    assert "--owner" not in run(*command.split()).stderr, "there is only one"
    remember(filled, lambda memory: memory.append(HERE, "user", "I like the aisle"))
    assert "--owner" not in run(*command.split(), "--owner", KATE.owner).stderr, "it was named"
    told = one_line(run(*command.split()).stderr)
    assert f"Nothing was found in the memory of {HERE.owner}. There are other owners; --owner names another" in told
    run("facts", "add", "I open the window", "--owner", HERE.owner)
    assert f"These are from the memory of {HERE.owner}; --owner names another" in one_line(run(*command.split()).stderr)
    assert not run(*command.split(), "--json").stderr


@for_each("command", ["facts", "search tea", "sessions", "facts add tea", "audit", "work"])
def test_an_empty_name_is_told_of_in_words_for_people(run: Run, filled: Path, command: str) -> None:
    error = run(*command.split(), "--owner", " ", code=2).stderr
    assert "the name is empty" in error and "EVERYONE" not in error
