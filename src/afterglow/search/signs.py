"""Vectors in little room: a byte for each dimension on disk, a bit for each in memory.

A million vectors of 384 dimensions are 384 MB on disk and 48 MB in memory. The bits (whether a number is above zero) are
enough to find a few hundred that may be near: those that differ in the fewest. How near they are is told by the bytes.
Most owners have so few vectors that the bytes are kept in memory too: 10,000 are 3.8 MB, and reading them took longer than
all else that meaning adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from afterglow.store.search import KINDS, Sought
from afterglow.store.vectors import VectorColumns

Floats = NDArray[np.float32]
N = TypeVar("N", bound=np.generic)
_WORD_BITS = 64
_ROWS_AT_ONCE = 65_536
"""What is compared at once fits the processor's cache."""
WHOLE_BYTES_MAX = 20_000_000
"""An owner with more than this, some 50,000 vectors of 384 dimensions, has the bits alone in memory."""


def packed(vectors: Sequence[Sequence[float]]) -> list[bytes]:
    """Each vector as bytes from -127 to 127, the largest of its numbers at the end of that scale."""
    if not len(vectors):
        return []
    given = np.asarray(vectors, dtype=np.float32)
    largest = np.maximum(np.abs(given).max(axis=1, keepdims=True), 1e-12)
    return [row.tobytes() for row in np.rint(given / largest * 127).astype(np.int8)]


def cosines(query: Sequence[float], vectors: Sequence[bytes]) -> list[float]:
    """How near each vector is to the query: from -1 to 1."""
    if not vectors:
        return []
    return _cosines(query, np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(vectors), -1))


class Signs:
    """The signs of all vectors of an owner, and what they can be filtered by."""

    def __init__(self, whole_bytes_max: int = WHOLE_BYTES_MAX) -> None:
        self.count = 0
        self.numbers: dict[str, int] = {}
        """For each owner the last vector that is here."""
        self._losses: dict[str, tuple[int, int]] = {}
        """For each owner what was removed when that was last looked at."""
        self._words: list[NDArray[np.uint64]] = []
        """The first 64 dimensions of all vectors, then the next 64: what is read together lies together."""
        self._whole_bytes_max = whole_bytes_max
        self._whole: NDArray[np.int8] | None = np.empty((0, 0), dtype=np.int8)
        """The vectors themselves; None once they are too many."""
        self._places: dict[int, int] = {}
        """Where the vector of an id stands among them."""
        self._ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._ats: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._kinds: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._labels: NDArray[np.uint16] = np.empty(0, dtype=np.uint16)
        self._label_codes: dict[str, int] = {}

    def add(self, columns: VectorColumns) -> None:
        """Take in more, behind those that are here."""
        self.numbers[columns.owner] = columns.last_number
        self._losses[columns.owner] = columns.losses
        if not columns.ids:
            return
        rows = len(columns.ids)
        vectors = np.frombuffer(columns.vectors, dtype=np.int8).reshape(rows, -1)
        words = _signs(vectors)
        held = self._words or [np.empty(0, dtype=np.uint64) for _ in words]
        self._words = [_grown(*each, self.count) for each in zip(held, words, strict=True)]
        self._keep_whole(columns.ids, vectors)
        self._ids = _grown(self._ids, np.asarray(columns.ids, dtype=np.int64), self.count)
        self._ats = _grown(self._ats, np.asarray(columns.ats_us, dtype=np.int64), self.count)
        kinds = [KINDS.index(kind) for kind in columns.kinds]
        self._kinds = _grown(self._kinds, np.asarray(kinds, dtype=np.uint8), self.count)
        labels = [self._label_codes.setdefault(label, len(self._label_codes)) for label in columns.labels]
        self._labels = _grown(self._labels, np.asarray(labels, dtype=np.uint16), self.count)
        self.count += rows

    def has_lost(self, more: Sequence[VectorColumns]) -> bool:
        """Whether some of what is here may be gone."""
        return any(self._losses.get(columns.owner, columns.losses) != columns.losses for columns in more)

    def only(self, ids: Sequence[int]) -> Signs:
        """Those of these ids alone, in other room: whoever looks at this one meanwhile sees it as it is."""
        left = np.flatnonzero(np.isin(self._ids[: self.count], np.asarray(ids, dtype=np.int64)))
        kept = Signs(self._whole_bytes_max)
        kept.count = len(left)
        kept.numbers = dict(self.numbers)
        kept._words = [word[left] for word in self._words]
        kept._ids, kept._ats = self._ids[left], self._ats[left]
        kept._kinds, kept._labels = self._kinds[left], self._labels[left]
        kept._label_codes = self._label_codes
        kept._whole = None if self._whole is None else self._whole[left]
        kept._places = {} if self._whole is None else {int(each): place for place, each in enumerate(kept._ids)}
        return kept

    @property
    def whole_bytes(self) -> int:
        """The room that whole vectors take."""
        return 0 if self._whole is None else self._whole.nbytes

    def cosines(self, query: Sequence[float], ids: Iterable[int]) -> dict[int, float] | None:
        """How near those of these are to the query that are here; None where whole vectors are not kept."""
        here = {each: place for each in ids if (place := self._places.get(each)) is not None}
        whole = self._whole  # after the places: who takes more in writes the vectors first
        if whole is None:
            return None
        return dict(zip(here, _cosines(query, whole[list(here.values())]), strict=True)) if here else {}

    def nearest(self, query: Sequence[float], sought: Sought, most: int) -> list[int]:
        """The ids of those that are sought and may be nearest, the nearest not always first."""
        count = self.count  # more may be taken in meanwhile, behind these
        if not count:
            return []
        asked = [word[0] for word in _signs(np.asarray(query, dtype=np.float32).reshape(1, -1))]
        here = self._sought(sought, count)
        ids = self._ids[:count] if here is None else self._ids[here]
        if len(ids) <= most:
            return ids.tolist()
        apart = np.concatenate(
            [
                _apart([word[first : first + _ROWS_AT_ONCE] for word in self._words], asked)
                for first in range(0, count, _ROWS_AT_ONCE)
            ]
        )[:count]
        return ids[_least(apart if here is None else apart[here], most)].tolist()

    def _keep_whole(self, ids: Sequence[int], vectors: NDArray[np.int8]) -> None:
        if self._whole is None:
            return
        if self.count * vectors.shape[1] + vectors.nbytes > self._whole_bytes_max:
            self._whole, self._places = None, {}
            return
        # First the vectors, then where they are: somebody may be looking.
        self._whole = _grown(self._whole, vectors, self.count)
        self._places.update(zip(ids, range(self.count, self.count + len(ids)), strict=True))

    def _sought(self, sought: Sought, count: int) -> NDArray[np.intp] | None:
        """The places of what is sought among the first so many; None for all."""
        masks: list[NDArray[np.bool_]] = []
        kinds, labels, ats = self._kinds[:count], self._labels[:count], self._ats[:count]
        if set(sought.kinds) != set(KINDS):
            masks.append(np.isin(kinds, [KINDS.index(kind) for kind in sought.kinds]))
        if sought.types:
            codes = [self._label_codes[label] for label in sought.types if label in self._label_codes]
            masks.append((kinds != KINDS.index("fact")) | np.isin(labels, codes))
        if (sought.since_us, sought.until_us) != (Sought().since_us, Sought().until_us):
            masks.append((ats >= sought.since_us) & (ats < sought.until_us))
        return np.flatnonzero(np.logical_and.reduce(masks)) if masks else None


