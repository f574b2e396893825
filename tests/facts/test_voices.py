"""Whose words a claim takes: what one says of oneself is not another's, and what one says to somebody is not one's own."""

from __future__ import annotations

from datetime import UTC

import pytest

from afterglow.facts.checks import CLAIMS_MAX, Claimed, check
from afterglow.facts.gate import gate
from afterglow.terms import terms
from tests.facts.spoken import became, spoken_turn
from tests.kit.loops import for_each

ANOTHERS = "said of somebody else"
SMALL_TALK = "small talk"
LABELLED = ["user Ana: Thanks, Mel! The picture is lovely.", "assistant Mel: I painted that lake last year."]
UNLABELLED = ["assistant Hello, Ana! How was it?", "user Ben came along. I painted that lake with him."]


@pytest.mark.spec("FACT-4", "P10")
@for_each(
    "content, quote, said",
    [
        ("Ana painted that lake in 2025.", "I painted that lake last year", LABELLED),
        ("Ana's lake was painted last year.", "I painted that lake last year", LABELLED),
        ("Ben painted that lake.", "I painted that lake", UNLABELLED),
        (
            "Mel would be a great counsellor.",
            "You'd be a great counsellor",
            ["user Ana: I want to help people.", "assistant Mel: You'd be a great counsellor!"],
        ),
        ("The user is a great cook.", "You are a great cook", ["user You are a great cook!"]),
        (
            "The user starts an own business.",
            "starting your own business",
            ["user Starting your own business is great."],
        ),
        (
            "Carla moved to Rome.",
            "I moved to Rome",
            ["user Carla rang me up.", "assistant Oh?", "user I moved to Rome."],
        ),
        ("Ana has two cats.", "I have two cats", ["assistant I am Ana.", "user I have two cats."]),
        (
            "Mel was inspired by the stories and got support.",
            "The stories were so inspiring! I was happy for all the support.",
            ["assistant Mel: And?", "user Ana: The stories were so inspiring! I was happy for all the support."],
        ),
        (
            "Mel found that the group made her feel accepted.",
            "The group made me feel accepted",
            ["assistant Mel: And?", "user Ana: The group made me feel accepted."],
        ),
        ("Élodie has two cats.", "I have two cats", ["user Élodie rang. I have two cats."]),
    ],
)
def test_what_one_says_of_oneself_or_to_the_other_is_not_given_to_the_other(
    content: str, quote: str, said: list[str]
) -> None:
    assert became(content, quote, *said) == ANOTHERS


@pytest.mark.spec("FACT-4")
@for_each(
    "content, quote, said",
    [
        ("Mel painted that lake in 2025.", "I painted that lake last year", LABELLED),
        ("Ana painted that lake.", "I painted that lake", UNLABELLED),
        (
            "Mel's exhibition opens on 9 March 2026.",
            "that exhibition opens on 9 March",
            ["assistant Mel: My exhibition, yes.", "user Ana: Oh, that exhibition opens on 9 March."],
        ),
        (
            "Mel paints lakes.",
            "I like it that you paint lakes",
            ["assistant Mel: And?", "user Ana: I like it that you paint lakes."],
        ),
        (
            "Ana and Mel meet on 9 March 2026.",
            "We meet on 9 March",
            ["user Ana: When?", "assistant Mel: We meet on 9 March, Ana."],
        ),
        ("The user painted that lake.", "I painted that lake", UNLABELLED),
        ("Ana has two cats.", "I have two cats", ["user I'm Ana, and I have two cats."]),
        ("Ana has two cats.", "I have two cats", ["user My name is Ana.", "assistant Hi!", "user I have two cats."]),
        (
            "Ana moved to Rome.",
            "She moved to Rome and I miss her",
            ["user Ana rang me up.", "assistant And?", "user She moved to Rome and I miss her."],
        ),
        ("Ben moved to Rome.", "my brother Ben moved to Rome", ["user I hear that my brother Ben moved to Rome."]),
        ("The user wants answers in Polish.", "You should answer in Polish", ["user You should answer in Polish."]),
        (
            "The user decided that the review moves to Friday.",
            "you know we decided to move the review to Friday",
            ["user As you know we decided to move the review to Friday."],
        ),
        (
            "Ana's mother lives in Gdynia.",
            "My mother lives in Gdynia",
            ["assistant Ana?", "user My mother lives in Gdynia."],
        ),
    ],
)
def test_what_one_says_of_oneself_is_ones_own_and_of_a_third_the_thirds(
    content: str, quote: str, said: list[str]
) -> None:
    assert became(content, quote, *said) == content


