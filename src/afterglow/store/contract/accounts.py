"""The verbs of what was spent, of who may come in, of what happened, and of who changed memory."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from afterglow.clock import new_id
from afterglow.spend import Amount, Call, CallSpend, ModelSpend, Reservation, Spend, Usage
from afterglow.store import access, audit, audited, happenings, spend
from afterglow.store.access import AccessKind, AccessScope, AccessToken
from afterglow.store.audit import AuditLine
from afterglow.store.contract.running import Running
from afterglow.store.happenings import Happened
from afterglow.store.transaction import EVERYONE, Scope


class AccountVerbs(Running):
    """The verbs of what was spent, of who may come in, of what happened, and of who changed memory."""

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

    async def spend_by_model(self, scope: Scope, day: str) -> list[ModelSpend]:
        """What a day has cost by model and purpose, the dearest first."""
        return await self._read("spend_by_model", scope, partial(spend.spend_by_model, day=day))

    async def add_token(
        self,
        name: str,
        scope: AccessScope,
        token: str,
        *,
        owner: str | None = None,
        kind: AccessKind = "token",
        expires_at: datetime | None = None,
    ) -> AccessToken:
        """The token is known from now on, by its digest alone. With an owner it opens that owner's memory and no other."""
        new = access.NewToken(name=name, scope=scope, token=token, owner=owner, kind=kind, expires_at=expires_at)
        run = partial(access.add_token, token_id=new_id(self.clock), new=new)
        return await self._write("add_token", EVERYONE, self._noted("add_token", run, audited.let_in))

    async def find_token(self, token: str, kind: AccessKind = "token") -> AccessToken | None:
        """Who shows this token, unless it is unknown, revoked or over."""
        return await self._read("find_token", EVERYONE, partial(access.find_token, token=token, kind=kind))

    async def is_open(self, token_id: str) -> bool:
        """Whether a token that was let in would be let in again."""
        return await self._read("is_open", EVERYONE, partial(access.is_open, token_id=token_id))

    async def note_use(self, token_id: str) -> None:
        """The token was used in this minute."""
        await self._write("note_use", EVERYONE, partial(access.note_use, token_id=token_id))

    async def sign_in(self, code: str, secret: str, expires_at: datetime) -> AccessToken:
        """A browser that shows the code of a link is known by this secret until then; the link is worth nothing any more."""
        run = partial(access.sign_in, code=code, secret=secret, expires_at=expires_at)
        return await self._write("sign_in", EVERYONE, self._noted("sign_in", run, audited.let_in))

    async def tokens(self, kind: AccessKind = "token") -> list[AccessToken]:
        """All tokens, revoked ones too, oldest first; or the links, or the browsers that are signed in."""
        return await self._read("tokens", EVERYONE, partial(access.tokens, kind=kind))

    async def revoke_token(self, token_id: str) -> AccessToken:
        """The token opens nothing any more."""
        run = partial(access.revoke_token, token_id=token_id)
        noted = self._noted("revoke_token", run, audited.shut_out(token_id))
        return await self._write("revoke_token", EVERYONE, noted)

    async def happened(self, scope: Scope, after: int | None, *, limit: int = 200) -> Happened:
        """What happened behind this number, the oldest first; without one, only where things stand."""
        return await self._read("happened", scope, partial(happenings.happened, after=after, limit=limit))

    async def audit(
        self,
        scope: Scope,
        *,
        since: datetime | None = None,
        limit: int = 50,
        before: AuditLine | int | None = None,
    ) -> list[AuditLine]:
        """Who changed memory, the newest change first; `before` is the last of the page before, or its number."""
        number = before.id if isinstance(before, AuditLine) else before
        return await self._read("audit", scope, partial(audit.audit, since=since, limit=limit, before=number))
