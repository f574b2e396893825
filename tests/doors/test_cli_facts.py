"""The command line of facts: list, show with proof, search, add, edit, approve, reject, forget, extract, rebuild."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from afterglow import Memory
from afterglow.cli import app as command_line
from afterglow.errors import ClaimLost, StoreFull
from afterglow.model import Request
from afterglow.remembering import Remembered
from tests.kit.command_line import EVIL, Prepare, Run, ago, answering, asked, one_line, really
from tests.kit.command_line import facts_of as items
from tests.kit.processes import Process
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("FACT-11", "DOOR-2")


@pytest.fixture
def told(run: Run, folder: Path, prepare: Prepare) -> Path:
    """A data folder in which ana said what she likes, what was decided, and what it costs."""

    async def say(memory: Memory) -> None:
        await memory.append(KATE, "user", "I prefer aisle seats on flights. My dentist is Dr Weber.")
        await memory.append(KATE, "assistant", "Noted.")
        await memory.append(KATE, "user", "We decided to rent the hall for 500 EUR.")

    def make() -> None:
        run("init")
        really(folder, say)

    return prepare("told", make)


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
    data = asked(run, "facts", "show", waiting["id"])
    assert [turn["seq"] for turn in data["proofs"][0]["turns"]] == [1, 2, 3]
    assert [each["content"] for each in items(run, "--type", "person")] == ["My dentist is Dr Weber."]
    assert "No fact fits" in run("facts", "list", "--type", "event").stderr


@pytest.mark.spec("FACT-11", "SAFE-3")
def test_who_forgets_a_fact_is_told_where_the_files_still_hold_it(run: Run, told: Path) -> None:
    fact = asked(run, "facts", "add", "I like green tea")["fact"]
    (folder,) = (told / "memory").glob("*/facts")
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to("elsewhere")
    error = " ".join(run("facts", "forget", fact["id"], "--yes", code=1).stderr.split())
    assert "it is forgotten in the database, and the memory files may still hold it" in error


def test_the_owner_approves_rejects_edits_and_forgets(run: Run, told: Path) -> None:
    run("facts", "extract")
    (waiting,) = items(run, "--status", "pending")
    assert run("facts", "approve", waiting["id"]).stdout.startswith("Approved: ")
    assert "only a pending one can be rejected" in run("facts", "reject", waiting["id"], code=2).stderr
    added = asked(run, "facts", "add", "I like green tea", "--type", "preference")["fact"]
    edited = asked(run, "facts", "edit", added["id"], "I like black tea")["fact"]
    assert edited["supersedes"] == added["id"]
    assert run("facts", "forget", edited["id"], "--yes").stdout.startswith(
        f"Forgotten: {edited['id']}\nWhat it had taken"
    )
    assert "black tea" not in run("facts", "list", "--status", "all").stdout
    assert asked(run, "facts", "show", added["id"])["fact"]["status"] == "active"
    assert "(forgotten)" in run("facts", "show", edited["id"]).stdout


NAMES = ("alpha", "beta", "gamma")


def likes(name: str) -> str:
    return f"I like the {name} cheese a lot."


@pytest.fixture
def three(run: Run, folder: Path, prepare: Prepare) -> Path:
    """Three talks, each with something to keep; alpha is the oldest."""

    def make() -> None:
        run("init")
        for days, name in zip((3, 2, 1), NAMES, strict=True):

            async def say(memory: Memory, name: str = name) -> None:
                await memory.append(KATE, "user", likes(name), session=name)

            really(folder, say, ago(days=days))

    return prepare("three likes", make)


def claiming(request: Request) -> str:
    """The model claims what is liked of all that it is shown."""
    if "pairs" in request.instructions:
        return json.dumps({"pairs": []})
    said = [line for line in request.material.splitlines() if line.startswith("[1]")]
    shown = [name for name in NAMES if any(likes(name) in line for line in said)]
    return json.dumps(
        {"facts": [{"turn": 1, "quote": likes(name), "content": likes(name), "type": "preference"} for name in shown]}
    )


def nonsense_for(name: str) -> Any:
    return lambda request: "no JSON at all" if likes(name) in request.material else claiming(request)


@pytest.mark.spec("P7", "FACT-1")
def test_a_session_that_cannot_be_read_delays_no_other_and_is_told(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, nonsense_for("alpha"))
    told = one_line(run("facts", "extract", code=1).stderr)
    assert "1 of 3 sessions could not be read" in told and "2 sessions read: 2 new facts." in told
    assert "alpha: scripted gave no valid JSON" in told
    assert sorted(each["content"] for each in items(run)) == [likes("beta"), likes("gamma")]
    assert "the reading of session alpha failed" in (three / "afterglow.log").read_text()
    answering(monkeypatch, claiming)
    assert run("facts", "extract").stdout == "1 session read: 1 new fact.\n"


@pytest.mark.spec("P6", "P7")
def test_an_unexpected_error_in_one_session_delays_no_other(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: Request) -> str:
        if likes("alpha") in request.material:
            raise RuntimeError("a mistake")
        return claiming(request)

    answering(monkeypatch, script)
    assert "alpha: an error of Afterglow's own (RuntimeError)" in one_line(run("facts", "extract", code=1).stderr)
    assert len(items(run)) == 2


@pytest.mark.spec("P6")
def test_what_cannot_be_stored_is_not_read_again_and_again(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any, **__: Any) -> None:
        raise StoreFull("the disk is full; make room, then repeat")

    model = answering(monkeypatch, claiming)
    monkeypatch.setattr("afterglow.store.sqlite.SQLiteStore.commit_facts", full)
    told = one_line(run("facts", "extract", code=1).stderr)
    assert "the disk is full" in told and "Broken off: 0 new facts" in told
    assert len(model.requests) == 1


def test_what_another_process_reads_is_no_failure(run: Run, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, claiming)
    extract = Remembered.extract

    async def taken(self: Remembered, session: Any, **more: Any) -> Any:
        if session.id == "alpha":
            raise ClaimLost("another process is about it")
        return await extract(self, session, **more)

    monkeypatch.setattr(Remembered, "extract", taken)
    told = " ".join(run("facts", "extract").stdout.split())
    assert told.startswith("2 sessions read: 2 new facts; 1 is being read by another process, or one that was killed")


BROKEN_OFF = """
import json, sys
from afterglow import means
from afterglow.cli import main
from afterglow.model import scripted
claim = {"turn": 1, "quote": sys.argv[1], "content": sys.argv[1], "type": "preference"}
def answer(request):
    if "Something else entirely" not in request.material:
        return json.dumps({"facts": [claim] if "[1]" in request.material else []})
    print("asked of the last part", file=sys.stderr, flush=True)
    return scripted.TIMEOUT
