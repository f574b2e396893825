"""A feeling that nobody spoke of is no part of a fact."""

from __future__ import annotations

import pytest

from tests.facts.test_voices import became

UNSAID = "a feeling that was not said"


@pytest.mark.spec("FACT-4", "P10")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "Jon was pleased about the performance at the festival.",
            "Yeah, they're the ones performing at the festival!",
        ),
        ("Mel finished a pottery project and expresses pride in it.", "I finished another pottery project today."),
        ("Ana is anxious about the exam in algebra.", "The exam in algebra is on Friday."),
        ("Ana is sad that the train to Ghent was late.", "The train to Ghent was late, and a great view it had."),
    ],
)
def test_what_somebody_must_have_felt_was_not_said(content: str, said: str) -> None:
    name = content.split()[0]
    assert became(content, said, f"user {name}: {said}") == UNSAID


@pytest.mark.spec("FACT-4")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Jon is thrilled about the festival.", "I'm so excited for the festival!"),
        ("Jon is grateful for the help with the festival.", "Thanks for the help with the festival!"),
        ("Jon is excited about the promotion at work.", "I got a promotion at work and I'm over the moon."),
        ("Ana is worried about the exam in algebra.", "The exam in algebra gives me anxiety."),
        ("Ana keeps a hat named Pride.", "I keep a hat, its name is Pride."),
    ],
)
def test_a_feeling_may_be_told_in_another_word(content: str, said: str) -> None:
    name = content.split()[0]
    assert became(content, said, f"user {name}: {said}") == content
