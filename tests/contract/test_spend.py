"""The account of spend, on every store: no number of callers passes the ceiling, and no cost is forgotten."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from afterglow.clock import FixedClock
from afterglow.spend import Amount, Call, Reservation, Spend, Usage
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from tests.conftest import OpenStore
from tests.kit.records import KATE, NOON, OTHER

pytestmark = pytest.mark.spec("SAFE-4", "P13")

DAY = "2026-03-02"
CEILING = Amount(tokens=10_000, micro_usd=1_000)


def call(owner: str | None = KATE.owner, *, day: str = DAY, session: str | None = "talk") -> Call:
    return Call(day=day, model="openai:m", purpose="fold", owner=owner, session=session)


async def reserve(store: Store, tokens: int = 1_000, micro_usd: int | None = 100, **more: str | None) -> Reservation:
    reserved = await store.reserve_spend(call(**more), Amount(tokens=tokens, micro_usd=micro_usd), CEILING)  # type: ignore[arg-type]
    assert isinstance(reserved, Reservation)
    return reserved


async def totals_agree(store: Store) -> bool:
    """Whether each day's total is the sum of its calls."""

    def look(tx: Tx) -> bool:
        rows = tx.rows(
            """SELECT d.calls, d.tokens, d.micro_usd, count(s.id) AS s_calls, coalesce(sum(s.tokens), 0) AS s_tokens,
                      coalesce(sum(s.micro_usd), 0) AS s_micro_usd
               FROM spend_days d LEFT JOIN spend s ON s.day = d.day GROUP BY d.day, d.calls, d.tokens, d.micro_usd"""
        )
        return all(row[name] == row[f"s_{name}"] for row in rows for name in ("calls", "tokens", "micro_usd"))

    return await store._read("look", EVERYONE, look)


async def test_what_is_reserved_counts_at_once(store: Store) -> None:
    await reserve(store)
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=1_000, micro_usd=100)
    assert await store.spend_of_day("2026-03-03") == Spend()


async def test_real_figures_take_the_reservations_place(store: Store) -> None:
    reserved = await reserve(store)
    usage = Usage(input_tokens=300, output_tokens=50, cached_tokens=100)
    await store.settle_spend(reserved, usage, 42)
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=350, micro_usd=42)
    (made,) = await store.spend_calls(KATE.owner)
    assert (made.call, made.at, made.usage, made.amount) == (call(), NOON, usage, Amount(tokens=350, micro_usd=42))


async def test_a_call_that_cost_more_than_was_reserved_counts_in_full(store: Store) -> None:
    await store.settle_spend(await reserve(store), Usage(input_tokens=20_000, output_tokens=5), 2_000)
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=20_005, micro_usd=2_000)
    assert await store.reserve_spend(call(), Amount(tokens=0, micro_usd=0), CEILING) == await store.spend_of_day(DAY)


async def test_settling_again_changes_nothing(store: Store) -> None:
    reserved = await reserve(store)
    for tokens in (300, 900):
        await store.settle_spend(reserved, Usage(input_tokens=tokens), tokens)
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=300, micro_usd=300)


async def test_a_reservation_whose_process_died_still_counts(open_store: OpenStore) -> None:
    first = await open_store()
    await reserve(first, micro_usd=900)
    await first.close()
    second = await open_store()
    assert await second.spend_of_day(DAY) == Spend(calls=1, tokens=1_000, micro_usd=900)
    refused = await second.reserve_spend(call(), Amount(tokens=1, micro_usd=101), CEILING)
    assert refused == Spend(calls=1, tokens=1_000, micro_usd=900)
    (made,) = await second.spend_calls(EVERYONE)
    assert made.usage is None


@pytest.mark.parametrize(
    ("most", "fits"),
    [
        (Amount(tokens=10_000, micro_usd=1_000), True),
        (Amount(tokens=10_001, micro_usd=0), False),
        (Amount(tokens=0, micro_usd=1_001), False),
        (Amount(tokens=10_000), True),
        (Amount(tokens=10_001), False),
    ],
)
async def test_each_ceiling_holds_by_itself_and_an_unknown_price_counts_in_tokens_only(
    store: Store, most: Amount, fits: bool
) -> None:
    answer = await store.reserve_spend(call(), most, CEILING)
    assert isinstance(answer, Reservation) == fits
    wanted = Spend(calls=1, tokens=most.tokens, micro_usd=most.micro_usd or 0) if fits else Spend()
    assert await store.spend_of_day(DAY) == wanted


async def test_the_ceiling_is_one_for_all_owners(store: Store) -> None:
    await reserve(store, 6_000)
    refused = await store.reserve_spend(call(OTHER.owner), Amount(tokens=6_000), CEILING)
    assert isinstance(refused, Spend)
    nobodys = await reserve(store, 4_000, owner=None, session=None)
    assert nobodys.call.owner is None
    assert {made.call.owner for made in await store.spend_calls(EVERYONE)} == {KATE.owner, None}


async def test_a_new_day_begins_at_nothing_and_a_late_call_settles_on_its_own_day(
    store: Store, clock: FixedClock
) -> None:
    yesterday = await reserve(store, 10_000)
    clock.move(timedelta(days=1).total_seconds())
    await reserve(store, 10_000, day="2026-03-03")
    await store.settle_spend(yesterday, Usage(input_tokens=1), 1)
    assert (await store.spend_of_day(DAY)).tokens == 1
    assert (await store.spend_of_day("2026-03-03")).tokens == 10_000


async def test_an_owner_sees_its_own_calls_alone(store: Store) -> None:
    await reserve(store)
    await reserve(store, owner=OTHER.owner)
    await reserve(store, owner=KATE.owner, session=None)
    assert await store.spend_of_session(KATE.owner, "talk") == Spend(calls=1, tokens=1_000, micro_usd=100)
    assert await store.spend_of_session(EVERYONE, "talk") == Spend(calls=2, tokens=2_000, micro_usd=200)
    assert await store.spend_of_session(KATE.owner, "never") == Spend()
    assert {made.call.owner for made in await store.spend_calls(KATE.owner)} == {KATE.owner}
    assert len(await store.spend_calls(KATE.owner, session="talk")) == 1
    assert len(await store.spend_calls(EVERYONE, limit=2)) == 2


async def test_fifty_callers_at_once_do_not_pass_the_ceiling(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    most = Amount(tokens=100, micro_usd=60)

    async def one(number: int) -> Reservation | Spend:
        return await stores[number % 3].reserve_spend(call(f"owner {number}"), most, CEILING)

    answers = await asyncio.gather(*(one(number) for number in range(50)))
    reserved = [answer for answer in answers if isinstance(answer, Reservation)]
    assert len(reserved) == 16, "sixteen times sixty is the most that a thousand holds"
    assert await stores[0].spend_of_day(DAY) == Spend(calls=16, tokens=1_600, micro_usd=960)
    usage = Usage(input_tokens=40, output_tokens=2)
    await asyncio.gather(*(stores[n % 3].settle_spend(each, usage, 7) for n, each in enumerate(reserved)))
    assert await stores[0].spend_of_day(DAY) == Spend(calls=16, tokens=16 * 42, micro_usd=16 * 7)
    assert await totals_agree(stores[0])
