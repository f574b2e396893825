"""What happens live: in order, to whom it concerns, from where a reader left off, and no longer than the server lives."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from afterglow import Binding, FixedClock
from afterglow.store.happenings import Happening
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app, events
from afterglow.web.events import LOOK_BACK, Reader
from tests.kit.records import KATE, OTHER
from tests.kit.web import Door

pytestmark = pytest.mark.spec("DOOR-3")
PATIENCE_SECONDS = 30


class Listener:
    """A reader of the stream, as a browser is one."""

    def __init__(self, made: FastAPI, headers: dict[str, str], query: str = "") -> None:
        self._made = made
        self._scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/api/v1/events",
            "raw_path": b"/api/v1/events",
            "query_string": query.encode(),
            "headers": [(b"host", b"localhost:8765"), *((k.encode(), v.encode()) for k, v in headers.items())],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8765),
            "state": {},
        }
        self._gone = asyncio.Event()
        self._text = ""
        self._more: asyncio.Queue[str | None] = asyncio.Queue()
        self.status = 0
        self.content_type = ""
        self.may_send = asyncio.Event()
        self.may_send.set()
        self.answered = asyncio.Event()
        self.offered = 0
        """How often the server had something for this reader."""
        self.held_up = asyncio.Event()
        """Something is there that this reader does not take."""

    async def run(self) -> None:
        async def receive() -> Any:
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            self.answered.set()
            self.offered += 1
            if not self.may_send.is_set():
                self.held_up.set()
            await self.may_send.wait()
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.content_type = dict(message["headers"])[b"content-type"].decode()
            else:
                self._more.put_nowait(message.get("body", b"").decode())

        await self._made(self._scope, receive, send)
        self._more.put_nowait(None)

    def leave(self) -> None:
        self._gone.set()

    async def next(self) -> dict[str, Any] | None:
        """The next event; None when the stream has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "\n\n" not in self._text:
                more = await self._more.get()
                if more is None:
                    return None
                self._text += more
        one, _, self._text = self._text.partition("\n\n")
        if one.startswith(":"):
            return {"event": "alive"}
        found = dict(line.split(": ", 1) for line in one.splitlines())
        return {"event": found["event"], "id": found["id"], **json.loads(found["data"])}


@contextlib.asynccontextmanager
async def listening(made: FastAPI, headers: dict[str, str], query: str = "") -> AsyncIterator[Listener]:
    listener = Listener(made, headers, query)
    task = asyncio.create_task(listener.run())
    try:
        yield listener
    finally:
        listener.leave()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.02)


async def say(door: Door, to: Binding, *texts: str) -> None:
    for text in texts:
        await door.memory.append(to, "user", text)


@pytest.mark.both
async def test_who_listens_hears_of_each_turn_in_order_and_of_no_other_owner(any_door: Door) -> None:
    made = app(any_door.memory)
    async with (
        listening(made, any_door.credential("bound")) as ana,
        listening(made, any_door.credential("read")) as all_,
    ):
        for each in (ana, all_):
            begun = await each.next()
            assert begun is not None and begun["event"] == "begun"
            assert (each.status, each.content_type) == (200, "text/event-stream; charset=utf-8")
        await say(any_door, OTHER, "theirs")
        await say(any_door, KATE, "one", "two")
        heard = [await ana.next() for _ in range(3)]
        assert [(each and each["kind"], each and each["number"]) for each in heard] == [
            ("session", None),
            ("turn", 1),
            ("turn", 2),
        ]
        assert {each and each["owner"] for each in heard} == {KATE.owner}
        both = [await all_.next() for _ in range(5)]
        assert {each and each["owner"] for each in both} == {KATE.owner, OTHER.owner}
    assert made.state.streams.open == 0, "who left is not counted any more"


async def test_who_was_cut_off_goes_on_where_it_was(door: Door) -> None:
    made = app(door.memory)
    await say(door, KATE, "one")
    async with listening(made, door.credential("bound")) as first:
        begun = await first.next()
    assert begun is not None
    await say(door, KATE, "two", "three")
    again = {**door.credential("bound"), "last-event-id": begun["id"]}
    async with listening(made, again) as second:
        heard = [await second.next() for _ in range(2)]
    assert [(each and each["event"], each and each["number"]) for each in heard] == [("happened", 2), ("happened", 3)]


@pytest.mark.parametrize("last", ["999999", "0", "nonsense", "9" * 30])
async def test_who_names_an_event_that_is_not_kept_is_told_to_look_at_all_again(door: Door, last: str) -> None:
    made = app(door.memory)
    await say(door, KATE, "one")
    async with listening(made, {**door.credential("bound"), "last-event-id": last}) as listener:
        heard = await listener.next()
        assert heard is not None and heard["event"] == "reset"
        await say(door, KATE, "two")
        heard = await listener.next()
        assert heard is not None and heard["number"] == 2


async def test_what_another_process_does_is_heard_too(door: Door, tmp_path: Path, clock: FixedClock) -> None:
    other = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    async with listening(app(door.memory), door.credential("bound")) as listener:
        await listener.next()
        await other.open_session(KATE, "from elsewhere")
        heard = await listener.next()
    await other.close()
    assert heard is not None and heard["session"] == "from elsewhere"


