"""Ceilings, the breaker and the account, around a model that costs money and fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import ModelBadOutput, ModelBusy, ModelError, ModelStopped, ModelTooLong, StoreUnavailable
from afterglow.model import CallLost, Completion, Request, scripted
from afterglow.model.metered import Metered
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import Script, ScriptedModel, Step
from afterglow.spend import (
    Amount,
    Breaker,
    Call,
    Reservation,
    Spend,
    SpendLimits,
    Usage,
    begin_call,
    breaker_wait_seconds,
    call_abandoned,
    call_failed,
    call_succeeded,
    day_of,
    micro_usd,
    seconds_to_next_day,
    wished,
)
from afterglow.store.contract import Store
from tests.conftest import OpenStore
from tests.kit.agents import until_asked
from tests.kit.loops import for_each
from tests.kit.records import KATE, NOON

pytestmark = pytest.mark.spec("SAFE-4")

BERLIN = ZoneInfo("Europe/Berlin")
DAY = "2026-03-02"
LIMITS = SpendLimits(day_ceiling_usd=0.01, day_ceiling_tokens=1_000_000, breaker_failures=3, breaker_seconds=60)
NO_BREAKER = SpendLimits(day_ceiling_usd=0.01, breaker_failures=1_000_000)
PRICE = 1.0


def asking(tokens_max: int = 100, **more: Any) -> Request:
    more.setdefault("deadline_seconds", 30)
    return Request(
        purpose="fold",
        instructions="Summarise.",
        material="user: The kettle is red.",
        tokens_max=tokens_max,
        owner=KATE.owner,
        session="talk",
        **more,
    )


def metered(
    script: Script, store: Store, limits: SpendLimits = LIMITS, price: float | None = PRICE
) -> tuple[Metered, ScriptedModel]:
    model = ScriptedModel(script, usd_per_million_tokens=price)
    clock = store.clock
    return Metered(model, store, limits=limits, zone=BERLIN, clock=clock), model


def always(step: Step) -> Callable[[Request], Step]:
    return lambda request: step


async def tried(model: Metered, request: Request | None = None) -> Completion | ModelError:
    try:
        return await model.complete(request or asking())
    except ModelError as error:
        return error


# --- the account


async def test_a_call_is_counted_with_what_it_did_cost(store: Store) -> None:
    model, _ = metered(["A red kettle."], store)
    done = await model.complete(asking())
    assert done.text == "A red kettle."
    (made,) = await store.spend_calls(KATE.owner)
    assert made.usage == done.usage
    assert made.amount == Amount(tokens=done.usage.tokens, micro_usd=done.usage.tokens)
    assert (made.call.purpose, made.call.model, made.call.session, made.call.day) == ("fold", "scripted", "talk", DAY)
    assert await store.spend_of_session(KATE.owner, "talk") == await store.spend_of_day(DAY)


async def test_while_a_call_is_under_way_the_most_it_could_cost_counts(store: Store) -> None:
    model, inner = metered([scripted.TIMEOUT], store)
    under_way = asyncio.create_task(tried(model))
    await until_asked(inner, 1)
    most = inner.most(asking()).tokens
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=most, micro_usd=most)
    under_way.cancel()
    await asyncio.wait([under_way])
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=most, micro_usd=most), "it may have been paid for"


@pytest.mark.parametrize(
    ("step", "counted"),
    [
        (scripted.RATE_LIMITED, "nothing"),
        (scripted.SERVER_ERROR, "nothing"),
        (scripted.WRONG_KEY, "nothing"),
        (scripted.TOO_LONG, "nothing"),
        (scripted.DISCONNECTED, "the most"),
        (scripted.TIMEOUT, "the most"),
        (scripted.EMPTY, "what it did cost"),
        (scripted.REFUSAL, "what it did cost"),
    ],
)
async def test_a_failure_counts_with_what_is_known_of_its_cost(open_store: OpenStore, step: Step, counted: str) -> None:
    store = await open_store()
    model, inner = metered([step], store)
    assert isinstance(await tried(model, asking(deadline_seconds=0.05 if step == scripted.TIMEOUT else 30)), ModelError)
    given = inner.most(asking()).input_tokens
    wanted = {"nothing": 0, "the most": given + 100, "what it did cost": given}[counted]
    assert await store.spend_of_day(DAY) == Spend(calls=1, tokens=wanted, micro_usd=wanted)


async def test_an_unknown_price_counts_in_tokens_only(store: Store) -> None:
    model, _ = metered(["Red."], store, SpendLimits(day_ceiling_usd=0, day_ceiling_tokens=200), price=None)
    await model.complete(asking())
    day = await store.spend_of_day(DAY)
    assert (day.calls, day.micro_usd) == (1, 0)
    assert day.tokens > 10
    assert isinstance(await tried(model, asking(200)), ModelStopped), "and the ceiling of tokens holds"


async def test_the_offline_model_costs_nothing_and_is_in_no_account(store: Store) -> None:
    nothing = SpendLimits(day_ceiling_usd=0, day_ceiling_tokens=0)
    model = Metered(OfflineModel(), store, limits=nothing, zone=BERLIN, clock=store.clock)
    assert (await model.complete(asking())).text == "user: The kettle is red."
    assert await store.spend_of_day(DAY) == Spend()


async def test_an_answer_is_not_lost_because_the_account_cannot_be_written(caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        async def reserve_spend(self, call: Call, most: Amount, ceiling: Amount) -> Reservation | Spend:
            return Reservation(id="1", call=call, most=most)

        async def settle_spend(self, reservation: Reservation, usage: Usage, micro_usd: int | None) -> None:
            raise StoreUnavailable("the database is away")

    model = Metered(ScriptedModel(["Red."]), Away(), limits=LIMITS, zone=BERLIN, clock=FixedClock(NOON))
    with caplog.at_level(logging.WARNING):
        assert (await model.complete(asking())).text == "Red."
    assert "not settled: the database is away" in caplog.text


# --- the ceiling


async def test_the_ceiling_stops_the_model_until_the_next_day_begins_in_the_zone(
    store: Store, clock: FixedClock
) -> None:
    model, inner = metered(always("Red."), store, NO_BREAKER)
    for _ in range(1_000):
        last = await tried(model, asking(2_000))
        if isinstance(last, ModelError):
            break
    assert isinstance(last, ModelStopped)
    assert "raise day_ceiling_usd or day_ceiling_tokens in [spend]" in str(last)
    assert last.wait_seconds == 11 * 3600, "it is one in the afternoon in Berlin"
    made = len(inner.requests)
    assert made > 100
    assert (await store.spend_of_day(DAY)).micro_usd <= 10_000
    clock.move(11 * 3600 - 1)
    assert isinstance(await tried(model, asking(2_000)), ModelStopped)
    assert len(inner.requests) == made, "no call was made"
    clock.move(1)
    assert isinstance(await tried(model, asking(2_000)), Completion)


async def test_a_call_that_no_day_could_pay_for_is_not_worth_waiting_for(store: Store) -> None:
    model, _ = metered(always("Red."), store)
    stopped = await tried(model, asking(20_000))
    assert isinstance(stopped, ModelStopped)
    assert stopped.wait_seconds is None


async def test_a_refusal_by_the_ceiling_is_not_held_against_the_model(store: Store) -> None:
    model, _ = metered(always("Red."), store)
    for _ in range(10):
        assert isinstance(await tried(model, asking(20_000)), ModelStopped)
    assert isinstance(await tried(model), Completion)


async def test_many_callers_at_once_stay_within_the_ceiling(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    models = [metered(always("Red."), each, NO_BREAKER) for each in stores]
    answers = await asyncio.gather(*(tried(models[n % 3][0], asking(2_000)) for n in range(60)))
    assert all(isinstance(answer, Completion | ModelStopped) for answer in answers)
    assert (await stores[0].spend_of_day(DAY)).micro_usd <= 10_000
    assert sum(isinstance(answer, Completion) for answer in answers) == sum(len(inner.requests) for _, inner in models)


@pytest.mark.parametrize("step", [scripted.EMPTY, scripted.REFUSAL, scripted.TIMEOUT, scripted.DISCONNECTED])
async def test_a_model_that_spends_on_retries_is_stopped_by_the_ceiling(
    open_store: OpenStore, clock: FixedClock, step: Step
) -> None:
    """Whatever the queue does, and however long it waits between: the day costs no more than it may."""
    store = await open_store()
    model, inner = metered(always(step), store, SpendLimits(day_ceiling_usd=0.002, breaker_failures=1_000_000))
    spent = [await tried(model, asking(deadline_seconds=0.001)) for _ in range(200)]
    assert isinstance(spent[-1], ModelStopped)
    assert 0 < len(inner.requests) < 150
    assert (await store.spend_of_day(DAY)).micro_usd <= 2_000


async def test_a_model_that_spends_on_retries_is_stopped_by_the_breaker(store: Store, clock: FixedClock) -> None:
    """Asked every second for four hours, it is called a dozen times rather than 14,400."""
    model, inner = metered(always(scripted.EMPTY), store)
    for _ in range(4 * 3600 // 10):
        assert isinstance(await tried(model), ModelBadOutput | ModelBusy)
        clock.move(10)
    assert len(inner.requests) <= 12


# --- the breaker around a model


async def test_an_open_breaker_makes_no_call_and_reserves_nothing(store: Store, clock: FixedClock) -> None:
    model, inner = metered([scripted.SERVER_ERROR] * 3 + ["Red.", "Green."], store)
    for _ in range(3):
        await tried(model)
    before = await store.spend_of_day(DAY)
    busy = await tried(model)
    assert isinstance(busy, ModelBusy)
    assert busy.wait_seconds == 60
    assert "failed 3 times in a row" in str(busy)
    assert "The last time: scripted cannot answer now (HTTP 500)" in str(busy), "why, not only that"
    assert (len(inner.requests), await store.spend_of_day(DAY)) == (3, before)
    clock.move(60)
    assert isinstance(await tried(model), Completion)
    assert isinstance(await tried(model), Completion), "it works again, and nothing is held against it"


async def test_after_the_pause_one_call_is_let_through(store: Store, clock: FixedClock) -> None:
    model, inner = metered([scripted.SERVER_ERROR] * 3 + [scripted.TIMEOUT, "Red."], store)
    for _ in range(3):
        await tried(model)
    clock.move(60)
    trial = asyncio.create_task(tried(model))
    await until_asked(inner, 4)
    assert isinstance(await tried(model), ModelBusy)
    assert len(inner.requests) == 4
    trial.cancel()
    await asyncio.wait([trial])
    assert isinstance(await tried(model), Completion), "a trial that was broken off is left to the next"


async def test_too_long_says_nothing_about_the_model(store: Store) -> None:
    model, _ = metered([scripted.TOO_LONG] * 10 + ["Red."], store)
    for _ in range(10):
        assert isinstance(await tried(model), ModelTooLong)
    assert isinstance(await tried(model), Completion)


async def test_one_success_forgives_the_failures_before(store: Store) -> None:
    script = [scripted.SERVER_ERROR, scripted.EMPTY, "Red."] * 4
    model, inner = metered(script, store)
    for _ in script:
        await tried(model)
    assert len(inner.requests) == len(script)


# --- the breaker by itself


def failing(times: int, breaker: Breaker | None = None, now: datetime = NOON) -> Breaker:
    for _ in range(times):
        breaker = call_failed(begin_call(breaker or Breaker()), now, LIMITS)
    assert breaker is not None
    return breaker


def test_the_breaker_opens_at_the_limit_and_not_before() -> None:
    assert breaker_wait_seconds(failing(2), NOON, LIMITS) == 0
    opened = failing(3)
    assert breaker_wait_seconds(opened, NOON, LIMITS) == 60
    assert breaker_wait_seconds(opened, NOON + timedelta(seconds=59), LIMITS) == 1
    assert breaker_wait_seconds(opened, NOON + timedelta(seconds=60), LIMITS) == 0


def test_it_stays_open_twice_as_long_each_time_up_to_an_hour() -> None:
    breaker, now, waits = failing(3), NOON, list[float]()
    for _ in range(9):
        waits.append(breaker_wait_seconds(breaker, now, LIMITS))
        now += timedelta(seconds=waits[-1])
        breaker = failing(1, breaker, now)
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_it_waits_as_long_as_the_provider_asks() -> None:
    breaker = failing(2)
    assert breaker_wait_seconds(call_failed(breaker, NOON, LIMITS, 500), NOON, LIMITS) == 500
    assert breaker_wait_seconds(call_failed(breaker, NOON, LIMITS, 1), NOON, LIMITS) == 60
    assert breaker_wait_seconds(call_failed(breaker, NOON, LIMITS, 10**6), NOON, LIMITS) == 3600


def test_a_pause_set_to_longer_than_an_hour_is_that_long() -> None:
    limits = SpendLimits(breaker_failures=1, breaker_seconds=7200)
    assert breaker_wait_seconds(call_failed(Breaker(), NOON, limits), NOON, limits) == 7200


def test_stragglers_do_not_open_it_further() -> None:
    opened = failing(3)
    assert call_failed(opened, NOON + timedelta(seconds=5), LIMITS) == opened


def test_a_trial_shuts_the_door_behind_it_and_its_outcome_opens_or_closes() -> None:
    trial = begin_call(failing(3))
    later = NOON + timedelta(seconds=60)
    assert breaker_wait_seconds(trial, later, LIMITS) == 60
    assert call_succeeded(trial) == Breaker()
    assert breaker_wait_seconds(call_abandoned(trial), later, LIMITS) == 0
    assert breaker_wait_seconds(call_failed(trial, later, LIMITS), later, LIMITS) == 120


def test_a_wish_lets_one_call_through_at_once_and_many_at_the_same_time_are_one() -> None:
    opened = failing(3)
    asked = wished(opened, NOON)
    assert breaker_wait_seconds(asked, NOON, LIMITS) == 0
    again = call_failed(begin_call(asked), NOON, LIMITS)
    assert breaker_wait_seconds(again, NOON, LIMITS) == 120, "it failed, and is left alone for longer"
    assert wished(again, NOON + timedelta(seconds=5)) == again
    assert breaker_wait_seconds(wished(again, NOON + timedelta(seconds=10)), NOON + timedelta(seconds=10), LIMITS) == 0
    assert wished(begin_call(opened), NOON) == begin_call(opened), "one is trying already"
    assert wished(Breaker(failures=1), NOON) == Breaker(failures=1), "it is not open"


def test_a_clock_that_was_set_back_does_not_keep_it_open_for_ever() -> None:
    assert breaker_wait_seconds(failing(3), NOON - timedelta(days=300), LIMITS) == 3600


# --- days and money


@for_each(
    "now, zone, day, hours",
    [
        (datetime(2026, 3, 2, 23, 30, tzinfo=UTC), "Europe/Berlin", "2026-03-03", 23.5),
        (datetime(2026, 3, 2, 2, 0, tzinfo=UTC), "America/New_York", "2026-03-01", 3),
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), "Europe/Berlin", "2026-03-29", 23),
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), "Europe/Berlin", "2026-10-25", 25),
        (datetime(2026, 10, 25, 1, 0, tzinfo=BERLIN), "Europe/Berlin", "2026-10-25", 24),
        (datetime(2026, 3, 2, 12, 0, tzinfo=UTC), "UTC", "2026-03-02", 12),
    ],
)
def test_a_day_is_a_day_in_the_zone_also_when_clocks_change(now: datetime, zone: str, day: str, hours: float) -> None:
    assert day_of(now, ZoneInfo(zone)) == day
    assert seconds_to_next_day(now, ZoneInfo(zone)) == hours * 3600


@for_each("usd, micro", [(0, 0), (5.0, 5_000_000), (0.0000001, 1), (0.1 + 0.2, 300_000), (1e-6, 1)])
def test_money_is_whole_millionths_rounded_up(usd: float, micro: int) -> None:
    assert micro_usd(usd) == micro


def test_a_lost_call_is_a_busy_model() -> None:
    assert issubclass(CallLost, ModelBusy), "so that the queue repeats it"
