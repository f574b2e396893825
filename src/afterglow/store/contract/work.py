"""The verbs of work."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from afterglow.store import (
    backlog,
    queue,
)
from afterglow.store.contract.running import Running
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.work import Backlog, Claim, Due, Kind, Limits, State, Work, WorkPlace


class WorkVerbs(Running):
    """The verbs of work."""

    async def mark_due(self, owner: str, due: Due) -> None:
        """The work is due at that time: one row however often it is asked for."""
        await self._write("mark_due", owner, partial(queue.ask, due=due))

    async def claim(self, kinds: Sequence[Kind], *, limit: int, holder: str, limits: Limits) -> list[Claim]:
        """Ready work, on lease to the holder, fairly between owners. Nobody else gets it until the lease ends."""
        tokens = [self.clock.bits(62) for _ in range(limit)]
        run = partial(queue.claim, kinds=kinds, limit=limit, holder=holder, tokens=tokens, limits=limits)
        return await self._write("claim", EVERYONE, run)

    async def claim_one(
        self, owner: str, kind: Kind, subject: str, *, holder: str, limits: Limits, anyway: bool = False
    ) -> Claim | None:
        """This piece of work, on lease to the holder, if it is ready; or `anyway`, if nobody else has it."""
        run = partial(
            queue.claim_one,
            kind=kind,
            subject=subject,
            holder=holder,
            token=self.clock.bits(62),
            limits=limits,
            anyway=anyway,
        )
        return await self._write("claim_one", owner, run)

    async def renew(self, claim: Claim, limits: Limits) -> Claim:
        """The lease runs from now again, or ClaimLost."""
        return await self._write("renew", claim.owner, partial(queue.renew, held=claim, limits=limits))

    async def finish(self, claim: Claim, more: Sequence[Due] = ()) -> None:
        """The work is done, or ClaimLost. What was asked for meanwhile stays due at its own time; `more` is due too."""
        await self._write("finish", claim.owner, partial(queue.finish_and_ask, held=claim, more=more))

    async def give_back(
        self,
        claim: Claim,
        error: str,
        *,
        wait_seconds: float,
        park: bool,
        counts: bool = True,
        asked_again_seconds: float | None = None,
    ) -> None:
        """The attempt failed: the work waits so long, parked or not, and the error is kept; or ClaimLost.

        Without `counts` it was no fault of the work, and is not held against it. What was asked for again meanwhile waits no
        longer than `asked_again_seconds`.
        """
        waits = {"wait_seconds": wait_seconds, "asked_again_seconds": asked_again_seconds}
        run = partial(queue.give_back, held=claim, error=error, park=park, counts=counts, **waits)
        await self._write("give_back", claim.owner, run)

    async def retry(self, scope: Scope, kind: Kind | None = None, subject: str | None = None) -> int:
        """What failed or is parked is due at once with its attempts forgotten; the answer is how much of it."""
        return await self._write("retry", scope, partial(queue.retry, kind=kind, subject=subject))

    async def work_list(
        self,
        scope: Scope,
        state: State | None = None,
        limit: int = 100,
        *,
        kind: Kind | None = None,
        after: WorkPlace | None = None,
    ) -> list[Work]:
        """Work in a state and of a kind, what is ready first at the top; `after` is where the list before ended."""
        run = partial(backlog.work_list, state=state, kind=kind, limit=limit, after=after)
        return await self._read("work_list", scope, run)

    async def backlog(self, scope: Scope, kind: Kind | None = None) -> Backlog:
        """How much work there is in each state."""
        return await self._read("backlog", scope, partial(backlog.backlog, kind=kind))

    async def backlog_by_kind(self, scope: Scope) -> dict[Kind, Backlog]:
        """The same for each kind that there is work of, at one moment."""
        return await self._read("backlog_by_kind", scope, backlog.backlog_by_kind)

    @abstractmethod
    async def wait_for_work(self, seconds: float) -> None:
        """Return when work has become due through this store, or after so many seconds."""
