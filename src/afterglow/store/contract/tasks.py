"""The verbs of what the agent is to do at set times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from afterglow.store import audited, moving_tasks, tasks
from afterglow.store.contract.running import Running
from afterglow.store.goals import Step
from afterglow.store.inbox import Waiting
from afterglow.store.tasks import Task, TaskPlace
from afterglow.store.transaction import Scope
from afterglow.work import Claim, Due


class TaskVerbs(Running):
    """The verbs of tasks, and of how they and the messages that wait go into an export."""

    async def add_task(self, task: Task, *, is_named: bool = True) -> Task:
        """The task is there, and its work due. Unless `is_named`, it gets another name where an active task has its."""
        run = partial(tasks.add_task, task=task, is_named=is_named, now=self.clock.now())
        return await self._write("add_task", task.owner, self._noted("add_task", run, audited.task_added))

    async def tasks(
        self,
        scope: Scope,
        *,
        id: str | None = None,
        ended: bool = False,
        limit: int = 100,
        after: TaskPlace | None = None,
    ) -> list[Task]:
        """The tasks, those that run first at the top; with `ended` also those that are done or cancelled, behind them.

        `after` is where the list before ended.
        """
        return await self._read("tasks", scope, partial(tasks.tasks, id=id, ended=ended, limit=limit, after=after))

    async def task(self, owner: str, id: str) -> Task:
        """One task, or NotFound."""
        return await self._read("task", owner, partial(tasks.task, id=id))

    async def cancel_task(self, owner: str, id: str) -> Task:
        """The task runs no more; one that has ended stays as it is."""
        run = partial(tasks.cancel_task, id=id)
        return await self._write("cancel_task", owner, self._noted("cancel_task", run, audited.task_cancelled(id)))

    async def commit_task(self, claim: Claim, task: Task, step: Step | None = None, due: Sequence[Due] = ()) -> Task:
        """How the task stands now, the goal event of its run, the end of the claim and its next work; or ClaimLost."""
        run = partial(tasks.commit_task, task=task, step=step, due=due, claim=claim, now=self.clock.now())
        return await self._write("commit_task", claim.owner, run)

    async def exported_tasks(self, scope: Scope, *, limit: int = 200, after: Task | None = None) -> list[Task]:
        """A page of all tasks; for export."""
        cursor = ("", "") if after is None else (after.owner, after.id)
        return await self._read(
            "exported_tasks", scope, partial(moving_tasks.exported_tasks, limit=limit, after=cursor)
        )

    async def restore_task(self, task: Task) -> bool:
        """The task, unless one of its name is there; whether it is new. For import."""
        run = partial(moving_tasks.restore_task, task=task, now=self.clock.now())
        return await self._write("restore_task", task.owner, run)

    async def exported_messages(self, scope: Scope, *, limit: int = 200, after: Waiting | None = None) -> list[Waiting]:
        """A page of all messages that wait for the agent, place by place in their order; for export."""
        cursor = ("", "", 0) if after is None else (after.owner, after.place, after.number)
        return await self._read(
            "exported_messages", scope, partial(moving_tasks.exported_messages, limit=limit, after=cursor)
        )

    async def restore_message(self, message: Waiting) -> bool:
        """The message waits for its answer, unless it was forgotten here; whether it does. For import."""
        due = Due(kind="reply", at=self.clock.now(), reason=message.reason)
        run = partial(moving_tasks.restore_message, message=message, due=due)
        return await self._write("restore_message", message.owner, run)
