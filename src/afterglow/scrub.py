"""The last step of forgetting: what was removed is written over in the database's files (P12).

A forget makes it due in its own transaction, as work about the whole database. So it outlives the process that forgot, is tried
again after a failure, and is done by whoever claims it: a server's worker, or a program that holds a Memory itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from afterglow.errors import AfterglowError, StoreError
from afterglow.store.contract import Store
from afterglow.store.scrubs import SUBJECT, Scrub
from afterglow.work import NOBODY, Claim, Limits, error_text
from afterglow.worker import Worker, holder_name

_LOOK_AGAIN_SECONDS = 0.3
_log = logging.getLogger(__name__)

Finish = Callable[[], Awaitable[Sequence[AfterglowError]]]
"""Goes on with each forget that was broken off; the answer is what stopped those that are not finished."""


def sentence(scrub: Scrub) -> str:
    """How far the scrub is, for the person who forgot."""
    match scrub.state:
        case "done":
            return "What was removed is written over in the database's files."
        case "running":
            return f"What was removed is being written over in the database's files, by {scrub.holder}."
        case "due":
            return "The database's files may still hold what was removed: a scrub is due, and runs in the background."
        case "failed":
            return f"The database's files may still hold what was removed: the scrub failed ({scrub.error}). It is tried again."


class DatabaseScrub:
    """The scrub of one database, as a process does it or waits for it."""

    def __init__(
        self, store: Store, *, limits: Limits | None = None, finish: Finish | None = None, in_background: bool = True
    ) -> None:
        """`in_background` is whether a worker of this or another process does it; else a forget waits for it."""
        self._store = store
        self._finish = finish
        self._in_background = in_background
        self._worker = Worker(store, {"scrub": self.act}, holder=holder_name(), limits=limits or Limits())

    async def act(self, claim: Claim) -> None:
        """Go on with what was begun to be forgotten and broken off, and write over what was removed."""
        stopped: Sequence[AfterglowError] = () if self._finish is None else await self._finish()
        await self._store.scrub()
        if stopped:
            raise stopped[0]

    async def after_forget(self, *, wait: bool = False) -> Scrub:
        """The scrub that a forget made due may begin; the answer is how far it is. With `wait` it is done, or has failed.

        What is forgotten is forgotten: that the scrub cannot begin now, as on a full disk, is no error of the forget.
        """
        with suppress(StoreError):  # it is due all the same, a little later
            await self._store.expedite_scrub()
        return await self.wait() if wait or not self._in_background else await self._store.scrub_state()

    async def if_ready(self) -> None:
        """Scrub where an earlier process left that undone and no other is about it. A failure is logged, and tried again."""
        try:
            if (await self._store.scrub_state()).state != "done":
                await self._worker.attend(NOBODY, "scrub", SUBJECT)
        except AfterglowError as error:
            _log.warning("the database's files may still hold what was forgotten: %s", error)

    async def wait(self) -> Scrub:
        """Scrub if that is due, or wait until another process has; the answer is `done`, or why it is not."""
        while True:
            state = await self._tried()
            if state.state != "running":
                return state
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _tried(self) -> Scrub:
        try:
            if (await self._store.scrub_state()).state != "done":
                await self._worker.attend(NOBODY, "scrub", SUBJECT, at_once=True)
        except StoreError as error:  # not even the claim can be written
            return Scrub(state="failed", error=error_text(error))
        return await self._store.scrub_state()
