"""The act behind work of kind `facts`: read what is new in a session, and keep what it proves.

A long history is read in parts, each committed with its watermark when it is done, so that a kill repeats none of them. The
model is asked with no transaction open; what it claims is checked, gated, and compared with what is known; and if another
session's facts came in meanwhile, it is compared again, not asked again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from afterglow.clock import new_fence
from afterglow.compaction import parts_of
from afterglow.contexts import Means, MeansOf
from afterglow.errors import ModelBadOutput, ModelTooLong
from afterglow.facts.checks import Checked, Claimed, ClaimedFacts, Proved, check, words_of
from afterglow.facts.gate import Verdict, gate
from afterglow.facts.plainly import claims_of
from afterglow.model import Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.reconciling import Near, Origin, Reconciler
from afterglow.store.contract import Store
from afterglow.store.facts import FactsChanged, Read, Reading
from afterglow.terms import terms
from afterglow.transcript import RESULT_CHARS_MAX, day_text
from afterglow.turns import Session, Turn, says_something
from afterglow.work import Claim
from afterglow.worker import Commit

KNOWN_SHOWN = 20
_PROMPT_TOKENS = 900
_PAGE_TURNS = 500
_COMPARED_AGAIN_MAX = 20
_PART_TOKENS_MIN = 200
_BEFORE_TURNS = 3
"""So many turns that were read already are shown before what is new: an answer is about its question."""

Progress = Callable[[int, int], None]
"""Told how many turns of how many are read."""
_log = logging.getLogger(__name__)


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What became of what a model claimed."""

    claimed: int = 0
    stored: int = 0
    pending: int = 0
    again: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Outcome) -> None:
        self.claimed += other.claimed
        self.stored += other.stored
        self.pending += other.pending
        self.again += other.again
        self.dropped.update(other.dropped)


