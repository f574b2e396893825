"""Afterglow keeps what matters of every conversation between people and their agents."""

from afterglow.clock import Clock, FixedClock, SystemClock
from afterglow.context import Context, Message
from afterglow.errors import (
    AfterglowError,
    BadInput,
    BadSettings,
    ClaimLost,
    MissingPackage,
    NotAllowed,
    NotFound,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StoreUnusable,
)
from afterglow.memory import Memory
from afterglow.memory import open_memory as open
from afterglow.search.hits import Found, Hit
from afterglow.settings import Settings
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Binding, Exchange, Owner, Session, Span, Turn

__version__ = "0.1.0"

__all__ = [
    "EVERYONE",
    "AfterglowError",
    "BadInput",
    "BadSettings",
    "Binding",
    "ClaimLost",
    "Clock",
    "Context",
    "Exchange",
    "FixedClock",
    "Found",
    "Hit",
    "Memory",
    "Message",
    "MissingPackage",
    "NotAllowed",
    "NotFound",
    "Owner",
    "Session",
    "Settings",
    "Span",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "StoreUnusable",
    "SystemClock",
    "Turn",
    "open",
]
