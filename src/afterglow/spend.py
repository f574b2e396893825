"""Tokens and money: what a call used, what it costs, what a day may cost, and when to leave a model alone.

Money is counted in whole millionths of a US dollar. Before a call the most that it could cost is reserved against the
day's ceilings; after it the real figures take the reservation's place. A process that dies in between leaves the
reservation standing, since the call may have been paid for: the account may say too much, never too little.

The breaker stands before that. A model that failed several times in a row is left alone for a while, twice as long
each time; then one call is let through, and its outcome decides. Who asks for a piece of work by hand need not wait for that:
the call is let through at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Protocol

OPEN_SECONDS_MAX = 3600.0
"""However often it fails, a model is tried again after an hour, unless `breaker_seconds` is longer."""
WISH_SECONDS = 10.0
"""A thousand pieces of work that are tried again together are one wish, and it is heeded once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The tokens of one call, as the provider counted them, or as they were estimated."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """How many of the input tokens the provider had in its cache."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class SpendLimits:
    """What a day may cost, all owners and processes together, and when a model is left alone."""

    day_ceiling_usd: float = 5.0
    day_ceiling_tokens: int = 5_000_000
    breaker_failures: int = 5
    breaker_seconds: float = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call that is about to be made: whose it is, what for, and on which day it counts."""

    day: str
    model: str
    purpose: str
    owner: str | None = None
    session: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """So many tokens, and what they cost; None where the price is not known."""

    tokens: int
    micro_usd: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """What is set aside for one call until its real figures are known."""

    id: int
    call: Call
    most: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Spend:
    """What a day or a session has cost. Calls under way count with the most that they could cost."""

    calls: int = 0
    tokens: int = 0
    micro_usd: int = 0

    @property
    def usd(self) -> float:
        return self.micro_usd / 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpend:
    """What one model has cost in a day for one purpose."""

    model: str
    purpose: str
    spend: Spend


@dataclass(frozen=True, kw_only=True, slots=True)
class CallSpend:
    """One call, as the account shows it."""

    id: int
    call: Call
    at: datetime
    amount: Amount
    usage: Usage | None
    """None while the real figures are not known; `amount` is then the most that it could cost."""


class Ledger(Protocol):
    """Who keeps the account: a store."""

    async def reserve_spend(self, call: Call, most: Amount, ceiling: Amount) -> Reservation | Spend:
        """Set the most aside, or give back what the day has cost where that would pass its ceiling."""
        ...

    async def settle_spend(self, reservation: Reservation, usage: Usage, micro_usd: int | None) -> None:
        """The call cost this."""
        ...


def micro_usd(usd: float) -> int:
    """Whole millionths of a dollar, rounded up, so that many small calls are not free."""
    return math.ceil(round(usd * 1_000_000, 6))


def ceiling(limits: SpendLimits) -> Amount:
    """The day's ceilings as the ledger wants them."""
    return Amount(tokens=limits.day_ceiling_tokens, micro_usd=micro_usd(limits.day_ceiling_usd))


def fits(most: Amount, ceiling: Amount) -> bool:
    """Whether the amount is within the ceiling at all."""
    assert ceiling.micro_usd is not None, "a ceiling is known"
    return most.tokens <= ceiling.tokens and (most.micro_usd or 0) <= ceiling.micro_usd


def day_of(now: datetime, zone: tzinfo) -> str:
    """The calendar day in the zone, such as 2026-03-02."""
    return now.astimezone(zone).date().isoformat()


def seconds_to_next_day(now: datetime, zone: tzinfo) -> float:
    """How long the zone's day still lasts, also on a day of 23 or 25 hours."""
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    begins = datetime.combine(tomorrow, time(), zone).astimezone(UTC)
    return max(0.0, (begins - now).total_seconds())


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaker:
    """How a model has been doing: closed (calls go through), open (none does), half open (one is trying)."""

    failures: int = 0
    """How many calls failed in a row."""
    openings: int = 0
    """How often it opened in a row."""
    open_until: datetime | None = None
    trying: bool = False
    wished_at: datetime | None = None
    """When somebody's wish last let a call through."""


def breaker_wait_seconds(breaker: Breaker, now: datetime, limits: SpendLimits) -> float:
    """How long to leave the model alone; 0 means that a call may be made."""
    if breaker.open_until is None:
        return 0.0
    if breaker.trying:
        return limits.breaker_seconds
    left = (breaker.open_until - now).total_seconds()
    return min(max(0.0, left), _open_seconds_max(limits))  # a clock that was set back does not keep it open for ever


def wished(breaker: Breaker, now: datetime) -> Breaker:
    """Somebody asks that it be tried now: an open breaker lets the next call through, unless one is trying already."""
    is_heeded = breaker.wished_at is not None and abs((now - breaker.wished_at).total_seconds()) < WISH_SECONDS
    if breaker.open_until is None or breaker.trying or is_heeded:
        return breaker
    return replace(breaker, open_until=now, wished_at=now)


def begin_call(breaker: Breaker) -> Breaker:
    """A call is made: the one that is let through, if the breaker was open."""
    return breaker if breaker.open_until is None else replace(breaker, trying=True)


def call_succeeded(breaker: Breaker) -> Breaker:
    """The model works; nothing is held against it."""
    return Breaker()


def call_abandoned(breaker: Breaker) -> Breaker:
    """The call was broken off and says nothing about the model; the next one may try."""
    return replace(breaker, trying=False)


def call_failed(breaker: Breaker, now: datetime, limits: SpendLimits, wait_seconds: float | None = None) -> Breaker:
    """Count the failure; open when there were too many, for as long as the provider asks at least."""
    if breaker.open_until is not None and not breaker.trying:
        return breaker  # a call from before it opened: that is counted already
    failures = breaker.failures + 1
    if failures < limits.breaker_failures and not breaker.trying:
        return replace(breaker, failures=failures)
    doubled = limits.breaker_seconds * 2.0 ** min(breaker.openings, 30)
    open_seconds = min(max(doubled, wait_seconds or 0.0), _open_seconds_max(limits))
    until = now + timedelta(seconds=open_seconds)
    return Breaker(failures=failures, openings=breaker.openings + 1, open_until=until, wished_at=breaker.wished_at)


def _open_seconds_max(limits: SpendLimits) -> float:
    return max(OPEN_SECONDS_MAX, limits.breaker_seconds)
