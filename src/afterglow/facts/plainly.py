"""Facts without a model: only what the owner said in so many words. The sentence itself is the fact, and its own proof."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from afterglow.facts import CONTENT_CHARS_MAX, FactType
from afterglow.facts.checks import Claimed
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.quoted import sentences_of_lines
from afterglow.facts.said import words_of
from afterglow.turns import Turn

_SAID: dict[FactType, tuple[str, ...]] = {
    "preference": (
        r"i (?:really |much |always |usually |generally )?(?:prefer|like|love|enjoy|hate|dislike|can't stand)",
        r"i don't (?:like|eat|drink|want)|my favou?rite|from now on",
        r"(?:always|never) (?:use|write|book|send|call|answer|reply|ask|put|start|schedule|remind)",
        r"ich (?:mag|bevorzuge|liebe|hasse|esse kein|trinke kein)|prefiero|je préfère|wolę",
    ),
    "decision": (
        r"(?:we|i)(?:'ve| have)? (?:decided|agreed|settled on|chose|chosen)|let's go with",
        r"wir haben (?:beschlossen|entschieden)|hemos decidido|nous avons décidé|zdecydowaliśmy",
    ),
    "task_completed": (
        r"(?:i|we)(?:'ve| have)? (?:just )?(?:finished|completed|shipped|submitted|sent off|signed|booked|paid off)",
    ),
    "open_thread": (r"(?:i|we) (?:still )?(?:need|have) to|remind me|don't forget|to-?do|still open",),
    "person": (
        r"my (?:name|wife|husband|partner|boss|manager|daughter|son|mother|father|sister|brother)(?:'s name)? (?:is|are)",
        r"my (?:doctor|dentist|landlord|dog|cat)(?:'s name)? (?:is|are)|i (?:live|work|was born) (?:in|at|for|as)",
        r"i(?: am|'m) (?:allergic|a vegetarian|vegetarian|vegan)",
    ),
    "event": (
        r"my (?:appointment|flight|train|exam|interview|wedding|birthday|holiday|vacation|move)\b.{0,40}\b(?:is|on|at|in)",
    ),
}
_SIGNS = {kind: lazily_compiled(rf"(?<!\w)(?:{'|'.join(said)})(?!\w)", re.IGNORECASE) for kind, said in _SAID.items()}


def claims_of(turns: Iterable[Turn]) -> list[Claimed]:
    """What the owner plainly says in these turns."""
    return [claim for turn in turns if turn.role == "user" and turn.trust == "owner" for claim in _claims(turn)]


def _claims(turn: Turn) -> Iterator[Claimed]:
    for sentence in sentences_of_lines(words_of(turn)):
        kind = next((kind for kind, sign in _SIGNS.items() if sign.search(sentence)), None)
        if kind is not None and not sentence.endswith("?") and len(sentence) <= CONTENT_CHARS_MAX:
            yield Claimed(
                type=kind, content=sentence, confidence="medium", turn=turn.seq, speaker="user", quote=sentence
            )
