"""What the model sees."""

from __future__ import annotations

import pytest

from afterglow.context import assemble, excerpt, json_bytes, shorter_parts
from afterglow.turns import Turn
from tests.conftest import NOON


def turns(*roles: str, tokens: int = 10, first_seq: int = 1) -> list[Turn]:
    return [
        Turn(
            owner="o",
            session="s",
            seq=seq,
            role=role,
            text=f"{role} {seq}",
            at=NOON,
            tokens=tokens,
            trust="owner",
            origin="person",
        )
        for seq, role in enumerate(roles, first_seq)
    ]


def test_the_newest_whole_exchanges_that_fit_are_shown() -> None:
    tail = turns(*["user", "assistant"] * 5)
    context = assemble("s", tail, limit_tokens=45)
    assert [message.seq for message in context.messages] == [7, 8, 9, 10]
    assert (context.tokens, context.left_out) == (40, 6)


@pytest.mark.spec("CTX-11")
def test_a_tools_result_is_never_shown_without_its_call() -> None:
    tail = turns("tool", "assistant", "user", "assistant", "tool", "assistant", first_seq=50)
    assert next(message.seq for message in assemble("s", tail, 1000).messages) == 52
    assert [message.seq for message in assemble("s", tail, 30).messages] == [52, 53, 54, 55]


def test_the_last_exchange_is_shown_even_when_it_is_over_the_limit() -> None:
    context = assemble("s", turns("user", "assistant", "user", "assistant", tokens=900), limit_tokens=1000)
    assert [message.seq for message in context.messages] == [3, 4]


def test_an_empty_session_gives_an_empty_context() -> None:
    context = assemble("s", [], 1000)
    assert (context.messages, context.tokens, context.left_out) == ((), 0, 0)


@pytest.mark.spec("LOG-5")
def test_invisible_characters_do_not_reach_a_model_and_are_counted() -> None:
    (turn,) = turns("user")
    hidden = Turn(**{**{name: getattr(turn, name) for name in Turn.__slots__}, "text": "pay\u200b \u202e5 euro"})
    context = assemble("s", [hidden], 1000)
    assert (context.messages[0].text, context.invisible) == ("pay 5 euro", 2)
    tool = Turn(**{**{name: getattr(turn, name) for name in Turn.__slots__}, "parts": ({"a": ["ig\u200bnore", 1]},)})
    context = assemble("s", [tool], 1000)
    assert (context.messages[0].parts, context.invisible) == (({"a": ["ignore", 1]},), 1)


@pytest.mark.spec("LOG-6")
def test_a_giant_text_is_shown_by_its_head_and_tail() -> None:
    text = "h" * 500 + "m" * 9000 + "t" * 500
    short = excerpt(text, 1000)
    assert short.startswith("h" * 500)
    assert short.endswith("t" * 400)
    assert "9,000 of 10,000 characters are left out here" in short
    assert excerpt("short", 1000) == "short"
    assert shorter_parts([{"a": text, "b": 3}], 1000) == [{"a": short, "b": 3}]


@pytest.mark.spec("LOG-6")
def test_parts_of_many_texts_are_shown_within_the_limit_too() -> None:
    many = [{"type": "tool_result", "id": f"c{n}", "content": ["x" * 900] * 3} for n in range(500)]
    short = shorter_parts(many, 10_000)
    assert json_bytes(short) <= 20_000
    assert short[0] == {"type": "tool_result", "id": "c0", "left_out_bytes": json_bytes(many[0])}
    few = [{"content": ["x" * 900] * 20}]
    assert json_bytes(shorter_parts(few, 10_000)) <= 20_000
    assert shorter_parts(few, 100_000) == few
