"""Interceptors for the libraries that bots are written with: a few lines each over `Memory.on_inbound`.

Each module has `attach`, which puts the interceptor before the bot's own handlers, and `deliverer`, which sends daily
digests. Only what one person writes to the bot alone is intercepted: in a group everybody would read the digest.
"""

from __future__ import annotations

from afterglow.channels import Channel, channel_of
from afterglow.errors import BadInput


def check_channel(name: str, channel: Channel) -> None:
    """Refuse a binding's channel that another library serves: its ids would lead to somebody else here."""
    if channel_of(name) != channel:
        raise BadInput(
            f"the channel {name!r} is not one for {channel}; such a name begins with {channel}, as {channel}:work does"
        )