async def test_blocks_summaries_facts_goals_digests_and_work_are_heard_of(any_door: Door) -> None:
    memory = any_door.memory
    session = await memory.open_session(KATE, "s")
    began = (await memory.store.happened(KATE.owner, None)).last
    for n in range(24):  # some of them may be folded behind this before it is asked for
        text = f"Point {n} of the review was talked about at length, and nothing was decided."
        await memory.append(session, "assistant" if n % 2 else "user", text)
    await memory.compact(session)
    await memory.summarize(await memory.session("s", owner=KATE.owner))
    await memory.facts.add(KATE.owner, "The review is on 3 March.")
    await memory.record_goal(KATE, "report", "done")
    found = (await memory.store.happened(KATE.owner, began)).items
    assert {each.kind for each in found} >= {"block", "summary", "fact", "goal", "work", "turn"}
    assert {each.what for each in found if each.kind == "work"} >= {"context", "summary"}
    assert "review" not in repr(found), "of what was said there is not a word"


async def test_a_stream_ends_when_the_server_stops(door: Door) -> None:
    made = app(door.memory)
    async with listening(made, door.credential("bound")) as listener:
        await listener.next()
        made.state.streams.stopping.set()
        assert await listener.next() is None


async def test_a_stream_ends_when_its_token_is_revoked(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "ALIVE_SECONDS", 0.05)
    async with listening(app(door.memory), door.credential("bound")) as listener:
        await listener.next()
        assert await listener.next() == {"event": "alive"}
        (token,) = [each for each in await door.memory.store.tokens() if each.name == "bound"]
        await door.memory.store.revoke_token(token.id)
        while (heard := await listener.next()) is not None:
            assert heard == {"event": "alive"}


async def test_who_shows_a_revoked_token_hears_of_nothing_that_happens_after(door: Door) -> None:
    async with listening(app(door.memory), door.credential("bound")) as listener:
        await listener.next()
        (token,) = [each for each in await door.memory.store.tokens() if each.name == "bound"]
        await door.memory.store.revoke_token(token.id)
        await say(door, KATE, "a secret")
        assert await listener.next() is None


async def test_for_a_reader_that_takes_nothing_nothing_is_gathered(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    store, looks = door.memory.store, 0
    happened = store.happened

    async def counted(*given: Any, **more: Any) -> Any:
        nonlocal looks
        looks += 1
        return await happened(*given, **more)

    monkeypatch.setattr(store, "happened", counted)
    made = app(door.memory)
    async with listening(made, door.credential("bound")) as listener:
        await listener.next()
        listener.may_send.clear()
        await say(door, KATE, *(f"turn {n}" for n in range(60)))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await listener.held_up.wait()
        offered, looked = listener.offered, looks
        await asyncio.sleep(5 * events.POLL_SECONDS)
        assert (listener.offered, looks) == (offered, looked), "the stream waits for its reader"
        listener.may_send.set()
        heard = [await listener.next() for _ in range(61)]
        assert [each and each["number"] for each in heard] == [None, *range(1, 61)]


async def refused(made: FastAPI, headers: dict[str, str]) -> tuple[int, str]:
    async with listening(made, headers) as listener:
        body = await listener._more.get()
        assert body is not None
        return listener.status, json.loads(body)["error"]["message"]


async def test_only_so_many_streams_are_kept_open(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "STREAMS_MAX", 1)
    made = app(door.memory)
    async with listening(made, door.credential("bound")) as one:
        await one.next()
        status, told = await refused(made, door.credential("read"))
        assert (status, told.startswith("1 streams are open, and no more are kept; try again")) == (503, True)
    async with listening(made, door.credential("bound")) as three:
        assert await three.next() is not None


async def test_one_token_leaves_streams_for_the_others(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "STREAMS_OF_ONE_MAX", 2)
    made = app(door.memory)
    async with listening(made, door.credential("bound")) as one, listening(made, door.credential("bound")) as two:
        assert await one.next() and await two.next()
        status, told = await refused(made, door.credential("bound"))
        assert (status, "2 streams are open with this token" in told) == (429, True)
        async with listening(made, door.credential("read")) as other:
            assert await other.next() is not None
        two.leave()
        assert await two.next() is None
        async with listening(made, door.credential("bound")) as three:
            assert await three.next() is not None
    assert made.state.streams.open == 0


async def test_a_stream_counts_from_when_it_is_granted_and_no_longer_where_its_reader_never_came(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "STREAMS_MAX", 1)
    made = app(door.memory)
    async with listening(made, door.credential("bound")) as slow:
        slow.may_send.clear()  # not even the head of the answer is taken
        async with asyncio.timeout(PATIENCE_SECONDS):
            await slow.answered.wait()
        assert (await refused(made, door.credential("read")))[0] == 503
    assert made.state.streams.open == 0


async def test_who_asks_for_the_head_of_a_stream_gets_it_and_no_more(door: Door) -> None:
    async with door.client("bound") as client:
        answer = await client.head("/api/v1/events")
    assert (answer.status_code, answer.content) == (200, b"")


def _happening(number: int) -> Happening:
    return Happening(id=number, owner=KATE.owner, kind="turn", session="s", what=None, number=number)


def test_what_becomes_visible_late_is_told_once() -> None:
    reader = Reader(10)
    reader.pass_over([_happening(n) for n in (8, 10)])
    assert [each.id for each in reader.take(map(_happening, (8, 10, 11, 13)))] == [11, 13]
    assert [each.id for each in reader.take(map(_happening, (8, 9, 10, 11, 12, 13)))] == [9, 12]
    assert reader.take(map(_happening, (8, 9, 10, 11, 12, 13))) == []
    reader.take(map(_happening, range(14, 1000)))
    assert len(reader._seen) == LOOK_BACK
