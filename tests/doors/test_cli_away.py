"""The command line of goals and digests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from afterglow import Binding, Inbound, Memory, Part
from tests.kit.command_line import EVIL, Run, asked, remember
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-2")


def enable(folder: Path, more: str = "") -> None:
    with (folder / "afterglow.toml").open("a") as file:
        file.write(f'\n[[agents]]\nid = "kate"\naway_summary = {{enabled = true{more}}}\n')


def came(folder: Path, fails: bool = False) -> None:
    """A person wrote, yesterday at noon by the clock that these tests have."""

    async def deliver(to: Binding, part: Part) -> None:
        if fails:
            raise RuntimeError("blocked by the user")

    async def write(memory: Memory) -> None:
        await memory.on_inbound(Inbound(binding=KATE, text="hello"), deliver=deliver)

    remember(folder, write)


@pytest.mark.spec("AWAY-12", "AWAY-5")
def test_goals_are_written_down_once_and_listed(run: Run, begun: Path) -> None:
    assert "There are no goals" in run("goals").stderr
    given = ("goals", "record", "deploy", "failed_quota", "--owner", KATE.owner, "--step", "1", "--note", EVIL)
    assert run(*given).stdout == f"deploy: failed, step 1 of deploy, for {KATE.owner}.\n"
    assert asked(run, *given)["number"] == 1, "the same step again"
    assert "was there already, and stays" in run("goals", "record", "deploy", "done", "--step", "1").stderr
    run("goals", "record", "report", "done", "--title", "Weekly report")
    assert [each["goal"] for each in asked(run, "goals")["items"]] == ["report", "deploy"]
    shown = run("goals").stdout
    assert "Weekly report" in shown and "completed" in shown
    assert "No goal fits" in run("goals", "--goal", "other").stderr
    for wrong, said in [
        (("record", "x", "blah"), "is no outcome that is known"),
        (("record", "x", "done", "--owner", "kate"), "agent/channel/sender"),
        (("list", "--owner", "kate/telegram/nobody"), "there is no owner"),
        (("list", "--since", "tomorrowish"), "is no time"),
    ]:
        assert said in run("goals", *wrong, code=2).stderr
    assert len(asked(run, "goals")["items"]) == 2, "and nothing was written"
    run("goals", "record", "feed", "done", "--owner", OTHER.owner)
    everyones = json.loads(run("goals", "--json", "--limit", "2").stdout)
    assert everyones["more"] and {each["owner"] for each in everyones["items"]} == {KATE.owner, OTHER.owner}
    assert "owner" in run("goals").stdout.split()
    assert {each["goal"] for each in json.loads(run("goals", "--json", "--owner", OTHER.owner).stdout)["items"]} == {
        "feed"
    }


@pytest.mark.spec("AWAY-2")
def test_a_preview_shows_the_text_of_each_channel_and_the_gates(run: Run, begun: Path) -> None:
    run("goals", "record", "deploy", "failed", "--owner", KATE.owner, "--title", "Deploy *all*", "--note", "quota")
    preview = run("digest")
    assert "**Failed**" in preview.stdout, "a new set-up has the rich text"
    assert "away_summary.enabled is false" in preview.stderr and "digest --why" in preview.stderr
    enable(begun)
    assert "their first message only begins the count" in run("digest").stderr
    came(begun)
    assert "Nothing has happened" in run("digest").stderr
    run("goals", "record", "deploy", "done")
    why = run("digest", "--why")
    assert why.stdout.count("open") >= 4 and "closed" not in why.stdout, "months have passed since that noon"
    data: Any = asked(run, "digest")
    assert data["preview"]["stopped_by"] is None and all(gate["open"] for gate in data["gates"])
    assert "*Done*" in run("digest", "--channel", "whatsapp").stdout
    assert "<strong>Done</strong>" in run("digest", "--channel", "html").stdout
    assert "Deploy" in run("digest", "--since", "1d").stdout
    assert "there is no channel" in run("digest", "--channel", "fax", code=2).stderr


@pytest.mark.spec("AWAY-6", "AWAY-7")
def test_the_history_says_what_was_sent_and_why_not(run: Run, begun: Path) -> None:
    assert "Nobody was told anything yet" in run("digest", "history").stderr
    enable(begun, ", threshold_hours = 0, style = 'classic'")
    came(begun)
    came(begun)
    run("goals", "record", "deploy", "done", "--owner", KATE.owner)
    came(begun, fails=True)
    run("goals", "record", "deploy", "done", "--owner", KATE.owner)
    came(begun)
    items = asked(run, "digest", "history")["items"]
    assert [each["status"] for each in items] == ["delivered", "failed", "none"]
    assert "blocked by the user" in items[1]["reason"] and items[2]["reason"] == "nothing happened"
    shown = run("digest", "history", "--owner", KATE.owner).stdout
    assert "delivered" in shown and "nothing happened" in shown and KATE.owner not in shown
    assert "ana" in run("digest", "history").stdout
    assert "1 goal turn(s) recorded" in run("digest", "history", "--full").stdout
