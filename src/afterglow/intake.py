"""What comes in, made ready for the log: secrets out, tokens counted, terms cut, head and tail of a giant."""

from __future__ import annotations

import asyncio

from afterglow import guard, recalled, tokens
from afterglow.errors import BadInput
from afterglow.excerpts import excerpt, json_bytes, shorter_parts
from afterglow.search import words
from afterglow.settings import Settings
from afterglow.store.log import Entry, Shown
from afterglow.turns import Draft

_LONG_CHARS = 100_000
"""A text over this is prepared in a thread, so that the event loop goes on."""


class Intake:
    """Prepares drafts as the settings say."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def prepared(self, draft: Draft, agent: str) -> Entry:
        """A draft made ready, without holding up the event loop."""
        long = len(draft.text) > _LONG_CHARS or json_bytes(draft.parts) > _LONG_CHARS
        return await asyncio.to_thread(self.prepare, draft, agent) if long else self.prepare(draft, agent)

    def prepare(self, draft: Draft, agent: str) -> Entry:
        """A draft made ready for the log of this agent's session."""
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
        log = self._settings.log
        size = len(draft.text.encode()) + json_bytes(draft.parts)
        if size > log.turn_bytes_max:
            raise BadInput(
                f"this turn has {size:,} bytes, and log.turn_bytes_max allows {log.turn_bytes_max:,}; "
                "send it in parts, or raise the limit"
            )
        shown = None
        if len(draft.text) > log.turn_shown_chars or json_bytes(draft.parts) > log.turn_shown_chars:
            shown = Shown(
                text=excerpt(draft.text, log.turn_shown_chars), parts=shorter_parts(draft.parts, log.turn_shown_chars)
            )
        return Entry(draft=draft, terms=words.terms(draft.text), bytes=size, shown=shown)
