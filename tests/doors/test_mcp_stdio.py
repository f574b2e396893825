"""`afterglow mcp` as clients start it: a real process, with nothing but the protocol on its stdout."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import afterglow
from tests.kit.command_line import Run, remember
from tests.kit.loops import for_each
from tests.kit.mcp_client import READING, WRITING, asked
from tests.kit.processes import PIPE, Process
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-4")

COMMAND = [sys.executable, "-m", "afterglow", "mcp"]
PATIENCE_SECONDS = 60


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "AFTERGLOW_DATA_DIR": str(folder), "AFTERGLOW_ZONE": "UTC", **more}


def parameters(folder: Path, *options: str, **more: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *options], env=environment(folder, **more), cwd=folder.parent
    )


class Talk:
    """The server in a process of its own, spoken to line by line."""

    def __init__(self, folder: Path, *options: str, **more: str) -> None:
        folder.mkdir(exist_ok=True)
        imports = ("afterglow.mcp_server.server",)
        given: dict[str, Any] = {"imports": imports, "env": environment(folder, **more), "cwd": folder}
        self.process = Process("mcp", *options, stdin=PIPE, stderr=PIPE, **given)
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin: Any = getattr(self.process.stdin, "buffer")  # noqa: B009
        self.stdout: Any = getattr(self.process.stdout, "buffer")  # noqa: B009
        self.stderr: Any = getattr(self.process.stderr, "buffer")  # noqa: B009

    def greet(self) -> dict[str, Any]:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.send(id=0, method="initialize", params=hello)
        answer = self.hear()
        self.send(method="notifications/initialized")
        return answer

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        self.send(id=number, method="tools/call", params={"name": tool, "arguments": arguments})

    def write(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def hear(self) -> dict[str, Any]:
        return json.loads(self.stdout.readline())

    def rest(self) -> list[dict[str, Any]]:
        """End the input; what is still said after that, to the end of the process."""
        self.stdin.close()
        said = [json.loads(line) for line in self.stdout.read().splitlines()]
        self.code = self.process.wait(PATIENCE_SECONDS)
        return said

    def close(self) -> None:
        self.process.close()


Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Talk] = []

    def one(*options: str, **more: str) -> Talk:
        started.append(Talk(tmp_path / "data", *options, **more))
        return started[-1]

    yield one
    for each in started:
        each.close()


async def test_the_official_client_uses_it_over_a_pipe(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with Client(parameters(folder, "--owner", KATE.owner)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | WRITING
        await asked(client, "add_turn", role="user", text="I like the window seat.", session="s")
        assert "window seat" in await asked(client, "context", session="s")
        assert "window seat" in await asked(client, "memory_search", query="window")
        assert (await client.list_prompts()).prompts and (await client.list_resources()).resources
    async with afterglow.open(folder) as memory:
        (turn,) = await memory.turns(await memory.session("s", owner=KATE.owner))
        assert (turn.trust, turn.channel) == ("other", "telegram")


@pytest.mark.whole
async def test_two_processes_write_to_one_memory_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    async def say(owner: str) -> None:
        async with Client(parameters(folder, "--owner", owner)) as client:
            for number in range(20):
                await asked(client, "add_turn", role="user", text=f"{owner} {number}", session="s")

    await asyncio.gather(say(KATE.owner), say(OTHER.owner))
    async with afterglow.open(folder) as memory:
        for owner in (KATE.owner, OTHER.owner):
            turns = await memory.turns(await memory.session("s", owner=owner))
            assert [turn.text for turn in turns] == [f"{owner} {number}" for number in range(20)]


@pytest.mark.spec("SUM-1")
def test_it_is_never_primary_whatever_the_settings_say(start: Start) -> None:
    server = start(AFTERGLOW_PRIMARY="true")
    server.greet()
    server.call(1, "add_turn", role="user", text="hello", session="s")
    server.call(2, "sunset", session="s")
    server.call(3, "health")
    answers = {each["id"]: each["result"] for each in (server.hear(), server.hear(), server.hear())}
    block = answers[3]["structuredContent"]["summarization"]
    assert block["primaryFlag"] == "false" and block["primaryHolder"] is None
    assert block["lastSuccessAt"] is None, "it makes no summaries"
    assert server.rest() == [] and server.code == 0
    assert server.stderr.read() == b""


def test_what_was_asked_before_the_input_ended_is_answered_and_kept(start: Start, tmp_path: Path) -> None:
    server = start()
    server.greet()
    for number in range(1, 21):
        server.call(number, "add_turn", role="user", text=f"{number} {'x' * 50_000}", session="s", key=str(number))
    answers = server.rest()
    assert server.code == 0
    assert sorted(each["id"] for each in answers) == list(range(1, 21))
    assert not any(each["result"]["isError"] for each in answers)
    with sqlite3.connect(tmp_path / "data" / "afterglow.db") as database:
        assert database.execute("SELECT count(*) FROM turns").fetchone() == (20,)


@for_each("said", [b"", b"garbage\n", b"\n\n \n", b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'])
def test_it_ends_with_its_input_also_where_nothing_was_asked(start: Start, said: bytes) -> None:
    server = start()
    server.stdin.write(said)
    server.stdin.close()
    assert server.process.wait(PATIENCE_SECONDS) == 0
    assert b"Traceback" not in server.stderr.read()


@pytest.mark.whole
def test_it_ends_although_a_call_is_still_held_up_when_the_input_ends(start: Start, tmp_path: Path) -> None:
    server = start(AFTERGLOW_STORE__BUSY_TIMEOUT_SECONDS="8")
    server.greet()
    with sqlite3.connect(tmp_path / "data" / "afterglow.db", isolation_level=None) as database:
        database.execute("BEGIN IMMEDIATE")
        server.call(1, "add_turn", role="user", text="held up")
        server.rest()
        database.execute("ROLLBACK")
    assert server.code == 0


def test_a_client_that_reads_no_more_ends_it(start: Start) -> None:
    server = start()
    server.greet()
    server.stdout.close()
    server.call(1, "health")
    assert server.process.wait(PATIENCE_SECONDS) == 0


def test_ctrl_c_ends_it_while_it_waits(start: Start) -> None:
    server = start()
    server.greet()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(PATIENCE_SECONDS) == 130
    assert b"Traceback" not in server.stderr.read()


MALFORMED = [
    b"garbage",
    b"{",
    b"[]",
    b"null",
    b"5",
    b"\xff\xfe",
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"' + b" " * (17 * 1024 * 1024) + b"}",
]


def test_lines_that_are_no_messages_are_answered_as_such_and_passed_over(start: Start) -> None:
    server = start()
    server.greet()
    for line in MALFORMED:
        server.write(line)
        answer = server.hear()
        assert answer["error"]["code"] == -32700 and answer["id"] is None, line[:80]
    for message in ({"method": "nope"}, {"method": "tools/call", "params": {"name": 5}}, {"method": "tools/call"}):
        server.send(id=9, **message)
        assert server.hear()["error"]["code"] in (-32601, -32602)
    server.write(b"")
    server.call(10, "add_turn", role="user", text="still here", session="s")
    assert server.hear()["result"]["structuredContent"]["seq"] == 1


def test_with_several_owners_and_none_named_it_says_which_there_are(start: Start, tmp_path: Path) -> None:
    async def say(memory: afterglow.Memory) -> None:
        await memory.append(KATE, "user", "hello")
        await memory.append(OTHER, "user", "hello")

    remember(tmp_path / "data", say)
    server = start()
    assert server.process.wait(PATIENCE_SECONDS) == 2
    assert server.stdout.read() == b""
    said = " ".join(server.stderr.read().decode().split())
    assert "there are several owners" in said and "mcp.owner" in said and KATE.owner in said
    chosen = start(AFTERGLOW_MCP__OWNER=OTHER.owner)
    chosen.greet()
    chosen.call(1, "context")
    assert "hello" in chosen.hear()["result"]["content"][0]["text"]


def test_with_read_only_it_offers_what_changes_nothing(start: Start) -> None:
    server = start("--read-only")
    server.greet()
    server.send(id=1, method="tools/list")
    assert {tool["name"] for tool in server.hear()["result"]["tools"]} == READING


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--owner", "ana"], 2, "'ana' is not written as agent/channel/sender"),
        (["--owner"], 2, "requires an argument"),
        (["more"], 2, "unexpected extra argument"),
    ],
)
def test_wrong_usage_gets_a_sentence(run: Run, options: list[str], code: int, said: str) -> None:
    assert said in " ".join(run("mcp", *options, code=code).stderr.split())
