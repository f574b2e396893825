"""The verbs of what was spent, and of who may come in."""

from __future__ import annotations

from functools import partial

from afterglow.clock import new_id
from afterglow.spend import Amount, Call, CallSpend, Reservation, Spend, Usage
from afterglow.store import (
    access,
    spend,
)
from afterglow.store.access import AccessScope, AccessToken
from afterglow.store.contract.running import Running
from afterglow.store.transaction import EVERYONE, Scope


class AccountVerbs(Running):
    """The verbs of what was spent, and of who may come in."""

    async def reserve_spend(self, call: Call, most: Amount, ceiling: Amount) -> Reservation | Spend:
        """The most that the call could cost counts against its day from now on, until it is settled.

        Where that would pass the day's ceiling nothing is changed, and the answer is what the day has cost. However many
        processes reserve at the same time, what they reserved together is within the ceiling.
        """
        run = partial(spend.reserve_spend, call=call, most=most, ceiling=ceiling)
        return await self._write("reserve_spend", EVERYONE, run)

    async def settle_spend(self, reservation: Reservation, usage: Usage, micro_usd: int | None) -> None:
        """The call counts with what it did cost, on the day it was made. Settling it again changes nothing."""
        run = partial(spend.settle_spend, reservation=reservation, usage=usage, micro_usd=micro_usd)
        await self._write("settle_spend", EVERYONE, run)

    async def spend_of_day(self, day: str) -> Spend:
        """What a day (2026-03-02) has cost, all owners together."""
        return await self._read("spend_of_day", EVERYONE, partial(spend.spend_of_day, day=day))

    async def spend_of_session(self, scope: Scope, session: str) -> Spend:
        """What the calls for a session have cost; nothing, for one that had none."""
        return await self._read("spend_of_session", scope, partial(spend.spend_of_session, session=session))

    async def spend_calls(self, scope: Scope, *, session: str | None = None, limit: int = 100) -> list[CallSpend]:
        """Calls with what each cost, newest first."""
        return await self._read("spend_calls", scope, partial(spend.spend_calls, session=session, limit=limit))

    async def add_token(self, name: str, scope: AccessScope, token: str) -> AccessToken:
        """The token is known from now on, by its digest alone."""
        run = partial(access.add_token, token_id=new_id(self.clock), name=name, scope=scope, token=token)
        return await self._write("add_token", EVERYONE, run)

    async def find_token(self, token: str) -> AccessToken | None:
        """Who shows this token, unless it is unknown or revoked."""
        return await self._read("find_token", EVERYONE, partial(access.find_token, token=token))

    async def tokens(self) -> list[AccessToken]:
        """All tokens, revoked ones too, oldest first."""
        return await self._read("tokens", EVERYONE, access.tokens)

    async def revoke_token(self, token_id: str) -> AccessToken:
        """The token opens nothing any more."""
        return await self._write("revoke_token", EVERYONE, partial(access.revoke_token, token_id=token_id))
