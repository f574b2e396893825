"""The tools by which a model reaches memory: files, search, what was folded away, and goals.

What they give is recalled memory and marked as such, so that it is never remembered again as something new.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from afterglow import recalled, recollection
from afterglow.agent.task_tools import task_tools
from afterglow.agent.tools import Tool, Used, tool
from afterglow.errors import BadInput
from afterglow.excerpts import excerpt
from afterglow.search.memory_search import Recalled
from afterglow.store.search import KINDS
from afterglow.transcript import transcript
from afterglow.turns import Session

_HIT_CHARS_MAX = 600
_EXPANDED_CHARS_MAX = 12_000


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FileList(_Given):
    """List the files of what is remembered of this person: facts by day and their index."""

    path: str = Field(default="", max_length=500, description="A folder, such as facts; empty for all.")


class FileRead(_Given):
    """Read one file of what is remembered of this person."""

    path: str = Field(max_length=500, description="As file_list gives it, such as facts/index.json.")


class MemorySearch(_Given):
    """Search all that is remembered of this person by words and meaning: facts, summaries, and what was said, also long ago."""

    query: str = Field(min_length=1, max_length=1_000, description="What to look for, in plain words.")
    kinds: list[Literal["fact", "block", "summary", "turn"]] = Field(
        default=[], description="Only these kinds; all where it is empty."
    )
    limit: int = Field(default=6, ge=1, le=20)


class Expand(_Given):
    """Read word for word what was said in turns of this conversation that are summarised or put away."""

    first: int = Field(ge=1, description="The number of the first turn.")
    last: int | None = Field(
        default=None, ge=1, description="The number of the last turn; the first where it is missing."
    )


class RecordGoal(_Given):
    """Write down how a piece of your own work went, so that the person is told of it when they are back."""

    goal: str = Field(min_length=1, max_length=200, description="Which goal, in a few words, always the same ones.")
    outcome: Literal["completed", "cancelled", "failed", "needs_you", "running"]
    note: str = Field(default="", max_length=500, description="Why it failed, or what you need of the person.")


async def file_list(given: FileList, used: Used) -> str:
    listed = await recollection.file_list(used.memory, used.binding.owner, given.path)
    lines = [f"{each.path}/" if each.is_folder else f"{each.path} ({each.bytes} bytes)" for each in listed]
    return "\n".join(lines) or "There are no files yet."


async def file_read(given: FileRead, used: Used) -> str:
    return await recollection.file_read(used.memory, used.binding.owner, given.path)


async def memory_search(given: MemorySearch, used: Used) -> str:
    kinds = tuple(given.kinds) or KINDS
    found = await used.memory.recall(given.query, owner=used.binding.owner, limit=2 * given.limit, kinds=kinds)
    hits = [hit for hit in found.hits if not _is_said_now(hit, used.session)][: given.limit]
    if not hits:
        return "Nothing that is remembered fits this."
    zone = used.memory.frame_of(used.binding.agent).zone
    lines = [
        f"- {hit.at.astimezone(zone):%Y-%m-%d %H:%M} {hit.kind}{f' by {hit.role}' if hit.role else ''}: "
        f"{' '.join(excerpt(hit.text, _HIT_CHARS_MAX).split())}"
        for hit in hits
    ]
    return recalled.wrap("\n".join(lines))


def _is_said_now(hit: Recalled, session: Session) -> bool:
    """Whether it is what the model is just being asked, and sees anyway, or what was only recalled then."""
    is_recalled = not recalled.without(hit.text, recalled.ranges(hit.text)).strip()
    is_asked = hit.session == session.id and hit.seq >= session.exchange_seq
    return hit.kind == "turn" and (is_asked or is_recalled)


async def expand(given: Expand, used: Used) -> str:
    last = given.last or given.first
    if last < given.first:
        raise BadInput(f"the last turn, {last}, stands before the first, {given.first}; give them in order")
    turns = await used.memory.turns(used.session, first_seq=given.first, last_seq=last, limit=200)
    if not turns:
        raise BadInput(f"this conversation has no turns {given.first} to {last}")
    text = transcript(turns, used.memory.frame_of(used.binding.agent).zone)
    return recalled.wrap(excerpt(text, _EXPANDED_CHARS_MAX))


async def record_goal(given: RecordGoal, used: Used) -> str:
    event = await used.memory.record_goal(used.session, given.goal, given.outcome, note=given.note)
    return f"Written down: {event.title}, {event.outcome}."


def own_tools() -> list[Tool]:
    """All of them."""
    return [
        tool("file_list", FileList, file_list),
        tool("file_read", FileRead, file_read),
        tool("memory_search", MemorySearch, memory_search),
        tool("expand", Expand, expand),
        tool("record_goal", RecordGoal, record_goal),
        *task_tools(),
    ]
