"""The tools by which a model sets itself tasks: to be done once, again and again, or when it plans to."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from afterglow.agent.tasks import PROMPT_CHARS_MAX, WORDS_CHARS_MAX, Tasks
from afterglow.agent.times import zone_of
from afterglow.agent.tools import Tool, Used, tool
from afterglow.store.tasks import Task

_LISTED = 50
_PROMPT_CHARS = 200


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScheduleTask(_Given):
    """Have yourself do something later: a reminder, a daily report, a check now and then. Say when in exactly one way."""

    prompt: str = Field(
        min_length=1,
        max_length=PROMPT_CHARS_MAX,
        description="What you are to do then, with all you will need to know, such as: Remind them to call Ben at 555 0100.",
    )
    at: str | None = Field(default=None, max_length=60, description="Once at this time, such as 2026-03-02T09:15.")
    cron: str | None = Field(
        default=None,
        max_length=200,
        description="Again and again, by cron's five fields (minute hour day month weekday), such as 30 18 * * 1-5.",
    )
    plan: str | None = Field(
        default=None,
        max_length=WORDS_CHARS_MAX,
        description="Where no fixed times do: in which words you decide after each run when the next is.",
    )
    zone: str | None = Field(default=None, max_length=60, description="A zone, such as Europe/Berlin, if not theirs.")
    name: str | None = Field(default=None, max_length=80, description="A short name for it, such as weekly-report.")


class ListTasks(_Given):
    """List what you are to do at set times for this person."""


class CancelTask(_Given):
    """Cancel a task, so that it is not done any more."""

    name: str = Field(min_length=1, max_length=80, description="Its name, as list_tasks gives it.")


async def schedule_task(given: ScheduleTask, used: Used) -> str:
    task = await Tasks(used.memory).create(
        given.prompt,
        at=given.at or None,
        cron=given.cron or None,
        plan=given.plan or None,
        zone=given.zone or None,
        id=given.name or None,
        to=used.binding,
        created_by="agent",
    )
    return f"It is set. {_line(task)}"


async def list_tasks(given: ListTasks, used: Used) -> str:
    found = await Tasks(used.memory).list(used.binding.owner, limit=_LISTED)
    return "\n".join(_line(task) for task in found) or "There are no tasks."


async def cancel_task(given: CancelTask, used: Used) -> str:
    task = await Tasks(used.memory).cancel(given.name, owner=used.binding.owner)
    return f"The task {task.id} is {task.state}."


def _line(task: Task) -> str:
    brief = " ".join(task.prompt.split())
    brief = brief if len(brief) <= _PROMPT_CHARS else f"{brief[:_PROMPT_CHARS]}…"
    return f"- {task.id}: {_when(task)}: {brief}"


def _when(task: Task) -> str:
    how = f" ({task.schedule})" if task.kind != "once" else ""
    if task.next_at is None or task.planning:
        return f"its next time is still to be planned{how}"
    return f"next at {task.next_at.astimezone(zone_of(task.zone)):%A %Y-%m-%d %H:%M} {task.zone}{how}"


def task_tools() -> list[Tool]:
    """All of them."""
    return [
        tool("schedule_task", ScheduleTask, schedule_task),
        tool("list_tasks", ListTasks, list_tasks),
        tool("cancel_task", CancelTask, cancel_task),
    ]
