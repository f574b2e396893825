"""The verbs of search and of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from afterglow.store import (
    recall,
    search,
    vectors,
)
from afterglow.store.contract.running import Running
from afterglow.store.recall import Choose, Chosen, Content
from afterglow.store.search import Follow, Matches, Sought
from afterglow.store.transaction import EVERYONE
from afterglow.store.vectors import Generation, Unembedded, VectorColumns
from afterglow.work import Claim


class SearchVerbs(Running):
    """The verbs of search and of vectors."""

    async def word_matches(
        self, owner: str, terms: Sequence[str], sought: Sought | None = None, *, follow: Follow | None = None
    ) -> Matches:
        """Turns, facts, blocks and summaries that hold any of the terms, and what ranking needs to know.

        Turns that `follow` names for what was found are read with them.
        """
        run = partial(search.word_matches, terms=terms, sought=sought or Sought(), follow=follow)
        return await self._read("word_matches", owner, run)

    async def recalled(self, owner: str, ids: Sequence[int], choose: Choose[Chosen]) -> list[tuple[Chosen, Content]]:
        """What is chosen with a view of these rows of the index, as far as they are the owner's, and its text.

        What is chosen and there no more is left out.
        """
        return await self._read("recalled", owner, partial(recall.recalled, ids=ids, choose=choose))

    async def indexed_ids(self, owner: str) -> list[int]:
        """The numbers of all that the index of words holds of the owner."""
        return await self._read("indexed_ids", owner, search.indexed_ids)

    async def use_embedder(self, name: str) -> Generation:
        """This embedder is in use from now on. If another was until now, every vector is due to be made anew."""
        return await self._write("use_embedder", EVERYONE, partial(vectors.use_embedder, name=name))

    async def generations(self, owner: str) -> list[Generation]:
        """The embedders of which the owner may have vectors, the one in use first."""
        return await self._read("generations", owner, vectors.generations)

    async def sweep_vectors(self, *, rows: int = 1000, owners: int = 100) -> int:
        """Of those owners that have something without a vector the vectors are due; the answer is how many were found.

        Where the embedder is new, the next rows of all owners count as such.
        """
        run = partial(vectors.sweep_vectors, rows=rows, owners=owners, now=self.clock.now())
        return await self._write("sweep_vectors", EVERYONE, run)

    async def unembedded(self, owner: str, limit: int) -> list[Unembedded]:
        """The owner's newest records that have no vector, with their texts."""
        return await self._read("unembedded", owner, partial(vectors.unembedded, limit=limit))

    async def commit_vectors(self, claim: Claim, generation: int, made: Sequence[tuple[int, bytes]]) -> None:
        """These records have these vectors, and are without one no more. The claim is kept.

        ClaimLost where it has passed on, or where the embedder is not the one in use.
        """
        run = partial(vectors.commit_vectors, claim=claim, generation=generation, made=made, now_us=self._now_us())
        await self._write("commit_vectors", claim.owner, run)

    async def drop_old_vectors(self, owner: str, limit: int) -> int:
        """Vectors of embedders that are not in use are removed, if the owner has all of the one that is."""
        return await self._write("drop_old_vectors", owner, partial(vectors.drop_old_vectors, limit=limit))

    async def vectors_after(
        self, owner: str, choose: vectors.Choose, limit: int
    ) -> tuple[Generation, list[VectorColumns]] | None:
        """Vectors of the owner and those joined to it, in order: of the generation, and from behind the numbers, chosen.

        Of each owner so many at most; None if none are chosen. What chooses is called in the transaction, maybe again.
        """
        return await self._read("vectors_after", owner, partial(vectors.vectors_after, choose=choose, limit=limit))

    async def vectors_of(self, owner: str, generation: int, ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of these rows of the index, as far as they are the owner's."""
        return await self._read("vectors_of", owner, partial(vectors.vectors_of, generation=generation, ids=ids))
