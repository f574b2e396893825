"""What is particular to Discord: no mentions, no embeds, and that there is something to go around."""

from __future__ import annotations

import pytest

from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.turns import Binding
from tests.adapters import discord_bot
from tests.adapters.conftest import away

discord = discord_bot.discord
adapter = discord_bot.adapter
SUPPRESS_EMBEDS = 1 << 2


@pytest.mark.spec("AWAY-9", "AWAY-11")
async def test_the_text_calls_no_person_and_shows_no_embeds(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await discord_bot.make(memory, monkeypatch)
    await away(memory, bot)
    await bot.write("I am back", id=2)
    (sent,) = bot.sent
    assert sent["allowed_mentions"]["parse"] == []
    assert sent["flags"] & SUPPRESS_EMBEDS and sent["content"].startswith("**While you were away**")
    await bot.close()


@pytest.mark.spec("AWAY-11")
async def test_what_bots_write_is_no_coming_back(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await discord_bot.make(memory, monkeypatch)
    await bot.other_kinds()
    for sender in ("42", "43"):
        binding = Binding(agent="kate", channel="discord", sender=sender)
        assert await memory.store.presence(binding.owner, "kate") is None
    await bot.close()


@pytest.mark.spec("AWAY-11")
async def test_a_bot_of_commands_is_served_too(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from discord.ext import commands

    bot = commands.Bot(command_prefix="!", intents=discord.Intents.all())
    ran: list[str] = []

    @bot.command()
    async def hello(context: commands.Context[commands.Bot]) -> None:
        ran.append(context.message.content)

    async with bot:
        adapter.attach(bot, memory, agent="kate")
        state = bot._connection  # pyright: ignore
        state.user = discord_bot.ClientUser(state=state, data=discord_bot.KATE)  # pyright: ignore
        for number in (1, 1, 2):
            data = discord_bot.payload("!hello", number)
            channel, _ = state._get_guild_channel(data)  # pyright: ignore
            await bot.on_message(discord.Message(state=state, channel=channel, data=data))  # pyright: ignore
    assert ran == ["!hello", "!hello"]


async def test_a_client_without_on_message_is_refused(memory: Memory) -> None:
    async with discord.Client(intents=discord.Intents.none()) as client:
        with pytest.raises(BadInput, match="define it first, then attach"):
            adapter.attach(client, memory, agent="kate")
        with pytest.raises(BadInput, match="the channel 'chat' is not one for discord"):
            adapter.attach(client, memory, agent="kate", channel="chat")
