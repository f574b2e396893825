"""The records of a conversation: Owner, Binding, Session, Turn, Exchange, Span. Written once, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Any, Literal, get_args

from afterglow.clock import moment_within
from afterglow.errors import BadInput

Role = Literal["user", "assistant", "tool", "system"]
Trust = Literal["owner", "agent", "other", "external"]
Origin = Literal["person", "agent", "heartbeat", "task", "import"]
SessionState = Literal["open", "idle", "closed"]
ClosedBy = Literal["closed", "cleared", "sunset"]
Part = Mapping[str, Any]

ROLES: tuple[Role, ...] = get_args(Role)
TRUSTS: tuple[Trust, ...] = get_args(Trust)
ORIGINS: tuple[Origin, ...] = get_args(Origin)

NAME_CHARS_MAX = 200
DEPTH_MAX = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """The address somebody writes from."""

    agent: str
    channel: str
    sender: str

    def __post_init__(self) -> None:
        for what in ("agent", "channel", "sender"):
            check_name(getattr(self, what), what)

    @property
    def owner(self) -> str:
        """Whose memory it is unless an alias says otherwise: one owner for each binding."""
        return "/".join(
            part.replace("%", "%25").replace("/", "%2F") for part in (self.agent, self.channel, self.sender)
        )


def binding_of(owner: str) -> Binding | None:
    """The binding that an owner is named after; None where its name is another."""
    parts = [part.replace("%2F", "/").replace("%25", "%") for part in owner.split("/")]
    if len(parts) != 3:
        return None
    try:
        found = Binding(agent=parts[0], channel=parts[1], sender=parts[2])
    except BadInput:
        return None
    return found if found.owner == owner else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Whose memory it is. `joined` are the owners that an alias has joined to this one."""

    id: str
    created_at: datetime
    joined: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Folded:
    """How far a session is folded into blocks. Kept by the commit of blocks alone."""

    to_seq: int = 0
    """The last turn that is in a block; the turns after it are the tail."""
    turns: int = 0
    exchanges: int = 0
    """How many turns and exchanges the session had when it was last compacted."""
    version: int = 0
    """Grows with every block; a commit that began at another version is refused."""
    block_tokens: int = 0
    wanted: str | None = None
    """Why a compaction is asked for that is not done yet."""
    waits: int = 0
    """How often a person waited while the context was made to fit the model's window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a session stands in a list, the one with the newest turn first; a list goes on behind it."""

    last_at: datetime
    owner: str
    session: str

    @property
    def place(self) -> Place:
        """Itself: whatever has a place can be given where one is wanted."""
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One conversation on one binding, with the counters that `append` keeps."""

    owner: str
    id: str
    binding: Binding
    state: SessionState
    created_at: datetime
    last_at: datetime
    """When its newest turn was written down, or when it was opened."""
    closed_at: datetime | None = None
    turns: int = 0
    exchanges: int = 0
    tokens: int = 0
    tail_tokens: int = 0
    """The tokens of the turns that are in no block."""
    exchange_seq: int = 1
    exchange_tokens: int = 0
    """Where the last exchange begins, and its tokens."""
    said_seq: int = 0
    """The last turn that says something; an announcement in the log does not."""
    real_at: datetime | None = None
    """When a person last wrote."""
    idle_due: datetime | None = None
    """When the timer that looks whether the session is quiet goes off, where one is set."""
    summary_seq: int = 0
    """The last turn that its summary covers."""
    facts_seq: int = 0
    """The last turn that was read for facts."""
    sunset_seq: int = 0
    """The last turn that was there when its end was asked for."""
    closed_by: ClosedBy | None = None
    boot_at: datetime | None = None
    """Since when what it began with is shown as it was then."""
    overhead_tokens: int = 0
    """What the answering model last reported beyond what it was shown of the session: system prompt and tools."""
    folded: Folded = Folded()

    @property
    def place(self) -> Place:
        """Where it stands in a list."""
        return Place(last_at=self.last_at, owner=self.owner, session=self.id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A closed run of turns, `first_seq` to `last_seq` inclusive."""

    first_seq: int
    last_seq: int

    def __post_init__(self) -> None:
        if not 1 <= self.first_seq <= self.last_seq:
            raise BadInput(f"a span runs from 1 or later to its end; {self.first_seq} to {self.last_seq} does not")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A turn on its way to the log: all that its door knows of it, before it has a number."""

    role: Role
    text: str
    trust: Trust
    origin: Origin
    at: datetime | None = None
    parts: Sequence[Part] = ()
    recalled: Sequence[tuple[int, int]] = ()
    """Character ranges of `text` that are recalled memory, end exclusive."""
    channel: str | None = None
    model: str | None = None
    usage: Mapping[str, int] | None = None
    key: str | None = None
    tokens: int | None = None
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the guard took out of it, by kind; see guard.py."""

    def __post_init__(self) -> None:
        _check_choice(self.role, ROLES, "role")
        _check_choice(self.trust, TRUSTS, "trust")
        _check_choice(self.origin, ORIGINS, "origin")
        check_text(self.text, "the text")
        _check_parts(self.parts)
        if self.key is not None:
            check_name(self.key, "key")
        if self.model is not None:
            check_name(self.model, "model")
        _check_usage(self.usage)
        if self.tokens is not None and (type(self.tokens) is not int or self.tokens < 0):
            raise BadInput(f"tokens is {self.tokens!r}; give a whole number from 0 on")
        if self.at is not None:
            moment_within(self.at)
        for start, end in self.recalled:
            if not 0 <= start < end <= len(self.text):
                raise BadInput(f"recalled range {start}-{end} lies outside a text of {len(self.text)} characters")


