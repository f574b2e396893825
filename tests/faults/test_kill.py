"""`kill -9` in a loop: whatever was acknowledged is there, once, and everything still agrees with everything."""

from __future__ import annotations

from typing import Any

import pytest

from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.work import Limits
from tests.faults.nursery import Nursery
from tests.faults.tasks import digest, open_store, write_keyed
from tests.kit.campaign import Campaign
from tests.kit.promises import broken, doubled, lost


class Ledger:
    """What the killed writers had begun, and what had been acknowledged to them."""

    def __init__(self) -> None:
        self.begun: dict[str, tuple[int, str, str]] = {}
        self.acknowledged: list[tuple[Any, ...]] = []
        self.finished: set[int] = set()

    def enter(self, lines: list[Any]) -> None:
        for what, *rest in lines:
            if what == "begun":
                self.begun[rest[1]] = tuple(rest)
            elif what == "acknowledged":
                self.acknowledged.append(tuple(rest))
            else:
                self.finished.add(rest[0])

    @property
    def unanswered(self) -> list[tuple[int, str, str]]:
        """What the next writer sends again with the same keys."""
        keys = {each[3] for each in self.acknowledged}
        return [begun for key, begun in self.begun.items() if key not in keys]

    async def not_kept(self, store: Store) -> list[str]:
        """What is not as it was acknowledged: turns, work asked for, work finished."""

        def look(tx: Tx) -> list[Any]:
            return tx.rows("SELECT kind, subject, token FROM work")

        work = await store._read("look", EVERYONE, look)
        asked = {row["subject"] for row in work if row["kind"] == "summary"}
        return [
            *await lost(store, self.acknowledged, digest),
            *(f"the work that turn {each[3]} asked for is gone" for each in self.acknowledged if each[3] not in asked),
            *(f"the claim {row['token']} was finished and is back" for row in work if row["token"] in self.finished),
        ]


@pytest.mark.campaign
@pytest.mark.spec("P1", "P13", "LOG-1", "SUM-10")
async def test_what_was_acknowledged_survives_kill_9_again_and_again(
    address: str, nursery: Nursery, campaign: Campaign
) -> None:
    longest, whole = (0.3, 20) if address.startswith("postgresql:") else (0.12, 100)
    chance, ledger, kills = campaign.random, Ledger(), 0
    for number in campaign.rounds(at_least=10, whole=whole):
        early = chance.random() < 0.15  # while it opens the database
        child = nursery.one(
            "write_until_killed",
            address=address,
            seed=campaign.seed + number,
            unanswered=ledger.unanswered,
            kill_after=chance.uniform(0, 0.04) if early else chance.uniform(0.02, longest),
            early=early,
        )
        assert child.was_killed, f"{campaign}, kill {number}: {nursery.errors()}"
        assert early or child.lines, f"{campaign}, kill {number}: it was killed before it wrote anything"
        ledger.enter(child.lines)
        kills += 1
        if number % 8 == 7:  # in between, the next writer is the one who recovers
            await _sound(address, ledger, f"{campaign}, kill {number}")
    await _sound(address, ledger, f"{campaign}, kill {kills}")
    campaign.did(
        f"{kills} kills, {len(ledger.acknowledged)} turns acknowledged, {len(ledger.finished)} claims finished"
    )
    await _begin_again(await open_store(address), ledger)


async def _sound(address: str, ledger: Ledger, where: str) -> None:
    store = await open_store(address)
    assert await broken(store) == [], where
    assert await ledger.not_kept(store) == [], where
    await store.close()


async def _begin_again(store: Store, ledger: Ledger) -> None:
    """What got no answer and is sent again is there once, and the work left behind is handed out once."""
    for sender, key, text in ledger.unanswered:
        await write_keyed(store, sender, key, text)

    def look(tx: Tx) -> list[str]:
        return sorted(row["key"] for row in tx.rows("SELECT key FROM turns"))

    assert await store._read("look", EVERYONE, look) == sorted(ledger.begun), "each that was begun, once, and no other"
    limits, done = Limits(lease_seconds=3600, attempts_max=10**6), []
    while claims := await store.claim(("summary",), limit=500, holder="last", limits=limits):
        done += [claim.subject for claim in claims]
    assert sorted(done) == sorted(ledger.begun)
    assert await doubled(store) == []
    assert await broken(store) == []
    await store.close()
