"""The resources of the MCP door: facts and summaries, each at an address of its own."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from afterglow.errors import NotFound
from afterglow.mcp_server import told
from afterglow.mcp_server.caller import Caller
from afterglow.mcp_server.tools import zone_of
from afterglow.memory import Memory

SCHEME = "afterglow://"
FACTS, SUMMARIES = f"{SCHEME}facts", f"{SCHEME}summaries"
FACTS_SHOWN = 200
LISTED = 20
_URI_CHARS_MAX = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """Something that a client can read, or with a name in braces, a pattern of such."""

    uri: str
    name: str
    about: str


FIXED = (
    Resource(
        uri=FACTS, name="facts", about=f"What is known of the person: the newest {FACTS_SHOWN} facts that are believed"
    ),
    Resource(uri=SUMMARIES, name="summaries", about=f"What the newest {LISTED} sessions were about"),
)
PATTERNS = (
    Resource(uri=f"{FACTS}/{{fact}}", name="fact", about="One fact, with the turns that prove it"),
    Resource(uri=f"{SUMMARIES}/{{session}}", name="summary", about="What one session was about"),
)


async def listed(memory: Memory, caller: Caller) -> list[Resource]:
    """What can be read without knowing a name, and the newest summaries by the name of their session."""
    newest = await memory.summaries(owner=caller.owner, limit=LISTED)
    return [
        *FIXED,
        *(
            Resource(
                uri=f"{SUMMARIES}/{quote(each.session, safe='')}",
                name=told.line(f"summary of {each.session}"),
                about=f"What the session until {told.time(each.last_at, zone_of(memory))} was about",
            )
            for each in newest
        ),
    ]


async def read(memory: Memory, caller: Caller, uri: str) -> str:
    """The text at an address."""
    if uri == FACTS:
        return told.facts_text(await memory.facts.list(caller.owner, limit=_most(memory, FACTS_SHOWN)))
    if uri == SUMMARIES:
        return told.summaries_text(await memory.summaries(owner=caller.owner, limit=LISTED), zone_of(memory))
    place, slash, name = uri.rpartition("/")
    if slash and name and len(uri) <= _URI_CHARS_MAX and place in (FACTS, SUMMARIES):
        read_one = _fact if place == FACTS else _summary
        return await read_one(memory, caller, unquote(name))
    raise NotFound(f"there is nothing at {uri[:200]!r}; there are {FACTS}, {SUMMARIES}, and each with a name after it")


async def _fact(memory: Memory, caller: Caller, name: str) -> str:
    fact = await memory.facts.show(caller.owner, name)
    if fact.status == "forgotten":
        raise NotFound(f"fact {name[:200]!r} was forgotten")
    zone = zone_of(memory)
    why = f" ({fact.why_in_words})" if fact.why else ""
    lines = [fact.content, f"{fact.type}, {fact.confidence} confidence, {fact.source_date}, {fact.status}{why}"]
    if newer := await memory.facts.superseded_by(fact):
        lines.append(f"Superseded by fact {newer.id}: {newer.content}")
    for proof in await memory.facts.proofs(fact):
        its = proof.evidence
        lines.append(f"Said in session {its.session}, turn {its.seq}, {told.time(its.at, zone)}: “{its.quote}”")
    return told.marked(lines)


async def _summary(memory: Memory, caller: Caller, name: str) -> str:
    session = await memory.session(name, owner=caller.owner)
    made = await memory.store.summary_of(session.owner, session.id)
    if made is None:
        raise NotFound(f"session {name[:200]!r} has no summary yet; the tool sunset asks for one")
    return told.marked([told.summary_text(made, zone_of(memory))])


def _most(memory: Memory, wanted: int) -> int:
    return min(wanted, memory.settings.facts.results_max)
