"""The act behind work of kind `task`: the agent does what it was told to do, and says when it does so again.

A run is one exchange under a key of its own, and then one commit: a process that dies in between leaves the reply, and who
repeats it finds it. Planning the next time is a step by itself, so that a failure of it never repeats a run. What fails is
tried again as all work is; then it counts as failed, the person is told so, and the task goes on with its next time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from afterglow import prose
from afterglow.agent.handing import heard, through
from afterglow.agent.times import at_wall, next_time, zone_of
from afterglow.clock import new_fence, to_us
from afterglow.errors import BadInput, BadSettings, ModelBadOutput, ModelBusy, NotFound
from afterglow.goals import NOTE_CHARS_MAX, TITLE_CHARS_MAX, Outcome
from afterglow.guard import redact
from afterglow.memory import Memory
from afterglow.model.metered import Metered
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.store.goals import Step
from afterglow.store.tasks import Task
from afterglow.telling import Deliver
from afterglow.work import Claim, Due, Limits, error_text, is_spent
from afterglow.worker import Commit
from afterglow.working import work_limits

Invoke = Callable[..., Awaitable[str]]
"""The agent's way to the model."""
Hear = Callable[[str], Awaitable[Any]]
"""What gets the reply of a run."""

_AHEAD = timedelta(days=400)
"""A time that is planned is not farther away than this."""
_CLOCKS_APART = timedelta(seconds=60)
"""So early a run may be by this machine's clock, where the database's said it is due."""
_PATIENCE = timedelta(days=1)
"""So long what is to be done once waits for a model that cannot be had."""
_PLAN_AGAIN = timedelta(days=1)
_NOTE_CHARS_MAX = 2_000
_NO_MODEL = "no model is set up that could do it; set a provider's key in the environment, or `answering.model`"
_log = logging.getLogger(__name__)


class Next(BaseModel):
    """When a task is to run next, and why then."""

    next_at: datetime | None = Field(description="A time to come, such as 2026-03-02T09:15; null if it is over.")
    why: str = Field(description="One short sentence.")


def message_of(task: Task) -> str:
    """What the agent is told when a task is due. It says so, or a reminder would be taken for the wish to have one."""
    return f"[Your task “{task.id}” is due. Do it now, and say what the person is to hear.]\n{task.prompt}"


def key_of(task: Task) -> str:
    """The key of the run to come: the same however often it is tried, and never that of another run."""
    return f"task:{task.id}:{to_us(task.created_at)}:{task.runs + 1}"


def after_run(task: Task, now: datetime, note: str, *, asked_at: datetime | None = None) -> Task:
    """How a task stands after a run: times that were missed are caught up with by this one.

    Where somebody had it run by hand, `asked_at` is when: what was to come then is still to come.
    """
    ran = replace(task, runs=task.runs + 1, last_at=now, note=note, why="")
    if task.kind == "once" or (task.runs_max is not None and ran.runs >= task.runs_max):
        return ended(ran)
    if task.kind == "planned":
        return ended(ran) if task.until is not None and task.until <= now else replace(ran, next_at=None, planning=True)
    due = task.next_at
    counted = due if due is not None and now < due <= now + _CLOCKS_APART else now
    try:
        return timed(ran, next_time(task.schedule, asked_at or counted, zone_of(task.zone)))
    except BadInput as wrong:  # from an export that somebody edited: it must not run for ever, nor fail after each run
        return replace(ended(ran), why=str(wrong))


def timed(task: Task, next_at: datetime | None) -> Task:
    """The task with its next time; with none, or one after its last day, it is done."""
    if next_at is None or (task.until is not None and next_at > task.until):
        return ended(task)
    return replace(task, next_at=next_at, planning=False)


def ended(task: Task) -> Task:
    return replace(task, state="done", next_at=None, planning=False)


def is_given_up(task: Task, attempt: int, limits: Limits, now: datetime, error: Exception) -> bool:
    """Whether a run that failed so often counts as failed. What is to be done once waits for a model a day long."""
    if isinstance(error, BadInput | NotFound):
        return True
    waits = task.kind == "once" and isinstance(error, ModelBusy) and not _is_late(task, now)
    return is_spent(attempt, limits) and not waits


