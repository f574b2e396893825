"""What a program that holds a Memory does behind its replies: it looks after the contexts of its own sessions.

Each session has at most one task that folds, and one that waits until nobody has written for a while. What is not done when
the program ends stays due, and is done by whoever claims it next.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta

from afterglow.compaction import Quiet
from afterglow.errors import AfterglowError
from afterglow.store.contract import Store
from afterglow.turns import Turn
from afterglow.work import Kind
from afterglow.worker import Worker

Wait = Callable[[Turn, Quiet], Awaitable[None]]

_AGAIN_SECONDS = 0.1
_AGAIN_MAX_SECONDS = 60.0
"""How long to wait before looking again at a timer that should have gone off, at first and at most."""

_log = logging.getLogger(__name__)


class Behind:
    """The tasks that fold a program's own sessions."""

    def __init__(self, store: Store, worker: Worker) -> None:
        self._store = store
        self._worker = worker
        self._folding: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._watching: dict[tuple[Kind, str], asyncio.Task[None]] = {}
        self._asked: set[tuple[Kind, str]] = set()

    def fold(self, turn: Turn) -> None:
        """Do what is due for the context of this turn's session, behind whatever comes next, one thing at a time."""
        self._again.add(turn.session)
        if not _runs(self._folding.get(turn.session)):
            self._folding[turn.session] = asyncio.create_task(self._fold(turn.owner, turn.session))

    def watch(self, turn: Turn, quiet: Quiet) -> None:
        """Fold this turn's session when it goes quiet, and clear it after that, as long as this program runs."""
        self._start("idle", turn, quiet, self._watch)

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until what is folded now is done, at most so long; what is not is given up."""
        folding = list(self._folding.values())
        if not folding:
            return
        _, late = await asyncio.wait(folding, timeout=seconds)
        await _cancel(late)

    async def close(self, seconds: float) -> None:
        """Settle, and wait for no timer any more."""
        await self.settle(seconds)
        await _cancel(self._watching.values())

    async def _fold(self, owner: str, session: str) -> None:
        try:
            while session in self._again:
                self._again.discard(session)
                await self._worker.attend(owner, "context", session)
        except AfterglowError as error:
            _log.warning("the context of session %s was not folded: %s", session, error)
        finally:
            del self._folding[session]

    async def _watch(self, turn: Turn, quiet: Quiet) -> None:
        wait = _AGAIN_SECONDS
        while await self._wait_for_quiet(turn, quiet):
            await self._worker.attend(turn.owner, "idle", turn.session)
            if await self._state(turn) == "idle":
                break
            # Somebody wrote meanwhile, or it failed and waits, or by the database's clock it is not time yet.
            await asyncio.sleep(wait)
            wait = min(2 * wait, _AGAIN_MAX_SECONDS)
        if await self._state(turn) == "idle" and quiet.timeout_clear_seconds:
            self._start("clear", turn, quiet, self._clear)

    async def _clear(self, turn: Turn, quiet: Quiet) -> None:
        wait = quiet.timeout_clear_seconds
        while await self._state(turn) == "idle":
            await asyncio.sleep(wait)
            await self._worker.attend(turn.owner, "clear", turn.session)  # which is not due if anybody wrote meanwhile
            wait = min(max(_AGAIN_SECONDS, quiet.timeout_clear_seconds), _AGAIN_MAX_SECONDS)

    async def _state(self, turn: Turn) -> str:
        return (await self._store.session(turn.owner, turn.session)).state

    def _start(self, kind: Kind, turn: Turn, quiet: Quiet, waits: Wait) -> None:
        """One task for each kind of timer of each session; asked for while it is about to end, it goes on."""
        key = kind, turn.session
        self._asked.add(key)

        async def wait() -> None:
            try:
                while key in self._asked:
                    self._asked.discard(key)
                    await waits(turn, quiet)
            except AfterglowError as error:
                _log.warning("session %s is not watched here any more: %s", turn.session, error)
            finally:
                del self._watching[key]

        if not _runs(self._watching.get(key)):
            self._watching[key] = asyncio.create_task(wait())

    async def _wait_for_quiet(self, turn: Turn, quiet: Quiet) -> bool:
        """Whether the session went quiet; it did not, if it ended otherwise."""
        timeout = timedelta(seconds=quiet.timeout_summarize_seconds)
        while True:
            session = await self._store.session(turn.owner, turn.session)
            if session.state != "open" or session.real_at is None or not timeout:
                return False
            left = session.real_at + timeout - self._store.clock.now()
            if left <= timedelta():
                return True
            await asyncio.sleep(min(left, timeout).total_seconds())  # no longer, in case the clock was set back


def _runs(task: asyncio.Task[None] | None) -> bool:
    """Whether a task is there and goes on; one that was cancelled before it began is there still."""
    return task is not None and not task.done()


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    found = list(tasks)
    for task in found:
        task.cancel()
    await asyncio.gather(*found, return_exceptions=True)
