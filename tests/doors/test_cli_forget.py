"""The command line of forgetting: turns, sessions, owners, with the proof."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from typer.testing import CliRunner

from afterglow import Memory
from afterglow.cli import app as command_line
from afterglow.cli import logfile
from tests.kit.command_line import Prepare, Run, asked, one_line, really, session_of
from tests.kit.records import KATE

pytestmark = pytest.mark.spec("SAFE-3", "P12", "DOOR-2")


@pytest.fixture
def session(run: Run, folder: Path, prepare: Prepare) -> str:
    """A session in which something was said that is to be forgotten, and facts were drawn from it."""

    async def say(memory: Memory) -> None:
        turn = await memory.append(KATE, "user", "I prefer zebrafinch tea with Dr Weberknecht.")
        await memory.append(KATE, "user", "I like plain water.")
        await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
        await memory.facts.write_files(KATE.owner)

    def make() -> None:
        run("init")
        really(folder, say)

    prepare("zebrafinch", make)
    return session_of(run)


def somewhere(folder: Path, word: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_a_turn_is_forgotten_with_what_came_from_it_and_the_bytes_are_searched(
    run: Run, folder: Path, session: str
) -> None:
    assert somewhere(folder, "zebrafinch")
    done = run("forget", "turn", session, "1", "--yes", "--verify")
    assert done.stdout.startswith(f"Forgotten: turn 1 of {session} (1 turn, 1 fact).")
    assert done.stdout.endswith(": nothing of it was found.\n")
    assert somewhere(folder, "zebrafinch") == []
    assert "(forgotten)" in run("sessions", "show", session).stdout
    assert [each["content"] for each in asked(run, "facts", "list")["items"]] == ["I like plain water."]


def test_who_forgets_a_turn_again_is_told_that_nothing_is_proved_by_it(run: Run, session: str) -> None:
    run("forget", "turn", session, "1", "--yes")
    again = run("forget", "turn", session, "1", "--yes", "--verify").stdout
    told = f"Forgotten already: turn 1 of {session}; no word of it is left that could be looked for."
    assert one_line(again) == told
    assert run("forget", "turn", session, "1", "--yes").stdout == f"Forgotten already: turn 1 of {session}.\n"
    assert asked(run, "forget", "turn", session, "1", "--yes", "--verify")["proof"] is None


def test_where_all_that_is_forgotten_is_too_short_no_search_is_spoken_of(run: Run, folder: Path, session: str) -> None:
    really(folder, lambda memory: memory.append(KATE, "user", "yes", session=session))
    done = run("forget", "turn", session, "3", "--yes", "--verify", code=1).stdout
    assert "Nothing of it could be looked for.\nNot searched: 1 text is too short to be looked for" in done
    assert "nothing of it was found" not in done


def test_a_session_and_an_owner_are_forgotten(run: Run, folder: Path, session: str) -> None:
    proof = asked(run, "forget", "session", session, "--yes", "--verify")["proof"]
    assert proof["clean"] and proof["found"] == []
    assert "no session" in run("sessions", "show", session, code=2).stderr.lower()
    run("forget", "owner", KATE.owner, "--yes", "--verify")
    assert somewhere(folder, "water") == []
    assert "There are no sessions yet." in run("sessions").stderr


def test_of_whom_nothing_is_to_stay_not_even_the_name_does(run: Run, folder: Path, session: str) -> None:
    with logfile.written(folder):
        logging.getLogger("afterglow").info("memory files of %s: one was edited", KATE.owner)
        logging.getLogger("afterglow").info("all is well")
    assert {"afterglow.db", "afterglow.log"} <= set(somewhere(folder, KATE.owner)), "it is named"
    told = run("forget", "owner", KATE.owner, "--leave-nothing", "--yes", "--verify", "-v").stdout
    assert "nothing of it was found" in told and str(folder / "afterglow.log") in told
    assert somewhere(folder, KATE.owner) == [] and not list((folder / "memory").iterdir())
    assert (folder / "afterglow.log").read_text().endswith("INFO afterglow: all is well\n")


def test_who_was_forgotten_before_can_leave_nothing_afterwards(run: Run, folder: Path, session: str) -> None:
    run("forget", "owner", KATE.owner, "--yes")
    assert "afterglow.db" in somewhere(folder, KATE.owner), "what keeps an import out has the name"
    assert "was forgotten before; `--leave-nothing`" in run("forget", "owner", KATE.owner, "--yes", code=2).stderr
    told = run("forget", "owner", KATE.owner, "--leave-nothing", "--yes", "--verify").stdout
    assert "nothing of it was found" in told and somewhere(folder, KATE.owner) == []


def test_a_proof_says_where_the_name_of_whom_nothing_is_to_stay_still_is(run: Run, folder: Path, session: str) -> None:
    (folder / "notes.txt").write_text(f"of {KATE.owner}")
    typed = ["forget", "owner", KATE.owner, "--leave-nothing", "--yes", "--verify", "--json"]
    done = CliRunner().invoke(command_line, typed, catch_exceptions=False)
    found = json.loads(done.stdout)["proof"]["found"]
    assert (done.exit_code, found) == (1, [f"{folder / 'notes.txt'}: {KATE.owner!r}"])


def test_a_statement_to_afterglow_is_forgotten_with_its_fact(run: Run, folder: Path, session: str) -> None:
    fact = asked(run, "facts", "add", "I keep a quokka")["fact"]
    run("forget", "fact", fact["id"], "--yes")
    assert "quokka" not in run("search", "quokka").stdout


def test_nothing_is_forgotten_by_a_slip_of_the_hand(run: Run, session: str) -> None:
    assert "say --yes if that is meant" in run("forget", "session", session, code=2).stderr
    assert "there is no owner 'nobody'" in run("forget", "owner", "nobody", "--yes", code=2).stderr
    assert "turns 2 to 1 are no run; write 1 to 2" in run("forget", "turn", session, "2", "1", "--yes", code=2).stderr
    assert "9 to 9 are not among them" in run("forget", "turn", session, "9", "--yes", code=2).stderr
    assert "water" in run("sessions", "show", session).stdout
