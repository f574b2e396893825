"""Work that is due: one row for each (owner, kind, subject), taken by claims that expire and pass on.

A row is *due* at a time, *ready* when it is due, not held back after a failure and not under way, *claimed* while a
worker has it on lease, and *parked* after it failed too often. Asking for work that is already there is an update. A
claim takes the request out of the row; a request that comes in while the claim is held is put there anew, so that it
is still there when the claim ends. See store/queue.py for the verbs.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from afterglow.errors import BadInput

Kind = Literal["context", "idle", "clear", "summary", "facts", "task", "reply", "digest", "prose", "vectors", "files"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State = Literal["waiting", "due", "claimed", "parked"]

ERROR_CHARS_MAX = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A request for work. With `rearm` it is a timer: it moves a request that is still in the future, later too."""

    kind: Kind
    at: datetime
    reason: str
    subject: str | None = None
    """What the work is about; None means the session of the turn that asks for it."""
    rearm: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInput(f"there is no work of kind {self.kind!r}; use one of {', '.join(KINDS)}")
        if self.at.tzinfo is None:
            raise BadInput(f"the time {self.at.isoformat()} has no zone; give one, such as {self.at.isoformat()}+00:00")


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A worker's lease on one piece of work. `token` fences it: only its holder can end it."""

    owner: str
    kind: Kind
    subject: str
    token: int
    until: datetime
    attempt: int
    reason: str


doing: ContextVar[Claim | None] = ContextVar("doing", default=None)
"""The work that is being done, for the log to name it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One piece of work as people see it."""

    owner: str
    kind: Kind
    subject: str
    state: State
    ready_at: datetime
    wanted: int
    attempts: int
    reason: str
    holder: str | None = None
    last_error: str | None = None
    parked_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkPlace:
    """Where a piece of work stands in a list."""

    ready_at: datetime
    owner: str
    kind: str
    subject: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long, how often, how patiently."""

    lease_seconds: float = 120
    lease_max_seconds: float = 3600
    attempts_max: int = 5
    backoff_seconds: float = 30
    backoff_max_seconds: float = 3600
    parked_retry_seconds: float = 86400
    act_seconds_max: float = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """How much there is to do."""

    due: int
    claimed: int
    waiting: int
    """For its time, whatever it waits for; `deferred` of it failed, and is tried again then."""
    deferred: int
    parked: int
    oldest_due_at: datetime | None


def backoff_seconds(attempt: int, limits: Limits, chance: float) -> float:
    """How long to wait after the `attempt`-th failure: twice as long each time, less up to half by `chance` (0 to 1)."""
    full = min(limits.backoff_seconds * 2.0 ** min(attempt - 1, 60), limits.backoff_max_seconds)
    return full * (1 - chance / 2)


def wait_seconds(attempt: int, limits: Limits, chance: float, *, asked: float | None, outage: bool) -> float:
    """How long failed work waits: as its failures grow, and no less than was asked for.

    Parked work is tried once a day. Where the failure is an outage, which is no fault of the work, it is tried as often as
    the longest back-off allows, so that all catches up soon after it ends.
    """
    if not is_spent(attempt, limits):
        wait = backoff_seconds(attempt, limits, chance)
    else:
        wait = limits.backoff_max_seconds if outage else limits.parked_retry_seconds
    return min(max(wait, asked or 0), max(limits.parked_retry_seconds, limits.backoff_max_seconds))


def is_spent(attempt: int, limits: Limits) -> bool:
    """Whether a failure of this attempt parks the work."""
    return attempt >= limits.attempts_max


def error_text(error: BaseException) -> str:
    """What is kept of an error: its kind and its first words."""
    text = f"{type(error).__name__}: {error}"
    return text.replace("\0", "").encode(errors="replace").decode()[:ERROR_CHARS_MAX]
