"""The act behind work of kind `facts`: read what is new in a session, and keep what it proves.

A long history is read in parts, each committed with its watermark when it is done, so that a kill repeats none of them. The
model is asked with no transaction open; what it claims is checked, gated, and compared with what is known; and if another
session's facts came in meanwhile, it is compared again, not asked again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import partial
from weakref import WeakValueDictionary

from afterglow.clock import new_fence
from afterglow.compaction import parts_of
from afterglow.contexts import Means, MeansOf
from afterglow.errors import ClaimLost, ModelBadOutput, ModelTooLong
from afterglow.excerpts import excerpt, shrunk
from afterglow.facts import EVIDENCE_MAX
from afterglow.facts.checks import Checked, ClaimedFacts, Proved, check, with_needed
from afterglow.facts.gate import Verdict, gate
from afterglow.facts.plainly import claims_of
from afterglow.facts.said import words_of
from afterglow.model import Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.reconciling import Near, Origin, Reconciler
from afterglow.store.contract import Store
from afterglow.store.facts import FactsChanged
from afterglow.store.readings import Read, Reading
from afterglow.terms import terms
from afterglow.tokens import estimate
from afterglow.transcript import RESULT_CHARS_MAX, day_text
from afterglow.turns import Session, Turn, says_something
from afterglow.work import Claim, Due
from afterglow.worker import Commit, is_half_over

KNOWN_SHOWN = 20
FACTS_MAX = 40
"""The most facts of one part: a model that claims more is not reading. Without a model, of one turn."""
_PROMPT_TOKENS = 900
_PAGE_TURNS = 500
_PARTS_OF_AN_ACT = 10
"""After so many it is another session's turn."""
_COMPARED_AGAIN_MAX = 20
_PART_TOKENS_MIN = 200
_BEFORE_TURNS = 3
"""So many turns that were read already are shown before what is new: an answer is about its question."""
_BEFORE_CHARS_MAX = 400
TOO_LONG = "the middle of a turn too long for the model"
"""What of such a turn is not read, as it is counted."""

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
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def act(self, claim: Claim) -> Commit | None:
        """Read some of what is new in the session that the claim is about. Each part commits itself; what is left is due."""
        session = await self._store.session(claim.owner, claim.subject)
        if not self._means_of(session.binding.agent).extracts:
            return None
        await self.read(session, claim, parts_max=_PARTS_OF_AN_ACT)
        if (await self._store.session(claim.owner, claim.subject)).facts_seq >= session.said_seq:
            return None
        rest = Due(kind="facts", at=self._store.clock.now(), reason=claim.reason, subject=claim.subject)
        return partial(self._store.finish, claim, [rest])

    async def read(
        self,
        session: Session,
        claim: Claim | None = None,
        progress: Progress | None = None,
        parts_max: int | None = None,
        outcome: Outcome | None = None,
    ) -> Outcome:
        """Read what is new in the session, part by part: so many parts, or as many as half of the act's time is enough for.

        What becomes of each part is added to `outcome` when it is committed, so that who is broken off knows of it.
        """
        means = self._means_of(session.binding.agent)
        outcome = Outcome() if outcome is None else outcome
        read_to, parts = session.facts_seq, 0
        before = await self._store.turns(
            session.owner, session.id, first_seq=max(1, read_to - _BEFORE_TURNS + 1), last_seq=read_to
        )
        while read_to < session.said_seq:
            turns = await self._store.turns(
                session.owner, session.id, first_seq=read_to + 1, last_seq=session.said_seq, limit=_PAGE_TURNS
            )
            if not turns:
                raise ClaimLost(f"session {session.id!r} is being forgotten; there is nothing more to read in it")
            for part in parts_of(turns, _room(means)):
                if parts and (parts == parts_max or is_half_over()):
                    return outcome
                await self._halved(session, part, before, means, claim, outcome)
                parts, read_to, before = parts + 1, part[-1].seq, part[-_BEFORE_TURNS:]
                if progress is not None:
                    progress(read_to - session.facts_seq, session.said_seq - session.facts_seq)
        return outcome

    async def _halved(
        self,
        session: Session,
        turns: Sequence[Turn],
        before: Sequence[Turn],
        means: Means,
        claim: Claim | None,
        outcome: Outcome,
    ) -> None:
        """A part; where it is too long for the model after all, its halves."""
        try:
            return outcome.add(await self._part(session, turns, before, means, claim))
        except ModelTooLong:
            if len(turns) == 1:
                raise
        first, second = turns[: len(turns) // 2], turns[len(turns) // 2 :]
        await self._halved(session, first, before, means, claim, outcome)
        return await self._halved(session, second, first[-_BEFORE_TURNS:], means, claim, outcome)

    async def _part(
        self, session: Session, turns: Sequence[Turn], before: Sequence[Turn], means: Means, claim: Claim | None
    ) -> Outcome:
        """Ask, check, compare, commit. Only the last two are done again where another session's facts came in meanwhile."""
        worth = [turn for turn in turns if _is_worth_reading(turn)]
        asked = await self._claims(session, worth, before, means) if worth else _Claims(prompt="none")
        claims, prompt, malformed = asked.claimed.facts, asked.prompt, asked.claimed.malformed
        outcome = Outcome(claimed=len(claims) + malformed, dropped=Counter({"malformed": malformed}))
        outcome.dropped[TOO_LONG] = asked.cut
        checked = await asyncio.to_thread(check, claims, worth, means.frame.zone, terms, before)
        with_words = partial(with_needed, turns=worth, zone=means.frame.zone, cut=terms, before=before)
        most = FACTS_MAX * (len(worth) if means.extracting.name == OFFLINE else 1)
        believed = await asyncio.to_thread(_believed, checked, with_words, outcome, most)
        origin = Origin(session=session, model=means.extracting.name, prompt=prompt, zone=means.frame.zone)
        reconciler = Reconciler(self._store, self._near, means.extracting, means.deadline_seconds, origin)
        await reconciler.compared(
            believed
        )  # asks the model, and nobody waits for it; its verdicts are kept for the next
        async with self._lock_of(session.owner):
            for _ in range(_COMPARED_AGAIN_MAX):
                compared = await reconciler.compared(believed)
                gathered = compared.gathered
                outcome.stored, outcome.again = len(gathered.new), compared.again
                outcome.pending = sum(fact.status == "pending" for fact in gathered.new)
                outcome.dropped["settled before"] = compared.settled
                read = Read(
                    session=session.id,
                    from_seq=turns[0].seq - 1,
                    to_seq=turns[-1].seq,
                    claim=claim,
                    reading=_reading(outcome, origin) if worth else None,
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

    def _lock_of(self, owner: str) -> asyncio.Lock:
        """Who holds this compares and commits; the owner's other sessions that are read here wait, so that none starves."""
        return self._locks.setdefault(owner, asyncio.Lock())

    async def _claims(self, session: Session, turns: Sequence[Turn], before: Sequence[Turn], means: Means) -> _Claims:
        """What the model claims. A single turn that is too long for it is shown shorter, so that it stops no later one."""
        if means.extracting.name == OFFLINE:
            return _Claims(claimed=ClaimedFacts(facts=claims_of(turns)), prompt="none")
        near = await self._near.active(session.owner, "\n".join(map(words_of, turns)), KNOWN_SHOWN)
        known = [" ".join(fact.content.split()) for fact in near]
        problem = ModelTooLong("")
        for shown, is_cut in _ways_to_show(turns, before, known, means):
            try:
                claimed = await self._asked(session, shown, max(3, min(20, len(turns))), means)
            except ModelTooLong as long:
                problem = long
                continue
            if is_cut:
                name = means.extracting.name
                _log.warning("session %s: the middle of turn %d is too long for %s", session.id, turns[0].seq, name)
            return _Claims(claimed=claimed, prompt=load("facts").version, cut=int(is_cut))
        raise problem

    async def _asked(self, session: Session, shown: str, most: int, means: Means) -> ClaimedFacts:
        """The model's answer; asked for once more where it is of no use. If it still is, the part is read later."""
        problem = ModelBadOutput("")
        instructions, fence = load("facts").filled(most=most), new_fence(self._store.clock)
        for _ in range(2):
            request = Request(
                purpose="facts",
                instructions=instructions + (f"\n\nYour last answer was of no use: {problem}" if str(problem) else ""),
                material=f"{fence}\n{shown.replace(fence, '[mark]')}\n{fence}",
                tokens_max=means.answer_tokens_max,
                deadline_seconds=means.deadline_seconds,
                schema=ClaimedFacts,
                owner=session.owner,
                session=session.id,
            )
            try:
                answer = await means.extracting.complete(request)
            except ModelBadOutput as bad:
                problem = bad
                continue
            assert isinstance(answer.data, ClaimedFacts)
            return answer.data
        raise problem


@dataclass(frozen=True, kw_only=True, slots=True)
class _Claims:
    """What a model claims, by which prompt, and of how many turns it was not shown the middle."""

    claimed: ClaimedFacts = field(default_factory=lambda: ClaimedFacts(facts=[]))
    prompt: str
    cut: int = 0


def _room(means: Means) -> int:
    """How many tokens of a conversation the model reads at once."""
    room = means.extracting.window_tokens - _PROMPT_TOKENS - means.answer_tokens_max
    return max(_PART_TOKENS_MIN, min(means.part_tokens, room))


def _ways_to_show(
    turns: Sequence[Turn], before: Sequence[Turn], known: Sequence[str], means: Means
) -> Iterator[tuple[str, bool]]:
    """What the model is shown, and whether a turn is cut in it; after it, what is shorter, if it is about a single turn."""
    zone = means.frame.zone
    around = [f"known already: {each}" for each in known]
    around += [_line_before(turn, zone) for turn in before if _is_worth_reading(turn)]
    yield "\n".join([*around, record(turns, zone)]), False
    if len(turns) > 1:
        return
    if around:
        yield record(turns, zone), False
    words = words_of(turns[0])
    whole = replace(turns[0], text=words, parts=(), recalled=(), tokens=estimate(words))
    tokens_max = min(_room(means), whole.tokens - 1)
    while tokens_max >= _PART_TOKENS_MIN:  # what a model can take is estimated, too
        yield record(shrunk([whole], tokens_max)[0], zone), True
        tokens_max //= 2


def record(turns: Iterable[Turn], zone: tzinfo) -> str:
    """The turns as a model reads them for facts: number, speaker, moment, words."""
    return "\n".join(_line(turn, zone) for turn in turns)


def _line(turn: Turn, zone: tzinfo) -> str:
    words = words_of(turn).strip()
    if turn.role == "tool" and len(words) > RESULT_CHARS_MAX:
        words = words[:RESULT_CHARS_MAX] + " …"
    return f"[{turn.seq}] {_said(turn, zone, words)}"


def _line_before(turn: Turn, zone: tzinfo) -> str:
    """A turn that was read already. It has no number here, or a small model draws facts from it again."""
    return f"before: {_said(turn, zone, excerpt(words_of(turn).strip(), _BEFORE_CHARS_MAX))}"


def _said(turn: Turn, zone: tzinfo, words: str) -> str:
    at = turn.at.astimezone(zone)
    speaker = "somebody else" if turn.role == "user" and turn.trust == "other" else turn.role
    set_in = words.replace("\n", "\n    ")
    return f"{speaker}, {day_text(at)}, {at:%H:%M}: {set_in}"


def _is_worth_reading(turn: Turn) -> bool:
    return turn.role != "system" and says_something(turn.role, turn.origin) and bool(words_of(turn).strip())


def _believed(
    checked: Checked, with_words: Callable[[Iterable[Proved]], list[Proved]], outcome: Outcome, most: int
) -> list[tuple[Proved, Verdict]]:
    """What is proved and not turned away at the gate, with the turns it has words from; the rest is counted."""
    judged = [(proved, gate(proved)) for proved in checked.proved]
    outcome.dropped.update(checked.dropped)
    outcome.dropped.update(verdict.why or "" for _, verdict in judged if verdict.status == "dropped")
    believed = [each for each in judged if each[1].status != "dropped"]
    believed.sort(key=lambda each: not each[1].is_owners)  # what others said does not crowd out the owner
    if len(believed) > most:
        outcome.dropped["too many"] += len(believed) - most
    verdicts = [verdict for _, verdict in believed[:most]]
    whole = list(zip(with_words([proved for proved, _ in believed[:most]]), verdicts, strict=True))
    kept = [each for each in whole if len(each[0].needed) < EVIDENCE_MAX]
    if len(kept) < len(whole):
        outcome.dropped["words from too many turns"] += len(whole) - len(kept)
    return sorted(kept, key=lambda each: each[0].turn.seq)  # as it was said: what was said later replaces


def _reading(outcome: Outcome, origin: Origin) -> Reading:
    return Reading(
        claimed=outcome.claimed,
        stored=outcome.stored,
        again=outcome.again,
        dropped={why: count for why, count in outcome.dropped.items() if count},
        model=origin.model,
        prompt=origin.prompt,
    )
