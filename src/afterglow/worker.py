"""The background path: due → claim → act → commit.

A worker is handed one act for each kind of work it may do, and knows none itself. An act reads and thinks with no
transaction open, and returns its commit: the verb that writes the result, moves the watermark and ends the claim
together. An act with nothing to write returns None, and the claim is simply finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextvars import ContextVar

from afterglow.acting import acting_as
from afterglow.errors import AfterglowError, ClaimLost, ModelBusy, ModelStopped, NotFound
from afterglow.guard import redact
from afterglow.store.contract import Store
from afterglow.work import Claim, Due, Kind, Limits, doing, error_text, is_spent, wait_seconds

Commit = Callable[[], Awaitable[None]]
Act = Callable[[Claim], Awaitable[Commit | None]]

_log = logging.getLogger(__name__)
_half_time: ContextVar[float] = ContextVar("half_time", default=math.inf)
"""When half of the time that the act under way may take is used, by the event loop's clock."""


class TookTooLong(AfterglowError):
    """An act was broken off because its time was over. It is tried again later, as after any failure."""


def holder_name() -> str:
    """Who claims work here: this machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def is_gone(holder: str) -> bool:
    """Whether this names a process of this machine that runs no more; of other machines nobody here can say."""
    machine, _, process = holder.rpartition(":")
    if os.name != "posix" or machine != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def is_half_over() -> bool:
    """Whether half of the time that the act under way may take is used: one that can leave the rest for later does so."""
    return asyncio.get_running_loop().time() >= _half_time.get()


@contextlib.contextmanager
def _named(claim: Claim) -> Generator[None]:
    """Within this the log names the work that is being done."""
    before = doing.set(claim)
    try:
        yield
    finally:
        doing.reset(before)


def _at_once(error: BaseException) -> Due | None:
    """What was asked for is tried again as if it had been due."""
    return None


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
        may: Callable[[Kind], bool] = lambda kind: True,
        asked_again_seconds: float | None = None,
        over: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`may` says of a kind whether it may be claimed unasked at this moment.

        `over` is told whose work it was when that failed or was lost, and of the files always: the owner may be gone since.
        Failed work that was asked for again while it was tried waits no longer than `asked_again_seconds`.
        """
        self._store = store
        self._acts = acts
        self._holder = holder
        self._limits = limits
        self._concurrency = concurrency
        self._poll_seconds = poll_seconds
        self._may = may
        self._asked_again_seconds = asked_again_seconds
        self._over = over

    async def run(self, stop: asyncio.Event, grace_seconds: float | None = None) -> None:
        """Work until `stop` is set; what is under way then is finished first, or given back after so many seconds."""
        stopping = asyncio.create_task(stop.wait())
        running: set[asyncio.Task[None]] = set()
        while not stop.is_set():
            free = self._concurrency - len(running)
            claims = await self._claim_if_possible(free)
            running |= {asyncio.create_task(self._do(claim)) for claim in claims}
            if len(claims) < free or len(running) == self._concurrency:
                await self._wait(stopping, running)
            running = {task for task in running if not task.done()}
        stopping.cancel()
        if running:
            _, late = await asyncio.wait(running, timeout=grace_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def drain(self) -> int:
        """Do all that is due now, and say how much it was."""
        done = 0
        while claims := await self._claim(self._concurrency):
            await asyncio.gather(*(self._do(claim) for claim in claims))
            done += len(claims)
        return done

    async def attend(self, owner: str, kind: Kind, subject: str, *, at_once: bool = False) -> int:
        """Do this piece of work now if it is ready, and again while it stays so; say how often.

        `at_once` is for somebody who asks for it: then it is ready at first, whatever time it is by the database's clock.
        """
        done = 0
        while claim := await self._store.claim_one(
            owner, kind, subject, holder=self._holder, limits=self._limits, anyway=at_once and not done
        ):
            await self._do(claim)
            done += 1
        return done

    async def do_now(
        self, owner: str, kind: Kind, subject: str, act: Act, *, back: Callable[[BaseException], Due | None] = _at_once
    ) -> None:
        """Do this piece of work here and now. What goes wrong is raised; ClaimLost where somebody else is about it.

        `back` is asked then for when the work is due; None has it tried again as if it had been due.
        """
        with contextlib.suppress(NotFound):  # a person's wish ends the waiting after a failure
            await self._store.retry(owner, kind=kind, subject=subject)
        claim = await self._store.claim_one(owner, kind, subject, holder=self._holder, limits=self._limits, anyway=True)
        if claim is None:
            raise ClaimLost(f"another process is about the {kind} of {subject!r} at this moment; look again in a while")
        with _named(claim):
            try:
                await self._committed(claim, act)
            except asyncio.CancelledError as error:
                due = back(error)
                await asyncio.shield(self._let_go(claim) if due is None else self._not_begun(claim, due))
                raise
            except Exception as error:
                due = back(error)
                await (self._give_back(claim, error) if due is None else self._not_begun(claim, due))
                raise

    async def _committed(self, claim: Claim, act: Act) -> None:
        async with self._renewing(claim), self._limited(claim):
            commit = await act(claim)
        await (self._store.finish(claim) if commit is None else commit())

    async def _claim_if_possible(self, limit: int) -> list[Claim]:
        try:
            return await self._claim(limit) if limit else []
        except AfterglowError as error:
            _log.warning("no work can be claimed now: %s", error)
            return []

    async def _claim(self, limit: int) -> list[Claim]:
        kinds: list[Kind] = [kind for kind in self._acts if self._may(kind)]
        return await self._store.claim(kinds, limit=limit, holder=self._holder, limits=self._limits)

    async def _wait(self, stopping: asyncio.Task[bool], running: set[asyncio.Task[None]]) -> None:
        """Until a piece of work is done, new work may be due, or it is time to stop."""
        waking = asyncio.create_task(self._new_work())
        await asyncio.wait({waking, stopping, *running}, return_when=asyncio.FIRST_COMPLETED)
        waking.cancel()

    async def _new_work(self) -> None:
        try:
            await self._store.wait_for_work(self._poll_seconds)
        except AfterglowError:
            await asyncio.sleep(self._poll_seconds)

    async def _do(self, claim: Claim) -> None:
        with _named(claim), acting_as(f"worker:{claim.kind}"):
            is_kept = await self._try(claim)
        if self._over is not None and (not is_kept or claim.kind == "files"):
            try:
                await self._over(claim.owner)
            except AfterglowError as error:
                _log.warning("what was logged of somebody who was forgotten may still be there: %s", error)

    async def _try(self, claim: Claim) -> bool:
        try:
            await self._committed(claim, self._acts[claim.kind])
            return True
        except ClaimLost as lost:
            _log.info("%s of %s: %s", claim.kind, claim.subject, lost)
            # Where only the result was refused the claim is still held, and nobody should wait for the end of its lease.
            await self._give_back(claim, lost)
        except asyncio.CancelledError:
            # Whoever stops the worker does not make the next one wait for the end of the lease.
            await asyncio.shield(self._let_go(claim))
            raise
        except AfterglowError as error:
            _log.warning("%s of %s failed: %s", claim.kind, claim.subject, redact(str(error)).text)
            await self._give_back(claim, error)
        except Exception as error:  # noqa: BLE001 - the boundary: one bad piece of work stops no other
            _log.warning("%s of %s failed", claim.kind, claim.subject, exc_info=True)
            await self._give_back(claim, error)
        return False

    async def _give_back(self, claim: Claim, error: Exception) -> None:
        park = is_spent(claim.attempt, self._limits)
        chance = self._store.clock.bits(16) / 2**16
        wait = wait_seconds(
            claim.attempt,
            self._limits,
            chance,
            asked=error.wait_seconds if isinstance(error, ModelBusy | ModelStopped) else None,
            outage=isinstance(error, ModelBusy),
        )
        said = redact(error_text(error)).text  # a provider's error may quote a key
        await self._put_back(claim, said, wait_seconds=wait, park=park)

    async def _let_go(self, claim: Claim) -> None:
        await self._put_back(claim, "the worker was stopped", wait_seconds=0, park=False, counts=False)

    async def _not_begun(self, claim: Claim, due: Due) -> None:
        """The work waits for its time, as if nobody had begun it before."""
        try:
            await self._store.finish(claim, [due])
        except AfterglowError as later:
            _log.info("%s of %s was not given back, its lease will end: %s", claim.kind, claim.subject, later)

    async def _put_back(
        self, claim: Claim, error: str, *, wait_seconds: float, park: bool, counts: bool = True
    ) -> None:
        try:
            await self._store.give_back(
                claim,
                error,
                wait_seconds=wait_seconds,
                park=park,
                counts=counts,
                asked_again_seconds=self._asked_again_seconds,
            )
        except AfterglowError as later:
            _log.info("%s of %s was not given back, its lease will end: %s", claim.kind, claim.subject, later)

    @contextlib.asynccontextmanager
    async def _renewing(self, claim: Claim) -> AsyncGenerator[None]:
        """Keep the lease alive while the act runs; stop the act when the claim has passed on."""
        act = asyncio.current_task()
        assert act is not None
        renewing = asyncio.create_task(self._renew(claim, act))
        try:
            yield
        except asyncio.CancelledError:
            if not (renewing.done() and not renewing.cancelled()):
                raise
            act.uncancel()
            raise ClaimLost(f"the claim on {claim.kind} of {claim.subject} passed on while it was worked on") from None
        finally:
            renewing.cancel()

    @contextlib.asynccontextmanager
    async def _limited(self, claim: Claim) -> AsyncGenerator[None]:
        """Break the act off when its time is over, and have it know when half of that is."""
        seconds = self._limits.act_seconds_max
        limit = asyncio.timeout(seconds)
        before = _half_time.set(asyncio.get_running_loop().time() + seconds / 2)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise TookTooLong(
                f"the {claim.kind} of {claim.subject!r} took longer than {seconds:g} seconds, and was broken off; "
                "it is tried again later. Raise work.act_seconds_max in the settings if it needs longer"
            ) from None
        finally:
            _half_time.reset(before)

    async def _renew(self, claim: Claim, act: asyncio.Task[None]) -> None:
        while True:
            await asyncio.sleep(self._limits.lease_seconds / 3)
            try:
                await self._store.renew(claim, self._limits)
            except ClaimLost:
                act.cancel()
                return
            except AfterglowError as error:
                _log.warning("the lease on %s of %s was not renewed: %s", claim.kind, claim.subject, error)
