"""What day a statement may name: one that the sentences it quotes speak of, where they speak of any."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from afterglow.facts.checks import Claimed
from tests.facts.spoken import checked, spoken_turn
from tests.kit.loops import for_each

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)  # a Monday
NO_DAY = "a day that was not said"
NO_NUMBER = "a number that was not said"


def became(content: str, *texts: str) -> str:
    """Why a claim that quotes all of the last of these turns is dropped, or what is kept of it."""
    turns = [spoken_turn(seq, "user", text, NOON) for seq, text in enumerate(texts, 1)]
    return checked(Claimed(turn=len(turns), quote=texts[-1], content=content, type="event", confidence="high"), turns)


@pytest.mark.spec("FACT-3", "FACT-4")
@for_each(
    "said, right, wrong",
    [
        ("I went to a support group yesterday and it was so powerful.",
         "The user went to a support group on 7 May 2023.", "The user went to a support group on Monday 8 May 2023."),
        ("I went to a support group yesterday, it was just so powerful.",
         "The user went to a support group on Sunday 7 May 2023.", "The user went to a support group on Monday 7 May 2023."),
        ("I got mentored by a baker yesterday and now I'm pumped.",
         "The user got mentored by a baker on 7 May 2023.", "The user got mentored by a baker on 8 May 2023."),
        ("Last Friday I ran a race for charity.",
         "The user ran a race for charity on 5 May 2023.", "The user ran a race for charity on 12 May 2023."),
        ("I ran a race for charity last Fri.",
         "The user ran a race for charity on 5 May 2023.", "The user ran a race for charity on 8 May 2023."),
        ("My exam was on 3 March.", "The user's exam was on 3 March 2023.", "The user's exam was on 8 May 2023."),
        ("My exam was on March the 3rd.", "The user's exam was on March the 3rd.", "The user's exam was on 8 May 2023."),
        ("We sign the lease tomorrow.", "The user signs the lease on 9 May 2023.", "The user signs the lease on 8 May 2023."),
        ("We moved to Graz last week.",
         "The user moved to Graz in the week of 1 May 2023.", "The user moved to Graz on 8 May 2023."),
        ("We move to Graz next month.", "The user moves to Graz in June 2023.", "The user moves to Graz on 8 May 2023."),
        ("We moved to Graz in March.", "The user moved to Graz in March 2023.", "The user moved to Graz on 8 May 2023."),
        ("We moved to Graz in 2019.", "The user moved to Graz in 2019.", "The user moved to Graz on 8 May 2023."),
        ("I adopted a dog two weeks ago.", "The user adopted a dog on 24 April 2023.", "The user adopted a dog on 8 May 2023."),
        ("I adopted a dog a few days ago.",
         "The user adopted a dog a few days before 8 May 2023.", "The user adopted a dog on 8 May 2023."),
        ("I have been ill since Friday.", "The user has been ill since 5 May 2023.", "The user has been ill since 6 May 2023."),
        ("I'm in Rome until Thursday.", "The user is in Rome until 11 May 2023.", "The user is in Rome until 10 May 2023."),
        ("I'm away from 10 to 14 May.",
         "The user is away from 10 May 2023 to 14 May 2023.", "The user is away on 8 May 2023."),
        ("The dentist is on Thursday next week.", "The dentist is on 18 May 2023.", "The dentist is on 11 May 2023."),
        ("Today I signed the lease, tomorrow we paint.",
         "The user signed the lease on 8 May 2023.", "The user signed the lease on 10 May 2023."),
        ("I just finished the report, I began it last week.",
         "The user finished the report on 8 May 2023.", "The user finished the report on 9 May 2023."),
        ("Gestern war ich beim Zahnarzt.",
         "Der Nutzer war am 7. Mai 2023 beim Zahnarzt.", "Der Nutzer war am 8. Mai 2023 beim Zahnarzt."),
        ("Ich fliege morgen nach Rom.", "Der Nutzer fliegt 2023-05-09 nach Rom.", "Der Nutzer fliegt 2023-05-08 nach Rom."),
        ("Ayer fui al dentista.", "El usuario fue al dentista 2023-05-07.", "El usuario fue al dentista 2023-05-08."),
        ("上个月我搬家了。", "用户2023-04搬家了。", "用户2023-05-08搬家了。"),
        ("We're flying to Lisbon on the 12th.",
         "The user is flying to Lisbon on 12 May 2023.", "The user is flying to Lisbon on 12 June 2023."),
        ("We flew to Lisbon on the 2nd.", "The user flew to Lisbon on 2 May 2023.", "The user flew to Lisbon on 8 May 2023."),
        ("The form is due by the 31st.", "The form is due by 31 May 2023.", "The form is due by 8 May 2023."),
        ("We meet Ben on the 3rd of next month.", "The user meets Ben on 3 June 2023.", "The user meets Ben on 3 May 2023."),
        ("Our new flat is on the 5th floor.",
         "The user's new flat is on the 5th floor.", "The user's new flat is from 5 May 2023."),
        ("It was my 30th birthday yesterday.",
         "It was the user's 30th birthday on 7 May 2023.", "It was the user's birthday on 30 May 2023."),
    ],
)  # fmt: skip
def test_a_statement_is_kept_on_the_day_that_was_meant_and_on_no_other(said: str, right: str, wrong: str) -> None:
    assert became(right, said) == right
    assert became(wrong, said) == NO_DAY


@pytest.mark.spec("FACT-3", "FACT-4")
@for_each(
    "said, right, wrong",
    [
        ("Meetings never before 10.",
         "The user wants meetings never before 10:00.", "The user wants meetings never before 11:00."),
        ("I get up at 6.", "The user gets up at 6:00.", "The user gets up at 6:30."),
        ("I work from 9 to 17 on Mondays.",
         "The user works from 9:00 to 17:00 on Mondays.", "The user works from 8:00 to 17:00 on Mondays."),
        ("I left the course after 3 days.", "The user left the course after 3 days.", "The user left the course at 3:00."),
        ("Ich stehe um 6 auf.", "Der Nutzer steht um 6:00 auf.", "Der Nutzer steht um 7:00 auf."),
        ("Ceno a las 9.", "El usuario cena a las 9:00.", "El usuario cena a las 10:00."),
    ],
)  # fmt: skip
def test_a_full_hour_is_kept_with_its_minutes_and_no_other_hour(said: str, right: str, wrong: str) -> None:
    assert became(right, said) == right
    assert became(wrong, said) == NO_NUMBER


@pytest.mark.spec("FACT-4")
def test_a_day_of_the_turn_before_is_fair_only_where_the_quoted_words_name_none() -> None:
    asked = "Did you see Ben on 3 May?"
    assert became("The user met Ben in the park on 3 May 2023.", asked, "I met him in the park.") != NO_DAY
    assert became("The user met Ben in the park on 3 May 2023.", asked, "I met him in the park yesterday.") == NO_DAY


@pytest.mark.spec("FACT-4")
@for_each(
    "said, content",
    [
        ("I went to a support group.", "The user went to a support group on 8 May 2023."),
        ("I went to a support group yesterday.", "The user went to a support group."),
        ("I went to a support group yesterday.", "On 8 May 2023 the user said that they went to a support group."),
        ("I've been ill since Friday.", "As of 8 May 2023 the user has been ill."),
        ("I've been ill since Friday.", "The user is ill on 8 May 2023."),
        ("I met Ana on Friday. We fly to Rome tomorrow.",
         "The user met Ana on 5 May 2023 and they fly to Rome on 9 May 2023."),
        ("Every Friday I go to the sauna.", "The user goes to the sauna every Friday."),
        ("We moved the launch from Tuesday to Thursday.", "The launch was moved from Tuesday to Thursday."),
        ("I started the course this week.", "The user started the course in the week of 8 May 2023."),
    ],
)  # fmt: skip
def test_what_is_of_no_other_day_is_kept(said: str, content: str) -> None:
    assert became(content, said) == content
