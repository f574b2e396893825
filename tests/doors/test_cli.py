"""The command line: data on stdout, sentences on stderr, an exit code that means something, and no traceback."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import termios
import unicodedata
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer.main
from rich.cells import cell_len
from typer.testing import CliRunner

import afterglow
from afterglow import settings
from afterglow.cli import app, doctor, reference
from afterglow.cli.screen import plain_json, visible
from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.settings.pages import with_generated
from afterglow.turns import Binding
from afterglow.work import Due, Limits
from tests.kit.command_line import (
    EVIL,
    RAW,
    Run,
    execute,
    in_a_terminal,
    levels,
    one_line,
    remember,
    session_of,
    talk,
    wait_until,
)
from tests.kit.loops import for_each
from tests.kit.processes import PIPE, PROGRAM, ROOT, Process, without_coverage
from tests.kit.records import KATE, NOON, OTHER

REGENERATE = "python -m afterglow.cli.reference"

pytestmark = pytest.mark.spec("DOOR-2")


# The main path, through the real program


@pytest.mark.spec("DOOR-2", "LOG-7")
def test_from_init_to_an_equal_copy_in_another_folder(folder: Path, tmp_path: Path) -> None:
    made = subprocess.run([PROGRAM, "init"], capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stderr
    assert re.fullmatch(r"ag_\w{52}\n", made.stdout)
    assert "afterglow serve" in made.stderr
    remember(folder, talk)

    (session,) = json.loads(execute("sessions", "--json").stdout)["items"]
    assert session["turns"] == 6
    assert session["owner"] == KATE.owner
    context = execute("context", session["id"])
    assert "window seat" in context.stdout
    assert "tokens" in context.stdout
    found = execute("search", "window", "seat")
    assert f"{session['id']}  turn 1  user  2026-03-02 12:00" in found.stdout

    file, again, copy = tmp_path / "out.jsonl", tmp_path / "again.jsonl", tmp_path / "copy"
    assert execute("export", file).returncode == 0
    imported = execute("import", file, "--data-dir", copy)
    assert imported.stdout == "6 turns new, from 9 lines.\n".replace("9", str(len(file.read_text().splitlines())))
    assert execute("export", again, "--data-dir", copy).returncode == 0
    assert again.read_bytes() == file.read_bytes()


def test_a_reader_that_leaves_early_is_no_error_to_speak_of(filled: Path) -> None:
    for args in (["settings", "schema"], ["export"], ["sessions"], ["sessions", "--json"]):
        reading, writing = os.pipe()
        os.close(reading)
        with Process(*args, stdout=writing) as process:
            os.close(writing)
            assert (process.communicate()[1], process.wait()) == ("", 1), args


def test_a_full_disk_behind_stdout_is_told_in_a_sentence(filled: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        result = execute("status", stdout=full)
    assert result.returncode == 1
    assert result.stderr == "Error: the system refused: No space left on device\n"


def test_a_terminal_without_unicode_is_no_error(filled: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert "\\u2713 soundness" in execute("doctor", env=ascii_only, imports=["afterglow.daemon"]).stdout
    assert "牙医" in json.loads(execute("search", "牙医", "--json", env=ascii_only).stdout)["items"][0]["snippet"]
    assert "牙医" in execute("export", env=ascii_only).stdout


def test_a_closed_stdout_is_no_error(filled: Path) -> None:
    closed = subprocess.run(["sh", "-c", f"'{PROGRAM}' status >&-"], capture_output=True, timeout=60)
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_the_shell_can_complete_commands_and_choices(folder: Path) -> None:
    def completed(typed: str) -> list[str]:
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
        return execute(env={**os.environ, "_AFTERGLOW_COMPLETE": "complete_bash", **words}).stdout.split()

    assert completed("afterglow sess") == ["sessions"]
    assert completed("afterglow sessions ") == ["list", "show", "close", "clear", "restore"]
    assert completed("afterglow token create x --scope ") == ["owner", "agent", "read"]


def test_ctrl_c_says_that_it_was_interrupted(folder: Path) -> None:
    with Process("import", "-", stdin=PIPE) as process:
        assert process.stdin
        pipe = process.stdin.fileno()
        process.stdin.write('{"format":{"name":"afterglow-export","version":1}}\n')
        process.stdin.flush()
        wait_until(lambda: fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == struct.pack("i", 0))  # it was read
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130  # though more lines might still come
        _, error = process.communicate()
    assert error == "Error: interrupted; what was finished before stays\n"


def test_serve_tells_its_address_and_ends_in_peace(folder: Path) -> None:
    with Process("serve", "--port", "0", imports=["afterglow.daemon"]) as process:
        assert process.stdout
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert process.returncode == 0, error
    assert "afterglow status" in error
    assert stat.S_IMODE((folder / "afterglow.log").stat().st_mode) == 0o600


def test_a_terminal_shows_the_match_in_colour_and_obeys_no_stored_escape(filled: Path) -> None:
    shown = in_a_terminal("search", "window")
    assert "\x1b[1;33mwindow\x1b[0m" in shown
    assert "33m" not in in_a_terminal("search", "window", NO_COLOR="1")
    shown = in_a_terminal("search", "evil")
    assert "\x1b[31m" not in shown
    assert not RAW.search(re.sub(r"\x1b\[[\d;]*m|\r", "", shown))
    assert "␛[31mred" in shown


# What is true of every command

ALL = dict(reference.commands(typer.main.get_command(app), "afterglow"))
JSON_CALLS = [
    "status",
    "doctor",
    "init",
    "sessions",
    "sessions list",
    "sessions show SESSION",
    "sessions show SESSION --turn 3",
    "sessions close SESSION",
    "sessions restore SESSION",
    "sessions clear SESSION",
    "summarize --all",
    "summaries",
    "summaries SESSION",
    "sunset SESSION",
    "context SESSION",
    "context SESSION --at 2 --explain",
    "compact SESSION",
    "expand SESSION --turn 3",
    "sources",
    "sources check",
    "search window --owner kate/telegram/ana",
    "search XK-\\d+ --regex --owner kate/telegram/ana",
    "facts",
    "facts show FACT",
    "facts search window --owner kate/telegram/ana",
    "facts add tea --owner kate/telegram/ana",
    "facts approve FACT",
    "facts edit FACT coffee",
    "facts reject PENDING",
    "facts extract",
    "facts rebuild",
    "facts forget FACT --yes",
    "goals record report done --owner kate/telegram/ana",
    "goals list --owner kate/telegram/ana",
    "digest preview --why --owner kate/telegram/ana",
    "digest history",
    "chat --message hello --owner kate/telegram/ana",
    "tasks",
    "tasks add hello --at 2190-01-01T09:00 --name hello --owner kate/telegram/ana",
    "tasks show hello",
    "tasks run hello",
    "tasks cancel hello",
    "owners",
    f"owners join {KATE.owner} {OTHER.owner}",
    "owners part kate/telegram/ana",
    "audit",
    "audit --owner kate/telegram/ana --since 1d --limit 5",
    "export",
    "export FILE",
    "import FILE",
    "token",
    "token create bot",
    "token link",
    "token revoke TOKEN",
    "work",
    "work retry",
    "settings show",
    "settings schema",
    "settings example",
    "forget fact FACT --yes",
    "forget turn SESSION 1 --yes",
    "forget session SESSION --yes",
    f"forget owner {KATE.owner} --yes",
]


def test_every_command_has_help(run: Run, subtests: pytest.Subtests) -> None:
    for path, command in ALL.items():
        with subtests.test(path=path):
            help = run(*path.split()[1:], "--help").stdout
            assert "Usage: afterglow" in help
            assert "--json" in help
            assert (command.help or "").split("\n")[0][:30] in help


def test_the_calls_below_leave_no_command_out() -> None:
    tried = {" ".join(["afterglow", *call.split()]) for call in JSON_CALLS}
    leaves = {path for path, command in ALL.items() if not hasattr(command, "commands")} - {
        "afterglow serve",
        "afterglow mcp",
    }
    assert not {path for path in leaves if not any(call.startswith(path.removesuffix(" list")) for call in tried)}


def waiting_fact(folder: Path) -> str:
    """A fact that waits for approval."""

    async def say(memory: Memory) -> str:
        turn = await memory.append(KATE, "user", "We decided to rent a boat for 900 EUR.")
        await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
        (fact,) = await memory.facts.list(KATE.owner, status="pending")
        return fact.id

    return remember(folder, say)


def test_with_json_every_command_answers_with_one_document(
    run: Run, filled: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    session = session_of(run)
    run("facts", "add", "We paid 500 EUR for the hall.", "--owner", KATE.owner)
    names = {
        "SESSION": session,
        "FACT": json.loads(run("facts", "--json").stdout)["items"][0]["id"],
        "PENDING": waiting_fact(filled),
        "FILE": str(tmp_path / "out.jsonl"),
        "TOKEN": json.loads(run("token", "--json").stdout)["items"][0]["id"],
    }
    remember(filled, lambda memory: memory.append(OTHER, "user", "hello"))
    for call in JSON_CALLS:
        fails = call.startswith("tasks run")  # there is no model here that could do it
        with subtests.test(call=call):
            result = run(*(names.get(word, word) for word in call.split()), "--json", code=int(fails))
            document, nothing = (result.stderr, result.stdout) if fails else (result.stdout, result.stderr)
            assert isinstance(json.loads(document), dict)
            assert not nothing


@for_each("call", ["--json sessions list", "sessions --json list", "sessions list --json", "sessions --json"])
def test_json_may_stand_before_or_after_the_command(run: Run, filled: Path, call: str) -> None:
    assert json.loads(run(*call.split()).stdout)["items"]


def test_the_page_of_the_documentation_is_what_the_commands_say() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert with_generated(page, reference.reference()) == page, f"docs/cli.md is out of date; run: {REGENERATE}"


def test_help_loads_nothing_that_takes_long() -> None:
    script = """
