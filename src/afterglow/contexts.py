"""The act behind work of kind `context`: read, fold or merge, ask the sources, and give back the commit.

One claim makes one step: fold the turns that the reason names, or merge a full level, or replace a choice of sentences by a
good summary. Where another step remains, the commit leaves the work due. No transaction is open while the model and the
sources are asked; the commit is refused if anybody compacted the session meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from afterglow.blocks import WINDOW, block_of, material_of, material_of_blocks, tokens_max_for
from afterglow.clock import new_fence
from afterglow.compaction import (
    REASONS,
    SMALL_TOKENS,
    Block,
    Frame,
    Reason,
    block_tokens_max,
    choose_merge,
    choose_span,
    ended,
    idle_timer,
    is_met,
    is_quiet,
    parts_of,
)
from afterglow.context import Report
from afterglow.errors import ClaimLost, ModelError, ModelTooLong
from afterglow.fold import Material, Order, Written, extract, fold
from afterglow.model import Model
from afterglow.model.offline import NAME as OFFLINE
from afterglow.sources.asking import Wanted, ask_all
from afterglow.store.blocks import Change, Shown
from afterglow.store.contract import Store
from afterglow.tokens import estimate
from afterglow.turns import Session, Turn
from afterglow.work import Claim, Due
from afterglow.worker import Commit

_BITE_TURNS = 1_000
"""The most turns that one claim folds; a longer backlog takes several."""
_BITE_PARTS = 6
"""The most calls for summaries that one claim makes before it commits."""
_PROMPT_TOKENS = 800
"""What the instructions and the answer take of a summariser's window."""
_SHRINKS_MOST = 20
"""A block stands for no more than so many times its own tokens, unless one exchange is longer than that."""
ASKED = "asked for"
"""The reason of an idle session that somebody wants folded at once, whoever wrote last."""
_REDO_SECONDS = 3600
_CLOCKS_APART_SECONDS = 30

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Means:
    """What the contexts of one agent's sessions are made with."""

    frame: Frame
    model: Model
    summarising: Model
    """The model that writes summaries of whole sessions."""
    summary_tokens_max: int
    extracting: Model
    """The model that finds facts."""
    part_tokens: int
    answer_tokens_max: int
    """The most tokens that it reads at once for them, and answers with."""
    extracts: bool
    """Whether sessions are read for facts unasked."""
    sources: Sequence[Wanted]
    deadline_seconds: float
    gap_seconds: float


MeansOf = Callable[[str], Means]


class Contexts:
    """Keeps the contexts of sessions small."""

    def __init__(self, store: Store, means_of: MeansOf) -> None:
        self._store = store
        self._means_of = means_of

    async def act(self, claim: Claim) -> Commit | None:
        """The next step for the session that the claim is about, and its commit."""
        shown = await self._store.context_rows(claim.owner, claim.subject, tail_turns=0)
        step = _Step(self._store, shown, self._means_of(shown.session.binding.agent))
        found = await step.next()
        if found is None:
            return partial(self._store.finish, claim, step.later(shown.blocks))
        return self._commit(claim, *found)

    async def idle(self, claim: Claim) -> Commit | None:
        """Where nobody has written for a while, the whole session folded; else the timer set anew."""
        shown = await self._store.context_rows(claim.owner, claim.subject, tail_turns=0)
        session, means = shown.session, self._means_of(shown.session.binding.agent)
        # The database's clock gave the claim; what is missing by this machine's may be the difference of the two.
        apart = min(_CLOCKS_APART_SECONDS, means.frame.quiet.timeout_summarize_seconds / 10)
        now = self._store.clock.now() + timedelta(seconds=apart)
        # Where that failed it is tried again like any other, when nobody writes.
        is_asked = claim.reason == ASKED and claim.attempt == 1 and session.state == "open"
        if is_asked or is_quiet(session, means.frame.quiet, now):
            return self._commit(claim, *await _Step(self._store, shown, means).go_idle(claim.reason))
        if session.state != "open" or session.real_at is None or not means.frame.quiet.timeout_summarize_seconds:
            return None
        return partial(self._store.finish, claim, [idle_timer(session.real_at, means.frame.quiet)])

    def _commit(self, claim: Claim, change: Change, more: Sequence[Due]) -> Commit:
        async def commit() -> None:
            session = await self._store.commit_blocks(claim.owner, claim.subject, change, claim, more)
            _log.info(
                "%s of session %s: %s, turns to %d in blocks of %d tokens, version %d",
                claim.kind,
                session.id,
                ", ".join(sorted({block.reason for block in change.blocks})) or "nothing to fold",
                session.folded.to_seq,
                session.folded.block_tokens,
                session.folded.version,
            )

        return commit

    async def folded_within(self, session: Session, tokens_max: int) -> Shown:
        """The session with no more outside its blocks than so many tokens, so that a model can read it all.

        What has to be folded for that is committed bite by bite: whoever is broken off goes on from there.
        """
        while True:
            shown = await self._store.context_rows(session.owner, session.id, tail_turns=_BITE_TURNS)
            whole = not shown.tail or shown.tail[0].seq == shown.session.folded.to_seq + 1
            if whole and sum(turn.tokens for turn in shown.tail) <= tokens_max:
                return shown
            change = await _Step(self._store, shown, self._means_of(session.binding.agent)).oldest()
            if change is None:
                return shown
            with suppress(ClaimLost):  # somebody else folded it meanwhile: less is left, as the next look shows
                await self._store.commit_blocks(session.owner, session.id, change)


