"""Interceptors for the libraries that bots are written with: a few lines each over `Memory.on_inbound`.

Each module has `attach`, which puts the interceptor before the bot's own handlers, and `deliverer`, which sends daily
digests. Only what one person writes to the bot alone is intercepted: in a group everybody would read the digest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from afterglow.channels import Channel, Part, channel_of
from afterglow.errors import BadInput
from afterglow.turns import Binding


def check_channel(name: str, channel: Channel) -> None:
    """Refuse a binding's channel that another library serves: its ids would lead to somebody else here."""
    if channel_of(name) != channel:
        raise BadInput(
            f"the channel {name!r} is not one for {channel}; such a name begins with {channel}, as {channel}:work does"
        )


def telegram_message(
    to: Binding, part: Part, entity: Callable[..., Any], preview: Callable[..., Any]
) -> dict[str, Any]:
    """What a bot's `send_message` is given, in the words that Telegram's libraries share; the classes are the library's own."""
    check_channel(to.channel, "telegram")
    names = ("type", "offset", "length", "url", "language")
    return {
        "chat_id": int(to.sender),  # a private chat has the id of the person
        "text": part.text,
        "parse_mode": None,  # a bot's default would read the text as markup, and the entities not at all
        "entities": [entity(**{name: getattr(each, name) for name in names}) for each in part.entities],
        "link_preview_options": preview(is_disabled=True),
    }
