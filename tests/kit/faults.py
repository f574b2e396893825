"""What tests of faults share: memories, what is in a database, and what must be true of a context afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import psycopg

from afterglow.context import Message
from afterglow.memory import Memory
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Session
from tests.kit.pairing import pairing_problems
from tests.kit.talks import reread

# --- memories, and waiting for what they do


def memory_over(store: Store, model: ScriptedModel, *, folds: bool = True, **given: Any) -> Memory:
    """A memory with these settings; without `folds` it leaves all work to a worker."""
    chosen = Settings.model_validate({"data_dir": "/nowhere", "zone": "UTC", **given})
    return Memory(store, chosen, model=model, environ={}, folds=folds)


async def is_in(memory: Memory, session: Session, state: str) -> bool:
    """Whether a session is in this state by now."""
    return (await reread(memory, session)).state == state


async def until(is_so: Callable[[], Awaitable[object]], look_seconds: float = 0.02) -> None:
    """Wait for something that happens in the database, which tells nothing of it."""
    while not await is_so():  # noqa: ASYNC110 - other processes do it
        await asyncio.sleep(look_seconds)


# --- what is in a database


def contents(address: str) -> Any:
    """All there is in a database: its tables, and their rows."""
    if not address.startswith("postgresql:"):
        with contextlib.closing(sqlite3.connect(address)) as connection:
            made = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
            tables = [name for type, name, sql in made if type == "table" and not sql.startswith("CREATE VIRTUAL")]
            return made, {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    with psycopg.connect(address) as connection:
        columns = connection.execute(
            """SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
               WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"""
        ).fetchall()
        tables = sorted({name for name, *_ in columns})
        rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}  # type: ignore[arg-type]
        return columns, {name: sorted(found, key=repr) for name, found in rows.items()}


async def spent(store: Store) -> int:
    """The tokens that were spent on all days."""

    def look(tx: Tx) -> int:
        return int(tx.one("SELECT coalesce(sum(tokens), 0) AS n FROM spend_days")["n"])

    return await store._read("look", EVERYONE, look)


# --- what must be true of a context, and of the blocks behind it


def refusable(messages: Sequence[Message]) -> list[str]:
    """What a strict provider would refuse in these messages: its rules, written without our code."""
    found = pairing_problems(messages)
    if messages and messages[0].role not in ("user", "system"):
        found.append(f"the first message is of role {messages[0].role}")
    for place, message in enumerate(messages):
        if message.role == "system" and place:
            found.append(f"message {place} (turn {message.seq}): a system message that is not the first")
    return found


def true_tokens(messages: Sequence[Message]) -> int:
    """What a context takes, counted from what is in it."""
    return sum(estimate(message.text) + estimate_parts(message.parts) for message in messages)


async def misplaced(store: Store, session: Session) -> list[str]:
    """Turns that are not in exactly one of block or tail, blocks that do not fit together, counters that are wrong."""
    shown = await store.context_rows(session.owner, session.id, tail_turns=10**6)
    found: list[str] = []
    places = [seq for block in shown.blocks for seq in range(block.first_seq, block.last_seq + 1)]
    places += [turn.seq for turn in shown.tail]
    if places != list(range(1, shown.session.turns + 1)):
        found.append(f"{shown.session.turns} turns are in blocks and tail as {places[:5]} … {places[-5:]}")
    levels = [block.level for block in shown.blocks]
    if levels != sorted(levels, reverse=True):
        found.append(f"older talk is not coarser: {levels}")
    counted, folded = shown.session, shown.session.folded
    if folded.block_tokens != sum(block.tokens for block in shown.blocks):
        found.append("the tokens of the blocks are counted wrong")
    if counted.tail_tokens != sum(turn.tokens for turn in shown.tail):
        found.append("the tokens of the tail are counted wrong")
    every = await store.blocks(session.owner, session.id)
    by_number = {block.number: block for block in every}
    for block in every:
        children = [by_number[number] for number in block.children]
        spans = [(child.first_seq, child.last_seq) for child in children]
        if block.level and (not spans or (spans[0][0], spans[-1][1]) != (block.first_seq, block.last_seq)):
            found.append(f"block {block.number} is not made of its children {spans}")
        if any(child.shown_until is None for child in children):
            found.append(f"block {block.number} and a child of it are both shown")
    replaced = [(block.first_seq, block.last_seq, block.level) for block in every if not block.extract]
    if len(replaced) != len(set(replaced)):
        found.append("two good blocks stand for the same span at the same level")
    return found