@pytest.mark.spec("FACT-4")
@for_each(
    "content, quote, said",
    [
        ("John asked Maria about her kickboxing.", "I'm doing kickboxing", "I'm doing kickboxing, Maria, says John."),
        ("The user wondered whether the trip was fun.", "the trip was fun", "I am back and the trip was fun."),
        (
            "Ana is kind. Your empathy will help people.",
            "Your empathy will help people",
            "Ana is kind. Your empathy will help people.",
        ),
        (
            "Jon and Gina discuss how the crew won first prize.",
            "the crew won first prize",
            "Jon, Gina: the crew won first prize.",
        ),
        (
            "The user has a crew. Gina asked Jon how it was.",
            "I have a crew",
            "I have a crew, Gina. Ask Jon how it was.",
        ),
        (
            "John is back and thanked Maria for her help.",
            "I'm back, thanks",
            "I'm back, thanks Maria, for the help to John.",
        ),
        ("Ana is asking Mel for a new style.", "Any new style", "Any new style is fine, Ana, says Mel."),
        ("You have a dog called Rex.", "a dog called Rex", "You know that I have a dog called Rex."),
    ],
)
def test_a_question_and_what_is_said_to_a_person_are_no_facts(content: str, quote: str, said: str) -> None:
    assert became(content, quote, f"user {said}") == SMALL_TALK


@pytest.mark.spec("FACT-4")
@for_each(
    "content, said",
    [
        ("The user likes Easter and Thanksgiving.", "I like Easter and Thanksgiving."),
        ("The user works at a hotel and greets guests.", "I work at a hotel and I greet guests."),
        ("The user thanked the professor with wine.", "I thanked the professor with wine."),
        ("The user is excited to see Coldplay.", "I'm excited to see Coldplay."),
        ("The user discussed the budget with Tom.", "I went over the budget with Tom."),
        ("The user asked for a refund.", "I filed for a refund."),
        ("Mom bought a new car.", "My mother bought a new car."),
    ],
)
def test_what_only_sounds_like_small_talk_is_kept(content: str, said: str) -> None:
    assert became(content, said, f"user {said}") == content


@pytest.mark.spec("FACT-4", "P10")
@pytest.mark.parametrize("content", ["The user said it.", "The user asked it.", "The user has done the task."])
def test_what_says_nothing_is_no_fact(content: str) -> None:
    said = "Hey Jon! Good to see you."
    assert became(content, said, f"user {said}") == "not in the sentence it quotes"


@pytest.mark.spec("FACT-4")
@for_each(
    "content, said, is_kept",
    [
        ("The user started a business.", "I'm gonna start a business.", False),
        ("The user moved to Rome.", "I will move to Rome with my cat.", False),
        ("The user bought a house.", "I'll buy a house with my sister.", False),
        ("The user sent the letter to the bank.", "I'm gonna send the letter to the bank.", False),
        ("The user moved to Rome in May 2026.", "I will move to Rome in May.", False),
        ("The user has a red car.", "I'm going to sell my red car.", True),
        ("The user lost the keys.", "I will be late because I lost the keys.", True),
        ("The user will move to Rome.", "I will move to Rome with my cat.", True),
        ("The user is getting married in Rome.", "I am going to get married in Rome.", True),
        ("The user started a business and will sell it.", "I started a business, and I'll sell it.", True),
    ],
)
def test_what_a_person_will_do_is_not_done_yet(content: str, said: str, is_kept: bool) -> None:
    assert became(content, said, f"user {said}") == (content if is_kept else "a plan, a wish or the past as a fact")


@pytest.mark.spec("FACT-10", "P11")
@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("The parcel was sent to the depot on 3 March 2026.", "active"),
        ("The parcel was repaired in the depot on 3 March 2026 by a friendly clerk.", "pending"),
    ],
)
def test_what_a_turn_of_others_does_not_say_by_itself_waits(content: str, status: str) -> None:
    turns = [
        spoken_turn(1, "user", "Is a clerk there?"),
        spoken_turn(2, "assistant", "The parcel was sent to the depot on 3 March."),
    ]
    claim = Claimed(turn=2, quote="The parcel was sent to the depot on 3 March.", content=content, type="event")
    (proved,) = check([claim], turns, UTC, terms).proved
    assert gate(proved).status == status


