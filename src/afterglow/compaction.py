"""Continuous, log-structured compaction: when to fold, which turns, which blocks to merge.

    [level 2 ······················][level 1 ·······][0][0][0] | sources | turn turn turn turn turn turn
     oldest, coarsest                                 newest      now       verbatim tail

A compaction folds the turns before the tail into a block of level 0, and freezes it. When a level holds `fanout` blocks,
its oldest `fanout` fold into one block of the next level. So what was said is rewritten a few times at most, however long
the talk goes on, and the text left of the newest change stays as it is, so that a provider's cache of the prompt holds. The
budget is kept by the size of a block, never by merging out of turn and never by dropping.

Only `decide` says whether to compact. Whoever executes is told the reason and does not ask again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, get_args

from afterglow.turns import Draft, Session, Span, Turn, begins_exchange, is_real, tool_calls, tool_results
from afterglow.work import Due

SUNSET = "sunset-event"
"""Why a summary is due, where somebody said that the session has ended."""
Reason = Literal["interval", "threshold", "idle", "manual"]
"""Why turns are folded."""
REASONS: tuple[Reason, ...] = get_args(Reason)

_AHEAD_MOST = timedelta(days=1)
BLOCK_TOKENS_MIN = 40
"""A block with less room than this, its heading included, says nothing."""
HEADING_TOKENS = 16
"""What stands before a block in the context: when it was said."""
SMALL_TOKENS = 60
"""What is no larger than this is not worth a model's call: no summary would be shorter."""
LINE_TOKENS = 8
"""What a turn takes in a transcript beside its text: the time, and who speaks."""
_WORTH_FOLDING = 16
"""Over the limit, folding is worth a call where it can free at least this part of the limit."""
_HEADROOM = 8
"""How much of the limit, as its 8th part, a compaction by threshold leaves free, so that the next turn does not need one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The settings that compaction obeys."""

    interval: int = 5
    keep_recent: int = 6
    context_limit_tokens: int = 8_000
    window_tokens: int = 32_000
    fanout: int = 6
    block_budget_tokens: int = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Quiet:
    """When a session counts as quiet, when it is cleared after that, and what says that it has ended. 0 and "" are off."""

    timeout_summarize_seconds: float = 1800
    timeout_clear_seconds: float = 3600
    sunset_marker: str = "[SUNSET HANDOVER]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Boot:
    """What a new session begins with: how many summaries of earlier ones, in how many tokens."""

    summaries: int = 3
    tokens_max: int = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """All that showing a context depends on beside the session: the limits, the owner's zone, the timers, the beginning."""

    limits: Limits
    zone: tzinfo
    quiet: Quiet
    boot: Boot


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A frozen summary of a span. Level 0 is made from turns, level n + 1 from blocks of level n."""

    session: str
    level: int
    first_seq: int
    last_seq: int
    first_at: datetime
    last_at: datetime
    text: str
    tokens: int
    span_tokens: int
    """The tokens of what it was made from: turns, or blocks."""
    input_hash: str
    prompt: str
    """The name and version of the prompt."""
    model: str
    reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    extract: bool = False
    """Whether it is a choice of sentences, made because no good summary was to be had; a good one may replace it."""
    lost: tuple[str, ...] = ()
    """Identifiers that the span had and the block has not, the first of them; `lost_count` is how many there are."""
    lost_count: int = 0
    children: tuple[int, ...] = ()
    number: int = 0
    """Its number in the session; the store gives it, and what follows."""
    created_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    shown_from: int = 0
    shown_until: int | None = None
    """The turns for which it was before the model: from the first to before the second."""


def decide(session: Session, limits: Limits, *, complete: bool) -> Reason | None:
    """Whether the session is to be compacted now, and why. `complete` says that its last exchange has its answer."""
    new_turns = session.turns - session.folded.turns
    if new_turns <= 0 or session.exchange_seq - 1 <= session.folded.to_seq:
        return None
    helps = session.overhead_tokens < limits.context_limit_tokens <= _can_free(session) * _WORTH_FOLDING
    if helps and is_over(session, limits):
        return "threshold"
    due = limits.interval and session.exchanges - session.folded.exchanges >= limits.interval
    tail_turns = session.turns - session.folded.to_seq
    return "interval" if complete and due and tail_turns > limits.keep_recent else None


def due_after(draft: Draft, session: Session, frame: Frame, now: datetime) -> list[Due]:
    """The work that a turn makes due, given the session as it is with that turn."""
    due: list[Due] = []
    marker = frame.quiet.sunset_marker
    if marker and draft.trust in ("owner", "agent") and draft.text.lstrip().startswith(marker):
        return [*ended(now, SUNSET)]
    if draft.role == "assistant":
        reason = decide(session, frame.limits, complete=not tool_calls(draft.parts))
        due += [Due(kind="context", at=now, reason=reason)] if reason else []
    # A timer that is set is left alone: when it goes off it looks at the time of the last message, and is set anew.
    # One that is further off than any could be was set before the clock was put back.
    longest = timedelta(seconds=frame.quiet.timeout_summarize_seconds)
    is_set = session.idle_due is not None and now < session.idle_due <= now + longest
    if not is_set and is_real(draft.role, draft.origin) and frame.quiet.timeout_summarize_seconds:
        due.append(idle_timer(now, frame.quiet))
    return due


def ended(now: datetime, reason: str) -> tuple[Due, ...]:
    """What is due when a conversation has ended, or its active part has."""
    return Due(kind="summary", at=now, reason=reason), Due(kind="facts", at=now, reason=reason)


def idle_timer(last_real: datetime, quiet: Quiet) -> Due:
    """The look that is taken when nobody has written for a while."""
    at = last_real + timedelta(seconds=quiet.timeout_summarize_seconds)
    return Due(kind="idle", at=at, reason="timer", rearm=True)


def is_quiet(session: Session, quiet: Quiet, now: datetime) -> bool:
    """Whether nobody has written for so long that the session counts as quiet."""
    if session.state != "open" or session.real_at is None or not quiet.timeout_summarize_seconds:
        return False
    # A message that is dated far in the future says nothing of how long ago it came.
    far_ahead = session.real_at > now + _AHEAD_MOST
    return far_ahead or now >= session.real_at + timedelta(seconds=quiet.timeout_summarize_seconds)


def is_met(session: Session, reason: Reason, limits: Limits) -> bool:
    """Whether a compaction since has done what was asked for: the request came in while that one was under way."""
    if session.turns == session.folded.turns:
        return True
    since = session.exchanges - session.folded.exchanges
    return (reason == "interval" and since < limits.interval) or (
        reason == "threshold" and not is_over(session, limits)
    )


def is_over(session: Session, limits: Limits) -> bool:
    """Whether the model is given more than the limit; what it reported beyond the session itself counts."""
    return context_tokens(session) > limits.context_limit_tokens


def context_tokens(session: Session) -> int:
    """What the model would be given now, by its own last report where it made one, else by the estimate."""
    return session.folded.block_tokens + session.tail_tokens + session.overhead_tokens


def choose_span(tail: Sequence[Turn], session: Session, reason: Reason, limits: Limits) -> Span | None:
    """Which turns to fold: from the first of the tail to before the newest that stay, cut where an exchange begins.

    `tail` are turns that follow the blocks, in order, from the first on; all of them, or the oldest. For `threshold` the
    part that stays shrinks from `keep_recent` turns down to the last exchange, until the context fits.
    """
    if not tail:
        return None
    first, whole = tail[0].seq, tail[-1].seq == session.turns
    if reason == "idle":
        return Span(first_seq=first, last_seq=tail[-1].seq)
    if reason != "threshold" and session.turns <= limits.keep_recent:
        return None
    last_kept = session.turns - limits.keep_recent + 1
    cuts = [cut for cut in _cuts(tail) if cut > first]
    early = [cut for cut in cuts if cut <= last_kept]
    if not early and not whole and session.exchange_seq > tail[-1].seq:
        early = _calm(tail)[-1:]  # an exchange that is longer than what was read, and not the last: it is cut inside
    if reason == "threshold":
        late = [cut for cut in cuts if cut > last_kept]
        chosen = _first_that_fits([*early[-1:], *late], tail, session, limits)
    else:
        chosen = early[-1] if early else None
    if chosen is None or sum(turn.tokens for turn in tail if turn.seq < chosen) <= SMALL_TOKENS:
        return None
    return Span(first_seq=first, last_seq=chosen - 1)


def parts_of(turns: Sequence[Turn], tokens_max: int) -> list[list[Turn]]:
    """Turns in runs that fit a summariser's window, in order, cut where exchanges begin where that is possible."""
    parts: list[list[Turn]] = []
    room = 0
    for run in _runs(turns):
        size = sum(map(_line_tokens, run))
        if parts and size <= room:
            parts[-1] += run
            room -= size
        elif size <= tokens_max:
            parts.append(list(run))
            room = tokens_max - size
        else:
            parts += _by_turns(run, tokens_max)
            room = 0
    return parts


