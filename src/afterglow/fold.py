"""One fold: what is to be replaced goes in, the text that replaces it comes out, checked.

The model is asked; what it says is checked; it is asked once more, more strictly; and if that is no good either, sentences
are chosen from the material itself, and the result says so. A model that cannot be had at all is not made up for: its
error goes to the caller, the turns stay as they are, and the work is tried again later.

Identifiers that the material had and the summary lost are put behind it as far as there is room, and so is what the user
asked for; the rest is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from afterglow.checks import Flaw, flaw_in
from afterglow.errors import ModelBadOutput
from afterglow.identifiers import in_its_sentence, in_words, missing
from afterglow.model import Completion, Model, PaidAnswer, Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.model.offline import choose_sentences
from afterglow.prompts import Prompt, load
from afterglow.tokens import estimate

ASKED_MAX = 2
ASKED_TOKENS_MAX = 40
LOST_LISTED_MAX = 50
_SUMMARY_SHARE = 0.7
"""The share of a block that the model is asked to fill; the rest is for what it forgets."""
_WORDS_A_TOKEN = 0.75
_REQUESTS = (
    r"please|can you|could you|would you|will you|remind me|don['’]t forget|let me know|i need you to|i want you to",
    r"make sure|to-?do|bitte|kannst du|erinner|vergiss nicht|por favor|puedes|recuérdame",
    r"s'il (?:te|vous) pla[iî]t|peux-tu|pouvez-vous|rappelle|proszę|przypomnij|możesz",
)
_REQUEST = re.compile(rf"\b(?:{'|'.join(_REQUESTS)})\b|请|提醒", re.IGNORECASE)
_SENTENCE = re.compile(r"[^\n]+?(?:(?<![.!?])[.!?]++(?=\s|$)|[。！？]|$)", re.MULTILINE)
_CONTENT = re.compile(r"\w{4,}|[^\W\d_a-zA-Z]{1,}")
WORDLESS = "(nothing was said in words)"
_NAMED = re.compile(r"^Named: .+$", re.MULTILINE)
_OPEN = re.compile(r"^(?:Open|Asked):\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """What is to be replaced: its text, what in it the user asked for, and how many tokens it takes up now."""

    text: str
    said: str
    """The same as lines of which each can stand alone, to choose sentences from."""
    identifiers: Mapping[str, int]
    requests: tuple[str, ...]
    replaced_tokens: int
    whole: str = ""
    """What was said together with the names put behind earlier summaries; where there are none, it is the same."""

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """How a fold is to be made."""

    prompt: str
    purpose: str
    tokens_max: int
    fence: str
    deadline_seconds: float
    owner: str
    session: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The text of a block, and where it comes from."""

    text: str
    prompt: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    extract: bool
    lost: tuple[str, ...]
    lost_count: int


async def fold(model: Model, material: Material, order: Order) -> Written:
    """The text that can stand for the material in at most `tokens_max` tokens."""
    prompt = load(order.prompt)
    paid: list[Completion | PaidAnswer] = []
    flaw: Flaw | None = None
    summary = ""
    for _ in range(2):
        request = _request(prompt, material, order, flaw)
        try:
            answer = await model.complete(request)
            paid.append(answer)
            summary = answer.text.strip()
            flaw = flaw_in(
                summary,
                instructions=request.instructions,
                material=material.text,
                fence=order.fence,
                tokens_max=order.tokens_max,
                replaced_tokens=material.replaced_tokens,
                of_talk=order.prompt == "fold",
            )
        except ModelBadOutput as bad:
            flaw = Flaw(reason=str(bad))
            paid += [bad] if isinstance(bad, PaidAnswer) else []
        if flaw is None:
            break
    if flaw is not None:
        of = summary if flaw.bearable else material.said
        summary = choose_sentences(of, int(order.tokens_max * _SUMMARY_SHARE))
    text, lost = _with_what_it_lost(summary, material, order.tokens_max)
    costs = [each.cost_usd for each in paid]
    return Written(
        text=text,
        prompt=prompt.version,
        model=model.name,
        input_tokens=sum(each.usage.input_tokens for each in paid),
        output_tokens=sum(each.usage.output_tokens for each in paid),
        cost_usd=None if None in costs else sum(cost or 0 for cost in costs),
        extract=flaw is not None and not flaw.bearable,
        lost=tuple(lost[:LOST_LISTED_MAX]),
        lost_count=len(lost),
    )


