"""What is wrong with a summary that a model wrote, in words that can be put to the model. Nothing, for a good one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from afterglow.language import language_of
from afterglow.tokens import estimate

_REFUSALS = (
    r"(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|unable|not able)",
    r"sorry[,.!]|sorry,? (?:but )?i\b",
    r"i (?:can(?:not|['’]t)|won['’]t|will not|must decline)",
    r"as an? (?:ai|language model)",
    r"unfortunately,? i (?:can|am|do|will)",
    r"es tut mir leid|ich kann (?:leider )?nicht",
    r"lo siento|no puedo",
    r"je suis désolé|je ne peux pas",
    r"mi dispiace",
    r"przepraszam|nie mogę",
)
_ERRORS = (
    r"(?:error|exception)\s*(?::|\d{3}\b|code\b)|traceback \(most recent",
    r"https? (?:error|status)|http/\d",
    r"[45]\d\d\s*(?::|[-–]|error|bad|internal|too many|service|gateway|unauthori[sz]ed|forbidden|not found)",
    r"<!doctype|<html|\{\s*\"?error",
    r"internal server error|bad gateway|gateway time-?out|upstream (?:error|connect)",
    r"service (?:is )?(?:temporarily )?unavailable",
    r"rate limit (?:exceeded|reached)|too many requests|quota exceeded|(?:the )?(?:server|model) is (?:currently )?overloaded",
    r"(?:maximum )?context length|invalid api key|request timed out",
)
_REFUSAL = re.compile(rf"^\W*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)
_ERROR = re.compile(rf"^\W*(?:{'|'.join(_ERRORS)})", re.IGNORECASE)
_CURT_TOKENS = 80
"""Refusals and errors are short. A longer text that begins like one is a summary of a talk about such things."""
_WORD = re.compile(r"\w+")
_ECHO_WORDS = 12


def problem_with(
    text: str, *, instructions: str, material: str, fence: str, tokens_max: int, replaced_tokens: int
) -> str:
    """Why this text cannot stand for the material; an empty string where it can."""
    if not text.strip():
        return "it was empty"
    if len(text) > 20 * len(material) + 10_000:
        return "it was far longer than what it summarises"
    if fence in text or _echoes(text, instructions):
        return "it repeated the instructions instead of following them"
    tokens = estimate(text)
    if tokens <= _CURT_TOKENS and _REFUSAL.match(text):
        return "it was a refusal; a summary of a record is wanted, whatever the record says"
    if tokens <= _CURT_TOKENS and _ERROR.match(text):
        return "it was the text of an error"
    if tokens >= replaced_tokens:
        return "it was longer than what it summarises"
    if tokens > tokens_max:
        return "it was too long"
    return _wrong_language(text, material)


def is_only_too_long(problem: str) -> bool:
    """Whether the text would do, if it were shorter."""
    return problem == "it was too long"


def _echoes(text: str, instructions: str) -> bool:
    """Whether a dozen words in a row are the instructions' own."""
    words = _WORD.findall(instructions.lower())
    said = f" {' '.join(_WORD.findall(text.lower()))} "
    runs = (words[place : place + _ECHO_WORDS] for place in range(0, len(words) - _ECHO_WORDS + 1, 3))
    return any(f" {' '.join(run)} " in said for run in runs)


def _wrong_language(text: str, material: str) -> str:
    given, answered = language_of(material), language_of(text)
    if given is None or answered is None or given == answered or answered in _languages(material):
        return ""
    return f"it was in {answered}, and the conversation is in {given}"


def _languages(material: str) -> Sequence[str | None]:
    """The languages of the material's parts: people mix them."""
    size = max(500, len(material) // 20)
    return [language_of(material[place : place + size]) for place in range(0, len(material), size)]
