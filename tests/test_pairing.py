"""Messages that every provider takes."""

from __future__ import annotations

import pytest
from hypothesis import given

from afterglow.pairing import NO_RESULT, paired
from afterglow.turns import Turn
from tests.kit.pairing import logs, pairing_problems
from tests.kit.turns import call, result, turns


@pytest.mark.spec("CTX-11")
@given(log=logs())
def test_every_result_follows_its_call_and_every_call_has_one_whatever_was_said_in_between(log: list[Turn]) -> None:
    sent = paired(log)
    assert pairing_problems(sent) == []
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
    assert pairing_problems(sent) == []
    assert [part["content"] for turn in sent if turn.role == "tool" for part in turn.parts] == ["first", "second"]


@pytest.mark.spec("CTX-11")
def test_one_turn_with_the_results_of_several_calls_becomes_several() -> None:
    both = {"role": "tool", "text": "", "parts": (*result("b")["parts"], *result("a")["parts"])}
    sent = paired(turns("user", call("a", "b"), both))
    assert pairing_problems(sent) == []
