"""When to compact, which turns, which blocks to merge: rules without a store and without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.compaction import (
    Boot,
    Frame,
    Limits,
    Quiet,
    block_tokens_max,
    choose_merge,
    choose_span,
    decide,
    due_after,
    parts_of,
)
from afterglow.turns import Draft, Folded, Span, Turn, tool_calls, tool_results
from tests.kit.pairing import logs
from tests.kit.records import NOON
from tests.kit.turns import block, call, result, session, turns

LIMITS = Limits()
FRAME = Frame(limits=LIMITS, zone=UTC, quiet=Quiet(), boot=Boot())
PAIR = ("user", "assistant")


def span(first: int, last: int) -> Span:
    return Span(first_seq=first, last_seq=last)


@pytest.mark.spec("CTX-1")
def test_every_interval_exchanges_a_session_is_compacted() -> None:
    decided = [decide(session(turns(*PAIR * count)), LIMITS, complete=True) for count in range(1, 8)]
    assert decided == [None, None, None, None, "interval", "interval", "interval"]
    compacted = Folded(to_seq=4, turns=10, exchanges=5)
    again = [decide(session(turns(*PAIR * count), folded=compacted), LIMITS, complete=True) for count in range(5, 12)]
    assert again == [None, None, None, None, None, "interval", "interval"]


@pytest.mark.spec("CTX-1")
def test_an_interval_of_nothing_turns_it_off() -> None:
    assert decide(session(turns(*PAIR * 20, tokens=10)), replace(LIMITS, interval=0), complete=True) is None


@pytest.mark.spec("CTX-1")
def test_an_exchange_without_its_answer_does_not_count_as_one() -> None:
    assert decide(session(turns(*PAIR * 5)), LIMITS, complete=False) is None


@pytest.mark.spec("CTX-1")
def test_a_context_over_the_limit_is_compacted_at_once_by_the_estimate_or_by_what_the_model_reports() -> None:
    few = turns(*PAIR * 2, tokens=2001)
    assert decide(session(few), LIMITS, complete=True) == "threshold"
    small = turns(*PAIR * 3, tokens=250)
    assert decide(session(small), LIMITS, complete=True) is None
    assert decide(session(small, overhead_tokens=6501), LIMITS, complete=True) == "threshold"


@pytest.mark.spec("CTX-1")
@pytest.mark.parametrize("overhead", [8_000, 20_000])
def test_a_system_prompt_over_the_limit_is_not_a_reason_to_fold_for_ever(overhead: int) -> None:
    assert decide(session(turns(*PAIR * 3), overhead_tokens=overhead), LIMITS, complete=True) is None
    assert decide(session(turns(*PAIR * 5), overhead_tokens=overhead), LIMITS, complete=True) == "interval"


@pytest.mark.spec("CTX-1")
def test_one_exchange_over_the_limit_has_nothing_to_fold() -> None:
    assert decide(session(turns("user", "assistant", tokens=9_000)), LIMITS, complete=True) is None
    after = session(turns(*PAIR * 5, tokens=5_000), folded=Folded(to_seq=8, turns=8, exchanges=4))
    assert decide(after, LIMITS, complete=True) is None


@pytest.mark.spec("CTX-8")
def test_two_compactions_in_a_row_without_a_new_turn_never_happen() -> None:
    log = turns(*PAIR * 10, tokens=3_000)
    assert decide(session(log, folded=Folded(to_seq=14, turns=20, exchanges=1)), LIMITS, complete=True) is None


@pytest.mark.spec("CTX-1")
def test_the_rule_that_the_log_asks_decides_after_an_answer_only() -> None:
    due = session(turns(*PAIR * 5))
    answer = Draft(role="assistant", text="yes", trust="agent", origin="agent")
    (asked,) = due_after(answer, due, FRAME, NOON)
    assert (asked.kind, asked.reason, asked.at) == ("context", "interval", NOON)
    assert due_after(replace(answer, role="user"), due, FRAME, NOON) == []
    calling: dict[str, Any] = call("1")
    assert due_after(replace(answer, parts=calling["parts"]), due, FRAME, NOON) == []


@pytest.mark.spec("IDLE-3", "IDLE-4")
def test_a_persons_message_sets_the_timer_unless_one_is_set_that_will_look_anyway() -> None:
    log = session(turns("user"))
    message = Draft(role="user", text="hello", trust="owner", origin="person")
    (asked,) = due_after(message, log, FRAME, NOON)
    assert (asked.kind, asked.at, asked.rearm) == ("idle", NOON + timedelta(seconds=1800), True)
    assert due_after(message, replace(log, idle_due=asked.at), FRAME, NOON + timedelta(seconds=60)) == []
    assert due_after(message, replace(log, idle_due=NOON), FRAME, NOON) != [], "it has gone off"
    assert due_after(replace(message, origin="heartbeat"), log, FRAME, NOON) == []
    off = replace(FRAME, quiet=Quiet(timeout_summarize_seconds=0))
    assert due_after(message, log, off, NOON) == []


@pytest.mark.spec("CTX-2")
def test_the_newest_turns_stay_and_the_cut_moves_back_to_where_an_exchange_begins() -> None:
    log = turns(*PAIR * 5)
    assert choose_span(log, session(log), "interval", LIMITS) == span(1, 4)
    odd = turns(*PAIR * 4, "user", "assistant", "assistant")
    assert choose_span(odd, session(odd), "interval", LIMITS) == span(1, 4)
    assert choose_span(odd, session(odd), "interval", replace(LIMITS, keep_recent=7)) == span(1, 4)
    assert choose_span(odd, session(odd), "manual", replace(LIMITS, keep_recent=3)) == span(1, 8)


@pytest.mark.spec("CTX-2")
def test_a_session_with_no_more_turns_than_stay_is_not_compacted() -> None:
    log = turns(*PAIR * 3)
    for reason in ("interval", "manual"):
        assert choose_span(log, session(log), reason, LIMITS) is None  # pyright: ignore


@pytest.mark.spec("CTX-2")
def test_a_few_huge_turns_are_compacted_as_well_as_many_small_ones() -> None:
    huge = turns(*PAIR * 3, tokens=3_000)
    assert choose_span(huge, session(huge), "threshold", LIMITS) == span(1, 4)
    two = turns("user", "assistant", tokens=9_000) + turns("user", "assistant", tokens=100, first_seq=3)
    assert choose_span(two, session(two), "threshold", LIMITS) == span(1, 2)
    many = turns(*PAIR * 60, tokens=70)
    assert choose_span(many, session(many), "threshold", LIMITS) == span(1, 114)


@pytest.mark.spec("CTX-2")
def test_for_the_threshold_the_tail_shrinks_no_more_than_it_must() -> None:
    log = turns(*PAIR * 8, tokens=1_500)
    assert choose_span(log, session(log), "threshold", LIMITS) == span(1, 12)


@pytest.mark.spec("IDLE-1")
def test_an_idle_session_is_folded_whole() -> None:
    log = turns(*PAIR * 2)
    assert choose_span(log, session(log), "idle", LIMITS) == span(1, 4)


@pytest.mark.spec("CTX-2", "CTX-11")
def test_a_tool_call_is_not_parted_from_its_result() -> None:
    log = turns(*PAIR * 2, "user", call("a"), "user", result("a"), "assistant", *PAIR)
    keep_four = replace(LIMITS, keep_recent=4)
    assert choose_span(log, session(log), "interval", keep_four) == span(1, 4)


@pytest.mark.spec("CTX-2")
def test_a_call_that_never_got_a_result_does_not_stop_compaction() -> None:
    log = turns("user", call("lost"), *PAIR * 6)
    assert choose_span(log, session(log), "interval", LIMITS) == span(1, 8)


@pytest.mark.spec("CTX-2", "CTX-11")
def test_ids_that_are_used_again_are_told_apart() -> None:
    log = turns("user", call("0"), result("0"), "assistant", "user", call("0"), result("0"), "assistant", *PAIR * 2)
    assert choose_span(log, session(log), "interval", replace(LIMITS, keep_recent=6)) == span(1, 4)


@pytest.mark.spec("CTX-10")
def test_a_span_over_the_summarisers_window_is_cut_into_parts_in_order() -> None:
    log = turns(*PAIR * 10, tokens=300)
    parts = parts_of(log, 2_000)
    assert [turn.seq for part in parts for turn in part] == list(range(1, 21))
    assert [sum(turn.tokens for turn in part) for part in parts] == [1_800, 1_800, 1_800, 600]
    one_exchange = turns("user", *[call("1"), result("1")] * 8, "assistant", tokens=400)
    parts = parts_of(one_exchange, 1_000)
    assert [turn.seq for part in parts for turn in part] == list(range(1, 19))
    assert max(sum(turn.tokens for turn in part) for part in parts) <= 1_000


@pytest.mark.spec("CTX-4")
def test_a_full_level_is_merged_oldest_first_and_no_level_out_of_turn() -> None:
    blocks = [block(1, 60, level=1), *(block(61 + 10 * n, 70 + 10 * n) for n in range(5))]
    assert choose_merge(blocks, 6) is None
    blocks.append(block(111, 120))
    assert choose_merge(blocks, 6) == blocks[1:]
    blocks.append(block(121, 130))
    assert choose_merge(blocks, 6) == blocks[1:7]


@pytest.mark.spec("CTX-6")
def test_blocks_of_all_levels_stay_in_the_budget_however_many_there_are() -> None:
    """Strict tiers over 20,000 folds, each block as large as it may be."""
    blocks: list[Any] = []
    most = seq = 0
    for _ in range(20_000):
        seq += 10
        blocks.append(block(seq - 9, seq, tokens=block_tokens_max(blocks, 0, LIMITS)))
        most = max(most, sum(each.tokens for each in blocks))
        while merging := choose_merge(blocks, LIMITS.fanout):
            level = merging[0].level + 1
            place = blocks.index(merging[0])
            tokens = block_tokens_max(blocks, level, LIMITS)
            blocks[place : place + len(merging)] = [
                block(merging[0].first_seq, merging[-1].last_seq, level, tokens=tokens)
            ]
    assert most <= LIMITS.block_budget_tokens
    assert [each.level for each in blocks] == sorted((each.level for each in blocks), reverse=True)
    assert max(each.level for each in blocks) == 5


@pytest.mark.spec("CTX-2")
def test_where_all_is_folded_already_no_span_is_chosen() -> None:
    log = turns(*PAIR * 20)
    assert choose_span([], session(log, folded=Folded(to_seq=40, turns=40, exchanges=20)), "manual", LIMITS) is None


@pytest.mark.spec("CTX-2", "CTX-11")
@given(log=logs(), reason=st.sampled_from(["interval", "threshold", "manual", "backlog"]), keep=st.integers(0, 10))
def test_no_cut_parts_a_call_from_a_result_that_follows(log: list[Turn], reason: Any, keep: int) -> None:
    chosen = choose_span(log, session(log), reason, replace(LIMITS, keep_recent=keep))
    if chosen is None:
        return
    after = [turn for turn in log if turn.seq > chosen.last_seq]
    assert chosen.first_seq == 1 and after, "the last exchange always stays"
    if reason != "threshold":
        assert len(after) >= keep
    called: dict[str, int] = {}
    for turn in log:
        called |= dict.fromkeys(tool_calls(turn.parts), turn.seq)
        for id in tool_results(turn.parts):
            if id in called:
                own = called.pop(id)  # the newest call of the id is its own, and is answered once
                assert (own <= chosen.last_seq) == (turn.seq <= chosen.last_seq)


@pytest.mark.spec("CTX-6")
def test_an_interrupted_call_whose_id_is_used_again_does_not_hold_what_lies_between_together() -> None:
    broken_off = ("user", call("call_0"), {"role": "assistant", "text": "Stopped."})
    log = turns(*broken_off, *["user", "assistant"] * 5, "user", call("call_0"), result("call_0"), "assistant")
    span = choose_span(log, session(log), "threshold", Limits(context_limit_tokens=500))
    assert span is not None and span.last_seq == 13, "all but the last exchange"


@pytest.mark.spec("CTX-6")
def test_a_result_that_comes_a_second_time_does_not_hold_what_lies_between_together() -> None:
    log = turns(
        "user", call("a"), result("a"), "assistant", *["user", "assistant"] * 5, result("a"), "user", "assistant"
    )
    span = choose_span(log, session(log), "interval", replace(LIMITS, keep_recent=4))
    assert span is not None and span.last_seq == 12, "all but the four turns to keep, moved back to the user's turn"
