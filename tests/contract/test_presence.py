"""Of two messages at one moment exactly one finds the absence, because the first to come in locks the joined owners."""

from __future__ import annotations

import asyncio
import time

import psycopg
import pytest

from afterglow import failpoints
from afterglow.clock import FixedClock
from afterglow.settings.away import AwaySettings
from afterglow.store.arrivals import Arriving, Handler
from afterglow.store.goals import Step
from afterglow.store.postgres import PostgresStore
from afterglow.turns import Binding
from tests.kit.records import KATE, NOON, OTHER

ALWAYS = AwaySettings(enabled=True, threshold_hours=0)


def arriving(number: int, binding: Binding = KATE) -> Arriving:
    handler = Handler(name=f"process {number}", token=number)
    return Arriving(binding=binding, message=f"message {number}", handler=handler, lease_seconds=60)


@pytest.mark.spec("AWAY-7", "P9")
async def test_a_message_that_comes_in_while_another_is_counted_finds_the_absence_over(emptied_address: str) -> None:
    """One person, from two places and through two processes on PostgreSQL: the second has begun before the first commits.

    (SQLite has one writer at a time.) The second place is new, so that the two messages touch no row in common.
    """
    one, two = [await PostgresStore.open(emptied_address, FixedClock(NOON)) for _ in range(2)]
    await one.come_in(KATE.owner, arriving(0), ALWAYS)
    about = {"goal": "report", "step": "1", "title": "Report", "note": ""}
    await one.record_goal(KATE.owner, Step(agent=KATE.agent, outcome="completed", at=NOON, **about))

    def until_the_other_waits() -> None:
        deadline = time.monotonic() + 30
        with psycopg.connect(emptied_address, autocommit=True) as connection:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            while not connection.execute(waiting).fetchone():
                assert time.monotonic() < deadline, "the second message was never held up"
                time.sleep(0.01)

    await one.open_session(OTHER)
    await one.join(OTHER.owner, KATE.owner)
    failpoints.arm("come_in:before", until_the_other_waits)
    found = await asyncio.gather(
        one.come_in(KATE.owner, arriving(1), ALWAYS), two.come_in(OTHER.owner, arriving(2, OTHER), ALWAYS)
    )
    for store in (one, two):
        await store.close()
    assert sorted(each.digest is not None for each in found) == [False, True]
