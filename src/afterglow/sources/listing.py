"""A list of things that a source found, and as much of it as fits: the most important ones, in the order they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from afterglow.sources import Source, Window
from afterglow.tokens import estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One thing, as a sentence. The lower the rank, the sooner it is kept."""

    text: str
    rank: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What was found, in order. `heading` counts it all; `notes` say what could not be read."""

    heading: str = ""
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


class ListingSource(Source, Protocol):
    """A source whose report is a list, which a model can rewrite as the prompt asks."""

    async def gather(self, window: Window) -> Listing: ...


def shown(listing: Listing, tokens_max: int) -> str:
    """The list as one text: what does not fit is left out, least important first, and counted."""
    kept = range(len(listing.items))
    text = _joined(listing, kept)
    if estimate(text) <= tokens_max:
        return text
    by_rank = sorted(kept, key=lambda place: listing.items[place].rank)
    low, high = 0, len(by_rank)
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate(_joined(listing, sorted(by_rank[:middle]))) <= tokens_max
        low, high = (middle, high) if fits else (low, middle - 1)
    return _joined(listing, sorted(by_rank[: max(1, low)]))


def _joined(listing: Listing, places: range | list[int]) -> str:
    left_out = len(listing.items) - len(places)
    more = [f"{left_out} more not shown."] if left_out else []
    return " ".join(filter(None, (listing.heading, *(listing.items[at].text for at in places), *more, *listing.notes)))
