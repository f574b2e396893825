"""The routes of facts: list, find, show with proof; and what the owner decides of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.requests import Request

from afterglow.errors import BadInput
from afterglow.facts import Fact, FactType, Status
from afterglow.memory import Memory
from afterglow.proof import Proof as ProofOfForgetting
from afterglow.proof import pieces, prove
from afterglow.remembering import Proof
from afterglow.web import cursors
from afterglow.web.credentials import Access
from afterglow.web.reading import Asked, Page, SessionName, Text, decoded, found_session
from afterglow.web.whose import Accessed, Opened, check_there, one_owner, owners_word, scope_of
from afterglow.web.writing import nothing_sent, read_body

BODY_BYTES_MAX = 16 * 1024

router = APIRouter(prefix="/api/v1")
FactName = Annotated[Text, BeforeValidator(decoded), Path(description="The fact's id")]
_WANTED = ("type", "session", "since", "until")
Owners = Depends(owners_word)
Nothing = Depends(nothing_sent)


class FactsAsked(Asked):
    q: Text | None = Field(
        default=None, description="Only facts that fit these words, by words and meaning, best first"
    )
    status: Status | None = Field(default=None, description="active, if neither this nor `all` is given")
    all: bool = Field(default=False, description="Of every status but forgotten")
    type: FactType | None = None
    session: Text | None = Field(default=None, description="Only what this session told")
    since: Text | None = Field(default=None, description="Only what was said on this day or later, such as 2026-03-02")
    until: Text | None = Field(default=None, description="Only what was said before this day")
    limit: int = Field(default=50, ge=1, le=10_000)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class NewFact(BaseModel):
    """A fact that the owner states."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    content: str = Field(min_length=1, max_length=2_000)
    type: FactType | None = Field(
        default=None, description="other, if it is not given; where the fact is known, it stays what it was"
    )
    owner: Text | None = Field(default=None, description="Whose fact; needless where there is one owner")


