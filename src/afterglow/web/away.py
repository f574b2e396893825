"""The routes of what the agent did by itself, and of what people were told of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from afterglow.digest import Digest
from afterglow.errors import BadInput
from afterglow.goals import GoalEvent
from afterglow.turns import Binding, binding_of
from afterglow.web.reading import Accessed, Asked, Opened, Page, Text, scope_of
from afterglow.web.summaries import Moment
from afterglow.web.writing import Name, moment, read_body

BODY_BYTES_MAX = 64 * 1024

router = APIRouter(prefix="/api/v1")


class NewGoalEvent(BaseModel):
    """One step of the agent's own work."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    agent: Name = Field(examples=["kate"])
    channel: Name = Field(examples=["telegram"])
    sender: Name = Field(examples=["ana"])
    goal: Name = Field(examples=["weekly-report"])
    outcome: Name = Field(
        description="completed, cancelled, failed, needs_you or running, or another system's word for one of them"
    )
    step: Name | None = Field(default=None, description="The same step of the same goal again changes nothing")
    title: str = Field(default="", max_length=10_000, description="What the goal is called before people")
    note: str = Field(default="", max_length=10_000, description="Why it failed, or what is needed")
    at: Annotated[AwareDatetime, AfterValidator(moment)] | None = None


class GoalsAsked(Asked):
    goal: Text | None = Field(default=None, description="Only the steps of this goal")
    since: Moment | None = Field(default=None, description="Only from this moment on")
    limit: int = Field(default=50, ge=1, le=1_000)


class DigestsAsked(Asked):
    agent: Text | None = Field(default=None, description="Only those of this agent")
    limit: int = Field(default=50, ge=1, le=1_000)


_BODY = {"required": True, "content": {"application/json": {"schema": NewGoalEvent.model_json_schema()}}}


@router.post("/goals", status_code=201, response_model=GoalEvent, openapi_extra={"requestBody": _BODY})
async def record_goal(request: Request, response: Response, memory: Opened) -> GoalEvent:
    """Write down one step of a goal. Repeating it with the same step is safe."""
    new = NewGoalEvent.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    to = Binding(agent=new.agent, channel=new.channel, sender=new.sender)
    return await memory.record_goal(to, new.goal, new.outcome, step=new.step, title=new.title, note=new.note, at=new.at)


@router.get("/goals")
async def goals(memory: Opened, asked: Annotated[GoalsAsked, Query()]) -> Page[GoalEvent]:
    """What the agent did for one owner, the newest step first."""
    binding = binding_of(asked.owner or "")
    if binding is None:
        raise BadInput("owner: name one as agent/channel/sender, such as ?owner=kate/telegram/42")
    found = await memory.goals(binding, since=asked.since, limit=asked.limit, goal=asked.goal)
    return Page(items=found, next=None)


@router.get("/digests")
async def digests(memory: Opened, access: Accessed, asked: Annotated[DigestsAsked, Query()]) -> Page[Digest]:
    """What people were told of the times they were away, or why not; the newest first."""
    found = await memory.digests(owner=scope_of(access, asked.owner), agent=asked.agent, limit=asked.limit)
    return Page(items=found, next=None)
