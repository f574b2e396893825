"""The verbs of goal events, of presence, and of what people are told of the time they were away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from afterglow.clock import to_us
from afterglow.digest import Absence, Away, Digest, DigestPlace, Status
from afterglow.goals import GoalEvent, GoalPlace
from afterglow.store import arrivals, digests, goals, moving_goals, presence
from afterglow.store.arrivals import Arriving
from afterglow.store.contract.running import Running
from afterglow.store.moving_goals import Standing
from afterglow.store.presence import Arrival, Claimed, Presence
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.work import Claim, Due


class AwayVerbs(Running):
    """The verbs of goal events, of presence, and of what people are told of the time they were away."""

    async def record_goal(self, owner: str, step: goals.Step, due: Sequence[Due] = ()) -> GoalEvent:
        """One step of a goal, once: the same step of the same goal again gives back the event that is there."""
        return await self._write("record_goal", owner, partial(goals.record_goal, given=step, due=due))

    async def goal_events(
        self,
        scope: Scope,
        agent: str | None,
        *,
        since: datetime | None = None,
        limit: int = 50,
        before: GoalEvent | GoalPlace | None = None,
        goal: str | None = None,
    ) -> list[GoalEvent]:
        """What the agent did for this owner, or all agents did, the newest first; `before` is the last of the page before."""
        cursor = None if before is None else (to_us(before.at), before.number, before.owner)
        run = partial(goals.goal_events, agent=agent, since=since, limit=limit, before=cursor, goal=goal)
        return await self._read("goal_events", scope, run)

    async def come_in(self, owner: str, arriving: Arriving, away: Away) -> Arrival:
        """Somebody is here: they are seen now, and what happened since they were last is claimed, if it is to be told."""
        return await self._write("come_in", owner, partial(presence.come_in, arriving=arriving, away=away))

    async def handled(self, owner: str, message: str, token: int) -> None:
        """The message is dealt with: coming again it is known, and nothing is done."""
        await self._write("handled", owner, partial(arrivals.handled, message=message, token=token))

    async def renew_arrival(self, owner: str, message: str, token: int, *, lease_seconds: float) -> None:
        """It takes longer: whoever has the same message goes on waiting."""
        run = partial(arrivals.renew_arrival, message=message, token=token, lease_seconds=lease_seconds)
        await self._write("renew_arrival", owner, run)

    async def end_digest(
        self, owner: str, agent: str, number: int, status: Status, *, reason: str = "", text: str = "", remembers: bool
    ) -> None:
        """What became of a digest that was claimed."""
        run = partial(
            digests.end_digest,
            agent=agent,
            number=number,
            status=status,
            reason=reason,
            text=text,
            remembers=remembers,
        )
        await self._write("end_digest", owner, run)

    async def claim_daily(self, claim: Claim, *, max_events: int) -> Claimed | None:
        """What the owner is to be told unasked, by nobody else, and the end of the claim; None where that is nothing."""
        run = partial(presence.claim_daily, agent=claim.subject, max_events=max_events, claim=claim)
        return await self._write("claim_daily", claim.owner, run)

    async def untold_people(self, *, limit: int = 1000, after: Presence | None = None) -> list[Presence]:
        """A page of all owners and agents with something untold."""
        cursor = ("", "") if after is None else (after.owner, after.agent)
        return await self._read("untold_people", EVERYONE, partial(presence.untold_people, limit=limit, after=cursor))

    async def mark_told_due(self, name: str, to: Sequence[tuple[str, str]]) -> None:
        """These owners are to be told what these agents did, each unless that is asked for already."""
        run = partial(presence.mark_told_due, name=name, to=to, now=self.clock.now())
        await self._write("mark_told_due", EVERYONE, run)

    async def keep_time(self, name: str, before: datetime | None) -> bool:
        """A time of day was kept now, if it was last kept when we think. One that was never kept only begins."""
        return await self._write(
            "keep_time", EVERYONE, partial(presence.keep_time, name=name, before=before, now=self.clock.now())
        )

    async def commit_prose(self, claim: Claim, to: int, text: str, cost_usd: float | None) -> None:
        """Words about the events up to this one, if they are still the newest, and the end of the claim."""
        now = self.clock.now()
        run = partial(
            presence.commit_prose, agent=claim.subject, to=to, text=text, cost_usd=cost_usd, claim=claim, now=now
        )
        await self._write("commit_prose", claim.owner, run)

    async def untold(self, owner: str, agent: str, *, limit: int) -> tuple[Presence, list[GoalEvent]] | None:
        """When the owner was last seen, and the newest events since, the newest first; None where they never were."""
        return await self._read("untold", owner, partial(presence.untold, agent=agent, limit=limit))

    async def presence(self, owner: str, agent: str) -> Presence | None:
        """When the owner was last seen by the agent; None where neither that nor a goal event is known."""
        return await self._read("presence", owner, partial(presence.presence, agent=agent))

    async def absence(self, owner: str, agent: str, *, max_events: int, since: datetime | None = None) -> Absence:
        """What the owner would be told now, or of the time since a moment. Nothing is claimed by it."""
        run = partial(presence.absence, agent=agent, max_events=max_events, since=since, now=self.clock.now())
        return await self._read("absence", owner, run)

    async def digests(
        self,
        scope: Scope,
        *,
        agent: str | None = None,
        limit: int = 50,
        of_one: bool = False,
        before: Digest | DigestPlace | None = None,
    ) -> list[Digest]:
        """What people were told of the times they were away, or why not; the newest first."""
        cursor = None if before is None else (to_us(before.at), before.owner, before.agent, before.number)
        run = partial(digests.digests, agent=agent, limit=limit, of_one=of_one, before=cursor)
        return await self._read("digests", scope, run)

    async def standings(self, scope: Scope, *, limit: int = 200, after: Standing | None = None) -> list[Standing]:
        """A page of how things stand between owners and agents; for export."""
        cursor = ("", "") if after is None else (after.owner, after.agent)
        return await self._read("standings", scope, partial(moving_goals.standings, limit=limit, after=cursor))

    async def goals_after(self, owner: str, agent: str, number: int, *, limit: int = 200) -> list[GoalEvent]:
        """The events of one owner and agent after this number, the oldest first; for export."""
        run = partial(moving_goals.goals_after, agent=agent, number=number, limit=limit)
        return await self._read("goals_after", owner, run)

    async def restore_goals(self, owner: str, events: Sequence[GoalEvent]) -> int:
        """The events of an owner that are not there yet; the answer is how many. For import."""
        return await self._write("restore_goals", owner, partial(moving_goals.restore_goals, events=events))

    async def restore_standing(self, standing: Standing, digests: Sequence[Digest] = ()) -> None:
        """When the owner was last seen and what they were told, unless that is known here; for import."""
        run = partial(moving_goals.restore_standing, standing=standing, digests=digests, now=self.clock.now())
        await self._write("restore_standing", standing.owner, run)
