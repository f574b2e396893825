"""The same random workload on SQLite and on PostgreSQL: every answer, every error and every row are the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import AfterglowError
from afterglow.store.contract import Store
from afterglow.store.log import Entry, Shown
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Binding
from afterglow.work import Claim, Due, Limits
from tests.faults.tasks import open_store
from tests.kit.campaign import Campaign
from tests.kit.promises import broken, dump
from tests.kit.records import NOON, said

BINDINGS = [Binding(agent="kate", channel=channel, sender=sender) for channel in ("tg", "web") for sender in ("a", "b")]
SESSIONS = ["main", "side", "none"]
WORDS = ["kettle", "stove", "zażółć", "上海", "red", "blue", "x1", "kettles"]
KINDS: Any = ["context", "facts", "digest"]
LIMITS = Limits(lease_seconds=60, attempts_max=3)

Step = Callable[[Store], Awaitable[Any]]


class Workload:
    """Random steps; each is made once and then run on every store."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.claims: list[Claim] = []
        self.seconds = 0.0
        self.tokens = 0

    def step(self) -> tuple[str, Step]:
        makers = {
            self.append: 12, self.append_to_session: 4, self.open_session: 3, self.close_session: 3, self.join: 1,
            self.part: 1, self.mark_due: 4, self.claim: 4, self.end_claim: 6, self.retry: 1, self.read: 8,
            self.find: 4, self.token: 1, self.restore: 1,
        }  # fmt: skip
        (maker,) = self.chance.choices(list(makers), list(makers.values()))
        return maker.__name__, maker()

    def owner(self) -> str:
        return self.chance.choice(BINDINGS).owner

    def at(self) -> Any:
        return NOON + timedelta(seconds=self.seconds + self.chance.choice((0, 0, 1, -5)))

    def entry(self) -> Entry:
        role = self.chance.choice(("user", "user", "assistant", "tool"))
        words = self.chance.choices(WORDS, k=self.chance.choice((1, 2, 7)))
        key = f"k{self.chance.randrange(40)}" if self.chance.random() < 0.6 else None
        entry = said(" ".join(words), role, at=self.at(), key=key, parts=[{"words": words}], terms=words)
        if self.chance.random() < 0.1:
            entry = Entry(draft=entry.draft, terms=[], bytes=entry.bytes, shown=Shown(text="…", parts=()))
        return entry

    def due(self, subject: str | None) -> Due:
        at = self.at() + timedelta(seconds=self.chance.choice((-30, 0, 0, 60)))
        return Due(
            kind=self.chance.choice(KINDS),
            at=at,
            reason=self.chance.choice(("idle", "interval")),
            subject=subject,
            rearm=self.chance.random() < 0.3,
        )

    def append(self) -> Step:
        binding, entry = self.chance.choice(BINDINGS), self.entry()
        due = [self.due(None) for _ in range(self.chance.randrange(3))]
        return lambda store: store.append(binding.owner, binding, entry, due)

    def append_to_session(self) -> Step:
        owner, session, entry = self.owner(), self.chance.choice(SESSIONS), self.entry()
        return lambda store: store.append(owner, session, entry)

    def open_session(self) -> Step:
        binding, named = self.chance.choice(BINDINGS), self.chance.choice((None, "main", "side"))
        return lambda store: store.open_session(binding, named)

    def close_session(self) -> Step:
        owner, session, binding = self.owner(), self.chance.choice(SESSIONS), self.chance.choice(BINDINGS)

        async def close(store: Store) -> Any:
            current = await store.current_session(binding)
            return await store.close_session(owner, current.id if current else session)

        return close

    def join(self) -> Step:
        one, other = self.owner(), self.owner()
        return lambda store: store.join(one, other)

    def part(self) -> Step:
        owner = self.owner()
        return lambda store: store.part(owner)

    def mark_due(self) -> Step:
        owner, due = self.owner(), self.due(f"s{self.chance.randrange(5)}")
        return lambda store: store.mark_due(owner, due)

    def claim(self) -> Step:
        limit, kinds = self.chance.randrange(1, 5), self.chance.sample(KINDS, 2)
        return lambda store: store.claim(kinds, limit=limit, holder="w", limits=LIMITS)

    def end_claim(self) -> Step:
        if not self.claims:
            return self.claim()
        claim, way = self.chance.choice(self.claims[-6:]), self.chance.randrange(4)
        ways: list[Step] = [
            lambda store: store.finish(claim),
            lambda store: store.finish(claim),
            lambda store: store.renew(claim, LIMITS),
            lambda store: store.give_back(claim, "no", wait_seconds=20, park=claim.attempt > 2),
        ]
        return ways[way]

    def retry(self) -> Step:
        scope = self.chance.choice((EVERYONE, self.owner()))
        return lambda store: store.retry(scope)

    def read(self) -> Step:
        scope, binding, state = self.chance.choice((EVERYONE, self.owner())), self.chance.choice(BINDINGS), None
        state = self.chance.choice((None, "due", "waiting", "claimed", "parked"))

        async def read(store: Store) -> Any:
            found = await store.sessions(scope, limit=3)
            more = await store.sessions(scope, limit=3, before=found[-1]) if found else []
            tails = [await store.tail(session.owner, session.id, 3) for session in found + more]
            pages = await store.turns_before(binding.owner, None, 7)
            work = await store.work_list(scope, state)
            return [found, more, tails, pages, work, await store.backlog(scope), await store.totals(scope)]

        return read

    def find(self) -> Step:
        owner, terms = self.owner(), self.chance.sample(WORDS, 2)

        async def find(store: Store) -> Any:
            found = await store.word_matches(owner, terms)
            return sorted((turn._replace(id=0) for turn in found.turns), key=repr), found.stats

        return find

    def token(self) -> Step:
        self.tokens += 1
        name, known = f"t{self.tokens}", f"token t{self.chance.randrange(self.tokens + 1)}"

        async def add(store: Store) -> Any:
            await store.add_token(name, "agent", f"token {name}")
            found = await store.find_token(known)
            return found, await store.tokens(), await store.revoke_token(found.id) if found else None

        return add

    def restore(self) -> Step:
        binding, entries = self.chance.choice(BINDINGS), [self.entry() for _ in range(3)]
        seq = self.chance.choice((1, 4))
        return lambda store: store.restore_turns(binding.owner, "side", seq, entries)