Found = tuple[Change, Sequence[Due]]
"""What a step changes, and what is to be done after it."""


class _Step:
    """One step of compaction, chosen by what the session is like: the row of work only says when to look."""

    def __init__(self, store: Store, shown: Shown, means: Means) -> None:
        self._store = store
        self._shown = shown
        self._session = shown.session
        self._means = means
        self._frame = means.frame
        self._fence = shown.fence or new_fence(store.clock)
        self._redone_in_vain = False

    async def next(self) -> Found | None:
        wanted = self._session.folded.wanted
        if wanted in REASONS and (found := await self._fold(wanted)):
            return found
        merging = choose_merge(self._shown.blocks, self._frame.limits.fanout)
        if (old := self._to_redo(merging)) and (found := await self._redo(old)):
            return found
        return await self._merge(merging) if merging else None

    def later(self, blocks: Sequence[Block]) -> list[Due]:
        """When to look at the session again, where nothing is left to do now."""
        now = self._store.clock.now()
        if choose_merge(blocks, self._frame.limits.fanout):
            return [Due(kind="context", at=now, reason="merge")]
        extracts = [block for block in blocks if self._is_poor(block)]
        if not extracts:
            return []
        again = now + timedelta(days=1) if self._redone_in_vain else max(now, min(map(_ripe_at, extracts)))
        return [Due(kind="context", at=again, reason="redo")]

    async def _fold(self, reason: Reason) -> Found | None:
        session = self._session
        if is_met(session, reason, self._frame.limits):
            return None
        tail = await self._turns(session.folded.to_seq + 1, session.turns)
        beside = replace(session, overhead_tokens=max(session.overhead_tokens, await self._beside()))
        span = choose_span(tail, beside, reason, self._frame.limits)
        if span is None:
            return None
        parts = self._parts([turn for turn in tail if turn.seq <= span.last_seq])
        bite = parts[:_BITE_PARTS]
        blocks, reports = await self._folded(bite, reason)
        # Until all is folded the session does not count as compacted, so that the next claim goes on with it.
        if blocks[-1].last_seq < span.last_seq or tail[-1].seq < session.turns:
            return self._change(blocks, reports=reports), [
                Due(kind="context", at=self._store.clock.now(), reason=reason)
            ]
        change = self._change(blocks, reports=reports, turns=session.turns, exchanges=session.exchanges)
        return change, self.later([*self._shown.blocks, *self._dated(blocks)])

    async def _beside(self) -> int:
        """The tokens that the context has beside blocks and tail: what sources report, and what earlier sessions left."""
        session, boot = self._session, self._frame.boot
        known_at = session.boot_at or self._store.clock.now()
        earlier = await self._store.summaries_at(session.owner, known_at, besides=session.id, limit=boot.summaries)
        return sum(report.tokens for report in self._shown.reports) + (boot.tokens_max if earlier else 0)

    async def oldest(self) -> Change | None:
        """A bite of the oldest turns outside blocks, folded; all but the last exchange can be."""
        session = self._session
        tail = await self._turns(session.folded.to_seq + 1, session.turns)
        span = choose_span(tail, session, "manual", replace(self._frame.limits, keep_recent=0))
        if span is None:
            return None
        parts = self._parts([turn for turn in tail if turn.seq <= span.last_seq])
        return self._change(await self._fold_parts(parts[:_BITE_PARTS], "summary"))

    async def go_idle(self, reason: str) -> Found:
        """All of it is folded, and what follows the end of a conversation is due."""
        session, now = self._session, self._store.clock.now()
        tail = await self._turns(session.folded.to_seq + 1, session.turns)
        parts = self._parts(tail)
        bite = parts[:_BITE_PARTS]
        blocks, reports = await self._folded(bite, "idle") if bite else ([], [])
        if (blocks[-1].last_seq if blocks else session.folded.to_seq) < session.turns:
            return self._change(blocks, reports=reports), [Due(kind="idle", at=now, reason=reason)]
        change = self._change(blocks, reports=reports, turns=session.turns, exchanges=session.exchanges)
        seconds = self._frame.quiet.timeout_clear_seconds
        clearing = (
            [Due(kind="clear", at=now + timedelta(seconds=seconds), reason="idle", rearm=True)] if seconds else []
        )
        following = self.later([*self._shown.blocks, *self._dated(blocks)])
        return replace(change, idle=(*clearing, *ended(now, "idle"))), following

    async def _merge(self, blocks: Sequence[Block]) -> Found:
        material = material_of_blocks(blocks)
        level = blocks[0].level + 1
        try:
            written = await self._written(material, "merge", level)
        except ModelTooLong:
            written = extract(material, self._tokens_max(material, level))
        merged = block_of(self._session.id, level, blocks[0], blocks[-1], material, written, "merge")
        merged = replace(merged, children=tuple(block.number for block in blocks))
        left = [block for block in self._shown.blocks if block not in blocks]
        return self._change([merged], replaces=merged.children), self.later([merged, *left])

    async def _redo(self, old: Block) -> Found | None:
        turns = await self._turns(old.first_seq, old.last_seq)
        new = await self._fold_parts(self._parts(turns), "redo")
        if any(block.extract for block in new) or new[-1].last_seq < old.last_seq:
            self._redone_in_vain = True  # no better than what is there
            return None
        left = [block for block in self._shown.blocks if block is not old]
        return self._change(new, replaces=(old.number,)), self.later([*left, *new])

    async def _folded(self, parts: Sequence[Sequence[Turn]], reason: str) -> tuple[list[Block], list[Report]]:
        """The blocks of these turns, and what the sources say of their time, asked meanwhile."""
        turns = [turn for part in parts for turn in part]
        asking = asyncio.create_task(self._ask(turns, self._store.clock.now()))
        try:
            return await self._fold_parts(parts, reason), await asking
        finally:
            asking.cancel()

    def _parts(self, turns: Sequence[Turn]) -> list[list[Turn]]:
        """The turns in runs of which each becomes a block: no longer than the model can read or a block can stand for."""
        room = self._means.model.window_tokens - _PROMPT_TOKENS
        stands_for = _SHRINKS_MOST * block_tokens_max(self._shown.blocks, 0, self._frame.limits)
        return parts_of(turns, max(1, min(room, stands_for)))

    async def _fold_parts(self, parts: Sequence[Sequence[Turn]], reason: str) -> list[Block]:
        """The blocks of these parts; those before a failure are kept, since they are paid for."""
        blocks: list[Block] = []
        for part in parts:
            try:
                blocks += await self._fold_part(part, reason)
            except ModelError:
                if not blocks:
                    raise
                break
        return blocks

    async def _fold_part(self, turns: Sequence[Turn], reason: str) -> list[Block]:
        material = await asyncio.to_thread(material_of, turns, self._frame.zone)
        try:
            written = await self._written(material, "fold", 0)
        except ModelTooLong:
            if len(turns) == 1:
                written = extract(material, self._tokens_max(material, 0))
            else:
                middle = len(turns) // 2
                return [*await self._fold_part(turns[:middle], reason), *await self._fold_part(turns[middle:], reason)]
        return [block_of(self._session.id, 0, turns[0], turns[-1], material, written, reason)]

    async def _written(self, material: Material, prompt: str, level: int) -> Written:
        tokens_max = self._tokens_max(material, level)
        if material.replaced_tokens <= SMALL_TOKENS or self._means.model.name == OFFLINE:
            # There is no model, or its summary would be no shorter.
            return replace(await asyncio.to_thread(extract, material, tokens_max), extract=False)
        order = Order(
            prompt=prompt,
            purpose=prompt,
            tokens_max=tokens_max,
            fence=self._fence,
            deadline_seconds=self._means.deadline_seconds,
            owner=self._session.owner,
            session=self._session.id,
        )
        return await fold(self._means.model, material, order)

    def _tokens_max(self, material: Material, level: int) -> int:
        return tokens_max_for(material, block_tokens_max(self._shown.blocks, level, self._frame.limits))

    async def _ask(self, turns: Sequence[Turn], now: datetime) -> list[Report]:
        """What the sources say about the time of these turns, and what they said before where they fail now."""
        known = {report.source: report for report in self._shown.reports}
        answers = await ask_all(
            self._means.sources,
            first_at=turns[0].at,
            last_at=turns[-1].at,
            watermarks={source: report.end_at for source, report in known.items()},
            now=now,
            gap_seconds=self._means.gap_seconds,
            zone=self._frame.zone,
        )
        reports: list[Report] = []
        for answer in answers:
            if answer.error is not None:
                _log.warning("source %s was left out: %s", answer.source, answer.error)
                if answer.source in known:
                    reports.append(replace(known[answer.source], failed_at=now))
                continue
            reports.append(
                Report(
                    session=self._session.id,
                    source=answer.source,
                    label=answer.label,
                    text=answer.text,
                    tokens=estimate(answer.text),
                    asked_at=now,
                    start_at=answer.window.start,
                    end_at=answer.window.end,
                )
            )
        return reports

    async def _turns(self, first_seq: int, last_seq: int) -> list[Turn]:
        return await self._store.turns(
            self._session.owner, self._session.id, first_seq=first_seq, last_seq=last_seq, limit=_BITE_TURNS
        )

    def _change(
        self,
        blocks: Sequence[Block],
        *,
        replaces: tuple[int, ...] = (),
        reports: Sequence[Report] = (),
        turns: int | None = None,
        exchanges: int | None = None,
    ) -> Change:
        asked = {wanted.name for wanted in self._means.sources}
        return Change(
            version=self._session.folded.version,
            blocks=tuple(blocks),
            replaces=replaces,
            reports=tuple(reports),
            turns=turns,
            exchanges=exchanges,
            drops=tuple(report.source for report in self._shown.reports if report.source not in asked),
            fence=self._fence,
        )

    def _to_redo(self, merging: Sequence[Block] | None) -> Block | None:
        """A block of sentences to be written better: one whose time has come, or that would be merged as it is."""
        now = self._store.clock.now()
        poor = [block for block in self._shown.blocks if self._is_poor(block)]
        return next((block for block in poor if now >= _ripe_at(block) or block in (merging or ())), None)

    def _is_poor(self, block: Block) -> bool:
        return block.extract and block.level == 0 and self._means.model.name != OFFLINE

    def _dated(self, blocks: Sequence[Block]) -> list[Block]:
        """New blocks as they will be dated, at the earliest."""
        return [replace(block, created_at=self._store.clock.now()) for block in blocks]


def _ripe_at(block: Block) -> datetime:
    """When to ask for a better one: at once where the model never was asked, else after some time."""
    return block.created_at + timedelta(seconds=0 if block.reason == WINDOW else _REDO_SECONDS)
