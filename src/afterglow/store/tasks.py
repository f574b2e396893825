"""The verbs of tasks: what the agent is to do at set times.

An active task has one piece of work of kind `task`, due when it is to run, or to be planned when it runs.
The two are always written together, so that no task waits for nothing, and no work for a task that has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from afterglow.clock import to_us
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.store import goals, queue, sessions
from afterglow.store.goals import Step
from afterglow.store.rows import from_row, to_row
from afterglow.store.transaction import Tx
from afterglow.turns import Binding, check_name
from afterglow.work import Claim, Due

TaskKind = Literal["once", "cron", "planned"]
TaskState = Literal["active", "done", "cancelled"]
Creator = Literal["owner", "agent"]

ACTIVE_MAX = 500
"""More tasks of one owner do not run at one time: a model that goes on making them is stopped here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Something the agent is to do once, again and again, or when it has planned to."""

    owner: str
    id: str
    agent: str
    channel: str
    sender: str
    prompt: str
    kind: TaskKind
    schedule: str
    """A moment, a cron expression, or in which words the model plans the next time."""
    zone: str
    state: TaskState = "active"
    next_at: datetime | None = None
    last_at: datetime | None = None
    runs: int = 0
    runs_max: int | None = None
    until: datetime | None = None
    planning: bool = False
    """Whether the model is still to say when it runs next: now, or at `next_at`, where it failed to before."""
    note: str = ""
    """How the last run went, in its first words."""
    why: str = ""
    """Why the model planned the next time as it did."""
    created_at: datetime
    created_by: Creator = "owner"

    @property
    def binding(self) -> Binding:
        return Binding(agent=self.agent, channel=self.channel, sender=self.sender)


def check_task(task: Task) -> None:
    """A task that comes from outside is one that can be done, or it is refused."""
    assert task.binding.agent, "its binding checks itself"
    check_name(task.id, "the name of a task")
    for what, given, allowed in (
        ("kind", task.kind, get_args(TaskKind)),
        ("state", task.state, get_args(TaskState)),
        ("creator", task.created_by, get_args(Creator)),
    ):
        if given not in allowed:
            raise BadInput(f"the {what} of a task is {given!r}; it is one of {', '.join(allowed)}")
    try:
        ZoneInfo(task.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(f"there is no zone {task.zone!r}, in which task {task.id!r} runs") from None
    if task.state == "active" and task.next_at is None and not task.planning:
        raise BadInput(f"the task {task.id!r} is active and has no time at which it runs")


def add_task(tx: Tx, task: Task, is_named: bool, now: datetime) -> Task:
    """The task, and the work it makes due. A name that is not the caller's gives way to an active task that has it.

    One that has ended makes room for another of its name: what it did stands in the goal events.
    """
    sessions.lock_all_owners(tx, to_us(now))
    active = tx.one("SELECT count(*) AS n FROM tasks WHERE {mine} AND state = 'active'")["n"]
    if active >= ACTIVE_MAX:
        raise BadInput(f"{task.owner} has {active:,} active tasks, and no more are run; cancel some of them first")
    for number in range(1, ACTIVE_MAX + 2):
        name = task.id if number == 1 else f"{task.id}-{number}"
        row = tx.row(
            "SELECT state FROM tasks WHERE {mine} AND owner = :owner AND id = :id {lock}", owner=tx.owner, id=name
        )
        if row is None or row["state"] != "active":
            return _begun(tx, replace(task, owner=tx.owner, id=name), now)
        if is_named:
            break
    raise BadInput(f"there is an active task {task.id!r} already; cancel that one, or give this another name")


def _begun(tx: Tx, task: Task, now: datetime) -> Task:
    tx.run("DELETE FROM tasks WHERE {mine} AND owner = :owner AND id = :id", owner=task.owner, id=task.id)
    put(tx, task)
    queue.cancel(tx, task.owner, "task", task.id)  # what a run of the one before still holds is not for this one
    ask(tx, task, now)
    return task


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPlace:
    """Where a task stands in a list."""

    ended: bool
    at_us: int
    owner: str
    id: str


def place_of(task: Task) -> TaskPlace:
    """Where a task stands in a list: those that run first at the top, behind them what has ended, the newest first."""
    ended = task.state != "active"
    at = task.last_at or task.created_at if ended else task.next_at
    at_us = 0 if at is None else to_us(at)
    return TaskPlace(ended=ended, at_us=-at_us if ended else at_us, owner=task.owner, id=task.id)


_PLACE = """CASE WHEN state = 'active' THEN 0 ELSE 1 END,
            CASE WHEN state = 'active' THEN coalesce(next_at, 0) ELSE -coalesce(last_at, created_at) END, owner, id"""


def tasks(tx: Tx, id: str | None, ended: bool, limit: int, after: TaskPlace | None) -> list[Task]:
    """In the order of their places."""
    rows = tx.rows(
        f"""SELECT * FROM tasks WHERE {{mine}} AND (:ended = 1 OR state = 'active') AND id = coalesce(:id, id)
              AND ({_PLACE}) > (:after_ended, :after_at, :after_owner, :after_id) ORDER BY {_PLACE} LIMIT :limit""",
        ended=int(ended),
        id=id,
        limit=limit,
        after_ended=-1 if after is None else int(after.ended),
        after_at=0 if after is None else after.at_us,
        after_owner="" if after is None else after.owner,
        after_id="" if after is None else after.id,
    )
    return [from_row(Task, row) for row in rows]


def task(tx: Tx, id: str) -> Task:
    """The one of this name; the owner's own before that of one who is joined."""
    rows = tx.rows("SELECT * FROM tasks WHERE {mine} AND id = :id", id=id)
    if not rows:
        raise NotFound(f"{tx.owner} has no task {id!r}; `afterglow tasks` lists them")
    return from_row(Task, min(rows, key=lambda row: tx.owners.index(row["owner"])))


