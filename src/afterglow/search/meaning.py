"""Search by meaning: the query's vector, and what lies near it.

The signs of an owner's vectors are kept in memory while they are searched, whole vectors too where they are few, and only
the new ones are read for the next query. What is found is read from the store with the owner's filter, so nothing kept here
can show what is not the owner's, or is there no more. What was removed is let go of at the owner's next search.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterglow.errors import MissingPackage, ModelError
from afterglow.search.embedders import TEXT_CHARS_MAX, Embedder
from afterglow.store.contract import Store
from afterglow.store.search import Sought

if TYPE_CHECKING:
    from afterglow.search.signs import Signs

NEAREST = 64
"""How many are looked at, of those whose signs differ least."""
_LOADED_AT_ONCE = 20_000
_OWNERS_KEPT = 64
_WHOLE_BYTES_KEPT = 128_000_000
"""Of all owners together. Who was not searched for longest is let go of first, and is read again when searched."""

Other = Callable[[str], Embedder | None]
"""Gives the embedder of a name, if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A query, and the vectors it is compared with."""

    store: Store
    owner: str
    generation: int
    vector: Sequence[float]
    signs: Signs

    async def near(self, known: set[int], sought: Sought) -> tuple[dict[int, float], list[int]]:
        """How near those of the known rows of the index are that have a vector, and others; and which may lie nearest."""
        nearest = await self._nearest(sought)
        return await self._cosines(known.union(nearest)), nearest

    async def _nearest(self, sought: Sought) -> list[int]:
        if self.signs.count <= _LOADED_AT_ONCE:  # a thread would take longer to begin
            return self.signs.nearest(self.vector, sought, NEAREST)
        return await asyncio.to_thread(self.signs.nearest, self.vector, sought, NEAREST)

    async def _cosines(self, ids: Collection[int]) -> dict[int, float]:
        kept = self.signs.cosines(self.vector, ids)
        if kept is not None:
            return kept
        # numpy is an extra, and takes a tenth of a second to load
        from afterglow.search.signs import cosines

        vectors = await self.store.vectors_of(self.owner, self.generation, sorted(ids))
        return dict(zip(vectors, cosines(self.vector, list(vectors.values())), strict=True))


class Meaning:
    """Finds what lies near a query. One of it is shared by all searches of a process."""

    def __init__(self, store: Store, embedder: Embedder, other: Other = lambda name: None) -> None:
        """`other` finds the embedder that was in use before, while not all is embedded anew."""
        self._store = store
        self._embedder = embedder
        self._other = other
        self._used: dict[str, Embedder] = {}
        """The embedder that made the vector of each owner's last query."""
        self._kept: OrderedDict[tuple[str, int], tuple[asyncio.Lock, Signs]] = OrderedDict()

    async def asked(self, owner: str, text: str) -> Asked | None:
        """A query, beside the owner's vectors as they are now; None where there are none that can be used."""
        before = self._used.pop(owner, None)  # it is most likely still in use, so it begins at once
        early, compared = await asyncio.gather(_tried(before, text), self._compared_with(owner))
        if compared is None:
            return None
        generation, embedder, signs = compared
        is_still_used = before is not None and before.name == embedder.name
        vector = early if early is not None and is_still_used else await _embedded(embedder, text)
        self._used[owner] = embedder
        return Asked(store=self._store, owner=owner, generation=generation, vector=vector, signs=signs)

    async def _compared_with(self, owner: str) -> tuple[int, Embedder, Signs] | None:
        """The vectors that are in use now, and the embedder that made them."""
        in_use = await self._in_use(owner)
        return None if in_use is None else (*in_use, await self._signs(owner, in_use[0]))

    async def _in_use(self, owner: str) -> tuple[int, Embedder] | None:
        """The newest vectors that are complete; if none can be used, what there is of the newest; None without any."""
        generations = await self._store.generations(owner)
        for each in [each for each in generations if each.complete] + list(generations[:1]):
            embedder = self._embedder if each.name == self._embedder.name else self._other(each.name)
            if embedder is not None:
                return each.number, embedder
        return None

    async def alike(self, text: str, others: Sequence[str]) -> list[float] | None:
        """How near each of the others is to a text, from -1 to 1; None where the embedder fails."""
        try:
            vector, *made = await self._embedder.embed([each[:TEXT_CHARS_MAX] or " " for each in (text, *others)])
        except (ModelError, MissingPackage):
            return None
        from afterglow.search.signs import cosines, packed

        return cosines(vector, packed(made))

    async def _signs(self, owner: str, generation: int) -> Signs:
        """Those of all vectors that the owner has now."""
        from afterglow.search.signs import Signs

        lock, signs = self._kept.setdefault((owner, generation), (asyncio.Lock(), Signs()))
        self._kept.move_to_end((owner, generation))
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
                    self._let_go()
                    return signs

    def _let_go(self) -> None:
        """Of those who were not searched for longest, until there is room."""

        def whole_bytes() -> int:
            return sum(signs.whole_bytes for _, signs in self._kept.values())

        while len(self._kept) > _OWNERS_KEPT or (len(self._kept) > 1 and whole_bytes() > _WHOLE_BYTES_KEPT):
            (owner, _), _ = self._kept.popitem(last=False)
            self._used.pop(owner, None)


async def _embedded(embedder: Embedder, text: str) -> Sequence[float]:
    (vector,) = await embedder.embed([text])
    return vector


async def _tried(embedder: Embedder | None, text: str) -> Sequence[float] | None:
    """The vector, if this embedder is there and gives one."""
    try:
        return None if embedder is None else await _embedded(embedder, text)
    except (ModelError, MissingPackage):  # whoever is in use now may do better, or tells
        return None
