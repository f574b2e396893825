"""The routes of what the agent is to do at set times. To set a task is to speak as the owner, so it takes that scope."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.requests import Request

from afterglow.agent.tasks import PROMPT_CHARS_MAX, WORDS_CHARS_MAX
from afterglow.errors import BadInput, NotFound
from afterglow.memory import Memory
from afterglow.store.tasks import Task
from afterglow.turns import binding_of
from afterglow.web import cursors
from afterglow.web.credentials import Access
from afterglow.web.reading import Asked, Page, Text, decoded
from afterglow.web.whose import Accessed, Opened, one_owner, owners_word, scope_of
from afterglow.web.writing import Name, key_of, nothing_sent, read_body

BODY_BYTES_MAX = 128 * 1024

router = APIRouter(prefix="/api/v1")
TaskName = Annotated[Text, BeforeValidator(decoded), Path(description="The task's name; a / in it as %2F")]
Owners, Nothing = Depends(owners_word), Depends(nothing_sent)


class NewTask(BaseModel):
    """What the agent is to do, and when: `at` once, `cron` again and again, or when the model decides by `plan`."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    prompt: str = Field(min_length=1, max_length=PROMPT_CHARS_MAX, description="What it is to do, in your words")
    owner: Text | None = Field(default=None, description="agent/channel/sender; needless where there is one owner")
    at: str | None = Field(default=None, max_length=40, examples=["2026-03-02T09:15"])
    cron: str | None = Field(default=None, max_length=200, examples=["30 18 * * 1-5"])
    plan: str | None = Field(default=None, max_length=WORDS_CHARS_MAX, examples=["every few days"])
    zone: str | None = Field(default=None, max_length=80, description="Whose clocks count; else the settings' zone")
    name: Name | None = Field(default=None, description="One that is active already is refused")
    times: int | None = Field(default=None, ge=1, le=1_000_000, description="It ends after so many runs")
    until: str | None = Field(default=None, max_length=40, description="It does not run after that")


class TasksAsked(Asked):
    all: bool = Field(default=False, description="Also those that are done or cancelled")
    limit: int = Field(default=50, ge=1, le=999)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class Done(BaseModel):
    """What came of a task, and how it stands now."""

    text: str
    task: Task


_NEW = {"required": True, "content": {"application/json": {"schema": NewTask.model_json_schema()}}}


@router.get("/tasks")
async def tasks(memory: Opened, access: Accessed, asked: Annotated[TasksAsked, Query()]) -> Page[Task]:
    """What the agent is to do, what runs first at the top."""
    scope = scope_of(access, asked.owner)
    after = None if asked.after is None else cursors.task(asked.after)
    found = await memory.store.tasks(scope, ended=asked.all, limit=asked.limit + 1, after=after)
    items = found[: asked.limit]
    return Page(items=items, next=cursors.of_task(items[-1]) if len(found) > len(items) else None)


@router.post("/tasks", status_code=201, response_model=Task, dependencies=[Owners], openapi_extra={"requestBody": _NEW})
async def add(request: Request, memory: Opened, access: Accessed) -> Task:
    """Have the agent do something at a time, again and again, or when it plans to."""
    new = NewTask.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    owner = await one_owner(memory, access, new.owner)
    to = binding_of(owner)
    if to is None:
        raise BadInput(f"owner: {owner!r} is not agent/channel/sender, as in kate/telegram/42")
    times = {name: getattr(new, name) for name in ("at", "cron", "plan", "zone", "until")}
    name = key_of(request, new.name)
    if "idempotency-key" in request.headers:  # who tries again is given what is there, also where it is done by now
        for known in await memory.store.tasks(owner, id=name, ended=True):
            if known.prompt == new.prompt.strip():
                return known
    return await request.app.state.agent.tasks.create(new.prompt, to=to, id=name, runs_max=new.times, **times)


@router.get("/tasks/{task}")
async def task(memory: Opened, access: Accessed, task: TaskName, asked: Annotated[Asked, Query()]) -> Task:
    """One task, also one that has ended, and how its last run went."""
    return await _found(memory, access, task, asked.owner)


@router.post("/tasks/{task}/cancel", dependencies=[Owners, Nothing])
async def cancel(memory: Opened, access: Accessed, task: TaskName, asked: Annotated[Asked, Query()]) -> Task:
    """The task is not done any more. A run that is under way comes to its end."""
    found = await _found(memory, access, task, asked.owner)
    return await memory.store.cancel_task(found.owner, found.id)


@router.post("/tasks/{task}/run", dependencies=[Owners, Nothing])
async def run(
    request: Request, memory: Opened, access: Accessed, task: TaskName, asked: Annotated[Asked, Query()]
) -> Done:
    """Do the task now, and wait for it. Its next time stays, unless a model plans it."""
    found = await _found(memory, access, task, asked.owner)
    text = await request.app.state.agent.tasks.run(found.id, owner=found.owner)
    return Done(text=text, task=await memory.store.task(found.owner, found.id))


async def _found(memory: Memory, access: Access, name: str, owner: str | None) -> Task:
    """The task of this name that the request may be about."""
    found = await memory.store.tasks(scope_of(access, owner), id=name, ended=True, limit=2)
    if not found:
        raise NotFound(f"there is no task {name!r}; /api/v1/tasks?all=true lists what there is")
    if len(found) > 1:
        raise BadInput("owner: several have a task of this name; say whose is meant, such as ?owner=kate/telegram/ana")
    return found[0]
