"""The routes of what the agent did by itself, and of what people were told of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from afterglow.channels.message import Part
from afterglow.digest import Digest, Gate
from afterglow.errors import BadInput
from afterglow.goals import GoalEvent
from afterglow.inbound import Inbound
from afterglow.returning import Preview
from afterglow.store.presence import Presence
from afterglow.turns import Binding, binding_of
from afterglow.web import cursors
from afterglow.web.reading import Asked, Page, Text
from afterglow.web.summaries import Moment
from afterglow.web.whose import Accessed, Opened, check_owner, one_owner, scope_of
from afterglow.web.writing import Name, key_of, moment, read_body

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


class NewMessage(BaseModel):
    """That somebody wrote."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    agent: Name = Field(examples=["kate"])
    channel: Name = Field(examples=["telegram"])
    sender: Name = Field(examples=["ana"])
    id: Name | None = Field(default=None, description="The platform's id of the message: coming again, it is known")


class Returned(BaseModel):
    """What the person is to be told before the message is answered."""

    again: bool = Field(description="Whether the message had come before; then there is nothing to tell")
    parts: list[Part] = Field(description="The messages to send, in order; none where nothing is to be told")
    stopped_by: Gate | None = Field(description="The gate that stopped the digest")


class GoalsAsked(Asked):
    agent: Text | None = Field(
        default=None, description="Only what this agent did; else the one the owner is named for"
    )
    goal: Text | None = Field(default=None, description="Only the steps of this goal")
    since: Moment | None = Field(default=None, description="Only from this moment on")
    limit: int = Field(default=50, ge=1, le=1_000)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class DigestsAsked(Asked):
    agent: Text | None = Field(default=None, description="Only those of this agent")
    limit: int = Field(default=50, ge=1, le=999)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class PreviewAsked(Asked):
    since: Moment | None = Field(default=None, description="Look back to this moment")


_GOAL = {"required": True, "content": {"application/json": {"schema": NewGoalEvent.model_json_schema()}}}
_MESSAGE = {"required": True, "content": {"application/json": {"schema": NewMessage.model_json_schema()}}}


@router.post("/goals", status_code=201, response_model=GoalEvent, openapi_extra={"requestBody": _GOAL})
async def record_goal(request: Request, memory: Opened, access: Accessed) -> GoalEvent:
    """Write down one step of a goal. Repeating it with the same step is safe."""
    new = NewGoalEvent.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    to = Binding(agent=new.agent, channel=new.channel, sender=new.sender)
    check_owner(access, to.owner)
    step = key_of(request, new.step)
    return await memory.record_goal(to, new.goal, new.outcome, step=step, title=new.title, note=new.note, at=new.at)


@router.get("/goals")
async def goals(memory: Opened, access: Accessed, asked: Annotated[GoalsAsked, Query()]) -> Page[GoalEvent]:
    """What the agent did, the newest step first."""
    scope = scope_of(access, asked.owner)
    binding = binding_of(scope) if isinstance(scope, str) else None
    agent = asked.agent or (binding.agent if binding else None)
    before = None if asked.after is None else cursors.goal(asked.after)
    found = await memory.store.goal_events(
        scope, agent, since=asked.since, limit=asked.limit + 1, before=before, goal=asked.goal
    )
    items = found[: asked.limit]
    return Page(items=items, next=cursors.of_goal(items[-1]) if len(found) > len(items) else None)


@router.get("/digests")
async def digests(memory: Opened, access: Accessed, asked: Annotated[DigestsAsked, Query()]) -> Page[Digest]:
    """What people were told of the times they were away, or why not; the newest first."""
    before = None if asked.after is None else cursors.digest(asked.after)
    found = await memory.digests(
        owner=scope_of(access, asked.owner), agent=asked.agent, limit=asked.limit + 1, before=before
    )
    items = found[: asked.limit]
    return Page(items=items, next=cursors.of_digest(items[-1]) if len(found) > len(items) else None)


@router.get("/digests/preview")
async def preview(memory: Opened, access: Accessed, asked: Annotated[PreviewAsked, Query()]) -> Preview:
    """What somebody would be told if they wrote now, and which gate would stop it. Nothing is claimed by it."""
    binding = _binding(await one_owner(memory, access, asked.owner))
    return await memory.preview_digest(binding, since=asked.since)


@router.get("/presence")
async def presence(memory: Opened, access: Accessed, asked: Annotated[Asked, Query()]) -> Presence | None:
    """When somebody was last seen, from where, and how much happened since; null where they never were."""
    binding = _binding(await one_owner(memory, access, asked.owner))
    return await memory.store.presence(binding.owner, binding.agent)


@router.post("/inbound", response_model=Returned, openapi_extra={"requestBody": _MESSAGE})
async def inbound(request: Request, memory: Opened, access: Accessed) -> Returned:
    """Somebody wrote. The answer is what they are to be told first of the time they were away; it counts as told."""
    new = NewMessage.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    binding = Binding(agent=new.agent, channel=new.channel, sender=new.sender)
    check_owner(access, binding.owner)
    parts: list[Part] = []

    async def deliver(_: Binding, part: Part) -> None:
        parts.append(part)

    handled = await memory.on_inbound(Inbound(binding=binding, id=key_of(request, new.id)), deliver=deliver)
    return Returned(again=handled.again, parts=parts, stopped_by=handled.stopped_by)


def _binding(owner: str) -> Binding:
    binding = binding_of(owner)
    if binding is None:
        raise BadInput("owner: name one as agent/channel/sender, such as ?owner=kate/telegram/42")
    return binding
