"""What every library's interceptor does, tried on each with the library's own objects."""

from __future__ import annotations

import pytest

from afterglow.channels import channel_of, render
from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.turns import Binding
from tests.adapters.conftest import Bot, ana_of, away


@pytest.mark.spec("AWAY-11", "AWAY-6")
async def test_who_comes_back_is_told_before_the_bot_answers(memory: Memory, bot: Bot) -> None:
    await away(memory, bot)
    await bot.write("I am back", id=2)
    assert bot.seen[0] == "answer to first" and bot.seen[-1] == "answer to I am back"
    (told,) = bot.seen[1:-1]
    assert "While you were away" in told and "Water the plants" in told
    await bot.write("and again", id=3)
    assert bot.seen[3:] == ["answer to and again"]


@pytest.mark.spec("AWAY-11")
async def test_a_message_that_comes_twice_is_handled_once(memory: Memory, bot: Bot) -> None:
    await away(memory, bot)
    await bot.write("I am back", id=2)
    before = list(bot.seen)
    await bot.write("I am back", id=2)
    assert bot.seen == before


@pytest.mark.spec("AWAY-11", "AWAY-6")
async def test_a_digest_that_cannot_be_sent_keeps_no_person_from_an_answer(memory: Memory, bot: Bot) -> None:
    await away(memory, bot)
    bot.refusing = True
    await bot.write("I am back", id=2)
    assert bot.seen == ["answer to first", "answer to I am back"]
    (kept,) = await memory.digests(owner=ana_of(bot).owner)
    assert kept.status == "failed" and kept.reason


@pytest.mark.spec("AWAY-11", "SAFE-2")
async def test_in_a_group_no_person_is_told_what_happened_for_one_of_them(memory: Memory, bot: Bot) -> None:
    await away(memory, bot)
    await bot.write_in_group("hello all", id=2)
    await bot.write_in_group("hello all", id=2)
    assert bot.seen == ["answer to first", *["answer to hello all"] * 2] and not bot.sent
    await bot.write("now to you alone", id=3)
    assert "Water the plants" in bot.seen[-2], "what they wrote in the group was not their coming back"


@pytest.mark.spec("AWAY-11")
async def test_whatever_else_comes_in_goes_to_the_bot_as_it_did(memory: Memory, bot: Bot) -> None:
    await away(memory, bot)
    before = await memory.store.presence(ana_of(bot).owner, "kate")
    expected = await bot.other_kinds()
    assert len(bot.seen) == 1 + expected and not bot.sent
    assert await memory.store.presence(ana_of(bot).owner, "kate") == before


@pytest.mark.spec("AWAY-11")
@pytest.mark.parametrize("bot", ["aiogram", "slack", "discord"], indirect=True)
async def test_a_message_that_the_bot_failed_on_is_handled_when_it_comes_again(memory: Memory, bot: Bot) -> None:
    """python-telegram-bot does not say how its handlers ended; see test_telegram.py."""
    bot.failing = 1
    await bot.write("hello", id=1)
    assert bot.seen == []
    await bot.write("hello", id=1, again=True)
    assert bot.seen == ["answer to hello"]


@pytest.mark.spec("AWAY-10", "AWAY-11")
async def test_a_daily_digest_reaches_the_person_by_the_same_bot(memory: Memory, bot: Bot) -> None:
    (part,) = render("**While you were away**", channel_of(bot.channel))
    deliver = bot.deliverer()
    await deliver(ana_of(bot), part)
    assert [each for each in bot.seen if "While you were away" in each]
    with pytest.raises(BadInput, match="the channel 'sms' is not one for"):
        await deliver(Binding(agent="kate", channel="sms", sender="7001"), part)
    assert len(bot.sent) == 1
