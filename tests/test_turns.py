"""The records check themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from afterglow.errors import BadInput
from afterglow.turns import Binding, Draft, Span, Turn, exchanges
from tests.kit.loops import for_each
from tests.kit.records import NOON


def draft(**more: Any) -> Draft:
    return Draft(**{"role": "user", "text": "hi", "trust": "owner", "origin": "person", "at": NOON, **more})


@for_each(
    "wrong, sentence",
    [
        ({"role": "robot"}, "role 'robot' is not known; use one of user, assistant, tool, system"),
        ({"trust": "total"}, "trust 'total' is not known"),
        ({"origin": "mars"}, "origin 'mars' is not known"),
        ({"text": "a\0b"}, "NUL character at position 1"),
        ({"text": "a\ud800"}, "half of a surrogate pair at position 1"),
        ({"parts": [{"a": ["b\0"]}]}, "NUL character"),
        ({"parts": [{"a": object()}]}, "hold a object, which JSON cannot"),
        ({"parts": [{1: "a"}]}, "key that is not text: 1"),
        ({"parts": [{"a": float("nan")}]}, "not a number"),
        ({"at": datetime(2026, 1, 1)}, "has no zone; give one"),
        ({"recalled": [(1, 9)]}, "recalled range 1-9 lies outside"),
        ({"key": ""}, "key must have 1 to 200 characters"),
    ],
)
@pytest.mark.spec("LOG-2")
def test_what_cannot_be_kept_is_refused_with_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        draft(**wrong)
    assert sentence in str(caught.value)


@for_each("name", ["", "a" * 201, "a\nb", "a\0b", "\x1b[31m"])
def test_names_are_short_and_printable(name: str) -> None:
    with pytest.raises(BadInput, match="sender"):
        Binding(agent="kate", channel="telegram", sender=name)


def test_two_bindings_never_have_the_same_owner() -> None:
    tricky = [("a/b", "c", "d"), ("a", "b/c", "d"), ("a", "b", "c/d"), ("a%2Fb", "c", "d"), ("a%", "2Fb/c", "d")]
    owners = {Binding(agent=a, channel=c, sender=s).owner for a, c, s in tricky}
    assert len(owners) == len(tricky)


def test_a_span_runs_forwards_from_one() -> None:
    assert Span(first_seq=3, last_seq=3)
    for first, last in ((0, 3), (4, 3), (-2, -1)):
        with pytest.raises(BadInput):
            Span(first_seq=first, last_seq=last)


def test_an_exchange_begins_at_a_user_turn_that_follows_another_role() -> None:
    roles = ["system", "user", "user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    turns = [
        Turn(owner="o", session="s", seq=n, role=role, text="", at=NOON, tokens=1, trust="owner", origin="person")
        for n, role in enumerate(roles, 1)  # type: ignore[misc]
    ]
    assert [(e.span.first_seq, e.span.last_seq) for e in exchanges(turns)] == [(1, 1), (2, 6), (7, 8), (9, 9)]
