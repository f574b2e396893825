"""slack-bolt's AsyncApp, with a web client that answers from here."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from afterglow.adapters import slack
from afterglow.memory import Memory
from afterglow.telling import Deliver

DIRECT = {"channel": "D1", "channel_type": "im"}
RETRY = {"x-slack-retry-num": "1", "x-slack-retry-reason": "http_error"}


class SlackBot:
    channel = "slack"
    ana = "U1"

    def __init__(self, app: AsyncApp) -> None:
        self.app = app
        self.seen: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.failing = 0
        self.refusing = False

        @app.event(re.compile(".*"))
        async def answer(event: dict[str, Any]) -> None:
            if self.failing:
                self.failing -= 1
                raise RuntimeError("the model is away")
            self.seen.append(f"answer to {event.get('text', 'something')}")

        @app.action(re.compile(".*"))
        async def pressed(ack: Any) -> None:
            await ack()
            self.seen.append("answer to a button")

    async def api_call(self, _: AsyncWebClient, api_method: str, *, json: dict[str, Any], **__: Any) -> Any:
        assert api_method == "chat.postMessage"
        if self.refusing:
            raise SlackApiError("refused", {"ok": False, "error": "messages_tab_disabled"})
        self.sent.append(json)
        self.seen.append(json["text"])
        return {"ok": True}

    async def feed(self, event: dict[str, Any], headers: dict[str, str] | None = None) -> BoltResponse:
        body = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event}
        return await self.dispatch(body, headers)

    async def dispatch(self, body: dict[str, Any], headers: dict[str, str] | None = None) -> BoltResponse:
        given = {"content-type": "application/json", **(headers or {})}
        return await self.app.async_dispatch(
            AsyncBoltRequest(body=json.dumps(body), headers=given)  # pyright: ignore
        )

    async def write(self, text: str, *, id: int, again: bool = False) -> None:
        await self.feed(message(text, id), RETRY if again else None)

    async def write_in_group(self, text: str, *, id: int) -> None:
        await self.feed({**message(text, id), "channel": "C1", "channel_type": "channel"})

    async def other_kinds(self) -> int:
        written = message("x", 50)
        await self.feed({"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.1", "text": "x"})
        await self.feed({"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "messages"})
        await self.feed({"type": "message", **DIRECT, "subtype": "message_changed", "ts": "1.2", "message": written})
        await self.feed({**written, "subtype": "reminder_add"})
        await self.feed({**written, "bot_id": "B9"})
        await self.feed({**written, "channel": "G1", "channel_type": "mpim"})
        await self.dispatch({"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_id": "a"}]})
        return 7

    def deliverer(self) -> Deliver:
        return slack.deliverer(self.app.client)

    async def close(self) -> None: ...


def message(text: str, number: int) -> dict[str, Any]:
    """What Ana wrote to the app alone."""
    return {"type": "message", **DIRECT, "user": "U1", "text": text, "ts": f"1700000000.{number:06d}"}


async def make(memory: Memory, monkeypatch: pytest.MonkeyPatch, *, ends_before_answer: bool = True) -> SlackBot:
    async def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T1", bot_token="xoxb-0", bot_id="B1", bot_user_id="U0")

    app = AsyncApp(
        authorize=authorize,
        signing_secret="not a real one",
        request_verification_enabled=False,
        process_before_response=ends_before_answer,
    )
    slack.attach(app, memory, agent="kate")
    bot = SlackBot(app)

    async def api_call(client: AsyncWebClient, api_method: str, **given: Any) -> Any:
        return await bot.api_call(client, api_method, **given)

    monkeypatch.setattr(AsyncWebClient, "api_call", api_call)
    return bot
