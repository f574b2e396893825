"""From an absence to the words, and from the words to the person: what both ways of telling have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import tzinfo
from inspect import isawaitable
from typing import Any
from zoneinfo import ZoneInfo

from afterglow.channels import Part, channel_of, render
from afterglow.digest import SHOWN_MAX, Absence, classic_text, rich_text
from afterglow.settings import Settings
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.store.facts import WantedFacts
from afterglow.store.summaries import Wanted
from afterglow.turns import Binding

Deliver = Callable[[Binding, Part], Awaitable[Any] | Any]
"""Whoever sends a message to a person: gets where to, and what; several times, where it is too long for one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """A digest in words."""

    text: str
    remembers: bool
    """Whether it tells facts or threads."""


class PartlySent(Exception):
    """Some of a digest was sent before it failed."""


class Telling:
    """Composes digests, and delivers them."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def zone_of(self, away: AwaySettings) -> tzinfo:
        """The zone of the person's clock."""
        own = away.awake_hours.zone if away.awake_hours else ""
        return ZoneInfo(own or self._settings.zone)

    async def compose(self, owner: str, binding: Binding, absence: Absence, away: AwaySettings) -> Composed:
        """The words for an absence, as the settings want them."""
        if away.style == "classic" and not away.prose:
            return Composed(text=classic_text(absence), remembers=False)
        shown = absence if away.show_cost else replace(absence, cost_usd=None)
        if away.style == "classic":
            words = f"{shown.prose}\n\n" if shown.prose else ""
            return Composed(text=words + classic_text(absence), remembers=False)
        zone = self.zone_of(away)
        whole = replace(shown, facts=await self._learnt(owner, absence, zone), threads=await self._open(owner, binding))
        return Composed(text=rich_text(whole, zone), remembers=bool(whole.facts or whole.threads))

    async def deliver(self, deliver: Deliver, binding: Binding, text: str) -> None:
        """Send the words, in as many messages as the channel needs."""
        parts = render(text, channel_of(binding.channel))
        for number, part in enumerate(parts):
            try:
                sent = deliver(binding, part)
                if isawaitable(sent):
                    await sent
            except Exception as error:
                if not number:
                    raise
                raise PartlySent(f"{number} of {len(parts)} messages were sent; then {error}") from error

    async def _learnt(self, owner: str, absence: Absence, zone: tzinfo) -> tuple[str, ...]:
        day = f"{absence.since.astimezone(zone):%Y-%m-%d}"
        facts = await self._store.facts(owner, WantedFacts(since=day), limit=2 * SHOWN_MAX)
        return tuple(fact.content for fact in facts if fact.extracted_at >= absence.since)

    async def _open(self, owner: str, binding: Binding) -> tuple[str, ...]:
        newest = await self._store.summaries(owner, Wanted(agent=binding.agent), limit=1)
        return newest[0].open_threads if newest else ()
