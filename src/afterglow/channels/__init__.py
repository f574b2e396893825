"""A message for each channel: markdown in, what is to be sent out.

Whatever the text holds, it calls nobody, hides no link and breaks no markup, and no part of it is over the channel's
limit. Rendering touches nothing outside: the same text always gives the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from afterglow.channels.dialect import Dialect, parts
from afterglow.channels.discord import DISCORD
from afterglow.channels.html import html_of
from afterglow.channels.lines import lines_of
from afterglow.channels.markdown import MARKDOWN, beginning, escape
from afterglow.channels.message import Entity, Part
from afterglow.channels.plain import PLAIN
from afterglow.channels.slack import SLACK
from afterglow.channels.telegram import telegram_parts
from afterglow.channels.tree import cleaned, parse
from afterglow.channels.whatsapp import WHATSAPP
from afterglow.errors import BadInput

__all__ = ["CHANNELS", "Channel", "Entity", "Part", "channel_of", "escaped", "render"]

Channel = Literal["markdown", "plain", "html", "telegram", "whatsapp", "slack", "discord"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)

_DIALECTS: Mapping[Channel, Dialect] = {
    "markdown": MARKDOWN,
    "plain": PLAIN,
    "whatsapp": WHATSAPP,
    "slack": SLACK,
    "discord": DISCORD,
}


def render(markdown: str, channel: Channel) -> list[Part]:
    """The messages to send, in order. There are none only where the text has nothing to show."""
    if channel not in CHANNELS:  # pyright: ignore[reportUnnecessaryContains]
        raise BadInput(f"channel {channel!r} is not known; use one of {', '.join(CHANNELS)}, or channel_of(name)")
    blocks = parse(markdown)
    if channel == "html":
        return [Part(text=html_of(blocks))] if blocks else []
    if channel == "telegram":
        return telegram_parts(lines_of(blocks))
    return [Part(text=text) for text in parts(lines_of(blocks), _DIALECTS[channel])]


def channel_of(name: str) -> Channel:
    """How to render for a binding's channel: `telegram:main` and `whatsapp-business` are what they begin with.

    A channel that is not known gets plain text, which is right everywhere.
    """
    first = re.split(r"[^a-z]", name.strip().lower(), maxsplit=1)[0]
    for channel in CHANNELS:
        if channel == first:
            return channel
    return "plain"


def escaped(text: str) -> str:
    """Somebody else's text as one line of markdown that shows as exactly that text.

    Markup is escaped, invisible characters are dropped, and every run of white space is one space.
    """
    return beginning(escape(" ".join(cleaned(text).split())))
