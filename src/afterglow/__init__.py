"""Afterglow keeps what matters of every conversation between people and their agents.

The public names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterglow.channels import Part
    from afterglow.clock import Clock, FixedClock, SystemClock
    from afterglow.compaction import Block
    from afterglow.context import Context, Message, Portion, Report
    from afterglow.conversation import Exchanged, Reply
    from afterglow.digest import Digest, try_compose_away_digest
    from afterglow.errors import (
        AfterglowError,
        BadInput,
        BadSettings,
        ClaimLost,
        MissingPackage,
        ModelBadOutput,
        ModelBusy,
        ModelError,
        ModelStopped,
        ModelTooLong,
        NotAllowed,
        NotFound,
        SourceError,
        StoreError,
        StoreFull,
        StoreUnavailable,
        StoreUnusable,
    )
    from afterglow.goals import GoalEvent
    from afterglow.health import Summarization
    from afterglow.inbound import Handled, Inbound
    from afterglow.memory import Memory
    from afterglow.memory import open_memory as open
    from afterglow.model import Completion, Model, Request
    from afterglow.search.hits import Found, Hit
    from afterglow.search.summaries import Listing
    from afterglow.settings import Settings
    from afterglow.sources import Source, Window
    from afterglow.spend import Usage
    from afterglow.store.transaction import EVERYONE
    from afterglow.summaries import Summary
    from afterglow.turns import Binding, Exchange, Owner, Session, Span, Turn

__version__ = "0.1.0"

__all__ = [
    "EVERYONE",
    "AfterglowError",
    "BadInput",
    "BadSettings",
    "Binding",
    "Block",
    "ClaimLost",
    "Clock",
    "Completion",
    "Context",
    "Digest",
    "Exchange",
    "Exchanged",
    "FixedClock",
    "Found",
    "GoalEvent",
    "Handled",
    "Hit",
    "Inbound",
    "Listing",
    "Memory",
    "Message",
    "MissingPackage",
    "Model",
    "ModelBadOutput",
    "ModelBusy",
    "ModelError",
    "ModelStopped",
    "ModelTooLong",
    "NotAllowed",
    "NotFound",
    "Owner",
    "Part",
    "Portion",
    "Reply",
    "Report",
    "Request",
    "Session",
    "Settings",
    "Source",
    "SourceError",
    "Span",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "StoreUnusable",
    "Summarization",
    "Summary",
    "SystemClock",
    "Turn",
    "Usage",
    "Window",
    "open",
    "try_compose_away_digest",
]

_ELSEWHERE = {
    "EVERYONE": "store.transaction",
    **dict.fromkeys(("Digest", "try_compose_away_digest"), "digest"),
    "Found": "search.hits",
    "GoalEvent": "goals",
    **dict.fromkeys(("Handled", "Inbound"), "inbound"),
    "Hit": "search.hits",
    "Listing": "search.summaries",
    "Memory": "memory",
    "Part": "channels",
    "Settings": "settings",
    "Summarization": "health",
    "Summary": "summaries",
    "open": "memory",
    **dict.fromkeys(("Clock", "FixedClock", "SystemClock"), "clock"),
    "Block": "compaction",
    **dict.fromkeys(("Context", "Message", "Portion", "Report"), "context"),
    **dict.fromkeys(("Exchanged", "Reply"), "conversation"),
    **dict.fromkeys(("Completion", "Model", "Request"), "model"),
    **dict.fromkeys(("Source", "Window"), "sources"),
    "Usage": "spend",
    **dict.fromkeys(("Binding", "Exchange", "Owner", "Session", "Span", "Turn"), "turns"),
}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'afterglow' has no attribute {name!r}")
    module = import_module(f"afterglow.{_ELSEWHERE.get(name, 'errors')}")
    return getattr(module, "open_memory" if name == "open" else name)
