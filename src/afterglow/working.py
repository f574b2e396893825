"""What a process does beside its own business: the work that is due, of all sessions, and what nobody asks for.

A server does it unless it is told not to; a program that holds a Memory only if it is told to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from afterglow.primary import Flag, may_claim
from afterglow.settings import Settings
from afterglow.steward import Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.work import Kind, Limits
from afterglow.worker import Act, Worker, holder_name

DRAIN_SECONDS_MAX = 15
ANYBODYS: frozenset[Kind] = frozenset({"context", "idle", "clear"})
"""The work that a process does also if it is not to be primary."""


@asynccontextmanager
async def working(store: Store, acts: Mapping[Kind, Act], chosen: Settings, primary: Flag) -> AsyncGenerator[None]:
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
    tasks = [asyncio.create_task(worker.run(stop, DRAIN_SECONDS_MAX)), asyncio.create_task(steward.run(stop))]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)


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
