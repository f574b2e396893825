"""Search by meaning: the query's vector, and what lies near it.

The signs of an owner's vectors are kept in memory while they are searched, whole vectors too where they are few, and only
the new ones are read for the next query. What is found is read from the store with the owner's filter, so nothing kept here
can show what is not the owner's, or is there no more. What was removed is let go of at the owner's next search.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from afterglow.errors import AfterglowError, MissingPackage, ModelError
from afterglow.search.embedders import TEXT_CHARS_MAX, Embedder
from afterglow.store.contract import Store
from afterglow.store.search import Sought
from afterglow.store.vectors import Generation, VectorColumns

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


Vectors = dict[str, Sequence[float]]
"""Of texts."""


class Early(NamedTuple):
    """A query's vector, or why there is none, and the name of the embedder."""

    name: str
    vector: Sequence[float] | AfterglowError


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """An owner's vectors, and the embedder that made them."""

    owner: str
    generation: int
    embedder: Embedder
    signs: Signs


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A query, and the vectors it is compared with."""

    store: Store
    known: Known
    vector: Sequence[float]

    async def near(self, known: set[int], sought: Sought) -> tuple[dict[int, float], list[int]]:
        """How near those of the known rows of the index are that have a vector, and others; and which may lie nearest."""
        nearest = await self._nearest(sought)
        return await self._cosines(known.union(nearest)), nearest

    async def _nearest(self, sought: Sought) -> list[int]:
        signs = self.known.signs
        if signs.count <= _LOADED_AT_ONCE:  # a thread would take longer to begin
            return signs.nearest(self.vector, sought, NEAREST)
        return await asyncio.to_thread(signs.nearest, self.vector, sought, NEAREST)

    async def _cosines(self, ids: Collection[int]) -> dict[int, float]:
        kept = self.known.signs.cosines(self.vector, ids)
        if kept is not None:
            return kept
        # numpy is an extra, and takes a tenth of a second to load
        from afterglow.search.signs import cosines

        vectors = await self.store.vectors_of(self.known.owner, self.known.generation, sorted(ids))
        return dict(zip(vectors, cosines(self.vector, list(vectors.values())), strict=True))


@dataclass(kw_only=True, slots=True)
class _Kept:
    """What is kept of one owner: the vectors of one generation, and the embedder of the last query."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    generation: int = 0
    signs: Signs
    embedder: Embedder | None = None


class Meaning:
    """Finds what lies near a query. One of it is shared by all searches of a process."""

    def __init__(self, store: Store, embedder: Embedder, other: Other = lambda name: None) -> None:
        """`other` finds the embedder that was in use before, while not all is embedded anew."""
        self._store = store
        self._embedder = embedder
        self._other = other
        self._embedders: dict[str, Embedder | None] = {embedder.name: embedder}
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def early(self, owner: str, text: str) -> Early | None:
        """A query's vector, by the embedder of the owner's last query: most likely it is still in use, so nothing is read."""
        kept = self._kept.get(owner)
        if kept is None or kept.embedder is None:
            return None
        try:
            return Early(kept.embedder.name, await _embedded(kept.embedder, text))
        except (ModelError, MissingPackage) as error:  # another may be in use now
            return Early(kept.embedder.name, error)

    async def asked(self, text: str, known: Known, early: Early | None = None) -> Asked:
        """A query beside an owner's vectors."""
        if known.owner in self._kept:
            self._kept[known.owner].embedder = known.embedder
        is_early = early is not None and early.name == known.embedder.name
        vector = early.vector if early is not None and is_early else await _embedded(known.embedder, text)
        if isinstance(vector, AfterglowError):
            raise vector
        return Asked(store=self._store, known=known, vector=vector)

    async def known(self, owner: str) -> Known | None:
        """The owner's vectors as they are now, and the embedder that made them; None where there are none that can be used."""
        from afterglow.search.signs import Signs

        kept = self._kept.setdefault(owner, _Kept(signs=Signs()))
        self._kept.move_to_end(owner)
        try:
            async with kept.lock:
                return await self._known(owner, kept)
        finally:
            self._let_go()

    async def _known(self, owner: str, kept: _Kept) -> Known | None:
        while found := await self._store.vectors_after(owner, partial(self._wanted, kept), _LOADED_AT_ONCE):
            generation, more = found
            if await self._take_in(owner, kept, generation.number, more):
                embedder = self._embedder_of(generation)
                assert embedder is not None, "it was there when these vectors were chosen"
                return Known(owner=owner, generation=generation.number, embedder=embedder, signs=kept.signs)
        return None

    def _wanted(self, kept: _Kept, generations: Sequence[Generation]) -> tuple[Generation, Mapping[str, int]] | None:
        """The newest vectors that are complete; if none can be used, what there is of the newest; None without any."""
        for each in [each for each in generations if each.complete] + list(generations[:1]):
            if self._embedder_of(each) is not None:
                return each, kept.signs.numbers if each.number == kept.generation else {}
        return None

    def _embedder_of(self, generation: Generation) -> Embedder | None:
        """One that was in use before is asked for once: it may have weights to load."""
        if generation.name not in self._embedders:
            self._embedders[generation.name] = self._other(generation.name)
        return self._embedders[generation.name]

    async def _take_in(self, owner: str, kept: _Kept, generation: int, more: Sequence[VectorColumns]) -> bool:
        """Keep what was read behind what is kept; whether that is all."""
        from afterglow.search.signs import Signs

        if generation != kept.generation:  # so what was read is the first of it
            kept.generation, kept.signs = generation, Signs()
        elif not kept.signs.numbers.keys() <= {columns.owner for columns in more}:  # somebody has parted
            kept.signs = Signs()
            return False
        if kept.signs.has_lost(more):
            left = await self._store.indexed_ids(owner)
            kept.signs = await asyncio.to_thread(kept.signs.only, left)
        for columns in more:
            await _to_its_end(kept.signs.add, columns) if columns.ids else kept.signs.add(columns)
        return all(len(columns.ids) < _LOADED_AT_ONCE for columns in more)

    async def alike(self, text: str, others: Sequence[str], made: Vectors) -> list[float] | None:
        """How near each of the others is to a text, from -1 to 1; None where the embedder fails.

        `made` has the vectors that were made for this before, and gets those that are made now.
        """
        new = [each for each in dict.fromkeys([text, *others]) if each not in made]
        try:
            vectors = await self._embedder.embed([each[:TEXT_CHARS_MAX] or " " for each in new]) if new else []
        except (ModelError, MissingPackage):
            return None
        from afterglow.search.signs import cosines, packed

        made.update(zip(new, vectors, strict=True))
        return cosines(made[text], packed([made[each] for each in others]))

    def _let_go(self) -> None:
        """Of those who were not searched for longest, until there is room."""

        def whole_bytes() -> int:
            return sum(kept.signs.whole_bytes for kept in self._kept.values())

        while len(self._kept) > _OWNERS_KEPT or (len(self._kept) > 1 and whole_bytes() > _WHOLE_BYTES_KEPT):
            self._kept.popitem(last=False)


async def _to_its_end(work: Callable[[VectorColumns], None], columns: VectorColumns) -> None:
    """In a thread; whoever is broken off meanwhile waits for it, or the next would do the same beside it."""
    done = asyncio.ensure_future(asyncio.to_thread(work, columns))
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise


async def _embedded(embedder: Embedder, text: str) -> Sequence[float]:
    (vector,) = await embedder.embed([text])
    return vector
