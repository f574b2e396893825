"""Whose memory a client of the MCP door sees, and what it may do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from afterglow.errors import BadInput, NotAllowed
from afterglow.memory import Memory
from afterglow.store.access import AccessScope, AccessToken
from afterglow.turns import Binding, Session, binding_of

NOBODY_YET = Binding(agent="assistant", channel="mcp", sender="me")
"""Who speaks where nobody has spoken yet, and nobody is named."""
_LISTED = 10
_LOOKED_THROUGH = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The address that a client writes from. It sees what its owner's memory holds."""

    binding: Binding
    may: AccessScope = "owner"
    """What it may do: only read, write too, or also what is the owner's to decide."""
    who: str = "mcp:stdio"
    """By which name the audit knows it."""
    bound: bool = False
    """Whether its token opens this owner's memory alone."""

    @property
    def owner(self) -> str:
        return self.binding.owner


async def chosen(
    memory: Memory, owner: str | None, how: str, *, may: AccessScope = "owner", who: str = "mcp:stdio"
) -> Caller:
    """The caller for an owner; where none is named, for the only one there is. `how` tells how to name one."""
    if owner is not None:
        return Caller(binding=named(owner, how), may=may, who=who)
    there = [found for each in await memory.store.owners(limit=_LISTED) if (found := binding_of(each.id))]
    if len(there) > 1:
        names = ", ".join(each.owner for each in there)
        raise BadInput(f"there are several owners, and none is named; {how}. Among them are: {names}")
    return Caller(binding=there[0] if there else NOBODY_YET, may=may, who=who)


async def of_token(
    memory: Memory, token: AccessToken | None, owners: Collection[str] | None, asked: str | None
) -> Caller:
    """The caller behind a token that opens the memory of these owners, or with None of all.

    It is the owner in the address, else the one that the token is bound to, else the only one there is.
    """
    if token is None:
        raise NotAllowed("the MCP door needs a token; `afterglow token create` makes one")
    if owners is not None and asked is not None and asked not in owners:
        raise NotAllowed(f"the token {token.name!r} does not open this memory; leave ?owner= out of the address")
    how = "put it into the address, as in /mcp?owner=kate/telegram/ana, or make a token for one owner"
    caller = await chosen(memory, asked or token.owner, how, may=token.scope, who=f"mcp:{token.name}")
    return replace(caller, bound=token.owner is not None)


def named(owner: str, how: str) -> Binding:
    """The binding that the owner's name stands for."""
    found = binding_of(owner)
    if found is None:
        raise BadInput(f"{owner[:200]!r} is not written as agent/channel/sender; {how}")
    return found


async def session_of(memory: Memory, caller: Caller, name: str | None) -> Session:
    """The session of this name; where none is named, the newest that was written to from the caller's address."""
    if name is not None:
        return await memory.session(name, owner=caller.owner)
    newest = await memory.sessions(owner=caller.owner, limit=_LOOKED_THROUGH)
    found = next((each for each in newest if each.binding == caller.binding), None)
    if found is None:
        raise BadInput(f"nothing was said at {caller.owner} yet; add_turn begins a session, or name one")
    return found
