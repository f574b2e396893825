"""Cutting what is too long to show: what is left is within its bound and still says what it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.excerpts import excerpt, json_bytes, shorter_parts, shrunk
from afterglow.pairing import paired
from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Turn, tool_calls, tool_results
from tests.kit.cpu_limit import limit_cpu
from tests.kit.loops import for_each
from tests.kit.pairing import pairing_problems
from tests.kit.turns import call, result, turns


def true_tokens(shown: list[Turn]) -> int:
    return sum(estimate(turn.text) + estimate_parts(turn.parts) for turn in shown)


def counted(turn: dict[str, Any]) -> dict[str, Any]:
    """The turn with its true count of tokens."""
    tokens = estimate(turn.get("text", "")) + estimate_parts(turn.get("parts", ()))
    return {**turn, "tokens": tokens}


def exchange(calls: int, content: str, *, together: bool = False) -> list[Turn]:
    ids = [f"c{number}" for number in range(calls)]
    steps = [call(*ids), *(result(id, content) for id in ids)] if together else []
    steps = steps or [each for id in ids for each in (call(id), result(id, content))]
    said = [
        {"role": "user", "text": "Look at all of it, please."},
        *steps,
        {"role": "assistant", "text": "It is done."},
    ]
    return turns(*map(counted, said))


@pytest.mark.spec("LOG-6")
@given(text=st.text(max_size=500), chars_max=st.integers(1, 300))
def test_an_excerpt_is_the_head_and_tail_of_a_text(text: str, chars_max: int) -> None:
    short = excerpt(text, chars_max)
    if len(text) <= chars_max:
        assert short == text
    else:
        head, tail = int(chars_max * 0.6), chars_max - int(chars_max * 0.6)
        assert short.startswith(text[:head]) and short.endswith(text[len(text) - tail :])
        assert len(short) <= chars_max + 80


@pytest.mark.spec("LOG-6", "P8")
@for_each(
    "parts",
    [
        [{"type": "tool_result", "id": "a", "content": "x" * 5_000_000}],
        [{"type": "tool_result", "id": f"a{n}", "content": "x" * 50} for n in range(10_000)],
        [{"type": "text", "text": "é" * 100_000}, {"type": "image", "data": "A" * 1_000_000}],
        [{"type": "data", "rows": [[n, str(n)] for n in range(50_000)]}],
        [{"type": "data", "numbers": list(range(200_000))}],
        [{"type": "x" * 10_000, "id": "y" * 10_000, "name": "z" * 10_000}],
        [{"k" * 100_000: 1}],
    ],
)
def test_parts_fit_and_still_say_what_they_are(parts: list[dict[str, Any]]) -> None:
    short = shorter_parts(parts, 24_000)
    assert json_bytes(short) <= 2 * 24_000
    assert len(short) <= len(parts)
    for before, after in list(zip(parts, short, strict=False))[:100]:
        if len(str(before.get("id", ""))) <= 200:
            assert after.get("type") == before.get("type") or "type" not in before or len(before["type"]) > 200
            assert after.get("id") == before.get("id")


@pytest.mark.spec("CTX-11", "LOG-6")
def test_a_turn_with_very_many_calls_keeps_them_all_or_says_that_it_does_not() -> None:
    parts = [{"type": "tool_call", "id": f"c{n}", "name": "look", "arguments": {"q": "x" * 20}} for n in range(3_000)]
    short = shorter_parts(parts, 24_000)
    kept = tool_calls(short)
    assert len(kept) == 3_000 or any("2,900" in str(part) for part in short)


@pytest.mark.spec("CTX-6")
@for_each("tokens_max", [60, 90, 150, 500, 2_000, 8_000])
@for_each(
    "log",
    [
        exchange(40, "row " * 500),
        exchange(40, "row " * 500, together=True),
        exchange(400, "tiny"),
        exchange(100, "tiny", together=True),
        turns(counted({"role": "user", "text": "word " * 20_000})),
        turns(
            counted({"role": "user", "text": "word " * 20_000}), counted({"role": "assistant", "text": "word " * 9_000})
        ),
        turns(*(counted({"role": "user", "text": f"word {n} " * 30}) for n in range(200))),
        turns(*(counted({"role": "assistant", "text": f"word {n} " * 30}) for n in range(200))),
        turns(
            counted({"role": "user", "text": "请" * 30_000}),
            counted({"role": "assistant", "text": "\N{ROCKET}" * 9_000}),
        ),
    ],
)
def test_one_long_exchange_is_shown_within_its_bound(log: list[Turn], tokens_max: int) -> None:
    """A little over is allowed: what is put in place of what was left out has a size too."""
    shown, put_away = shrunk(log, tokens_max)
    sent = paired(shown)
    assert pairing_problems(sent) == []
    assert true_tokens(sent) <= tokens_max * 1.15 + 150
    assert sum(turn.tokens for turn in shown) >= 0.8 * true_tokens(shown) - 50, "what it is said to take, it takes"
    assert (put_away > 0) == (true_tokens(log) > tokens_max)
    assert shown[0].seq == log[0].seq and shown[-1].seq == log[-1].seq


@pytest.mark.spec("CTX-6", "CTX-11")
def test_results_that_are_put_away_keep_their_ids_and_the_newest_are_shown() -> None:
    log = exchange(30, "row " * 500)
    shown, put_away = shrunk(log, 6_000)
    assert put_away > 0
    tools = [turn for turn in shown if turn.role == "tool"]
    assert [tool_results(turn.parts) for turn in tools] == [[f"c{n}"] for n in range(30 - len(tools), 30)]
    assert "row row" in tools[-1].parts[0]["content"] and "put away" in tools[0].parts[0]["content"]


@pytest.mark.spec("CTX-4", "CTX-6")
def test_what_was_put_away_stays_put_away_while_the_exchange_grows() -> None:
    """So that the provider's cache of the prompt holds: from one step to the next little changes on the left."""
    log = exchange(60, "row " * 300)[:-1]
    changes = 0
    before: list[Turn] = []
    for end in range(3, len(log), 2):
        shown, _ = shrunk(log[:end], 6_000)
        changes += shown[: len(before)] != before
        before = shown[:-1]
    assert changes <= 20


@pytest.mark.spec("P5", "P8")
@pytest.mark.parametrize("calls", [1_000, pytest.param(3_000, marks=pytest.mark.whole)])
def test_an_exchange_of_thousands_of_tool_calls_is_shrunk_before_anybody_loses_patience(calls: int) -> None:
    with limit_cpu():
        shown, _ = shrunk(exchange(calls, "row " * 60), 6_000)
    assert true_tokens(shown) <= 7_000


@pytest.mark.spec("CTX-6")
def test_an_exchange_that_fits_is_shown_as_it_is() -> None:
    log = exchange(3, "found")
    assert shrunk(log, 8_000) == (log, 0)