@pytest.mark.spec("FACT-4")
def test_who_see_each_other_do_so_on_a_day() -> None:
    said = "We see each other at the session next Friday."
    content = "The user and Gina see each other at the session {}."
    assert became(content.format("next Friday"), said, "user Hi Gina!", f"user {said}") == content.format(
        "on 6 March 2026 or 13 March 2026"
    )


@pytest.mark.spec("FACT-4")
def test_who_did_ask_is_believed() -> None:
    content = "The user asked the dentist about a new crown."
    assert (
        became(content, "I asked the dentist about a new crown", "user I asked the dentist about a new crown.")
        == content
    )


@pytest.mark.spec("FACT-3", "FACT-4", "P10")
@for_each(
    "quote, said, kept",
    [
        ("I PREFER  aisle seats", "Well: I prefer aisle\nseats, always.", "I prefer aisle\nseats"),
        ("I prefer aisle seats.", "I prefer aisle seats. Thanks!", "I prefer aisle seats."),
        ("I prefer\x00 aisle seats", "I prefer aisle seats", "I prefer aisle seats"),
        ("I prefer aisle\U000e0073\U000e0065 \u202eseats", "I prefer aisle seats", "I prefer aisle seats"),
        ("I prefer the cafe seats", "I prefer the cafe\u0301 seats", "I prefer the cafe\u0301 seats"),
        ("prefer ½ of the aisle seats", "I prefer ½ of the aisle seats", "prefer ½ of the aisle seats"),
        ("I prefer the café", "I prefer the cafe\u0301.", "I prefer the cafe\u0301"),
    ],
)
def test_a_quote_is_kept_as_its_turn_has_it(quote: str, said: str, kept: str) -> None:
    claim = Claimed(turn=1, quote=quote, content="The user prefers the seats.", type="preference")
    claim = claim.model_copy(update={"content": "The user prefers the café."}) if "seats" not in quote else claim
    (proved,) = check([claim], [spoken_turn(1, "user", said)], UTC, terms).proved
    assert proved.quote == kept


@pytest.mark.spec("FACT-4")
@pytest.mark.parametrize(
    ("content", "quote", "said"),
    [
        ("用户住在上海。", "我住在上海", "我住在上海所以每天坐地铁上班。"),
        ("ユーザーは猫を二匹飼っています。", "猫を二匹飼っています", "私は東京に住んでいて猫を二匹飼っています。"),
    ],
)
def test_where_words_are_not_apart_a_quote_may_end_anywhere(content: str, quote: str, said: str) -> None:
    assert became(content, quote, f"user {said}") == content


@pytest.mark.spec("FACT-4")
def test_half_a_word_is_no_quote() -> None:
    assert became("The user has a cat.", "have a cat", "user I have a cattle farm.") == "quote not in the turn"


@pytest.mark.spec("FACT-4", "P8")
def test_of_a_flood_of_claims_the_first_are_looked_at_and_the_rest_counted() -> None:
    claims = [Claimed(turn=1, quote="I like tea", content="The user likes tea.", type="preference")] * (CLAIMS_MAX + 7)
    found = check(claims, [spoken_turn(1, "user", "I like tea.")], UTC, terms)
    assert len(found.proved) == CLAIMS_MAX
    assert found.dropped == {"too many": 7}


@pytest.mark.spec("FACT-4", "P8")
def test_a_quote_that_is_too_long_where_it_stands_is_none() -> None:
    said = f"I live{' -' * 1_000} in Rome."
    assert became("The user lives in Rome.", "I live in Rome", f"user {said}") == "too short or too long"


@pytest.mark.spec("FACT-4", "P10")
def test_a_quote_over_several_items_of_a_list_is_held_against_all_of_the_turn() -> None:
    said = "Things I do not like:\n- green tea\n- black coffee"
    content, quote = "The user likes green tea and black coffee.", "green tea\n- black coffee"
    assert became(content, quote, f"user {said}") == "the opposite of what was said"


@pytest.mark.spec("FACT-4", "P6")
@for_each("when", ["in ſeptember", "in aprıl", "in AprİL", "ſix months ago", "on the 3rd of ſeptember"])
def test_letters_that_only_look_like_those_of_a_month_stop_no_reading(when: str) -> None:
    said = f"user I moved to Rome {when}, yesterday I was told."
    assert became("The user moved to Rome on 3 March 2026.", "I moved to Rome", said)
