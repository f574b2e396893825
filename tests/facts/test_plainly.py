"""Facts without a model: the sentences in which the owner says something in so many words."""

from __future__ import annotations

import pytest

from afterglow.facts.plainly import claims_of
from afterglow.turns import Draft
from tests.facts.spoken import as_turns
from tests.kit.loops import for_each


@pytest.mark.spec("FACT-4")
@for_each(
    "text, plain",
    [
        ("My doctor is Dr. Weber. She is new.", ["My doctor is Dr. Weber."]),
        ("I live in St. Gallen, near the lake.", ["I live in St. Gallen, near the lake."]),
        ("i prefer tea\nremind me to call ben", ["i prefer tea", "remind me to call ben"]),
        ("I like tea! Do I like milk? It rains.", ["I like tea!"]),
    ],
)
def test_what_the_owner_plainly_says_is_claimed_by_whole_sentences(text: str, plain: list[str]) -> None:
    turns = as_turns([Draft(role="user", text=text, trust="owner", origin="person")])
    assert [claim.content for claim in claims_of(turns)] == plain
