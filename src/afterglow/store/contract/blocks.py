"""The verbs of contexts: blocks and reports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.store import audited, blocks
from afterglow.store.blocks import Change, Made, Shown
from afterglow.store.contract.running import Running
from afterglow.store.log import Asked, Entry
from afterglow.store.transaction import Scope
from afterglow.turns import Binding, Session, Turn
from afterglow.work import Claim, Due


class BlockVerbs(Running):
    """The verbs of contexts: blocks and reports."""

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
        return await self._write("commit_blocks", owner, self._noted("commit_blocks", run, audited.folded(change)))

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
