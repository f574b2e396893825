"""How a memory ends sessions, and what it knows of those that ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime

from afterglow.compaction import Frame, idle_timer
from afterglow.endings import Clearing, Summaries
from afterglow.errors import BadInput
from afterglow.health import Summarization, summarization
from afterglow.primary import Flag
from afterglow.reading import Reading, check_session
from afterglow.search.summaries import Listing, listed
from afterglow.store.summaries import Wanted
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.summaries import CATEGORIES, Summary, is_stale
from afterglow.turns import Place, Session
from afterglow.work import Due
from afterglow.worker import Worker


class Ending(Reading, ABC):
    """The part of a memory that ends sessions."""

    clearing: Clearing
    summarising: Summaries
    _worker: Worker

    @abstractmethod
    def frame_of(self, agent: str) -> Frame: ...

    async def sunset(self, session: Session) -> Session:
        """The session has ended. Its summary is due at once, and done only when it covers all that was said."""
        check_session(session)
        due = Due(kind="summary", at=self.store.clock.now(), reason="sunset-event")
        return await self.store.request_sunset(session.owner, session.id, due)

    async def clear(self, session: Session) -> Session:
        """Close the session: the next message opens another. Turns, summary and facts stay; `restore` undoes it."""
        check_session(session)
        return await self.store.clear_session(session.owner, session.id, self.clearing.announcement(session))

    async def restore(self, session: Session) -> Session:
        """Reopen a closed session, while none has followed it."""
        check_session(session)
        quiet = self.frame_of(session.binding.agent).quiet
        timers = [idle_timer(self.store.clock.now(), quiet)] if quiet.timeout_summarize_seconds else []
        return await self.store.reopen_session(session.owner, session.id, timers)

    async def summarize(self, session: Session, *, force: bool = False) -> Summary | None:
        """The session's summary, made now if it has said something since the last one, or if `force` wants it made anew.

        ClaimLost where another process is making it at this moment.
        """
        check_session(session)
        found = await self.session(session.id, owner=session.owner)
        if (is_stale(found) or force) and found.said_seq:
            due = Due(kind="summary", at=self.store.clock.now(), reason="manual", subject=session.id)
            await self.store.mark_due(session.owner, due)
            act = self.summarising.anew if force else self.summarising.act
            await self._worker.do_now(session.owner, "summary", session.id, act)
        return await self.store.summary_of(session.owner, session.id)

    async def summaries(
        self,
        *,
        owner: Scope,
        limit: int = 5,
        agent: str | None = None,
        category: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        words: str = "",
        before: Summary | Place | None = None,
    ) -> Listing:
        """What sessions were about, the one with the newest turn on top; `words` are those that each must hold."""
        most = self.settings.summaries.results_max
        if not 1 <= limit <= most:
            raise BadInput(f"1 to {most} summaries can be asked for (summaries.results_max); {limit} were")
        if category is not None and category not in CATEGORIES:
            raise BadInput(f"{category!r} is no category; choose one of {', '.join(CATEGORIES)}")
        wanted = Wanted(agent=agent, category=category, since=since, until=until)
        return await listed(self.store, owner, wanted, holding=words, limit=limit, before=before)

    async def health(self, primary: Flag | None = None, *, owner: Scope = EVERYONE) -> Summarization:
        """Whether summaries of sessions are made, how many wait, and why anything is off; of one owner, only what waits."""
        return await summarization(self.store, self.settings, primary or self.settings.primary_or("false"), owner)
