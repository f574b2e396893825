"""The tools of the MCP door, in Afterglow's own records. Each takes what was asked and gives what is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from afterglow import recollection
from afterglow.errors import BadInput, NotAllowed
from afterglow.mcp_server import asked, told
from afterglow.mcp_server.asked import Asked, moment
from afterglow.mcp_server.caller import Caller, session_of
from afterglow.memory import Memory
from afterglow.store.search import KINDS
from afterglow.store.transaction import EVERYONE
from afterglow.summaries import is_stale
from afterglow.turns import Role, Trust

TRUST: dict[Role, Trust] = {"user": "other", "assistant": "agent", "tool": "external"}
"""Whose word a turn is. An agent cannot speak as the owner, so its user turns are another human's at best."""

A = TypeVar("A", bound=Asked)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """The answer of a tool: words for a model, and where they hold nothing of the memory, the same for a program."""

    text: str
    data: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool as clients are told of it, and what it does."""

    name: str
    title: str
    about: str
    asked: type[Asked]
    act: Callable[[Memory, Caller, Any], Awaitable[Told]]
    reads_only: bool = True
    destroys: bool = False
    repeats: bool = True
    """Whether the same call again changes nothing more."""
    gives: type | None = None
    """The record of its answer, where that is also for programs."""

    async def call(self, memory: Memory, caller: Caller, given: dict[str, Any]) -> Told:
        """Check what was given, and do it."""
        if not self.is_for(caller):
            raise NotAllowed(
                f"{self.name} is the owner's to decide; it needs a token of scope owner"
                if self.destroys
                else f"{self.name} writes, and the token may only read; use one of scope agent or owner"
            )
        return await self.act(memory, caller, self.asked.model_validate(given))

    def is_for(self, caller: Caller) -> bool:
        """Whether the caller may use it: to destroy is the owner's to decide, here as at every other door."""
        return self.reads_only or caller.may == "owner" or (caller.may == "agent" and not self.destroys)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        return None if self.gives is None else TypeAdapter(self.gives).json_schema(mode="serialization")


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """A turn that is in the log."""

    session: str
    seq: int
    tokens: int
    removed: dict[str, int]
    """What was taken out before it was kept, by kind: keys, passwords, what is private."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A session that has ended. It is `due` while its summary does not cover all that was said."""

    session: str
    turns: int
    due: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Gone:
    """What was forgotten, with all that was made of it."""

    turns: int = 0
    blocks: int = 0
    summaries: int = 0
    facts: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Healthy:
    """How it goes with the summaries of sessions."""

    summarization: dict[str, Any]


async def add_turn(memory: Memory, caller: Caller, new: asked.NewTurn) -> Told:
    turn = await memory.append(
        caller.binding,
        new.role,
        new.text,
        session=new.session,
        trust=TRUST[new.role],
        origin="person" if new.role == "user" else "agent",
        key=new.key,
    )
    added = Added(session=turn.session, seq=turn.seq, tokens=turn.tokens, removed=dict(turn.removed))
    gone = f" {sum(added.removed.values())} secret or private parts were taken out first." if added.removed else ""
    return Told(text=told.line(f"Kept as turn {turn.seq} of session {turn.session}.{gone}"), data=asdict(added))


async def context(memory: Memory, caller: Caller, wanted: asked.ContextAsked) -> Told:
    session = await session_of(memory, caller, wanted.session)
    return Told(text=told.context_text(await memory.context(session, at=wanted.at)))


async def file_list(memory: Memory, caller: Caller, wanted: asked.PathAsked) -> Told:
    return Told(text=told.files_text(await recollection.file_list(memory, caller.owner, wanted.path), zone_of(memory)))


async def file_read(memory: Memory, caller: Caller, wanted: asked.FileAsked) -> Told:
    return Told(text=await recollection.file_read(memory, caller.owner, wanted.path))


async def memory_search(memory: Memory, caller: Caller, wanted: asked.SearchAsked) -> Told:
    zone = zone_of(memory)
    found = await recollection.recall(
        memory,
        wanted.query,
        owner=caller.owner,
        kinds=wanted.kinds or (("fact",) if wanted.types else KINDS),
        types=wanted.types or (),
        since=moment(wanted.since, zone, "since"),
        until=moment(wanted.until, zone, "until"),
        limit=wanted.limit,
    )
    return Told(text=told.hits_text(found, zone))


async def get_all_summaries(memory: Memory, caller: Caller, wanted: asked.SummariesAsked) -> Told:
    zone = zone_of(memory)
    found = await memory.summaries(
        owner=caller.owner,
        limit=wanted.limit,
        category=wanted.category,
        words=wanted.words or "",
        since=moment(wanted.since, zone, "since"),
        until=moment(wanted.until, zone, "until"),
    )
    return Told(text=told.summaries_text(found, zone))


async def sunset(memory: Memory, caller: Caller, wanted: asked.OfSession) -> Told:
    ended = await memory.sunset(await session_of(memory, caller, wanted.session))
    due = is_stale(ended)
    done = "Its summary is due, and is made by the primary" if due else "Its summary covers all that was said"
    end = Ended(session=ended.id, turns=ended.turns, due=due)
    return Told(text=told.line(f"Session {ended.id} has ended. {done}."), data=asdict(end))


async def digest(memory: Memory, caller: Caller, wanted: asked.DigestAsked) -> Told:
    since = moment(wanted.since, zone_of(memory), "since")
    return Told(text=told.digest_text(await memory.preview_digest(caller.binding, since=since)))


