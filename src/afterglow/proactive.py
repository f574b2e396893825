"""The daily digest: who asked for it is told at a set time what happened, without having written.

The primary makes it due; a process that can reach people delivers it. Outside somebody's awake hours, or while they are
writing, it waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta

from afterglow.awake import next_awake
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.steward import Daily
from afterglow.store.contract import Store
from afterglow.store.presence import Claimed
from afterglow.telling import Deliver, Telling
from afterglow.turns import Binding
from afterglow.work import Claim, Due, error_text
from afterglow.worker import Commit

_log = logging.getLogger(__name__)


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
        if seen is None or seen.seen_at is None or seen.channel is None:
            return None
        binding = Binding(agent=claim.subject, channel=seen.channel, sender=seen.sender or "")
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
                await self._tell(claim.owner, binding, claimed, away)

        return put_off if at > now else tell

    async def _tell(self, owner: str, binding: Binding, claimed: Claimed, away: AwaySettings) -> None:
        text, remembers, reason = "", False, ""
        try:
            composed = await self._telling.compose(owner, binding, claimed.absence, away)
            text, remembers = composed.text, composed.remembers
            await self._telling.deliver(self._deliver, binding, text)
        except Exception as error:  # noqa: BLE001 - the boundary: it was claimed, so what became of it is written down
            reason = error_text(error)
            _log.warning("the daily digest for %s was not delivered: %s", owner, reason)
        await self._store.end_digest(
            owner,
            binding.agent,
            claimed.number,
            "failed" if reason else "delivered",
            reason=reason,
            text=text,
            remembers=remembers,
        )


def dailies_of(chosen: Settings) -> Iterator[Daily]:
    """The times of day at which somebody wants to be told, each with who."""
    tables = [chosen.away_summary, *(agent.away_summary for agent in chosen.agents)]
    every = [each for table in tables for each in (table, *table.bindings)]
    zones = {chosen.zone, *(each.awake_hours.zone for each in every if each.awake_hours and each.awake_hours.zone)}
    for at in sorted({each.daily_at for each in every if each.daily_at}):
        for zone in sorted(zones):
            yield Daily(at=at, zone=zone, wants=_wanting(chosen, at, zone))


def _wanting(chosen: Settings, at: str, zone: str) -> Callable[[Binding], bool]:
    def wants(binding: Binding) -> bool:
        away = chosen.away_of(binding)
        own = (away.awake_hours.zone if away.awake_hours else "") or chosen.zone
        return away.enabled and (away.daily_at, own) == (at, zone)

    return wants
