"""The command line of tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afterglow.agent.tasks import Tasks
from afterglow.memory import Memory
from tests.kit.command_line import EVIL, Run, asked, remember
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-2", "AGENT-7")

FAR = "2190-01-01T09:00"


def test_tasks_are_set_listed_shown_and_cancelled(run: Run, begun: Path) -> None:
    assert "There are no tasks" in run("tasks").stderr
    given = ("tasks", "add", f"Call Ben {EVIL}", "--at", FAR, "--owner", KATE.owner, "--name", "ben")
    assert run(*given).stdout == f"ben is set for {KATE.owner}; it runs next at 2190-01-01 09:00.\n"
    assert "an active task 'ben' already" in run(*given, code=2).stderr
    made = json.loads(
        run(
            "tasks", "add", "Weather", "--cron", "0 7 * * 1-5", "--zone", "Europe/Berlin", "--times", "3", "--json"
        ).stdout
    )
    assert (made["id"], made["kind"], made["runs_max"], made["zone"]) == ("weather", "cron", 3, "Europe/Berlin")
    assert "yet to be planned" in run("tasks", "add", "Parcel", "--plan", "twice a day").stdout
    listed = asked(run, "tasks")
    assert [each["id"] for each in listed["items"]] == ["parcel", "weather", "ben"] and not listed["more"]
    shown = run("tasks").stdout
    assert "0 7 * * 1-5" in shown and "planned: twice a day" in shown and "2190-01-01 09:00" in shown
    assert "first 1; --limit" in run("tasks", "--limit", "1").stderr
    assert (
        "2190-01-01 09:00" in run("tasks", "show", "ben").stdout and "0 of 3" in run("tasks", "show", "weather").stdout
    )
    assert run("tasks", "cancel", "ben").stdout == "ben is cancelled.\n"
    assert run("tasks", "cancel", "ben").stdout == "ben was cancelled already.\n"
    assert "ben" not in run("tasks").stdout and "cancelled" in run("tasks", "--all").stdout


def test_what_is_wrong_is_said_and_nothing_is_written(run: Run, begun: Path) -> None:
    owner = ("--owner", KATE.owner)
    for wrong, said in [
        (("add", "x", *owner), "say when: --at"),
        (("add", "x", "--at", FAR), "say whose with --owner"),
        (("add", "x", "--at", FAR, "--owner", "kate"), "agent/channel/sender"),
        (("add", "x", "--at", "2020-01-01", *owner), "is past"),
        (("add", "x", "--at", "9999-12-31T23:59", "--zone", "UTC", *owner), "too far away"),
        (("add", "x", "--cron", "1 2 3", *owner), "five fields"),
        (("add", "x", "--cron", "0 9 * * *", "--at", FAR, *owner), "say when in one way"),
        (("add", "x", "--cron", "0 9 * * *", "--zone", "Mars", *owner), "no zone"),
        (("show", "x"), "there is no task 'x'"),
        (("cancel", "x"), "there is no task 'x'"),
        (("run", "x"), "there is no task 'x'"),
    ]:
        assert said in run("tasks", *wrong, code=2).stderr, wrong
    assert asked(run, "tasks", "--all")["items"] == []


def test_a_name_that_two_owners_use_wants_the_owner(run: Run, begun: Path) -> None:

    async def two(memory: Memory) -> None:
        for to in (KATE, OTHER):
            await Tasks(memory).create("Say hello", at=FAR, id="hello", to=to)

    remember(begun, two)
    assert "say whose with --owner" in run("tasks", "show", "hello", code=2).stderr
    assert OTHER.owner in run("tasks", "show", "hello", "--owner", OTHER.owner).stdout
    assert KATE.owner in run("tasks").stdout


@pytest.mark.spec("AWAY-12")
def test_run_by_hand_without_a_model_it_says_that_it_cannot_be_done(run: Run, filled: Path) -> None:
    run("tasks", "add", "Which seat do I prefer on the train to Lisbon?", "--cron", "0 7 * * *", "--name", "seat")
    assert "no model is set up that could do it" in run("tasks", "run", "seat", code=1).stderr
    assert asked(run, "tasks", "show", "seat")["runs"] == 0
    run("tasks", "cancel", "seat")
    assert "is cancelled; make it anew" in run("tasks", "run", "seat", code=2).stderr