def extract(material: Material, tokens_max: int) -> Written:
    """A fold without a model: sentences of the material itself, to be replaced by a good summary later."""
    summary = choose_sentences(material.said, int(tokens_max * _SUMMARY_SHARE))
    text, lost = _with_what_it_lost(summary, material, tokens_max)
    return Written(
        text=text,
        prompt="none",
        model=OFFLINE,
        input_tokens=0,
        output_tokens=0,
        cost_usd=0.0,
        extract=True,
        lost=tuple(lost[:LOST_LISTED_MAX]),
        lost_count=len(lost),
    )


def requests_in(said_by_user: str) -> tuple[str, ...]:
    """The sentences in which the user asks for something, the last first."""
    sentences = [match.group().strip() for match in _SENTENCE.finditer(said_by_user)]
    asked = [each for each in sentences if _REQUEST.search(each) and estimate(each) <= ASKED_TOKENS_MAX]
    return tuple(dict.fromkeys(reversed(asked)))


def with_names(text: str, material: Material, tokens_max: int) -> str:
    """The text, and behind it the identifiers of the material that it lost, as far as there is room."""
    named: list[str] = []
    room = tokens_max - estimate(f"{text}\nNamed: .")
    for word in missing(material.identifiers, text):
        phrase = in_words(word, material.said)
        if phrase in named:
            continue
        if estimate(f"{phrase}, ") > room:
            break
        room -= estimate(f"{phrase}, ")
        named.append(phrase)
    for place, phrase in enumerate(named):  # all names first; then, while there is room, what they are
        told = in_its_sentence(phrase, material.whole or material.said)
        longer = estimate(told) - estimate(phrase)
        if longer <= room:
            room -= longer
            named[place] = told
    return f"{text}\nNamed: {', '.join(dict.fromkeys(named))}." if named else text


def without_names(text: str) -> str:
    """A text without the names put behind it, which say nothing by themselves."""
    return _NAMED.sub("", text).strip()


def still_open(block_texts: Sequence[str]) -> tuple[str, ...]:
    """What blocks say is still open, the last first."""
    found = [match.group(1).strip() for text in block_texts for match in _OPEN.finditer(text)]
    return tuple(each for each in dict.fromkeys(reversed(found)) if estimate(each) <= ASKED_TOKENS_MAX)


def _request(prompt: Prompt, material: Material, order: Order, flaw: Flaw | None) -> Request:
    words = max(20, int(order.tokens_max * _SUMMARY_SHARE * _WORDS_A_TOKEN))
    instructions = prompt.filled(words=words)
    if flaw is not None:
        instructions += "\n\n" + load("again").filled(problem=flaw.reason, words=words)
    return Request(
        purpose=order.purpose,
        instructions=instructions,
        material=(
            f"{order.fence}\n{material.text.replace(order.fence, '[mark]')}\n{order.fence}\n"
            + load("end").filled(words=words)
        ),
        tokens_max=int(order.tokens_max * _SUMMARY_SHARE),
        deadline_seconds=order.deadline_seconds,
        owner=order.owner,
        session=order.session,
    )


def _with_what_it_lost(summary: str, material: Material, tokens_max: int) -> tuple[str, list[str]]:
    """The summary, what the user asked for and it left out, and the identifiers it lost, as far as there is room."""
    text = summary or WORDLESS
    for asked in [each for each in material.requests if not _covers(summary, each)][:ASKED_MAX]:
        longer = f"{text}\nAsked: {asked}"
        text = longer if estimate(longer) <= tokens_max else text
    text = with_names(text, material, tokens_max)
    return text, missing(material.identifiers, text)


def _covers(summary: str, sentence: str) -> bool:
    """Whether the summary has at least half of the sentence's words that matter."""
    words = set(_CONTENT.findall(sentence.lower()))
    return sum(word in summary.lower() for word in words) * 2 >= len(words)
