"""slack-bolt: a middleware of an `AsyncApp`, before its listeners.

Bolt answers Slack before a listener has ended, and tells no middleware how it ended. So a message counts as handled when it
goes on to the listeners, and one that Slack sends again because it was answered with an error goes on again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from afterglow.adapters import check_channel
from afterglow.channels import Part
from afterglow.errors import MissingPackage
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.telling import Deliver
from afterglow.turns import Binding, check_name

try:
    from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
    from slack_bolt.response import BoltResponse
    from slack_sdk.web.async_client import AsyncWebClient
except ImportError:
    raise MissingPackage(
        "this adapter needs the packages slack-bolt and aiohttp; install both with: pip install '.[slack]' in its folder"
    ) from None

_WRITTEN = (None, "file_share")
"""The subtypes of what a person writes; all others tell of edits, of members, of what bots wrote."""


def attach(app: AsyncApp, memory: Memory, *, agent: str, channel: str = "slack") -> None:
    """Tell whoever comes back what happened, before the listeners get the message; keep repeats from them."""
    check_name(agent, "agent")
    check_channel(channel, "slack")

    async def intercept(
        request: AsyncBoltRequest, client: AsyncWebClient, next: Callable[[], Awaitable[Any]]
    ) -> BoltResponse | None:
        message = _inbound(request, agent, channel)
        if message is None:
            await next()
            return None

        async def deliver(to: Binding, part: Part) -> None:
            await _send(client, part, channel=message.raw["channel"], thread_ts=message.raw.get("thread_ts"))

        handled = await memory.on_inbound(message, lambda _: next(), deliver=deliver)
        return BoltResponse(status=200) if handled.again else None

    app.use(intercept)  # pyright: ignore[reportUnknownMemberType]


def deliverer(client: AsyncWebClient) -> Deliver:
    """Sends to people by this client, that of one workspace; for `afterglow.open(deliver=…)`, so that daily digests go out."""

    async def deliver(to: Binding, part: Part) -> None:
        check_channel(to.channel, "slack")
        await _send(client, part, channel=to.sender)  # a person's id stands for the conversation with them

    return deliver


async def _send(client: AsyncWebClient, part: Part, **where: Any) -> None:
    await client.chat_postMessage(  # pyright: ignore[reportUnknownMemberType]
        text=part.text, mrkdwn=True, unfurl_links=False, unfurl_media=False, **where
    )


def _inbound(request: AsyncBoltRequest, agent: str, channel: str) -> Inbound | None:
    """What a person wrote to the app alone; what is written in channels, by bots or in other ways is none."""
    event: Mapping[str, Any] = request.body.get("event") or {}
    if event.get("type") != "message" or event.get("channel_type") != "im" or event.get("subtype") not in _WRITTEN:
        return None
    if event.get("bot_id") or not (event.get("user") and event.get("ts") and event.get("channel")):
        return None
    binding = Binding(agent=agent, channel=channel, sender=event["user"])
    failed = "http_error" in request.headers.get("x-slack-retry-reason", ())
    return Inbound(binding=binding, id=None if failed else f"{event['channel']}:{event['ts']}", raw=event)
