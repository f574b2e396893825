"""Days in words, made absolute from the day they were said on."""

from __future__ import annotations

from datetime import date

import pytest

from afterglow.facts.dates import days_named, made_absolute, unsupported_days

SAID = date(2026, 3, 4)  # a Wednesday


@pytest.mark.spec("FACT-3")
@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("Anna calls tomorrow", "Anna calls on 5 March 2026"),
        ("They met two weeks ago", "They met on 18 February 2026"),
        ("It was the day before yesterday", "It was on 2 March 2026"),
        ("He flies in 3 days", "He flies on 7 March 2026"),
        ("It rained last Friday", "It rained on 27 February 2026"),
        ("She comes this Friday", "She comes on 6 March 2026"),
        ("Er fliegt übermorgen", "Er fliegt 2026-03-06"),
        ("She comes next Friday", "She comes next Friday"),  # people mean two days by it
        ("Guten Morgen", "Guten Morgen"),
        ("It is on 3 March 2026", "It is on 3 March 2026"),
    ],
)
def test_a_relative_day_becomes_the_day_it_was(text: str, absolute: str) -> None:
    assert made_absolute(text, SAID) == absolute


@pytest.mark.spec("FACT-4")
@pytest.mark.parametrize(
    ("content", "turn_text", "unsupported"),
    [
        ("Anna calls on 5 March 2026.", "I'll call Anna tomorrow", None),
        ("Anna calls on 6 March 2026.", "I'll call Anna tomorrow", "6 March 2026"),
        ("The exam is on 12 March 2026.", "My exam is on the 12th of March", None),
        ("The exam is on 12 March 2025.", "My exam is on March 12, 2026", "12 March 2025"),
        ("They move in April 2026.", "We move next month", None),
        ("They move in June 2026.", "We move next month", "June 2026"),
        ("The dentist is on 9 March 2026.", "the dentist is on Monday", None),
        ("It was said on 4 March 2026.", "it broke", None),
        ("Release 2.4 is out.", "2.4 is out", None),
        ("It is on 2026-02-30.", "it is on 30 February", "2026-02-30"),
    ],
)
def test_a_day_must_be_one_that_the_turn_speaks_of(content: str, turn_text: str, unsupported: str | None) -> None:
    assert unsupported_days(content, turn_text, SAID) == ({unsupported} if unsupported else set())


def test_a_day_without_a_year_may_be_of_the_years_around() -> None:
    assert date(2027, 1, 2) in days_named("see you on 2 January", SAID)


@pytest.mark.parametrize("text", ["in 999 weeks", "99 days ago", "31 February", "on on on", ""])
def test_nonsense_is_no_error(text: str) -> None:
    days_named(text, date(1, 1, 1))
    made_absolute(text, date(9999, 12, 31))
