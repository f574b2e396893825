"""The verbs of sessions that are quiet or have ended, and of who works unasked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from afterglow.clock import to_us
from afterglow.primary import Lease
from afterglow.store import audited, summaries
from afterglow.store.contract.running import Running, key_of
from afterglow.store.log import Entry
from afterglow.store.summaries import Fleet, Wanted
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.summaries import Summary
from afterglow.turns import Place, Session
from afterglow.work import Claim, Due


class QuietVerbs(Running):
    """The verbs of sessions that are quiet or have ended, and of who works unasked."""

    async def request_sunset(self, owner: str, session: str, due: Due) -> Session:
        """The session has ended, and the summary of all it said is due: done only when that covers it."""
        run = partial(summaries.request_sunset, session=session, due=due)
        return await self._write("request_sunset", owner, self._noted("request_sunset", run, audited.of_session()))

    async def clear_session(self, owner: str, session: str, entry: Entry, claim: Claim | None = None) -> Session:
        """The session is closed, and its log says so. With a claim, only if it is still quiet; or ClaimLost."""
        run = partial(summaries.clear_session, session=session, claim=claim, entry=entry, at_us=self._now_us())
        return await self._write("clear_session", owner, self._noted("clear_session", run, audited.state_of(session)))

    async def reopen_session(self, owner: str, session: str, due: Sequence[Due] = ()) -> Session:
        """A closed session goes on, while none has followed it on its binding; its timers are set in the same transaction."""
        run = partial(summaries.reopen_session, session=session, due=due)
        return await self._write("reopen_session", owner, self._noted("reopen_session", run, audited.state_of(session)))

    async def commit_summary(
        self, owner: str, summary: Summary, *, before_seq: int, claim: Claim | None = None
    ) -> Session:
        """The summary, the session's watermark and the end of the claim: together, or ClaimLost.

        Only if the session's summary still covers the turns to `before_seq`. If it ended meanwhile, it is due again.
        """
        run = partial(
            summaries.commit_summary, summary=summary, before_seq=before_seq, claim=claim, now=self.clock.now()
        )
        look = audited.of_session({"first_seq": before_seq + 1, "last_seq": summary.last_seq})
        return await self._write("commit_summary", owner, self._noted("commit_summary", run, look))

    async def summaries(
        self, scope: Scope, wanted: Wanted | None = None, *, limit: int = 5, before: Summary | Place | None = None
    ) -> list[Summary]:
        """The newest summary of each session, the session with the newest turn first."""
        run = partial(summaries.summaries, wanted=wanted or Wanted(), limit=limit, before=key_of(before))
        return await self._read("summaries", scope, run)

    async def summary_of(self, scope: Scope, session: str) -> Summary | None:
        """The session's newest summary, if it has one."""
        return await self._read("summary_of", scope, partial(summaries.summary_of, session=session))

    async def titles(self, scope: Scope, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """What the sessions at these places, by owner and name, are about: the title of each one's newest summary."""
        return await self._read("titles", scope, partial(summaries.titles, places=places))

    async def summaries_at(self, owner: str, at: datetime, *, besides: str, limit: int) -> list[Summary]:
        """The newest summaries of the owner's sessions as they were at a moment, without that of one session."""
        run = partial(summaries.summaries_at, at_us=to_us(at), besides=besides, limit=limit)
        return await self._read("summaries_at", owner, run)

    async def stale_sessions(
        self, scope: Scope, *, since: datetime | None = None, limit: int = 100, before: Session | Place | None = None
    ) -> list[Session]:
        """Sessions that said something since their last summary, newest first."""
        run = partial(summaries.stale_sessions, since=since, limit=limit, before=key_of(before))
        return await self._read("stale_sessions", scope, run)

    async def sweep(
        self, reason: str, *, quiet_before: datetime, since: datetime | None = None, newest: int, oldest: int
    ) -> int:
        """The summaries of stale sessions that are quiet or closed are due; the answer is how many."""
        run = partial(
            summaries.sweep,
            reason=reason,
            quiet_before=quiet_before,
            since=since,
            newest=newest,
            oldest=oldest,
            now=self.clock.now(),
        )
        return await self._write("sweep", EVERYONE, run)

    async def take_primary(self, holder: str, token: int, *, lease_seconds: float) -> Lease:
        """The primary's lease, taken or renewed by whoever shows this token; or that of another who has it."""
        run = partial(summaries.take_primary, holder=holder, token=token, lease_seconds=lease_seconds)
        return await self._write("take_primary", EVERYONE, run)

    async def leave_primary(self, token: int) -> None:
        """Whoever shows this token is primary no more."""
        await self._write("leave_primary", EVERYONE, partial(summaries.leave_primary, token=token))

    async def fleet(self) -> Fleet:
        """Who is primary, and what it last did unasked."""
        return await self._read("fleet", EVERYONE, summaries.fleet)
