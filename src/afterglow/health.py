"""Whether summaries of sessions are made: by whom, when last, how much is waiting, and why anything is off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterglow.primary import Flag
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.summaries import Fleet
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.summaries import Trigger

_UNSEEN = Fleet(lease=None, last_sweep_at=None, last_sweep_found=None, last_success_at=None, last_trigger=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Summarization:
    """How it goes with the summaries. What waits after a failure is waiting, and never counts as done."""

    trigger_source: Trigger | None
    """What asked for the last summary that was made."""
    last_success_at: datetime | None
    last_sweep_at: datetime | None
    last_sweep_found: int | None
    primary_flag: Flag
    """What this process is told."""
    primary_holder: str | None
    queue_depth: int
    """Summaries that are due now, with those that are being made."""
    oldest_due_at: datetime | None
    in_progress: int
    deferred: int
    """Summaries that failed and are tried again later."""
    parked: int
    off: tuple[str, ...]
    """Why something that could be done unasked is not, each in a sentence."""

    def block(self) -> dict[str, Any]:
        """The same under the names every door shows it by. Moments stay moments: each door writes them its own way."""
        return {
            "triggerSource": self.trigger_source,
            "lastSweepAt": self.last_sweep_at,
            "lastSweepFound": self.last_sweep_found,
            "lastSuccessAt": self.last_success_at,
            "primaryFlag": self.primary_flag,
            "primaryHolder": self.primary_holder,
            "queueDepth": self.queue_depth,
            "oldestDueAt": self.oldest_due_at,
            "inProgress": self.in_progress,
            "deferred": self.deferred,
            "parked": self.parked,
            "off": list(self.off),
        }


async def summarization(store: Store, settings: Settings, primary: Flag, scope: Scope = EVERYONE) -> Summarization:
    """How it goes with the summaries of this store, as seen from a process that is told `primary`.

    Who sees one owner alone is told what waits there, and nothing of the fleet.
    """
    fleet = await store.fleet() if scope is EVERYONE else _UNSEEN
    backlog = await store.backlog(scope, kind="summary")
    lease = fleet.lease
    return Summarization(
        trigger_source=fleet.last_trigger,
        last_success_at=fleet.last_success_at,
        last_sweep_at=fleet.last_sweep_at,
        last_sweep_found=fleet.last_sweep_found,
        primary_flag=primary,
        primary_holder=None if lease is None else lease.holder,
        queue_depth=backlog.due + backlog.claimed,
        oldest_due_at=backlog.oldest_due_at,
        in_progress=backlog.claimed,
        deferred=backlog.deferred,
        parked=backlog.parked,
        off=tuple(_off(settings, held=lease is not None)) if scope is EVERYONE else (),
    )


def _off(settings: Settings, *, held: bool) -> list[str]:
    said: list[str] = []
    if not held:
        said.append(
            "no process is primary, so nothing is summarised unasked; start `afterglow serve` with primary auto or true"
        )
    if not settings.auto_summarize:
        said.append("auto_summarize is false, so only sunsets, idle sessions and manual runs are summarised")
    elif not settings.sweep_interval_seconds:
        said.append("sweep_interval_seconds is 0, so sessions whose process crashed are looked for only at a start")
    if not settings.drift_days and settings.auto_summarize:
        said.append("drift_days is 0, so a primary that starts does not look back")
    return said
