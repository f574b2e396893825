"""Why a context looks as it does: how each block and report came about, and when the session is folded next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.padding import Padding

from afterglow.cli.screen import Styled, count, pairs
from afterglow.compaction import Block, Limits, Reason, context_tokens, decide, is_over
from afterglow.context import Report
from afterglow.errors import BadSettings, MissingPackage
from afterglow.memory import Memory
from afterglow.turns import Session, tool_calls
from afterglow.work import Work

Time = Callable[[datetime], str]

NO_PROMPT = "none"
"""What stands in place of a prompt where sentences were chosen."""
_LOST_SHOWN = 5
_WORK_MAX = 10_000
_WHY = {
    "interval": "enough exchanges were over",
    "threshold": "the context was over its limit",
    "idle": "the session had gone quiet",
    "manual": "somebody asked for it",
    "backlog": "it goes on with a compaction that was too long for one go",
    "merge": "its level was full",
    "redo": "a summary was made in place of chosen sentences",
    "window": "the context would not have fitted the model, so it was made on the spot",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """What stands behind a context, and how the session is doing."""

    session: Session
    limits: Limits
    model: str
    blocks: tuple[Block, ...]
    reports: tuple[Report, ...]
    tokens: int
    """What the model would be given now, with its system prompt and its tools."""
    decision: Reason | None
    prompt_alone_is_over: bool
    work: tuple[Work, ...]

    def lines(self, time: Time) -> list[Any]:
        """The explanation as people read it."""
        parts = [(f"block {block.number}", _block_rows(block, time)) for block in self.blocks]
        parts += [(f"source {report.source}", _report_rows(report, time)) for report in self.reports]
        parts.append(("when it folds next", self._state_rows(time)))
        return [line for name, rows in parts for line in (_heading(name), _indented(rows), "")]

    def _state_rows(self, time: Time) -> list[tuple[str, str]]:
        limits, folded, overhead = self.limits, self.session.folded, self.session.overhead_tokens
        since = self.session.exchanges - folded.exchanges
        every = f"of {limits.interval:,}" if limits.interval else "not counted, compaction.interval is 0"
        last = "since the last compaction" if folded.version else "since it began"
        counted = "blocks and tail" + (f", and {overhead:,} of system prompt and tools" if overhead else "")
        rows = [
            ("exchanges", f"{since:,} {last}, {every}"),
            ("tokens", f"{self.tokens:,} of {limits.context_limit_tokens:,} ({counted})"),
            ("kept", f"the newest {count(limits.keep_recent, 'turn')} (compaction.keep_recent), to the exchange"),
            ("model", self.model),
            ("decision", "nothing is to be folded now" if self.decision is None else f"fold: {_WHY[self.decision]}"),
            ("waits", _waits(folded.waits)),
            ("work", "; ".join(_work_text(each, time) for each in self.work) or "none is due"),
        ]
        if self.prompt_alone_is_over:
            rows.insert(2, ("over the limit", _PROMPT_ALONE))
        return rows


_PROMPT_ALONE = (
    "The system prompt and the tools alone take more than context.context_limit_tokens, so that no folding helps; "
    "shorten them, or raise the limit."
)


async def explanation(memory: Memory, session: Session, at: int | None) -> Explanation:
    """Why the context of this session is as it is, or was with turn `at` as the newest."""
    shown = await memory.store.context_rows(session.owner, session.id, at=at, tail_turns=0)
    limits = memory.frame_of(session.binding.agent).limits
    return Explanation(
        session=session,
        limits=limits,
        model=_model(memory, session.binding.agent),
        blocks=shown.blocks,
        reports=shown.reports,
        tokens=context_tokens(session),
        decision=decide(session, limits, complete=await _has_its_answer(memory, session)),
        prompt_alone_is_over=is_over(session, limits) and session.overhead_tokens >= limits.context_limit_tokens,
        work=tuple(await work_of(memory, session)),
    )


def _model(memory: Memory, agent: str) -> str:
    """The model that would fold it; a sentence where it cannot be had."""
    try:
        return memory.means_of(agent).model.name
    except (BadSettings, MissingPackage) as error:
        return str(error)


async def work_of(memory: Memory, session: Session) -> list[Work]:
    """The work about this session."""
    found = await memory.store.work_list(session.owner, limit=_WORK_MAX)
    return [each for each in found if each.subject == session.id]


async def _has_its_answer(memory: Memory, session: Session) -> bool:
    """Whether the last exchange is over, as far as can be told."""
    newest = await memory.store.tail(session.owner, session.id, 1)
    return bool(newest) and newest[0].role == "assistant" and not tool_calls(newest[0].parts)


def _block_rows(block: Block, time: Time) -> list[tuple[str, str]]:
    made_from = f"blocks {', '.join(map(str, block.children))}" if block.children else "turns"
    rows = [
        (
            "stands for",
            f"turns {block.first_seq:,}–{block.last_seq:,}, {time(block.first_at)} to {time(block.last_at)}",
        ),
        ("made from", f"{made_from} (level {block.level}), {time(block.created_at)}"),
        ("why", f"{block.reason}: {_WHY[block.reason]}" if block.reason in _WHY else block.reason),
        ("by", f"{block.model}, {'without a prompt' if block.prompt == NO_PROMPT else f'prompt {block.prompt}'}"),
        ("tokens", f"{block.span_tokens:,} → {block.tokens:,}{_usage(block)}"),
    ]
    if block.extract:
        rows.append(("only chosen", "sentences, since no good summary was to be had; a summary will take their place"))
    if block.lost_count:
        rows.append(("lost", f"{count(block.lost_count, 'identifier')}: {_lost(block.lost, block.lost_count)}"))
    return rows


def _usage(block: Block) -> str:
    if not block.input_tokens and not block.output_tokens:
        return ""
    return f"; the model read {block.input_tokens:,} and wrote {block.output_tokens:,}, {cost_text([block])}"


def cost_text(blocks: Sequence[Block]) -> str:
    """What blocks cost together."""
    known = [block.cost_usd for block in blocks if block.cost_usd is not None]
    if len(known) < len(blocks):
        return "its price is not known" if not known else f"${sum(known):.4f} and what is not known"
    return f"${sum(known):.4f}" if any(known) else "at no cost"


def _lost(lost: Sequence[str], total: int) -> str:
    return ", ".join(lost[:_LOST_SHOWN]) + (", …" if total > _LOST_SHOWN else "")


def _report_rows(report: Report, time: Time) -> list[tuple[str, str]]:
    rows = [
        ("called", report.label),
        ("about", f"{time(report.start_at)} to {time(report.end_at)}"),
        ("asked", time(report.asked_at)),
        ("tokens", f"{report.tokens:,}"),
    ]
    if report.failed_at is not None:
        rows.append(("failed", f"asked again in vain {time(report.failed_at)}, so this is what it said before"))
    return rows


def _waits(waits: int) -> str:
    if not waits:
        return "nobody had to wait for a compaction"
    return f"somebody had to wait {count(waits, 'time')}, since the context did not fit the model's window"


def _work_text(work: Work, time: Time) -> str:
    text = f"{work.kind} ({work.reason}) is {work.state}, "
    text += f"with {work.holder}" if work.state == "claimed" else f"ready {time(work.ready_at)}"
    return text + (f", after {count(work.attempts, 'try', 'tries')}: {work.last_error}" if work.last_error else "")


def _heading(name: str) -> Any:
    return Styled().add(name, "bold").text


def _indented(rows: list[tuple[str, str]]) -> Padding:
    return Padding(pairs(rows), (0, 0, 0, 2), expand=False)
