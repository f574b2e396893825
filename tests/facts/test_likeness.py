"""Whether two facts are one: clear cases by rule, the others in doubt."""

from __future__ import annotations

from collections import Counter

import pytest

from afterglow.facts.likeness import Likeness, Statement, likeness
from afterglow.terms import terms
from tests.facts.pairs import PAIRS, Pair


def verdict(pair: Pair) -> Likeness:
    return likeness(Statement(pair.first, terms), Statement(pair.second, terms))


@pytest.mark.spec("FACT-5")
def test_the_rule_never_calls_same_what_is_not() -> None:
    """A fact taken for another would be lost; one too many is only one too many."""
    wrong = [(pair.first, pair.second) for pair in PAIRS if verdict(pair) == "same" and pair.label != "same"]
    assert not wrong


@pytest.mark.spec("FACT-5")
def test_the_rule_leaves_most_pairs_that_are_near_in_doubt_and_is_seldom_wrong() -> None:
    assert len(PAIRS) >= 200
    counts = Counter((pair.label, verdict(pair)) for pair in PAIRS)
    overlooked = counts["same", "different"] + counts["replaces", "different"]
    assert overlooked <= 0.06 * len(PAIRS), counts


@pytest.mark.spec("FACT-5")
@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("Anna prefers aisle seats.", "anna  prefers aisle seats", "same"),
        ("Anna prefers aisle seats.", "Ben has two dogs.", "different"),
        ("Anna likes tea.", "Anna does not like tea.", "doubt"),
        ("The meeting is on 3 March 2026.", "The meeting is on 5 March 2026.", "doubt"),
    ],
)
def test_clear_cases(older: str, newer: str, expected: Likeness) -> None:
    assert likeness(Statement(older, terms), Statement(newer, terms)) == expected
