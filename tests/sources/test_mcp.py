"""A tool of a real MCP server as a source: started over stdio, and reached over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access
from afterglow.sources.asking import settle
from afterglow.sources.mcp import McpTool, arguments
from tests.kit.loops import for_each
from tests.sources.conftest import free_port, running
from tests.sources.hostile import Hostile
from tests.sources.windows import MORNING, ask_about, wanted

SERVER = str(Path(__file__).with_name("mcp_server.py"))
HERE = Access(allow_private=True)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    with running(sys.executable, SERVER, str(port), port=port):
        yield f"http://127.0.0.1:{port}/mcp"


def over(door: str, tool: str, address: str) -> McpTool:
    if door == "stdio":
        return McpTool(tool, command=[sys.executable, SERVER], environ={"TOKEN": "abc"})
    return McpTool(tool, address=address, access=HERE)


@pytest.mark.spec("SRC-1", "SRC-2", "SRC-3", "SRC-6")
@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_a_tool_is_called_with_what_its_schema_has(door: str, address: str) -> None:
    said = await over(door, "changes", address).report(MORNING, "Only «mine».", tokens_max=99)
    assert json.loads(said) == {
        "since": "2026-03-02T09:15:00-08:00",
        "until": "2026-03-02T13:15:00-08:00",
        "query": "Provide a contextual summary for the period from 2026-03-02T09:15:00-08:00 to "
        "2026-03-02T13:15:00-08:00. Only «mine».",
        "limit": 5,
    }


@pytest.mark.spec("SRC-6")
async def test_a_server_over_stdio_sees_its_own_variables_alone(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_SECRET", "s3cret")
    said = await over("stdio", "told", address).report(MORNING, "Prompt", tokens_max=99)
    assert said == "Prompt\n2026-03-02T13:15:00-08:00\nabc\nno secret"


@pytest.mark.spec("SRC-4")
@pytest.mark.parametrize("door", [pytest.param("stdio", marks=pytest.mark.whole), "http"])
@for_each(
    "tool, error",
    [
        ("fails", "the tool 'fails' failed: .*the database is away"),
        ("demands", "demands account"),
        ("missing", "has no tool 'missing'; it has: changes, told, fails"),
    ],
)
async def test_what_a_tool_does_wrong_is_an_error(door: str, tool: str, error: str, address: str) -> None:
    with pytest.raises(SourceError, match=error):
        await over(door, tool, address).report(MORNING, "", tokens_max=99)


@pytest.mark.spec("SRC-4")
@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_a_tool_that_hangs_is_left_and_its_server_ends(door: str, address: str) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    seconds = 4 if door == "stdio" else 1  # a server must start first
    (answer,) = await ask_about(MORNING, wanted(over(door, "hangs", address), deadline_seconds=seconds))
    assert answer.error == f"it did not answer within {seconds} seconds"
    await settle()
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


@pytest.mark.spec("SAFE-6")
async def test_an_answer_that_is_too_long_is_cut_off(address: str) -> None:
    with pytest.raises(SourceError, match="more than 4,194,304 bytes"):
        await over("http", "huge", address).report(MORNING, "", tokens_max=99)


@pytest.mark.spec("SAFE-6")
async def test_a_private_server_is_not_reached_unless_allowed(hostile: Hostile) -> None:
    with pytest.raises(SourceError, match="allow_private"):
        await McpTool("x", address=hostile.at("plain")).report(MORNING, "", tokens_max=99)
    assert hostile.seen == []


@pytest.mark.spec("SRC-4")
async def test_what_is_no_server_is_an_error(hostile: Hostile) -> None:
    for source in (
        McpTool("x", command=["/no/such/program"]),
        McpTool("x", command=[sys.executable, "-c", "print('hello')"]),
        McpTool("x", address=hostile.at("html"), access=HERE),
        McpTool("x", address="http://127.0.0.1:1/mcp", access=HERE),
    ):
        with pytest.raises(SourceError, match="cannot be called"):
            await source.report(MORNING, "", tokens_max=99)


def test_a_tool_without_a_schema_is_called_without_arguments() -> None:
    assert arguments({}, {"from": "a", "to": "b", "now": "c", "request": "d", "prompt": "e", "tokens_max": 1}) == {}
