"""Which language a text is in."""

from __future__ import annotations

import pytest

from afterglow.language import language_of
from tests.test_checks import ENGLISH, SUMMARIES


@pytest.mark.parametrize(
    ("language", "expected"),
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


def test_a_few_words_of_another_language_change_nothing() -> None:
    assert language_of(ENGLISH * 5 + "c'est la vie, und so weiter") == "English"


@pytest.mark.spec("P8")
@pytest.mark.parametrize("repeated", ["a", "a ", "the ", "请", "ا", "\u200b", "é", "\N{GRINNING FACE}", "_", "1"])
def test_a_giant_text_is_judged_by_its_beginning(repeated: str) -> None:
    text = repeated * (2_000_000 // len(repeated))
    assert language_of(text) == language_of(text[:20_000])
