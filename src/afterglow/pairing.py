"""Messages in an order that every provider takes: each tool result right after its call, each call with a result.

Calls and results are matched by their ids in the order they came, since some providers use an id again. Whatever was cut,
lost or said in between, what comes out is valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from afterglow.tokens import estimate
from afterglow.turns import Part, Turn, tool_calls, tool_results

NO_RESULT = "[no result of this call was recorded]"


class _Call(NamedTuple):
    """The n-th call of a turn, by its place in the list of turns."""

    place: int
    nth: int


def paired(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as they can be sent: results behind their calls, missing ones made up for, stray ones as plain text."""
    ordered: list[Turn] = []
    turns = list(_one_result_each(turns))
    result_of, stray = _matched(turns)
    for place, turn in enumerate(turns):
        if turn.role == "tool":
            if place in stray:
                ordered.append(_as_text(turn))
            continue
        ordered.append(turn if turn.role == "assistant" else _without_calls(turn))
        if turn.role == "assistant":
            for nth, call in enumerate(tool_calls(turn.parts)):
                answer = result_of.get(_Call(place, nth))
                ordered.append(_answering(turns[answer], call) if answer is not None else _no_result(turn, call))
    return ordered


def _one_result_each(turns: Sequence[Turn]) -> Iterator[Turn]:
    """A turn with the results of several calls, as several."""
    for turn in turns:
        results = [part for part in turn.parts if part.get("type") == "tool_result"]
        if turn.role != "tool" or len(results) < 2:
            yield turn
            continue
        others = tuple(part for part in turn.parts if part.get("type") != "tool_result")
        for number, part in enumerate(results):
            each = replace(turn, parts=(part, *others) if number == 0 else (part,))
            yield replace(each, tokens=turn.tokens // len(results), text=turn.text if number == 0 else "")


def _matched(turns: Sequence[Turn]) -> tuple[dict[_Call, int], set[int]]:
    """For each call the place of its result, and the places of results that answer no call."""
    waiting: dict[str, list[_Call]] = {}
    result_of: dict[_Call, int] = {}
    stray: set[int] = set()
    for place, turn in enumerate(turns):
        if turn.role == "assistant":
            calls = tool_calls(turn.parts)
            waiting.update({call: [] for call in calls})  # an older call of the same id was broken off
            for nth, call in enumerate(calls):
                waiting[call].append(_Call(place, nth))
        if turn.role == "tool":
            ids = tool_results(turn.parts) or [_longest_waiting(waiting)]
            calls = waiting.get(ids[0], [])
            if calls:
                result_of[calls.pop(0)] = place
            else:
                stray.add(place)
    return result_of, stray


def _longest_waiting(waiting: dict[str, list[_Call]]) -> str:
    """The id that a result without one answers: that of the oldest call without a result."""
    return min((id for id, calls in waiting.items() if calls), key=lambda id: waiting[id][0], default="")


def _answering(turn: Turn, call: str) -> Turn:
    if tool_results(turn.parts):
        return turn
    part: Part = {"type": "tool_result", "id": call, "content": turn.text}
    return replace(turn, text="", parts=(part, *turn.parts))


def _no_result(turn: Turn, call: str) -> Turn:
    part: Part = {"type": "tool_result", "id": call, "content": NO_RESULT}
    return replace(turn, role="tool", text="", parts=(part,), trust="external", tokens=12, cut=False)


def _as_text(turn: Turn) -> Turn:
    """A result whose call is not shown: a message of its own, which says what it is."""
    contents = [str(part.get("content", "")) for part in turn.parts if part.get("type") == "tool_result"]
    said = "\n".join(text for text in dict.fromkeys([turn.text, *contents]) if text)
    text = f"[result of a tool whose call is not shown] {said}"
    return replace(turn, role="user", text=text, parts=(), tokens=estimate(text))


def _without_calls(turn: Turn) -> Turn:
    """Only an assistant calls tools; a part that says otherwise is no call to a provider."""
    if not tool_calls(turn.parts) and not tool_results(turn.parts):
        return turn
    kept = tuple(part for part in turn.parts if part.get("type") not in ("tool_call", "tool_result"))
    return replace(turn, parts=kept)
