"""One compaction by hand, and what came of it in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from afterglow.cli.explanation import cost_text, work_of
from afterglow.cli.screen import count
from afterglow.compaction import SMALL_TOKENS, Block, Limits, choose_span, is_met
from afterglow.errors import ModelError, NotFound
from afterglow.memory import Memory
from afterglow.turns import Session, Turn
from afterglow.work import Work

_TAIL_MAX = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Folding:
    """What a compaction by hand did, or why it did nothing."""

    session: Session
    folded_turns: int
    blocks: tuple[Block, ...]
    """The new ones."""
    tokens_before: int
    tokens_after: int
    """Of the whole context."""
    cost_usd: float | None
    answered: tuple[str, ...]
    """The sources that reported."""
    left_out: tuple[str, ...]
    """The sources that did not."""
    why_not: str | None
    """Why nothing was folded, if nothing was."""

    def lines(self) -> list[str]:
        if not self.blocks:
            return [f"Nothing was folded: {self.why_not}."]
        merged = [block for block in self.blocks if block.level]
        what: list[str] = []
        if self.folded_turns:
            what.append(f"{count(self.folded_turns, 'turn')} into {count(len(self.blocks) - len(merged), 'block')}")
        if merged:
            what.append(f"{count(sum(len(block.children) for block in merged), 'block')} into {len(merged):,} coarser")
        models = ", ".join(dict.fromkeys(block.model for block in self.blocks))
        done = " and ".join(what or [f"{count(len(self.blocks), 'block')} anew"])
        lines = [
            f"Folded {done}: {self.tokens_before:,} → {self.tokens_after:,} tokens in the context.",
            f"By {models}, {cost_text(self.blocks)}.",
        ]
        if self.answered:
            lines.append(f"Asked: {', '.join(self.answered)}.")
        return lines


async def fold(memory: Memory, before: Session, time: Callable[[datetime], str]) -> Folding:
    """Fold the session now; ModelError where the model would not."""
    store, owner = memory.store, before.owner
    with suppress(NotFound):  # nothing has failed before; else a person's wish ends the waiting
        await store.retry(owner, kind="context", subject=before.id)
    tokens_before = (await memory.context(before)).tokens
    after = await memory.compact(before)
    new = tuple(block for block in await memory.blocks(after) if block.number > before.folded.version)
    work = next((each for each in await work_of(memory, after) if each.kind == "context"), None)
    if work is not None and work.last_error and work.state != "claimed":
        raise ModelError(_failure(work, new, time))
    reports = [each for each in await store.reports(owner, after.id) if each.number > before.folded.version]
    answered = tuple(each.source for each in reports if each.failed_at is None)
    means = memory.means_of(before.binding.agent)
    asked = [each.name for each in means.sources] if any(not block.level for block in new) else []
    return Folding(
        session=after,
        folded_turns=after.folded.to_seq - before.folded.to_seq,
        blocks=new,
        tokens_before=tokens_before,
        tokens_after=(await memory.context(after)).tokens,
        cost_usd=None if any(block.cost_usd is None for block in new) else sum(block.cost_usd or 0 for block in new),
        answered=answered,
        left_out=tuple(name for name in asked if name not in answered),
        why_not=None if new else await _why_not(memory, after, means.frame.limits, work),
    )


def _failure(work: Work, new: Sequence[Block], time: Callable[[datetime], str]) -> str:
    done = f"{count(len(new), 'block was', 'blocks were')} made, and the rest was not" if new else "nothing was folded"
    again = f"it stays due: `afterglow serve` tries it again at {time(work.ready_at)}, and so does running this again"
    said = (work.last_error or "").partition(": ")[2] or work.last_error
    return f"{done}: {(said or 'no reason was given').rstrip('.')}. Nothing is lost; {again}"


async def _why_not(memory: Memory, session: Session, limits: Limits, work: Work | None) -> str:
    if work is not None and work.state == "claimed":
        return (
            f"{work.holder} is folding it at this moment; what you asked for comes after that (and if that process was "
            "killed, some two minutes after)"
        )
    tail = await memory.turns(session, first_seq=session.folded.to_seq + 1, limit=_TAIL_MAX)
    return why_not(session, tail, limits)


def why_not(session: Session, tail: Sequence[Turn], limits: Limits) -> str:
    """Why a compaction by hand finds nothing to fold, as the end of a sentence."""
    keep = limits.keep_recent
    if not session.turns:
        return "the session has no turns yet"
    if session.turns <= keep:
        return f"it has {count(session.turns, 'turn')}, and compaction.keep_recent keeps the newest {keep:,}"
    if is_met(session, "manual", limits):
        return "no turn has come since it was last folded"
    if choose_span(tail, session, "manual", limits) is not None:
        return "other work on it was due first, and is done now; run this again"
    older = [turn for turn in tail if turn.seq <= session.turns - keep]
    if not older:
        since = f"the {count(len(tail), 'turn')} that are in no block yet are among the newest {keep:,}"
        return f"{since}, which compaction.keep_recent keeps"
    if sum(turn.tokens for turn in older) <= SMALL_TOKENS:
        return f"the turns before the newest {keep:,} are so short that no summary would be shorter"
    return f"the turns before the newest {keep:,} belong to one exchange with them, and an exchange is not cut"
