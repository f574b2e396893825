"""An embedder with the account of spend and the day's ceilings around it, as models have them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import tzinfo
from typing import Protocol, runtime_checkable

from afterglow.clock import Clock
from afterglow.errors import AfterglowError, ModelError, ModelStopped
from afterglow.model import CallLost
from afterglow.search.embedders import Embedder
from afterglow.spend import (
    Amount,
    Call,
    Ledger,
    Reservation,
    SpendLimits,
    Usage,
    ceiling,
    day_of,
    fits,
    micro_usd,
    seconds_to_next_day,
)

_log = logging.getLogger(__name__)


@runtime_checkable
class Priced(Embedder, Protocol):
    """An embedder whose calls cost something."""

    def most(self, texts: Sequence[str]) -> Usage: ...

    def price(self, usage: Usage) -> float | None: ...


class MeteredEmbedder:
    """The same embedder, which spends no more than a day may cost."""

    def __init__(self, embedder: Priced, ledger: Ledger, *, limits: SpendLimits, zone: tzinfo, clock: Clock) -> None:
        self._embedder = embedder
        self._ledger = ledger
        self._limits = limits
        self._zone = zone
        self._clock = clock

    @property
    def name(self) -> str:
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        usage = self._embedder.most(texts)
        cost = await asyncio.to_thread(self._embedder.price, usage)
        reservation = await self._reserve(usage, cost)
        try:
            vectors = await self._embedder.embed(texts)
        except ModelError as error:
            if not isinstance(error, CallLost):  # the provider refused it, and charges nothing
                await self._settle(reservation, Usage(), 0.0)
            raise
        await self._settle(reservation, usage, cost)
        return vectors

    async def _reserve(self, usage: Usage, cost: float | None) -> Reservation:
        now = self._clock.now()
        most = Amount(tokens=usage.tokens, micro_usd=None if cost is None else micro_usd(cost))
        call = Call(day=day_of(now, self._zone), model=self.name, purpose="embed")
        answer = await self._ledger.reserve_spend(call, most, ceiling(self._limits))
        if isinstance(answer, Reservation):
            return answer
        wait = seconds_to_next_day(now, self._zone) if fits(most, ceiling(self._limits)) else None
        raise ModelStopped(
            f"the day's ceiling of spend is reached, and {self.name} is not asked; raise day_ceiling_usd or "
            "day_ceiling_tokens in [spend], or wait for the next day",
            wait,
        )

    async def _settle(self, reservation: Reservation, usage: Usage, cost_usd: float | None) -> None:
        try:
            await self._ledger.settle_spend(reservation, usage, None if cost_usd is None else micro_usd(cost_usd))
        except AfterglowError as error:
            _log.warning("the spend of a call of %s is not settled: %s", self.name, error)
