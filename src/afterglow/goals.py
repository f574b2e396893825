"""Goal events: one step of the agent's own work each, with which goal it was for and how it went.

Outcomes are a closed set. Words of other systems are mapped onto it, also where they go on (`failed_quota` is a failure).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Outcome = Literal["completed", "cancelled", "failed", "needs_you", "running"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

TITLE_CHARS_MAX = 200
NOTE_CHARS_MAX = 512

_OTHER_WORDS: Mapping[Outcome, str] = {
    "completed": "completed done success succeeded finished ok",
    "cancelled": "cancelled canceled aborted",
    "failed": "failed failure error budget_exhausted needs_retry timed_out",
    "needs_you": "needs_you needs_input needs_approval escalate escalated blocked waiting_for_you",
    "running": "running continue sleep in_progress started pending",
}
_KNOWN: Mapping[str, Outcome] = {word: outcome for outcome, words in _OTHER_WORDS.items() for word in words.split()}
_WARNED_MAX = 1_000
_warned: set[str] = set()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalEvent:
    """One step of the agent's work. `number` counts the events of this owner and agent without gaps, as they commit."""

    owner: str
    agent: str
    number: int
    goal: str
    step: str
    outcome: Outcome
    title: str
    """What the goal is called before people."""
    note: str
    """How it went in a few words: the reason of a failure, what is needed of you."""
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalPlace:
    """Where an event stands in a list, the newest first; a list goes on behind it."""

    at: datetime
    number: int
    owner: str


def outcome_of(word: str) -> Outcome:
    """The outcome that a word stands for; running for one that nobody knows, with a warning the first time."""
    known = known_outcome(word)
    if known is not None:
        return known
    if word not in _warned and len(_warned) < _WARNED_MAX:
        _warned.add(word)
        _log.warning("the outcome %r of a goal is not known and counts as running; known are %s", word, known_words())
    return "running"


def known_outcome(word: str) -> Outcome | None:
    """The outcome that a word stands for; None for one that nobody knows."""
    plain = "_".join(word.strip().lower().replace("-", " ").replace("_", " ").split())
    if plain in _KNOWN:
        return _KNOWN[plain]
    begun = [known for known in _KNOWN if plain.startswith(f"{known}_")]
    return _KNOWN[max(begun, key=len)] if begun else None


def known_words() -> str:
    """All words that stand for an outcome."""
    return ", ".join(_KNOWN)
