"""The summary of a whole session: what it was about, written when it ends or goes quiet.

It is made from the session's blocks where they exist, so that turns are not read twice, and from the summary before where
there is one and what is new since. What the model fills in is checked by code; it is asked once more, more strictly; and if
that is no good either, or there is no model, the summary is made of the session's own sentences and says so (`degraded`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from pydantic import BaseModel, Field

from afterglow.checks import problem_with
from afterglow.compaction import Block
from afterglow.errors import ModelBadOutput, ModelTooLong
from afterglow.facts.names import CAPITALISED
from afterglow.facts.quoted import sentences_of_lines
from afterglow.fold import Material, Order, requests_in, with_names, without_names
from afterglow.identifiers import identifiers, missing
from afterglow.model import Completion, Model, PaidAnswer, Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.model.offline import choose_sentences
from afterglow.prompts import load
from afterglow.turns import Place, Session

Trigger = Literal["sunset-event", "periodic-sweep", "startup-drift", "idle", "manual"]
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)
Category = Literal["planning", "decision", "build", "fix", "research", "writing", "support", "personal", "other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

TITLE_WORDS_MAX = 10
ITEMS_MAX = 12
ITEM_CHARS_MAX = 300
_DECIDED = re.compile(
    r"\b(?:decided|agreed|we'll|we will|let's go with|settled on|chose|entschieden|beschlossen|decidimos|décidé|ustaliliśmy)\b",
    re.IGNORECASE,
)
_NAME = re.compile(rf"\b{CAPITALISED} {CAPITALISED}\b")
"""Two words that begin large, of letters alone: where nobody is there to tell who is a person, the best guess."""
_OPEN = re.compile(r"^(?:still )?open:|\b(?:to-?do|still open|still (?:have|has|need|needs) to)\b", re.IGNORECASE)
_LABEL = re.compile(r"^(?:user|assistant|tool|system|somebody else)(?: \(\w+\))?: ")


class Filled(BaseModel):
    """What a model says a session was about."""

    title: str = Field(description=f"What the session was about, in at most {TITLE_WORDS_MAX} words")
    summary: str = Field(description="What happened, in a few plain sentences")
    category: str = Field(description=f"One of: {', '.join(CATEGORIES)}")
    decisions: list[str] = Field(default=[], description="What was decided, each in one sentence")
    open_threads: list[str] = Field(default=[], description="What is still open, each in one sentence")
    outcomes: list[str] = Field(default=[], description="What was done or found, each in one sentence")
    people: list[str] = Field(default=[], description="Who was spoken of, by the names used")


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a session was about, from its first turn to `last_seq`."""

    owner: str
    session: str
    agent: str
    title: str
    summary: str
    category: Category
    decisions: tuple[str, ...]
    open_threads: tuple[str, ...]
    outcomes: tuple[str, ...]
    people: tuple[str, ...]
    first_seq: int
    last_seq: int
    first_at: datetime
    last_at: datetime
    trigger: Trigger
    model: str
    prompt: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    degraded: bool
    """Whether it was made without a model, or without its help."""
    created_at: datetime

    @property
    def place(self) -> Place:
        """Where it stands in a list."""
        return Place(last_at=self.last_at, owner=self.owner, session=self.session)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What was written, and where it comes from."""

    filled: Filled
    prompt: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    degraded: bool = False


def is_stale(session: Session) -> bool:
    """Whether the session has said something that its summary does not cover."""
    return session.said_seq > session.summary_seq


def material_of(old: Summary | None, blocks: Sequence[Block], transcript: str, said: str, tokens: int) -> Material:
    """What a summary is written from: the one before, the blocks since, the turns that are in no block."""
    parts = [f"The summary so far:\n{without_names(text_of(old))}"] if old else []
    parts += [f"What was said then, in short:\n{without_names(block.text)}" for block in blocks]
    parts += [f"What was said last:\n{transcript}"] if transcript else []
    made = [*([old.summary] if old else []), *(block.text for block in blocks)]
    whole = "\n".join([*made, said])
    return Material(
        text="\n\n".join(parts),
        said="\n".join([*map(without_names, made), said]),
        identifiers=identifiers(whole),
        requests=requests_in(said),
        replaced_tokens=tokens,
        whole=whole,
    )


def text_of(summary: Summary) -> str:
    """The summary as people and models read it."""
    lines = [summary.title, summary.summary]
    for label, items in (("Decided", summary.decisions), ("Outcome", summary.outcomes), ("Open", summary.open_threads)):
        lines += [f"{label}: {item}" for item in items]
    return "\n".join(lines)


async def write(model: Model, material: Material, order: Order) -> Written:
    """What the session was about, checked; from its own sentences where the model is of no use."""
    prompt = load(order.prompt)
    if model.name == OFFLINE:
        return Written(filled=by_choice(material, order.tokens_max), prompt="none", model=OFFLINE, degraded=True)
    paid: list[Completion | PaidAnswer] = []
    filled, problem = None, ""
    for _ in range(2):
        request = _request(order, material, problem)
        try:
            answer = await model.complete(request)
            paid.append(answer)
            assert isinstance(answer.data, Filled)
            filled = cleaned(answer.data, material)
            problem = _problem(filled, request, material, order)
        except ModelTooLong as long:  # the same again would be too long again
            problem = str(long)
            break
        except ModelBadOutput as bad:
            problem = str(bad)
            paid += [bad] if isinstance(bad, PaidAnswer) else []
        if not problem:
            break
    costs = [each.cost_usd for each in paid]
    if problem or filled is None:
        filled = by_choice(material, order.tokens_max)
    return Written(
        filled=_named(filled, material, order.tokens_max),
        prompt=prompt.version,
        model=model.name,
        input_tokens=sum(each.usage.input_tokens for each in paid),
        output_tokens=sum(each.usage.output_tokens for each in paid),
        cost_usd=None if None in costs else sum(cost or 0 for cost in costs),
        degraded=bool(problem),
    )


def together(made: Sequence[Written]) -> Written:
    """The last of several that were written one from the other, with what all of them cost."""
    costs = [each.cost_usd for each in made]
    return replace(
        made[-1],
        input_tokens=sum(each.input_tokens for each in made),
        output_tokens=sum(each.output_tokens for each in made),
        cost_usd=None if None in costs else sum(cost or 0 for cost in costs),
        degraded=any(each.degraded for each in made),
    )


def cleaned(filled: Filled, material: Material) -> Filled:
    """What was filled in, within its limits: no empty item, none twice, nobody who was not spoken of."""
    known = material.text.casefold()
    category = filled.category.strip().lower()
    return Filled(
        title=" ".join(filled.title.split()[:TITLE_WORDS_MAX]).strip(" .\"'"),
        summary=filled.summary.strip(),
        category=category if category in CATEGORIES else "other",
        decisions=_items(filled.decisions),
        open_threads=_items(filled.open_threads),
        outcomes=_items(filled.outcomes),
        people=[name for name in _items(filled.people) if name.casefold() in known],
    )


def _named(filled: Filled, material: Material, tokens_max: int) -> Filled:
    """What was filled in, and behind the summary the identifiers that stand nowhere in it."""
    items = (*filled.decisions, *filled.open_threads, *filled.outcomes, *filled.people)
    lost = missing(material.identifiers, "\n".join([filled.title, filled.summary, *items]))
    of_those = replace(material, identifiers={word: material.identifiers[word] for word in lost})
    return filled.model_copy(update={"summary": with_names(filled.summary, of_those, tokens_max)})


def by_choice(material: Material, tokens_max: int) -> Filled:
    """A summary of the material's own sentences."""
    sentences = [_LABEL.sub("", sentence) for sentence in sentences_of_lines(material.said)]
    first = next((each for each in sentences if len(each.split()) > 2), sentences[0] if sentences else "")
    open_threads = [each for each in reversed(sentences) if _OPEN.search(each)]
    open_threads += [_LABEL.sub("", request) for request in material.requests]
    return Filled(
        title=" ".join(first.split()[:TITLE_WORDS_MAX]).strip(" .,;:") or "A quiet session",
        summary=choose_sentences(material.said, tokens_max) or "Nothing was said.",
        category="other",
        decisions=_items([each for each in sentences if _DECIDED.search(each)])[:3],
        open_threads=_items(open_threads)[:3],
        people=_items(_NAME.findall(material.said))[:5],
    )


def _problem(filled: Filled, request: Request, material: Material, order: Order) -> str:
    if not filled.title:
        return "the title was empty"
    return problem_with(
        filled.summary,
        instructions=request.instructions,
        material=material.text,
        fence=order.fence,
        tokens_max=order.tokens_max,
        replaced_tokens=max(material.replaced_tokens, order.tokens_max),
    )


def _items(items: Sequence[str]) -> list[str]:
    clean = [" ".join(item.split())[:ITEM_CHARS_MAX] for item in items]
    return [item for item in dict.fromkeys(clean) if item][:ITEMS_MAX]


def _request(order: Order, material: Material, problem: str) -> Request:
    words = int(order.tokens_max * 0.5)
    instructions = load(order.prompt).filled(words=words, categories=", ".join(CATEGORIES))
    if problem:
        instructions += "\n\n" + load("again").filled(problem=problem, words=words)
    return Request(
        purpose="summary",
        instructions=instructions,
        material=f"{order.fence}\n{material.text.replace(order.fence, '')}\n{order.fence}",
        tokens_max=order.tokens_max,
        deadline_seconds=order.deadline_seconds,
        schema=Filled,
        owner=order.owner,
        session=order.session,
    )
