"""A fact of an export is looked at before it is believed to be one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from afterglow.errors import BadInput
from afterglow.facts import Evidence, Fact, digest_of
from afterglow.facts.received import received
from tests.kit.loops import for_each
from tests.kit.records import NOON

PROOF = Evidence(session="talk", seq=1, quote="the red kettle", at=NOON)
FACT = Fact(
    owner="ana", id="f", type="other", content="The kettle is red.", confidence="high", source_date="2026-03-02",
    extracted_at=NOON, trust="owner", status="active", why=None, supersedes=None, session="talk", way="extracted",
    model="m", prompt="p", changed_at=NOON, evidence=(PROOF,),
)  # fmt: skip
STONE = replace(FACT, status="forgotten", content="", evidence=(replace(PROOF, quote=""),))


@pytest.mark.spec("LOG-7", "P10")
def test_the_digest_is_made_of_the_words_and_not_taken_from_the_file() -> None:
    assert received(FACT, "0" * 32) == digest_of("ana", FACT.content)
    assert received(STONE, "0" * 32) == "0" * 32, "of what was forgotten nothing else is left"


@pytest.mark.spec("LOG-7", "P10")
@for_each(
    "wrong, said",
    [
        ({"type": "secret"}, "has type 'secret'; it is one of preference"),
        ({"status": "true"}, "has status 'true'"),
        ({"trust": "root"}, "has trust 'root'"),
        ({"confidence": 1}, "has confidence 1"),
        ({"way": "magic"}, "has way 'magic'"),
        ({"content": "x" * 501}, "this has 501"),
        ({"content": " … "}, "1 to 500 characters of words"),
        ({"content": None}, "must be text"),
        ({"content": "a\0b"}, "NUL"),
        ({"id": 4}, "the id of a fact must be text"),
        ({"supersedes": 4}, "must be text"),
        ({"source_date": "2026-3-2"}, "write a day as"),
        ({"source_date": "2026-02-30"}, "write a day as"),
        ({"source_date": None}, "write a day as"),
        ({"extracted_at": datetime(2026, 3, 2)}, "with its zone"),
        ({"changed_at": None}, "with its zone"),
        ({"evidence": (PROOF,) * 21}, "20 are the most"),
        ({"evidence": (replace(PROOF, quote="x" * 1001),)}, "1000 are the most"),
        ({"evidence": (replace(PROOF, seq=0),)}, "counted from 1"),
        ({"evidence": (replace(PROOF, seq=True),)}, "counted from 1"),
        ({"evidence": (replace(PROOF, needed=1),)}, "true or false"),
        ({"evidence": (replace(PROOF, at=datetime(2026, 3, 2)),)}, "with its zone"),
        ({"status": "forgotten"}, "says nothing"),
    ],
)
def test_what_is_no_fact_is_refused_with_a_sentence(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        received(replace(FACT, **wrong), "0" * 32)


@for_each("digest", ["", "x" * 32, "0" * 31, None, 7])
def test_a_stone_with_a_digest_that_is_none_is_refused(digest: Any) -> None:
    with pytest.raises(BadInput, match="digest"):
        received(STONE, digest)
