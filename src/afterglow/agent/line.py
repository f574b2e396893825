"""The lines of messages that wait: one session's in order, different sessions side by side.

A message is in the store before anything can fail. Answering a line is a claim on work of kind `reply`, so that no two
processes answer the same line, and what a dead process left is answered by the next one that opens. Which messages are
answered together is written down too, and the answer under the key of the last of them: whoever repeats it after a crash finds
the answer that is there. No lock is held while a reply is handed over, which happens once at most.

Who took a message listens for its answer. Where another process answers it, the message stays in the store as answered, and its
listener finds it there and hands over what the log has. Only where that one is gone does another do so, by `deliver`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

from afterglow.agent.handing import Handle, OnReply, heard, through
from afterglow.clock import new_id
from afterglow.errors import (
    AfterglowError,
    BadInput,
    BadSettings,
    ClaimLost,
    ModelBadOutput,
    ModelTooLong,
    NotFound,
)
from afterglow.guard import redact
from afterglow.store.contract import Store
from afterglow.store.inbox import HURRY_SECONDS, Waiting
from afterglow.telling import Deliver
from afterglow.work import Claim, Limits, error_text, is_spent
from afterglow.worker import Commit, Worker, holder_name, is_gone


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """An answer, and whether it was made now; else it was there already."""

    text: str
    is_new: bool


Answer = Callable[[Sequence[Waiting]], Awaitable[Answered]]
Said = Callable[[Waiting], Awaitable[str | None]]
"""What the log has as the answer to a message; None where it has none."""
_Place = tuple[str, str]
"""An owner, and where their messages wait."""

_LEASE_SECONDS = 15.0
"""Somebody waits: what a dead process held is free again soon."""
_BACKOFF_MAX_SECONDS = 60.0
_PARKED_RETRY_SECONDS = 300.0
_AGAIN_SECONDS = 0.2
_AGAIN_MAX_SECONDS = 15.0
_ANSWER_SHARE = 0.9
"""An answer is given up before the whole act would be, so that it can be said why."""
_LISTENING = timedelta(seconds=30)
"""A listener looks more often than this: who has not fetched its answer by then is gone."""
_PAGE = 1000

_numbers = count()
"""Part of a listener's name: a fixed clock gives two lines of one process the same chance."""
_listening_here: set[str] = set()
"""Who listens in this process. In a container the one before it may have had its number too, and is gone all the same."""
_log = logging.getLogger(__name__)


