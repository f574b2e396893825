"""Which turns a statement has its words from, and what of it a text does not say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from afterglow.facts.said import Said, Spoken
from afterglow.facts.support import lacking, needed, unsaid_numbers
from afterglow.terms import terms
from afterglow.turns import Turn
from tests.kit.loops import for_each

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday


def turn(seq: int, text: str) -> Turn:
    return Turn(
        owner="ana", session="talk", seq=seq, role="user", text=text, at=NOON, tokens=1, trust="owner", origin="person"
    )


def needed_by(content: str, at: int, *texts: str) -> list[tuple[int, str]]:
    turns = [turn(seq, text) for seq, text in enumerate(texts, 1)]
    found = needed(content, turns[at - 1], Said(turns, (), terms), NOON.date(), terms)
    return [(each.turn.seq, each.quote) for each in found]


@pytest.mark.spec("FACT-3", "SAFE-3")
@for_each(
    "content, at, texts, expected",
    [
        ("Ana lives in Rome.", 2, ("Ana is here.", "Ana lives in Rome."), []),
        ("Ana lives in Rome.", 2, ("Hello. My sister is Ana. Yes.", "She lives in Rome."), [(1, "My sister is Ana.")]),
        ("Ana lives in Rome.", 1, ("She lives in Rome.", "Who?", "Ana."), [(3, "Ana.")]),
        ("The exam is on 12 March 2026.", 2, ("When? On March 12?", "The exam, yes."), [(1, "On March 12?")]),
        ("The user owns 14 bicycles.", 2, ("How many, 14?", "I own bicycles."), [(1, "How many, 14?")]),
        ("The user prefers tea.", 3, ("Tea?", "Or tea?", "Yes, I prefer that."), [(2, "Or tea?")]),
        ("Ana, a marine biologist, lives in Rome.", 4,
         ("Ana is a marine biologist.", "Fine.", "Good.", "She lives in Rome."), [(1, "Ana is a marine biologist.")]),
    ],
)  # fmt: skip
def test_a_statement_needs_the_nearest_turn_that_says_what_its_own_does_not(
    content: str, at: int, texts: tuple[str, ...], expected: list[tuple[int, str]]
) -> None:
    assert needed_by(content, at, *texts) == expected


def test_a_long_sentence_is_quoted_in_whole_words_from_its_beginning() -> None:
    ((_, quote),) = needed_by("Ana lives in Rome.", 2, "Ana " + "and so on " * 200, "She lives in Rome.")
    assert quote.startswith("Ana and so on") and len(quote) <= 1_000 and quote.endswith(("and", "so", "on"))


def test_what_a_text_does_not_say_is_named() -> None:
    assert lacking("Ana lives in Rome.", Spoken("My sister lives in Rome.", terms), NOON.date()) == {"ana"}
    assert lacking("Ana has 3 dogs.", Spoken("Ana has three dogs", terms), NOON.date()) == set()
    assert lacking("It is on 9 March 2026.", Spoken("it is tomorrow", terms), NOON.date()) == {"9 March 2026"}


@pytest.mark.spec("FACT-4")
@for_each(
    "content, text, unsaid",
    [
        ("Leo is 5 years old.", "Leo is five.", set[str]()),
        ("Ana has 20 apples.", "Ana has twenty apples", set[str]()),
        ("Ana is 72.", "Ana is seventy-two", set[str]()),
        ("Ana is 70.", "Ana is seventy-two", {"70"}),
        ("It is at 19:30.", "it is at 7.30pm", set[str]()),
        ("It is at 7:30 pm.", "it is at 19:30", set[str]()),
        ("It is at 19:00.", "it is at 7 pm", set[str]()),
        ("It is at 7:30.", "it is at 19:30", {"7:30"}),
        ("It is at 9:30.", "it is at half past nine", set[str]()),
        ("It is at 5:45.", "it is at quarter to six", set[str]()),
        ("It is at 9:15.", "it is at half past nine", {"9:15"}),
        ("No meeting before 10:00.", "meetings never before 10", set[str]()),
        ("No meeting before 11:00.", "meetings never before 10", {"11:00"}),
        ("Ana gets up at 6:00.", "I get up at six on weekdays", set[str]()),
        ("Ana works from 9:00 to 17:00.", "I work from 9 to 17.", set[str]()),
        ("It is open from 9:00 to 12:00.", "it is open 9-12", {"9:00", "12:00"}),
        ("Ana calls at 10:00.", "ten o'clock, then", set[str]()),
        ("Ana left at 3:00.", "Ana left after 3 days", {"3:00"}),
        ("Ana came at 6:00.", "Ana has 6 cats", {"6:00"}),
        ("It costs 6:00.", "at 6,50 or 6.5", {"6:00"}),
        ("It grew at 30:00.", "it grew by 30.", {"30:00"}),
        ("Ana kommt um 8:00.", "ich komme um 8", set[str]()),
        ("Ana kommt nach 20:00.", "nicht nach 20 Uhr", set[str]()),
        ("Ana arrive à 8:00.", "j'arrive à 8h", set[str]()),
        ("Ana cena a las 9:00.", "ceno a las 9", set[str]()),
        ("Анна встаёт в 7:00.", "я встаю в 7 утра", set[str]()),
        ("会议在10:00。", "会议10点开始", set[str]()),
    ],
)
def test_a_number_is_the_same_in_words_and_by_either_clock(content: str, text: str, unsaid: set[str]) -> None:
    assert unsaid_numbers(content, text, NOON.date()) == unsaid
