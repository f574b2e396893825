"""Hostile content comes out harmless: nobody is called, nobody is lured, nothing is hidden."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from afterglow.channels import CHANNELS, Channel, channel_of, escaped, render
from afterglow.guard import strip_invisible
from tests.channels.hostile import CALLING, HOSTILE, calls_in
from tests.channels.shown import message
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("AWAY-9")


@for_each("channel", CALLING)
@for_each("text", HOSTILE)
def test_no_text_calls_people(text: str, channel: Channel) -> None:
    for part in render(text, channel):
        assert calls_in(part, channel) == [], part.text


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@for_each("text", HOSTILE)
def test_html_has_only_harmless_tags_and_addresses(text: str) -> None:
    for part in render(text, "html"):
        tags = Tags()
        tags.feed(part.text)
        known = ["p", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "br", "a"]
        assert {tag for tag, _ in tags.found} <= set(known), part.text
        for tag, attributes in tags.found:
            assert set(attributes) <= ({"href", "rel"} if tag == "a" else {"start"}), part.text
            if tag == "a":
                assert re.match(r"https?://[^@]+$|mailto:", attributes["href"] or ""), part.text
                assert attributes["rel"] == "noopener noreferrer nofollow"


@for_each("channel", CHANNELS)
@for_each("text", HOSTILE)
def test_nothing_invisible_is_sent_but_our_own(text: str, channel: Channel) -> None:
    for part in render(text, channel):
        assert strip_invisible(part.text.replace("\u2060", "")) == (part.text.replace("\u2060", ""), 0)
        part.text.encode()


@for_each("channel", CHANNELS)
def test_a_link_shows_where_it_leads(channel: Channel) -> None:
    [part] = render("[your bank](https://bad.example/login)", channel)
    text = re.sub(r"</?[ap][^>]*>", "", part.text) if channel == "html" else part.text
    assert re.fullmatch(r"your bank \(<?https://bad\.example/login>?\)", text)
    assert not part.entities


@pytest.mark.parametrize("channel", ["discord", "markdown"])
def test_discord_adds_no_preview_to_an_address(channel: Channel) -> None:
    assert render("see https://a.example/x_y.", channel)[0].text == "see <https://a.example/x_y>."


def test_an_address_of_mail_stays_as_it_is() -> None:
    for channel in CALLING:
        assert render("write to ana@example.com!", channel)[0].text == "write to ana@example.com!"


def test_slack_gets_its_three_characters_escaped_in_code_too() -> None:
    assert render("a & b < c `<!here> & x`", "slack")[0].text == "a &amp; b &lt; c `&lt;!here&gt; &amp; x`"


def test_text_that_looks_like_markup_stays_text() -> None:
    source = r"\*a\* \_b\_ \~c\~ \`d\` snake_case 2 * 3"
    assert render(source, "slack")[0].text == "∗a∗ ˍbˍ ∼c∼ ˋdˋ snake_case 2 * 3"
    assert render(source, "whatsapp")[0].text == "∗a∗ ˍbˍ ∼c∼ ˋdˋ snake_case 2 * 3"
    assert render(source, "discord")[0].text == r"\*a\* \_b\_ \~c\~ \`d\` snake\_case 2 \* 3"
    assert render(source, "plain")[0].text == "*a* _b_ ~c~ `d` snake_case 2 * 3"


@for_each("start", ["# a", "- a", "> a", "1. a", "12) a", "+ a", "=== ", ">>> a", "-# a"])
def test_the_beginning_of_a_line_is_no_markup(start: str) -> None:
    for channel, signs in (("discord", "[#>+=-]"), ("markdown", "[#>+=-]"), ("whatsapp", "[>+-]")):
        assert not re.match(rf"{signs}|\d+[.)]|\* ", render(escaped(start), channel)[0].text), channel
    assert not render(escaped(start), "slack")[0].text.startswith(("&gt;", ">"))


def test_code_cannot_end_its_own_block() -> None:
    source = "~~~~\na\n```\nb ````` c\n~~~~"
    for channel in ("discord", "slack", "whatsapp"):
        assert render(source, channel)[0].text.count("```") == 2, channel
    assert render(source, "markdown")[0].text == "``````\na\n```\nb ````` c\n``````"


def test_telegram_marks_stay_out_of_code() -> None:
    [part] = render("**a `b` c**\n\n> q `d`\n>\n> e", "telegram")
    assert [(one.type, text) for one, text in message(part).parse_entities().items()] == [
        ("bold", "a"),
        ("code", "b"),
        ("bold", "c"),
        ("blockquote", "q d\n\ne"),
    ]


@for_each("text", [text for text in HOSTILE if len(text) < 200])
def test_escaped_text_shows_as_itself(text: str) -> None:
    alone = " ".join(strip_invisible(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))[0].split())
    assert "\n" not in escaped(text)
    if not alone:
        assert escaped(text) == ""
        return
    assert [part.text for part in render(escaped(text), "plain")] == [alone]
    assert [part.text for part in render(f"- **{escaped(text)}** said", "plain")] == [f"- {alone} said"]


@for_each(
    "name, channel",
    [
        ("telegram", "telegram"),
        ("telegram:main", "telegram"),
        ("Telegram ", "telegram"),
        ("whatsapp-business", "whatsapp"),
        ("slack/T1", "slack"),
        ("discord_2", "discord"),
        ("html", "html"),
        ("markdown", "markdown"),
        ("terminal", "plain"),
        ("", "plain"),
        ("telegraph", "plain"),
        ("\0", "plain"),
        ("sms", "plain"),
    ],
)
def test_a_binding_says_how_to_render_for_it(name: str, channel: Channel) -> None:
    assert channel_of(name) == channel


def test_text_with_nothing_to_show_makes_no_message() -> None:
    for text in ("", "  \n", "\u200b", "&#8203;", "```\n```", "#", ">", "\x00"):
        for channel in CHANNELS:
            assert render(text, channel) == [], (text, channel)
