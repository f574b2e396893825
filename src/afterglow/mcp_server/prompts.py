"""The prompts of the MCP door: a recap of what was, and a handover of what is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from afterglow.errors import BadInput
from afterglow.mcp_server import told
from afterglow.mcp_server.asked import SUMMARIES_MAX
from afterglow.mcp_server.caller import Caller, session_of
from afterglow.mcp_server.tools import zone_of
from afterglow.memory import Memory

_RECAP = (
    "Tell me in a few sentences where we left off: what we worked on last, what was decided, and what is still open. Name "
    "the session where it helps. Use only the record below; where it says nothing, say so."
)
_HANDOVER = (
    "We are about to stop. Write a handover for whoever goes on with this: what was done, what was decided and why, what is "
    "still open, and the next step. Use what we said here and the record below. Then call the tool add_turn with the role "
    "assistant, the session {session}, and your handover as the text{marker}; {end}."
)
_OF_ITSELF = ", beginning with the line {marker}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """What a prompt can be given; all of it may be left out."""

    name: str
    about: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as clients are told of it, and what makes its text."""

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    write: Callable[[Memory, Caller, Mapping[str, str]], Awaitable[str]]

    async def text(self, memory: Memory, caller: Caller, given: Mapping[str, str]) -> str:
        """The text, made of what was given; an empty argument is one that was left out."""
        known = {each.name for each in self.arguments}
        if unknown := [name for name in given if name not in known]:
            names = ", ".join(sorted(known))
            raise BadInput(f"{unknown[0][:80]!r}: the prompt {self.name} has no such argument; it has {names}")
        return await self.write(memory, caller, {name: value for name, value in given.items() if value.strip()})


async def recap(memory: Memory, caller: Caller, given: Mapping[str, str]) -> str:
    limit = given.get("sessions", "5").strip()
    if not (limit.isascii() and limit.isdigit() and 1 <= int(limit[:9]) <= SUMMARIES_MAX):
        raise BadInput(f"sessions: give a whole number from 1 to {SUMMARIES_MAX}, or leave it out for 5")
    found = await memory.summaries(owner=caller.owner, limit=int(limit))
    facts = await memory.facts.list(caller.owner, type="open_thread", limit=20)
    still_open = f"\n\nWhat is open by itself:\n{told.facts_text(facts)}" if facts else ""
    return f"{_RECAP}\n\n{told.summaries_text(found, zone_of(memory))}{still_open}"


async def handover(memory: Memory, caller: Caller, given: Mapping[str, str]) -> str:
    session = await session_of(memory, caller, given.get("session"))
    shown = told.context_text(await memory.context(session))
    marker = memory.settings.sunset_marker
    ask = _HANDOVER.format(
        session=told.line(session.id),
        marker=_OF_ITSELF.format(marker=marker) if marker else "",
        end="that ends the session" if marker else "and call the tool sunset for it, which ends the session",
    )
    return f"{ask}\n\n{shown}"


_ALL = (
    Prompt(
        name="recap",
        title="Where did we leave off?",
        about="Tell me where we left off, from the summaries of the newest sessions",
        arguments=(Argument(name="sessions", about=f"How many sessions to look back, 1 to {SUMMARIES_MAX}; 5"),),
        write=recap,
    ),
    Prompt(
        name="handover",
        title="Hand over and end the session",
        about="Write a handover of this conversation, keep it, and end the session",
        arguments=(Argument(name="session", about="The session's name; left out, the newest of this client's own"),),
        write=handover,
    ),
)
PROMPTS: dict[str, Prompt] = {prompt.name: prompt for prompt in _ALL}
