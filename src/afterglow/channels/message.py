"""What is sent: one part of a message, with Telegram's entities where there are any."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """Telegram's MessageEntity: `offset` and `length` are counted in UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One message to be sent."""

    text: str
    entities: tuple[Entity, ...] = ()
