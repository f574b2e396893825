"""The verbs of the log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from afterglow.clock import new_fence, to_us
from afterglow.store import (
    audited,
    files,
    log,
    sessions,
)
from afterglow.store.contract.running import Running
from afterglow.store.log import Asked, Entry
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.turns import Binding, Owner, Session, Turn


class LogVerbs(Running):
    """The verbs of the log."""

    async def append(
        self,
        owner: str,
        to: Binding | str,
        entry: Entry,
        due: Asked = (),
        named: str | None = None,
        *,
        stays: bool = False,
    ) -> Turn:
        """Add a turn to the binding's open session, to its session of this name (made if missing), or to a session.

        A closed or missing session is followed by a new one, unless the turn `stays` with a closed one. Turns are
        numbered without gaps. The same key again in a session gives back the turn that is there and changes nothing. The
        work is marked due in the same transaction; `due` may be a rule, which is asked with the session as it is with the
        new turn.
        """
        run = partial(log.append, to=to, entry=entry, named=named, fresh=self._fresh(), due=due, stays=stays)
        return await self._write("append", owner, run)

    async def turn(self, scope: Scope, session: str, seq: int) -> Turn:
        """One turn, whole."""
        return await self._read("turn", scope, partial(log.turn, session=session, seq=seq))

    async def turn_by_key(self, binding: Binding, key: str, *, since: datetime) -> Turn | None:
        """The turn that was written under this key in any session of the binding that was not over at that moment."""
        run = partial(log.turn_by_key, binding=binding, key=key, since=to_us(since))
        return await self._read("turn_by_key", binding.owner, run)

    async def turns(
        self, scope: Scope, session: str, *, first_seq: int = 1, last_seq: int | None = None, limit: int = 100
    ) -> list[Turn]:
        """A run of turns in order, the giant ones cut."""
        run = partial(log.turns, session=session, first_seq=first_seq, last_seq=last_seq, limit=limit)
        return await self._read("turns", scope, run)

    async def tail(self, scope: Scope, session: str, limit: int) -> list[Turn]:
        """The newest turns in order, the giant ones cut. Costs the same however long the session is."""
        return await self._read("tail", scope, partial(log.tail, session=session, limit=limit))

    async def turns_before(self, owner: str, before: tuple[int, str, int] | None, limit: int) -> list[Turn]:
        """A page of the owner's turns, newest first, from before (at, session, seq); the giant ones cut."""
        return await self._read("turns_before", owner, partial(log.turns_before, before=before, limit=limit))

    async def restore_owner(self, owner: Owner) -> None:
        """The owner is there, and those it had joined to it are joined to it; the audit says that an import was made."""
        run = partial(files.restore_owner, owner=owner)
        await self._write("restore_owner", EVERYONE, self._noted("restore_owner", run, audited.restored(owner.id)))

    async def restore_session(self, session: Session) -> int:
        """The session is there, as given; the answer is how many of its turns are there already."""
        run = partial(sessions.restore_session, given=session, fence=new_fence(self.clock))
        return await self._write("restore_session", session.owner, run)

    async def restore_turns(self, owner: str, session: str, first_seq: int, entries: Sequence[Entry]) -> None:
        """These turns follow the ones that are there, or nothing is changed."""
        run = partial(log.restore_turns, session_id=session, first_seq=first_seq, entries=entries)
        await self._write("restore_turns", owner, run)