def is_real(role: Role, origin: Origin) -> bool:
    """Whether a turn is a person's activity. Heartbeats and the agent's own scheduled work are not."""
    return role == "user" and origin in ("person", "import")


def says_something(role: Role, origin: Origin) -> bool:
    """Whether a turn is part of the talk. A heartbeat is not, nor is a note in the log of what became of the session."""
    return origin != "heartbeat" and not (role == "system" and origin == "task")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message in the log, numbered by `seq` from 1, never changed."""

    owner: str
    session: str
    seq: int
    role: Role
    text: str
    at: datetime
    tokens: int
    trust: Trust
    origin: Origin
    parts: tuple[Part, ...] = ()
    recalled: tuple[tuple[int, int], ...] = ()
    channel: str | None = None
    model: str | None = None
    usage: Mapping[str, int] | None = None
    key: str | None = None
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes: int = 0
    """The size of the whole turn. Where it is over the limit, lists carry its head and tail (`cut`)."""
    cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """What one message set off: from a user turn that follows another role, until the next such turn."""

    turns: tuple[Turn, ...]

    @property
    def span(self) -> Span:
        return Span(first_seq=self.turns[0].seq, last_seq=self.turns[-1].seq)


def begins_exchange(role: str, previous_role: str | None) -> bool:
    """Whether a turn of this role, after one of that role (or nothing), begins an exchange."""
    return role == "user" and previous_role != "user"


def tool_calls(parts: Iterable[Part]) -> list[str]:
    """The ids of the tool calls among the parts of a turn."""
    return [str(part.get("id", "")) for part in parts if part.get("type") == "tool_call"]


def tool_results(parts: Iterable[Part]) -> list[str]:
    """The ids of the calls that the parts of a turn are results of."""
    return [str(part.get("id", "")) for part in parts if part.get("type") == "tool_result"]


def exchanges(turns: Iterable[Turn]) -> list[Exchange]:
    """The turns cut into exchanges. Turns before the first user turn form a run of their own."""
    runs: list[list[Turn]] = []
    previous: str | None = None
    for turn in turns:
        if not runs or begins_exchange(turn.role, previous):
            runs.append([])
        runs[-1].append(turn)
        previous = turn.role
    return [Exchange(turns=tuple(run)) for run in runs]


def check_name(name: str, what: str) -> None:
    """A name is text of 1 to 200 characters with nothing in it that a database or a terminal would trip over."""
    check_text(name, what)
    if not name or len(name) > NAME_CHARS_MAX:
        raise BadInput(f"{what} must have 1 to {NAME_CHARS_MAX} characters; {_brief(name)} has {len(name)}")
    if not name.isprintable():
        raise BadInput(f"{what} {_brief(name)} holds control characters; use printable ones")


def check_text(text: str, what: str) -> None:
    """Text that every database and every client can hold: no NUL, no half of a surrogate pair."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller checks its types
        raise BadInput(f"{what} must be text, and this is a {type(text).__name__}")
    nul = text.find("\0")
    if nul >= 0:
        raise BadInput(f"{what} holds a NUL character at position {nul}; take it out and send it again")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"{what} holds half of a surrogate pair at position {error.start}; "
            "decode it with errors='replace' and send it again"
        ) from None


def check_not_empty(text: str, parts: Sequence[Part]) -> None:
    """A turn on its way in says something. What is in the log may be empty: what was forgotten, or was private."""
    if not parts and isinstance(text, str) and not text.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput("this turn is empty: it has no text but blanks, and no parts; leave it out, or say something")


def check_text_within(value: Any, what: str, depth: int = 0) -> None:
    """The same check for every string inside lists and mappings, and that they hold only JSON's kinds of values."""
    if depth > DEPTH_MAX:
        raise BadInput(f"{what} are nested more than {DEPTH_MAX} deep; flatten them and send them again")
    if isinstance(value, str):
        check_text(value, what)
    elif isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            if not isinstance(key, str):
                raise BadInput(f"{what} hold a key that is not text: {key!r}")
            check_text(key, what)
            check_text_within(inner, what, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            check_text_within(inner, what, depth + 1)
    elif isinstance(value, float) and not isfinite(value):
        raise BadInput(f"{what} hold {value}, which is not a number to JSON; turn it into text or null first")
    elif not (value is None or isinstance(value, bool | int | float)):
        raise BadInput(f"{what} hold a {type(value).__name__}, which JSON cannot; turn it into text first")


def _check_parts(parts: Any) -> None:
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        raise BadInput(f"the parts must be a list of mappings, and this is a {type(parts).__name__}")
    for part in parts:  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(part, Mapping):
            raise BadInput(f"each of the parts must be a mapping, and one is a {type(part).__name__}")  # pyright: ignore[reportUnknownArgumentType]
    check_text_within(parts, "the parts")


def _check_usage(usage: Mapping[str, int] | None) -> None:
    for name, count in (usage or {}).items():
        check_name(name, "the name of a usage figure")
        if type(count) is not int or not 0 <= count < 2**53:
            raise BadInput(f"usage {name!r} is {count!r}; give a whole number from 0 on")


def _check_choice(given: str, allowed: Sequence[str], what: str) -> None:
    if given not in allowed:
        raise BadInput(f"{what} {given!r} is not known; use one of {', '.join(allowed)}")


def _brief(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