class EditedFact(BaseModel):
    """A fact, stated otherwise: in other words, of another type, or both."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    content: str | None = Field(default=None, min_length=1, max_length=2_000)
    type: FactType | None = None


class Verified(Asked):
    verify: bool = Field(default=False, description="Prove it by a search of all bytes, which takes a while")


class Anew(Asked):
    anew: bool = Field(default=False, description="From the session's beginning, not from where it was last read to")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFact(Fact):
    """A fact, and what took its place."""

    superseded_by: Fact | None
    """None where it stands, or was read only after what was said later."""


class ForgottenFact(BaseModel):
    """What is left of the fact, and the proof, where one was asked for."""

    fact: Fact
    proof: ProofOfForgetting | None


class Extracted(BaseModel):
    """What became of what a model claimed to have found."""

    claimed: int
    stored: int
    pending: int
    again: int
    dropped: dict[str, int] = Field(description="Claims that were not believed, by why")


_NEW = {"required": True, "content": {"application/json": {"schema": NewFact.model_json_schema()}}}
_EDITED = {"required": True, "content": {"application/json": {"schema": EditedFact.model_json_schema()}}}


@router.get("/facts")
async def facts(memory: Opened, access: Accessed, asked: Annotated[FactsAsked, Query()]) -> Page[Fact]:
    """Facts, what was said last first; with `q`, what fits best first."""
    if asked.q is not None:
        return await _found(memory, access, asked)
    before = None if asked.after is None else cursors.fact(asked.after)
    status = None if asked.all else asked.status or "active"
    scope, wanted = scope_of(access, asked.owner), {name: getattr(asked, name) for name in _WANTED}
    found = await memory.facts.list(scope, status=status, limit=asked.limit, before=before, **wanted)
    more = len(found) == asked.limit and await memory.facts.list(
        scope, status=status, limit=1, before=found[-1], **wanted
    )
    return Page(items=found, next=cursors.of_fact(found[-1]) if more else None)


async def _found(memory: Memory, access: Access, asked: FactsAsked) -> Page[Fact]:
    """Search knows active facts alone, and gives no pages: the best are the first."""
    if {"status", "all", "session", "since", "until", "after"} & asked.model_fields_set:
        raise BadInput("q: it goes with owner, type and limit alone; it finds active facts, the best first")
    owner = await one_owner(memory, access, asked.owner)
    types = [asked.type] if asked.type else []
    assert asked.q is not None, "words are what is looked for"
    hits = (await memory.recall(asked.q, owner=owner, kinds=("fact",), types=types, limit=asked.limit)).hits
    return Page(items=[await memory.facts.show(owner, hit.fact) for hit in hits], next=None)


@router.post(
    "/facts",
    status_code=201,
    response_model=Fact,
    responses={200: {"model": Fact}},
    dependencies=[Owners],
    openapi_extra={"requestBody": _NEW},
)
async def add(request: Request, response: Response, memory: Opened, access: Accessed) -> Fact:
    """The owner states a fact: 201 and the new fact; or 200 and the one there is, where it was known."""
    new = NewFact.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    owner = await one_owner(memory, access, new.owner)
    await check_there(memory, access, owner)
    stated = await memory.facts.state(owner, new.content, type=new.type)
    response.status_code = 201 if stated.new else 200
    return stated.fact


@router.get("/facts/{fact}")
async def fact(memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Asked, Query()]) -> ShownFact:
    """One fact; of one that was superseded, also the fact that took its place."""
    found = await memory.facts.show(scope_of(access, asked.owner), fact)
    newer = await memory.facts.superseded_by(found)
    return ShownFact(superseded_by=newer, **{field.name: getattr(found, field.name) for field in fields(Fact)})


@router.get("/facts/{fact}/proofs")
async def proofs(memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Asked, Query()]) -> Page[Proof]:
    """The turns that prove the fact, each with a few around it."""
    found = await memory.facts.show(scope_of(access, asked.owner), fact)
    return Page(items=await memory.facts.proofs(found) if found.status != "forgotten" else [], next=None)


@router.patch("/facts/{fact}", response_model=Fact, dependencies=[Owners], openapi_extra={"requestBody": _EDITED})
async def edit(
    request: Request, memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Asked, Query()]
) -> Fact:
    """The owner states it otherwise: a new fact, in the answer, takes the place of the old one.

    Where only its type is another, it is the same fact. A pending one is approved with that, whatever is given.
    """
    new = EditedFact.model_validate_json(await read_body(request, BODY_BYTES_MAX))
    if new.content is None and new.type is None:
        raise BadInput("content, type: give one of them, or both; there is nothing else to change")
    old = await memory.facts.show(scope_of(access, asked.owner), fact)
    return await memory.facts.edit(old.owner, old.id, new.content, type=new.type)


@router.post("/facts/{fact}/approve", dependencies=[Owners, Nothing])
async def approve(memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Asked, Query()]) -> Fact:
    """The owner believes a pending fact."""
    found = await memory.facts.show(scope_of(access, asked.owner), fact)
    return await memory.facts.approve(found.owner, found.id)


@router.post("/facts/{fact}/reject", dependencies=[Owners, Nothing])
async def reject(memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Asked, Query()]) -> Fact:
    """The owner does not believe a pending fact: it is forgotten, and does not come back."""
    found = await memory.facts.show(scope_of(access, asked.owner), fact)
    return found if found.status == "forgotten" else await memory.facts.reject(found.owner, found.id)


@router.post("/facts/{fact}/forget", dependencies=[Owners, Nothing])
async def forget(
    memory: Opened, access: Accessed, fact: FactName, asked: Annotated[Verified, Query()]
) -> ForgottenFact:
    """Nothing of the fact stays but what keeps it from coming back."""
    before = await memory.facts.show(scope_of(access, asked.owner), fact)
    if before.status == "forgotten":
        return ForgottenFact(fact=before, proof=None)
    after = await memory.facts.forget(before.owner, before.id)
    if not asked.verify:
        return ForgottenFact(fact=after, proof=None)
    folder = memory.settings.data_dir
    sought = pieces(before.content)
    return ForgottenFact(fact=after, proof=await prove(memory.store, sought, owner=before.owner, data_dir=folder))


@router.post("/sessions/{session}/facts", dependencies=[Nothing])
async def extract(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Anew, Query()]) -> Extracted:
    """Read the session for facts now, and wait for it."""
    found = await found_session(memory, access, session, asked.owner)
    done = await memory.facts.extract(found, anew=asked.anew)
    return Extracted(
        claimed=done.claimed, stored=done.stored, pending=done.pending, again=done.again, dropped=dict(done.dropped)
    )
