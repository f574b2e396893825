"""The verbs by which tasks, and messages that wait for the agent, go into an export and come out of one."""

from __future__ import annotations

from datetime import datetime

from afterglow.clock import to_us
from afterglow.store import inbox, log, moving_goals, sessions, stones, tasks
from afterglow.store.inbox import Waiting
from afterglow.store.rows import from_row
from afterglow.store.tasks import Task
from afterglow.store.transaction import Tx
from afterglow.turns import Draft
from afterglow.work import Due


def exported_tasks(tx: Tx, limit: int, after: tuple[str, str]) -> list[Task]:
    """A page of all tasks, in an order that no change changes."""
    rows = tx.rows(
        "SELECT * FROM tasks WHERE {mine} AND (owner, id) > (:owner, :id) ORDER BY owner, id LIMIT :limit",
        owner=after[0],
        id=after[1],
        limit=limit,
    )
    return [from_row(Task, row) for row in rows]


def exported_messages(tx: Tx, limit: int, after: tuple[str, str, int]) -> list[Waiting]:
    """A page of all messages that wait, place by place, in their order."""
    rows = tx.rows(
        """SELECT * FROM inbox WHERE {mine} AND (owner, place, number) > (:owner, :place, :number)
           ORDER BY owner, place, number LIMIT :limit""",
        owner=after[0],
        place=after[1],
        number=after[2],
        limit=limit,
    )
    return [from_row(Waiting, row) for row in rows]


def restore_task(tx: Tx, task: Task, now: datetime) -> bool:
    """The task is there, and its work due, unless one of its name is; whether it is new. What was forgotten stays so."""
    sessions.lock_all_owners(tx, to_us(task.created_at))
    there = tx.row("SELECT 1 FROM tasks WHERE {mine} AND owner = :owner AND id = :id", owner=task.owner, id=task.id)
    if there is not None or moving_goals.is_from_before(tx, to_us(task.created_at)):
        return False
    tasks.put(tx, task)
    tasks.ask(tx, task, now)
    return True


def restore_message(tx: Tx, message: Waiting, due: Due) -> bool:
    """The message waits, and its answer is due, unless it was forgotten; whether it does."""
    sessions.lock_all_owners(tx, to_us(message.at))  # whoever forgets waits for this, or this for it
    if moving_goals.is_from_before(tx, to_us(message.at)) or _was_forgotten(tx, message):
        return False
    inbox.put_message(tx, message, due)
    return True


def _was_forgotten(tx: Tx, message: Waiting) -> bool:
    """Whether its turn was, by its words, or by its key in a session that it may have gone to."""
    said = Draft(role="user", text=message.text, trust="owner", origin="import", parts=message.parts, key=message.key)
    if stones.was_forgotten(tx, said, to_us(message.at), stones.salts(tx)):
        return True
    named = [sessions.find(tx, each) for each in (message.place, message.session) if each]
    return any(
        log.is_stone_there(tx, row, message.key) for row in (*named, sessions.newest(tx, message.binding)) if row
    )
