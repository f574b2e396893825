"""What is remembered as people and programs are shown it: hits of a search and whether there are more, memory files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterglow.memory import Memory
from afterglow.memory_files import Listed
from afterglow.search.hits import Found
from afterglow.search.memory_search import Recalled


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """The hits, best first; whether meaning had a part in it, and whether more fit than were asked for."""

    hits: tuple[Recalled, ...]
    by_meaning: bool
    more: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundTurns(Found):
    """The same of turns alone."""

    more: bool


async def recall(memory: Memory, text: str, *, limit: int, **wanted: Any) -> Recall:
    """What `memory.recall` finds, for who shows it."""
    found = await memory.recall(text, limit=one_more(memory, limit), **wanted)
    return Recall(hits=found.hits[:limit], by_meaning=found.by_meaning, more=len(found.hits) > limit)


async def file_list(memory: Memory, owner: str, path: str = "") -> list[Listed]:
    """The files and folders at a path in the owner's memory folder, once what is due to be written there is."""
    await memory.facts.write_due_files(owner)
    return await memory.files.file_list(owner, path)


async def file_read(memory: Memory, owner: str, path: str) -> str:
    """The text of a file there, in the same way."""
    await memory.facts.write_due_files(owner)
    return await memory.files.file_read(owner, path)


def turns_found(found: Found, limit: int) -> FoundTurns:
    """What a search of turns found that was asked for one more."""
    return FoundTurns(
        hits=found.hits[:limit], complete=found.complete, rows_read=found.rows_read, more=len(found.hits) > limit
    )


def one_more(memory: Memory, limit: int) -> int:
    """One more than is shown tells whether there are more; at the most that a search gives, nothing does."""
    return limit + (limit < memory.settings.search.results_max)
