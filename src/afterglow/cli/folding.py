"""One compaction by hand, and what came of it in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from afterglow.cli.explanation import cost_text
from afterglow.cli.screen import count
from afterglow.compaction import Block
from afterglow.errors import ModelError
from afterglow.manual import Compaction
from afterglow.memory import Memory
from afterglow.turns import Session
from afterglow.work import Work


@dataclass(frozen=True, kw_only=True, slots=True)
class Folding:
    """What a compaction by hand did, and the tokens of the whole context before and after it."""

    compaction: Compaction
    tokens_before: int
    tokens_after: int

    def data(self) -> dict[str, Any]:
        return {**asdict(self.compaction), "tokens_before": self.tokens_before, "tokens_after": self.tokens_after}

    def lines(self) -> list[str]:
        blocks = self.compaction.blocks
        lines = self._of(blocks) if blocks else [f"Nothing was folded: {self.compaction.why_not}."]
        if self.compaction.answered:
            lines.append(f"Asked: {', '.join(self.compaction.answered)}.")
        return lines

    def _of(self, blocks: Sequence[Block]) -> list[str]:
        merged = [block for block in blocks if block.level]
        what: list[str] = []
        if turns := self.compaction.folded_turns:
            what.append(f"{count(turns, 'turn')} into {count(len(blocks) - len(merged), 'block')}")
        if merged:
            what.append(f"{count(sum(len(block.children) for block in merged), 'block')} into {len(merged):,} coarser")
        models = ", ".join(dict.fromkeys(block.model for block in blocks))
        done = " and ".join(what or [f"{count(len(blocks), 'block')} anew"])
        return [
            f"Folded {done}: {self.tokens_before:,} → {self.tokens_after:,} tokens in the context.",
            f"By {models}, {cost_text(blocks)}.",
        ]


async def fold(memory: Memory, before: Session, time: Callable[[datetime], str]) -> Folding:
    """Fold the session now; ModelError where the model would not."""
    tokens_before = (await memory.context(before)).tokens
    done = await memory.compact(before)
    if done.failed is not None:
        raise ModelError(_failure(done.failed, done.blocks, time))
    tokens_after = (await memory.context(done.session)).tokens
    return Folding(compaction=done, tokens_before=tokens_before, tokens_after=tokens_after)


def _failure(work: Work, new: Sequence[Block], time: Callable[[datetime], str]) -> str:
    done = f"{count(len(new), 'block was', 'blocks were')} made, and the rest was not" if new else "nothing was folded"
    again = f"it stays due: `afterglow serve` tries it again at {time(work.ready_at)}, and so does running this again"
    said = (work.last_error or "").partition(": ")[2] or work.last_error
    return f"{done}: {(said or 'no reason was given').rstrip('.')}. Nothing is lost; {again}"
