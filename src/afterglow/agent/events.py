"""What the agent is asked for, and what happens while it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from afterglow.conversation import Exchanged

Reason = Literal["user_message", "scheduled_task", "complex_reschedule", "session_timeout"]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A piece of the answer, as it comes."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUsed:
    """A tool was used, and this is what it gave."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    failed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The answer is written down. `text` is all of it, also where a piece of it was not streamed."""

    text: str
    exchanged: Exchanged | None = None
    """The message and its replies; None where nothing was said, as for `complex_reschedule`."""


Event = Text | ToolUsed | Done
