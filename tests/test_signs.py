"""Vectors in little room: what is near by the bits is near by the numbers."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("numpy")

from afterglow.search.signs import Signs, cosines, packed
from afterglow.store.search import Sought
from afterglow.store.vectors import VectorColumns

pytestmark = pytest.mark.spec("FACT-9")

chance = random.Random(5)


def drawn(dimensions: int = 100) -> list[float]:
    return [chance.gauss(0, 1) for _ in range(dimensions)]


def columns(vectors: list[list[float]], first: int = 1, owner: str = "o", **more: Any) -> VectorColumns:
    given: dict[str, Any] = {
        "losses": (0, 0),
        "kinds": ["turn"] * len(vectors),
        "labels": ["user"] * len(vectors),
        "ats_us": list(range(first, first + len(vectors))),
    }
    return VectorColumns(
        owner=owner,
        last_number=first + len(vectors) - 1,
        ids=list(range(first, first + len(vectors))),
        vectors=b"".join(packed(vectors)),
        **{**given, **more},
    )


def test_bytes_keep_how_near_vectors_are() -> None:
    one, other = drawn(), drawn()
    exact = sum(a * b for a, b in zip(one, other, strict=True)) / (
        sum(a * a for a in one) ** 0.5 * sum(b * b for b in other) ** 0.5
    )
    (found,) = cosines(one, packed([other]))
    assert found == pytest.approx(exact, abs=0.01)
    assert cosines(one, packed([one])) == pytest.approx([1.0], abs=0.001)
    assert cosines(one, []) == []


def test_a_vector_of_nothing_is_near_to_nothing() -> None:
    assert cosines(drawn(), packed([[0.0] * 100])) == [0.0]
    assert cosines([0.0] * 100, packed([drawn()])) == [0.0]


def test_the_nearest_is_among_those_that_are_found() -> None:
    vectors = [drawn() for _ in range(2000)]
    signs = Signs()
    for first in range(0, 2000, 300):
        signs.add(columns(vectors[first : first + 300], first + 1))
    for number in chance.sample(range(2000), 50):
        query = [value + chance.gauss(0, 0.5) for value in vectors[number]]
        found = signs.nearest(query, Sought(), 20)
        assert number + 1 in found
        assert len(set(found)) == len(found) == 20


def test_fewer_than_are_wanted_are_all_found() -> None:
    signs = Signs()
    assert signs.nearest(drawn(), Sought(), 20) == []
    signs.add(columns([drawn() for _ in range(5)]))
    assert sorted(signs.nearest(drawn(), Sought(), 20)) == [1, 2, 3, 4, 5]


def test_only_what_is_sought_is_found() -> None:
    signs = Signs()
    vectors = [drawn() for _ in range(6)]
    kinds = ["turn", "turn", "fact", "fact", "block", "summary"]
    labels = ["user", "assistant", "preference", "identity", "", "other"]
    signs.add(columns(vectors, kinds=kinds, labels=labels))

    def found(**sought: Any) -> list[int]:
        return sorted(signs.nearest(vectors[0], Sought(**sought), 20))

    assert found(kinds=("fact", "block")) == [3, 4, 5]
    assert found(kinds=("fact",), types=("identity",)) == [4]
    assert found(types=("identity",)) == [1, 2, 4, 5, 6]
    assert found(types=("no such",)) == [1, 2, 5, 6]
    assert found(since_us=2, until_us=4) == [2, 3]


def test_how_far_each_owner_was_read_is_known() -> None:
    signs = Signs()
    signs.add(columns([drawn()], owner="a"))
    signs.add(columns([], first=1, owner="b"))
    assert signs.numbers == {"a": 1, "b": 0}
    assert signs.count == 1


def test_what_is_gone_is_let_go_of_and_the_rest_is_found_as_before() -> None:
    vectors = [drawn() for _ in range(200)]
    signs = Signs()
    signs.add(columns(vectors, kinds=["turn", "fact"] * 100, labels=["user", "identity"] * 100))
    left = signs.only([*range(1, 150), 1000])
    assert (signs.count, left.count) == (200, 149)
    assert left.nearest(vectors[7], Sought(), 1) == [8]
    assert left.nearest(vectors[8], Sought(kinds=("fact",)), 200) == list(range(2, 150, 2))
    assert set(left.nearest(vectors[180], Sought(), 149)) == set(range(1, 150))
    left.add(columns([vectors[180]], first=181))
    assert left.nearest(vectors[180], Sought(), 1) == [181]


def test_vectors_in_memory_say_how_near_they_are_as_those_of_the_store_do() -> None:
    vectors = [drawn() for _ in range(200)]
    signs = Signs()
    for first in range(0, 200, 70):
        signs.add(columns(vectors[first : first + 70], first + 1))
    query, asked = drawn(), [150, 3, 999, 71, 200]
    kept = signs.cosines(query, asked)
    assert kept is not None and list(kept) == [150, 3, 71, 200], "999 is not here"
    assert list(kept.values()) == pytest.approx(cosines(query, packed([vectors[id - 1] for id in kept])))
    assert signs.cosines(query, [999]) == {}


def test_whole_vectors_are_kept_until_they_are_too_many_and_signs_after_that() -> None:
    vectors = [drawn() for _ in range(10)]
    signs = Signs(whole_bytes_max=1000)
    signs.add(columns(vectors[:9]))
    assert (signs.whole_bytes, len(signs.cosines(drawn(), range(1, 10)) or {})) == (900, 9)
    signs.add(columns(vectors[9:], first=10))
    assert len(signs.cosines(drawn(), range(1, 20)) or {}) == 10
    signs.add(columns(vectors[:1], first=11))
    assert (signs.whole_bytes, signs.cosines(drawn(), [1])) == (0, None)
    assert signs.only([1, 2]).cosines(drawn(), [1]) is None
    assert len(signs.nearest(vectors[0], Sought(), 20)) == 11


@pytest.mark.spec("SAFE-3", "P12")
def test_what_is_gone_leaves_no_vector_in_memory() -> None:
    vectors = [drawn() for _ in range(5)]
    signs = Signs()
    signs.add(columns(vectors))
    left = signs.only([2, 5])
    assert left.whole_bytes == 200
    left.add(columns([vectors[0]], first=6))
    kept = left.cosines(vectors[4], range(1, 10))
    assert kept is not None and list(kept) == [2, 5, 6]
    assert list(kept.values()) == pytest.approx(cosines(vectors[4], packed([vectors[1], vectors[4], vectors[0]])))


def test_a_loss_is_seen_once_by_each_index_that_knew_the_owner_before_it() -> None:
    signs = Signs()
    signs.add(columns([drawn()], losses=(5, 1)))
    assert not signs.has_lost([columns([], losses=(5, 1)), columns([], owner="joined just now", losses=(9, 3))])
    lost = columns([], losses=(5, 2))
    assert signs.has_lost([lost])
    signs.add(lost)
    assert not signs.has_lost([lost])
    assert signs.has_lost([columns([], losses=(6, 2))]), "the owner was forgotten, and is there again"
