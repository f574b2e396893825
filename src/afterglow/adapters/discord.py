"""discord.py: around the client's `on_message`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from afterglow.adapters import check_channel
from afterglow.channels import Part
from afterglow.errors import BadInput, MissingPackage
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.telling import Deliver
from afterglow.turns import Binding, check_name

try:
    import discord
except ImportError:
    raise MissingPackage(
        "this adapter needs the package discord.py; install it with: pip install '.[discord]' in Afterglow's folder"
    ) from None


def attach(client: discord.Client, memory: Memory, *, agent: str, channel: str = "discord") -> None:
    """Tell whoever comes back what happened, before `on_message` gets the message; keep repeats from it.

    Call it when `on_message` is defined, because that is what it goes around. A message on which that raises is handled
    when it comes again.
    """
    check_name(agent, "agent")
    check_channel(channel, "discord")
    answer: Callable[[discord.Message], Awaitable[Any]] | None = getattr(client, "on_message", None)
    if answer is None:
        raise BadInput("the client has no on_message that could be handed messages; define it first, then attach")

    async def on_message(message: discord.Message) -> None:
        arrived = _inbound(message, agent, channel)
        if arrived is None:
            await answer(message)
            return
        await memory.on_inbound(
            arrived, lambda _: answer(message), deliver=lambda _, part: _send(message.channel, part)
        )

    client.event(on_message)


def deliverer(client: discord.Client) -> Deliver:
    """Sends to people by this client; for `afterglow.open(deliver=…)`, so that daily digests go out."""

    async def deliver(to: Binding, part: Part) -> None:
        check_channel(to.channel, "discord")
        await _send(client.get_user(int(to.sender)) or await client.fetch_user(int(to.sender)), part)

    return deliver


async def _send(to: discord.abc.Messageable, part: Part) -> None:
    await to.send(part.text, allowed_mentions=discord.AllowedMentions.none(), suppress_embeds=True)


def _inbound(message: discord.Message, agent: str, channel: str) -> Inbound | None:
    """What a person wrote to the bot alone; what is written on servers or by bots is none."""
    if message.author.bot or not isinstance(message.channel, discord.DMChannel):
        return None
    binding = Binding(agent=agent, channel=channel, sender=str(message.author.id))
    return Inbound(binding=binding, id=str(message.id), raw=message)
