"""Hostile words through every tool, resource and prompt of the MCP door: nothing comes alive, and nothing breaks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError

from afterglow import Memory, recalled
from afterglow.mcp_server.pipes import lines_of
from afterglow.mcp_server.tools import TOOLS
from tests.doors.hostile import HOSTILE
from tests.kit.loops import for_each
from tests.kit.mcp_client import client_of
from tests.kit.records import KATE, OTHER
from tests.kit.web import JARGON

pytestmark = pytest.mark.spec("DOOR-4", "SAFE-5")

TEXTUAL = {
    name: [key for key, value in tool.asked.model_fields.items() if value.annotation is not bool]
    for name, tool in TOOLS.items()
}
NEEDED: dict[str, dict[str, Any]] = {"add_turn": {"role": "user", "text": "x"}, "memory_search": {"query": "window"}}
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060\ufeff\U000e0041-\U000e0043]")


def texts_of(result: Any) -> Iterator[str]:
    for each in result.content:
        yield each.text


def check(text: str) -> None:
    assert not JARGON.search(text), text[:300]
    assert text.count(recalled.BEGIN) == text.count(recalled.END) <= 1
    assert len(text) < 200_000


async def test_sixty_hostile_strings_in_every_argument_of_every_tool(memory: Memory) -> None:
    await memory.append(OTHER, "user", "untouched", session="theirs")
    calls = 0
    async with client_of(memory) as client:
        for hostile in HOSTILE:
            for name, keys in TEXTUAL.items():
                for key in keys:
                    result = await client.call_tool(name, {**NEEDED.get(name, {}), key: hostile})
                    for text in texts_of(result):
                        check(text)
                    calls += 1
    assert calls == len(HOSTILE) * sum(map(len, TEXTUAL.values()))
    theirs = await memory.session("theirs", owner=OTHER.owner)
    assert [turn.text for turn in await memory.turns(theirs)] == ["untouched"]
    assert not await memory.facts.list(KATE.owner)


async def test_what_was_kept_of_them_is_told_as_a_record_without_what_cannot_be_seen(memory: Memory) -> None:
    async with client_of(memory) as client:
        for hostile in HOSTILE:
            result = await client.call_tool("add_turn", {"role": "user", "text": f"needle {hostile}", "session": "s"})
            assert not result.is_error
        session = await memory.session("s", owner=KATE.owner)
        await memory.summarize(session)
        told = [
            text
            for name, given in [
                ("context", {"session": "s"}),
                ("memory_search", {"query": "needle", "limit": 50}),
                ("get_all_summaries", {}),
            ]
            for text in texts_of(await client.call_tool(name, given))
        ]
    assert session.turns == len(HOSTILE)
    for text in told:
        check(text)
        assert text.endswith(recalled.END) and not UNSEEN.search(text)
    kept = [turn.text for turn in await memory.turns(session, limit=100)]
    assert kept == [f"needle {hostile}" for hostile in HOSTILE], "the log keeps what was said, word for word"


async def test_hostile_names_of_tools_resources_and_prompts_get_a_sentence(memory: Memory) -> None:
    async with client_of(memory) as client:
        for hostile in HOSTILE:
            calls = [
                client.call_tool(hostile, {}),
                client.read_resource(hostile),
                client.read_resource(f"afterglow://facts/{hostile}"),
                client.read_resource(f"afterglow://summaries/{hostile}"),
                client.get_prompt(hostile, {}),
                client.get_prompt("handover", {"session": hostile}),
            ]
            for call in calls:
                with pytest.raises(MCPError) as caught:
                    await call
                assert len(str(caught.value)) < 1_100 and not JARGON.search(str(caught.value))
            with pytest.raises(MCPError):
                await client.get_prompt("recap", {hostile: "x"})


@for_each(
    "wrong",
    [None, 5, 1.5, True, [], ["x"] * 1000, {"a": {"b": []}}, "x" * 3_000_000],
)
async def test_an_argument_of_another_kind_or_size_gets_a_sentence(memory: Memory, wrong: Any) -> None:
    async with client_of(memory) as client:
        for name, keys in TEXTUAL.items():
            for key in keys:
                result = await client.call_tool(name, {**NEEDED.get(name, {}), key: wrong})
                for text in texts_of(result):
                    check(text)
                    assert not result.is_error or len(text) <= 1_000


async def test_two_clients_at_once_lose_no_turn_and_mix_nothing_up(memory: Memory) -> None:
    async def say(client: Client, name: str) -> None:
        for number in range(25):
            result = await client.call_tool("add_turn", {"role": "user", "text": f"{name} {number}", "session": name})
            assert not result.is_error
            found = await client.call_tool("context", {"session": name})
            assert f"{name} {number}" in found.content[0].text  # pyright: ignore[reportAttributeAccessIssue]

    async with client_of(memory) as one, client_of(memory, OTHER) as two:
        await asyncio.gather(say(one, "ana"), say(two, "ben"), say(one, "also ana"))
    for owner, names in ((KATE.owner, ("ana", "also ana")), (OTHER.owner, ("ben",))):
        for name in names:
            turns = await memory.turns(await memory.session(name, owner=owner))
            assert [turn.text for turn in turns] == [f"{name} {number}" for number in range(25)]


@for_each("size", [1, 2, 3, 7, 1000])
def test_lines_are_found_however_the_pipe_cuts_them(size: int) -> None:
    said = b'{"a":1}\n\n{"b":"\xc3\xbc"}\n' + b"x" * 500 + b'\n{"c":3}\nlast'
    chunks = iter([said[place : place + size] for place in range(0, len(said), size)])
    found = list(lines_of(lambda: next(chunks, b""), bytes_max=200))
    assert found == [b'{"a":1}', b"", b'{"b":"\xc3\xbc"}', b"x" * 100, b'{"c":3}', b"last"]
