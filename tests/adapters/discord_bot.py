"""discord.py's client, fed as the gateway feeds it, with requests answered from here."""

from __future__ import annotations

import asyncio
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it loads audioop, which Python means to drop
    import discord
    from discord.user import ClientUser

from afterglow.adapters import discord as adapter
from afterglow.memory import Memory
from afterglow.telling import Deliver

ANA = {"id": "7001", "username": "ana", "discriminator": "0", "avatar": None, "global_name": "Ana"}
KATE = {"id": "42", "username": "kate", "discriminator": "0", "avatar": None, "global_name": None, "bot": True}


class DiscordBot:
    channel = "discord"
    ana = "7001"

    def __init__(self, client: discord.Client) -> None:
        self.client = client
        self.seen: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.failing = 0
        self.refusing = False

        @client.event
        async def on_message(message: discord.Message) -> None:
            if message.author == client.user:
                return
            if self.failing:
                self.failing -= 1
                raise RuntimeError("the model is away")
            self.seen.append(f"answer to {message.content}")

        client.http.request = self._request  # pyright: ignore[reportAttributeAccessIssue]

    async def _request(self, route: Any, **given: Any) -> Any:
        if route.url.endswith("/users/7001"):
            return ANA
        if route.url.endswith("/users/@me/channels"):
            assert given["json"] == {"recipient_id": 7001}
            return {"id": "600", "type": 1, "recipients": [ANA]}
        assert route.url.endswith("/channels/600/messages") and route.method == "POST"
        if self.refusing:
            raise discord.Forbidden(SimpleNamespace(status=403, reason="Forbidden"), "no")  # pyright: ignore
        self.sent.append(given["json"])
        self.seen.append(given["json"]["content"])
        return payload(given["json"]["content"], 900, author=KATE)

    async def feed(self, data: dict[str, Any]) -> None:
        self.client._connection.parse_message_create(data)  # pyright: ignore
        running = [task for task in asyncio.all_tasks() if task.get_name().startswith("discord.py:")]
        await asyncio.gather(*running)

    async def write(self, text: str, *, id: int, again: bool = False) -> None:
        await self.feed(payload(text, id))

    async def write_in_group(self, text: str, *, id: int) -> None:
        await self.feed({**payload(text, id), "channel_id": "700", "guild_id": "800", "member": _MEMBER})

    async def other_kinds(self) -> int:
        await self.feed(payload("x", 50, author=KATE))
        await self.feed(payload("x", 51, author={**KATE, "id": "43"}))
        await self.feed({**payload("x", 52), "channel_id": "701", "guild_id": "801"})
        return 2

    def deliverer(self) -> Deliver:
        return adapter.deliverer(self.client)

    async def close(self) -> None:
        await self.client.close()


_MEMBER: dict[str, Any] = {
    "roles": [],
    "joined_at": "2026-01-01T00:00:00+00:00",
    "deaf": False,
    "mute": False,
    "flags": 0,
}
_GUILD: dict[str, Any] = {
    "id": "800",
    "name": "Family",
    "channels": [{"id": "700", "type": 0, "name": "hall", "position": 0, "permission_overwrites": []}],
    "roles": [],
    "members": [],
    "emojis": [],
    "stickers": [],
}


def payload(text: str, number: int, author: dict[str, Any] = ANA) -> dict[str, Any]:
    """A message between the bot and Ana, as the gateway brings it."""
    return {
        "id": str(number),
        "channel_id": "600",
        "author": author,
        "content": text,
        "timestamp": "2026-03-02T12:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
    }


async def make(memory: Memory, _: pytest.MonkeyPatch) -> DiscordBot:
    client = discord.Client(intents=discord.Intents.all())
    await client.__aenter__()
    state: Any = client._connection  # pyright: ignore
    state.user = ClientUser(state=state, data=KATE)  # pyright: ignore
    state._add_guild(discord.Guild(data=_GUILD, state=state))  # pyright: ignore
    bot = DiscordBot(client)
    adapter.attach(client, memory, agent="kate")
    return bot
