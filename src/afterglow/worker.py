"""The background path: due → claim → act → commit.

A worker is handed one act for each kind of work it may do, and knows none itself. An act reads and thinks with no
transaction open, and returns its commit: the verb that writes the result, moves the watermark and ends the claim
together. An act with nothing to write returns None, and the claim is simply finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

from afterglow.errors import ClaimLost, StoreError
from afterglow.store.contract import Store
from afterglow.work import Claim, Kind, Limits, backoff_seconds, error_text, is_spent

Commit = Callable[[], Awaitable[None]]
Act = Callable[[Claim], Awaitable[Commit | None]]

_log = logging.getLogger(__name__)


class Worker:
    """Does the work that is due, a few pieces at a time, until it is told to stop."""

    def __init__(
        self,
        store: Store,
        acts: Mapping[Kind, Act],
        *,
        holder: str,
        limits: Limits,
        concurrency: int = 4,
        poll_seconds: float = 1.0,
    ) -> None:
        self._store = store
        self._acts = acts
        self._holder = holder
        self._limits = limits
        self._concurrency = concurrency
        self._poll_seconds = poll_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what is under way then is finished first."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                if not await self._step():
                    waiting = asyncio.create_task(self._wait())
                    await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
        finally:
            stopping.cancel()

    async def drain(self) -> int:
        """Do all that is due now, and say how much it was."""
        done = 0
        while claims := await self._claim():
            await asyncio.gather(*(self._do(claim) for claim in claims))
            done += len(claims)
        return done

    async def _step(self) -> bool:
        try:
            claims = await self._claim()
        except StoreError as error:
            _log.warning("no work can be claimed now: %s", error)
            return False
        await asyncio.gather(*(self._do(claim) for claim in claims))
        return bool(claims)

    async def _wait(self) -> None:
        try:
            await self._store.wait_for_work(self._poll_seconds)
        except StoreError:
            await asyncio.sleep(self._poll_seconds)

    async def _claim(self) -> list[Claim]:
        kinds = tuple(self._acts)
        return await self._store.claim(kinds, limit=self._concurrency, holder=self._holder, limits=self._limits)

    async def _do(self, claim: Claim) -> None:
        try:
            async with self._renewing(claim):
                commit = await self._acts[claim.kind](claim)
            await (self._store.finish(claim) if commit is None else commit())
        except ClaimLost as lost:
            _log.info("%s of %s: %s", claim.kind, claim.subject, lost)
        except Exception as error:  # noqa: BLE001 - the boundary: one bad piece of work stops no other
            _log.warning("%s of %s failed", claim.kind, claim.subject, exc_info=True)
            await self._give_back(claim, error)

    async def _give_back(self, claim: Claim, error: Exception) -> None:
        park = is_spent(claim.attempt, self._limits)
        chance = self._store.clock.bits(16) / 2**16
        wait = self._limits.parked_retry_seconds if park else backoff_seconds(claim.attempt, self._limits, chance)
        try:
            await self._store.give_back(claim, error_text(error), wait_seconds=wait, park=park)
        except (ClaimLost, StoreError) as later:
            _log.info("%s of %s was not given back, its lease will end: %s", claim.kind, claim.subject, later)

    @contextlib.asynccontextmanager
    async def _renewing(self, claim: Claim):
        """Keep the lease alive while the act runs; stop the act when the claim has passed on."""
        act = asyncio.current_task()
        lost = False

        async def renew() -> None:
            nonlocal lost
            while True:
                await asyncio.sleep(self._limits.lease_seconds / 3)
                try:
                    await self._store.renew(claim, self._limits)
                except ClaimLost:
                    lost = True
                    assert act is not None
                    act.cancel()
                    return
                except StoreError as error:
                    _log.warning("the lease on %s of %s was not renewed: %s", claim.kind, claim.subject, error)

        renewing = asyncio.create_task(renew())
        try:
            yield
        except asyncio.CancelledError:
            if not lost:
                raise
            assert act is not None
            act.uncancel()
            raise ClaimLost(f"the claim on {claim.kind} of {claim.subject} passed on while it was worked on") from None
        finally:
            renewing.cancel()