def cancel_task(tx: Tx, id: str) -> Task:
    """It runs no more. A run that is under way comes to its end, and is written down."""
    sessions.lock_all_owners(tx, queue.now_us(tx))
    found = task(tx, id)
    if found.state != "active":
        return found
    ended = replace(found, state="cancelled", next_at=None, planning=False)
    _set(tx, ended)
    tx.run(
        """DELETE FROM work WHERE {mine} AND owner = :owner AND kind = 'task' AND subject = :id AND lease_until IS NULL""",
        owner=ended.owner,
        id=ended.id,
    )
    return ended


def commit_task(tx: Tx, task: Task, step: Step | None, due: Sequence[Due], claim: Claim, now: datetime) -> Task:
    """How a task stands after a run or a planning, its goal event, the end of the claim and the work to come, together.

    Cancelled meanwhile it stays so; what it did is written down all the same.
    """
    sessions.lock_all_owners(tx, to_us(now))
    row = tx.row(
        "SELECT * FROM tasks WHERE {mine} AND owner = :owner AND id = :id {lock}", owner=claim.owner, id=claim.subject
    )
    there = None if row is None else from_row(Task, row)
    if there is None:
        raise ClaimLost(f"the task {claim.subject!r} is gone; the result is dropped")
    if step is not None:
        goals.record_goal(tx, step, due)
    queue.finish(tx, claim)
    kept = task if there.state == "active" else replace(task, state=there.state, next_at=None, planning=False)
    _set(tx, kept)
    queue.cancel(tx, kept.owner, "task", kept.id)  # also a timer of before it was run by hand
    ask(tx, kept, now)
    return kept


def put(tx: Tx, task: Task) -> None:
    """The row of a task that is not there."""
    values = to_row(task)
    places = ", ".join(f":{name}" for name in values)
    tx.run(f"INSERT INTO tasks ({', '.join(values)}) VALUES ({places})", **values)


def _set(tx: Tx, task: Task) -> None:
    values = to_row(task)
    changed = ", ".join(f"{name} = :{name}" for name in values if name not in ("owner", "id"))
    tx.run(f"UPDATE tasks SET {changed} WHERE {{mine}} AND owner = :owner AND id = :id", **values)


def ask(tx: Tx, task: Task, now: datetime) -> None:
    """The work that an active task makes due."""
    at = task.next_at or (now if task.planning else None)
    if task.state == "active" and at is not None:
        due = Due(kind="task", at=at, reason="planning" if task.planning else task.kind)
        queue.mark_due(tx, due, task.owner, task.id)


def unsay(tx: Tx, owners: Iterable[str]) -> None:
    """What runs of tasks said goes wherever it was told on: some of it may be what is forgotten."""
    for owner in owners:
        if tx.row("SELECT 1 FROM tasks WHERE {mine} AND owner = :owner LIMIT 1", owner=owner) is None:
            continue
        for change in (
            "UPDATE tasks SET note = '', why = '' WHERE {mine} AND owner = :owner",
            """UPDATE goal_events SET note = '' WHERE {mine} AND owner = :owner
               AND goal IN (SELECT id FROM tasks WHERE owner = :owner)""",
            "UPDATE digests SET text = '' WHERE {mine} AND owner = :owner",
            "UPDATE presence SET prose = NULL, prose_to = NULL WHERE {mine} AND owner = :owner",
        ):
            tx.run(change, owner=owner)
