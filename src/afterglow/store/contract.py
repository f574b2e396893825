"""What a store promises. Each method is a verb: one transaction that happens whole or not at all.

The verbs are plain functions over a transaction (log.py, queue.py, search.py), written once; a store is a way to run
them. Because a verb is a function of a transaction, none can be held open across a call to a model.

Every verb says whose data it is about: an owner, which takes in the owners joined to it, or EVERYONE. A verb that
changes something is durable when it returns, and passes a fail-point named after it just before and after its commit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from afterglow.clock import Clock, new_fence, new_id, to_us
from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.facts import Fact
from afterglow.primary import Lease
from afterglow.spend import Amount, Call, CallSpend, Reservation, Spend, Usage
from afterglow.store import (
    access,
    backlog,
    blocks,
    facts,
    files,
    forgetting,
    forgetting_owners,
    holding,
    log,
    moving,
    queue,
    recall,
    schedules,
    search,
    sessions,
    spend,
    summaries,
    vectors,
)
from afterglow.store.access import AccessScope, AccessToken
from afterglow.store.blocks import Change, Made, Shown
from afterglow.store.facts import Gathered, Known, Read, WantedFacts
from afterglow.store.files import FileTrouble, Remembered
from afterglow.store.forgetting import Forgotten
from afterglow.store.forgetting_owners import Unfinished
from afterglow.store.holding import Held, Scrubbed
from afterglow.store.log import Asked, Entry
from afterglow.store.recall import Content, Spot
from afterglow.store.search import Indexed, Matches, Record, Sought
from afterglow.store.sessions import Fresh, Totals
from afterglow.store.summaries import Fleet, Wanted
from afterglow.store.transaction import EVERYONE, Scope, Tx
from afterglow.store.vectors import Generation, Unembedded, VectorColumns
from afterglow.summaries import Summary
from afterglow.turns import Binding, Owner, Place, Session, Turn
from afterglow.work import Backlog, Claim, Due, Kind, Limits, State, Work

T = TypeVar("T")


class Store(ABC):
    """The log and everything made from it, on one database."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    # --- the log

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

    # --- search

    async def word_matches(self, owner: str, terms: Sequence[str], sought: Sought | None = None) -> Matches:
        """Turns, facts, blocks and summaries that hold any of the terms, and what ranking needs to know."""
        run = partial(search.word_matches, terms=terms, sought=sought or Sought())
        return await self._read("word_matches", owner, run)

    async def turns_at(self, owner: str, places: Sequence[tuple[str, int]]) -> list[Indexed]:
        """What the index of words holds of the turns at these places (session, seq)."""
        return await self._read("turns_at", owner, partial(search.turns_at, places=places))

    async def indexed(self, owner: str, ids: Sequence[int]) -> tuple[list[Indexed], list[Record]]:
        """What the index of words holds under these numbers, as far as it is the owner's: turns, and all else."""
        return await self._read("indexed", owner, partial(search.indexed, ids=ids))

    async def contents(self, owner: str, spots: Sequence[Spot]) -> list[Content | None]:
        """What these rows of the index stand for; None where that is gone."""
        return await self._read("contents", owner, partial(recall.contents, spots=spots))

    async def use_embedder(self, name: str) -> Generation:
        """This embedder is in use from now on. If another was until now, every vector is due to be made anew."""
        return await self._write("use_embedder", EVERYONE, partial(vectors.use_embedder, name=name))

    async def generations(self, owner: str) -> list[Generation]:
        """The embedders of which the owner may have vectors, the one in use first."""
        return await self._read("generations", owner, vectors.generations)

    async def sweep_vectors(self, *, rows: int = 1000, owners: int = 100) -> int:
        """Of those owners that have something without a vector the vectors are due; the answer is how many were found.

        Where the embedder is new, the next rows of all owners count as such.
        """
        run = partial(vectors.sweep_vectors, rows=rows, owners=owners, now=self.clock.now())
        return await self._write("sweep_vectors", EVERYONE, run)

    async def unembedded(self, owner: str, limit: int) -> list[Unembedded]:
        """The owner's newest records that have no vector, with their texts."""
        return await self._read("unembedded", owner, partial(vectors.unembedded, limit=limit))

    async def commit_vectors(self, claim: Claim, generation: int, made: Sequence[tuple[int, bytes]]) -> None:
        """These records have these vectors, and are without one no more. The claim is kept.

        ClaimLost where it has passed on, or where the embedder is not the one in use.
        """
        run = partial(vectors.commit_vectors, claim=claim, generation=generation, made=made)
        await self._write("commit_vectors", claim.owner, run)

    async def drop_old_vectors(self, owner: str, limit: int) -> int:
        """Vectors of embedders that are not in use are removed, if the owner has all of the one that is."""
        return await self._write("drop_old_vectors", owner, partial(vectors.drop_old_vectors, limit=limit))

    async def vectors_after(
        self, owner: str, generation: int, after: Mapping[str, int], limit: int
    ) -> list[VectorColumns]:
        """The vectors of the owner and those joined to it, in order, from behind the numbers known of each."""
        run = partial(vectors.vectors_after, generation=generation, after=after, limit=limit)
        return await self._read("vectors_after", owner, run)

    async def vectors_of(self, owner: str, generation: int, ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of these rows of the index, as far as they are the owner's."""
        return await self._read("vectors_of", owner, partial(vectors.vectors_of, generation=generation, ids=ids))

    # --- blocks

    async def begin_exchange(
        self,
        owner: str,
        to: Binding | str,
        entry: Entry,
        due: Asked = (),
        named: str | None = None,
        *,
        tail_turns: int = 2000,
        boot: int = 0,
    ) -> tuple[Turn, Shown]:
        """`append`, and all that the context with this turn is made of, in one transaction: nothing comes between."""
        run = partial(
            blocks.begin_exchange,
            to=to,
            entry=entry,
            named=named,
            fresh=self._fresh(),
            due=due,
            tail_turns=tail_turns,
            boot=boot,
            now_us=self._now_us(),
        )
        return await self._write("begin_exchange", owner, run)

    async def context_rows(
        self, scope: Scope, session: str, *, at: int | None = None, tail_turns: int = 2000, boot: int = 0
    ) -> Shown:
        """All that a context is made of: now, or as it was when turn `at` was the newest.

        `boot` is how many summaries of earlier sessions it begins with.
        """
        now_us = self._now_us()
        run = partial(blocks.context_rows, session=session, at=at, tail_turns=tail_turns, boot=boot, now_us=now_us)
        return await self._read("context_rows", scope, run)

    async def blocks(self, scope: Scope, session: str) -> list[Block]:
        """Every block of the session by number, those that others took the place of too."""
        return await self._read("blocks", scope, partial(blocks.blocks, session=session))

    async def block(self, scope: Scope, session: str, number: int) -> Block:
        """One block."""
        return await self._read("block", scope, partial(blocks.block, session=session, number=number))

    async def made(self, scope: Scope, session: str) -> Made:
        """The session with its fence and every block and report it ever had, as they were at one moment."""
        return await self._read("made", scope, partial(blocks.made, session=session))

    async def reports(self, scope: Scope, session: str) -> list[Report]:
        """Every report of the session's sources, those that others took the place of too."""
        return await self._read("reports", scope, partial(blocks.reports, session=session))

    async def commit_blocks(
        self, owner: str, session: str, change: Change, claim: Claim | None = None, more: Sequence[Due] = ()
    ) -> Session:
        """Blocks, reports, the session's watermark and the end of the claim: together, or ClaimLost.

        Only if the session is at the version that the change began at. `more` is made due in the same transaction.
        """
        run = partial(
            blocks.commit_blocks, session=session, change=change, claim=claim, more=more, at_us=self._now_us()
        )
        return await self._write("commit_blocks", owner, run)

    async def restore_blocks(
        self, session: Session, blocks_given: Sequence[Block], reports: Sequence[Report], fence: str, *, stones: int = 0
    ) -> None:
        """The session has these blocks and reports, unless it has newer ones; for import.

        Nor if more of its turns are forgotten here than `stones`, those that the import itself brought so.
        """
        run = partial(
            blocks.restore_blocks, given=session, blocks=blocks_given, reports=reports, fence=fence, stones=stones
        )
        await self._write("restore_blocks", session.owner, run)

    # --- quiet and ended sessions

    async def request_sunset(self, owner: str, session: str, due: Due) -> Session:
        """The session has ended, and the summary of all it said is due: done only when that covers it."""
        return await self._write("request_sunset", owner, partial(summaries.request_sunset, session=session, due=due))

    async def clear_session(self, owner: str, session: str, entry: Entry, claim: Claim | None = None) -> Session:
        """The session is closed, and its log says so. With a claim, only if it is still quiet; or ClaimLost."""
        run = partial(summaries.clear_session, session=session, claim=claim, entry=entry, at_us=self._now_us())
        return await self._write("clear_session", owner, run)

    async def reopen_session(self, owner: str, session: str, due: Sequence[Due] = ()) -> Session:
        """A closed session goes on, while none has followed it on its binding; its timers are set in the same transaction."""
        return await self._write("reopen_session", owner, partial(summaries.reopen_session, session=session, due=due))

    async def commit_summary(
        self, owner: str, summary: Summary, *, before_seq: int, claim: Claim | None = None
    ) -> Session:
        """The summary, the session's watermark and the end of the claim: together, or ClaimLost.

        Only if the session's summary still covers the turns to `before_seq`. If it ended meanwhile, it is due again.
        """
        run = partial(
            summaries.commit_summary, summary=summary, before_seq=before_seq, claim=claim, now=self.clock.now()
        )
        return await self._write("commit_summary", owner, run)

    async def summaries(
        self, scope: Scope, wanted: Wanted | None = None, *, limit: int = 5, before: Summary | Place | None = None
    ) -> list[Summary]:
        """The newest summary of each session, the session with the newest turn first."""
        run = partial(summaries.summaries, wanted=wanted or Wanted(), limit=limit, before=_key(before))
        return await self._read("summaries", scope, run)

    async def summary_of(self, scope: Scope, session: str) -> Summary | None:
        """The session's newest summary, if it has one."""
        return await self._read("summary_of", scope, partial(summaries.summary_of, session=session))

    async def summaries_at(self, owner: str, at: datetime, *, besides: str, limit: int) -> list[Summary]:
        """The newest summaries of the owner's sessions as they were at a moment, without that of one session."""
        run = partial(summaries.summaries_at, at_us=to_us(at), besides=besides, limit=limit)
        return await self._read("summaries_at", owner, run)

    async def stale_sessions(
        self, scope: Scope, *, since: datetime | None = None, limit: int = 100, before: Session | Place | None = None
    ) -> list[Session]:
        """Sessions that said something since their last summary, newest first."""
        run = partial(summaries.stale_sessions, since=since, limit=limit, before=_key(before))
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

    # --- facts

    async def known_facts(self, owner: str, contents: Sequence[str]) -> Known:
        """Which of these contents are facts of the owner already, or were forgotten; and what new ones are compared with."""
        return await self._read("known_facts", owner, partial(facts.known, contents=contents))

    async def commit_facts(self, owner: str, gathered: Gathered, read: Read | None = None) -> list[Fact]:
        """The facts, the session's watermark and the claim: together. FactsChanged where they must be compared anew.

        ClaimLost where somebody else read the session meanwhile. The files of the owner are made due.
        """
        run = partial(facts.commit_facts, gathered=gathered, read=read, now=self.clock.now())
        return await self._write("commit_facts", owner, run)

    async def approve_fact(self, owner: str, fact: str) -> Fact:
        """A pending fact is active, and takes the place of the one it supersedes."""
        return await self._write("approve_fact", owner, partial(facts.approve_fact, fact=fact, now=self.clock.now()))

    async def forget_fact(self, owner: str, fact: str) -> Fact:
        """Of the fact nothing stays but what keeps it from coming back."""
        return await self._write("forget_fact", owner, partial(facts.forget_fact, fact=fact, now=self.clock.now()))

    async def fact(self, scope: Scope, fact: str) -> Fact:
        """One fact, with its proof."""
        return await self._read("fact", scope, partial(facts.fact, fact_id=fact))

    async def facts(
        self, scope: Scope, wanted: WantedFacts | None = None, *, limit: int = 50, before: Fact | None = None
    ) -> list[Fact]:
        """Facts, the newest first; `before` is the last of the page before."""
        cursor = None if before is None else (before.source_date, before.id)
        run = partial(facts.facts, wanted=wanted or WantedFacts(), limit=limit, before=cursor)
        return await self._read("facts", scope, run)

    async def fact_counts(self, scope: Scope) -> dict[str, int]:
        """How many facts there are of each status."""
        return await self._read("fact_counts", scope, facts.fact_counts)

    async def facts_of_turns(self, owner: str, session: str, first_seq: int, last_seq: int) -> list[Fact]:
        """The facts that these turns prove, forgotten ones too."""
        run = partial(facts.facts_of_turns, session=session, first_seq=first_seq, last_seq=last_seq)
        return await self._read("facts_of_turns", owner, run)

    async def schedule_kept(self, name: str) -> datetime | None:
        """When the schedule of this name was last kept."""
        return await self._read("schedule_kept", EVERYONE, partial(schedules.schedule_kept, name=name))

    async def keep_schedule(
        self,
        name: str,
        before: datetime | None,
        *,
        agents: Sequence[str] = (),
        besides: Sequence[str] = (),
        limit: int = 1000,
    ) -> int:
        """The schedule is kept now, if it was last kept when we think; sessions with something new are due to be read.

        Of these agents, or of all besides those. The answer is how many sessions. A schedule that was never kept only begins.
        """
        run = partial(
            schedules.keep_schedule,
            name=name,
            before=before,
            agents=agents,
            besides=besides,
            limit=limit,
            now=self.clock.now(),
        )
        return await self._write("keep_schedule", EVERYONE, run)

    async def readings(self, scope: Scope, *, limit: int = 20) -> list[tuple[datetime, str, facts.Reading]]:
        """What became of what models claimed, the newest first: when, of which session."""
        return await self._read("readings", scope, partial(facts.readings, limit=limit))

    async def exported_facts(
        self, scope: Scope, *, limit: int = 200, after: Fact | None = None
    ) -> list[tuple[Fact, str]]:
        """A page of all facts, forgotten ones too, each with its digest; for export."""
        cursor = ("", "") if after is None else (after.owner, after.id)
        return await self._read("exported_facts", scope, partial(moving.exported_facts, limit=limit, after=cursor))

    async def restore_fact(self, fact: Fact, digest: str) -> bool:
        """The fact is there, unless it is already, or was forgotten here; for import."""
        return await self._write("restore_fact", fact.owner, partial(moving.restore_fact, fact=fact, digest=digest))

    async def mark_read(self, owner: str, session: str, seq: int) -> None:
        """The session was read for facts to this turn at least; for import."""
        await self._write("mark_read", owner, partial(moving.mark_read, session=session, seq=seq))

    async def read_anew(self, owner: str, session: str) -> Session:
        """The session is to be read for facts from its beginning."""
        return await self._write("read_anew", owner, partial(facts.reset_watermark, session=session))

    # --- the memory files

    async def folder_owners(self, owner: str) -> tuple[str, ...]:
        """The owner in whose folder the memory files are, then those joined to it."""
        return await self._read("folder_owners", owner, files.folder_owners)

    async def remembered(self, owner: str) -> Remembered:
        """All that the memory files of the owner are made of, as it is at one moment."""
        return await self._read("remembered", owner, files.remembered)

    async def commit_files(self, owner: str, troubles: Sequence[FileTrouble], claim: Claim | None = None) -> None:
        """These files of the owner, and no others, were left as they are; and the end of the claim: or ClaimLost."""
        await self._write("commit_files", owner, partial(files.commit_files, troubles=troubles, claim=claim))

    async def file_troubles(self, scope: Scope, *, limit: int = 100) -> list[FileTrouble]:
        """The memory files that were left as they are, and why."""
        return await self._read("file_troubles", scope, partial(files.file_troubles, limit=limit))

    # --- forgetting

    async def forget_turns(self, owner: str, session: str, first_seq: int, last_seq: int) -> Forgotten:
        """These turns are empty stones, blocks over them are made anew of what is left, summaries of them are gone, and
        facts that only they prove. So many in one transaction as nobody has to wait for long: where the answer is not
        `done`, call again. What was read before cannot be committed any more.
        """
        salt, now = self._salt(), self.clock.now()
        run = partial(
            forgetting.forget_turns, session=session, first_seq=first_seq, last_seq=last_seq, salt=salt, now=now
        )
        return await self._write("forget_turns", owner, run)

    async def forget_session(self, owner: str, session: str) -> Forgotten:
        """The session is closed for good, and goes from its end on, with all that was made of it; until `done`, call again."""
        run = partial(forgetting.forget_session, session=session, salt=self._salt(), now=self.clock.now())
        return await self._write("forget_session", owner, run)

    async def forget_owner(self, owner: str, *, keep_stones: bool = True) -> Forgotten:
        """All sessions of the owner are closed for good, its facts are gone, whoever was joined to it stands for itself,
        and its sessions go one by one; until `done`, call again. What is said meanwhile belongs to a new beginning.

        With stones its name and digests stay, which keep an import from bringing it back; without them nothing does.
        """
        run = partial(
            forgetting_owners.forget_owner,
            owner=owner,
            keep_stones=keep_stones,
            salt=self._salt(),
            now=self.clock.now(),
        )
        return await self._write("forget_owner", EVERYONE, run)

    async def unfinished_forgetting(self) -> list[Unfinished]:
        """The owners and sessions of which forgetting has begun and is not done."""
        return await self._read("unfinished_forgetting", EVERYONE, forgetting_owners.unfinished)

    async def is_forgotten(self, given: Owner | Session) -> bool:
        """Whether this owner or this session was forgotten; for import."""
        owner = given.id if isinstance(given, Owner) else given.owner
        return await self._read("is_forgotten", owner, partial(forgetting_owners.is_forgotten, given=given))

    async def restore_summary(self, owner: str, summary: Summary, *, stones: int = 0) -> None:
        """The session has this summary, unless it has a newer one or more of it is forgotten than `stones`; for import."""
        run = partial(forgetting_owners.restore_summary, summary=summary, stones_known=stones, now=self.clock.now())
        await self._write("restore_summary", owner, run)

    async def rows_holding(self, words: Sequence[str]) -> list[Held]:
        """The tables of everyone in which any of these words stands, and where."""
        return await self._read("rows_holding", EVERYONE, partial(holding.rows_holding, words=words))

    @abstractmethod
    async def scrub(self, *, whole: bool = False) -> Scrubbed:
        """What was removed is gone from the database's files too, as far as it can; `whole` writes all of them anew."""

    # --- sessions

    async def open_session(self, binding: Binding, named: str | None = None, owner: str | None = None) -> Session:
        """The binding's open session, or a new one; with a name, that session, made if it is missing."""
        run = partial(sessions.open_session, binding=binding, named=named, fresh=self._fresh(), at_us=self._now_us())
        return await self._write("open_session", owner or binding.owner, run)

    async def close_session(self, owner: str, session: str) -> Session:
        """The session is closed: the next message on its binding opens another. Its turns stay."""
        return await self._write(
            "close_session", owner, partial(sessions.close_session, session=session, at_us=self._now_us())
        )

    async def session(self, scope: Scope, session: str) -> Session:
        """The session of this name."""
        return await self._read("session", scope, partial(sessions.session, session_id=session))

    async def current_session(self, binding: Binding, owner: str | None = None) -> Session | None:
        """The session that the binding's next message would go to, if one is open."""
        return await self._read(
            "current_session", owner or binding.owner, partial(sessions.current_session, binding=binding)
        )

    async def sessions(self, scope: Scope, *, limit: int = 50, before: Session | Place | None = None) -> list[Session]:
        """Sessions, the one with the newest turn first; `before` is the last of the page before."""
        return await self._read("sessions", scope, partial(sessions.sessions, limit=limit, before=_key(before)))

    async def sessions_by_name(self, scope: Scope, *, limit: int = 50, after: Session | None = None) -> list[Session]:
        """Sessions in an order that no new turn changes: for reading all of them."""
        cursor = ("", "") if after is None else (after.owner, after.id)
        return await self._read(
            "sessions_by_name", scope, partial(sessions.sessions_by_name, limit=limit, after=cursor)
        )

    async def totals(self, scope: Scope) -> Totals:
        """How many owners, sessions, turns and tokens there are."""
        return await self._read("totals", scope, sessions.totals)

    # --- owners

    async def owners(self, *, limit: int = 1000, after: str = "") -> list[Owner]:
        """Owners by name, each with those joined to it."""
        return await self._read("owners", EVERYONE, partial(sessions.owners, limit=limit, after=after))

    async def join(self, owner: str, to: str) -> Owner:
        """From now on the first is part of the second: one memory. No row of theirs is rewritten; their files are due."""
        return await self._write("join", EVERYONE, partial(files.join, owner=owner, to=to, now=self.clock.now()))

    async def part(self, owner: str) -> Owner:
        """The owner stands for itself again; the files of both are due."""
        return await self._write("part", EVERYONE, partial(files.part, owner=owner, now=self.clock.now()))

    # --- import

    async def restore_owner(self, owner: Owner) -> None:
        """The owner is there, and those it had joined to it are joined to it."""
        await self._write("restore_owner", EVERYONE, partial(sessions.restore_owner, owner=owner))

    async def restore_session(self, session: Session) -> int:
        """The session is there, as given; the answer is how many of its turns are there already."""
        run = partial(sessions.restore_session, given=session, fence=new_fence(self.clock))
        return await self._write("restore_session", session.owner, run)

    async def restore_turns(self, owner: str, session: str, first_seq: int, entries: Sequence[Entry]) -> None:
        """These turns follow the ones that are there, or nothing is changed."""
        run = partial(log.restore_turns, session_id=session, first_seq=first_seq, entries=entries)
        await self._write("restore_turns", owner, run)

    # --- work

    async def mark_due(self, owner: str, due: Due) -> None:
        """The work is due at that time: one row however often it is asked for."""
        await self._write("mark_due", owner, partial(queue.ask, due=due))

    async def claim(self, kinds: Sequence[Kind], *, limit: int, holder: str, limits: Limits) -> list[Claim]:
        """Ready work, on lease to the holder, fairly between owners. Nobody else gets it until the lease ends."""
        tokens = [self.clock.bits(62) for _ in range(limit)]
        run = partial(queue.claim, kinds=kinds, limit=limit, holder=holder, tokens=tokens, limits=limits)
        return await self._write("claim", EVERYONE, run)

    async def claim_one(
        self, owner: str, kind: Kind, subject: str, *, holder: str, limits: Limits, anyway: bool = False
    ) -> Claim | None:
        """This piece of work, on lease to the holder, if it is ready; or `anyway`, if nobody else has it."""
        run = partial(
            queue.claim_one,
            kind=kind,
            subject=subject,
            holder=holder,
            token=self.clock.bits(62),
            limits=limits,
            anyway=anyway,
        )
        return await self._write("claim_one", owner, run)

    async def renew(self, claim: Claim, limits: Limits) -> Claim:
        """The lease runs from now again, or ClaimLost."""
        return await self._write("renew", claim.owner, partial(queue.renew, held=claim, limits=limits))

    async def finish(self, claim: Claim, more: Sequence[Due] = ()) -> None:
        """The work is done, or ClaimLost. What was asked for meanwhile stays due at its own time; `more` is due too."""
        await self._write("finish", claim.owner, partial(queue.finish_and_ask, held=claim, more=more))

    async def give_back(
        self, claim: Claim, error: str, *, wait_seconds: float, park: bool, counts: bool = True
    ) -> None:
        """The attempt failed: the work waits so long, parked or not, and the error is kept; or ClaimLost.

        Without `counts` it was no fault of the work, and is not held against it.
        """
        run = partial(queue.give_back, held=claim, error=error, wait_seconds=wait_seconds, park=park, counts=counts)
        await self._write("give_back", claim.owner, run)

    async def retry(self, scope: Scope, kind: Kind | None = None, subject: str | None = None) -> int:
        """What failed or is parked is due at once with its attempts forgotten; the answer is how much of it."""
        return await self._write("retry", scope, partial(queue.retry, kind=kind, subject=subject))

    async def work_list(
        self, scope: Scope, state: State | None = None, limit: int = 100, *, kind: Kind | None = None
    ) -> list[Work]:
        """Work in a state and of a kind, what is ready first at the top."""
        return await self._read("work_list", scope, partial(backlog.work_list, state=state, kind=kind, limit=limit))

    async def backlog(self, scope: Scope, kind: Kind | None = None) -> Backlog:
        """How much work there is in each state."""
        return await self._read("backlog", scope, partial(backlog.backlog, kind=kind))

    async def backlog_by_kind(self, scope: Scope) -> dict[Kind, Backlog]:
        """The same for each kind that there is work of, at one moment."""
        return await self._read("backlog_by_kind", scope, backlog.backlog_by_kind)

    @abstractmethod
    async def wait_for_work(self, seconds: float) -> None:
        """Return when work has become due through this store, or after so many seconds."""

    # --- spend

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

    # --- tokens that programs show to be let in

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

    # --- the database

    @property
    @abstractmethod
    def where(self) -> str:
        """Where the data is, with no password in it."""

    @abstractmethod
    async def check(self) -> list[str]:
        """What is wrong with the database; nothing, for a sound one."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let go of everything."""

    @abstractmethod
    async def _write(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T: ...

    @abstractmethod
    async def _read(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T: ...

    def _fresh(self) -> Fresh:
        return Fresh(id=new_id(self.clock), fence=new_fence(self.clock))

    def _salt(self) -> str:
        return f"{self.clock.bits(256):064x}"

    def _now_us(self) -> int:
        return to_us(self.clock.now())


def _key(before: Session | Summary | Place | None) -> tuple[int, str, str] | None:
    """The place that a list goes on behind, as it is compared."""
    place = None if before is None else before.place
    return None if place is None else (to_us(place.last_at), place.owner, place.session)
