"""Search by meaning: the query's vector, and what lies near it.

The signs of an owner's vectors are kept in memory while they are searched, and only the new ones are read for the next
query. What is found is read from the store with the owner's filter, so nothing kept here can show what is not the owner's, or
is there no more. What was removed is let go of at the owner's next search.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterglow.errors import MissingPackage, ModelError
from afterglow.search.embedders import TEXT_CHARS_MAX, Embedder
from afterglow.store.contract import Store
from afterglow.store.search import Sought

if TYPE_CHECKING:
    from afterglow.search.signs import Signs

NEAREST = 100
"""How many are looked at, of those whose signs differ least."""
_LOADED_AT_ONCE = 20_000
_OWNERS_KEPT = 64

Other = Callable[[str], Embedder | None]
"""Gives the embedder of a name, if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InUse:
    """The vectors of an owner that are searched, and the embedder that made them."""

    generation: int
    embedder: Embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearest:
    """A query's vector, and the rows of the index that may lie nearest to it."""

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

    async def in_use(self, owner: str) -> InUse | None:
        """The newest vectors that are complete; if none can be used, what there is of the newest; None without any."""
        generations = await self._store.generations(owner)
        for each in [each for each in generations if each.complete] + list(generations[:1]):
            embedder = self._embedder if each.name == self._embedder.name else self._other(each.name)
            if embedder is not None:
                return InUse(generation=each.number, embedder=embedder)
        return None

    async def nearest(self, owner: str, text: str, sought: Sought, in_use: InUse) -> Nearest:
        """What may lie nearest."""
        (vector,), signs = await asyncio.gather(
            in_use.embedder.embed([text[:TEXT_CHARS_MAX]]), self._signs(owner, in_use.generation)
        )
        ids = await asyncio.to_thread(signs.nearest, vector, sought, NEAREST)
        return Nearest(vector=vector, ids=tuple(ids))

    async def alike(self, text: str, others: Sequence[str]) -> list[float] | None:
        """How near each of the others is to a text, from -1 to 1; None where the embedder fails."""
        try:
            vector, *made = await self._embedder.embed([each[:TEXT_CHARS_MAX] or " " for each in (text, *others)])
        except (ModelError, MissingPackage):
            return None
        from afterglow.search.signs import cosines, packed

        return cosines(vector, packed(made))

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
                if signs.has_lost(more):
                    left = await self._store.indexed_ids(owner)
                    signs = await asyncio.to_thread(signs.only, left)
                    self._kept[owner, generation] = (lock, signs)
                for columns in more:
                    await asyncio.to_thread(signs.add, columns) if columns.ids else signs.add(columns)
                if all(len(columns.ids) < _LOADED_AT_ONCE for columns in more):
                    return signs


def cosines_of(nearest: Nearest, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """How near each of these is to the query."""
    # numpy is an extra, and takes a tenth of a second to load
    from afterglow.search.signs import cosines

    return dict(zip(vectors, cosines(nearest.vector, list(vectors.values())), strict=True))
