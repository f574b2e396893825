"""What is answered where there is no model: what is remembered that fits, word for word, and that it is no more than that."""

from __future__ import annotations

from afterglow.errors import BadInput
from afterglow.excerpts import excerpt
from afterglow.facts import normalised
from afterglow.memory import Memory
from afterglow.search.memory_search import Recalled
from afterglow.turns import Binding

_HITS = 3
_NEAR_THE_BEST = 0.5
"""What scores less than this share of the best is shown to nobody."""
_LOOKED_AT = 20
_HIT_CHARS_MAX = 300
_NO_MODEL = "No model is set up, so I can only look into what is remembered."
_HOW = "For answers, set a provider's key in the environment, or `answering.model` in the settings."


async def remembered(memory: Memory, binding: Binding, text: str) -> str:
    """What fits the message of all that is remembered, the message itself left out."""
    try:
        found = await memory.recall(text, owner=binding.owner, limit=_LOOKED_AT)
    except BadInput:  # no word in it to look for
        return f"{_NO_MODEL} {_HOW}"
    told: dict[str, Recalled] = {}
    for hit in found.hits:
        if not _says_nothing(hit, text):
            told.setdefault(normalised(hit.text), hit)  # a fact and the turn it comes from say the same
    best = max((hit.score for hit in told.values()), default=0.0)
    hits = [hit for hit in told.values() if hit.score >= best * _NEAR_THE_BEST][:_HITS]
    if not hits:
        return f"{_NO_MODEL} Nothing there fits this. {_HOW}"
    zone = memory.frame_of(binding.agent).zone
    lines = [f"- {_who(hit)}, {hit.at.astimezone(zone):%d %b %Y %H:%M}: {_brief(hit.text)}" for hit in hits]
    return "\n".join([f"{_NO_MODEL} This fits best:", *lines])


def _says_nothing(hit: Recalled, text: str) -> bool:
    """Whether it is the message itself, a question of before or a command, or an answer such as this one."""
    said = hit.text.strip()
    asks = hit.role == "user" and (said.endswith(("?", "？")) or said.startswith("/"))
    return hit.kind == "turn" and (asks or said == text.strip() or said.startswith(_NO_MODEL))


def _who(hit: Recalled) -> str:
    if hit.kind != "turn":
        return hit.kind
    return {"user": "you", "assistant": "I"}.get(hit.role or "", hit.role or "somebody")


def _brief(text: str) -> str:
    return " ".join(excerpt(text, _HIT_CHARS_MAX).split())
