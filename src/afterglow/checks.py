"""What is wrong with a summary that a model wrote, in words that can be put to the model. Nothing, for a good one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterglow.guard import strip_invisible
from afterglow.language import language_of
from afterglow.tokens import estimate

_REFUSALS = (
    r"(?:i['’]?m|i am) (?:very |so |really |afraid i['’]?m )?(?:sorry|unable|not able)",
    r"sorry[,.!] |sorry,? (?:but )?i\b|(?:i|my) apolog(?:i[sz]e|ies)",
    r"i (?:can(?:not|['’]t)|won['’]t|will not|must decline)",
    r"as an? (?:ai|language model)(?: language model| model| assistant)?,? i\b",
    r"unfortunately,? i (?:can|am|do|will)",
    r"(?:es )?tut mir leid|(?:entschuldigung,? )?ich kann (?:leider )?(?:dabei )?nicht",
    r"lo siento|no puedo|desculpe|não posso|mi dispiace|non posso",
    r"(?:je suis )?désolée?|je ne peux pas",
    r"het spijt me|ik kan (?:je |u )?(?:daar|hier)",
    r"przepraszam|nie mogę|извините|к сожалению|я не могу",
    r"抱歉|对不起|對不起|很遗憾|申し訳|すみません|죄송|عذر|آسف|क्षमा|माफ़",
)
_ERRORS = (
    r"(?:error|exception)\s*(?::|code\b|\d{3}\s*(?::|[-–]|$))|traceback \(most recent",
    r"https? (?:error|status)|http[/ ](?:\d(?:\.\d)? )?[45]\d\d\b|http/\d",
    r"[45]\d\d\s*(?::|[-–]|error|bad|internal|too many|service|gateway|unauthori[sz]ed|forbidden|not found)",
    r"<!doctype|<html|\{\s*\"?error",
    r"internal server error|bad gateway|gateway time-?out|upstream (?:error|connect)",
    r"service (?:is )?(?:temporarily )?unavailable",
    r"rate limit (?:exceeded|reached)|too many requests|quota exceeded|(?:the )?(?:server|model) is (?:currently )?overloaded",
    r"(?:this model's )?maximum context length|invalid api key|request timed out",
)
_REFUSAL = re.compile(rf"^\W*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)
_ERROR = re.compile(rf"^\W*(?:{'|'.join(_ERRORS)})", re.IGNORECASE)
TOO_LONG = "it was too long"
_CURT_TOKENS = 80
"""Refusals and errors are short. A longer text that begins like one is a summary of a talk about such things."""
_WORD = re.compile(r"\w+")
_SPEAKER = re.compile(r"^(?:\d{1,2}:\d{2} )?(?:user|assistant)\s*:|^\d{1,2}:\d{2}\b", re.IGNORECASE | re.MULTILINE)
_USER = re.compile(r"^(?:\d{1,2}:\d{2} )?user: (.+)$", re.MULTILINE)
_ECHO_WORDS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Flaw:
    """What is wrong with a summary. A bearable one is true to the record, and can stand if nothing better is to be had."""

    reason: str
    bearable: bool = False


def flaw_in(
    text: str, *, instructions: str, material: str, fence: str, tokens_max: int, replaced_tokens: int, of_talk: bool
) -> Flaw | None:
    """Why this text should not stand for the material; None where it can. What stands for talk is to be in other words."""
    problem = problem_with(
        text,
        instructions=instructions,
        material=material,
        fence=fence,
        tokens_max=tokens_max,
        replaced_tokens=replaced_tokens,
    )
    if problem:
        return Flaw(reason=problem, bearable=problem == TOO_LONG)
    if of_talk and len(_SPEAKER.findall(text)) > 1:
        return Flaw(reason="it was a dialogue, and a report is wanted", bearable=True)
    if of_talk and _copies(text, material):
        return Flaw(reason="it copied the record instead of reporting on it", bearable=True)
    if estimate(text) * 4 < tokens_max and replaced_tokens > 2 * tokens_max:
        return Flaw(reason="it left out nearly everything")
    return None


def problem_with(
    text: str, *, instructions: str, material: str, fence: str, tokens_max: int, replaced_tokens: int
) -> str:
    """Why this text is no answer at all, or none that fits; an empty string where it is one."""
    flaw = not_an_answer(
        text,
        instructions=instructions,
        material=material,
        fence=fence,
        tokens_max=tokens_max,
        replaced_tokens=replaced_tokens,
    )
    return flaw or _wrong_language(strip_invisible(text)[0], material)


def not_an_answer(
    text: str, *, instructions: str, material: str, fence: str, tokens_max: int, replaced_tokens: int
) -> str:
    """The same, whatever language it is in."""
    text = strip_invisible(text)[0]
    tokens = estimate(text)
    found = {
        "it was empty": not text.strip(),
        "it was far longer than what it summarises": len(text) > 20 * len(material) + 10_000,
        "it repeated the instructions instead of following them": fence in text or _echoes(text, instructions),
        "it was a refusal; a report on the record is wanted, whatever the record says": _is_curt(
            text, tokens, _REFUSAL
        ),
        "it was the text of an error": _is_curt(text, tokens, _ERROR),
        "it was longer than what it summarises": tokens >= replaced_tokens,
        TOO_LONG: tokens > tokens_max,
    }
    return next((reason for reason, is_so in found.items() if is_so), "")


def _is_curt(text: str, tokens: int, like: re.Pattern[str]) -> bool:
    return tokens <= _CURT_TOKENS and like.match(text) is not None


def _copies(text: str, material: str) -> bool:
    """Whether at least half of the runs of eight words are the record's own."""
    words = _WORD.findall(text.lower())
    given = f" {' '.join(_WORD.findall(material.lower()))} "
    runs = [words[place : place + 8] for place in range(len(words) - 7)]
    return len(words) >= 30 and 2 * sum(f" {' '.join(run)} " in given for run in runs) >= len(runs)


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


def _languages(material: str) -> set[str | None]:
    """The languages of what is said in it: people mix them, and tools find things in others."""
    lines = material.split("\n")
    by_people = " ".join(_USER.findall(material))
    size = max(1, len(lines) // 20)
    pieces = (" ".join(lines[place : place + size]) for place in range(0, len(lines), size))
    return {language_of(by_people), *map(language_of, pieces)}
