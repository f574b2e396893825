"""Tasks as people and models set them: what the agent is to do, and when.

    task = await agent.tasks.create("Say what the weather will be.", cron="0 7 * * 1-5", to=binding)

Making a task needs no agent, only a memory; whoever holds the primary's lease and has an agent does it at its time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec

from afterglow.agent.task_runs import Invoke, TaskRuns
from afterglow.agent.times import LAST, check_cron, moment_of, next_time, zone_for, zone_of
from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.model.metered import Metered
from afterglow.reading import one_owner
from afterglow.returning import check_goal
from afterglow.store.tasks import Creator, Task, TaskKind
from afterglow.store.transaction import Scope
from afterglow.telling import Deliver
from afterglow.turns import Binding, Draft, check_text
from afterglow.work import Claim, Due, Kind
from afterglow.worker import Act, Commit, Worker, holder_name
from afterglow.working import work_limits

PROMPT_CHARS_MAX = 10_000
WORDS_CHARS_MAX = 1_000
_NAME_CHARS_MAX = 80
_NAME_WORDS = 5
_LISTED_MAX = 1_000


class Tasks:
    """What the agent is to do at set times."""

    def __init__(
        self,
        memory: Memory,
        invoke: Invoke | None = None,
        deliver: Deliver | None = None,
        *,
        binding: Binding | None = None,
        model: Metered | None = None,
    ) -> None:
        """Without `invoke` tasks are set and looked at here, and done elsewhere. `binding` is whom calls mean by default;
        `model` is the one that answers, where that is not the settings'."""
        self._memory = memory
        self._binding = binding
        self._runs = None if invoke is None else TaskRuns(memory, invoke, deliver, model)

    async def create(
        self,
        prompt: str,
        *,
        at: datetime | str | None = None,
        cron: str | None = None,
        plan: str | None = None,
        to: Binding | None = None,
        id: str | None = None,
        zone: str | None = None,
        runs_max: int | None = None,
        until: datetime | str | None = None,
        created_by: Creator = "owner",
    ) -> Task:
        """Have something done once (`at`), again and again (`cron`), or when the model plans it (`plan`, in your words).

        With `plan`, `at` is the first time; without it that is planned too. Times without an offset, and cron's, are those of
        `zone`, which is the person's unless you name one. It ends after `runs_max` runs, and does not run after `until`.
        `id` is a name for it; one that is active already is refused. Without it, it is named after its first words.
        """
        binding = to or self._binding
        if binding is None:
            raise BadInput("say whom the task is for: to=Binding(agent=…, channel=…, sender=…)")
        _check_prompt(prompt)
        now, where = self._memory.store.clock.now(), zone or zone_for(self._memory.settings, binding)
        kind, schedule = _kind(at, cron, plan)
        first = _time(at, where)
        last = _time(until, where)
        if kind == "cron":
            schedule = check_cron(schedule)
            first = next_time(schedule, now, zone_of(where))
        _check_to_come(first, last, now)
        if kind == "once":
            assert first is not None, "what is to be done once has its time"
            schedule = first.isoformat()
        if runs_max is not None and runs_max < 1:
            raise BadInput(f"runs_max is {runs_max}; give 1 or more, or leave it out")
        text = await self._clean(prompt, binding)
        task = Task(
            owner=binding.owner,
            id=_named(id) if id is not None else name_of(text),
            agent=binding.agent,
            channel=binding.channel,
            sender=binding.sender,
            prompt=text,
            kind=kind,
            schedule=await self._clean(schedule, binding) if kind == "planned" else schedule,
            zone=zone_of(where).key,
            next_at=first,
            planning=first is None,
            runs_max=runs_max,
            until=last,
            created_at=now,
            created_by=created_by,
        )
        return await self._memory.store.add_task(task, is_named=id is not None)

    async def list(self, owner: Scope | None = None, *, ended: bool = False, limit: int = 100) -> list[Task]:
        """The tasks of an owner, those that run first at the top; with `ended` those too that are done or cancelled."""
        scope = self._owner(None) if owner is None else owner
        return await self._memory.store.tasks(scope, ended=ended, limit=max(1, min(limit, _LISTED_MAX)))

    async def show(self, id: str, *, owner: str | None = None) -> Task:
        """One task, also one that has ended."""
        return await self._memory.store.task(self._owner(owner), id)

    async def cancel(self, id: str, *, owner: str | None = None) -> Task:
        """The task runs no more. A run that is under way comes to its end."""
        return await self._memory.store.cancel_task(self._owner(owner), id)

    async def run(self, id: str, *, owner: str | None = None) -> str:
        """Do the task now, and give what came of it. Its next time stays, unless a model plans it.

        Where it fails you are told why, and it is tried again as if it had been due; what is to be done once waits for its
        time. Broken off, every task does.
        """
        if self._runs is None:
            raise BadInput("there is no agent here that does tasks; open one with afterglow.agent.open_agent")
        runs, task = self._runs, await self.show(id, owner=owner)
        if task.state != "active":
            raise BadInput(f"the task {id!r} is {task.state}; make it anew to have it done again")
        said: list[str] = []

        async def hear(text: str) -> None:
            said.append(text)

        async def act(claim: Claim) -> Commit | None:
            return await runs.by_hand(claim, hear)

        worker = Worker(self._memory.store, {}, holder=holder_name(), limits=work_limits(self._memory.settings))
        await worker.do_now(task.owner, "task", task.id, act, back=partial(self._back, task))
        return "".join(said)

    def _back(self, task: Task, error: BaseException) -> Due | None:
        """When a task is due that was run by hand in vain: at its own time, where that is still to come."""
        to_come = task.next_at if task.next_at is not None and task.next_at > self._memory.store.clock.now() else None
        if to_come is None or (task.kind != "once" and isinstance(error, Exception)):
            return None
        return Due(kind="task", at=to_come, reason=task.kind, subject=task.id)

    @property
    def acts(self) -> Mapping[Kind, Act]:
        """What is done in the background."""
        return {} if self._runs is None else {"task": self._runs.act}

    def _owner(self, owner: str | None) -> str:
        if owner is None and self._binding is None:
            raise BadInput("say whose task it is: owner=…")
        return one_owner(owner if owner is not None else self._binding.owner)  # pyright: ignore[reportOptionalMemberAccess]

    async def _clean(self, text: str, binding: Binding) -> str:
        """Without the secrets that the log would not have either."""
        draft = Draft(role="user", text=text, trust="agent", origin="task", at=self._memory.store.clock.now())
        return (await self._memory.intake.prepared(draft, binding.agent)).draft.text