class Facts:
    """Reads sessions for facts."""

    def __init__(self, store: Store, means_of: MeansOf, near: Near) -> None:
        self._store = store
        self._means_of = means_of
        self._near = near

    async def act(self, claim: Claim) -> Commit | None:
        """Read what is new in the session that the claim is about. Each part commits itself, so nothing is left to commit."""
        session = await self._store.session(claim.owner, claim.subject)
        if self._means_of(session.binding.agent).extracts:
            await self.read(session, claim)
        return None

    async def read(self, session: Session, claim: Claim | None = None, progress: Progress | None = None) -> Outcome:
        """Read what is new in the session, part by part."""
        means = self._means_of(session.binding.agent)
        room = min(means.part_tokens, means.extracting.window_tokens - _PROMPT_TOKENS - means.answer_tokens_max)
        outcome, read_to = Outcome(), session.facts_seq
        before = await self._store.turns(
            session.owner, session.id, first_seq=max(1, read_to - _BEFORE_TURNS + 1), last_seq=read_to
        )
        while read_to < session.said_seq:
            turns = await self._store.turns(
                session.owner, session.id, first_seq=read_to + 1, last_seq=session.said_seq, limit=_PAGE_TURNS
            )
            for part in parts_of(turns, max(_PART_TOKENS_MIN, room)):
                outcome.add(await self._part(session, part, before, means, claim))
                read_to, before = part[-1].seq, part[-_BEFORE_TURNS:]
                if progress is not None:
                    progress(read_to - session.facts_seq, session.said_seq - session.facts_seq)
        return outcome

    async def _part(
        self, session: Session, turns: Sequence[Turn], before: Sequence[Turn], means: Means, claim: Claim | None
    ) -> Outcome:
        """Ask, check, compare, commit. Only the last two are done again where another session's facts came in meanwhile."""
        worth = [turn for turn in turns if _is_worth_reading(turn)]
        claims, prompt = await self._claims(session, worth, before, means) if worth else ([], "none")
        outcome = Outcome(claimed=len(claims))
        checked = check(claims, worth, means.frame.zone, terms, before)
        believed = _believed(checked, outcome)
        origin = Origin(session=session, model=means.extracting.name, prompt=prompt, zone=means.frame.zone)
        reconciler = Reconciler(self._store, self._near, means.extracting, means.deadline_seconds, origin)
        for _ in range(_COMPARED_AGAIN_MAX):
            gathered, forgotten = await reconciler.gathered(believed)
            outcome.stored, outcome.again = len(gathered.new), len(gathered.again)
            outcome.pending = sum(fact.status == "pending" for fact in gathered.new)
            outcome.dropped["forgotten"] = forgotten
            read = Read(
                session=session.id,
                from_seq=turns[0].seq - 1,
                to_seq=turns[-1].seq,
                claim=claim,
                reading=_reading(outcome, origin) if claims else None,
            )
            try:
                await self._store.commit_facts(session.owner, gathered, read)
            except FactsChanged:
                continue
            _log.info("session %s: read to turn %d, %d new facts", session.id, turns[-1].seq, outcome.stored)
            return outcome
        raise FactsChanged(
            f"the facts of {session.owner!r} changed {_COMPARED_AGAIN_MAX} times while they were compared"
        )

    async def _claims(
        self, session: Session, turns: Sequence[Turn], before: Sequence[Turn], means: Means
    ) -> tuple[list[Claimed], str]:
        """What the model claims; asked once more where its answer is of no use. A part that it cannot read gives nothing."""
        if means.extracting.name == OFFLINE:
            return claims_of(turns), "none"
        known = await self._near(session.owner, "\n".join(map(words_of, turns)), KNOWN_SHOWN)
        prompt, problem = load("facts"), ""
        instructions = prompt.filled(
            most=max(3, min(20, len(turns))),
            known="\n".join(f"- {fact.content}" for fact, _ in known) or "- nothing yet",
        )
        fence, read = new_fence(self._store.clock), [*(turn for turn in before if _is_worth_reading(turn)), *turns]
        for _ in range(2):
            request = Request(
                purpose="facts",
                instructions=instructions + (f"\n\nYour last answer was of no use: {problem}" if problem else ""),
                material=f"{fence}\n{record(read, means.frame.zone).replace(fence, '[mark]')}\n{fence}",
                tokens_max=means.answer_tokens_max,
                deadline_seconds=means.deadline_seconds,
                schema=ClaimedFacts,
                owner=session.owner,
                session=session.id,
            )
            try:
                answer = await means.extracting.complete(request)
            except ModelTooLong as long:  # the same again would be too long again
                problem = str(long)
                break
            except ModelBadOutput as bad:
                problem = str(bad)
                continue
            assert isinstance(answer.data, ClaimedFacts)
            return answer.data.facts, prompt.version
        _log.warning("session %s: nothing from turns %d to %d: %s", session.id, turns[0].seq, turns[-1].seq, problem)
        return [], prompt.version


def record(turns: Iterable[Turn], zone: tzinfo) -> str:
    """The turns as a model reads them for facts: number, speaker, moment, words."""
    return "\n".join(_line(turn, zone) for turn in turns)


def _line(turn: Turn, zone: tzinfo) -> str:
    at, words = turn.at.astimezone(zone), words_of(turn).strip()
    if turn.role == "tool" and len(words) > RESULT_CHARS_MAX:
        words = words[:RESULT_CHARS_MAX] + " …"
    speaker = "somebody else" if turn.role == "user" and turn.trust == "other" else turn.role
    set_in = words.replace("\n", "\n    ")
    return f"[{turn.seq}] {speaker}, {day_text(at)}, {at:%H:%M}: {set_in}"


def _is_worth_reading(turn: Turn) -> bool:
    return turn.role != "system" and says_something(turn.role, turn.origin) and bool(words_of(turn).strip())


def _believed(checked: Checked, outcome: Outcome) -> list[tuple[Proved, Verdict]]:
    """What is proved and not turned away at the gate; the rest is counted."""
    judged = [(proved, gate(proved)) for proved in checked.proved]
    outcome.dropped.update(checked.dropped)
    outcome.dropped.update(verdict.why or "" for _, verdict in judged if verdict.status == "dropped")
    return [(proved, verdict) for proved, verdict in judged if verdict.status != "dropped"]


def _reading(outcome: Outcome, origin: Origin) -> Reading:
    return Reading(
        claimed=outcome.claimed,
        stored=outcome.stored,
        again=outcome.again,
        dropped={why: count for why, count in outcome.dropped.items() if count},
        model=origin.model,
        prompt=origin.prompt,
    )
