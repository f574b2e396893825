"""Days in words, made absolute from the day they were said on."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from afterglow.facts.dates import as_stated, left_relative, made_absolute, unsupported_days, years_named
from afterglow.facts.days import days_named
from tests.kit.loops import for_each

SAID = date(2026, 3, 4)  # a Wednesday


@pytest.mark.spec("FACT-3")
@for_each(
    "text, absolute",
    [
        ("Anna calls tomorrow", "Anna calls on 5 March 2026"),
        ("They met two weeks ago", "They met on 18 February 2026"),
        ("It was the day before yesterday", "It was on 2 March 2026"),
        ("He flies in 3 days", "He flies on 7 March 2026"),
        ("It rained last Friday", "It rained on 27 February 2026"),
        ("She comes this Friday", "She comes on 6 March 2026"),
        ("Er fliegt übermorgen", "Er fliegt 2026-03-06"),
        ("She comes next Friday", "She comes on 6 March 2026 or 13 March 2026"),  # people mean two days by it
        ("She comes on Tuesday next week", "She comes on 10 March 2026"),
        ("It rained last Fri", "It rained on 27 February 2026"),
        ("The sun was hot and Ana sat down", "The sun was hot and Ana sat down"),
        ("Ana moved last week", "Ana moved in the week of 23 February 2026"),
        ("Ana has lived there since last month", "Ana has lived there since February 2026"),
        ("Next month Ana moves", "In April 2026 Ana moves"),
        ("Ana moved last year", "Ana moved in 2025"),
        ("Ana moved two years ago", "Ana moved in 2024"),
        ("Ana moved last May", "Ana moved in May 2025"),
        ("Ana moved last summer", "Ana moved in the summer of 2025"),
        ("Ana moved a few days ago", "Ana moved a few days before 4 March 2026"),
        ("Ana comes this weekend", "Ana comes on the weekend of 7 March 2026"),
        ("It is in next year's budget", "It is in 2027's budget"),
        ("Ana zieht nächste Woche um", "Ana zieht 2026-03-09 – 2026-03-15 um"),
        ("Ana s'est mariée l'année dernière", "Ana s'est mariée 2025"),
        ("Ana se mudó el mes pasado", "Ana se mudó 2026-02"),
        ("Ana si è trasferita la settimana scorsa", "Ana si è trasferita 2026-02-23 – 2026-03-01"),
        ("A Ana mudou-se no mês passado", "A Ana mudou-se 2026-02"),
        ("Ana wraca w przyszłym tygodniu", "Ana wraca 2026-03-09 – 2026-03-15"),
        ("Анна приедет в следующем месяце", "Анна приедет 2026-04"),
        ("Ana verhuist volgend jaar", "Ana verhuist 2027"),
        ("用户上个月搬家了", "用户2026-02搬家了"),
        ("先週引っ越した", "2026-02-23 – 2026-03-01引っ越した"),
        ("지난달에 이사했다", "2026-02에 이사했다"),
        ('Ana likes "Yesterday", the song', 'Ana likes "Yesterday", the song'),
        ("Ana has been here for the last two years", "Ana has been here for the last two years"),
        ("Guten Morgen", "Guten Morgen"),
        ("Ana calls in twenty days", "Ana calls on 24 March 2026"),
        ("El usuario vuelve mañana", "El usuario vuelve 2026-03-05"),
        ("Er kommt morgen", "Er kommt 2026-03-05"),
        ("Tomorrow Ana flies", "On 5 March 2026 Ana flies"),
        ("It is on 3 March 2026", "It is on 3 March 2026"),
    ],
)
def test_a_relative_day_becomes_the_day_it_was(text: str, absolute: str) -> None:
    assert made_absolute(text, SAID) == absolute


@pytest.mark.spec("FACT-3")
@for_each(
    "text",
    [
        "El usuario prefiere volar por la mañana.",
        "El usuario se levanta a las 6 de la mañana.",
        "Every evening send the plan for tomorrow.",
        "The user wants a summary of yesterday's mail every morning.",
        "The user wants weekly reports on what happened last week.",
        "Der Nutzer will jeden Abend den Plan für morgen.",
        "The user wants to be called within 2 days of any change.",
        "The user reads USA Today.",
        "The user's favourite song is Yesterday.",
        "Der Nutzer trinkt den ganzen Morgen Kaffee.",
        "Der Nutzer hat diesen Morgen frei.",
    ],
)
def test_what_is_of_no_one_day_stays_as_it_was_said(text: str) -> None:
    assert made_absolute(text, SAID) == text
    assert not left_relative(text)


@pytest.mark.spec("FACT-4")
@for_each(
    "content, turn_text, unsupported",
    [
        ("Anna calls on 5 March 2026.", "I'll call Anna tomorrow", None),
        ("Anna calls on 6 March 2026.", "I'll call Anna tomorrow", "6 March 2026"),
        ("The exam is on 12 March 2026.", "My exam is on the 12th of March", None),
        ("The exam is on 12 March 2025.", "My exam is on March 12, 2026", "12 March 2025"),
        ("They move in April 2026.", "We move next month", None),
        ("They move in June 2026.", "We move next month", "June 2026"),
        ("They move in the week of 9 March 2026.", "We move next week", None),
        ("They move on 12 March 2026.", "We move next week", "12 March 2026"),
        ("They moved 2026-02.", "Wir sind letzten Monat umgezogen", None),
        ("They moved 2026-01.", "Wir sind letzten Monat umgezogen", "2026-01"),
        ("The dentist is on 9 March 2026.", "the dentist is on Monday", None),
        ("They met on 27 February 2026.", "we met last Friday", None),
        ("They met on 6 March 2026.", "we met last Friday", "6 March 2026"),
        ("They meet on 12 March 2026.", "we meet on Thursday next week", None),
        ("They meet on 5 March 2026.", "we meet on Thursday next week", "5 March 2026"),
        ("They meet on 9 March 2026.", "we meet on Monday, 16 March", "9 March 2026"),
        ("They meet on Monday 16 March 2026.", "we meet on 16 March", None),
        ("They meet on Tuesday 16 March 2026.", "we meet on 16 March", "on Tuesday "),
        ("It was said on 4 March 2026.", "it broke", None),
        ("Ana is away from 10 March 2026 to 14 March 2026.", "away from 10 to 14 March", None),
        ("Ana is away from 10 March 2026 to 14 March 2026.", "away March 10-14", None),
        ("Ana is away from 11 March 2026 to 14 March 2026.", "away from 10 to 14 March", "11 March 2026"),
        ("Release 2.4 is out.", "2.4 is out", None),
        ("It is on 2026-02-30.", "it is on 30 February", "2026-02-30"),
    ],
)
def test_a_day_must_be_one_that_the_turn_speaks_of(content: str, turn_text: str, unsupported: str | None) -> None:
    assert unsupported_days(content, turn_text, SAID) == ({unsupported} if unsupported else set())


@pytest.mark.spec("FACT-3")
@for_each(
    "text, absolute",
    [
        ("Ana will fly to Lisbon on the 12th.", "Ana will fly to Lisbon on 12 March 2026."),
        ("Ana is flying on the 2nd, with Ben", "Ana is flying on 2 April 2026, with Ben"),
        ("Ana must answer by the 31st", "Ana must answer by 31 March 2026"),
        ("Ana went to Lisbon on the 12th", "Ana went to Lisbon on 12 February 2026"),
        ("Ana was ill from the 1st to the 3rd", "Ana was ill from 1 March 2026 to 3 March 2026"),
        ("Ana has been ill since the 1st", "Ana has been ill since 1 March 2026"),
        ("The 12th works for Ana", "12 March 2026 works for Ana"),
        ("Ana meets Ben on the 12th of next month", "Ana meets Ben on the 12th of April 2026"),
        ("Lisbon with Ana on the 12th", "Lisbon with Ana on 12 February 2026 or 12 March 2026"),
        ("Ana booked a flight on the 12th", "Ana booked a flight on 12 February 2026 or 12 March 2026"),
        ("Ana fliegt am 12. nach Rom", "Ana fliegt 2026-02-12 / 2026-03-12 nach Rom"),
    ],
)
def test_a_day_by_its_number_is_the_one_that_the_tense_tells_or_either(text: str, absolute: str) -> None:
    assert made_absolute(text, SAID) == absolute


@pytest.mark.spec("FACT-3")
@for_each(
    "text",
    [
        "Ana lives on the 5th floor.",
        "Ana moves to the 5th floor of 5th Avenue.",
        "Ana is here for the 12th time.",
        "It was Ana's 30th birthday.",
        "It is from the 20th century.",
        "The rent is due on the 1st.",
        "Ana calls on the 1st of every month.",
        "Ana comes on the 3rd and 4th of March.",
        "In June Ana flies on the 12th.",
        "Ben kommt zum 5. Geburtstag.",
    ],
)
def test_a_number_that_is_no_day_or_of_a_month_that_is_named_stays(text: str) -> None:
    assert made_absolute(text, SAID) == text


@pytest.mark.spec("FACT-4")
def test_a_day_by_its_number_may_be_the_past_or_the_coming_one_or_of_a_month_that_is_named() -> None:
    assert days_named("see you on the 12th", SAID) == {date(2026, 2, 12), date(2026, 3, 12)}
    assert days_named("see you on the 12th of next month", SAID) == {date(2026, 4, 12)}
    assert date(2026, 6, 12) in days_named("in June, on the 12th", SAID)
    assert days_named("on the 5th floor", SAID) == set()


def test_a_day_without_a_year_may_be_of_the_years_around() -> None:
    assert date(2027, 1, 2) in days_named("see you on 2 January", SAID)


@pytest.mark.spec("FACT-3")
def test_what_no_rule_can_place_is_told_apart_from_what_needs_no_day() -> None:
    assert left_relative("Ana called two hours ago.")
    assert not left_relative('The user likes "Tomorrow Never Dies" and every Friday.')


@pytest.mark.spec("FACT-3")
@for_each(
    "text, absolute",
    [
        ("The cat was fed two hours ago.", "The cat was fed on 4 March 2026."),
        ("About 10 hours ago Ana called", "On 3 March 2026 Ana called"),
        ("Ana called half an hour ago", "Ana called on 4 March 2026"),
        ("Ana hat vor drei Stunden angerufen", "Ana hat 2026-03-04 angerufen"),
        ("Ana called tomorrow's host an hour ago", "Ana called 5 March 2026's host on 4 March 2026"),
        ("Ana called two to three hours ago", "Ana called two to three hours ago"),
        ("Ana called 1.5 hours ago", "Ana called 1.5 hours ago"),
        ("Ana called two and a half hours ago", "Ana called two and a half hours ago"),
        ("Ana always says she ate an hour ago", "Ana always says she ate an hour ago"),
        ("I fed the cat. Two hours ago Ana called her.", "I fed the cat. On 4 March 2026 Ana called her."),
        ("The mail from an hour ago (10 minutes ago?)", "The mail from 4 March 2026 (on 4 March 2026?)"),
        ("Vor 10 Stunden hat Ana angerufen", "2026-03-03 hat Ana angerufen"),
        ("Ana rief an, vor einer Stunde.", "Ana rief an, 2026-03-04."),
        ("x" * 480 + " was seen an hour ago", "x" * 480 + " was seen an hour ago"),
    ],
)  # fmt: skip
def test_what_was_stated_of_hours_ago_is_of_the_day_that_was(text: str, absolute: str) -> None:
    assert as_stated(text, datetime(2026, 3, 4, 9, 30)) == absolute


@pytest.mark.spec("FACT-3")
@for_each(
    "text",
    [
        "Ana left more than two hours ago",
        "She left over three hours ago",
        "Ana ate less than an hour ago",
        "Ana ate not even about an hour ago",
        "Ana ate at least just two hours ago",
        "Ana ate exactly two hours ago",
        "Ana ate two hours ago exactly",
        "Ana ate some two hours ago",
        "Ana ate a good two hours ago",
        "Ana ate ~2 hours ago",
        "Ana ate 2 – 3 hours ago",
        "Ana ate two hours, ten minutes ago",
        "Ana ate two hours ago or more",
        "Ana ate within an hour ago",
        "Ana ate thirty five minutes ago",
        "Ana ate a hundred twenty minutes ago",
        "Ana ate three quarters of an hour ago",
        "Ana ate as late as two hours ago",
        'Ana likes the song "Two Hours Ago"',
        "Two Hours Ago is a song",
        "Ana trinkt vor einer Stunde Yoga",
        "Ana isst vor zwei Stunden intensivem Training",
        "Ana hat vor zwei Stunden und zehn Minuten angerufen",
        "Ana hat nicht vor zwei Stunden angerufen",
        "Ana mag „Vor zwei Stunden“.",
    ],
)
def test_hours_that_are_measured_or_a_title_stay_as_they_were_said(text: str) -> None:
    assert as_stated(text, datetime(2026, 3, 4, 9, 30)) == text


@pytest.mark.spec("FACT-3")
def test_hours_cannot_be_told_from_another_day() -> None:
    text = "The cat was fed two hours ago, and the vet comes tomorrow."
    absolute = "The cat was fed two hours ago, and the vet comes on 2 February 2026."
    assert as_stated(text, datetime(2026, 3, 4, 9, 30), date(2026, 2, 1)) == absolute


@pytest.mark.spec("FACT-4")
def test_a_year_is_meant_by_a_day_or_a_span_of_it_alone() -> None:
    assert years_named("Ana got married to Ben.", SAID) == set()
    assert years_named("Ana got married last year.", SAID) == {2025}
    assert years_named("It was last December.", SAID) >= {2025}


@for_each(
    "text",
    [
        "next year, last month, 12 years ago, next weekend",
        "in 999 weeks",
        "99 days ago",
        "31 February",
        "on the 99th",
        "on on on",
        "",
    ],
)
def test_nonsense_is_no_error(text: str) -> None:
    days_named(text, date(1, 1, 1))
    made_absolute(text, date(9999, 12, 31))
