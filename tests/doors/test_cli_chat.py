"""`afterglow chat`: the real program in a real terminal and behind pipes, with a model, with one that fails, and without."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from afterglow.cli import app
from afterglow.memory import Memory
from afterglow.turns import Binding
from tests.kit.command_line import RAW, Run, remember, talk, wait_until
from tests.kit.processes import Process
from tests.kit.records import KATE, NOON

PATIENCE = 120
IMPORTS = ["afterglow.agent.graph", "langchain_openai"]
ME = Binding(agent="assistant", channel="terminal", sender="me")

pytestmark = pytest.mark.spec("AGENT-9")


# A provider on this machine, which does as it is told


class Provider(ThreadingHTTPServer):
    """Speaks OpenAI's streaming protocol. What it does depends on a word in the last message."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[dict[str, Any]] = []
        self.hanging = threading.Event()
        self.go_on = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client may be gone."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Answer(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"  # so that an answer that breaks off is known to have done so

    def log_message(self, format: str, *args: Any) -> None:
        """Not to the tests' output."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        last = asked["messages"][-1]
        said = next(each["content"] for each in reversed(asked["messages"]) if each["role"] == "user")
        if "FAIL" in said:
            return self.send_error(500, "out of order")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if "HANG" in said:
            self._piece(content="Well, ")
            self.server.hanging.set()
            self.server.go_on.wait(PATIENCE)
            self.close_connection = True
            return None
        if "DIE" in said:
            self._piece(content="Half of ")
            self.close_connection = True
            return None
        if "TOOL" in said and last["role"] != "tool":
            function = {"name": "memory_search", "arguments": '{"query": "green tea"}'}
            self._piece(content="Let me see. ")
            self._piece(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": function}])
            return self._end("tool_calls")
        for piece in ("You ", "said \x1b[31m", said.split("\n")[0][:200]):
            self._piece(content=piece)
        return self._end("stop")

    def _piece(self, finish: str | None = None, **delta: Any) -> None:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
        self._data({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]})

    def _end(self, finish: str) -> None:
        self._piece(finish)
        usage = {"prompt_tokens": 70, "completion_tokens": 5, "total_tokens": 75}
        self._data({"id": "c", "object": "chat.completion.chunk", "created": 1, "choices": [], "usage": usage})
        self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _data(self, data: Any) -> None:
        self._chunk(f"data: {json.dumps(data)}\n\n")

    def _chunk(self, text: str) -> None:
        self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
        self.wfile.flush()


@pytest.fixture
def provider(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A model that answers; what folds and summarises has none."""
    serving = Provider()
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AFTERGLOW_ANSWERING__MODEL", "tiny")
    monkeypatch.setenv("AFTERGLOW_ANSWERING__BASE_URL", serving.address)
    monkeypatch.setenv("AFTERGLOW_COMPACTION__MODEL", "offline")
    yield serving
    serving.go_on.set()
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "me")


def piped(*args: str, input: str | bytes = "", code: int = 0) -> tuple[str, str]:
    """What stdout and stderr get where there is no terminal."""
    done = CliRunner().invoke(app, ["chat", *args], input=input, catch_exceptions=False)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.stderr
    assert not RAW.search(done.output)
    return done.stdout, done.stderr


