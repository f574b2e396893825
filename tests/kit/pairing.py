"""Logs made at random, in which tools answer late, twice or never, and what a strict provider refuses of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from afterglow.context import Message
from afterglow.turns import Turn, tool_calls, tool_results
from tests.kit.turns import call, result, turns


@st.composite
def logs(draw: st.DrawFn) -> list[Turn]:
    """Talk in which people interrupt, tools answer late, twice or never, and ids are used again."""
    said: list[str | dict[str, Any]] = []
    waiting: list[str] = []
    for _ in range(draw(st.integers(1, 40))):
        match draw(st.sampled_from(["user", "user", "assistant", "assistant", "call", "result", "lost", "system"])):
            case "call":
                ids = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
                waiting += ids
                said.append(call(*ids))
            case "result" if waiting:
                said.append(result(waiting.pop(draw(st.integers(0, len(waiting) - 1)))))
            case "lost" if waiting:
                waiting.pop()
            case "user" | "assistant" | "system" as role:
                said.append(role)
            case _:
                pass
    sizes = draw(st.lists(st.integers(1, 4_000), min_size=len(said), max_size=len(said)))
    return [replace(turn, tokens=size) for turn, size in zip(turns(*said), sizes, strict=True)]


def pairing_problems(sent: Sequence[Turn | Message]) -> list[str]:
    """What a strict provider would refuse, by rules that are written here and not taken from our code."""
    found: list[str] = []
    expected: list[str] = []
    for turn in sent:
        if turn.role == "tool":
            ids = tool_results(turn.parts)
            if len(ids) != 1 or not expected or ids[0] != expected.pop(0):
                found.append(f"turn {turn.seq}: a result of {ids} where {expected} was expected")
            continue
        if expected:
            found.append(f"turn {turn.seq}: the calls {expected} have no result before it")
        expected = tool_calls(turn.parts)
        if expected and turn.role != "assistant":
            found.append(f"turn {turn.seq}: {turn.role} calls tools")
    return found + [f"the last calls {expected} have no result"] * bool(expected)