import sys
from afterglow.cli import main
sys.argv = ["afterglow", "--help"]
try:
    main()
except SystemExit as end:
    assert end.code == 0
slow = "afterglow.memory afterglow.settings afterglow.guard asyncio pydantic sqlite3 fastapi uvicorn".split()
print([name for name in slow if name in sys.modules], file=sys.stderr)
"""
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=without_coverage())
    assert result.stderr == "[]\n"


def test_without_a_command_it_shows_the_help(run: Run) -> None:
    shown = run().stdout
    for panel in ("Begin here", "What was said", "What the model sees", "In and out", "People and programs"):
        assert panel in shown


def test_the_version_is_the_package_s(run: Run) -> None:
    assert run("--version").stdout == f"{afterglow.__version__}\n"
    assert json.loads(run("--version", "--json").stdout) == {"version": afterglow.__version__}


def test_times_are_in_the_zone_of_the_settings(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_ZONE", "Asia/Tokyo")
    assert "2026-03-02 21:05" in run("sessions").stdout
    assert json.loads(run("sessions", "--json").stdout)["items"][0]["last_at"] == "2026-03-02T21:05:00+09:00"


def test_tables_of_long_names_fit_into_80_columns_and_keep_ids_whole(run: Run, begun: Path) -> None:
    long = Binding(agent="kate", channel="slack", sender="名前の長い人" * 10 + "x" * 100)
    remember(begun, lambda memory: talk(memory, long))
    remember(begun, lambda memory: memory.store.mark_due(long.owner, due("facts", long.owner)))
    session = session_of(run)
    for call in ("sessions", "owners", "work", "token", "settings", "status", "doctor", f"sessions show {session}"):
        lines = run(*call.split()).stdout.splitlines()
        assert max(cell_len(line) for line in lines) <= 80, call
    assert session in run("sessions").stdout


def due(kind: Any, subject: str) -> Due:
    return Due(kind=kind, at=NOON, reason="idle", subject=subject)


# Errors


BAD_CALLS = [
    ("sessions show nope", 2, "there is no session 'nope'"),
    ("sessions close nope", 2, "there is no session 'nope'"),
    ("context nope", 2, "there is no session 'nope'"),
    ("context SESSION --at 99", 2, "has 6 turns; there is no context at turn 99"),
    ("context SESSION --at 0", 2, "Invalid value for '--at'"),
    ("compact nope", 2, "there is no session 'nope'"),
    ("expand nope 1", 2, "there is no session 'nope'"),
    ("expand SESSION", 2, "give the number of a block, or --turn"),
    ("expand SESSION 1 --turn 1", 2, "give the number of a block, or --turn"),
    ("expand SESSION --blocks --turn 1", 2, "give the number of a block, or --turn"),
    ("expand SESSION 1", 2, "has no block 1"),
    ("expand SESSION 0", 2, "Invalid value for '[NUMBER]'"),
    ("expand SESSION --turn 99", 2, "99"),
    ("sources check nope", 2, "there is no source 'nope'; none is declared"),
    ("sessions --owner nobody", 2, "there is no owner 'nobody'; choose from:\n  kate/telegram/ana"),
    ("sessions show SESSION --turn 99", 2, "99"),
    ("sessions show SESSION --first 3 --last 2", 2, "3 to 2"),
    ("sessions show SESSION --turn 1 --first 1", 2, "--turn shows one turn"),
    ("sessions --limit many", 2, "Invalid value for '--limit'"),
    ("sessions --limit 0", 2, "Invalid value for '--limit'"),
    ("sessions shwo", 2, "Did you mean 'show'?"),
    ("serch x", 2, "Did you mean 'search'"),
    ("search", 2, "Missing argument 'WORDS...'"),
    ("search  ", 2, "Missing argument"),
    ("search ( --regex", 2, "is not a regular expression"),
    ("search x --limit 5000", 2, "search.results_max"),
    ("owners part nobody", 2, "joined to nobody"),
    ("token create x --scope root", 2, "Invalid value for '--scope'"),
    ("token revoke nope", 2, "there is no token 'nope'"),
    ("work list --state done", 2, "Invalid value for '--state'"),
    ("work retry nope", 2, "no work about 'nope' has failed"),
    ("import missing.jsonl", 2, "missing.jsonl does not exist; name the file of an export"),
    ("import FOLDER", 2, "is a folder"),
    ("export FOLDER", 2, "is not a file"),
    ("export missing/out.jsonl", 2, "there is no folder"),
    ("serve --port 99999", 2, "Invalid value for '--port'"),
    ("--settings missing.toml status", 1, "there is no such settings file"),
    ("--data-dir elsewhere sessions", 1, "`afterglow init` makes one"),
]


@pytest.mark.spec("DOOR-2", "DOOR-8")
def test_bad_input_gets_a_sentence_and_its_exit_code(
    run: Run, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    names = {"SESSION": session_of(run), "FOLDER": str(tmp_path)}
    for call, code, said in BAD_CALLS:
        with subtests.test(call=call):
            words = [names.get(word, word) for word in call.split()]
            result = run(*words, code=code)
            assert said in result.stderr
            assert result.stderr.startswith("Error: ")
            as_json = json.loads(run(*words, "--json", code=code).stderr)
            assert said in as_json["error"]["message"]
            assert (as_json["error"]["kind"] in ("Usage", "BadInput", "NotFound")) == (code == 2)


def test_an_error_names_its_kind_to_programs(run: Run, filled: Path) -> None:
    result = run("--json", "context", "nope", code=2)
    assert result.stdout == ""
    assert json.loads(result.stderr)["error"]["kind"] == "NotFound"


def test_nothing_but_init_serve_chat_and_import_makes_a_database(run: Run, folder: Path) -> None:
    for call in ("status", "sessions", "export", "token create x", "search x"):
        assert "`afterglow init` makes one" in run(*call.split(), code=1).stderr.replace("\n", " ")
    assert not folder.exists()


@pytest.mark.spec("DOOR-8")
def test_a_broken_settings_file_is_told_with_its_line(run: Run, filled: Path) -> None:
    (filled / "afterglow.toml").write_text("[server]\nport = \n")
    error = run("status", code=1).stderr
    assert "afterglow.toml, line 2" in error.replace("\n", " ")
    assert "BadSettings" in run("status", "--json", code=1).stderr


def test_a_database_of_a_newer_version_is_left_alone(run: Run, filled: Path) -> None:
    with sqlite3.connect(filled / "afterglow.db") as connection:
        connection.execute("INSERT INTO schema_versions VALUES (999, 'future', 0)")
    connection.close()
    assert "has schema 999" in one_line(run("sessions", code=1).stderr)
    assert "has schema 999" in one_line(run("doctor", code=1).stdout)


def test_a_file_that_is_no_database_is_told_as_such(run: Run, filled: Path) -> None:
    for file in filled.glob("afterglow.db*"):
        file.write_bytes(b"not a database at all " * 1000)
    assert "not a sound SQLite database" in run("sessions", code=1).stderr
    assert "✗ database" in run("doctor", code=1).stdout


def test_a_data_folder_that_cannot_be_made_is_told_in_a_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    error = run("init", "--data-dir", tmp_path / "file" / "data", code=1).stderr
    assert "cannot make the data folder" in error
    assert "--data-dir" in error


def test_an_unexpected_error_is_logged_and_not_thrown_at_the_user(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("innermost")

    monkeypatch.setattr(Memory, "sessions", broken)
    log = filled / "afterglow.log"
    error = run("sessions", code=1).stderr
    assert "(KeyError)" in error
    assert str(log) in error.replace("\n", "")
    assert "innermost" not in error
    assert "KeyError: 'innermost'" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert json.loads(run("sessions", "--json", code=1).stderr)["error"]["kind"] == "InternalError"
    shown = CliRunner().invoke(app, ["sessions", "--debug"])
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr
    assert shown.stdout == ""


# init


@pytest.mark.spec("DOOR-2", "SAFE-1")
def test_init_keeps_everything_to_its_owner_and_can_be_run_again(run: Run, folder: Path) -> None:
    first = run("init")
    token = first.stdout.strip()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("afterglow.toml", "afterglow.db"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert (folder / "afterglow.toml").read_text() == settings.example(settings.NEW)
    found = remember(folder, lambda memory: memory.store.find_token(token))
    assert found is not None and found.scope == "owner"
    assert token.encode() not in (folder / "afterglow.db").read_bytes()

    (folder / "afterglow.toml").write_text("zone = 'Asia/Tokyo'\n")
    again = run("init")
    assert again.stdout == ""
    assert "left as it is" in again.stderr
    assert "there is one already" in again.stderr
    assert (folder / "afterglow.toml").read_text() == "zone = 'Asia/Tokyo'\n"


def test_init_writes_no_second_settings_file_beside_one_of_another_kind(run: Run, folder: Path) -> None:
    folder.mkdir()
    (folder / "afterglow.yaml").write_text("zone: UTC\n")
    assert json.loads(run("init", "--json").stdout)["settings_written"] is False
    assert not (folder / "afterglow.toml").exists()
    run("status")


def test_init_makes_a_new_token_when_the_first_is_revoked(run: Run, folder: Path) -> None:
    token = json.loads(run("init", "--json").stdout)["token"]
    assert json.loads(run("init", "--json").stdout)["token"] is None
    run("token", "revoke", token["id"])
    assert json.loads(run("init", "--json").stdout)["token"]["token"] != token["token"]


def test_init_of_a_named_folder_says_the_next_commands_with_it(run: Run, tmp_path: Path) -> None:
    told = run("init", "--data-dir", tmp_path / "my data").stderr
    assert f"afterglow --data-dir '{tmp_path / 'my data'}' serve" in told.replace("\n", "")


# sessions, context, search


def test_sessions_come_newest_first_and_say_when_there_are_more(run: Run, filled: Path) -> None:
    async def later(memory: Memory) -> None:
        assert isinstance(memory.store.clock, FixedClock)
        memory.store.clock.move(3600)
        await memory.append(OTHER, "user", "hello")

    remember(filled, later)
    found = json.loads(run("sessions", "--json").stdout)
    assert [each["owner"] for each in found["items"]] == [OTHER.owner, KATE.owner]
    assert found["more"] is False
    only = run("sessions", "--limit", "1")
    assert "--limit shows more" in only.stderr
    assert OTHER.owner in only.stdout
    assert KATE.owner not in only.stdout
    assert len(json.loads(run("sessions", "--owner", KATE.owner, "--json").stdout)["items"]) == 1


@pytest.mark.spec("LOG-7")
def test_a_session_is_shown_whole_in_part_and_turn_by_turn(run: Run, filled: Path) -> None:
    session = session_of(run)
    whole = run("sessions", "show", session).stdout
    assert "6 turns, 3 exchanges" in whole
    assert "[bold]The dentist[/bold]" in whole
    part = json.loads(run("sessions", "show", session, "--first", "2", "--last", "3", "--json").stdout)
    assert [turn["seq"] for turn in part["items"]] == [2, 3]
    assert "Turns 5 to 6 of 6" in run("sessions", "show", session, "--first", "5").stderr
    assert run("sessions", "show", session, "--turn", "3").stdout == "我明天下午三点去看牙医\n"
    assert json.loads(run("sessions", "show", session, "--turn", "5", "--json").stdout)["text"] == EVIL


@pytest.mark.spec("LOG-6")
def test_a_giant_turn_is_shortened_in_the_list_and_whole_by_its_number(run: Run, filled: Path) -> None:
    giant = "start " + "x " * 50_000 + "end"
    remember(filled, lambda memory: memory.append(KATE, "user", giant, parts=[{"type": "image", "url": "u" * 5000}]))
    session = session_of(run)
    listed = run("sessions", "show", session)
    assert len(listed.stdout) < 10_000
    assert "--turn 7 shows them" in listed.stdout
    assert len(run("sessions", "show", session, "--full").stdout) > 20_000
    assert giant in run("sessions", "show", session, "--turn", "7").stdout


def test_a_closed_session_is_closed_once(run: Run, filled: Path) -> None:
    session = session_of(run)
    first = run("sessions", "close", session).stdout
    assert "is closed since" in first
    assert run("sessions", "close", session).stdout == first
    assert "closed" in run("sessions").stdout


def test_a_session_name_that_two_owners_use_needs_the_owner(run: Run, filled: Path) -> None:
    for binding in (KATE, OTHER):
        remember(filled, lambda memory, binding=binding: memory.open_session(binding, "main"))
    told = run("sessions", "show", "main", code=2).stderr
    assert f"several owners have a session 'main': {KATE.owner}, {OTHER.owner}; say whose (--owner" in " ".join(
        told.split()
    )
    assert OTHER.owner in run("sessions", "show", "main", "--owner", OTHER.owner).stdout


def test_the_context_shows_tokens_and_what_was_left_out(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(run)
    assert re.search(r"^\d+ of 8,000 tokens in 6 messages +█+░+$", run("context", session).stdout, re.MULTILINE)
    remember(filled, lambda memory: memory.append(KATE, "user", "word " * 2000))
    monkeypatch.setenv("AFTERGLOW_CONTEXT__CONTEXT_LIMIT_TOKENS", "500")
    monkeypatch.setenv("AFTERGLOW_CONTEXT__WINDOW_TOKENS", "500")
    monkeypatch.setenv("AFTERGLOW_COMPACTION__BLOCK_BUDGET_TOKENS", "480")
    assert "1 turn is shown shorter" in run("context", session).stderr
    for role, text in (("assistant", "Yes."), ("user", "And now?")):
        remember(filled, lambda memory, role=role, text=text: memory.append(KATE, role, text))
    noted = " ".join(run("context", session).stderr.split())  # the six before are folded by then
    assert f"2 older turns did not fit; `afterglow sessions show {session} --first 7 --last 8`" in noted
    assert json.loads(run("context", session, "--json").stdout)["left_out"] == 2


@pytest.mark.spec("DOOR-2", "FACT-9")
def test_search_tells_programs_whether_there_is_more_and_nothing_of_its_insides(run: Run, filled: Path) -> None:
    found = json.loads(run("search", "Lisbon", "--limit", "1", "--json").stdout)
    (hit,) = found["items"]
    assert found["more"] is True and datetime.fromisoformat(hit["at"]).tzinfo
    assert sorted(hit["why"]) == ["by_meaning", "by_pair", "by_session", "by_turn", "by_words"]
    assert json.loads(run("search", "Lisbon", "--json").stdout)["more"] is False
    assert "These are the best 1; --limit shows more." in run("search", "Lisbon", "--limit", "1").stderr
    assert "--limit" not in run("search", "Lisbon").stderr


@pytest.mark.spec("LOG-7")
def test_search_finds_words_chinese_and_expressions(run: Run, filled: Path) -> None:
    assert "turn 1  user" in run("search", "window", "seat").stdout.splitlines()[0]
    assert "我明天下午三点去看牙医" in run("search", "牙医").stdout.splitlines()[1]
    found = json.loads(run("search", r"XK-\d+", "--regex", "--json").stdout)
    assert [hit["seq"] for hit in found["items"]] == [2]
    assert found["complete"] is True
    assert "score" in run("search", "window", "--explain").stdout
    assert run("search", "xk-", "--regex").stdout == ""
    assert "XK-1029" in run("search", "xk-", "--regex", "--ignore-case").stdout
    assert json.loads(run("search", "Lisbon", "-e", "--limit", "1", "--json").stdout)["more"] is True
    assert json.loads(run("search", "Lisbon", "-e", "--limit", "2", "--json").stdout)["more"] is False
    assert "These are the newest 1; --limit shows more." in run("search", "Lisbon", "-e", "--limit", "1").stderr
    nothing = run("search", "zeppelin")
    assert nothing.stdout == ""
    assert "Nothing was found" in nothing.stderr


def test_search_is_honest_about_what_it_did_not_look_through(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_SEARCH__ROWS_MAX", "2")
    assert "Only the newest 2 turns" in run("search", "Lisbon", "--regex").stderr
    assert json.loads(run("search", "Lisbon", "--regex", "--json").stdout)["complete"] is False


@pytest.mark.spec("SAFE-2")
def test_search_asks_whose_memory_where_there_are_several(run: Run, filled: Path) -> None:
    remember(filled, lambda memory: talk(memory, OTHER))
    error = run("search", "window", code=2).stderr
    assert KATE.owner in error
    assert OTHER.owner in error
    hits = json.loads(run("search", "window", "--owner", OTHER.owner, "--json").stdout)["items"]
    assert {hit["owner"] for hit in hits} == {OTHER.owner}


# owners, tokens, work


def test_owners_are_joined_and_parted(run: Run, filled: Path) -> None:
    remember(filled, lambda memory: talk(memory, OTHER))
    assert run("owners", "join", OTHER.owner, KATE.owner).stderr == ""
    (owner,) = json.loads(run("owners", "--json").stdout)["items"]
    assert owner["joined"] == [OTHER.owner]
    assert "stands for itself" in run("owners", "part", OTHER.owner).stdout
    assert len(json.loads(run("owners", "--json").stdout)["items"]) == 2


def test_a_name_of_no_owner_is_not_joined(run: Run, filled: Path) -> None:
    assert "there is no owner 'anna'" in run("owners", "join", KATE.owner, "anna", code=2).stderr
    assert "control characters" in run("owners", "join", KATE.owner, "an\x1bna", code=2).stderr


@pytest.mark.spec("SAFE-1")
def test_a_token_is_shown_once_and_worthless_when_revoked(run: Run, filled: Path) -> None:
    made = run("token", "create", "my bot", "--scope", "read")
    secret = made.stdout.strip()
    assert secret not in run("token", "list").stdout
    token = json.loads(run("token", "--json").stdout)["items"][-1]
    assert (token["name"], token["scope"], token["revoked_at"]) == ("my bot", "read", None)
    assert token["id"] in made.stderr.replace("\n", " ")
    run("token", "revoke", token["id"])
    assert remember(filled, lambda memory: memory.store.find_token(secret)) is None


def test_parked_work_is_seen_and_tried_again(run: Run, filled: Path) -> None:
    async def fail(memory: Memory) -> None:
        await memory.store.mark_due(KATE.owner, due("summary", "talk"))
        (claim,) = await memory.store.claim(["summary"], limit=1, holder="me", limits=Limits())
        await memory.store.give_back(claim, "the model said \x1b[31mno", wait_seconds=60, park=True)

    remember(filled, fail)
    assert "the model said ␛[31mno" in run("work", "list", "--state", "parked").stdout
    assert "1 (see `afterglow work list`)" in run("status").stdout
    assert run("work", "retry", "talk").stdout == "1 to be tried again.\n"
    assert "no such work" in run("work", "list", "--state", "parked").stderr


# export and import


@pytest.mark.spec("LOG-7")
def test_an_export_is_whole_private_and_never_written_over_by_chance(run: Run, filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run("export", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    assert run("export").stdout == before.decode()
    assert "--force" in run("export", file, code=2).stderr
    remember(filled, lambda memory: memory.append(KATE, "user", "more"))
    run("export", file, "--force")
    assert len(file.read_bytes()) > len(before)
    assert [next(iter(each)) for each in json.loads(run("export", "--json").stdout)["items"]][:2] == ["format", "owner"]


def test_an_export_that_fails_leaves_nothing_behind(
    run: Run, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise afterglow.StoreUnavailable("gone")

    target = tmp_path / "out" / "out.jsonl"
    target.parent.mkdir()
    monkeypatch.setattr(Memory, "turns", broken)
    assert "gone" in run("export", target, code=1).stderr
    assert list(target.parent.iterdir()) == []


def test_an_export_of_one_owner_holds_no_other(run: Run, filled: Path) -> None:
    remember(filled, lambda memory: talk(memory, OTHER))
    lines = run("export", "--owner", OTHER.owner).stdout
    assert OTHER.owner in lines
    assert KATE.owner not in lines


@pytest.mark.spec("LOG-7")
def test_an_import_goes_on_where_it_stopped(run: Run, filled: Path, tmp_path: Path) -> None:
    lines = run("export").stdout
    half = "".join(lines.splitlines(keepends=True)[:5]) + '{"turn": {"se'
    copy = tmp_path / "copy"
    broken = run("import", "-", "--data-dir", copy, input=half, code=2).stderr
    assert "line 6: not JSON" in broken
    new = json.loads(run("import", "-", "--data-dir", copy, "--json", input=lines).stdout)["new_turns"]
    assert 0 < new <= 6
    assert "0 turns new" in run("import", "-", "--data-dir", copy, input=lines).stdout
    assert run("export", "--data-dir", copy).stdout == lines


@for_each(
    "content, said",
    [
        (b"", "is empty"),
        (b"hello\n", "line 1: not JSON"),
        (b'{"a": 1}\n', "line 1: not an object such as"),
        (b'{"turn": {}}\n', "not an export of Afterglow"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"format": {"name": "afterglow-export", "version": 99}}\n', "upgrade Afterglow"),
    ],
)
def test_a_file_that_is_no_export_is_refused(run: Run, filled: Path, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(content)
    assert said in one_line(run("import", file, code=2).stderr)


# settings, status, doctor


@pytest.mark.spec("DOOR-8")
def test_settings_say_where_each_value_came_from_and_hide_the_password(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (filled / "afterglow.toml").write_text("[server]\nport = 9000\n")
    monkeypatch.setenv("AFTERGLOW_DATABASE", "postgresql://me:hunter2@localhost/afterglow")
    shown = run("settings").stdout
    assert "hunter2" not in shown
    assert "***" in shown
    rows = {row["key"]: row for row in json.loads(run("settings", "--json").stdout)["items"]}
    assert rows["server.port"]["value"] == 9000
    assert rows["server.port"]["source"] == str(filled / "afterglow.toml")
    assert rows["database"]["source"] == "environment AFTERGLOW_DATABASE"
    assert rows["server.host"]["source"] == "default"


@pytest.mark.spec("DOOR-8")
def test_the_schema_and_the_example_are_the_settings_own(run: Run) -> None:
    assert json.loads(run("settings", "schema").stdout) == settings.json_schema()
    assert run("settings", "example").stdout == settings.example()


def test_status_counts_what_there_is(run: Run, filled: Path) -> None:
    remember(filled, lambda memory: talk(memory, OTHER))
    found = json.loads(run("status", "--json").stdout)
    assert (found["owners"], found["sessions"], found["turns"]) == (2, 2, 12)
    assert found["access_tokens"] == {"active": 1, "revoked": 0}
    assert found["work"]["claimed"] == 0
    assert found["database"] == str(filled / "afterglow.db")


def test_doctor_finds_nothing_wrong_with_a_new_folder(run: Run, filled: Path) -> None:
    assert "fault" not in levels(run("doctor", "--json")).values()
    assert "✓ soundness" in run("doctor").stdout


def test_doctor_looks_without_making_anything(run: Run, folder: Path) -> None:
    shown = run("doctor").stdout
    assert "run `afterglow init`" in shown
    assert not folder.exists()


def test_doctor_says_how_to_close_what_others_can_read(run: Run, filled: Path) -> None:
    filled.chmod(0o755)
    assert levels(run("doctor", "--json"))["data folder"] == "warning"
    (filled / "afterglow.db").chmod(0o644)
    assert "chmod 600" in run("doctor", code=1).stdout


def test_doctor_goes_on_when_the_settings_are_broken(run: Run, filled: Path) -> None:
    (filled / "afterglow.toml").write_text("nonsense = 1\n")
    found = levels(run("doctor", "--json", code=1))
    assert found["settings"] == "fault"
    assert found["full-text search"] == "fine"
    assert "database" not in found


def test_doctor_finds_a_damaged_database(run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def damaged(_: Any) -> list[str]:
        return [f"page {n} is never used" for n in range(5)]

    monkeypatch.setattr("afterglow.store.sqlite.SQLiteStore.check", damaged)
    shown = run("doctor", code=1).stdout
    assert "and 2 more" in shown
    assert "afterglow export" in shown


@for_each(
    "version, mark",
    [
        *(((3, 40, 1), "!"), ((3, 50, 6), "!"), ((3, 50, 7), "✓")),
        *(((3, 51, 2), "!"), ((3, 51, 3), "✓"), ((4, 0, 0), "✓")),
    ],
)
def test_doctor_knows_the_sqlite_versions_with_a_fault(version: tuple[int, int, int], mark: str) -> None:
    assert doctor.sqlite_version(version).mark == mark


def test_doctor_knows_network_file_systems() -> None:
    mounts = "/dev/sda / ext4 rw 0 0\nserver:/x /srv/my\\040data nfs4 rw 0 0\nme@x: /home/me/far fuse.sshfs rw 0 0\n"
    assert doctor.file_system(Path("/home/me"), mounts).mark == "✓"
    assert doctor.file_system(Path("/srv/my data/afterglow"), mounts).mark == "✗"
    assert doctor.file_system(Path("/home/me/far"), mounts).mark == "✗"


def test_doctor_knows_an_old_python_a_full_disk_and_a_wrong_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings.Settings(data_dir=tmp_path)
    assert doctor.python((3, 10, 12)).mark == "✗"
    for free, mark in ((10**7, "✗"), (5 * 10**8, "!"), (10**10, "✓")):
        monkeypatch.setattr("shutil.disk_usage", lambda _, free=free: type("Usage", (), {"free": free}))
        assert doctor.space(chosen).mark == mark
    long_ago = FixedClock(NOON - timedelta(days=20_000))
    assert doctor.time_zone(chosen, long_ago).mark == "✗"  # pyright: ignore[reportArgumentType]


@pytest.mark.spec("P13")
def test_it_works_the_same_on_postgresql(run: Run, postgres_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_DATABASE", postgres_address)
    assert run("init").stdout.startswith("ag_")
    assert json.loads(run("status", "--json").stdout)["access_tokens"]["active"] == 1
    found = levels(run("doctor", "--json"))
    assert found["PostgreSQL"] == "fine"
    assert "SQLite" not in found


def test_doctor_says_when_postgresql_cannot_be_reached(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_DATABASE", "postgresql://me:hunter2@127.0.0.1:1/afterglow?connect_timeout=2")
    shown = run("doctor", code=1).stdout
    assert "✗ PostgreSQL" in shown
    assert "hunter2" not in shown


# What reaches the terminal


def test_every_control_character_is_shown_and_none_obeyed() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t":
            assert visible(char, lines=True) != char, hex(code)
            assert json.loads(plain_json(json.dumps(char, ensure_ascii=False))) == char
            assert char not in plain_json(json.dumps(char, ensure_ascii=False))
    assert visible("a\nb\tc") == "a b c"
    assert visible("a\r\nb", lines=True) == "a\nb"
    assert visible("👩‍👩‍👧 می‌خواهم é") == "👩‍👩‍👧 می‌خواهم é"


def test_a_word_to_search_for_may_look_like_an_option(run: Run, filled: Path) -> None:
    assert "Nothing was found" in run("search", "--", "--json").stderr
