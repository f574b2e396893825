"""A Telegram bot that remembers, and that tells you what it did while you were away.

    pip install '.[telegram]'        (in Afterglow's folder)
    TELEGRAM_TOKEN=… python examples/telegram_bot.py ./notes

@BotFather gives you a token. Write to the bot, then `/timer tea`; wait three minutes, and write again. `/recall tea` searches
what you said. In place of `answer` put your own model.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any

from telegram import Message, Update
from telegram.ext import Application, CommandHandler, MessageHandler, filters

import afterglow
from afterglow.adapters import telegram

AWAY = {"enabled": True, "style": "rich", "threshold_hours": 0.05, "daily_at": "08:00"}
TIMER_SECONDS = 60
PRIVATE = filters.ChatType.PRIVATE & filters.UpdateType.MESSAGE


def answer(context: afterglow.Context) -> str:
    """Your agent stands here: it gets what the model is to see, and gives the reply."""
    return f"Noted. I was shown {len(context.messages)} messages of {context.tokens} tokens in all."


def sender(message: Message) -> afterglow.Binding:
    assert message.from_user is not None, "in a private chat somebody writes"
    return afterglow.Binding(agent="kate", channel="telegram", sender=str(message.from_user.id))


def connect(application: Application[Any, Any, Any, Any, Any, Any], memory: afterglow.Memory) -> None:
    telegram.attach(application, memory, agent="kate")  # the digest, before any handler below
    timers: set[asyncio.Task[None]] = set()

    async def talk(update: Update, _: Any) -> None:
        done = await memory.exchange(sender(update.message), update.message.text, answer)
        await update.message.reply_text(done.text)

    async def recall(update: Update, context: Any) -> None:
        found = await memory.search(" ".join(context.args), owner=sender(update.message).owner)
        lines = [f"{hit.at:%d %B}: {hit.snippet}" for hit in found.hits[:5]]
        await update.message.reply_text("\n".join(lines) or "I remember nothing of that.")

    async def timer(update: Update, context: Any) -> None:
        timers.add(task := asyncio.create_task(run(sender(update.message), " ".join(context.args))))
        task.add_done_callback(timers.discard)
        await update.message.reply_text(f"It runs for {TIMER_SECONDS} seconds.")

    async def run(person: afterglow.Binding, name: str) -> None:
        """Something the agent does by itself. It writes down how that goes; the digest tells it."""
        await memory.record_goal(person, f"timer {name}", "running")
        await asyncio.sleep(TIMER_SECONDS)
        await memory.record_goal(person, f"timer {name}", "done")

    application.add_handler(CommandHandler("timer", timer, PRIVATE, has_args=True))
    application.add_handler(CommandHandler("recall", recall, PRIVATE, has_args=True))
    application.add_handler(MessageHandler(PRIVATE & filters.TEXT & ~filters.COMMAND, talk))


async def main(token: str, folder: str) -> None:
    settings = afterglow.Settings.model_validate({"data_dir": folder, "primary": "auto", "away_summary": AWAY})
    application = Application.builder().token(token).build()
    async with afterglow.open(settings, deliver=telegram.deliverer(application.bot)) as memory, application:
        connect(application, memory)
        await application.start()
        await application.updater.start_polling()
        try:
            await asyncio.Event().wait()  # until Ctrl-C
        finally:
            await application.updater.stop()
            await application.stop()


if __name__ == "__main__":
    if not os.environ.get("TELEGRAM_TOKEN"):
        sys.exit("TELEGRAM_TOKEN is not set; get a token from @BotFather on Telegram, and put it there")
    with suppress(KeyboardInterrupt):
        asyncio.run(main(os.environ["TELEGRAM_TOKEN"], sys.argv[1] if len(sys.argv) > 1 else "./notes"))
