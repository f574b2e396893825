"""New facts beside those that are known: which are new, which are said again, which take the place of another.

Cheap rules decide what is clear, the model is asked about the rest, once for each pair: if other facts come in before the
commit, only what is new is compared again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from pydantic import BaseModel, Field

from afterglow.clock import new_fence, new_id
from afterglow.errors import ModelBadOutput, ModelTooLong
from afterglow.facts import EVIDENCE_MAX, Evidence, Fact, normalised
from afterglow.facts.checks import Proved
from afterglow.facts.gate import Verdict
from afterglow.facts.likeness import Statement, likeness
from afterglow.facts.said import Spoken, words_of
from afterglow.facts.support import lacking
from afterglow.model import Model, Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.search.meaning import Meaning, Vectors
from afterglow.search.memory_search import memory_search
from afterglow.store.contract import Store
from afterglow.store.facts import Again, Gathered, WantedFacts
from afterglow.terms import query_terms, terms
from afterglow.turns import Session

NEAR_COMPARED = 8
_PENDING_COMPARED = 50
_QUERY_CHARS = 8_000


class Near:
    """Finds the facts that are nearest to a text, and says how near they are in meaning."""

    def __init__(self, store: Store, meaning: Callable[[], Meaning | None]) -> None:
        self._store = store
        self._meaning = meaning

    async def active(self, owner: str, text: str, limit: int) -> list[Fact]:
        """The nearest of those that are believed, by words and meaning."""
        text = text[:_QUERY_CHARS]
        if not query_terms(text):
            return []
        hits = await memory_search(self._store, self._meaning(), owner, text, kinds=("fact",), limit=limit)
        return [await self._store.fact(owner, hit.fact) for hit in hits.hits]

    async def pending(self, owner: str) -> list[Fact]:
        """The few that wait for the owner, the newest of them."""
        return await self._store.facts(owner, WantedFacts(status="pending"), limit=_PENDING_COMPARED)

    async def cosines(self, text: str, others: Sequence[str], made: Vectors) -> Sequence[float | None]:
        """How near each of the others is to the text; None where nobody can say. `made` keeps the vectors for the next."""
        meaning = self._meaning() if others else None
        found = None if meaning is None else await meaning.alike(text, others, made)
        return [None] * len(others) if found is None else found


class Compared(BaseModel):
    """One verdict of a model on a pair of facts."""

    pair: int
    verdict: str


class ComparedPairs(BaseModel):
    """A model's verdicts."""

    pairs: list[Compared] = Field(default=[])


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where facts come from: the session, the model, its prompt, and the zone in which their days are counted."""

    session: Session
    model: str
    prompt: str
    zone: tzinfo


@dataclass(kw_only=True, slots=True)
class Comparison:
    """What is to be stored of one part of a session, and what became of the rest."""

    gathered: Gathered
    again: int = 0
    """How many say what is known, or what another of them says."""
    settled: int = 0
    """How many were forgotten or replaced since they were said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What is known beside a fact: one that says the same, one that it takes the place of, one that has taken its place."""

    same: Fact | None = None
    older: Fact | None = None
    newer: Fact | None = None


class Reconciler:
    """Compares what one part of a session proved with what is known."""

    def __init__(self, store: Store, near: Near, model: Model, deadline_seconds: float, origin: Origin) -> None:
        self._store = store
        self._near = near
        self._model = model
        self._deadline_seconds = deadline_seconds
        self._origin = origin
        self._verdicts: dict[tuple[str, str], str] = {}
        self._vectors: Vectors = {}

    async def compared(self, believed: Sequence[tuple[Proved, Verdict]]) -> Comparison:
        """What to store, in the order it was said, by comparing with what is known now."""
        owner = self._origin.session.owner
        known = await self._store.known_facts(owner, [proved.content for proved, _ in believed])
        pending = await self._near.pending(owner) if believed else []
        new: list[Fact] = []
        again: list[Again] = []
        settled = 0
        for proved, verdict in believed:
            held = known.held.get(proved.content)
            if held is not None and _is_typed_anew(proved, verdict, held):
                held = None
            if held.status == "forgotten" if held is not None else await self._is_settled(proved):
                settled += 1
                continue
            fact = self._fact(proved, verdict)
            found = Found(same=held) if held is not None else await self._found(fact, new, pending)
            is_word = verdict.status == "active" and verdict.is_owners
            at = next((at for at, each in enumerate(new) if found.same is not None and each.id == found.same.id), None)
            if found.same is None or (held is None and at is None and _takes_the_place(found.same, is_word)):
                new.append(_placed(fact, found))
            elif found.same.trust == "owner" and not verdict.is_owners:
                continue  # the owner's fact rests on the owner's word
            elif at is None:
                again.append(self._again(found.same, fact, proved, is_word))
            else:
                new[at] = self._said_twice(found.same, fact, proved, is_word)
        gathered = Gathered(version=known.version, new=tuple(new), again=tuple(again))
        return Comparison(gathered=gathered, again=len(believed) - settled - len(new), settled=settled)

    def _said_twice(self, first: Fact, fact: Fact, proved: Proved, is_word: bool) -> Fact:
        """Two of one part as one fact. What the owner says too is the owner's word, and rests on that alone."""
        if _takes_the_place(first, is_word) and first.status != "superseded":
            return replace(fact, supersedes=first.supersedes)
        more = self._again(first, fact, proved, is_word)
        proofs = dict.fromkeys([*first.evidence, more.evidence, *more.needed])
        believed = {"status": "active", "why": None} if is_word and first.status == "pending" else {}
        return replace(first, evidence=tuple(proofs)[:EVIDENCE_MAX], **believed)

    def _again(self, same: Fact, fact: Fact, proved: Proved, is_word: bool) -> Again:
        """The known fact gains this proof. One in other words holds it up only if all that the known one says is in them."""
        proof, *needed = fact.evidence
        if normalised(same.content) != normalised(fact.content):
            day = proved.turn.at.astimezone(self._origin.zone).date()
            proof = replace(proof, proves=not lacking(same.content, Spoken(words_of(proved.turn), terms), day))
            needed = []
        return Again(owner=same.owner, fact=same.id, evidence=proof, needed=tuple(needed), believed=is_word)

    async def _is_settled(self, proved: Proved) -> bool:
        """Whether the same turn proved a fact that was forgotten since, or this one, and it was replaced.

        Of a forgotten fact no word is left to compare with, and a model may call it something else: so nothing new comes of
        its turn.
        """
        session, seq = self._origin.session, proved.turn.seq
        there = await self._store.facts_of_turns(session.owner, session.id, seq, seq)
        return any(
            fact.status == "forgotten"
            or (fact.status == "superseded" and normalised(fact.content) == normalised(proved.content))
            for fact in there
        )

    def _fact(self, proved: Proved, verdict: Verdict) -> Fact:
        now, turn, origin = self._store.clock.now(), proved.turn, self._origin
        return Fact(
            owner=origin.session.owner,
            id=new_id(self._store.clock),
            type=proved.type,
            content=proved.content,
            confidence=proved.confidence,
            source_date=turn.at.astimezone(origin.zone).date().isoformat(),
            extracted_at=now,
            trust="external" if turn.trust == "owner" and not verdict.is_owners else turn.trust,
            status="active" if verdict.status == "active" else "pending",
            why=verdict.why,
            supersedes=None,
            session=origin.session.id,
            way="extracted",
            model=origin.model,
            prompt=origin.prompt,
            changed_at=now,
            evidence=(
                Evidence(session=turn.session, seq=turn.seq, quote=proved.quote, at=turn.at),
                *(
                    Evidence(
                        session=turn.session,
                        seq=each.turn.seq,
                        quote=each.quote,
                        at=each.turn.at,
                        proves=False,
                        needed=True,
                    )
                    for each in proved.needed
                ),
            ),
        )

    async def _found(self, fact: Fact, new: Sequence[Fact], pending: Sequence[Fact]) -> Found:
        """The fact that says the same, or the one that this takes the place of, or that has taken its place."""
        newer = Statement(fact.content, terms)
        others = [*new, *await self._near.active(fact.owner, fact.content, NEAR_COMPARED), *pending]
        by_words = [likeness(Statement(other.content, terms), newer) for other in others]
        if "same" in by_words:
            return Found(same=others[by_words.index("same")])
        unlike = [other for other, verdict in zip(others, by_words, strict=True) if verdict == "different"]
        cosines = await self._near.cosines(fact.content, [other.content for other in unlike], self._vectors)
        far = {
            other.id
            for other, cosine in zip(unlike, cosines, strict=True)
            if likeness(Statement(other.content, terms), newer, cosine) == "different"
        }
        doubts = [other for other in others if other.id not in far]
        await self._ask([other for other in doubts if _pair(other, fact) not in self._verdicts], fact)
        said = {other.id: self._verdicts.get(_pair(other, fact)) for other in doubts}
        replacing = [other for other in doubts if said[other.id] == "replaces"]
        return Found(
            same=next((other for other in doubts if said[other.id] == "same"), None),
            older=next((other for other in replacing if _is_older(other, fact)), None),
            newer=next(
                (other for other in replacing if not _is_older(other, fact) and _may_replace(other, fact)), None
            ),
        )

    async def _ask(self, doubts: Sequence[Fact], fact: Fact) -> None:
        """What the model says of each doubt; where there is none, or it cannot say, both facts stay."""
        if not doubts or self._model.name == OFFLINE:
            return
        pairs = [
            "Pair {}\nolder: {}\nnewer: {}".format(number, *_pair(other, fact))
            for number, other in enumerate(doubts, 1)
        ]
        fence = new_fence(self._store.clock)
        request = Request(
            purpose="facts",
            instructions=load("compare").text,
            material="\n".join([fence, *pairs, fence]),
            tokens_max=40 + 30 * len(doubts),
            deadline_seconds=self._deadline_seconds,
            schema=ComparedPairs,
            owner=fact.owner,
            session=fact.session,
        )
        self._verdicts |= {_pair(other, fact): "" for other in doubts}  # asked once, whatever comes of it
        try:
            answer = await self._model.complete(request)
        except (ModelBadOutput, ModelTooLong):
            return
        assert isinstance(answer.data, ComparedPairs)
        for each in answer.data.pairs:
            if 1 <= each.pair <= len(doubts):
                self._verdicts[_pair(doubts[each.pair - 1], fact)] = each.verdict.strip().lower()