async def outcome(store: Store, step: Step) -> Any:
    try:
        return await step(store)
    except AfterglowError as error:
        return type(error), str(error)


@pytest.fixture
async def stores(tmp_path: Path, postgres_address: str) -> AsyncIterator[list[Store]]:
    """One on each database, each with a clock of its own that stands still."""
    addresses = (str(tmp_path / "afterglow.db"), postgres_address)
    stores = [await open_store(address, FixedClock(NOON, 1)) for address in addresses]
    yield stores
    for store in stores:
        await store.close()


async def compare(stores: list[Store], seed: int, steps: Iterator[int]) -> Counter[str]:
    """Run the same random steps on both stores; how often each was done, and how often refused."""
    workload, seen = Workload(seed), Counter[str]()
    for number in steps:
        if workload.chance.random() < 0.3:
            seconds = workload.chance.choice((0.001, 1, 1, 30, 90, -2))
            workload.seconds += seconds
            for store in stores:
                cast(FixedClock, store.clock).move(seconds)
        name, step = workload.step()
        one, other = [await outcome(store, step) for store in stores]
        assert one == other, f"seed {seed}, step {number}: {name} differs"
        seen[f"{name} {'refused' if isinstance(one, tuple) and isinstance(one[0], type) else 'done'}"] += 1
        if isinstance(one, list) and one and isinstance(one[0], Claim):
            workload.claims += one
        if number % 50 == 0:
            assert await dump(stores[0]) == await dump(stores[1]), f"seed {seed}, step {number}, after {name}"
    assert await dump(stores[0]) == await dump(stores[1]), f"seed {seed}"
    for store in stores:
        assert await broken(store) == [], f"seed {seed}"
    return seen


@pytest.mark.spec("P13")
async def test_the_same_hundred_steps_give_the_same_on_both_databases(stores: list[Store]) -> None:
    seen = await compare(stores, 1, iter(range(100)))
    assert len(seen) > 15


@pytest.mark.campaign
@pytest.mark.spec("P13")
async def test_the_same_workload_gives_the_same_on_both_databases(stores: list[Store], campaign: Campaign) -> None:
    seen = await compare(stores, campaign.seed, campaign.rounds(at_least=100, whole=700))
    campaign.did(f"{seen.total()} steps: " + ", ".join(f"{count} times {what}" for what, count in sorted(seen.items())))