async def health(memory: Memory, caller: Caller, _: asked.Nothing) -> Told:
    found = await memory.health(memory.settings.primary, owner=caller.owner if caller.bound else EVERYONE)
    waiting = f"{found.queue_depth:,} are due, {found.deferred:,} wait after a failure, {found.parked:,} are parked"
    holder = f" The primary is {found.primary_holder}." if found.primary_holder else ""
    off = "".join(f" {each[:1].upper()}{each[1:]}." for each in found.off)
    block = TypeAdapter(dict[str, Any]).dump_python(found.block(), mode="json")
    return Told(text=f"Of the summaries of sessions {waiting}.{holder}{off}", data={"summarization": block})


async def forget(memory: Memory, caller: Caller, wanted: asked.ForgetAsked) -> Told:
    turns = wanted.first is not None or wanted.last is not None
    if (wanted.fact is None) == (wanted.session is None) or (wanted.fact and (turns or wanted.whole_session)):
        raise BadInput("name one thing to forget: a fact; a session with `first`; or a session with `whole_session`")
    if wanted.fact is not None:
        await memory.facts.forget(caller.owner, wanted.fact)
        return _gone(Gone(facts=1), f"fact {wanted.fact}")
    return await _forget_said(memory, caller, wanted)


async def _forget_said(memory: Memory, caller: Caller, wanted: asked.ForgetAsked) -> Told:
    if (wanted.first is None) != wanted.whole_session or (wanted.last is not None and wanted.first is None):
        raise BadInput("say which turns with `first` and `last`, or that it is the whole session; one of the two")
    session = await memory.session(wanted.session or "", owner=caller.owner)
    if wanted.first is None:
        done, what = await memory.forget.session(session), f"session {session.id}"
    else:
        done = await memory.forget.turns(session, wanted.first, wanted.last)
        what = f"turns {wanted.first} to {wanted.last or wanted.first} of session {session.id}"
    counts = {name: getattr(done.forgotten, name) for name in ("turns", "blocks", "summaries", "facts")}
    return _gone(Gone(**counts), what)


def _gone(gone: Gone, what: str) -> Told:
    counts = ", ".join(f"{count:,} {name}" for name, count in asdict(gone).items() if count) or "nothing was left of it"
    return Told(text=told.line(f"Forgotten: {what} ({counts}). It does not come back."), data=asdict(gone))


def zone_of(memory: Memory) -> ZoneInfo:
    """The zone that times are told in."""
    return ZoneInfo(memory.settings.zone)


_ALL = (
    Tool(
        name="add_turn",
        title="Write down a turn",
        about="Write one message of a conversation into the memory's log, word for word. When this answers, it is on disk. "
        "Secrets are taken out first. What you write as `user` counts as another human's word, since only the owner's own "
        "doors speak for the owner.",
        asked=asked.NewTurn,
        act=add_turn,
        reads_only=False,
        repeats=False,
        gives=Added,
    ),
    Tool(
        name="context",
        title="What a model sees of a session",
        about="Give what a model is to see of a session now, or saw at a turn: summaries of what is long ago, reports of "
        "sources, and the newest turns word for word.",
        asked=asked.ContextAsked,
        act=context,
    ),
    Tool(
        name="file_list",
        title="List the memory files",
        about="List the files of facts about the person: one for each day, and facts/index.json, which lists them all.",
        asked=asked.PathAsked,
        act=file_list,
    ),
    Tool(
        name="file_read",
        title="Read a memory file",
        about="Read one of the files that file_list shows. Begin with facts/index.json.",
        asked=asked.FileAsked,
        act=file_read,
    ),
    Tool(
        name="memory_search",
        title="Search the memory",
        about="Find what is remembered of the person, by words and by meaning: facts, summaries of sessions, blocks "
        "(summaries of parts of a session) and turns. Each hit says where it comes from.",
        asked=asked.SearchAsked,
        act=memory_search,
    ),
    Tool(
        name="get_all_summaries",
        title="What earlier sessions were about",
        about="Give the summaries of earlier sessions, the newest first: what each was about, what was decided and what is "
        "still open. Good to call when a conversation begins.",
        asked=asked.SummariesAsked,
        act=get_all_summaries,
    ),
    Tool(
        name="sunset",
        title="End a session",
        about="Say that a session has ended. Its summary becomes due at once. Nothing is removed, and a session that goes on "
        "is summarised again.",
        asked=asked.OfSession,
        act=sunset,
        reads_only=False,
        gives=Ended,
    ),
    Tool(
        name="digest",
        title="What happened while the person was away",
        about="Give what the person would be told of the agent's own work if they wrote now. Nothing is sent, and nothing "
        "counts as told by it.",
        asked=asked.DigestAsked,
        act=digest,
    ),
    Tool(
        name="health",
        title="Whether summaries are made",
        about="Say how it goes with the summaries of sessions: how many wait, which process makes them, and why anything is "
        "off.",
        asked=asked.Nothing,
        act=health,
        gives=Healthy,
    ),
    Tool(
        name="forget",
        title="Forget for good",
        about="Forget one fact, a run of turns, or one session, with all that was made of it. It cannot be undone, so do it "
        "only when the person asked for exactly this. A whole owner cannot be forgotten here.",
        asked=asked.ForgetAsked,
        act=forget,
        reads_only=False,
        destroys=True,
        repeats=False,
        gives=Gone,
    ),
)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in _ALL}