def _pair(other: Fact, fact: Fact) -> tuple[str, str]:
    """What the two say, what was said first before the other: an old session may be read after a new one."""
    here, there = " ".join(fact.content.split()), " ".join(other.content.split())
    return (there, here) if _is_older(other, fact) else (here, there)


def _is_typed_anew(proved: Proved, verdict: Verdict, held: Fact) -> bool:
    """Whether the owner typed it after it was forgotten: that is a new statement. An old transcript has no such turn."""
    turn = proved.turn
    return held.status == "forgotten" and verdict.is_owners and turn.origin == "person" and turn.at > held.changed_at


def _takes_the_place(same: Fact, is_word: bool) -> bool:
    """Whether the owner says what was another's word: that counts, and takes its place."""
    return is_word and same.trust != "owner"


def _placed(fact: Fact, found: Found) -> Fact:
    """The fact as it stands beside what was found: behind a newer one, or instead of an older one."""
    if found.same is None and found.newer is not None:
        return replace(fact, status="superseded")
    older = found.older if found.same is None else found.same
    return fact if older is None else _superseding(fact, older)


def _superseding(fact: Fact, older: Fact) -> Fact:
    """What the owner said or approved gives way to the owner's word alone; anybody else's waits until the owner approves it."""
    if older.is_owners_word and fact.trust != "owner" and fact.status == "active":
        fact = replace(fact, status="pending", why="it changes what the owner said")
    return replace(fact, supersedes=older.id)


def _may_replace(newer: Fact, fact: Fact) -> bool:
    """Whether a known fact, said later, stands in place of this one that is read only now."""
    return newer.status == "active" and (newer.is_owners_word or fact.trust != "owner")


def _is_older(other: Fact, fact: Fact) -> bool:
    """Whether it was said before. In one session the turns tell, since their times may be the same."""
    here = fact.evidence[0]
    said = [each for each in other.evidence if each.proves]
    return not said or any(
        each.seq <= here.seq if each.session == here.session else each.at <= here.at for each in said
    )
