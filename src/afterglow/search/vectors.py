"""The act behind work of kind `vectors`: what an owner has that is not embedded yet is embedded, a batch at a time.

Each batch is a commit of its own, so that whatever stops it, little is done twice. Nobody asks for this work when something
is written: whoever works in the background looks for it now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from afterglow.errors import AfterglowError
from afterglow.search.embedders import TEXT_CHARS_MAX, Embedder
from afterglow.store.contract import Store
from afterglow.work import Claim, Due

BATCH = 64
_BATCHES = 32
"""After so many it is another owner's turn."""
_DROPPED_AT_ONCE = 1_000
_OTHER_PROCESS_SECONDS = 60
_SWEEP_SECONDS = 2.0
_AGAIN_SECONDS = 0.1

_log = logging.getLogger(__name__)


class Vectors:
    """Keeps the vectors of all owners up with what was said."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._generation: int | None = None

    async def act(self, claim: Claim) -> Callable[[], Awaitable[None]] | None:
        """Embed what the owner of the claim has that is not; then let go of what an earlier embedder made."""
        generation = await self._announced()
        (newest, *_) = await self._store.generations(claim.owner)
        if newest.number != generation:  # a process with newer settings took over: the work is its own
            return self._later(claim, _OTHER_PROCESS_SECONDS)
        for _ in range(_BATCHES):
            if not await self._embed_some(claim, generation):
                while await self._store.drop_old_vectors(claim.owner, _DROPPED_AT_ONCE):
                    pass
                return None
        return self._later(claim, 0)

    async def run(self, stop: asyncio.Event) -> None:
        """Look for what is not embedded until told to stop."""
        while not stop.is_set():
            found = 0
            try:
                await self._announced()
                found = await self._store.sweep_vectors()
            except AfterglowError as error:
                _log.warning("what is not embedded cannot be looked for now: %s", error)
            try:
                async with asyncio.timeout(_AGAIN_SECONDS if found else _SWEEP_SECONDS):
                    await stop.wait()
            except TimeoutError:
                continue

    async def _announced(self) -> int:
        """Say once which embedder this process has: the last who says so is right."""
        if self._generation is None:
            self._generation = (await self._store.use_embedder(self._embedder.name)).number
        return self._generation

    async def _embed_some(self, claim: Claim, generation: int) -> bool:
        """Whether there was anything."""
        # numpy is an extra, and takes a tenth of a second to load
        from afterglow.search.signs import packed

        waiting = await self._store.unembedded(claim.owner, BATCH)
        if not waiting:
            return False
        texts = [each.text[:TEXT_CHARS_MAX] or " " for each in waiting]
        vectors = packed(await self._embedder.embed(texts))
        made = [(each.id, vector) for each, vector in zip(waiting, vectors, strict=True)]
        await self._store.commit_vectors(claim, generation, made)
        return True

    def _later(self, claim: Claim, seconds: float) -> Callable[[], Awaitable[None]]:
        async def commit() -> None:
            at = self._store.clock.now() + timedelta(seconds=seconds)
            due = Due(kind="vectors", at=at, reason=claim.reason, subject=claim.subject)
            await self._store.finish(claim, [due])

        return commit
