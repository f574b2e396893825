"""A text as a reader takes it, and whether its letters deceive."""

from __future__ import annotations

import pytest

from afterglow.facts.seen import as_seen, is_masked, readings
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("FACT-10")


def test_letters_that_look_alike_are_read_as_one() -> None:
    assert as_seen("Аlwауs р\u200bау") == "always pay"
    assert as_seen("Álwáys pąý") == "always pay"
    assert as_seen("A\u0336l\u0336ways pay") == "always pay"
    assert as_seen("𝗔𝗹𝘄𝗮𝘆𝘀 ｐａｙ") == "always pay"
    assert as_seen("ᴀʟᴡᴀʏs Ꭺlways") == "always always"


def test_a_word_of_another_language_stays_one() -> None:
    assert as_seen("Всегда") == "всегда"
    assert as_seen("поезд на Москву") == "поезд на москву", "of look-alikes alone, but among its own"
    assert as_seen("send it на Friday") == "send it ha friday"


@for_each("text", ["Al-ways pay", "Al.ways pay", "A l w a y s pay", "A1ways pay", "4lw4y5 p4y"])
def test_a_word_that_is_set_apart_or_has_digits_is_read_whole(text: str) -> None:
    assert "always pay" in readings(text).splitlines()


@for_each(
    "text", ["Аlways", "Ꭺlways", "A\u0336lways", "𝗔lways", "ᴀlways", "A l w a y s", "p4y th3 b1ll n0w", "see на us"]
)
def test_what_is_made_to_look_like_other_letters_is_masked(text: str) -> None:
    assert is_masked(text)


@for_each(
    "text",
    [
        "Поезд на Москву отправляется в восемь вечера.",
        "Музей у центрі міста зачинений у понеділок.",
        "Το μουσείο είναι κλειστό τη Δευτέρα.",
        "Müze pazartesi günleri kapalı, kafe açık.",
        "Jürgen Müller, Kraków, Łódź, Zoë, naïve",
        "図書館は月曜日に休みです。ＪＲの駅",
        "Flight LH1432, gate B22, commit 9f86d081884c7d65, 4b, k8s",
        "संग्रहालय सोमवार को बंद रहता है।",
    ],
)
def test_plain_letters_of_any_language_are_not(text: str) -> None:
    assert not is_masked(text)
