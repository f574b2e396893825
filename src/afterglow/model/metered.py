"""A model with the account of spend, the day's ceilings and the breaker around it. All calls go through here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager
from datetime import tzinfo

from afterglow.clock import Clock
from afterglow.errors import (
    AfterglowError,
    ModelBadOutput,
    ModelBusy,
    ModelError,
    ModelStopped,
    ModelTooLong,
)
from afterglow.model import CallLost, Completion, Model, PaidAnswer, Priced, Request, Streaming
from afterglow.model.offline import NAME as OFFLINE
from afterglow.spend import (
    Amount,
    Breaker,
    Call,
    Ledger,
    Reservation,
    Spend,
    SpendLimits,
    Usage,
    begin_call,
    breaker_wait_seconds,
    call_abandoned,
    call_failed,
    call_succeeded,
    ceiling,
    day_of,
    fits,
    micro_usd,
    seconds_to_next_day,
    wished,
)

IsWished = Callable[[], Awaitable[bool]]
"""Whether the work that is being done was asked for by hand, after it had failed."""

_log = logging.getLogger(__name__)


class Metered:
    """The same model, which spends no more than a day may cost. One of it is shared by all who use the model."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        *,
        limits: SpendLimits,
        zone: tzinfo,
        clock: Clock,
        is_wished: IsWished | None = None,
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._limits = limits
        self._zone = zone
        self._clock = clock
        self._is_wished = is_wished
        self._breaker = Breaker()
        self._last_error = ""

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window_tokens(self) -> int:
        return self._model.window_tokens

    @property
    def left_alone_seconds(self) -> float:
        """For how long no call is made, because it failed again and again; 0 means that one may be."""
        return breaker_wait_seconds(self._breaker, self._clock.now(), self._limits)

    async def complete(self, request: Request) -> Completion:
        if self._model.name == OFFLINE:
            return await self._model.complete(request)  # it costs nothing and never fails for long
        await self._heed_wish()
        with self._let_through():
            reservation = await self._reserve(request)
            try:
                done = await self._model.complete(request)
            except ModelError as error:
                self._note(error)
                await self._settle_failed(reservation, error)
                raise
            self._breaker = call_succeeded(self._breaker)
        await self._settle(reservation, done.usage, done.cost_usd)
        return done

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The words as they come, and at last the completion that has them all. Who stops listening may have paid."""
        if not isinstance(self._model, Streaming):
            done = await self.complete(request)
            yield done.text
            yield done
            return
        if self._model.name == OFFLINE:
            async for piece in self._model.stream(request):
                yield piece
            return
        await self._heed_wish()
        with self._let_through():
            reservation = await self._reserve(request)
            try:
                async with aclosing(self._model.stream(request)) as pieces:
                    async for piece in pieces:
                        # It is settled before it is handed on: who has it may stop listening.
                        if isinstance(piece, Completion):
                            self._breaker = call_succeeded(self._breaker)
                            await self._settle(reservation, piece.usage, piece.cost_usd)
                        yield piece
            except ModelError as error:
                self._note(error)
                await self._settle_failed(reservation, error)
                raise

    async def _heed_wish(self) -> None:
        if self.left_alone_seconds > 0 and self._is_wished is not None and await self._is_wished():
            self._breaker = wished(self._breaker, self._clock.now())

    @contextmanager
    def _let_through(self) -> Generator[None]:
        """If the breaker lets a call through. One that ends without a verdict on the model leaves the trial to the next."""
        self._check_breaker()
        on_trial = self._breaker.open_until is not None
        self._breaker = begin_call(self._breaker)
        try:
            yield
        finally:
            if on_trial:
                self._breaker = call_abandoned(self._breaker)

    def _check_breaker(self) -> None:
        wait = self.left_alone_seconds
        if wait > 0:
            raise ModelBusy(
                f"{self.name} failed {self._breaker.failures} times in a row and is left alone for {wait:.0f} seconds; "
                f"no call was made. The last time: {self._last_error}",
                wait,
            )

    def _note(self, error: ModelError) -> None:
        if isinstance(error, ModelTooLong):
            return  # what it was given was wrong, not the model
        wait = error.wait_seconds if isinstance(error, ModelBusy | ModelStopped) else None
        self._last_error = str(error)
        self._breaker = call_failed(self._breaker, self._clock.now(), self._limits, wait)

    async def _reserve(self, request: Request) -> Reservation:
        now = self._clock.now()
        usage = _most(self._model, request)
        cost = await asyncio.to_thread(self._model.price, usage) if isinstance(self._model, Priced) else None
        most = Amount(tokens=usage.tokens, micro_usd=None if cost is None else micro_usd(cost))
        call = Call(
            day=day_of(now, self._zone),
            model=self.name,
            purpose=request.purpose,
            owner=request.owner,
            session=request.session,
        )
        answer = await self._ledger.reserve_spend(call, most, ceiling(self._limits))
        if isinstance(answer, Reservation):
            return answer
        wait = seconds_to_next_day(now, self._zone) if fits(most, ceiling(self._limits)) else None
        raise ModelStopped(_over(self.name, answer, most, self._limits), wait)

    async def _settle_failed(self, reservation: Reservation, error: ModelError) -> None:
        if isinstance(error, PaidAnswer):
            await self._settle(reservation, error.usage, error.cost_usd)
        elif not isinstance(error, CallLost | ModelBadOutput):
            await self._settle(reservation, Usage(), 0.0)  # the provider refused it, and charges nothing
        # else it may have been paid for, nobody knows how much: the reservation stays

    async def _settle(self, reservation: Reservation, usage: Usage, cost_usd: float | None) -> None:
        try:
            await self._ledger.settle_spend(reservation, usage, None if cost_usd is None else micro_usd(cost_usd))
        except AfterglowError as error:
            # What the model said is worth more than an exact account; the reservation counts in its place.
            _log.warning("the spend of a call of %s is not settled: %s", self.name, error)


def _most(model: Model, request: Request) -> Usage:
    if isinstance(model, Priced):
        return model.most(request)
    return Usage(input_tokens=request.given_tokens, output_tokens=request.tokens_max)


def _over(name: str, day: Spend, most: Amount, limits: SpendLimits) -> str:
    cost = "" if most.micro_usd is None else f" and {most.micro_usd / 1_000_000:.4f} USD"
    return (
        f"the day's ceiling of spend is reached: {day.usd:.4f} of {limits.day_ceiling_usd:g} USD and {day.tokens} of "
        f"{limits.day_ceiling_tokens} tokens are spent, and this call of {name} may take {most.tokens} tokens{cost}; raise "
        "day_ceiling_usd or day_ceiling_tokens in [spend], or wait for the next day"
    )
