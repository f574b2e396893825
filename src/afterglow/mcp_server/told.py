"""How what is remembered reads to a model: plain lines between the two that mark it as recalled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from afterglow import recalled
from afterglow.context import Context, Message
from afterglow.excerpts import excerpt
from afterglow.facts import Fact
from afterglow.guard import strip_invisible
from afterglow.memory_files import Listed
from afterglow.recollection import Recall
from afterglow.returning import Preview
from afterglow.search.memory_search import Recalled
from afterglow.search.summaries import Listing
from afterglow.summaries import Summary, text_of

HIT_CHARS_MAX = 1_500
"""So much of one thing that was found is shown."""
PART_CHARS_MAX = 2_000
LINE_CHARS_MAX = 1_000
_GATES = {
    "disabled": "away_summary.enabled is false for this address",
    "first": "the person never wrote before",
    "clock": "the person's last message is in the future: a clock went backwards",
    "too soon": "the person was not away long enough",
    "nothing happened": "nothing happened since the person's last message",
}


def marked(lines: Iterable[str]) -> str:
    """Lines out of the memory, marked as recalled, without what a person would not see."""
    return recalled.wrap(strip_invisible("\n".join(lines))[0])


def context_text(shown: Context) -> str:
    """What the model is to see of a session, message by message."""
    head = f"What a model sees of session {shown.session} at turn {shown.at}: {shown.tokens:,} tokens."
    left = f" {shown.left_out:,} older turns did not fit; memory_search finds them." if shown.left_out else ""
    said = [line for each in shown.messages for line in _message_lines(each)]
    return f"{line(head)}{left}\n{marked(said or ['(nothing was said yet)'])}"


def _message_lines(message: Message) -> Iterable[str]:
    yield f"{message.role}: {_set_in(message.text)}"
    for part in message.parts:
        kind, name = part.get("type"), part.get("name", "a tool")
        if kind == "tool_call":
            yield f"{message.role} calls {name}({_short(part.get('arguments', ''))})"
        elif kind == "tool_result" and part.get("content") != message.text:
            yield f"result of {name}: {_short(part.get('content', ''))}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _set_in(excerpt(text, PART_CHARS_MAX))


def hits_text(found: Recall, zone: ZoneInfo) -> str:
    """What was found, the best first, each with where it comes from."""
    if not found.hits:
        return "Nothing was found. Other words may find it, or fewer."
    how = "words and meaning" if found.by_meaning else "words alone"
    more = " There are more; a larger limit shows them." if found.more else ""
    lines = [line for number, hit in enumerate(found.hits, 1) for line in _hit_lines(number, hit, zone)]
    return f"{len(found.hits)} found, by {how}, the best first.{more}\n{marked(lines)}"


def _hit_lines(number: int, hit: Recalled, zone: ZoneInfo) -> Iterable[str]:
    place = {
        "fact": f"fact {hit.fact} ({hit.type})",
        "turn": f"turn {hit.seq} of session {hit.session} ({hit.role})",
        "block": f"block {hit.seq} of session {hit.session}",
        "summary": f"summary of session {hit.session}",
    }[hit.kind]
    text = hit.text if len(hit.text) <= HIT_CHARS_MAX else hit.snippet
    return (f"{number}. {place}, {time(hit.at, zone)}", f"    {_set_in(excerpt(text, HIT_CHARS_MAX))}")


def summaries_text(found: Listing, zone: ZoneInfo) -> str:
    """What sessions were about, the newest first, and how far that can be relied on."""
    if not found.items:
        return f"No session has such a summary yet. {line(found.degraded)}".strip()
    degraded = f" Take care: {line(found.degraded)}." if found.degraded else ""
    lines = [line for each in found for line in (summary_text(each, zone), "")]
    return f"{len(found)} summaries of sessions, the newest first.{degraded}\n{marked(lines[:-1])}"


def summary_text(summary: Summary, zone: ZoneInfo) -> str:
    """One summary, headed by its session and time; not marked yet."""
    people = f"\nPeople: {', '.join(summary.people)}" if summary.people else ""
    head = f"session {summary.session} ({summary.category}), until {time(summary.last_at, zone)}"
    return f"{head}\n{text_of(summary)}{people}"


def facts_text(facts: Sequence[Fact]) -> str:
    """Facts, one on a line."""
    if not facts:
        return "Nothing is known yet."
    return marked(f"- {each.content} ({each.type}, {each.source_date}, fact {each.id})" for each in facts)


def files_text(files: Sequence[Listed], zone: ZoneInfo) -> str:
    """The files and folders at a path."""
    if not files:
        return "There are no memory files here: nothing is known yet."
    lines = [
        f"{each.path}/" if each.is_folder else f"{each.path}  {each.bytes:,} bytes, {time(each.changed_at, zone)}"
        for each in files
    ]
    return marked(lines)


def digest_text(found: Preview) -> str:
    """What the person would be told if they wrote now, and what would keep it from being sent."""
    stopped = f" It would not be sent by itself: {_GATES[found.stopped_by]}." if found.stopped_by else ""
    if not found.text:
        return f"Nothing happened that the person was not told of.{stopped}"
    head = f"{found.total:,} events that the person was not told of. Nothing counts as told by this.{stopped}"
    return f"{head}\n{marked([found.text])}"


def time(at: datetime, zone: ZoneInfo) -> str:
    """A moment in the zone of the settings."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _set_in(text: str) -> str:
    """A text whose later lines are set in, so that none of them passes for somebody else's."""
    return "\n    ".join(strip_invisible(text)[0].splitlines())


def line(text: str) -> str:
    """A sentence of our own that may hold a name: on one line, not too long, and without the marks of a record."""
    told = " ".join(strip_invisible(text)[0].split()).replace(recalled.BEGIN, "[…]").replace(recalled.END, "[…]")
    return told if len(told) <= LINE_CHARS_MAX else told[: LINE_CHARS_MAX - 1] + "…"
