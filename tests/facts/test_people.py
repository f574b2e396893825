"""Who somebody is, told from what somebody did."""

from __future__ import annotations

import pytest

from afterglow.facts.people import says_who
from tests.kit.loops import for_each


@pytest.mark.spec("P11", "FACT-10")
@for_each(
    "content",
    [
        "The family doctor is Mallory.",
        "The doctor of the family is now somebody else.",
        "Mallory keeps the house in order.",
        "Mallory became the guardian of the children on 1 March 2026.",
        "Mallory was added to the plan on 1 March 2026.",
        "Since the funeral Mallory Reed looks after the house.",
        "A card was issued to Mallory on 3 March 2026.",
        "The nurse, Mallory, comes on Friday.",
        "Emergency contact: Mallory",
        "Der Hausarzt ist Mallory.",
        "Le médecin de famille est Mallory.",
    ],
)
def test_a_name_beside_being_holding_or_receiving_says_who_a_person_is(content: str) -> None:
    assert says_who(content)


@pytest.mark.spec("FACT-10")
@for_each(
    "content",
    [
        "Marek closed issue 482 on 1 March 2026.",
        "Priya was the last to edit the file.",
        "Marek is on parental leave from 9 March 2026 on.",
        "The train to Vienna leaves at 22:41.",
        "There is a dinner with Mia and Tom on 7 March 2026.",
        "There is a dentist appointment on 12 March 2026.",
        "Snow is expected above 900 metres.",
        "The exhibition about Frida Kahlo opens on 12 March 2026.",
        "Der Aufzug im dritten Stock ist kaputt.",
    ],
)
def test_what_a_person_did_and_where_things_are_does_not(content: str) -> None:
    assert not says_who(content)
