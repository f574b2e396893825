"""What a process does beside its own business: the work that is due, of all sessions, and what nobody asks for.

A server does it unless it is told not to; a program that holds a Memory only if it is told to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from zoneinfo import ZoneInfo

from afterglow.forgetting import unname_if_gone
from afterglow.primary import Flag, may_claim
from afterglow.proactive import dailies_of
from afterglow.settings import Settings
from afterglow.steward import Round, Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.work import Kind, Limits
from afterglow.worker import Act, Worker, holder_name

DRAIN_SECONDS_MAX = 15
_log = logging.getLogger(__name__)
ANYBODYS: frozenset[Kind] = frozenset({"context", "idle", "clear", "files"})
"""The work that a process does also if it is not to be primary."""
PRIMARYS: frozenset[Kind] = frozenset({"task"})
"""The work that only the primary does: what nobody waits for, and nobody wants done by whoever happens to run."""


Watch = Callable[[asyncio.Event], Awaitable[None]]
_NOTHING: Mapping[str, Watch] = {}


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
async def working(
    store: Store, acts: Mapping[Kind, Act], chosen: Settings, primary: Flag, watches: Mapping[str, Watch] = _NOTHING
) -> AsyncGenerator[Beside]:
    """Work beside whatever is done here. Who is told to be primary and is not stops at once, with who is.

    `watches` are what runs until it is told to stop and makes work due by itself; only who may be primary does that.
    """
    steward = Steward(store, holder_name(), stewardship(chosen, primary))
    await steward.begin()
    worker = Worker(
        store,
        {kind: act for kind, act in acts.items() if may_claim(primary) or kind in ANYBODYS},
        holder=holder_name(),
        limits=work_limits(chosen),
        concurrency=chosen.work.concurrency,
        poll_seconds=chosen.work.poll_seconds,
        may=lambda kind: steward.is_primary or kind not in PRIMARYS,
        over=partial(unname_if_gone, store, chosen.data_dir),
    )
    stop = asyncio.Event()
    tasks = {
        "the background worker": asyncio.create_task(_logged(worker.run(stop, DRAIN_SECONDS_MAX))),
        "the steward of the primary's lease": asyncio.create_task(_logged(steward.run(stop))),
    }
    if may_claim(primary):
        tasks |= {name: asyncio.create_task(_logged(watch(stop))) for name, watch in watches.items()}
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
        rounds=tuple(rounds_of(chosen)),
        dailies=tuple(dailies_of(chosen)),
    )


def rounds_of(chosen: Settings) -> Iterator[Round]:
    """When which agents' sessions are read for facts: those that have a schedule of their own by that, the others by one."""
    zone = ZoneInfo(chosen.zone)
    own = [agent.id for agent in chosen.agents if {"schedule", "enabled"} & agent.facts.model_fields_set]
    for agent in own:
        facts = chosen.facts_of(agent)
        if facts.enabled:
            yield Round(name=f"facts of {agent}", schedule=facts.schedule, zone=zone, agents=(agent,))
    if chosen.facts.enabled:
        yield Round(name="facts", schedule=chosen.facts.schedule, zone=zone, besides=tuple(own))


def work_limits(chosen: Settings) -> Limits:
    """The limits of work that the settings name."""
    return Limits(**{name: getattr(chosen.work, name) for name in Limits.__slots__})