def is_hopeless(task: Task, attempt: int, limits: Limits, now: datetime) -> bool:
    """Whether a run is not even tried again: whoever tried it so often did not live to say why it failed."""
    return attempt > limits.attempts_max and (task.kind != "once" or _is_late(task, now))


def _is_late(task: Task, now: datetime) -> bool:
    return task.next_at is not None and now - task.next_at > _PATIENCE


class TaskRuns:
    """Does tasks, and has their next times planned."""

    def __init__(self, memory: Memory, invoke: Invoke, deliver: Deliver | None, model: Metered | None) -> None:
        self._memory = memory
        self._store = memory.store
        self._invoke = invoke
        self._deliver = deliver
        self._model = model
        self._limits = work_limits(memory.settings)

    async def act(self, claim: Claim) -> Commit | None:
        """Do the task that the claim is about, or plan when it runs next, and give the commit."""
        task = await self._active(claim)
        if task is None:
            return None
        if task.until is not None and task.until < self._store.clock.now():  # it was missed, and is not to be done now
            return self._ending(claim, task)
        if task.planning:
            return await self._plan(claim, task)
        return await self._run(claim, task, self._delivered(task), may_fail=True)

    def _ending(self, claim: Claim, task: Task) -> Commit:
        async def commit() -> None:
            await self._store.commit_task(claim, ended(task))

        return commit

    async def by_hand(self, claim: Claim, hear: Hear) -> Commit | None:
        """Do the task whatever time it is; what goes wrong is for whoever asked for it."""
        task = await self._active(claim)
        return None if task is None else await self._run(claim, task, hear, may_fail=False)

    async def _active(self, claim: Claim) -> Task | None:
        try:
            task = await self._store.task(claim.owner, claim.subject)
        except NotFound:
            return None
        return task if task.state == "active" else None

    async def _run(self, claim: Claim, task: Task, hear: Hear, *, may_fail: bool) -> Commit:
        text, failure, begun = "", "", self._store.clock.now()
        try:
            if is_hopeless(task, claim.attempt, self._limits, self._store.clock.now()):
                raise BadInput("it never came to an end, so that nobody was left to say why")
            model = self._model or self._memory.means_of.answering(task.agent)
            if model.name == OFFLINE:
                raise BadSettings(_NO_MODEL)
            text = await self._invoke(message_of(task), "scheduled_task", to=task.binding, key=key_of(task))
        except Exception as error:
            if not may_fail or not is_given_up(task, claim.attempt, self._limits, self._store.clock.now(), error):
                raise
            said = str(error) if isinstance(error, BadInput) else error_text(error)
            failure = redact(said).text  # a provider's error may quote a key
        now = self._store.clock.now()
        note = self._words(task, f"failed: {failure}" if failure else text, _NOTE_CHARS_MAX)
        after = after_run(task, now, note, asked_at=None if may_fail else begun)
        outcome: Outcome = "failed" if failure else "completed"
        step = self._step(task, f"run {after.runs} of {now:%Y-%m-%d %H:%M:%S}", outcome, failure or text)

        async def commit() -> None:
            kept = await self._store.commit_task(claim, after, step, self._words_due(task, now))
            _log.info("task %s: run %d %s; %s", kept.id, kept.runs, outcome, _standing(kept))
            if text:
                await hear(text)

        return commit

    async def _plan(self, claim: Claim, task: Task) -> Commit:
        now, step = self._store.clock.now(), None
        try:
            after = await self._planned(task)
        except Exception as error:
            if not is_spent(claim.attempt, self._limits):
                raise
            why = f"its next time could not be planned: {redact(error_text(error)).text}"
            after = replace(task, next_at=now + _PLAN_AGAIN, why=self._words(task, why, NOTE_CHARS_MAX))
            step = self._step(task, f"plan after run {task.runs} of {now:%Y-%m-%d %H:%M:%S}", "failed", why)

        async def commit() -> None:
            kept = await self._store.commit_task(claim, after, step, self._words_due(task, now) if step else ())
            _log.info("task %s: planned; %s", kept.id, _standing(kept))

        return commit

    async def _planned(self, task: Task) -> Task:
        """The task with the time that the model wants; asked once more, with what was wrong, where it cannot be used."""
        fence = new_fence(self._store.clock)
        messages = [("system", load("reschedule").filled(fence=fence)), ("user", self._situation(task, fence))]
        answer, wanted, fault = await self._asked(task, messages)
        if fault:
            messages += [("assistant", answer), ("user", f"{fault}. Answer again, with a time that can be used.")]
            answer, wanted, fault = await self._asked(task, messages)
        if fault:
            raise ModelBadOutput(f"the model planned a time that cannot be used: {fault}")
        return timed(replace(task, why=self._words(task, wanted.why, NOTE_CHARS_MAX)), wanted.next_at)

    async def _asked(self, task: Task, messages: Sequence[tuple[str, str]]) -> tuple[str, Next, str]:
        """What the model answers, word for word and as a moment, and what is wrong with that."""
        answer = await self._invoke("", "complex_reschedule", messages=messages, schema=Next, to=task.binding)
        wanted = Next.model_validate_json(answer)
        try:
            if wanted.next_at is not None and wanted.next_at.tzinfo is None:  # by the clocks it was told of
                wanted.next_at = at_wall(wanted.next_at, zone_of(task.zone))
        except OverflowError:  # before the first year in UTC, or after the last
            return answer, wanted, f"{wanted.next_at} is no time that comes"
        return answer, wanted, _fault(wanted.next_at, self._store.clock.now())

    def _situation(self, task: Task, fence: str) -> str:
        zone = zone_of(task.zone)
        now = self._store.clock.now().astimezone(zone)
        told = [f"It is {now:%A}, {now:%Y-%m-%dT%H:%M} in {task.zone}."]
        if task.until is not None:
            told.append(f"It does not run after {task.until.astimezone(zone):%Y-%m-%dT%H:%M}.")
        told += ["The task, and the words for its times:", fence, task.prompt, f"When: {task.schedule}", fence]
        if task.last_at is None:
            told.append("It has not run yet.")
        else:
            told.append(f"It has run {task.runs} times, last at {task.last_at.astimezone(zone):%Y-%m-%dT%H:%M}:")
            told += [fence, task.note or "(it said nothing)", fence]
        return "\n".join([*told, "When does it run next?"])

    def _step(self, task: Task, step: str, outcome: Outcome, note: str) -> Step:
        return Step(
            agent=task.agent,
            goal=task.id,
            step=step,
            outcome=outcome,
            title=self._words(task, task.prompt, TITLE_CHARS_MAX) or task.id,
            note=self._words(task, note, NOTE_CHARS_MAX),
            at=self._store.clock.now(),
        )

    def _words(self, task: Task, text: str, chars_max: int) -> str:
        return self._memory.goal_words(task.agent, text, chars_max)

    def _words_due(self, task: Task, now: datetime) -> Sequence[Due]:
        """Where people are told in words, those are written behind the event."""
        away = self._memory.settings.away_of(task.binding)
        return [prose.due_after(now)] if away.enabled and away.prose else []

    def _delivered(self, task: Task) -> Hear:
        async def hear(text: str) -> None:
            if self._deliver is not None:
                await heard(through(self._deliver, task.binding), text, f"what task {task.id} said")

        return hear


def _fault(next_at: datetime | None, now: datetime) -> str:
    if next_at is None or now < next_at <= now + _AHEAD:
        return ""
    return f"{next_at.isoformat()} is {'not in the future' if next_at <= now else f'more than {_AHEAD.days} days away'}"


def _standing(task: Task) -> str:
    if task.state != "active":
        return f"it is {task.state}"
    return "its next time is to be planned" if task.planning else f"next at {task.next_at:%Y-%m-%d %H:%M} UTC"
