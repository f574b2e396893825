"""What a memory can be asked: sessions, turns, blocks, owners, and search through what was said."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from afterglow.compaction import Block
from afterglow.errors import BadInput
from afterglow.search import hits
from afterglow.search.hits import Found
from afterglow.search.patterns import Pattern
from afterglow.settings import Settings
from afterglow.store.audit import AuditLine
from afterglow.store.contract import Store
from afterglow.store.transaction import Scope
from afterglow.turns import Binding, Owner, Place, Session, SessionState, Turn


class Reading:
    """The part of a memory that reads."""

    store: Store
    settings: Settings

    async def blocks(self, session: Session) -> list[Block]:
        """Every block of the session by number, those that others took the place of too."""
        check_session(session)
        return await self.store.blocks(session.owner, session.id)

    async def expand(self, session: Session, block: int) -> list[Turn]:
        """All turns that a block stands for."""
        check_session(session)
        found = await self.store.block(session.owner, session.id, block)
        count = found.last_seq - found.first_seq + 1
        return await self.turns(session, first_seq=found.first_seq, last_seq=found.last_seq, limit=count)

    async def open_session(self, binding: Binding, named: str | None = None) -> Session:
        """The binding's open session, or a new one; with a name of your own, that session, made if it is missing."""
        return await self.store.open_session(binding, named)

    async def audit(
        self,
        *,
        owner: Scope,
        since: datetime | None = None,
        limit: int = 50,
        before: AuditLine | int | None = None,
    ) -> list[AuditLine]:
        """Who changed memory, what they did and when: the newest change first, with no word of what was said."""
        return await self.store.audit(owner, since=since, limit=limit, before=before)

    async def session(self, session: str, *, owner: Scope) -> Session:
        """The session of this name."""
        return await self.store.session(owner, session)

    async def sessions(
        self,
        *,
        owner: Scope,
        limit: int = 50,
        before: Session | Place | None = None,
        state: SessionState | None = None,
    ) -> list[Session]:
        """Sessions, newest first; all of them, or those of one state."""
        return await self.store.sessions(owner, limit=limit, before=before, state=state)

    async def turns(
        self, session: Session, *, first_seq: int = 1, last_seq: int | None = None, limit: int = 100
    ) -> list[Turn]:
        """A run of turns in order; giant ones are cut, `turn` gives them whole."""
        check_session(session)
        return await self.store.turns(session.owner, session.id, first_seq=first_seq, last_seq=last_seq, limit=limit)

    async def turn(self, session: Session, seq: int) -> Turn:
        """One turn, whole."""
        check_session(session)
        return await self.store.turn(session.owner, session.id, seq)

    async def search(self, text: str, *, owner: str, limit: int = 10) -> Found:
        """The turns that fit the words best."""
        return await hits.by_words(self.store, one_owner(owner), text, self._results(limit))

    async def grep(self, expression: str, *, owner: str, limit: int = 10, ignore_case: bool = False) -> Found:
        """The newest turns that a regular expression matches, within the limits of the settings."""
        pattern = Pattern(expression, ignore_case=ignore_case)
        chosen = self.settings.search
        return await hits.by_pattern(
            self.store,
            one_owner(owner),
            pattern,
            self._results(limit),
            rows_max=chosen.rows_max,
            seconds_max=chosen.seconds_max,
        )

    async def owners(self) -> list[Owner]:
        """Whose memories there are."""
        return await self.store.owners()

    async def join(self, owner: str, to: str) -> Owner:
        """Make two owners one memory: the first becomes part of the second. No row is rewritten; `part` undoes it."""
        return await self.store.join(owner, to)

    async def part(self, owner: str) -> Owner:
        """Undo `join`."""
        return await self.store.part(owner)

    def _results(self, limit: int) -> int:
        most = self.settings.search.results_max
        if type(limit) is not int or not 1 <= limit <= most:
            raise BadInput(f"a search gives 1 to {most} results (search.results_max); {limit} were asked for")
        return limit


def check_session(session: Any) -> None:
    """A session, and not its name."""
    if not isinstance(session, Session):
        raise BadInput(
            f"this needs a Session, not a {type(session).__name__}; `await memory.session(name, owner=…)` gives one"
        )


def one_owner(owner: Any) -> str:
    """An owner, and not everyone."""
    if not isinstance(owner, str):
        raise BadInput("a search is about one owner's memory; name it, such as owner=binding.owner")
    return owner


async def is_owner(store: Store, owner: str) -> bool:
    """Whether there is an owner of this name, for itself or joined to another."""
    root, *_ = await store.folder_owners(owner)
    return any(owner in (each.id, *each.joined) for each in await store.owners(limit=1, only=root))
