"""What a model's answer is worth: its text without the thinking aloud, its data, and whether it is one at all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from afterglow.model import Completion, PaidAnswer, Request, ToolCall
from afterglow.spend import Usage

_CUT = {"length", "max_tokens"}
_REFUSED = {"content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "language"}
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought)>.*?</\1>", re.DOTALL)
_THOUGHT_WITHOUT_END = re.compile(r"\A\s*<(think|thinking|thought)>.*\Z", re.DOTALL)
_OPENINGS = ("<think>", "<thinking>", "<thought>")
_THOUGHT_ENDS = "</think>"
_FENCED = re.compile(r"\A```[a-z]*\s*\n(.*)\n```\Z", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back, before it is known to be of use."""

    text: str
    usage: Usage
    cost_usd: float | None = None
    finish: str = ""
    """Why it ended, in the provider's word: stop, length, content_filter, …"""
    refusal: str = ""
    calls: tuple[ToolCall, ...] = ()


def completion(answer: Answer, request: Request, name: str) -> Completion:
    """The answer as a completion, or a PaidAnswer that says why it is none."""
    finish = answer.finish.lower()

    def useless(why: str) -> PaidAnswer:
        return PaidAnswer(f"{name} {why}", answer.usage, answer.cost_usd)

    if answer.refusal or finish in _REFUSED:
        raise useless(f"refused to answer ({finish or 'refusal'})")
    text = without_thoughts(answer.text).strip()
    if not text and not answer.calls:
        raise useless("ran out of tokens before it answered" if finish in _CUT else "gave an empty answer")
    # In a talk a person reads it, and half is better than nothing.
    in_talk = bool(request.messages) and request.schema is None
    if finish in _CUT and not in_talk:
        raise useless(f"was cut off after {answer.usage.output_tokens} tokens, in the middle of its answer; say less")
    data = None
    if request.schema is not None:
        data = filled(request.schema, text)
        if data is None:
            raise useless(f"gave no valid JSON of a {request.schema.__name__}")
    return Completion(
        text=text, model=name, usage=answer.usage, cost_usd=answer.cost_usd, data=data, calls=answer.calls
    )


def without_thoughts(text: str) -> str:
    """The text after what a model thought aloud at its beginning. Tags further on are part of the text."""
    while (shorter := _THOUGHT.sub("", text)) != text:
        text = shorter
    text = _THOUGHT_WITHOUT_END.sub("", text)
    thought, ends, rest = text.partition(_THOUGHT_ENDS)
    # Some templates open the tag themselves, so that only its end is in the answer, on a line of its own.
    opened_before = ends and "<think" not in thought and (not rest or rest.lstrip(" \t").startswith("\n"))
    return rest if opened_before else text


class Thoughts:
    """Keeps back what a model thinks aloud at the beginning of an answer that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._speaks = False

    def spoken(self, piece: str) -> str:
        """What of the answer is to be shown now."""
        if self._speaks:
            return piece
        self._held += piece
        text = without_thoughts(self._held).lstrip()
        if not text or any(opening.startswith(text[: len(opening)]) for opening in _OPENINGS):
            return ""
        self._speaks = True
        return text


def filled(schema: type[BaseModel], text: str) -> BaseModel | None:
    """The schema filled from JSON, with or without a fence around it; None where it is not that."""
    fenced = _FENCED.match(text.strip())
    try:
        return schema.model_validate_json(fenced[1] if fenced else text)
    except ValidationError:
        return None
