"""From an absence to the words, and from the words to the person: what both ways of telling have in common."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal
from zoneinfo import ZoneInfo

from afterglow.channels import Part, channel_of, escaped, render
from afterglow.digest import SHOWN_MAX, Absence, classic_text, cost_text, rich_text
from afterglow.guard import redact
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.store.facts import WantedFacts
from afterglow.store.presence import Claimed
from afterglow.store.summaries import Wanted
from afterglow.turns import Binding
from afterglow.work import error_text

_LEARNT_DAYS = 7
"""Facts of turns that are older than an absence by more than this are not news."""
_log = logging.getLogger(__name__)

Deliver = Callable[[Binding, Part], Awaitable[Any] | Any]
"""Whoever sends a message to a person: gets where to, and what; several times, where it is too long for one.

One that is not async is run in a thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """A digest in words."""

    text: str = ""
    remembers: bool = False
    """Whether it tells facts or threads."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What became of a digest."""

    status: Literal["delivered", "failed"] | None = None
    reason: str = ""
    composed: Composed = Composed()


class Telling:
    """Composes digests, and delivers them."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    async def compose(self, owner: str, binding: Binding, absence: Absence, away: AwaySettings) -> Composed:
        """The words for an absence, as the settings want them."""
        shown = replace(
            absence,
            prose=absence.prose if away.prose else None,
            cost_usd=absence.cost_usd if away.prose and away.show_cost else None,
        )
        if away.style == "classic":
            before = f"{escaped(shown.prose)}\n\n" if shown.prose else ""
            return Composed(text=before + classic_text(shown) + cost_text(shown))
        zone = ZoneInfo(away.zone_or(self._settings.zone))
        whole = replace(shown, facts=await self._learnt(owner, absence), threads=await self._open(owner, binding))
        return Composed(text=rich_text(whole, zone), remembers=bool(whole.facts or whole.threads))

    async def tell(
        self,
        binding: Binding,
        claimed: Claimed,
        away: AwaySettings,
        deliver: Deliver,
        deadline: float,
        owner: str | None = None,
    ) -> Told:
        """Compose a digest and deliver it, by this moment of the event loop's clock."""
        owner, composed, sent = owner or binding.owner, Composed(), Sent()
        limit = asyncio.timeout_at(deadline)
        try:
            async with limit:
                composed = await self.compose(owner, binding, claimed.absence, away)
                await sent.all(deliver, binding, composed.text)
                return Told(status="delivered", composed=composed)
        except asyncio.CancelledError:
            stopped = Told(status="failed", reason=f"{sent}it was stopped while it was sent", composed=composed)
            await asyncio.shield(asyncio.create_task(self.note(binding, claimed, stopped, owner)))
            raise
        except Exception as error:  # noqa: BLE001 - the boundary: a message waits behind it, whatever is wrong here
            late = isinstance(error, TimeoutError) and limit.expired()
            why = f"it took longer than {away.deadline_seconds:g} seconds" if late else redact(error_text(error)).text
            _log.warning("the digest for %s was not delivered: %s%s", owner, sent, why)
            return Told(status="failed", reason=f"{sent}{why}", composed=composed)

    async def note(self, binding: Binding, claimed: Claimed, told: Told, owner: str | None = None) -> None:
        """Write down what became of a digest."""
        assert told.status is not None, "something became of it"
        try:
            await self._store.end_digest(
                owner or binding.owner,
                binding.agent,
                claimed.number,
                told.status,
                reason=told.reason,
                text=told.composed.text,
                remembers=told.composed.remembers,
            )
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("what became of a digest could not be written down: %s", error_text(error))

    async def _learnt(self, owner: str, absence: Absence) -> tuple[str, ...]:
        day = f"{absence.since - timedelta(days=_LEARNT_DAYS):%Y-%m-%d}"
        facts = await self._store.facts(owner, WantedFacts(since=day), limit=10 * SHOWN_MAX)
        return tuple(fact.content for fact in facts if fact.extracted_at >= absence.since)

    async def _open(self, owner: str, binding: Binding) -> tuple[str, ...]:
        newest = await self._store.summaries(owner, Wanted(agent=binding.agent), limit=1)
        return newest[0].open_threads if newest else ()


class Sent:
    """How many messages of a text were sent."""

    def __init__(self) -> None:
        self._done = 0
        self._of = 0

    def __str__(self) -> str:
        return f"{self._done} of {self._of} messages were sent; then " if self._done else ""

    async def all(self, deliver: Deliver, binding: Binding, text: str) -> None:
        """Send the words, in as many messages as the channel needs."""
        parts = render(text, channel_of(binding.channel))
        self._of = len(parts)
        for part in parts:
            given = (
                deliver(binding, part) if iscoroutinefunction(deliver) else asyncio.to_thread(deliver, binding, part)
            )
            answer = await given
            if isawaitable(answer):
                await answer
            self._done += 1
