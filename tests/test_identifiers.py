"""Identifiers: what a summary must keep letter by letter."""

from __future__ import annotations

from collections import Counter

import pytest

from afterglow.fold import requests_in, still_open
from afterglow.identifiers import IDENTIFIER_CHARS_MAX, identifiers, missing
from afterglow.model.offline import choose_sentences
from afterglow.model.sentences import pieces
from afterglow.tokens import estimate
from tests.kit.cpu_limit import limit_cpu
from tests.kit.loops import for_each

TABLE = {
    "see https://example.org/a/b?c=1&d=2#e, please": ["https://example.org/a/b?c=1&d=2#e"],
    "write to ana.nowak+x@mail.example.org today": ["ana.nowak+x@mail.example.org"],
    "it is in /srv/notes/review.md and ~/bin/run.sh": ["/srv/notes/review.md", "~/bin/run.sh"],
    "open C:\\Users\\ana\\file.txt now": ["C:\\Users\\ana\\file.txt"],
    "src/afterglow/fold.py changed": ["src/afterglow/fold.py"],
    "on 3 March 2026 at 14:30": ["3 March 2026", "14:30"],
    "by March 3rd, 2026 or 2026-03-03T09:15": ["March 3rd, 2026", "2026-03-03T09:15"],
    "am 03.04.2026 um 9:15": ["03.04.2026", "9:15"],
    "at 2 PM or 2:45 p.m.": ["2 PM", "2:45 p.m"],
    "it costs $4,200 or 99 EUR or €1.50": ["$4,200", "99 EUR", "€1.50"],
    "call load_settings and parseFile": ["load_settings", "parseFile"],
    "ticket OPS-1172, part A320": ["OPS-1172", "A320"],
    "version v1.2.3 at 3fa2b9c1d": ["v1.2.3", "3fa2b9c1d"],
    "call 912 555 014 or +48 22 123 45 67": ["912 555 014", "+48 22 123 45 67"],
    "ask @ben in #general": ["@ben", "#general"],
    "42 percent, 3.5 and 17%": ["42", "3.5", "17%"],
    "with Ben Okafor in Lagos": ["Ben Okafor", "Lagos"],
    "meet Łucja Wiśniewska in Łódź": ["Łucja Wiśniewska", "Łódź"],
    "avec Élodie à Évry": ["Élodie", "Évry"],
}


@pytest.mark.spec("CTX-13")
@for_each("text", TABLE)
def test_identifiers_are_found_exactly(text: str) -> None:
    assert [word for word in TABLE[text] if word not in identifiers(text)] == []


@pytest.mark.spec("CTX-13")
@for_each(
    "text, name",
    [
        ("请 联系 Ben Okafor 明天 十点", "Ben Okafor"),
        ("今天和 Ana Müller 见面", "Ana Müller"),
        ("اجتماع مع Ben Okafor غدا", "Ben Okafor"),
        ("मिलना है Ben Okafor से कल", "Ben Okafor"),
        ("to będzie łatwo Śląsk i Kraków", "Śląsk"),
        ("мы поедем в Москву", "Москву"),
        ("встреча с Иваном Петровым", "Иваном Петровым"),
        ("θα πάμε στην Αθήνα", "Αθήνα"),
    ],
)
def test_a_name_is_found_in_whatever_script_it_and_its_neighbours_are_written(text: str, name: str) -> None:
    assert name in identifiers(text)


@pytest.mark.spec("CTX-13")
@for_each(
    "text",
    ["", "nothing of the kind here", "and/or he/she", "I'm OK. Then we go. So be it.", "The end. It is over.", "a 5 b"],
)
def test_what_is_none_is_not_taken_for_one(text: str) -> None:
    assert identifiers(text) == Counter()


@pytest.mark.spec("CTX-13")
def test_what_a_summary_lost_comes_in_the_order_of_how_often_it_was_named() -> None:
    wanted = identifiers("see OPS-1172, OPS-1172 and OPS-9 with Ben Okafor; again OPS-1172 and Ben Okafor")
    assert missing(wanted, "They talked.") == ["OPS-1172", "Ben Okafor", "OPS-9"]
    assert missing(wanted, "About ops-1172 and BEN OKAFOR.") == ["OPS-9"], "in whatever case it is written"


@pytest.mark.spec("CTX-13")
def test_a_number_inside_another_is_not_there() -> None:
    assert missing(Counter(["42"]), "They counted 1425 of them.") == ["42"]


@pytest.mark.spec("P8")
def test_no_identifier_is_longer_than_its_limit() -> None:
    found = identifiers("https://example.org/" + "a" * 5_000 + " Ab" * 500 + " " + "x_" * 400 + "y")
    assert max(map(len, found), default=0) <= IDENTIFIER_CHARS_MAX


NASTY = {
    "letters": "a" * 200_000,
    "capitals": "A " * 100_000,
    "capitals far apart": "A  " * 66_000,
    "a capital and spaces": "A" + " " * 200_000 + "b",
    "marks and a letter": "!" * 200_000 + "x",
    "dots and a letter": "." * 200_000 + "x",
    "dots and spaces": ". " * 100_000,
    "slashes": "/a" * 100_000,
    "underscores": "a_" * 100_000,
    "humps": "aB" * 100_000,
    "hyphens": "a-" * 100_000,
    "digits": "1," * 100_000,
    "hex": "a1" * 100_000,
    "at signs": "a@" * 100_000,
    "half addresses": "a@" + "a." * 100_000,
    "schemes": "http://" * 28_000,
    "brackets": "[" * 200_000,
    "speakers": "user: " * 33_000,
    "greetings": "hi " * 66_000,
    "a greeting and letters": "hi " + "a" * 200_000,
    "backticks": "`" * 200_000,
    "open": "Open:" + " " * 200_000,
    "open lines": "Open:\n" * 33_000,
    "please": "please " * 28_000,
    "Han": "请" * 200_000,
    "zero width": "\u200b" * 200_000,
    "names and": "Ab and " * 28_000,
}
SEARCHES = {
    "identifiers": identifiers,
    "requests": requests_in,
    "open": lambda text: still_open([text]),
    "pieces": pieces,
    "sentences": lambda text: choose_sentences(text, 100),
}


@pytest.mark.whole
@pytest.mark.spec("P8", "P5")
@for_each("search", SEARCHES)
@for_each("kind", NASTY)
def test_a_search_through_200_000_nasty_characters_ends(kind: str, search: str) -> None:
    with limit_cpu():
        SEARCHES[search](NASTY[kind])


@pytest.mark.spec("P8")
@for_each("kind", NASTY)
@for_each("tokens_max", [20, 60, 160])
def test_chosen_sentences_are_never_more_than_was_asked_for_and_never_nothing(kind: str, tokens_max: int) -> None:
    text = NASTY[kind][:4_000]
    chosen = choose_sentences(text, tokens_max)
    assert estimate(chosen) <= tokens_max
    assert chosen or not text.replace("\u200b", "").strip()
