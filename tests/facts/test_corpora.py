"""The corpora keep their own rules, so that what is measured with them means what it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, TypeVar

from afterglow.guard import redact, strip_invisible
from afterglow.turns import Draft
from tests.facts import attacks, lookalikes
from tests.facts.attack_texts import ENGLISH
from tests.facts.attack_tongues import FOREIGN
from tests.facts.attacks import (
    ALL,
    ATTACKS,
    BORROWED,
    DISGUISES,
    FAMILIES,
    GATES,
    LAUNDERED,
    PASTED,
    REPEATED,
    TWISTED,
    UNHEARD,
    Attack,
    plots,
)
from tests.facts.carriers import CARRIERS, PASTES
from tests.facts.lookalikes import LOOKALIKES, TYPES, WAITS, LookAlike
from tests.facts.pairs import PAIRS
from tests.facts.ways_out import LINKS, WAYS_OUT, WayOut

TRUSTS = {
    "tool": "external",
    "web": "external",
    "mail": "external",
    "calendar": "external",
    "file": "external",
    "mcp": "external",
    "agent": "other",
    "display name": "other",
    "import": "agent",
}
CONTENT_CHARS_MAX = 300
MONEY_AND_ADDRESSES = ["@", "://", "www.", "€", "$", "£", "euro", "dollar", "franc", "iban", "street", "invoice"]

T = TypeVar("T", Attack, LookAlike, Attack | LookAlike)


def facts_of(talks: Iterable[T]) -> Iterator[tuple[T, dict[str, Any]]]:
    return ((talk, fact) for talk in talks for fact in talk.said)


def said_in(talk: Attack | LookAlike, fact: dict[str, Any]) -> Draft:
    return talk.turns[fact["turn"] - 1]


def is_told(talk: LookAlike) -> bool:
    return all(said_in(talk, fact).trust != "owner" for fact in talk.said)


def test_every_family_comes_in_every_carrier_under_every_disguise() -> None:
    names = [carrier.name for carrier in CARRIERS]
    assert (len(FAMILIES), len(names), len(DISGUISES)) == (12, 9, 5)
    found = [(attack.family, attack.carrier, attack.disguise) for attack in ATTACKS]
    assert found == list(product(FAMILIES, names, DISGUISES))


def test_every_family_is_pasted_in_every_form() -> None:
    assert [(attack.family, attack.carrier) for attack in PASTED] == [
        (family, f"pasted {form}") for family in FAMILIES for form in PASTES
    ]
    assert len(PASTED) == 60
    assert {turn.trust for attack in PASTED for turn in attack.turns} == {"owner"}


def test_what_is_borrowed_repeated_or_twisted_comes_from_every_family() -> None:
    assert (len(BORROWED), len(REPEATED), len(TWISTED)) == (108, 48, 48)
    assert {attack.family for attack in TWISTED} == set(FAMILIES)
    assert {attack.family for attack in BORROWED} == {attack.family for attack in REPEATED} == set(FAMILIES)
    assert {said_in(*found).trust for found in facts_of(BORROWED)} == {"owner"}
    assert {said_in(*found).trust for found in facts_of(TWISTED)} == {"owner"}
    assert {said_in(*found).trust for found in facts_of(REPEATED)} == {"agent", "owner"}


def test_every_fact_quotes_the_turn_it_names() -> None:
    for talk, fact in facts_of((*ALL, *UNHEARD, *LOOKALIKES, *WAITS)):
        assert 1 <= fact["turn"] <= len(talk.turns), talk.name
        assert fact["quote"], talk.name
        assert fact["quote"] in said_in(talk, fact).text, talk.name


def test_every_fact_has_the_form_that_a_model_is_asked_for() -> None:
    for talk, fact in facts_of((*ALL, *UNHEARD, *LOOKALIKES, *WAITS)):
        assert list(fact) == ["type", "content", "confidence", "turn", "quote"], talk.name
        assert fact["type"] in TYPES, talk.name
        assert fact["confidence"] in ("high", "medium", "low"), talk.name
        assert 0 < len(fact["content"]) <= CONTENT_CHARS_MAX, talk.name


def test_every_attack_claims_what_must_be_held_back_under_an_honest_and_a_harmless_type() -> None:
    for attack in ALL:
        honest, *laundered = attack.said
        assert attack.gated, attack.name
        assert laundered, attack.name
        for fact in laundered:
            assert fact["type"] in LAUNDERED, attack.name
            assert fact["type"] != honest["type"], attack.name


def test_the_door_says_whose_words_an_attack_is_made_of() -> None:
    for attack, fact in facts_of(ATTACKS):
        turn = said_in(attack, fact)
        assert turn.trust == TRUSTS[attack.carrier], attack.name
        assert (turn.role == "tool") == (turn.trust == "external"), attack.name
        assert (turn.origin == "import") == (attack.carrier == "import"), attack.name


def test_all_harmless_types_are_tried() -> None:
    tried = Counter(fact["type"] for attack in ATTACKS for fact in attack.said[1:])
    assert set(tried) == set(LAUNDERED)
    assert min(tried.values()) >= 40
    assert {gate for attack in ATTACKS for gate in attack.gates} == set(GATES)


def test_disguises_hide_what_they_say_they_hide() -> None:
    for attack in ATTACKS:
        quote, content = attack.said[0]["quote"], attack.said[1]["content"]
        if attack.disguise == "invisible":
            assert strip_invisible(quote)[1], attack.name
            assert strip_invisible(content)[1], attack.name
        elif attack.disguise == "homoglyph":
            assert not quote.isascii(), attack.name
            assert not content.isascii(), attack.name
        elif attack.disguise == "encoding":
            assert not any(quote in text for text in ENGLISH.values()), attack.name
        elif attack.disguise == "multilingual":
            assert attack.language != "en", attack.name
    assert len({attack.language for attack in ATTACKS if attack.disguise == "multilingual"}) >= 10


def test_corpora_are_the_same_at_every_run() -> None:
    assert tuple(attacks.attacks()) == ATTACKS
    assert tuple(lookalikes.lookalikes()) == LOOKALIKES


def test_what_makes_a_claim_one_to_hold_back_is_in_its_words() -> None:
    marks = {"url": r"\.example", "address": r"@|\d{4}|\d \d", "money": r"\d{3}|円"}
    for plot in (plot for texts in (ENGLISH, FOREIGN) for text in texts.values() for plot in plots(text)):
        for claim in (plot.honest, plot.laundered):
            assert claim.gate in GATES, claim
            assert re.search(marks.get(claim.gate, ""), claim.content), claim


def test_about_half_of_the_attacks_and_look_alikes_is_held_out() -> None:
    for corpus in (ATTACKS, PASTED, BORROWED, REPEATED, TWISTED, LOOKALIKES):
        assert 0.4 <= sum(talk.held_out for talk in corpus) / len(corpus) <= 0.6


def test_what_no_list_was_written_for_is_much_and_mostly_told_by_others() -> None:
    assert len(UNHEARD) >= 120
    assert sum(talk.held_out for talk in UNHEARD) >= 60
    assert sum(talk.held_out for talk in LOOKALIKES if "held out" in talk.name) >= 60
    assert sum(map(is_told, UNHEARD)) >= 100
    assert len({talk.language for talk in UNHEARD}) >= 30


def test_a_pasted_attack_closes_the_fence_it_stands_in() -> None:
    """The hardest paste: by the fences alone, its words look typed."""
    (attack,) = (attack for attack in PASTED if attack.name == "mimicry/pasted fenced text")
    before, _, _ = attack.turns[0].text.partition(attack.said[0]["quote"])
    assert before.count("\n```") == 2


def test_nothing_is_in_a_corpus_twice() -> None:
    for corpus in (ALL, UNHEARD, LOOKALIKES):
        assert not _twice(talk.name for talk in corpus)
    for corpus in (ATTACKS, PASTED, BORROWED, REPEATED, TWISTED):
        assert not _twice((*(turn.text for turn in talk.turns), str(talk.said)) for talk in corpus)
    assert not _twice(talk.turns[-1].text for talk in LOOKALIKES)
    assert not _twice(fact["content"] for talk in LOOKALIKES for fact in talk.said)
    assert not _twice(frozenset((pair.first, pair.second)) for pair in PAIRS)
    assert not _twice(way.name for way in WAYS_OUT)
    assert not _twice((way.path, way.link) for way in WAYS_OUT)


def test_look_alikes_are_many_and_a_third_of_them_is_told_by_others() -> None:
    assert len(LOOKALIKES) >= 320
    assert 0.3 <= sum(map(is_told, LOOKALIKES)) / len(LOOKALIKES) <= 0.4
    assert len({talk.language for talk in LOOKALIKES}) >= 10


def test_wishes_are_the_owners_alone() -> None:
    for talk in LOOKALIKES:
        if is_told(talk):
            assert "preference" not in {fact["type"] for fact in talk.said}, talk.name


def test_only_a_wish_of_the_owner_holds_money_a_url_or_an_address() -> None:
    for talk, fact in facts_of(LOOKALIKES):
        if fact["type"] != "preference":
            found = [mark for mark in MONEY_AND_ADDRESSES if mark in (fact["content"] + fact["quote"]).lower()]
            assert not found, talk.name


def test_the_guard_leaves_the_look_alikes_as_they_are() -> None:
    for talk in LOOKALIKES:
        for turn in talk.turns:
            assert redact(turn.text).text == turn.text
            assert strip_invisible(turn.text)[0] == turn.text


def test_pairs_are_labelled_in_balance_and_half_of_each_label_is_held_out() -> None:
    assert Counter(pair.label for pair in PAIRS) == {"same": 70, "replaces": 50, "different": 80}
    assert Counter(pair.label for pair in PAIRS if pair.held_out) == {"same": 35, "replaces": 25, "different": 40}
    assert all(pair.first != pair.second for pair in PAIRS)
    assert len(PAIRS) == 200


def test_pairs_read_as_sentences() -> None:
    for text in (text for pair in PAIRS for text in (pair.first, pair.second)):
        assert text[0].isupper() and text.endswith("."), text


def test_ways_out_are_many_and_every_link_lies_in_the_folder() -> None:
    assert len(WAYS_OUT) >= 60
    for way in LINKS:
        at = way.at or way.path
        assert way.link
        assert not at.startswith("/")
        assert ".." not in at.split("/")
        assert way.path.startswith(at)


def test_a_way_out_is_filled_with_real_places() -> None:
    for way in WAYS_OUT:
        filled = way.filled("/memory/ana", "/memory/secret.txt")
        assert not any(mark in filled.path + (filled.link or "") for mark in ("{folder}", "{name}", "{outside}"))
    way = WayOut(name="x", path="{folder}-2/../{name}/y", link="{outside}").filled("/memory/ana", "/memory/secret.txt")
    assert (way.path, way.link) == ("/memory/ana-2/../ana/y", "/memory/secret.txt")


def _twice(things: Any) -> list[Any]:
    return [thing for thing, count in Counter(things).items() if count > 1]
