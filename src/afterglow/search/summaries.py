"""Summaries of sessions, newest first, those that hold certain words where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from afterglow.errors import BadInput
from afterglow.search import words
from afterglow.store.contract import Store
from afterglow.store.summaries import Wanted
from afterglow.store.transaction import Scope
from afterglow.summaries import Summary, text_of
from afterglow.turns import Place

_PAGE_ROWS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Sequence[Summary]):
    """The summaries that were asked for, and how far they can be relied on."""

    items: tuple[Summary, ...]
    complete: bool = True
    """Whether all were looked through; if not, the newest were."""

    @property
    def degraded(self) -> str:
        """Why this is not all it could be; empty where it is."""
        poor = sum(summary.degraded for summary in self.items)
        said = [f"{poor} of these {'was' if poor == 1 else 'were'} made without a model"] if poor else []
        said += [] if self.complete else ["only the newest were looked through; narrow the time to see older ones"]
        return "; ".join(said)

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
    store: Store,
    scope: Scope,
    wanted: Wanted,
    *,
    holding: str,
    limit: int,
    before: Summary | Place | None,
    rows_max: int,
) -> Listing:
    """The newest summaries, of those that hold every one of these words; within a number of rows."""
    if not holding.strip():
        return Listing(items=tuple(await store.summaries(scope, wanted, limit=limit, before=before)))
    terms = set(words.query_terms(holding))
    if not terms:
        raise BadInput(f"there is no word to look for in {holding[:80]!r}: it is of words such as 'the' alone")
    found: list[Summary] = []
    read = 0
    while len(found) < limit and read < rows_max:
        page = await store.summaries(scope, wanted, limit=_PAGE_ROWS, before=before)
        found += [each for each in page if terms <= set(words.terms(_searched(each)))]
        read += len(page)
        if len(page) < _PAGE_ROWS:
            return Listing(items=tuple(found[:limit]))
        before = page[-1]
    return Listing(items=tuple(found[:limit]), complete=len(found) >= limit)


def _searched(summary: Summary) -> str:
    return "\n".join([text_of(summary), *summary.people])