def _switches(status: str) -> str:
    """How often the thread of this /proc status went to sleep by itself."""
    return re.findall(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[0]


class Terminal:
    """The program in a terminal of 100 columns."""

    def __init__(self, *args: str, **environ: str) -> None:
        self._main, side = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        environment |= {"TERM": "xterm-256color", "COLUMNS": "100", **environ}
        self._process = Process(
            *("chat", *args),
            stdin=side,
            stdout=side,
            stderr=side,
            env=environment,
            terminal=True,
            imports=IMPORTS,
        )
        os.close(side)
        self.raw = b""
        self._read_to = 0

    def until(self, pattern: str) -> str:
        """What is shown from where was read to before, up to this."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self._new)):
            assert time.monotonic() < deadline, f"no {pattern!r} in {self._new!r}"
            assert self._more() or re.search(pattern, self._new), f"it ended before {pattern!r}: {self._new!r}"
        text = self._new[: found.end()]
        self._read_to += found.end()
        return text

    def type(self, keys: str | bytes) -> None:
        os.write(self._main, keys.encode() if isinstance(keys, str) else keys)

    def until_it_waits(self) -> None:
        """Wait until its line editor sleeps for a key: Python would notice a Ctrl-C before that at the next key only."""
        if sys.platform == "linux":
            wait_until(self._sleeps_on)
        else:
            time.sleep(0.5)

    def _sleeps_on(self) -> bool:
        """Whether the line editor has the terminal, and the main thread sleeps and did not wake for a moment meanwhile."""
        if termios.tcgetattr(self._main)[3] & termios.ICANON:
            return False
        file = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/status")
        before = file.read_text()
        time.sleep(0.1)
        return "State:\tS" in before and _switches(before) == _switches(file.read_text())

    def end(self) -> str:
        """What is shown to its end."""
        deadline = time.monotonic() + PATIENCE
        while self._more():
            assert time.monotonic() < deadline, f"it does not end: {self._new!r}"
        self._process.wait(PATIENCE)
        return self._new

    @property
    def code(self) -> int:
        return self._process.wait(PATIENCE)

    @property
    def _new(self) -> str:
        plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", self.raw.decode(errors="replace"))
        return plain[self._read_to :]

    def _more(self) -> bool:
        ready, _, _ = select.select([self._main], [], [], 0.2)
        if not ready:
            return True
        try:
            more = os.read(self._main, 65536)
        except OSError:
            return False
        self.raw += more
        return bool(more)

    def close(self) -> None:
        self._process.close()
        os.close(self._main)


@pytest.fixture
def terminal(folder: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def open_one(*args: str, **environ: str) -> Terminal:
        opened.append(Terminal(*args, **environ))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


# Behind pipes


def test_a_newcomer_s_first_command_may_be_chat_and_without_a_model_it_says_so(folder: Path) -> None:
    out, err = piped(input="I like green tea with honey\n\n   \nWhat about tea?\n")
    first, *rest = out.split("No model is set up, so I can only look into what is remembered.")[1:]
    assert "Nothing there fits" in first
    assert "you, " in rest[0] and "green tea with honey" in rest[0]
    assert len(rest) == 1 or "What about tea" not in out, "a blank line is no message"
    assert err == ""
    (session,) = remember(folder, lambda memory: memory.sessions(owner=ME.owner))
    assert (session.turns, session.binding) == (4, ME)


def test_answers_are_all_that_stdout_has(provider: Provider, folder: Path) -> None:
    out, err = piped(input="hello\nTOOL please\n")
    assert out == "You said ␛[31mhello\nYou said ␛[31mTOOL please\n"
    assert err == '· memory_search {"query": "green tea"}\n'


def test_one_message_gives_one_document(provider: Provider, folder: Path) -> None:
    out, err = piped("--message", "TOOL", "--json")
    assert err == ""
    said = json.loads(out)
    assert (said["message"], said["reply"], said["digest"]) == ("TOOL", "You said \x1b[31mTOOL", None)
    assert said["tokens"] == {"input_tokens": 140, "output_tokens": 10, "cached_tokens": 0}
    (used,) = said["tools"]
    assert (used["name"], used["arguments"], used["failed"]) == ("memory_search", {"query": "green tea"}, False)
    (session,) = remember(folder, lambda memory: memory.sessions(owner=ME.owner))
    assert said["session"] == session.id


def test_with_json_each_event_of_each_line_is_an_object(provider: Provider, folder: Path) -> None:
    out, err = piped("--json", input="TOOL\nFAIL\nhello\n", code=1)
    events = [json.loads(line) for line in out.splitlines()]
    assert [each["event"] for each in events] == [
        *("text", "tool", "text", "text", "text", "done"),
        "error",
        *("text", "text", "text", "done"),
    ]
    assert events[6]["kind"] == "ModelBusy" and "HTTP 500" in events[6]["message"]
    assert events[-1]["reply"] == "You said \x1b[31mhello"
    assert err == ""


def test_a_message_that_fails_is_a_sentence_and_the_next_is_answered(provider: Provider, folder: Path) -> None:
    out, err = piped(input="FAIL\nDIE\nhello\n", code=1)
    assert out == "You said ␛[31mhello\n", "half an answer is none"
    first, second = err.splitlines()
    assert first.startswith("Error: openai:tiny cannot answer now (HTTP 500)")
    assert second.startswith("Error: openai:tiny was asked and did not answer")


def test_one_message_that_fails_is_an_error_of_the_command(provider: Provider, folder: Path) -> None:
    out, err = piped("--message", "FAIL", "--json", code=1)
    assert out == ""
    assert json.loads(err)["error"]["kind"] == "ModelBusy"


def test_a_model_that_hangs_is_given_up(provider: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_ANSWERING__DEADLINE_SECONDS", "2")
    out, err = piped(input="HANG\nhello\n", code=1)
    assert out == "You said ␛[31mhello\n"
    assert "gave no whole answer in 2 seconds" in err


def test_a_provider_that_is_gone_is_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERGLOW_ANSWERING__MODEL", "tiny")
    monkeypatch.setenv("AFTERGLOW_ANSWERING__BASE_URL", "http://127.0.0.1:1/v1")
    out, err = piped("-m", "hello", code=1)
    assert out == ""
    assert err.startswith("Error: openai:tiny cannot be reached")


def test_nonsense_is_answered_or_refused_and_the_rest_goes_on(
    provider: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_LOG__TURN_BYTES_MAX", "100_000")
    nonsense = [b"nul\0byte", b"\xff\xfe bad", b"\0\0", b" \t ", b"x" * 5_000_000, b"\x1b[2J", b"last"]
    out, err = piped(input=b"\n".join(nonsense), code=1)  # and no line feed at its end
    assert out.splitlines() == [f"You said ␛[31m{said}" for said in ("nulbyte", "\ufffd\ufffd bad", "[2J", "last")]
    assert err == "Error: a line is longer than log.turn_bytes_max allows; it was passed over\n"


def test_a_blank_message_is_wrong_usage(run: Run) -> None:
    assert "--message is blank" in run("chat", "--message", " \t", code=2).stderr


def test_ctrl_c_behind_a_pipe_ends_it(provider: Provider, folder: Path) -> None:
    with Process("chat", "-m", "HANG", imports=IMPORTS) as process:
        assert provider.hanging.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", "Error: interrupted; what was finished before stays\n")
    assert process.returncode == 130


def test_without_langgraph_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "langgraph" else found(name))
    err = run("chat", "-m", "hello", code=1).stderr.replace("\n", " ")
    assert err.startswith(
        "Error: talking to the agent needs the package langgraph; install it with: pip install '.[agent]'"
    )


def test_a_wrong_owner_is_told_and_a_new_one_is_made(run: Run, folder: Path) -> None:
    assert "is not agent/channel/sender" in run("chat", "--owner", "nobody", "-m", "x", code=2).stderr
    run("chat", "--owner", KATE.owner, "-m", "hello")
    assert [each.id for each in remember(folder, lambda memory: memory.owners())] == [KATE.owner]
    run("chat", "-m", "again")  # the only one there is
    assert [each.id for each in remember(folder, lambda memory: memory.owners())] == [KATE.owner]


@pytest.mark.spec("AWAY-1")
def test_what_happened_while_away_comes_first(
    provider: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_AWAY_SUMMARY__ENABLED", "true")
    monkeypatch.setenv("AFTERGLOW_AWAY_SUMMARY__THRESHOLD_HOURS", "0")

    async def work(memory: Memory) -> None:
        await memory.record_goal(ME, "report", "completed", title="Write the report")

    assert piped("-m", "hello")[1] == ""
    remember(folder, work)
    out, err = piped("-m", "back")
    assert out == "You said ␛[31mback\n"
    assert "While you were away" in err
    remember(folder, work)
    assert "While you were away" in json.loads(piped("-m", "back", "--json")[0])["digest"]


# In a terminal


def test_a_talk_in_a_terminal(provider: Provider, terminal: Any, folder: Path) -> None:
    shown = terminal()
    greeting = shown.until("> ")
    assert "assistant talks with me (assistant/terminal/me). openai:tiny answers." in greeting
    shown.type("hello\n")
    shown.until(r"You said ␛\[31mhello\n> ")
    shown.type("TOOL\n")
    said = shown.until(r"You said ␛\[31mTOOL\n> ")
    assert re.search(r'Let me see\. \n· memory_search {"query": "green tea"}\n', said)
    shown.type("\x1b[A\x1b[A\x7f!\n")  # up twice, and the last letter is another
    shown.until(r"You said ␛\[31mhell!\n> ")
    shown.until_it_waits()
    shown.type("\x04")
    shown.end()
    assert shown.code == 0
    assert not re.search(rb"\x1b\[31m\w", shown.raw), "what a model says is not obeyed"

    later = terminal(NO_COLOR="1")
    greeting = later.until("> ")
    assert "hell!" in greeting and "TOOL" in greeting and "hello" not in greeting, "the last two exchanges"
    assert re.search(rb"\x1b\[[\d;]*3\dm", shown.raw), "there is colour"
    assert not re.search(rb"\x1b\[[\d;]*3\dm", later.raw), "unless it is not wanted"
    later.type("\x1b[A\n")
    later.until(r"You said ␛\[31mhell!\n> ")
    later.type("/quit\n")
    later.end()
    assert later.code == 0
    assert not [path.name for path in folder.iterdir() if "history" in path.name], "a file would keep what is forgotten"


def test_ctrl_c_stops_the_answer_and_the_second_one_leaves(provider: Provider, terminal: Any, folder: Path) -> None:
    shown = terminal()
    shown.until("> ")
    shown.type("HANG on\n")
    shown.until("Well, ")
    shown.type("\x03")
    assert "what you wrote is kept" in shown.until("Ctrl-C again leaves.\n> ")
    shown.type("and now?\n")
    shown.until(r"You said ␛\[31mand now\?\n> ")
    shown.type("half a line")
    shown.until("half a line")
    shown.until_it_waits()
    shown.type("\x03")
    shown.until("Ctrl-C again leaves, and so does Ctrl-D.\n> ")
    shown.until_it_waits()
    shown.type("\x03")
    shown.end()
    assert shown.code == 0
    (session,) = remember(folder, lambda memory: memory.sessions(owner=ME.owner))
    turns = remember(folder, lambda memory: memory.turns(session))
    assert [(turn.role, turn.text.replace("\x1b", "")) for turn in turns] == [
        ("user", "HANG on"),
        ("user", "and now?"),
        ("assistant", "You said [31mand now?"),
    ]


def test_errors_of_the_model_are_a_sentence_and_the_talk_goes_on(provider: Provider, terminal: Any) -> None:
    shown = terminal()
    shown.until("> ")
    shown.type("DIE\n")
    assert "Half of \nError: openai:tiny was asked and did not answer" in shown.until("\n> ")
    shown.type("FAIL\n")
    assert "Error: openai:tiny cannot answer now (HTTP 500)" in shown.until("\n> ")
    shown.type(b"\xff\xfe bytes\n")
    shown.until(r"You said .*bytes\n> ")
    shown.type("\n   \n")
    assert "said" not in shown.until("(> \\s*){2}")
    shown.until_it_waits()
    shown.type("\x04")
    shown.end()
    assert shown.code == 0


def test_the_commands_of_a_talk(terminal: Any, folder: Path) -> None:
    shown = terminal()
    assert "No model is set up" in shown.until("> ")
    for typed, said in [
        ("/context", "no session is open yet"),
        ("/nonsense", "there is no /nonsense; there are /context, /compact"),
        ("I like green tea.", "No model is set up"),
        ("/context", r"of 8,000 tokens in 2 messages .*\n.*\n.*tail, turns 1 to 2"),
        ("/compact", "Nothing was folded|compaction.keep_recent"),
        ("/facts", "No facts are known yet"),
        ("/digest", "Nothing has happened since"),
        ("/history", "I like green tea"),
        ("/tasks", "There are no tasks"),
        ("/help", "/quit +leave"),
        ("/sunset", r"This session has ended; your next message begins another\.(.*\n)+covers +turns 1 to 2"),
        ("/history", "no session is open yet"),
    ]:
        shown.type(f"{typed}\n")
        shown.until(said)
        shown.until("> ")
    shown.type("/con\t\n")  # completed
    shown.until(r"no session is open yet.*\n> ")
    shown.until_it_waits()
    shown.type("\x04")
    shown.end()
    assert shown.code == 0


def test_while_it_is_open_the_session_goes_idle(
    provider: Provider, terminal: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_TIMEOUT_SUMMARIZE_SECONDS", "1")
    shown = terminal()
    shown.until("> ")
    shown.type("hello\n")
    shown.until(r"hello\n> ")
    wait_until(lambda: remember(folder, lambda memory: memory.sessions(owner=ME.owner))[0].state == "idle", PATIENCE)
    shown.type("\x04")
    shown.end()


def test_the_only_owner_s_open_session_goes_on(provider: Provider, terminal: Any, folder: Path) -> None:
    async def before(memory: Memory) -> None:
        await talk(memory)
        await memory.append(KATE, "user", "Is the boat booked?", at=NOON + timedelta(minutes=9))

    remember(folder, before)
    shown = terminal()
    greeting = shown.until("answers.")
    assert "Is the boat booked?" in greeting and "kate talks with ana (kate/telegram/ana)" in greeting
    shown.until("> ")
    shown.until_it_waits()
    shown.type("\x04")
    shown.end()