def missing_package() -> str | None:
    """A package without which no task can be done; None where all are there."""
    return next((name for name in ("langgraph", "apscheduler") if find_spec(name) is None), None)


def name_of(prompt: str) -> str:
    """A name made of the first words of a prompt."""
    words = re.findall(r"[^\W_]+", prompt.lower())
    name = ""
    for word in words[:_NAME_WORDS]:
        if name and len(name) + len(word) >= _NAME_CHARS_MAX // 2:
            break
        name = f"{name}-{word}" if name else word[: _NAME_CHARS_MAX // 2]
    return name or "task"


def _check_prompt(prompt: str) -> None:
    check_text(prompt, "what is to be done")
    if not prompt.strip() or len(prompt) > PROMPT_CHARS_MAX:
        raise BadInput(f"what is to be done has 1 to {PROMPT_CHARS_MAX:,} characters; this has {len(prompt.strip()):,}")


def _named(id: str) -> str:
    check_goal(id, "name of a task")
    if len(id) > _NAME_CHARS_MAX:
        raise BadInput(f"the name of a task has at most {_NAME_CHARS_MAX} characters; this has {len(id)}")
    return id


def _kind(at: datetime | str | None, cron: str | None, plan: str | None) -> tuple[TaskKind, str]:
    if plan is not None and cron is None:
        check_text(plan, "the words for the times")
        if not plan.strip() or len(plan) > WORDS_CHARS_MAX:
            raise BadInput(f"the words for the times have 1 to {WORDS_CHARS_MAX:,} characters; these have {len(plan)}")
        return "planned", plan.strip()
    if (at is None) == (cron is None) or plan is not None:
        raise BadInput("say when in one way: at a time, by cron, or as the model plans it (which may begin at a time)")
    return ("once", "") if cron is None else ("cron", cron)


def _time(given: datetime | str | None, zone: str) -> datetime | None:
    if isinstance(given, datetime):
        given = given.isoformat()
    return None if given is None else moment_of(given, zone_of(zone)).astimezone(UTC)


def _check_to_come(first: datetime | None, last: datetime | None, now: datetime) -> None:
    for what, moment in (("the time", first), ("until", last)):
        if moment is not None and moment <= now:
            raise BadInput(f"{what} {moment:%Y-%m-%d %H:%M} UTC is past; it is {now:%Y-%m-%d %H:%M} UTC now")
        if moment is not None and moment >= LAST:
            raise BadInput(f"{what} {moment:%Y-%m-%d} is too far away; give one before {LAST:%Y-%m-%d}")
    if first is not None and last is not None and first > last:
        raise BadInput(f"its first time, {first:%Y-%m-%d %H:%M} UTC, is after the last, {last:%Y-%m-%d %H:%M} UTC")
