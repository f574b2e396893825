"""A feeling that nobody spoke of is no part of a fact."""

from __future__ import annotations

import pytest

from afterglow.facts.feelings import unsaid_feeling
from tests.facts.spoken import became
from tests.kit.loops import for_each

UNSAID = "a feeling that was not said"


@pytest.mark.spec("FACT-4", "P10")
@for_each(
    "content, said",
    [
        (
            "Jon was pleased about the performance at the festival.",
            "Yeah, they're the ones performing at the festival!",
        ),
        ("Mel finished a pottery project and expresses pride in it.", "I finished another pottery project today."),
        ("Ana is anxious about the exam in algebra.", "The exam in algebra is on Friday."),
        ("Ana is anxious about the algebra exam.", "I sat down for the algebra exam."),
        ("Ana is sad that the train to Ghent was late.", "The train to Ghent was late, and a great view it had."),
    ],
)
def test_a_feeling_that_a_person_must_have_had_was_not_said(content: str, said: str) -> None:
    name = content.split()[0]
    assert became(content, said, f"user {name}: {said}") == UNSAID


@pytest.mark.spec("FACT-4")
@for_each(
    "content, said",
    [
        ("Jon is thrilled about the festival.", "I'm so excited for the festival!"),
        ("Jon is grateful for the help with the festival.", "Thanks for the help with the festival!"),
        ("Jon is excited about the promotion at work.", "I got a promotion at work and I'm over the moon."),
        ("Ana is worried about the exam in algebra.", "The exam in algebra gives me anxiety."),
        ("Ana keeps a hat named Pride.", "I keep a hat, its name is Pride."),
        ("Ana is afraid of spiders.", "I have a phobia of spiders."),
        ("Ana is scared of big dogs.", "Big dogs freak me out."),
        ("Ana was angry at the airline.", "The airline pissed me off."),
        ("Ana is passionate about chess.", "I'm crazy about chess."),
        ("Ana is exhausted after night shifts.", "Night shifts wipe me out."),
    ],
)
def test_a_feeling_may_be_told_in_another_word(content: str, said: str) -> None:
    name = content.split()[0]
    assert became(content, said, f"user {name}: {said}") == content


@pytest.mark.spec("FACT-4")
def test_a_feeling_may_be_named_by_the_question_and_a_name_is_none() -> None:
    asked = "assistant Mel: Are you happy with the new job at Siemens? It was a great day here."
    content = "Ana is happy with the new job at Siemens."
    assert (
        became(content, "Yes, very, with the new job", asked, "user Ana: Yes, very, with the new job at Siemens.")
        == content
    )
    named = ["user Ana: My sister Joy wrote.", "user Ana: She moved to Rome in 2024."]
    assert became("Joy moved to Rome in 2024.", "She moved to Rome in 2024.", *named) == "Joy moved to Rome in 2024."
    glad = "assistant Mel: It was a great day here, and a happy one."
    assert became("Ana is happy with the bus.", "I took the bus", glad, "user Ana: I took the bus.") == UNSAID


def test_what_was_said_in_another_language_is_not_measured_by_english_words() -> None:
    assert not unsaid_feeling("Ana was happy in Bonn.", "Ich war sehr glücklich in Bonn, und das ist auch gut so.")
