"""The example of a Telegram bot, with Telegram's side of the wire played here."""

from __future__ import annotations

import asyncio
import runpy
from typing import Any

import pytest
from telegram import Update
from telegram.ext import Application

from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.turns import Binding
from tests.adapters.telegram_bot import ANA, GROUP, PRIVATE, TOKEN, Wire
from tests.generated import ROOT
from tests.kit.examples import run_example

_ANA = Binding(agent="kate", channel="telegram", sender=str(ANA["id"]))
EXAMPLE = ROOT / "examples" / "telegram_bot.py"


@pytest.mark.spec("AWAY-11")
async def test_the_example_answers_and_tells_what_it_did_meanwhile(memory: Memory, clock: FixedClock) -> None:
    example, wire = runpy.run_path(str(EXAMPLE)), Wire()
    application = Application.builder().token(TOKEN).request(wire).get_updates_request(Wire()).build()
    example["connect"](application, memory)
    async with application:

        async def write(number: int, text: str, chat: dict[str, Any] = PRIVATE) -> None:
            command = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
            message = {"message_id": number, "date": 0, "from": ANA, "chat": chat, "text": text}
            entities = {"entities": [command]} if text.startswith("/") else {}
            await application.process_update(
                Update.de_json({"update_id": number, "message": {**message, **entities}}, application.bot)
            )

        await write(1, "My sister Rosa likes white tea")
        assert wire.seen[-1].startswith("Noted. I was shown 1 messages")
        example["connect"].__globals__["TIMER_SECONDS"] = 0
        await write(2, "/timer tea")
        assert wire.seen[-1] == "It runs for 0 seconds."
        for _ in range(3_000):  # the timer runs beside
            if "completed" in [goal.outcome for goal in await memory.goals(_ANA)]:
                break
            await asyncio.sleep(0.01)
        clock.move(5 * 3600)
        await write(3, "/recall Rosa")
        assert "While you were away" in wire.seen[-2] and "Done\n• timer tea" in wire.seen[-2]
        assert "My sister Rosa likes white tea" in wire.seen[-1]
        before = list(wire.seen)
        await write(4, "hello all", GROUP)
        assert wire.seen == before, "it keeps quiet in groups"


@pytest.mark.spec("AWAY-11")
def test_the_example_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TELEGRAM_TOKEN", raising=False)
    with pytest.raises(SystemExit) as ended:
        run_example(EXAMPLE)
    wanted = "TELEGRAM_TOKEN is not set; get a token from @BotFather on Telegram, and put it there"
    assert ended.value.code == wanted, "Python writes that to stderr, and the exit code is 1"
