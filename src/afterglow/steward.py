"""What one process does unasked: it holds the primary's lease, and makes due what nobody asked for.

A candidate tries for the lease again and again; whoever holds it renews it well before its end. When it becomes primary it
looks once at the sessions of the last days (drift), and then, at intervals, at the newest that need a summary (sweep). Both
are a query that marks work due; doing it is every candidate's work alike.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from afterglow.errors import AfterglowError, NotAllowed
from afterglow.primary import Flag, Lease
from afterglow.schedule import is_due
from afterglow.store.contract import Store
from afterglow.store.presence import binding_of
from afterglow.turns import Binding
from afterglow.worker import is_gone

_DRIFT_SESSIONS = 1_000
_PEOPLE_AT_ONCE = 1_000
_OLDEST_SHARE = 5
"""One in so many places of a sweep is for sessions that have waited longest."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """When the sessions of these agents, or of all besides those, are to be read for facts."""

    name: str
    schedule: str
    zone: tzinfo
    agents: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Daily:
    """A time of day, by the clocks of a zone, at which some are told what happened."""

    at: str
    zone: str
    wants: Callable[[Binding], bool]

    @property
    def name(self) -> str:
        return f"daily digest at {self.at} {self.zone}"

    @property
    def schedule(self) -> str:
        hours, minutes = self.at.split(":")
        return f"{int(minutes)} {int(hours)} * * *"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stewardship:
    """The settings of working unasked."""

    primary: Flag = "auto"
    auto_summarize: bool = True
    lease_seconds: float = 30
    sweep_interval_seconds: float = 600
    sweep_sessions: int = 10
    sweep_quiet_seconds: float = 600
    drift_days: float = 30
    rounds: tuple[Round, ...] = ()
    dailies: tuple[Daily, ...] = ()


class Steward:
    """A candidate for working unasked."""

    def __init__(self, store: Store, holder: str, chosen: Stewardship) -> None:
        self._store = store
        self._holder = holder
        self._chosen = chosen
        self._token = store.clock.bits(62)
        self._swept_at: datetime | None = None
        self.is_primary = False

    async def begin(self) -> None:
        """Take the lease if it is free. Who was told to be primary must get it, or stops."""
        if self._chosen.primary == "false":
            return
        lease = await self._take()
        if not self.is_primary and is_gone(lease.holder):  # nobody else will wait for the end of its lease either
            await self._store.leave_primary(lease.token)
            lease = await self._take()
        if self._chosen.primary == "true" and not self.is_primary:
            raise NotAllowed(
                f"this process was told to be primary, and {lease.holder} is, until {lease.until:%H:%M:%S} UTC at least; stop "
                "that one first, or set primary to auto here"
            )

    async def run(self, stop: asyncio.Event) -> None:
        """Keep or seek the lease, and sweep while it is held, until told to stop."""
        while not stop.is_set():
            try:
                await self.turn()
            except AfterglowError as error:
                self.is_primary = False
                _log.warning("nothing can be done unasked now: %s", error)
            except Exception:  # noqa: BLE001 - the boundary: who stopped here would be primary in name only
                self.is_primary = False
                _log.warning("nothing can be done unasked now", exc_info=True)
            try:
                async with asyncio.timeout(self._chosen.lease_seconds / 3):
                    await stop.wait()
            except TimeoutError:
                continue
        if self.is_primary:
            await self._leave()

    async def turn(self) -> int:
        """Renew or take the lease; sweep if it is held and time to. The answer is how many summaries became due."""
        if self._chosen.primary == "false":
            return 0
        was_primary = self.is_primary
        await self._take()
        if self.is_primary and not was_primary:
            _log.info("%s is primary", self._holder)
            self._swept_at = None
        if not self.is_primary:
            return 0
        now = self._store.clock.now()
        await self._have_read(now)
        await self._have_told(now)
        if not self._chosen.auto_summarize:
            return 0
        if self._swept_at is None:
            self._swept_at = now
            return await self._drift(now)
        interval = self._chosen.sweep_interval_seconds
        if not interval or timedelta() <= now - self._swept_at < timedelta(seconds=interval):
            return 0
        self._swept_at = now
        return await self._sweep(now)

    async def _have_read(self, now: datetime) -> None:
        """Have sessions read for facts where a schedule says so; what was missed is caught up with once."""
        for each in self._chosen.rounds:
            last = await self._store.schedule_kept(each.name)
            if last is None or is_due(each.schedule, last, now, each.zone):
                found = await self._store.keep_schedule(each.name, last, agents=each.agents, besides=each.besides)
                _log.info("%s: %d sessions are to be read for facts", each.name, found)

    async def _have_told(self, now: datetime) -> None:
        """Have people told what happened where it is time to; what was missed is caught up with once."""
        for each in self._chosen.dailies:
            last = await self._store.schedule_kept(each.name)
            if last is None or is_due(each.schedule, last, now, ZoneInfo(each.zone)):
                found = 0 if last is None else await self._tell_all(each)
                await self._store.keep_time(each.name, last)
                _log.info("%s: due to %d", each.name, found)

    async def _tell_all(self, daily: Daily) -> int:
        """Make it due to all who want it and have something untold, some at a time, so that nobody waits for it."""
        found, after = 0, None
        while page := await self._store.untold_people(limit=_PEOPLE_AT_ONCE, after=after):
            to: list[tuple[str, str]] = []
            for each in page:
                # Who was never seen here may have been as one of those that are joined.
                seen = each if each.seen_at is not None else await self._store.presence(each.owner, each.agent)
                binding = None if seen is None else binding_of(seen)
                if binding is not None and daily.wants(binding):
                    to.append((each.owner, each.agent))
            await self._store.mark_told_due(daily.name, to)
            found, after = found + len(to), page[-1]
        return found

    async def _drift(self, now: datetime) -> int:
        if not self._chosen.drift_days:
            return 0
        since = now - timedelta(days=self._chosen.drift_days)
        return await self._store.sweep(
            "startup-drift", quiet_before=self._quiet_before(now), since=since, newest=_DRIFT_SESSIONS, oldest=0
        )

    async def _sweep(self, now: datetime) -> int:
        oldest = -(-self._chosen.sweep_sessions // _OLDEST_SHARE)  # one at least, or it would never come to them
        return await self._store.sweep(
            "periodic-sweep",
            quiet_before=self._quiet_before(now),
            newest=self._chosen.sweep_sessions - oldest,
            oldest=oldest,
        )

    def _quiet_before(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self._chosen.sweep_quiet_seconds)

    async def _leave(self) -> None:
        try:
            await self._store.leave_primary(self._token)
        except AfterglowError as error:
            _log.info("the lease was not given up, and will end by itself: %s", error)

    async def _take(self) -> Lease:
        lease = await self._store.take_primary(self._holder, self._token, lease_seconds=self._chosen.lease_seconds)
        self.is_primary = lease.token == self._token
        return lease