def _cosines(query: Sequence[float], vectors: NDArray[np.int8]) -> list[float]:
    asked, held = np.asarray(query, dtype=np.float32), vectors.astype(np.float32)
    lengths = np.linalg.norm(held, axis=1) * np.linalg.norm(asked)
    return (held @ asked / np.maximum(lengths, 1e-12)).tolist()


def _signs(vectors: NDArray[np.int8] | Floats) -> list[NDArray[np.uint64]]:
    """A bit for each dimension, 64 of them in a word; the words one by one."""
    missing = -vectors.shape[1] % _WORD_BITS
    bits = np.packbits(np.pad(vectors > 0, ((0, 0), (0, missing))), axis=1)
    return [np.ascontiguousarray(word) for word in bits.view(np.uint64).T]


def _apart(words: Sequence[NDArray[np.uint64]], asked: Sequence[np.uint64]) -> NDArray[np.uint16]:
    """In how many bits each differs from what is asked."""
    apart = np.zeros(len(words[0]), dtype=np.uint16)
    for word, wanted in zip(words, asked, strict=True):
        apart += np.bitwise_count(word ^ wanted)
    return apart


def _least(apart: NDArray[np.uint16], most: int) -> NDArray[np.intp]:
    """The places of so many of the smallest numbers: found by counting, since there are few different ones."""
    within = int(np.searchsorted(np.cumsum(np.bincount(apart)), most))
    nearer = np.flatnonzero(apart < within)
    return np.concatenate([nearer, np.flatnonzero(apart == within)[: most - len(nearer)]])


def _grown(held: NDArray[N], more: NDArray[N], count: int) -> NDArray[N]:
    """`held` with `more` behind its first `count` rows, in twice the room where it has too little."""
    if count + len(more) > len(held):
        room = max(count + len(more), 2 * count)
        larger = np.empty((room, *more.shape[1:]), dtype=more.dtype)
        if count:
            larger[:count] = held[:count]
        held = larger
    held[count : count + len(more)] = more
    return held
