"""python-telegram-bot: a handler in an early group, so that the digest comes before the bot's own handlers run."""

from __future__ import annotations

from typing import Any

from afterglow.adapters import check_channel, telegram_message
from afterglow.channels import Part
from afterglow.errors import MissingPackage
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.telling import Deliver
from afterglow.turns import Binding, check_name

try:
    from telegram import Bot, LinkPreviewOptions, MessageEntity, Update
    from telegram.constants import ChatType
    from telegram.ext import Application, ApplicationHandlerStop, CallbackContext, TypeHandler
except ImportError:
    raise MissingPackage(
        "this adapter needs the package python-telegram-bot; install it with: pip install '.[telegram]' in Afterglow's folder"
    ) from None

GROUP = -1
"""Handlers stand in group 0 unless somebody says otherwise; those before are run first."""


def attach(
    application: Application[Any, Any, Any, Any, Any, Any],
    memory: Memory,
    *,
    agent: str,
    channel: str = "telegram",
    group: int = GROUP,
) -> None:
    """Tell whoever comes back what happened, before the handlers of later groups get the message; keep repeats from them.

    A message counts as handled when those handlers get it: what they raise goes to the error handlers, not here.
    """
    check_name(agent, "agent")
    check_channel(channel, "telegram")

    async def intercept(update: Update, context: CallbackContext[Any, Any, Any, Any]) -> None:
        message = _inbound(update, agent, channel)
        if message is None:
            return
        handled = await memory.on_inbound(message, deliver=deliverer(context.bot))
        if handled.again:
            raise ApplicationHandlerStop

    # Said outright, because a bot's defaults may have handlers run beside each other.
    application.add_handler(TypeHandler(Update, intercept, block=True), group=group)


def deliverer(bot: Bot) -> Deliver:
    """Sends to people by this bot; for `afterglow.open(deliver=…)`, so that daily digests go out."""

    async def deliver(to: Binding, part: Part) -> None:
        await bot.send_message(**telegram_message(to, part, MessageEntity, LinkPreviewOptions))

    return deliver


def _inbound(update: Update, agent: str, channel: str) -> Inbound | None:
    """What a person wrote to the bot alone; edits, buttons, posts in channels and all else are none."""
    message = update.message
    if message is None or message.from_user is None or message.from_user.is_bot:
        return None
    if message.chat.type != ChatType.PRIVATE:
        return None
    binding = Binding(agent=agent, channel=channel, sender=str(message.from_user.id))
    return Inbound(binding=binding, id=f"{message.chat.id}:{message.message_id}", raw=message)
