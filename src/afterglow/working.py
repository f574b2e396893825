"""What a process does beside its own business: the work that is due, of all sessions, and what nobody asks for.

A server does it unless it is told not to; a program that holds a Memory only if it is told to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager

from afterglow.primary import Flag, may_claim
from afterglow.settings import Settings
from afterglow.steward import Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.work import Kind, Limits
from afterglow.worker import Act, Worker, holder_name

DRAIN_SECONDS_MAX = 15
_log = logging.getLogger(__name__)
ANYBODYS: frozenset[Kind] = frozenset({"context", "idle", "clear"})
"""The work that a process does also if it is not to be primary."""


class Beside:
    """What a process does beside its own business, as far as it knows by itself."""

    def __init__(self, steward: Steward, tasks: Mapping[str, asyncio.Task[None]]) -> None:
        self._steward = steward
        self._tasks = tasks

    @property
    def is_primary(self) -> bool:
        """Whether it makes work due unasked."""
        return self._steward.is_primary

    @property
    def trouble(self) -> str:
        """What has stopped that should run, in a sentence; empty where nothing has."""
        ended = [name for name, task in self._tasks.items() if task.done()]
        return f"{' and '.join(ended)} stopped; the log says why, and a restart mends it" if ended else ""


@asynccontextmanager
async def working(store: Store, acts: Mapping[Kind, Act], chosen: Settings, primary: Flag) -> AsyncGenerator[Beside]:
    """Work beside whatever is done here. Who is told to be primary and is not stops at once, with who is."""
    steward = Steward(store, holder_name(), stewardship(chosen, primary))
    await steward.begin()
    worker = Worker(
        store,
        {kind: act for kind, act in acts.items() if may_claim(primary) or kind in ANYBODYS},
        holder=holder_name(),
        limits=work_limits(chosen),
        concurrency=chosen.work.concurrency,
        poll_seconds=chosen.work.poll_seconds,
    )
    stop = asyncio.Event()
    tasks = {
        "the background worker": asyncio.create_task(_logged(worker.run(stop, DRAIN_SECONDS_MAX))),
        "the steward of the primary's lease": asyncio.create_task(_logged(steward.run(stop))),
    }
    try:
        yield Beside(steward, tasks)
    finally:
        stop.set()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _logged(running: Awaitable[None]) -> None:
    """What runs until it is told to stop; if it stops by itself, the log says why."""
    try:
        await running
    except Exception:
        _log.exception("the work in the background has stopped")
        raise


def stewardship(chosen: Settings, primary: Flag) -> Stewardship:
    """What the settings say of working unasked."""
    return Stewardship(
        primary=primary,
        auto_summarize=chosen.auto_summarize,
        lease_seconds=chosen.primary_lease_seconds,
        sweep_interval_seconds=chosen.sweep_interval_seconds,
        sweep_sessions=chosen.sweep_sessions,
        sweep_quiet_seconds=chosen.sweep_quiet_seconds,
        drift_days=chosen.drift_days,
    )


def work_limits(chosen: Settings) -> Limits:
    """The limits of work that the settings name."""
    return Limits(**{name: getattr(chosen.work, name) for name in Limits.__slots__})
