"""aiogram: an outer middleware on messages, around whichever handler answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from afterglow.adapters import check_channel, telegram_message
from afterglow.channels import Part
from afterglow.errors import MissingPackage
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.telling import Deliver
from afterglow.turns import Binding, check_name

try:
    from aiogram import Bot, Router
    from aiogram.enums import ChatType
    from aiogram.types import LinkPreviewOptions, Message, MessageEntity, TelegramObject
except ImportError:
    raise MissingPackage(
        "this adapter needs the package aiogram; install it with: pip install '.[aiogram]' in Afterglow's folder"
    ) from None


def attach(router: Router, memory: Memory, *, agent: str, channel: str = "telegram") -> None:
    """Tell whoever comes back what happened, before the router's handlers get the message; keep repeats from them.

    `router` is the dispatcher, or one router of it. A message whose handler raises is handled when it comes again.
    """
    check_name(agent, "agent")
    check_channel(channel, "telegram")

    async def intercept(
        handler: Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]], event: TelegramObject, data: dict[str, Any]
    ) -> Any:
        message = _inbound(event, agent, channel)
        if message is None:
            return await handler(event, data)
        handled = await memory.on_inbound(message, lambda _: handler(event, data), deliver=deliverer(data["bot"]))
        return handled.result

    router.message.outer_middleware.register(intercept)


def deliverer(bot: Bot) -> Deliver:
    """Sends to people by this bot; for `afterglow.open(deliver=…)`, so that daily digests go out."""

    async def deliver(to: Binding, part: Part) -> None:
        await bot.send_message(**telegram_message(to, part, MessageEntity, LinkPreviewOptions))

    return deliver


def _inbound(event: TelegramObject, agent: str, channel: str) -> Inbound | None:
    """What a person wrote to the bot alone; what is written in groups is none."""
    if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
        return None
    if event.chat.type != ChatType.PRIVATE:
        return None
    binding = Binding(agent=agent, channel=channel, sender=str(event.from_user.id))
    return Inbound(binding=binding, id=f"{event.chat.id}:{event.message_id}", raw=event)
