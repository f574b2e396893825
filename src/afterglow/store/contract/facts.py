"""The verbs of facts and of the files that follow them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from afterglow.facts import Fact, FactPlace, FactType
from afterglow.store import (
    audited,
    facts,
    files,
    moving,
    readings,
    schedules,
)
from afterglow.store.contract.running import Running
from afterglow.store.facts import Gathered, Known, WantedFacts
from afterglow.store.files import FileTrouble, Remembered, WrittenFiles
from afterglow.store.readings import Read, Reading
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.turns import Session
from afterglow.work import Claim


class FactVerbs(Running):
    """The verbs of facts and of the files that follow them."""

    async def known_facts(self, owner: str, contents: Sequence[str]) -> Known:
        """Which of these contents are facts of the owner already, or were forgotten; and what new ones are compared with."""
        return await self._read("known_facts", owner, partial(facts.known, contents=contents))

    async def commit_facts(self, owner: str, gathered: Gathered, read: Read | None = None) -> list[Fact]:
        """The facts, the session's watermark and the claim: together. FactsChanged where they must be compared anew.

        ClaimLost where somebody else read the session meanwhile. The files of the owner are made due.
        """
        run = partial(facts.commit_facts, gathered=gathered, read=read, now=self.clock.now())
        return await self._write(
            "commit_facts", owner, self._noted("commit_facts", run, audited.gathered(gathered, read))
        )

    async def approve_fact(self, owner: str, fact: str) -> Fact:
        """A pending fact is active, and takes the place of the one it supersedes."""
        run = partial(facts.approve_fact, fact=fact, now=self.clock.now())
        return await self._write("approve_fact", owner, self._noted("approve_fact", run, audited.changed_fact(fact)))

    async def retype_fact(self, owner: str, fact: str, type: FactType) -> Fact:
        """The fact has this type, and so have its twins. Nothing else of it changes."""
        run = partial(facts.retype_fact, fact=fact, type=type, now=self.clock.now())
        return await self._write("retype_fact", owner, self._noted("retype_fact", run, audited.changed_fact(fact)))

    async def fact(self, scope: Scope, fact: str) -> Fact:
        """One fact, with its proof."""
        return await self._read("fact", scope, partial(facts.fact, fact_id=fact))

    async def superseding_fact(self, owner: str, fact: str) -> Fact | None:
        """The fact that took the place of this one; None where it stands, or was read only after what was said later."""
        return await self._read("superseding_fact", owner, partial(facts.superseding, fact_id=fact))

    async def facts(
        self,
        scope: Scope,
        wanted: WantedFacts | None = None,
        *,
        limit: int = 50,
        before: Fact | FactPlace | None = None,
    ) -> list[Fact]:
        """Facts, the newest first; `before` is the last of the page before."""
        cursor = None if before is None else (before.source_date, before.id)
        run = partial(facts.facts, wanted=wanted or WantedFacts(), limit=limit, before=cursor)
        return await self._read("facts", scope, run)

    async def fact_counts(self, scope: Scope) -> dict[str, int]:
        """How many facts there are of each status."""
        return await self._read("fact_counts", scope, facts.fact_counts)

    async def facts_of_turns(self, owner: str, session: str, first_seq: int, last_seq: int) -> list[Fact]:
        """The facts that are said in these turns, forgotten ones too."""
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

    async def readings(self, scope: Scope, *, limit: int = 20) -> list[tuple[datetime, str, Reading]]:
        """What became of what models claimed, the newest first: when, of which session. Of each owner the last 200 are kept."""
        return await self._read("readings", scope, partial(readings.readings, limit=limit))

    async def exported_facts(
        self, scope: Scope, *, limit: int = 200, after: Fact | None = None
    ) -> list[tuple[Fact, str]]:
        """A page of all facts, forgotten ones too, each with its digest; for export."""
        cursor = ("", "") if after is None else (after.owner, after.id)
        return await self._read("exported_facts", scope, partial(moving.exported_facts, limit=limit, after=cursor))

    async def restore_fact(self, fact: Fact, digest: str) -> bool:
        """The fact is there, and the files are due, unless it is already, or was forgotten here; for import."""
        run = partial(moving.restore_fact, fact=fact, digest=digest, now=self.clock.now())
        return await self._write("restore_fact", fact.owner, run)

    async def mark_read(self, owner: str, session: str, seq: int) -> None:
        """The session was read for facts to this turn at least; for import."""
        await self._write("mark_read", owner, partial(readings.mark_read, session=session, seq=seq))

    async def read_anew(self, owner: str, session: str) -> Session:
        """The session is to be read for facts from its beginning."""
        return await self._write("read_anew", owner, partial(readings.reset_watermark, session=session))

    async def folder_owners(self, owner: str) -> tuple[str, ...]:
        """The owner in whose folder the memory files are, then those joined to it."""
        return await self._read("folder_owners", owner, files.folder_owners)

    async def remembered(self, owner: str) -> Remembered:
        """All that the memory files of the owner are made of, as it is at one moment."""
        return await self._read("remembered", owner, files.remembered)

    async def commit_files(self, owner: str, written: WrittenFiles, claim: Claim | None = None) -> None:
        """These are the files of the owner, and no others; and the end of the claim: or ClaimLost.

        Of an owner who was forgotten, whose files have gone by that, no work and no name stays.
        """
        await self._write("commit_files", owner, partial(files.commit_files, files=written, claim=claim))

    async def file_digests(self, owner: str) -> dict[tuple[str, str], str]:
        """What the files of the owner, and of those joined with it, said when they were last written: by owner and name."""
        return await self._read("file_digests", owner, files.file_digests)

    async def owners_with_files(self) -> list[str]:
        """All owners in whose folders files were written."""
        return await self._read("owners_with_files", EVERYONE, files.owners_with_files)

    async def file_troubles(self, scope: Scope, *, limit: int = 100) -> list[FileTrouble]:
        """The memory files that were left as they are, and why."""
        return await self._read("file_troubles", scope, partial(files.file_troubles, limit=limit))