def choose_merge(blocks: Sequence[Block], fanout: int) -> list[Block] | None:
    """The oldest `fanout` blocks of the lowest level that holds so many."""
    counts = Counter(block.level for block in blocks)
    level = min((level for level, count in counts.items() if count >= fanout), default=None)
    return None if level is None else [block for block in blocks if block.level == level][:fanout]


def block_tokens_max(blocks: Iterable[Block], level: int, limits: Limits) -> int:
    """How large a new block of this level may be, so that all levels stay in the budget, with room for one more."""
    levels = max([level, *(block.level for block in blocks)]) + 2
    return max(BLOCK_TOKENS_MIN, limits.block_budget_tokens // (limits.fanout * levels))


def _can_free(session: Session) -> int:
    return session.tail_tokens - session.exchange_tokens


def _cuts(tail: Sequence[Turn]) -> list[int]:
    """Where the tail can be cut: at turns that begin an exchange, while no tool call waits for a result that follows.

    A result belongs to the newest call of its id before it: an older one of the same id was broken off, and nothing answers it.
    """
    waiting: dict[str, list[int]] = {}
    answered: dict[int, int] = {}
    for turn in tail:
        answered |= {waiting[call].pop(): turn.seq for call in tool_results(turn.parts) if waiting.get(call)}
        calls = tool_calls(turn.parts)
        waiting |= {call: [turn.seq] * calls.count(call) for call in calls}
    cuts: list[int] = []
    waits_to, previous = 0, None
    for turn in tail:
        if begins_exchange(turn.role, previous) and turn.seq > waits_to:
            cuts.append(turn.seq)
        waits_to = max(waits_to, answered.get(turn.seq, 0))
        previous = turn.role
    return cuts


def _calm(tail: Sequence[Turn]) -> list[int]:
    """Where an exchange can be cut inside: after a result or an answer, while no call waits."""
    waiting: set[str] = set()
    places: list[int] = []
    for turn in tail:
        waiting |= set(tool_calls(turn.parts))
        waiting -= set(tool_results(turn.parts))
        if not waiting:
            places.append(turn.seq + 1)
    return places or [tail[-1].seq + 1]


def _first_that_fits(cuts: Sequence[int], tail: Sequence[Turn], session: Session, limits: Limits) -> int | None:
    room = limits.context_limit_tokens - limits.context_limit_tokens // _HEADROOM
    room -= session.overhead_tokens + session.folded.block_tokens + BLOCK_TOKENS_MIN
    unread = session.tail_tokens - sum(turn.tokens for turn in tail)
    for cut in cuts:
        if unread + sum(turn.tokens for turn in tail if turn.seq >= cut) <= room:
            return cut
    return cuts[-1] if cuts else None


def _runs(turns: Sequence[Turn]) -> list[list[Turn]]:
    cuts = set(_cuts(turns))
    runs: list[list[Turn]] = []
    for turn in turns:
        if not runs or turn.seq in cuts:
            runs.append([])
        runs[-1].append(turn)
    return runs


def _by_turns(run: Sequence[Turn], tokens_max: int) -> list[list[Turn]]:
    """A run that is too long, cut between any two turns."""
    parts: list[list[Turn]] = []
    room = 0
    for turn in run:
        if parts and _line_tokens(turn) <= room:
            parts[-1].append(turn)
            room -= _line_tokens(turn)
        else:
            parts.append([turn])
            room = tokens_max - _line_tokens(turn)
    return parts


def _line_tokens(turn: Turn) -> int:
    """What a turn takes in a transcript. Of one that is cut, the head and tail are there, at three characters a token."""
    return (len(turn.text) // 3 if turn.cut else turn.tokens) + LINE_TOKENS
