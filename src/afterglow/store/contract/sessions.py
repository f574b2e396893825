"""The verbs of sessions and owners."""

from __future__ import annotations

from functools import partial

from afterglow.store import audited, files, sessions
from afterglow.store.contract.running import Running, key_of
from afterglow.store.sessions import Totals
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.turns import Binding, Owner, Place, Session, SessionState


class SessionVerbs(Running):
    """The verbs of sessions and owners."""

    async def open_session(self, binding: Binding, named: str | None = None, owner: str | None = None) -> Session:
        """The binding's open session, or a new one; with a name, that session, made if it is missing."""
        run = partial(sessions.open_session, binding=binding, named=named, fresh=self._fresh(), at_us=self._now_us())
        return await self._write("open_session", owner or binding.owner, run)

    async def close_session(self, owner: str, session: str) -> Session:
        """The session is closed: the next message on its binding opens another. Its turns stay."""
        run = partial(sessions.close_session, session=session, at_us=self._now_us())
        return await self._write("close_session", owner, self._noted("close_session", run, audited.state_of(session)))

    async def session(self, scope: Scope, session: str) -> Session:
        """The session of this name."""
        return await self._read("session", scope, partial(sessions.session, session_id=session))

    async def current_session(self, binding: Binding, owner: str | None = None) -> Session | None:
        """The session that the binding's next message would go to, if one is open."""
        return await self._read(
            "current_session", owner or binding.owner, partial(sessions.current_session, binding=binding)
        )

    async def sessions(
        self,
        scope: Scope,
        *,
        limit: int = 50,
        before: Session | Place | None = None,
        state: SessionState | None = None,
    ) -> list[Session]:
        """Sessions, the one with the newest turn first; `before` is the last of the page before."""
        run = partial(sessions.sessions, limit=limit, before=key_of(before), state=state)
        return await self._read("sessions", scope, run)

    async def sessions_by_name(self, scope: Scope, *, limit: int = 50, after: Session | None = None) -> list[Session]:
        """Sessions in an order that no new turn changes: for reading all of them."""
        cursor = ("", "") if after is None else (after.owner, after.id)
        return await self._read(
            "sessions_by_name", scope, partial(sessions.sessions_by_name, limit=limit, after=cursor)
        )

    async def totals(self, scope: Scope) -> Totals:
        """How many owners, sessions, turns and tokens there are."""
        return await self._read("totals", scope, sessions.totals)

    async def owners(self, *, limit: int = 1000, after: str = "", only: str | None = None) -> list[Owner]:
        """Owners by name, each with those joined to it; or only one of them."""
        return await self._read("owners", EVERYONE, partial(sessions.owners, limit=limit, after=after, only=only))

    async def join(self, owner: str, to: str) -> Owner:
        """From now on the first is part of the second: one memory. What both know is shown once; their files are due."""
        run = partial(files.join, owner=owner, to=to, now=self.clock.now())
        return await self._write("join", EVERYONE, self._noted("join", run, audited.joined(owner)))

    async def part(self, owner: str) -> Owner:
        """The owner stands for itself again; the files of both are due."""
        run = partial(files.part, owner=owner, now=self.clock.now())
        return await self._write("part", EVERYONE, self._noted("part", run, audited.parted(owner)))