class Line:
    """Answers what waits."""

    def __init__(
        self,
        store: Store,
        answer: Answer,
        said: Said,
        *,
        deliver: Deliver | None,
        limits: Limits,
        concurrency: int,
        over: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`over` is what the worker tells of work that failed or was lost."""
        self._store = store
        self._answer = answer
        self._said = said
        self._deliver = deliver
        self._listener = f"{new_id(store.clock)}-{next(_numbers)}@{holder_name()}"
        _listening_here.add(self._listener)
        self._limits = replace(
            limits,
            lease_seconds=min(limits.lease_seconds, _LEASE_SECONDS),
            backoff_max_seconds=min(limits.backoff_max_seconds, _BACKOFF_MAX_SECONDS),
            parked_retry_seconds=min(limits.parked_retry_seconds, _PARKED_RETRY_SECONDS),
        )
        self._worker = Worker(
            store,
            {"reply": self.act},
            holder=holder_name(),
            limits=self._limits,
            asked_again_seconds=HURRY_SECONDS,
            over=over,
        )
        self._at_once = asyncio.Semaphore(concurrency)
        self._attending: dict[_Place, asyncio.Task[None]] = {}
        self._asked: set[_Place] = set()
        self._calls: dict[_Place, asyncio.Event] = {}
        """What wakes a line that rests after a failure."""
        self._now: dict[_Place, set[str]] = {}
        """The keys of what is being answered."""
        self._handles: dict[_Place, list[Handle]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        """What is not to be broken off: the end of an answer, and its handing over."""
        self._closed = asyncio.Event()
        self._left = False
        """Whether nothing is finished any more of what was begun before it was closed."""

    async def put(self, message: Waiting, reply: OnReply | None) -> Handle:
        """Write the message down, and see to its line."""
        if self._closed.is_set():
            raise BadInput("this agent is closed and answers nothing more; open it again")
        kept = await self._store.put_message(replace(message, listener=self._listener))
        handle = Handle(kept, reply, self.take_back)
        self._handles.setdefault((kept.owner, kept.place), []).append(handle)
        self._attend((kept.owner, kept.place))
        if self._left:  # it was closed meanwhile
            await self._leave()
        return handle

    async def resume(self) -> int:
        """See to all lines that are there; say how many."""
        found, after = 0, ("", "")
        while page := await self._store.waiting_places(limit=_PAGE, after=after):
            for place in page:
                first = await self._store.waiting_messages(*place, limit=1)
                if first and self._is_left(first[0]):
                    with suppress(NotFound):  # whoever starts anew has perhaps mended what stood in the way
                        await self._store.retry(place[0], kind="reply", subject=place[1])
                self._attend(place)
            found, after = found + len(page), page[-1]
        return found

    async def take_back(self, message: Waiting) -> bool:
        """Take a message out of its line; where it is being answered, break that off."""
        place = message.owner, message.place
        if not await self._store.take_back(*place, message.key):
            return False
        for each in self._of(place, [message.key]):
            each.answered.cancel()
        running = self._attending.get(place)
        if running is not None and message.key in self._now.get(place, ()):
            running.cancel()
            try:
                # Not gathered: called from inside the answer, this is broken off with it, and would break it off again.
                await asyncio.wait([running])
            finally:
                self._attend(place)
        return True

    async def close(self, seconds: float) -> None:
        """Finish what is being answered, at most so long, and hand over what was; the rest goes on waiting in the store."""
        self._closed.set()
        for called in self._calls.values():
            called.set()
        await _wait(list(self._attending.values()), seconds)
        await _wait(list(self._ending), seconds)
        self._left = True
        await self._leave()

    async def _leave(self) -> None:
        """Nobody listens here any more."""
        _listening_here.discard(self._listener)
        if self._handles:
            with suppress(AfterglowError):  # then others find out in a while
                await self._store.stop_listening(self._listener)
        for place in list(self._handles):
            self._give_up(place, BadInput("the agent was closed; the message is answered when it runs again"))

    async def act(self, claim: Claim) -> Commit | None:
        """Answer the first messages of a line together, and give the commit that ends their waiting."""
        batch = await self._store.take_messages(claim)
        if not batch:
            return None
        place = claim.owner, claim.subject
        keys = [each.key for each in batch]
        answered, error = Answered(text="", is_new=True), None
        self._now[place] = set(keys)
        try:
            async with asyncio.timeout(self._limits.act_seconds_max * _ANSWER_SHARE):
                answered = await self._answer(batch)
        except Exception as failed:
            self._failed(place, keys, failed)
            if not _is_hopeless(claim, failed, self._limits):
                raise
            error = failed
        finally:
            self._now.pop(place, None)

        async def end() -> None:
            # What was answered before, and is not tried again after a crash, was heard: a platform delivers it again.
            is_heard = error is not None or (not answered.is_new and not batch[-1].taken)
            ended = await self._store.end_messages(claim, keys, by=None if is_heard else self._listener)
            if error is None:
                self._hand_over(place, ended, answered.text, is_heard=is_heard)
            else:
                self._of(place, keys)
                _log.warning("a message of %s stays unanswered: %s", claim.subject, redact(error_text(error)).text)

        async def commit() -> None:
            await asyncio.shield(self._kept(end()))  # what is ended is handed over, whoever is broken off meanwhile

        return commit

    def _attend(self, place: _Place) -> None:
        """See to a line, one task for each; asked for while it is about to end, it goes on."""
        if self._closed.is_set():
            return
        self._asked.add(place)
        if place in self._calls:
            self._calls[place].set()
        running = self._attending.get(place)
        if running is None or running.done():
            self._attending[place] = running = asyncio.create_task(self._answer_line(place))
            running.add_done_callback(partial(self._attended, place))

    def _attended(self, place: _Place, ended: asyncio.Task[None]) -> None:
        """Nobody sees to the line now; where it was broken off, and is still asked for, somebody does again."""
        if self._attending.get(place) is ended:
            del self._attending[place]
            if ended.cancelled() and place in self._asked:
                self._attend(place)

    async def _answer_line(self, place: _Place) -> None:
        wait = _AGAIN_SECONDS
        while place in self._asked and not self._closed.is_set():
            self._asked.discard(place)
            done, left = await self._looked_after(place)
            is_called = place in self._asked
            if left:  # it failed and waits, or another process is about it
                wait = _AGAIN_SECONDS if done or is_called else min(2 * wait, _AGAIN_MAX_SECONDS)
                if await self._rested(place, wait):
                    wait = _AGAIN_SECONDS
                self._asked.add(place)
            elif not is_called:
                await self._tell_the_rest(place)

    async def _rested(self, place: _Place, seconds: float) -> bool:
        """Wait so long, or until somebody calls for the line; say whether that was it."""
        called = self._calls[place] = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                return await called.wait()
        except TimeoutError:
            return False
        finally:
            self._calls.pop(place, None)

    async def _looked_after(self, place: _Place) -> tuple[int, bool]:
        """Do what is ready of a line; say how often, and whether anything is left."""
        try:
            async with self._at_once:
                done = await self._worker.attend(place[0], "reply", place[1])
            return done, await self._handed_on(place)
        except AfterglowError as error:
            _log.warning("the messages of %s cannot be answered now: %s", place[1], redact(str(error)).text)
            return 0, True

    async def _handed_on(self, place: _Place) -> bool:
        """Hand over what others answered and is to be heard here; say whether anything is left."""
        while first := await self._store.waiting_messages(*place, limit=1):
            if not self._is_to_be_heard_here(first[0]):
                return True
            await asyncio.shield(self._kept(self._fetched(first[0])))
        return False

    async def _fetched(self, message: Waiting) -> None:
        text = await self._said(message)
        if await self._store.take_back(message.owner, message.place, message.key):  # which gives the right to
            place = message.owner, message.place
            self._hand_over(place, [replace(message, answered_at=None)], text or "", is_heard=False)

    def _is_to_be_heard_here(self, message: Waiting) -> bool:
        if message.answered_at is None:
            return False
        return self._is_left(message) or self._store.clock.now() - message.answered_at > _LISTENING

    def _is_left(self, message: Waiting) -> bool:
        """Whether nobody listens for it, or this one, or one that is known to be gone."""
        listener = message.listener
        if listener in (None, self._listener):
            return True
        holder = listener.partition("@")[2]
        return listener not in _listening_here if holder == holder_name() else is_gone(holder)

    async def _tell_the_rest(self, place: _Place) -> None:
        """Of messages that are gone another hands over the answer; who awaits one here gets it from the log."""
        left = [each for each in self._handles.pop(place, []) if not each.answered.done()]
        try:
            for each in left:
                if (text := await self._said(each.message)) is not None:
                    each.give(text)
        except AfterglowError as error:
            _log.warning("what others answered at %s was not read: %s", place[1], redact(str(error)).text)
        finally:
            for each in left:
                each.fail(ClaimLost("another process took it over; what became of it is in the log"))

    def _of(self, place: _Place, keys: Sequence[str]) -> list[Handle]:
        """Those who wait for these messages, who wait no more."""
        there = self._handles.pop(place, [])
        if left := [each for each in there if each.message.key not in keys]:
            self._handles[place] = left
        return [each for each in there if each.message.key in keys]

    def _give_up(self, place: _Place, error: Exception) -> None:
        for each in self._handles.pop(place, []):
            each.fail(error)

    def _failed(self, place: _Place, keys: Sequence[str], error: Exception) -> None:
        for each in self._handles.get(place, []):
            if each.message.key in keys:
                each.fail(error)

    def _hand_over(self, place: _Place, ended: Sequence[Waiting], text: str, *, is_heard: bool) -> None:
        """The answer goes to all who wait for it, and once to where it is to be heard."""
        found = self._of(place, [each.key for each in ended])
        somebody_hears = any(each.hears for each in found)
        for each in found:
            each.give(text)
        if is_heard or not text or not ended or ended[-1].answered_at is not None:  # or another hands it over
            return
        hear = next((each.reply for each in reversed(found) if each.reply is not None), None)
        if not somebody_hears and self._deliver is not None:
            hear = through(self._deliver, ended[-1].binding)
        if hear is not None:
            self._kept(heard(hear, text))

    def _kept(self, running: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(running)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task


def _is_hopeless(claim: Claim, error: Exception, limits: Limits) -> bool:
    """Whether to go on without an answer: the session is gone, or it failed too often for a reason of its own.

    What is wrong with the settings, the key or the provider is not the message's fault: it waits until that is mended.
    """
    of_its_own = isinstance(error, ModelBadOutput | ModelTooLong | TimeoutError | BadInput)
    is_set_up_wrong = isinstance(error, BadSettings)
    return isinstance(error, NotFound) or (of_its_own and not is_set_up_wrong and is_spent(claim.attempt, limits))


async def _wait(tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
