"""Summaries of sessions, newest first, those that hold certain words where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from afterglow.errors import BadInput
from afterglow.search import words
from afterglow.store.contract import Store
from afterglow.store.summaries import Wanted
from afterglow.store.transaction import Scope
from afterglow.summaries import Summary
from afterglow.turns import Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Sequence[Summary]):
    """The summaries that were asked for, and how far they can be relied on."""

    items: tuple[Summary, ...]
    more: bool = False
    """Whether there are older ones."""

    @property
    def degraded(self) -> str:
        """Why this is not all it could be; empty where it is."""
        poor = sum(summary.degraded for summary in self.items)
        return f"{poor} of these {'was' if poor == 1 else 'were'} made without a model" if poor else ""

    @overload
    def __getitem__(self, index: int) -> Summary: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Summary, ...]: ...
    def __getitem__(self, index: int | slice) -> Summary | tuple[Summary, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.items)


async def listed(
    store: Store, scope: Scope, wanted: Wanted, *, holding: str, limit: int, before: Summary | Place | None
) -> Listing:
    """The newest summaries, of those that hold every one of these words."""
    terms = tuple(words.query_terms(holding))
    if holding.strip() and not terms:
        raise BadInput(f"there is no word to look for in {holding[:80]!r}: it is of words such as 'the' alone")
    found = await store.summaries(scope, replace(wanted, terms=terms), limit=limit + 1, before=before)
    return Listing(items=tuple(found[:limit]), more=len(found) > limit)
