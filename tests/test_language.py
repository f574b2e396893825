"""Which language a text is in."""

from __future__ import annotations

import pytest

from afterglow.language import language_of
from tests.kit.languages import ENGLISH, SUMMARIES
from tests.kit.loops import for_each


@for_each(
    "language, expected",
    [
        ("English", "English"),
        ("German", "German"),
        ("Polish", "Polish"),
        ("French", "French"),
        ("Spanish", "Spanish"),
        ("Chinese", "Cjk"),
        ("Japanese", "Cjk"),
        ("Arabic", "Arabic"),
        ("Hindi", "Devanagari"),
    ],
)
def test_the_language_is_told_by_letters_and_small_words(language: str, expected: str) -> None:
    assert language_of(SUMMARIES[language] * 3) == expected


@for_each(
    "text",
    [
        "",
        "ok",
        "12 34 56 :: // -- ==",
        "\N{GRINNING FACE}" * 200,
        "Ben Okafor, Ana Nowak, Carla Díaz, Łukasz Wójcik",
        "x = foo(bar)[baz]; qux(quux)",
        "\u200b\u200c\u200d\ufeff" * 100,
        "Привет, "
        + "hello there, you are my friend and this is what we have " * 1
        + "как дела, что нового у вас сегодня, друзья мои",
    ],
)
def test_where_it_cannot_be_told_nothing_is_said(text: str) -> None:
    assert language_of(text) is None


@for_each(
    "text",
    [
        "Jeg skal til møte i Oslo i dag, og det er ikke noe vi kan gjøre med det, men vi kan ta det i morgen " * 3,
        "Jag ska på ett möte i Stockholm i dag och det är inget vi kan göra åt det, men vi tar det i morgon " * 3,
        "Bugün Ankara'da bir toplantım var ve bunun için hazırlanmam gerekiyor, ama yarın da olabilir " * 3,
        "Azi am o întâlnire la București și nu avem ce face, dar putem vorbi mâine despre asta " * 3,
        "Dnes mám schůzku v Praze a nic s tím neuděláme, ale můžeme si o tom promluvit zítra " * 3,
        "Hôm nay tôi có một cuộc họp ở Hà Nội và chúng tôi không thể làm gì với nó " * 3,
    ],
)
def test_a_language_that_is_not_known_is_not_taken_for_english(text: str) -> None:
    """A summary of English talk is compared with it: a language of its own must not pass for English, nor the reverse."""
    assert language_of(text) != "English"


@for_each(
    "text",
    [
        "So to speak, I do want to go to my office, and I do so to a degree.",
        "I want to go to the shop and I do so to speak, no doubt.",
        "No, I do. I do, I do to a T, so to speak, to do or not to do.",
        "My plan: to go on, to do no harm, to be a friend on my own.",
        "A cat, a dog, a bird, a fish, as a gift to a friend, on a day, as a joke.",
        "I do a lot, I do it on Monday, I go to Anna, I go to Ben, I do.",
    ],
)
def test_english_that_has_words_of_other_languages_is_not_taken_for_them(text: str) -> None:
    assert language_of(text) in ("English", None)
    assert language_of(f"{text} That is what they have for you, and it was not about this. " * 2) == "English"


@for_each(
    "text",
    [
        "Nie wiem, co to jest, ale to nie jest do mnie i tak.",
        "Idę do domu i do sklepu, bo to jest po drodze, a on nie ma co jeść.",
        "My mamy to na jutro, a on nie może, bo to jest za późno do kina i tak.",
        "To jest do zrobienia, i to jest do wysłania na jutro, a on o tym wie.",
    ],
)
def test_short_polish_is_polish(text: str) -> None:
    assert language_of(text) == "Polish"


def test_a_few_words_of_another_language_change_nothing() -> None:
    assert language_of(ENGLISH * 5 + "c'est la vie, und so weiter") == "English"


@pytest.mark.spec("P8")
@for_each("repeated", ["a", "a ", "the ", "请", "ا", "\u200b", "é", "\N{GRINNING FACE}", "_", "1"])
def test_a_giant_text_is_judged_by_its_beginning(repeated: str) -> None:
    text = repeated * (2_000_000 // len(repeated))
    assert language_of(text) == language_of(text[:20_000])
