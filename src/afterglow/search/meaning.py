"""Search by meaning: the query's vector, and what lies near it.

The signs of an owner's vectors are kept in memory while they are searched, and only the new ones are read for the next
query. What is found is read from the store with the owner's filter, so nothing kept here can show what is not the owner's, or
is there no more.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterglow.search.embedders import TEXT_CHARS_MAX, Embedder
from afterglow.store.contract import Store
from afterglow.store.search import Sought
from afterglow.store.vectors import Generation

if TYPE_CHECKING:
    from afterglow.search.signs import Signs

NEAREST = 100
"""How many are looked at, of those whose signs differ least."""
_LOADED_AT_ONCE = 20_000
_OWNERS_KEPT = 64

Other = Callable[[str], Embedder | None]
"""Gives the embedder of a name, if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearest:
    """A query's vector, and the rows of the index that may lie nearest to it."""

    generation: int
    vector: Sequence[float]
    ids: tuple[int, ...]


class Meaning:
    """Finds what lies near a query. One of it is shared by all searches of a process."""

    def __init__(self, store: Store, embedder: Embedder, other: Other = lambda name: None) -> None:
        """`other` finds the embedder that was in use before, while not all is embedded anew."""
        self._store = store
        self._embedder = embedder
        self._other = other
        self._kept: OrderedDict[tuple[str, int], tuple[asyncio.Lock, Signs]] = OrderedDict()

    async def nearest(self, owner: str, text: str, sought: Sought) -> Nearest | None:
        """What may lie nearest; None where nothing was ever embedded."""
        chosen = self._in_use(await self._store.generations(owner))
        if chosen is None:
            return None
        generation, embedder = chosen
        (vector,) = await embedder.embed([text[:TEXT_CHARS_MAX]])
        signs = await self._signs(owner, generation)
        ids = await asyncio.to_thread(signs.nearest, vector, sought, NEAREST)
        return Nearest(generation=generation, vector=vector, ids=tuple(ids))

    async def cosines(self, owner: str, nearest: Nearest, ids: Sequence[int]) -> dict[int, float]:
        """How near these are, as far as they have a vector."""
        # numpy is an extra, and takes a tenth of a second to load
        from afterglow.search.signs import cosines

        held = await self._store.vectors_of(owner, nearest.generation, ids)
        return dict(zip(held, cosines(nearest.vector, list(held.values())), strict=True))

    def _in_use(self, generations: Sequence[Generation]) -> tuple[int, Embedder] | None:
        """The newest that is complete; if none can be used, what there is of the newest."""
        for each in [each for each in generations if each.complete] + list(generations[:1]):
            embedder = self._embedder if each.name == self._embedder.name else self._other(each.name)
            if embedder is not None:
                return each.number, embedder
        return None

    async def _signs(self, owner: str, generation: int) -> Signs:
        from afterglow.search.signs import Signs

        lock, signs = self._kept.setdefault((owner, generation), (asyncio.Lock(), Signs()))
        self._kept.move_to_end((owner, generation))
        while len(self._kept) > _OWNERS_KEPT:
            self._kept.popitem(last=False)
        async with lock:
            while True:
                more = await self._store.vectors_after(owner, generation, signs.numbers, _LOADED_AT_ONCE)
                if not signs.numbers.keys() <= {columns.owner for columns in more}:  # somebody has parted
                    signs = Signs()
                    self._kept[owner, generation] = (lock, signs)
                    continue
                for columns in more:
                    await asyncio.to_thread(signs.add, columns) if columns.ids else signs.add(columns)
                if all(len(columns.ids) < _LOADED_AT_ONCE for columns in more):
                    return signs
