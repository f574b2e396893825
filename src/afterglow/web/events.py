"""What happens live, as server-sent events.

A stream reads the store every second, as far as the reader has taken what it was sent: nothing is gathered for a slow one. What
another process does is in the store too. Each event has a number, from which a reader that was cut off goes on.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response, StreamingResponse
from starlette.requests import Request
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from afterglow.memory import Memory
from afterglow.store.happenings import Happened, Happening
from afterglow.store.transaction import Scope
from afterglow.web.credentials import Access
from afterglow.web.problems import PROBLEM, refusal
from afterglow.web.reading import SEQ_MAX, Asked
from afterglow.web.whose import Accessed, Opened, scope_of

STREAMS_MAX = 100
STREAMS_OF_ONE_MAX = 20
"""So many of them one token may have, so that nobody takes them all."""
POLL_SECONDS = 1.0
ALIVE_SECONDS = 15.0
LOOK_BACK = 100
"""So far back is looked for what became visible late; see store/happenings.py."""
_PAGE = 500
_HEADERS = {"x-accel-buffering": "no"}
_LATER = {"retry-after": "5"}

_EVENTS: dict[str, Any] = {
    "description": "Events until the connection ends",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "properties": {
                    "event": {"enum": ["begun", "happened", "reset"]},
                    "id": {"type": "string", "description": "What to send as Last-Event-ID after a break"},
                    "data": {"type": "string", "description": "JSON: what happened; {} of the other two"},
                },
            }
        }
    },
}

router = APIRouter(prefix="/api/v1")


class Streams:
    """The streams that are open, and whether the server is about to stop."""

    def __init__(self) -> None:
        self._of: Counter[str | None] = Counter()
        self.stopping = asyncio.Event()
        self.answers: set[asyncio.Task[None]] = set()
        """Those under way, which go on although nobody may be listening any more."""

    @property
    def open(self) -> int:
        return self._of.total()

    def take(self, token: str | None) -> None:
        """Count one more with this token, or without one; or refuse it."""
        if self._of[token] >= STREAMS_OF_ONE_MAX:
            by = "without a token" if token is None else "with this token"
            raise refusal(
                429, f"{STREAMS_OF_ONE_MAX} streams are open {by}, and no more are kept; end one first", _LATER
            )
        if self.open >= STREAMS_MAX:
            raise refusal(503, f"{STREAMS_MAX} streams are open, and no more are kept; try again later", _LATER)
        self._of[token] += 1

    def release(self, token: str | None) -> None:
        """One with this token has ended."""
        assert self._of[token], "it was counted"
        self._of[token] -= 1
        if not self._of[token]:
            del self._of[token]

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the server stops."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            pass


class EventStream(StreamingResponse):
    """Events as they happen."""

    media_type = "text/event-stream"


class _Counted(EventStream):
    """A stream that counts until it ends. A generator would not notice a reader that goes before the first event."""

    def __init__(self, content: AsyncIterator[str], streams: Streams, token: str | None) -> None:
        super().__init__(content, headers=_HEADERS)
        self._streams, self._token = streams, token

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.release(self._token)


@router.get("/events", response_class=EventStream, responses={200: _EVENTS, "default": PROBLEM})
async def events(
    request: Request,
    memory: Opened,
    access: Accessed,
    asked: Annotated[Asked, Query()],
    last_event_id: Annotated[str | None, Header(max_length=40, description="Go on behind this event")] = None,
) -> Response:
    """What happens, as it happens: `happened` with what it was, and `reset` where some of it was missed."""
    streams: Streams = request.app.state.streams
    scope = scope_of(access, asked.owner)
    if request.state.head:
        return EventStream(_nothing(), headers=_HEADERS)
    token = None if access.token is None else access.token.id
    streams.take(token)
    return _Counted(_stream(memory, access, scope, streams, _number(last_event_id)), streams, token)


async def _stream(
    memory: Memory, access: Access, scope: Scope, streams: Streams, after: int | None
) -> AsyncIterator[str]:
    """The events as text, until the reader goes, the token is worth nothing any more, or the server stops."""
    loop = asyncio.get_running_loop()
    begun = await memory.store.happened(scope, after)
    if after is None or not begun.whole:
        yield _event("begun" if after is None else "reset", begun.last, {})
        after = begun.last
    reader = Reader(after)
    reader.pass_over((await _look(memory, scope, reader)).items)
    said_at = loop.time()
    while not streams.stopping.is_set():
        new = reader.take((await _look(memory, scope, reader)).items)
        if new and not await _is_open(memory, access):
            return
        for each in new:
            yield _event("happened", each.id, asdict(each))
        if loop.time() - said_at >= ALIVE_SECONDS:
            said_at = loop.time()
            if not await _is_open(memory, access):
                return
            yield ": alive\n\n"
        if not new:
            await streams.pause(POLL_SECONDS)


class Reader:
    """How far somebody has read: all up to a number, but for what becomes visible late."""

    def __init__(self, after: int) -> None:
        self.after = after
        self._seen: set[int] = set()

    def pass_over(self, found: Iterable[Happening]) -> None:
        """What is there already, and was read before."""
        self._seen = {each.id for each in found if each.id <= self.after}

    def take(self, found: Iterable[Happening]) -> list[Happening]:
        """What of it is new."""
        new = [each for each in found if each.id not in self._seen]
        self.after = max([self.after, *(each.id for each in new)])
        self._seen = {each for each in self._seen | {each.id for each in new} if each > self.after - LOOK_BACK}
        return new


async def _look(memory: Memory, scope: Scope, reader: Reader) -> Happened:
    return await memory.store.happened(scope, reader.after - LOOK_BACK, limit=LOOK_BACK + _PAGE)


async def _is_open(memory: Memory, access: Access) -> bool:
    """Whether who came in so would still be let in."""
    return access.token is None or await memory.store.is_open(access.token.id)


async def _nothing() -> AsyncIterator[str]:
    for nothing in ():
        yield nothing


def _number(given: str | None) -> int | None:
    """Where to go on; what is no number was not given out here, and stands for the beginning of all."""
    if given is None or not given:
        return None
    return min(int(given), SEQ_MAX) if given.isascii() and given.isdigit() else 0


def _event(kind: str, number: int, data: dict[str, Any]) -> str:
    return f"event: {kind}\nid: {number}\ndata: {json.dumps(data)}\n\n"


def event_text(kind: str, data: dict[str, Any]) -> str:
    """An event that has no number: nobody goes on behind it."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, default=str)}\n\n"
