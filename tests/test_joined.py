"""Words and meaning in one order: pure, so every case can be written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from afterglow.search.joined import join
from afterglow.store.search import Indexed, Matches, Record, RecordKind, RecordStats, Sought, Stats
from afterglow.turns import Role

pytestmark = pytest.mark.spec("FACT-9")

TURNS = 1000


def turn(seq: int, text: str, role: Role = "user", session: str = "s") -> Indexed:
    return Indexed(session=session, seq=seq, role=role, at_us=seq, terms=tuple(text.split()), id=seq)


def record(kind: RecordKind, number: int, text: str) -> Record:
    return Record(kind=kind, place=f"{kind}{number}", seq=0, at_us=0, terms=tuple(text.split()), id=1000 + number)


def matches(*found: Indexed | Record, holding: Mapping[str, int] | None = None) -> Matches:
    turns = [each for each in found if isinstance(each, Indexed)]
    records = [each for each in found if isinstance(each, Record)]
    counts = {("user", term): n for term, n in (holding or {}).items()}
    return Matches(
        turns=turns,
        stats=Stats(
            turns={"user": TURNS},
            terms={"user": 6 * TURNS},
            holding=counts,  # type: ignore[arg-type]
            sessions=20,
            session_terms={"s": 300},
        ),
        records=records,
        record_stats={kind: RecordStats(records=10, terms=60, holding={}) for kind in {each.kind for each in records}},
    )


def order(query: str, found: Matches, cosines: Mapping[int, float] | None = None, **more: Any) -> list[str]:
    ranked = join(query.split(), found, cosines or {}, 10, **more)
    return [f"{each.kind} {each.seq or each.place}" for each in ranked]


def test_without_vectors_the_order_is_that_of_words() -> None:
    found = matches(turn(1, "dog cat"), turn(5, "dog"), turn(9, "fish"))
    assert order("dog cat", found) == ["turn 1", "turn 5"]


def test_what_is_near_is_found_without_a_word() -> None:
    found = matches(turn(1, "dog"), turn(7, "puppy"), turn(9, "train"))
    assert order("dog", found, {1: 0.9, 7: 0.8, 9: 0.1}) == ["turn 1", "turn 7"]


def test_what_is_both_said_and_meant_stands_first() -> None:
    found = matches(turn(1, "dog"), turn(5, "dog"), turn(9, "train"))
    assert order("dog", found, {1: 0.3, 5: 0.8, 9: 0.1})[:2] == ["turn 5", "turn 1"]


def test_one_record_alone_is_near_if_it_is_the_only_one() -> None:
    assert order("dog", matches(turn(7, "puppy")), {7: 0.6}) == ["turn 7"]


def test_what_has_no_vector_yet_keeps_its_place_by_words() -> None:
    found = matches(turn(1, "dog cat"), turn(5, "dog"), turn(9, "train"))
    assert order("dog cat", found, {5: 0.2, 9: 0.1})[0] == "turn 1"


def test_a_neighbour_outside_the_time_counts_for_the_other_and_is_not_given() -> None:
    found = matches(turn(4, "dog"), turn(5, "yes"))
    assert order("dog", found) == ["turn 4", "turn 5"]
    assert order("dog", found, sought=Sought(since_us=5)) == ["turn 5"]


def test_a_fact_that_answers_stands_before_a_turn_that_mentions_and_behind_one_that_says_more() -> None:
    holding = {"dog": 100, "allergic": 3, "chicken": 3}
    found = matches(
        turn(1, "my dog barks"),
        turn(5, "dog allergic chicken"),
        record("fact", 1, "dog allergic"),
        holding=holding,
    )
    assert order("dog allergic chicken", found) == ["turn 5", "fact fact1", "turn 1"]


def test_what_says_the_same_as_a_fact_but_among_many_things_stands_behind_it() -> None:
    text = "dog allergic chicken salmon food"
    found = matches(record("fact", 1, text), record("block", 2, text), record("summary", 3, text))
    assert order("dog allergic", found)[0] == "fact fact1"


def test_a_weak_word_alone_does_not_make_a_record_first() -> None:
    found = matches(
        turn(1, "rare words here"), record("fact", 1, "common"), holding={"rare": 1, "words": 1, "common": 900}
    )
    assert order("rare words common", found)[0] == "turn 1"


def test_the_neighbour_before_a_match_is_no_hit_by_itself() -> None:
    found = matches(turn(4, "nothing of that"), turn(5, "dog"))
    assert order("dog", found) == ["turn 5"]


def test_of_equals_the_newest_is_first_and_the_order_does_not_depend_on_that_of_what_comes_in() -> None:
    one, two = turn(1, "dog"), turn(9, "dog")
    assert order("dog", matches(one, two)) == order("dog", matches(two, one)) == ["turn 9", "turn 1"]
