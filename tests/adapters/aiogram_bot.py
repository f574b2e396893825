"""aiogram with a session that answers from here."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiogram import Bot, Dispatcher, Router
from aiogram.client.default import DefaultBotProperties
from aiogram.client.session.base import BaseSession
from aiogram.exceptions import TelegramForbiddenError
from aiogram.methods import SendMessage, TelegramMethod
from aiogram.types import CallbackQuery, Chat, Message, Update

from afterglow.adapters import aiogram
from afterglow.memory import Memory
from afterglow.telling import Deliver

ANA = {"id": 7001, "is_bot": False, "first_name": "Ana"}
PRIVATE = {"id": 7001, "type": "private", "first_name": "Ana"}
GROUP = {"id": -100500, "type": "supergroup", "title": "Family"}


class Wire(BaseSession):
    """Telegram's side of the wire."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[dict[str, Any]] = []
        self.seen: list[str] = []
        self.refusing = False

    async def close(self) -> None: ...

    async def make_request(self, bot: Bot, method: TelegramMethod[Any], timeout: int | None = None) -> Any:
        assert isinstance(method, SendMessage)
        if self.refusing:
            raise TelegramForbiddenError(method=method, message="bot was blocked by the user")
        put = {
            name: self.prepare_value(value, bot=bot, files={})
            for name, value in method.model_dump(warnings=False).items()
        }
        given = {name: _read(value) for name, value in put.items() if value is not None}
        self.sent.append(given)
        self.seen.append(given["text"])
        return Message(message_id=900, date=0, chat=Chat(**PRIVATE), text=given["text"])  # pyright: ignore

    async def stream_content(self, *_: Any, **__: Any) -> AsyncGenerator[bytes, None]:
        yield b""


class AiogramBot:
    channel = "telegram"
    ana = "7001"

    def __init__(self, wire: Wire, dispatcher: Dispatcher) -> None:
        self.wire = wire
        self.bot = Bot("42:TEST", session=wire, default=DefaultBotProperties(parse_mode="HTML"))
        self.dispatcher = dispatcher
        self.failing = 0
        answering = Router()  # where a bot of some size has its handlers
        dispatcher.include_router(answering)
        for observer in answering.observers.values():
            if observer.event_name not in ("update", "error"):
                observer.register(self._answer)

    @property
    def seen(self) -> list[str]:
        return self.wire.seen

    @property
    def sent(self) -> list[dict[str, Any]]:
        return self.wire.sent

    @property
    def refusing(self) -> bool:
        return self.wire.refusing

    @refusing.setter
    def refusing(self, value: bool) -> None:
        self.wire.refusing = value

    async def _answer(self, event: Message | CallbackQuery) -> str:
        if self.failing:
            self.failing -= 1
            raise RuntimeError("the model is away")
        self.seen.append(f"answer to {event.text if isinstance(event, Message) else 'something'}")
        return "answered"

    async def feed(self, **payload: Any) -> Any:
        update = Update.model_validate({"update_id": 1, **payload}, context={"bot": self.bot})
        return await self.dispatcher.feed_update(self.bot, update)

    async def write(self, text: str, *, id: int, again: bool = False) -> None:
        with contextlib.suppress(RuntimeError):
            await self.feed(message={"message_id": id, "date": 0, "from": ANA, "chat": PRIVATE, "text": text})

    async def write_in_group(self, text: str, *, id: int) -> None:
        await self.feed(message={"message_id": id, "date": 0, "from": ANA, "chat": GROUP, "text": text})

    async def other_kinds(self) -> int:
        message = {"message_id": 50, "date": 0, "from": ANA, "chat": PRIVATE, "text": "x"}
        channel = {"id": -100600, "type": "channel", "title": "News"}
        await self.feed(edited_message={**message, "edit_date": 1})
        await self.feed(callback_query={"id": "1", "from": ANA, "chat_instance": "1", "message": message, "data": "b"})
        await self.feed(channel_post={"message_id": 51, "date": 0, "chat": channel, "text": "x"})
        await self.feed(business_message={**message, "business_connection_id": "b"})
        await self.feed(message={"message_id": 52, "date": 0, "chat": PRIVATE, "text": "from no sender"})
        await self.feed(message={**message, "message_id": 53, "from": {**ANA, "is_bot": True}})
        return 6

    def deliverer(self) -> Deliver:
        return aiogram.deliverer(self.bot)

    async def close(self) -> None:
        await self.bot.session.close()


async def make(memory: Memory, _: pytest.MonkeyPatch) -> AiogramBot:
    dispatcher = Dispatcher()
    aiogram.attach(dispatcher, memory, agent="kate")
    return AiogramBot(Wire(), dispatcher)


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
