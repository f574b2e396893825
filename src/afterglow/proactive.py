"""The daily digest: who asked for it is told at a set time what happened, without having written.

The primary makes it due; a process that can reach people delivers it. Outside somebody's awake hours, or while they are
writing, it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta

from afterglow.awake import next_awake
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.steward import Daily
from afterglow.store.contract import Store
from afterglow.store.presence import binding_of
from afterglow.telling import Deliver, Telling
from afterglow.turns import Binding
from afterglow.work import Claim, Due
from afterglow.worker import Commit


class Proactive:
    """Delivers daily digests."""

    def __init__(
        self, store: Store, settings: Settings, deliver: Deliver, quiet_seconds: Callable[[str], float]
    ) -> None:
        self._store = store
        self._settings = settings
        self._deliver = deliver
        self._quiet_seconds = quiet_seconds
        self._telling = Telling(store, settings)

    async def act(self, claim: Claim) -> Commit | None:
        """Tell the owner, or put it off to when they may be told."""
        seen = await self._store.presence(claim.owner, claim.subject)
        binding = None if seen is None else binding_of(seen)
        if seen is None or seen.seen_at is None or binding is None:
            return None
        away = self._settings.away_of(binding)
        if not (away.enabled and away.daily_at):
            return None
        now = self._store.clock.now()
        writing_until = min(seen.seen_at, now) + timedelta(seconds=self._quiet_seconds(claim.subject))
        hours = away.awake_hours.hours(self._settings.zone) if away.awake_hours else None
        at = next_awake(max(now, writing_until), hours)

        async def put_off() -> None:
            await self._store.finish(claim, [Due(kind="digest", at=at, reason=claim.reason)])

        async def tell() -> None:
            claimed = await self._store.claim_daily(claim, max_events=away.max_events)
            if claimed is not None:
                deadline = asyncio.get_running_loop().time() + away.deadline_seconds
                told = await self._telling.tell(binding, claimed, away, self._deliver, deadline, claim.owner)
                await self._telling.note(binding, claimed, told, claim.owner)

        return put_off if at > now else tell


def dailies_of(chosen: Settings) -> Iterator[Daily]:
    """The times of day at which somebody may want to be told, each with who does."""
    for at, zone in sorted({time for away in _tables(chosen) if (time := _time(away, chosen)) is not None}):
        yield Daily(at=at, zone=zone, wants=_wanting(chosen, (at, zone)))


def _tables(chosen: Settings) -> Iterator[AwaySettings]:
    """What holds for anybody: for all agents, for each of those that are listed, for each binding that is."""
    for own in (None, *(agent.away_summary for agent in chosen.agents)):
        away = chosen.away_summary if own is None else chosen.away_summary.overridden_by([own])
        yield away
        for each in away.bindings:
            yield away.of(Binding(agent="any", channel=each.channel, sender=each.sender or "any"))


def _time(away: AwaySettings, chosen: Settings) -> tuple[str, str] | None:
    return (away.daily_at, away.zone_or(chosen.zone)) if away.enabled and away.daily_at else None


def _wanting(chosen: Settings, time: tuple[str, str]) -> Callable[[Binding], bool]:
    return lambda binding: _time(chosen.away_of(binding), chosen) == time
