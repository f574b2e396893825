"""The gate: an obedient model says whatever any text tells it to, and nothing gated may become active by that."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from afterglow.facts import FactType
from afterglow.facts.checks import Claimed, Proved, check
from afterglow.facts.gate import Verdict, gate
from afterglow.terms import terms
from afterglow.turns import Draft
from tests.facts.attacks import ALL, ATTACKS, DISGUISES, FAMILIES, LAUNDERED, PASTED, UNHEARD, Attack
from tests.facts.lookalikes import FALSE, LOOKALIKES, WAITS, LookAlike
from tests.facts.spoken import as_turns
from tests.kit.loops import for_each

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HELD_BACK_MAX = 0.05
CLAIMS_A_CELL = 27
"""Three for each carrier, of each family under each disguise."""


def fate(case: Attack | LookAlike, fact: dict[str, Any]) -> str:
    """What becomes of a fact that a model claims."""
    checked = check([Claimed(**fact)], as_turns(case.turns), UTC, terms)
    return gate(checked.proved[0]).status if checked.proved else "dropped"


def unchecked(case: Attack | LookAlike, fact: dict[str, Any]) -> Verdict:
    """What the gate says of a claim as it stands, as if it were proved."""
    at: int = fact["turn"]
    turn = as_turns(case.turns)[at - 1]
    return gate(Proved(type=fact["type"], content=fact["content"], confidence="high", quote=fact["quote"], turn=turn))


@pytest.mark.spec("FACT-10", "P11", "FACT-4")
@for_each("family", sorted({attack.family for attack in ALL}))
def test_no_attack_makes_a_gated_fact_active(family: str) -> None:
    attacks = [attack for attack in ALL if attack.family == family]
    believed = [
        (attack.name, fact["content"]) for attack in attacks for fact in attack.said if fate(attack, fact) == "active"
    ]
    assert not believed


@pytest.mark.spec("FACT-10", "P11")
def test_no_attack_passes_the_gate_where_nothing_was_checked_before() -> None:
    """Most claims of the attacks are dropped by the checks, so that the gate never sees them. Here it sees all of them."""
    judged = Counter[tuple[str, str]]()
    believed: list[tuple[str, str]] = []
    for attack in (*ATTACKS, *PASTED):
        for fact in attack.said:
            judged[attack.family, attack.disguise] += 1
            believed += [(attack.name, fact["content"])] if unchecked(attack, fact).status == "active" else []
    assert all(judged[cell] >= CLAIMS_A_CELL for cell in product(FAMILIES, DISGUISES))
    assert not believed


@pytest.mark.spec("FACT-10", "P11")
def test_who_a_person_is_is_believed_from_the_owner_alone_under_every_type() -> None:
    told = [talk for talk in UNHEARD if "standing" in talk.name]
    believed = [
        (talk.name, kind, fact["content"])
        for talk in told
        for fact in talk.said
        for kind in LAUNDERED
        if unchecked(talk, {**fact, "type": kind}).status == "active"
    ]
    assert len(told) >= 180
    assert not believed


@pytest.mark.spec("FACT-4", "FACT-10")
def test_what_is_not_true_of_the_owner_does_not_become_active_by_words_that_were_said() -> None:
    believed = [
        (talk.turns[-1].text, fact["content"]) for talk in FALSE for fact in talk.said if fate(talk, fact) == "active"
    ]
    assert len(FALSE) >= 60
    assert not believed


@pytest.mark.spec("FACT-4", "FACT-10")
def test_what_owners_say_of_themselves_any_day_is_believed() -> None:
    lost = [
        (talk.turns[-1].text, fact["content"], fate(talk, fact))
        for talk in LOOKALIKES
        for fact in talk.said
        if talk.kind == "everyday" and fate(talk, fact) != "active"
    ]
    assert not lost


@pytest.mark.spec("FACT-10")
def test_of_harmless_look_alikes_at_most_a_twentieth_is_held_back() -> None:
    facts = [(case, fact) for case in LOOKALIKES for fact in case.said]
    held_back = [(case.name, fact["content"]) for case, fact in facts if fate(case, fact) != "active"]
    assert len(facts) >= 300
    assert len(held_back) <= HELD_BACK_MAX * len(facts), held_back


@pytest.mark.spec("FACT-10", "P11")
def test_what_no_list_was_written_for_is_not_believed_either() -> None:
    believed = [(talk.name, fact["content"]) for talk in UNHEARD for fact in talk.said if fate(talk, fact) == "active"]
    assert not believed


@pytest.mark.spec("FACT-10")
def test_a_harmless_report_in_a_language_without_lists_waits_and_is_not_lost() -> None:
    assert {talk.language: {fate(talk, fact) for fact in talk.said} for talk in WAITS} == {
        talk.language: {"pending"} for talk in WAITS
    }


@pytest.mark.spec("FACT-10")
@for_each(
    "text",
    [
        "The portal is at zenith.support/login.",
        "The portal is at zenith-login.page.",
        "The portal is at login.zenith.co.nz.",
        "The backup is at 203.0.113.77.",
        "The mirror is at 2001:db8::1.",
        "The price is 4000 kr.",
        "The price is 4000 rupees.",
        "The price is ZAR 4,000.",
        "The price is ₴400.",
        "The news come from @mallory_reed.",
        "The news come by Telegram.",
    ],
)
def test_links_addresses_and_money_of_any_kind_wait(text: str) -> None:
    assert _told(text).status == "pending"


@pytest.mark.spec("FACT-10")
@for_each(
    "text",
    [
        "The file summary.pdf has 12 pages.",
        "Release 2.4.1 is out, e.g. for Debian.",
        "Flight LH1432 leaves from gate B22 at noon.",
        "Commit 9f86d081884c7d65 fixed the login.",
        "The call is at 10:30:00 on the second line.",
        "All of this takes 3 TOPS of the chip.",
    ],
)
def test_names_with_dots_and_digits_are_not_all_links_and_money(text: str) -> None:
    assert _told(text).status == "active"


@pytest.mark.spec("FACT-10", "P11")
def test_a_preference_that_others_state_is_dropped_however_harmless_its_words() -> None:
    said = "The museum opens at nine on Mondays."
    assert _told(said).status == "active"
    assert _told(said, type="preference").status == "dropped"


def _told(text: str, type: FactType = "event") -> Verdict:
    turn = as_turns([Draft(role="tool", text=text, trust="external", origin="agent")])[0]
    return gate(Proved(type=type, content=text, confidence="high", quote=text, turn=turn))
