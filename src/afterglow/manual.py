"""Compaction by hand: a session is compacted now, and whoever asked is told what that did, or why nothing was to be done."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from afterglow.compaction import SMALL_TOKENS, Block, Frame, Limits, choose_span, is_met
from afterglow.errors import NotFound
from afterglow.store.contract import Store
from afterglow.turns import Session, Turn
from afterglow.work import Due, Work
from afterglow.worker import Worker

_TAIL_MAX = 1_000
_LOOK_AGAIN_SECONDS = 0.3
"""How often to look whether another process has ended its claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compaction:
    """What a compaction by hand did."""

    session: Session
    """The session as it is now."""
    folded_turns: int
    blocks: tuple[Block, ...]
    """The new ones."""
    cost_usd: float | None
    """Of the new blocks; None where a price is not known."""
    answered: tuple[str, ...]
    """The sources that reported."""
    left_out: tuple[str, ...]
    """The sources that were asked and did not."""
    why_not: str | None
    """Why there was nothing to fold, as the end of a sentence."""
    failed: Work | None = None
    """Where it failed: the work that stays due, with its last error."""


async def compact(store: Store, worker: Worker, frame: Frame, session: Session) -> Compaction:
    """Compact the session now, and wait for it, also where another process holds the claim. Where it fails, the work stays due.

    The wish outlives the claim that was held when it came, so that the process that ends it, or this one, goes on with it. A
    process that died holds its claim until the end of the lease.
    """
    before = await store.session(session.owner, session.id)
    with suppress(NotFound):  # a person's wish ends the waiting after a failure
        await store.retry(before.owner, kind="context", subject=before.id)
    due = Due(kind="context", at=store.clock.now(), reason="manual", subject=before.id)
    await store.mark_due(before.owner, due)
    while True:
        await worker.attend(before.owner, "context", before.id, at_once=True)
        work = await _work(store, before)
        if work is None or work.state in ("waiting", "parked"):
            return await _done(store, frame, before, work)
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


async def _done(store: Store, frame: Frame, before: Session, work: Work | None) -> Compaction:
    owner, name, version = before.owner, before.id, before.folded.version
    after = await store.session(owner, name)
    failed = work if work is not None and work.last_error else None
    blocks = tuple(block for block in await store.blocks(owner, name) if block.number > version)
    costs = [block.cost_usd for block in blocks]
    reports = [each for each in await store.reports(owner, name) if each.number > version and each.failed_at is None]
    answered = tuple(dict.fromkeys(each.source for each in reports))
    asked = frame.sources if after.folded.turns > before.folded.turns else ()
    tail = await store.turns(owner, name, first_seq=after.folded.to_seq + 1, limit=_TAIL_MAX)
    return Compaction(
        session=after,
        folded_turns=after.folded.to_seq - before.folded.to_seq,
        blocks=blocks,
        cost_usd=None if None in costs else sum(cost or 0 for cost in costs),
        answered=answered,
        left_out=tuple(each for each in asked if each not in answered),
        why_not=None if blocks or failed else why_not(after, tail, frame.limits),
        failed=failed,
    )


async def _work(store: Store, session: Session) -> Work | None:
    found = await store.work_list(session.owner, kind="context", subject=session.id)
    return found[0] if found else None


def why_not(session: Session, tail: Sequence[Turn], limits: Limits) -> str:
    """Why a compaction by hand finds nothing to fold, as the end of a sentence. `tail` are the turns that are in no block."""
    keep = limits.keep_recent
    if not session.turns:
        return "the session has no turns yet"
    if not tail:
        return "all its turns are in blocks"
    if session.turns <= keep:
        return f"it has {_turns(session.turns)}, and compaction.keep_recent keeps the newest {keep:,}"
    older = [turn for turn in tail if turn.seq <= session.turns - keep]
    if not older:
        since = f"the {_turns(len(tail))} that are in no block yet are among the newest {keep:,}"
        return f"{since}, which compaction.keep_recent keeps"
    if choose_span(tail, session, "manual", limits) is None:
        if sum(turn.tokens for turn in older) <= SMALL_TOKENS:
            return f"the turns before the newest {keep:,} are so short that no summary would be shorter"
        return f"the turns before the newest {keep:,} belong to one exchange with them, and an exchange is not cut"
    if is_met(session, "manual", limits):
        return "no turn has come since it was last folded"
    return "other work on it was due first, and is done now; run this again"


def _turns(number: int) -> str:
    return f"{number:,} turn{'' if number == 1 else 's'}"