model = scripted.ScriptedModel(answer)
means.choose = lambda *_, **__: model
sys.argv = ["afterglow", "facts", "extract", "gamma"]
main()
"""


@pytest.mark.spec("FACT-2")
def test_broken_off_it_says_what_was_kept_of_the_session_under_way(
    run: Run, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def say(memory: Memory) -> None:
        for text in (
            *(f"The weather was fine. {'It rained a little. ' * 40}" for _ in range(3)),
            "Something else entirely.",
        ):
            await memory.append(KATE, "user", text, session="gamma")

    really(three, say)
    monkeypatch.setenv("AFTERGLOW_FACTS__PART_TOKENS", "200")
    with Process(likes("gamma"), script=BROKEN_OFF) as process:
        assert process.stderr and process.stderr.readline() == "asked of the last part\n"
        process.send_signal(signal.SIGINT)
        told, wrong = process.communicate()
    assert (process.returncode, told) == (130, "")
    assert len(items(run)) == 1
    assert "Broken off: 1 new fact" in wrong and "Running it again goes on with the rest" in one_line(wrong)


def test_facts_are_found_by_search_and_the_files_follow(run: Run, told: Path) -> None:
    run("facts", "extract")
    assert "I prefer aisle seats on flights." in run("facts", "search", "aisle", "seat").stdout
    hits = asked(run, "search", "aisle", "--kind", "fact")["items"]
    assert [hit["kind"] for hit in hits] == ["fact"]
    (index,) = told.rglob("index.json")
    assert json.loads(index.read_text())["count"] == 3
    (fact,) = items(run, "--type", "preference")
    run("facts", "forget", fact["id"], "--yes")
    assert not any("aisle" in file.read_text() for file in told.rglob("*.json"))
    index.write_text("broken")
    rebuilt = run("facts", "rebuild", code=1)
    assert rebuilt.stdout.startswith("The files of 1 owner are in ")


def test_whose_facts_is_asked_where_there_are_several(run: Run, told: Path) -> None:
    async def say(memory: Memory) -> None:
        await memory.append(OTHER, "user", "I like tea.")

    really(told, say)
    error = run("facts", "add", "I like tea", code=2).stderr
    assert KATE.owner in error and OTHER.owner in error and "--owner" in error
    run("facts", "add", "I like tea", "--owner", OTHER.owner)
    assert items(run, "--owner", KATE.owner) == []
    assert len(items(run)) == 1, "without a name it is that of all owners"


def test_a_superseded_fact_names_what_took_its_place(run: Run, told: Path) -> None:
    old = asked(run, "facts", "add", "I like green tea")["fact"]
    new = asked(run, "facts", "edit", old["id"], "I like black tea")["fact"]
    shown = run("facts", "show", old["id"]).stdout
    assert "superseded by" in shown and f"{new['id']}: I like black tea" in shown
    newer = asked(run, "facts", "show", old["id"])["superseded_by"]
    assert (newer["id"], newer["content"]) == (new["id"], "I like black tea")
    assert asked(run, "facts", "show", new["id"])["superseded_by"] is None
    assert "superseded by" not in run("facts", "show", new["id"]).stdout


def test_who_states_a_fact_is_told_whose_it_is_and_whether_it_is_new(run: Run, told: Path) -> None:
    stated = run("facts", "add", "I like green tea").stdout
    (fact,) = items(run)
    assert stated == f"New fact of {KATE.owner}: {fact['id']}: I like green tea\n"
    assert (
        run("facts", "add", "i like green tea!").stdout
        == f"Known already of {KATE.owner}: {fact['id']}: I like green tea\n"
    )
    again = asked(run, "facts", "add", "I like green tea")
    assert (again["new"], again["changed"], again["fact"]["id"]) == (False, False, fact["id"])
    new = asked(run, "facts", "add", "I like rye bread")
    assert (new["new"], new["changed"], new["fact"]["owner"]) == (True, True, KATE.owner)


def test_who_states_what_waits_is_told_that_it_counts_now(run: Run, told: Path) -> None:
    run("facts", "extract")
    (waiting,) = items(run, "--status", "pending")
    assert (
        f"Known already of {KATE.owner}, and on your word now: {waiting['id']}: "
        in run("facts", "add", waiting["content"]).stdout
    )
    assert items(run, "--status", "pending") == []


def test_what_a_fact_holds_does_not_come_alive_in_a_terminal(run: Run, told: Path) -> None:
    run("facts", "add", EVIL)
    assert "\x1b[31m" not in run("facts").stdout


def test_bad_input_is_told_in_a_sentence(run: Run, told: Path, subtests: pytest.Subtests) -> None:
    for call, words in (
        ("facts show nothing", "there is no fact 'nothing'"),
        ("facts approve nothing", "there is no fact 'nothing'"),
        ("facts add x --type secret", "type 'secret' is not known"),
        ("facts list --status open", "status 'open' is not known"),
        ("facts extract nowhere", "nowhere"),
        ("facts search", "Missing argument"),
        ("search x --kind thing", "'thing' is no kind"),
        ("search x --regex --kind fact", "--regex looks through turns alone"),
    ):
        with subtests.test(call=call):
            assert words in run(*call.split(), code=2).stderr


@pytest.mark.spec("FACT-6")
def test_files_of_no_owner_are_not_written_and_the_longest_list_is_shown(run: Run, told: Path) -> None:
    assert "there is no owner 'nope'" in run("facts", "rebuild", "--owner", "nope", code=2).stderr
    assert not (told / "memory" / "nope").exists()
    run("facts", "extract")
    assert run("facts", "list", "--limit", "1000").stdout.count("\n") > 1


def test_what_waits_is_told_of_where_it_is_not_listed_and_fits(run: Run, told: Path) -> None:
    run("facts", "extract")
    told_of = "1 more waits for your approval: `afterglow facts list --status pending`."
    assert told_of in one_line(run("facts").stderr)
    for status in ("all", "pending", "superseded"):
        assert "waits" not in run("facts", "list", "--status", status).stderr, status
    assert "waits" not in run("facts", "list", "--type", "preference").stderr
    fits = one_line(run("facts", "list", "--type", "decision", "--since", "1d").stderr)
    assert "1 more waits for your approval: `afterglow facts list --status pending --type decision --since 1d`." in fits
    assert "waits" not in run("facts", "list", "--until", "2026-03-02").stderr


def test_a_list_of_facts_takes_moments_as_other_commands_do(run: Run, told: Path) -> None:
    run("facts", "extract")
    everything = items(run)
    assert everything
    for since in ("1d", "0m", "now", "2026-03-02T09:15"):
        assert items(run, "--since", since) == everything, since
    assert items(run, "--until", "now") == everything, "today has begun"
    assert items(run, "--until", "1w") == [] == items(run, "--since", "9000-01-01")
    assert items(run, "--until", "9998-12-31T23:59:59") == everything
    error = one_line(run("facts", "list", "--since", "1d", "--until", "2w", code=2).stderr)
    assert "this is no span of time: --since is" in error and "is not after it" in error
    assert (
        "'soon' is no time; give a time such as 2026-03-02T09:15"
        in run("facts", "list", "--since", "soon", code=2).stderr
    )


def test_the_statuses_that_can_be_asked_for_are_all_named(run: Run, told: Path) -> None:
    error = run("facts", "list", "--status", "bogus", code=2).stderr
    assert "status 'bogus' is not known; use one of active, pending, superseded, forgotten, or all" in one_line(error)


@pytest.mark.spec("FACT-9")
def test_a_type_is_refused_where_no_facts_are_searched(run: Run, told: Path) -> None:
    run("facts", "extract")
    error = run("search", "aisle", "--kind", "turn", "--type", "preference", code=2).stderr
    assert "a type such as 'preference' is one of facts, and no facts are searched" in one_line(error)
    both = json.loads(
        run("search", "aisle", "--kind", "turn", "--kind", "fact", "--type", "preference", "--json").stdout
    )
    assert {hit["kind"] for hit in both["items"]} == {"turn", "fact"}


def test_why_it_once_waited_is_not_told_as_why_it_was_superseded(run: Run, told: Path) -> None:
    run("facts", "extract")
    (waiting,) = items(run, "--status", "pending")
    run("facts", "edit", waiting["id"], "We rent the small hall.")
    shown = one_line(run("facts", "show", waiting["id"]).stdout)
    assert "superseded (before that it waited: it holds money)" in shown
    assert "before that it waited: it holds" in one_line(run("facts", "list", "--status", "superseded").stdout)


def test_a_list_of_facts_says_whose_they_are_where_there_are_several_owners(run: Run, told: Path) -> None:
    run("facts", "add", "I like tea")
    assert KATE.owner not in run("facts").stdout, "there is only one"

    async def say(memory: Memory) -> None:
        await memory.append(OTHER, "user", "hello")

    really(told, say)
    assert KATE.owner in run("facts").stdout
    assert KATE.owner not in run("facts", "list", "--owner", KATE.owner).stdout


@pytest.mark.spec("LOG-7", "FACT-6")
def test_a_fact_without_a_word_in_an_older_export_stops_no_import_and_is_counted(
    run: Run, told: Path, tmp_path: Path
) -> None:
    run("facts", "add", "I like green tea")
    run("facts", "add", "I like black tea")
    lines = run("export", "-").stdout
    assert '"content":"I like green tea"' in lines
    older = lines.replace('"content":"I like green tea"', '"content":"🥦🥦"')
    into = ("--data-dir", str(tmp_path / "copy"))
    done = run("import", "-", *into, input=older)
    assert "Passed over: facts without a word (1)." in done.stderr
    assert [each["content"] for each in items(run, *into)] == ["I like black tea"]
    again = json.loads(run("import", "-", *into, "--json", input=older).stdout)
    assert again["passed_over"] == {"facts without a word": 1}


def test_the_owner_gives_a_fact_another_type_and_it_is_the_same_fact(run: Run, told: Path) -> None:
    run("facts", "extract")
    fact = asked(run, "facts", "add", "I like green tea")["fact"]
    assert run("facts", "edit", fact["id"], "--type", "preference").stdout == (
        f"Known now as preference: {fact['id']}: I like green tea\n"
    )
    assert "nothing was changed" in run("facts", "edit", fact["id"], "I like green tea", "--type", "preference").stdout
    assert run("facts", "add", "I like green tea").stdout.startswith("Known already of kate/telegram/ana: ")
    said = run("facts", "add", "I like green tea!", "--type", "decision").stdout
    assert said == f"Known already of kate/telegram/ana, and decision now: {fact['id']}: I like green tea\n"
    (known,) = [each for each in items(run, "--type", "decision") if each["id"] == fact["id"]]
    assert len(known["evidence"]) == 1, "it needs no second note"
    assert '"type": "decision"' in next((told / "memory").glob("*/facts/index.json")).read_text()
    (waiting,) = items(run, "--status", "pending")
    run("facts", "edit", waiting["id"], waiting["content"], "--type", "event")
    (believed,) = items(run, "--type", "event")
    assert (believed["id"], believed["status"], believed["trust"]) == (waiting["id"], "active", "owner")
    assert "there is nothing to change" in run("facts", "edit", fact["id"], code=2).stderr
    assert "'rumour' is not known" in run("facts", "edit", fact["id"], "--type", "rumour", code=2).stderr


@pytest.mark.spec("FACT-6", "DOOR-2")
def test_a_rebuild_that_leaves_files_as_they_are_fails_and_names_them(run: Run, told: Path) -> None:
    run("facts", "add", "I like green tea")
    (facts,) = (told / "memory").glob("*/facts")
    (facts / "2026-01-31.json").write_text("oh")
    (facts / "2026-11-31.json").write_text('{"facts": []}')
    wrong = one_line(run("facts", "rebuild", code=1).stderr)
    assert "facts/2026-01-31.json of kate/telegram/ana is left as it is: it is not JSON" in wrong
    assert "facts/2026-11-31.json of kate/telegram/ana is left as it is: there is no such day" in wrong
    assert len(json.loads(run("facts", "rebuild", "--json", code=1).stdout)["trouble"]) == 2
    for each in ("2026-01-31.json", "2026-11-31.json"):
        (facts / each).unlink()
    run("facts", "rebuild")


@pytest.mark.spec("FACT-11", "P12", "DOOR-2")
def test_a_proof_names_a_file_of_no_such_day_that_says_what_was_forgotten(run: Run, told: Path) -> None:
    fact = asked(run, "facts", "add", "I like green tea from Darjeeling")["fact"]
    (facts,) = (told / "memory").glob("*/facts")
    for name in ("2026-11-30.json", "2026-11-31.json"):
        (facts / name).write_text(f"broken: {fact['content']}")
    typed = ["facts", "forget", fact["id"], "--yes", "--verify", "--json"]
    done = CliRunner().invoke(command_line, typed, catch_exceptions=False)
    proof = json.loads(done.stdout)["proof"]
    assert done.exit_code == 1
    assert not (facts / "2026-11-30.json").exists(), "what cannot be read might still say it"
    assert {found.split(": ")[0] for found in proof["found"]} == {str(facts / "2026-11-31.json")}


@pytest.mark.spec("FACT-11")
def test_who_forgets_a_fact_is_told_what_counts_again_and_which_files_were_replaced(run: Run, told: Path) -> None:
    run("facts", "extract")
    (known,) = [each for each in items(run) if "aisle" in each["content"]]
    edited = asked(run, "facts", "edit", known["id"], "I prefer the window seat.")["fact"]
    (broken_file,) = [path for path in told.rglob("*.json") if path.parent.name == "facts" and path.stem != "index"][:1]
    broken_file.write_text("{ not to be read")
    run("facts", "rebuild", code=1)
    done = run("facts", "forget", edited["id"], "--yes")
    assert f"What it had taken the place of counts again: {known['id']}: {known['content']}" in one_line(done.stdout)
    assert f"Nobody could read facts/{broken_file.name}" in one_line(done.stderr)


@pytest.mark.spec("FACT-7")
def test_an_approved_edit_takes_the_place_of_what_stands_there_now(run: Run, told: Path) -> None:
    run("facts", "extract")
    (known,) = [each for each in items(run) if "aisle" in each["content"]]
    (index,) = told.rglob("index.json")
    index.write_text(index.read_text().replace(known["content"], "I prefer the middle seat."))
    run("facts", "rebuild")
    (waiting,) = [each for each in items(run, "--status", "pending") if "middle" in each["content"]]
    newer = asked(run, "facts", "edit", known["id"], "I prefer the window seat.")["fact"]
    run("facts", "approve", waiting["id"])
    seats = [each["content"] for each in items(run) if "seat" in each["content"]]
    assert seats == ["I prefer the middle seat."], "what was stated meanwhile is superseded too"
    assert asked(run, "facts", "show", waiting["id"])["fact"]["supersedes"] == newer["id"]
