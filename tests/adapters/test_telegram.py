"""What is particular to python-telegram-bot and aiogram: entities, defaults in the way, and what counts as handled."""

from __future__ import annotations

from typing import Any

import pytest

from afterglow.adapters import aiogram, telegram
from afterglow.errors import BadInput
from afterglow.memory import Memory
from tests.adapters import aiogram_bot, telegram_bot
from tests.adapters.conftest import away


@pytest.mark.spec("AWAY-9", "AWAY-11")
@pytest.mark.parametrize("library", [telegram_bot, aiogram_bot], ids=["telegram", "aiogram"])
async def test_the_text_goes_with_entities_whatever_the_bot_s_defaults_are(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, library: Any
) -> None:
    bot = await library.make(memory, monkeypatch)
    await away(memory, bot)
    await bot.write("I am back", id=2)
    (sent,) = bot.sent
    assert sent["chat_id"] == 7001 and "parse_mode" not in sent
    assert sent["link_preview_options"] == {"is_disabled": True}
    bold = [each for each in sent["entities"] if each["type"] == "bold"]
    shown = [sent["text"].encode("utf-16-le")[2 * e["offset"] : 2 * (e["offset"] + e["length"])] for e in bold]
    assert [each.decode("utf-16-le") for each in shown] == ["While you were away", "Failed", "Done"]
    await bot.close()


@pytest.mark.spec("AWAY-6", "AWAY-11")
async def test_handlers_that_run_beside_each_other_still_come_after_the_digest(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await telegram_bot.make(memory, monkeypatch, block=False)
    await bot.application.start()
    await away(memory, bot)
    await bot.write("I am back", id=2)
    await bot.application.stop()  # waits for the handlers
    assert "While you were away" in bot.seen[1] and bot.seen[2:] == ["answer to I am back"]
    await bot.close()


@pytest.mark.spec("AWAY-11")
async def test_a_message_counts_as_handled_when_python_telegram_bot_s_handlers_get_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await telegram_bot.make(memory, monkeypatch)
    bot.failing = 1
    await bot.write("hello", id=1)
    await bot.write("hello", id=1)
    assert bot.seen == [] and [str(error) for error in bot.errors] == ["the model is away"]
    await bot.close()


@pytest.mark.spec("AWAY-11")
async def test_what_an_aiogram_handler_gives_is_given_on(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await aiogram_bot.make(memory, monkeypatch)
    payload = {"message_id": 1, "date": 0, "from": aiogram_bot.ANA, "chat": aiogram_bot.PRIVATE, "text": "x"}
    assert await bot.feed(message=payload) == "answered"
    assert await bot.feed(message=payload) is None
    with pytest.raises(RuntimeError, match="the model is away"):
        bot.failing = 1
        await bot.feed(message={**payload, "message_id": 2})


@pytest.mark.parametrize("library", [telegram, aiogram], ids=["telegram", "aiogram"])
@pytest.mark.parametrize("wrong", [{"agent": ""}, {"agent": "kate", "channel": "slack"}], ids=["agent", "channel"])
def test_what_would_fail_on_every_message_fails_when_it_is_attached(library: Any, wrong: Any) -> None:
    with pytest.raises(BadInput, match=r"agent must have|the channel 'slack' is not one for telegram"):
        library.attach(None, None, **wrong)
