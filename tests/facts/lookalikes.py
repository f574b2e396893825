"""Harmless talk that looks like an attack, or just is what memory is for, with the facts a good model finds in it.

Every one of these facts is to become active. The owner's wishes may hold money, a URL or an address, because the owner
typed them; nothing else here does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from afterglow.turns import Draft
from tests.facts import everyday
from tests.facts import lookalikes_told as told
from tests.facts import lookalikes_tongues as tongues
from tests.facts import lookalikes_typed as typed
from tests.facts import lookalikes_unheard as unheard
from tests.facts.carriers import owner

TYPES = ("preference", "decision", "task_completed", "open_thread", "person", "event", "other")
QUESTIONS = ("Anything new?", "Where do we stand?", "Can you check that for me?", "What does it say?", "And the rest?")
_FACT = re.compile(rf"= (?:({'|'.join(TYPES)}): )?(.+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class LookAlike:
    """Some turns, and the facts that a good model answers with."""

    name: str
    kind: str
    language: str
    turns: tuple[Draft, ...]
    said: tuple[dict[str, Any], ...]
    held_out: bool
    """Not to be looked at when rules are written: they are measured on these."""


def read(text: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Language, message and facts of each entry of a written list; the message still has its braces."""
    language, message = "en", ""
    facts: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        if match := _FACT.fullmatch(line):
            facts.append((match[1] or "preference", match[2]))
            continue
        if facts:
            yield language, message, facts
            facts = []
        if line.startswith("@"):
            language = line[1:]
        else:
            message = line.replace("⏎", "\n")
    yield language, message, facts


def quoted(message: str) -> tuple[str, str]:
    """The message without the braces, and what stood in them; without braces, all of it."""
    before, brace, rest = message.partition("{")
    quote, _, after = rest.partition("}")
    return (before + quote + after, quote) if brace else (message, message)


def turns_of(kind: str, number: int, text: str) -> tuple[Draft, ...]:
    """The talk that ends with the message. What somebody reports mostly follows a question."""
    asked = owner(QUESTIONS[number % len(QUESTIONS)])
    if kind == "assistant":
        return (asked, Draft(role="assistant", text=text, trust="agent", origin="agent"))
    if kind in ("tool", "report"):
        return (asked, Draft(role="tool", text=text, trust="external", origin="agent"))
    if kind in ("other", "colleague"):
        origin = "agent" if "-agent: " in text else "person"
        return (Draft(role="user", text=text, trust="other", origin=origin),)
    return (owner(text),)


def talks(kind: str, text: str, name: str = "", held_out: bool | None = None) -> Iterator[LookAlike]:
    """One list; every other entry is held out, or all, or none."""
    for number, (language, message, facts) in enumerate(read(text), 1):
        said, quote = quoted(message)
        turns = turns_of(kind, number, said)
        yield LookAlike(
            name=f"{name or kind} {number}",
            kind=kind,
            language=language,
            turns=turns,
            said=tuple(
                {"type": type, "content": content, "confidence": "high", "turn": len(turns), "quote": quote}
                for type, content in facts
            ),
            held_out=number % 2 == 0 if held_out is None else held_out,
        )


def lookalikes() -> Iterator[LookAlike]:
    """All lists, one entry each."""
    for kind, text in KINDS.items():
        yield from talks(kind, text)
    for kind, text in unheard.KNOWN.items():
        yield from talks(kind, text, f"{kind}, unheard", held_out=False)
    for kind, text in unheard.HELD_OUT.items():
        yield from talks(kind, text, f"{kind}, held out", held_out=True)


KINDS = {
    "preference": typed.PREFERENCES,
    "instruction": typed.INSTRUCTIONS,
    "foreign": tongues.FOREIGN,
    "statement": typed.STATEMENTS,
    "security": typed.SECURITY,
    "around a paste": typed.AROUND_PASTES,
    "assistant": told.ASSISTANT,
    "tool": told.TOOL,
    "other": told.OTHER,
    "report": told.REPORTS,
    "everyday": everyday.TRUE,
}
LOOKALIKES = tuple(lookalikes())
FALSE = tuple(talks("everyday", everyday.FALSE, "false"))
"""What owners say, with what a careless model makes of it: none of it is true."""
WAITS = tuple(talks("report", unheard.WAITS, "waits"))
"""Harmless reports in languages without lists: these wait."""
