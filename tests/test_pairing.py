"""Messages that every provider takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from afterglow.pairing import NO_RESULT, paired
from afterglow.turns import Turn, tool_calls, tool_results
from tests.kit.turns import call, result, turns
from tests.test_compaction import logs


def problems(sent: Sequence[Turn]) -> list[str]:
    """What a strict provider would refuse: its rules, written once more and without our code."""
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


@pytest.mark.spec("CTX-11")
@given(log=logs())
def test_every_result_follows_its_call_and_every_call_has_one_whatever_was_said_in_between(log: list[Turn]) -> None:
    sent = paired(log)
    assert problems(sent) == []
    assert {turn.seq for turn in sent} == {turn.seq for turn in log}, "nothing is dropped"


@pytest.mark.spec("CTX-11")
def test_talk_that_is_in_order_is_sent_as_it_is() -> None:
    log = turns("user", call("a", "b"), result("a"), result("b"), "assistant", "user", "assistant")
    assert paired(log) == log


@pytest.mark.spec("CTX-11")
def test_a_late_result_is_put_behind_its_call_and_a_missing_one_is_made_up_for() -> None:
    log = turns("user", call("a", "b"), "user", result("b", "late"), "assistant")
    sent = paired(log)
    assert [(turn.role, turn.seq) for turn in sent] == [
        ("user", 1), ("assistant", 2), ("tool", 2), ("tool", 4), ("user", 3), ("assistant", 5),
    ]  # fmt: skip
    assert sent[2].parts == ({"type": "tool_result", "id": "a", "content": NO_RESULT},)


@pytest.mark.spec("CTX-11")
def test_a_result_whose_call_is_not_shown_becomes_plain_text() -> None:
    (sent,) = paired(turns(result("gone", "42 apples")))
    assert (sent.role, sent.parts) == ("user", ())
    assert sent.text == "[result of a tool whose call is not shown] 42 apples"


@pytest.mark.spec("CTX-11")
def test_a_result_without_an_id_answers_the_call_that_waits_longest() -> None:
    log = turns("user", call("a", "b"), {"role": "tool", "text": "first"}, {"role": "tool", "text": "second"})
    sent = paired(log)
    assert problems(sent) == []
    assert [part["content"] for turn in sent if turn.role == "tool" for part in turn.parts] == ["first", "second"]


@pytest.mark.spec("CTX-11")
def test_one_turn_with_the_results_of_several_calls_becomes_several() -> None:
    both = {"role": "tool", "text": "", "parts": (*result("b")["parts"], *result("a")["parts"])}
    sent = paired(turns("user", call("a", "b"), both))
    assert problems(sent) == []
