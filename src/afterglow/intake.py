"""What comes in, made ready for the log: secrets out, tokens counted, terms cut, head and tail of a giant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from afterglow import guard, recalled, tokens
from afterglow.errors import BadInput
from afterglow.excerpts import excerpt, json_bytes, shorter_parts
from afterglow.search import words
from afterglow.settings import Settings
from afterglow.store.log import Entry, Shown
from afterglow.turns import Draft, Part

_LONG_CHARS = 100_000
_VALUE_CHARS = 20


def is_long(text: str, parts: Sequence[Part]) -> bool:
    """Whether a turn is checked and prepared in a thread, so that the event loop goes on. It looks no further than it must."""
    room, unseen = _LONG_CHARS, list[Any]([text, parts])
    while unseen and room >= 0:
        value = unseen.pop()
        room -= _VALUE_CHARS
        if isinstance(value, str):
            room -= len(value)
        elif isinstance(value, Mapping):
            unseen += value  # pyright: ignore[reportUnknownArgumentType]
            unseen += value.values()  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif isinstance(value, Sequence):
            unseen += value
    return room < 0


class Intake:
    """Prepares drafts as the settings say."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def prepared(self, draft: Draft, agent: str) -> Entry:
        """A draft made ready, without holding up the event loop."""
        if is_long(draft.text, draft.parts):
            return await asyncio.to_thread(self.prepare, draft, agent)
        return self.prepare(draft, agent)

    def prepare(self, draft: Draft, agent: str) -> Entry:
        """A draft made ready for the log of this agent's session."""
        self._check_size(draft)  # what is refused is not searched for secrets before
        chosen = self._settings.agent(agent)
        # People mark what is private; in a tool's output the tag is somebody else's, and must not hide what follows it.
        switches = {"secrets": chosen.redact_secrets, "private": chosen.drop_private and draft.role != "tool"}
        clean = guard.redact(draft.text, **switches)
        parts, removed = guard.redact_within(list(draft.parts), **switches)
        for kind, count in (*clean.removed.items(), *draft.removed.items()):
            removed[kind] = removed.get(kind, 0) + count
        return self.entry(
            Draft(
                role=draft.role,
                text=clean.text,
                trust=draft.trust,
                origin=draft.origin,
                at=draft.at,
                parts=parts,
                recalled=recalled.merged(clean.moved(draft.recalled), recalled.ranges(clean.text)),
                channel=draft.channel,
                model=draft.model,
                usage=draft.usage,
                key=draft.key,
                removed=removed,
                tokens=draft.tokens or tokens.estimate(clean.text) + tokens.estimate_parts(parts),
            )
        )

    def entry(self, draft: Draft) -> Entry:
        """A draft that is already clean, with all that the log keeps beside it."""
        size, chars_max = self._check_size(draft), self._settings.log.turn_shown_chars
        shown = None
        if len(draft.text) > chars_max or json_bytes(draft.parts) > chars_max:
            shown = Shown(text=excerpt(draft.text, chars_max), parts=shorter_parts(draft.parts, chars_max))
        return Entry(draft=draft, terms=words.terms(draft.text), bytes=size, shown=shown)

    def _check_size(self, draft: Draft) -> int:
        """The bytes of the turn, which the settings allow."""
        size, bytes_max = len(draft.text.encode()) + json_bytes(draft.parts), self._settings.log.turn_bytes_max
        if size > bytes_max:
            raise BadInput(
                f"this turn has {size:,} bytes, and log.turn_bytes_max allows {bytes_max:,}; "
                "send it in parts, or raise the limit"
            )
        return size
