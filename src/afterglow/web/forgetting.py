"""The routes that forget, and those that make two owners one. Each is the owner's own word, or the operator's."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BeforeValidator, Field

from afterglow.errors import BadInput
from afterglow.forgetting import Forgetting
from afterglow.turns import Owner
from afterglow.web.reading import SEQ_MAX, Asked, SessionName, Strict, Text, decoded, found_session
from afterglow.web.whose import Accessed, Opened, check_owner, operators_word, owners_word
from afterglow.web.writing import nothing_sent

router = APIRouter(prefix="/api/v1")
OwnerName = Annotated[Text, BeforeValidator(decoded), Path(description="The owner's name; a / in it as %2F")]
Owners, Operators, Nothing = Depends(owners_word), Depends(operators_word), Depends(nothing_sent)


class ForgetAsked(Asked):
    first: int | None = Field(default=None, ge=1, le=SEQ_MAX, description="The turn to begin at; without it, all of it")
    last: int | None = Field(default=None, ge=1, le=SEQ_MAX, description="The last turn; without it, one turn")
    verify: bool = Field(default=False, description="Prove it by a search of all bytes, which takes a while")


class ForgetOwnerAsked(Strict):
    keep_stones: bool = Field(default=True, description="Keep what prevents an import from bringing it back")
    verify: bool = Field(default=False, description="Prove it by a search of all bytes, which takes a while")


class JoinAsked(Strict):
    to: Text = Field(description="The owner that it becomes part of")


@router.post("/sessions/{session}/forget", dependencies=[Owners, Nothing])
async def forget(
    memory: Opened, access: Accessed, session: SessionName, asked: Annotated[ForgetAsked, Query()]
) -> Forgetting:
    """Forget a session, or with `first` some of its turns, and all that came of them. It cannot be undone."""
    found = await found_session(memory, access, session, asked.owner)
    if asked.first is not None:
        return await memory.forget.turns(found, asked.first, asked.last, verify=asked.verify)
    if asked.last is not None:
        raise BadInput("last: it goes with first; without both the whole session is forgotten")
    return await memory.forget.session(found, verify=asked.verify)


@router.post("/owners/{owner}/forget", dependencies=[Owners, Nothing])
async def forget_owner(
    memory: Opened, access: Accessed, owner: OwnerName, asked: Annotated[ForgetOwnerAsked, Query()]
) -> Forgetting:
    """Forget all that is an owner's, with the tokens that are bound to it. It cannot be undone."""
    check_owner(access, owner)
    return await memory.forget.owner(owner, keep_stones=asked.keep_stones, verify=asked.verify)


@router.post("/owners/{owner}/join", dependencies=[Operators, Nothing])
async def join(memory: Opened, owner: OwnerName, asked: Annotated[JoinAsked, Query()]) -> Owner:
    """Make two owners one memory: this one becomes part of the other."""
    return await memory.join(owner, asked.to)


@router.post("/owners/{owner}/part", dependencies=[Operators, Nothing])
async def part(memory: Opened, owner: OwnerName, asked: Annotated[Strict, Query()]) -> Owner:
    """Undo a join."""
    return await memory.part(owner)
