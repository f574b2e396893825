"""Any text in any channel: no error, no part over the limit, nothing lost between parts."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterglow.channels import CHANNELS, Channel, Part, escaped, render
from tests.channels.hostile import CALLING, HOSTILE, calls_in
from tests.channels.shown import letters, message, seen, units
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("AWAY-9")

LIMITS: dict[Channel, int] = {"telegram": 4096, "whatsapp": 4096, "slack": 3000, "discord": 2000}
WORDS = st.sampled_from(
    [
        "word",
        "a",
        "**bold**",
        "*it*",
        "~~no~~",
        "`x`",
        "`` ` ``",
        "**b _i_ b**",
        "x**y**z",
        "你好",
        "żółw",
        "👩‍👩‍👧",
        "🇵🇱",
        "e\u0301",
        "<b>",
        "&amp;",
        "@everyone",
        "#tag",
        "[l](https://a.b/c_d)",
        "https://a.b/@x",
        "ana@a.example",
        "\\*",
        "_",
        "*",
        "~",
        "|",
        "![i](http://a)",
        "**",
        "***",
        "(",
        "!",
        "word" * 300,
        "x" * 2500,
        "\u202e",
        "***a** b*",
        "1.",
        "-",
        "#",
        ">",
    ]
)
LINES = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "", "- ", "1. ", "> ", "# ", "  - ", "> > ", "```", "    ", "| ", "---"]),
        st.lists(WORDS, max_size=12).map(" ".join),
    ),
)
MARKDOWN = st.lists(LINES, max_size=30).map("\n".join)
ANY = st.one_of(MARKDOWN, st.text(), st.text(st.characters(exclude_categories=())), st.sampled_from(HOSTILE))
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def assert_within_limits(parts: list[Part], channel: Channel) -> None:
    for part in parts:
        assert part.text.strip() or channel not in LIMITS
        assert units(part.text) <= LIMITS.get(channel, 10**9)
        assert len(part.entities) <= 100


@pytest.mark.parametrize("channel", CHANNELS)
@quick
@given(text=ANY)
def test_any_text_keeps_the_limit_and_loses_nothing(channel: Channel, text: str) -> None:
    parts = render(text, channel)
    assert_within_limits(parts, channel)
    if channel == "html":  # the numbers of lists are the reader's to make
        assert re.sub(r"\d", "", letters(parts, channel)) == re.sub(r"\d", "", seen(text))
    else:
        assert letters(parts, channel) == seen(text)
    if channel in CALLING:
        assert [calls_in(part, channel) for part in parts if calls_in(part, channel)] == []
    if channel in ("discord", "slack", "whatsapp"):
        assert all(part.text.count("```") % 2 == 0 for part in parts)


@quick
@given(text=ANY)
def test_entities_are_where_telegram_wants_them(text: str) -> None:
    for part in render(text, "telegram"):
        total = units(part.text)
        spans = [(one.offset, one.offset + one.length, one.type) for one in part.entities]
        for begin, end, kind in spans:
            assert 0 <= begin < end <= total
            for other, after, inner in spans:
                if begin < after and other < end and (other, after, inner) != (begin, end, kind):
                    assert (begin <= other and after <= end) or (other <= begin and end <= after), "no overlap"
                    assert not {kind, inner} & {"code", "pre"}, "code stands alone"
        for one, shown in message(part).parse_entities().items():
            assert shown == shown.strip() or one.type in ("pre", "blockquote", "code")


@quick
@given(text=MARKDOWN)
def test_markdown_shows_the_same_when_it_is_read_again(text: str) -> None:
    once = render(text, "markdown")
    again = "\n".join(part.text for part in once)
    assert seen(again) == seen(text)


@quick
@given(text=st.text(st.characters(exclude_categories=())))
def test_escaped_is_one_line_that_shows_as_it_is(text: str) -> None:
    line = escaped(text)
    assert "\n" not in line
    shown = "".join(part.text for part in render(line, "plain"))
    assert escaped(shown) == line


@for_each("channel", LIMITS)
def test_paragraphs_stay_whole_where_they_can(channel: Channel) -> None:
    paragraph = "word " * 150
    parts = render("\n\n".join([paragraph.strip()] * 12), channel)
    assert len(parts) > 1
    assert all(part.text.split("\n\n") == [paragraph.strip()] * (part.text.count("\n\n") + 1) for part in parts)


@for_each("channel", LIMITS)
def test_long_paragraphs_are_cut_between_lines_and_long_lines_between_words(channel: Channel) -> None:
    lines = [f"line {number} " + "x" * 40 for number in range(300)]
    shown = [line for part in render("\n".join(lines), channel) for line in part.text.split("\n")]
    assert shown == lines
    words = [f"word{number}" for number in range(3000)]
    assert [word for part in render(" ".join(words), channel) for word in part.text.split()] == words


@for_each("channel", LIMITS)
@for_each("character", ["😀", "e\u0301\u0302", "👩‍👩‍👧", "🇵🇱", "👍🏽", "각", "क्षि", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣"])
def test_a_character_is_never_cut_in_two(channel: Channel, character: str) -> None:
    for ahead in range(4):
        for part in render("a" * ahead + character * 3000, channel):
            assert not part.text.lstrip("a").replace(character, ""), part.text[:20]


def test_code_is_closed_and_opened_again() -> None:
    code = "\n".join(f"line {number}" for number in range(900))
    parts = render(f"```python\n{code}\n```", "discord")
    assert len(parts) > 3
    assert all(part.text.startswith("```python\n") and part.text.endswith("\n```") for part in parts)
    assert "\n".join(part.text[10:-4] for part in parts) == code
    parts = render(f"```python\n{code}\n```", "telegram")
    assert [(one.type, one.offset, one.length, one.language) for part in parts for one in part.entities] == [
        ("pre", 0, units(part.text), "python") for part in parts
    ]
    assert "\n".join(part.text for part in parts) == code


def test_bold_goes_on_in_the_next_part() -> None:
    for channel, sign in (("discord", "**"), ("slack", "*"), ("whatsapp", "*")):
        parts = render("**" + "word " * 2000 + "end**", channel)
        assert len(parts) > 2
        assert all(part.text.startswith(sign) and part.text.endswith(sign) for part in parts)


def test_an_address_that_is_cut_is_no_link() -> None:
    for part in render("https://a.example/" + "x" * 5000, "discord"):
        assert re.fullmatch(r"`[^`]+`", part.text)


def test_a_message_has_no_more_entities_than_telegram_takes() -> None:
    parts = render("*a* **b** `c` " * 400, "telegram")
    assert sum(len(part.entities) for part in parts) == 1200
    assert max(len(part.entities) for part in parts) > 50
    assert_within_limits(parts, "telegram")


NESTED = {
    "quotes": ">" * 500 + " end",
    "lists": "- " * 500 + "end",
    "numbers": "1. " * 500 + "end",
    "links": "[" * 3000 + "end" + "](http://a)" * 3000,
    "images": "![" * 3000 + "end" + "](http://a)" * 3000,
    "stars": "*" * 5000 + "end" + "*" * 5000,
    "brackets": "[" * 20_000 + "end",
    "mixed": "> - 1. " * 200 + "end",
    "indented": "".join("  " * depth + "- end\n" for depth in range(100)),
    "cells": "|" + "a|" * 1000 + "\n|" + "-|" * 1000 + "\n" + "|end\n" * 3000,
}


@for_each("channel", CHANNELS)
@for_each("shape", NESTED)
def test_deep_nesting_is_shown_and_not_lost(shape: str, channel: Channel) -> None:
    assert_end_is_shown(NESTED[shape], channel)


@pytest.mark.whole
@for_each("channel", CHANNELS)
def test_fifty_thousand_brackets_are_shown_and_not_lost(channel: Channel) -> None:
    assert_end_is_shown("[" * 50_000 + "end", channel)


def assert_end_is_shown(text: str, channel: Channel) -> None:
    parts = render(text, channel)
    assert_within_limits(parts, channel)
    assert letters(parts, channel).count("end") == text.count("end")
