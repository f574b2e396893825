"""The route that talks to the agent: the answer as it comes, as server-sent events.

Who speaks here speaks as the owner, so it takes a token of that scope. The message is on disk before the model is asked; one
that comes again under its key is not answered twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from afterglow.agent import Agent, Done, Event, Text, ToolUsed
from afterglow.errors import AfterglowError, BadInput, StoreUnavailable
from afterglow.turns import Binding, binding_of
from afterglow.web.events import EventStream, Streams, event_text
from afterglow.web.problems import INTERNAL, PROBLEM
from afterglow.web.whose import Accessed, check_owner, owners_word
from afterglow.web.writing import Name, key_of, read_body

NOBODY = Binding(agent="assistant", channel="page", sender="me")
"""Who talks where nobody is named: the person at the page of a machine of their own."""
TEXT_CHARS_MAX = 100_000
BODY_BYTES_MAX = 1024 * 1024
"""A text of that length with every character escaped, and its envelope."""
_STOPPING = "the server is stopping; send the message again under its key once it is back"
_HEADERS = {"x-accel-buffering": "no"}
_EVENTS: dict[str, Any] = {
    "description": "text, tool, and at last done or error",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "properties": {
                    "event": {"enum": ["text", "tool", "done", "error"]},
                    "data": {
                        "type": "string",
                        "description": "JSON: {text}, {name, …}, {session, owner, text}, {message}",
                    },
                },
            }
        }
    },
}

router = APIRouter(prefix="/api/v1")
_log = logging.getLogger(__name__)


class Message(BaseModel):
    """Something said to the agent."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    text: str = Field(min_length=1, max_length=TEXT_CHARS_MAX)
    owner: Name | None = Field(default=None, description="agent/channel/sender: who speaks, and to which agent")
    session: Name | None = Field(default=None, description="A session of your own naming; made if it is missing")
    key: Name | None = Field(default=None, description="The same key again in a session is not answered twice")


_BODY = {"required": True, "content": {"application/json": {"schema": Message.model_json_schema()}}}


@router.post(
    "/chat",
    response_class=EventStream,
    responses={200: _EVENTS, "default": PROBLEM},
    dependencies=[Depends(owners_word)],
    openapi_extra={"requestBody": _BODY},
)
async def chat(request: Request, access: Accessed) -> EventStream:
    """Say something to the agent: `text` as it comes, `tool` where one is used, and at last `done`, or `error`."""
    message = Message.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    message.key = key_of(request, message.key)
    owner = message.owner or (access.token.owner if access.token else None) or NOBODY.owner
    check_owner(access, owner)
    binding = binding_of(owner)
    if binding is None:
        raise BadInput(f"owner: {owner!r} is not agent/channel/sender, as in kate/telegram/42")
    return EventStream(
        _answered(request.app.state.agent, request.app.state.streams, binding, message), headers=_HEADERS
    )


async def _answered(agent: Agent, streams: Streams, binding: Binding, message: Message) -> AsyncIterator[str]:
    """What is told as it comes. Who goes away is answered all the same, and finds the answer in the session."""
    told: asyncio.Queue[str | None] = asyncio.Queue()
    events = agent.stream(message.text, to=binding, session=message.session, key=message.key)
    answer = asyncio.create_task(_answer(events, streams.stopping, told.put_nowait))
    streams.answers.add(answer)
    answer.add_done_callback(streams.answers.discard)
    answer.add_done_callback(lambda _: told.put_nowait(None))
    while (event := await told.get()) is not None:
        yield event


async def _answer(events: AsyncGenerator[Event], stopping: asyncio.Event, tell: Callable[[str], None]) -> None:
    """Tell what happens to the end, or until the server stops: a model that is silent then does not hold it up."""
    told, stopped = asyncio.ensure_future(_tell_all(events, tell)), asyncio.ensure_future(stopping.wait())
    await asyncio.wait([told, stopped], return_when=asyncio.FIRST_COMPLETED)
    if not told.done():
        tell(event_text("error", {"kind": StoreUnavailable.__name__, "message": _STOPPING}))
    told.cancel()
    stopped.cancel()
    await asyncio.wait([told, stopped])


async def _tell_all(events: AsyncGenerator[Event], tell: Callable[[str], None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                tell(_told(event))
    except AfterglowError as error:  # the answer is under way, and its status is said
        tell(event_text("error", {"kind": type(error).__name__, "message": str(error)}))
    except Exception:  # noqa: BLE001 - a boundary, as a request is: who listens is told, and the log has the rest
        _log.exception("an answer broke off in a way nobody foresaw")
        tell(event_text("error", {"kind": "InternalError", "message": INTERNAL}))


def _told(event: Event) -> str:
    match event:
        case Text(text=text):
            return event_text("text", {"text": text})
        case ToolUsed():
            told = {"name": event.name, "arguments": dict(event.arguments), "result": event.result}
            return event_text("tool", {**told, "failed": event.failed})
        case Done(text=text, exchanged=exchanged):
            assert exchanged is not None, "a message was answered"
            turn = exchanged.message
            return event_text("done", {"session": turn.session, "owner": turn.owner, "seq": turn.seq, "text": text})
