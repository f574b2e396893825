"""python-telegram-bot with a transport that answers from here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from telegram import Update
from telegram.constants import ParseMode
from telegram.ext import Application, Defaults, TypeHandler
from telegram.request import BaseRequest, RequestData

from afterglow.adapters import telegram
from afterglow.memory import Memory
from afterglow.telling import Deliver

ANA = {"id": 7001, "is_bot": False, "first_name": "Ana"}
PRIVATE = {"id": 7001, "type": "private", "first_name": "Ana"}
GROUP = {"id": -100500, "type": "supergroup", "title": "Family"}
TOKEN = "42:not-a-real-one"


class Wire(BaseRequest):
    """Telegram's side of the wire."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.seen: list[str] = []
        self.refusing = False

    @property
    def read_timeout(self) -> float | None:
        return None

    async def initialize(self) -> None: ...

    async def shutdown(self) -> None: ...

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: Any, **__: Any
    ) -> tuple[int, bytes]:
        if url.endswith("/getMe"):
            return _ok({"id": 42, "is_bot": True, "first_name": "Kate", "username": "kate_bot"})
        assert url.endswith("/sendMessage") and request_data is not None
        if self.refusing:
            refusal = {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}
            return 403, json.dumps(refusal).encode()
        given = {name: _read(value) for name, value in request_data.json_parameters.items()}
        self.sent.append(given)
        self.seen.append(given["text"])
        return _ok({"message_id": 900, "date": 0, "chat": PRIVATE, "text": given["text"]})


class TelegramBot:
    channel = "telegram"
    ana = "7001"

    def __init__(self, application: Application[Any, Any, Any, Any, Any, Any], wire: Wire) -> None:
        self.application = application
        self.wire = wire
        self.failing = 0
        self.errors: list[Exception | None] = []
        application.add_handler(TypeHandler(Update, self._answer))
        application.add_error_handler(self._note)

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

    async def _answer(self, update: Update, _: Any) -> None:
        if self.failing:
            self.failing -= 1
            raise RuntimeError("the model is away")
        self.seen.append(f"answer to {update.message.text if update.message else 'something'}")

    async def _note(self, _: object, context: Any) -> None:
        self.errors.append(context.error)

    async def feed(self, **payload: Any) -> None:
        update = Update.de_json({"update_id": 1, **payload}, self.application.bot)
        await self.application.process_update(update)

    async def write(self, text: str, *, id: int, again: bool = False) -> None:
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
        await self.feed(of_a_kind_not_known_yet={"id": 1})
        return 7

    def deliverer(self) -> Deliver:
        return telegram.deliverer(self.application.bot)

    async def close(self) -> None:
        await self.application.shutdown()


async def make(memory: Memory, _: pytest.MonkeyPatch, *, block: bool = True) -> TelegramBot:
    """A bot whose own defaults stand in the way as much as they can."""
    wire = Wire()
    hostile = Defaults(parse_mode=ParseMode.HTML, block=block)
    application = Application.builder().token(TOKEN).request(wire).get_updates_request(Wire()).defaults(hostile).build()
    bot = TelegramBot(application, wire)
    telegram.attach(application, memory, agent="kate")
    await application.initialize()
    return bot


def _ok(result: Any) -> tuple[int, bytes]:
    return 200, json.dumps({"ok": True, "result": result}).encode()


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
