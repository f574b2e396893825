"""Vectors: made behind what is written, lost by no kill, never made twice, remade when the embedder changes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from afterglow import failpoints
from afterglow.clock import FixedClock
from afterglow.errors import ClaimLost, ModelBusy
from afterglow.means import SettingsMeans
from afterglow.memory import Memory
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import memory_search
from afterglow.search.signs import Signs
from afterglow.search.vectors import BATCH, Vectors
from afterglow.settings import Settings
from afterglow.store import search
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding
from afterglow.work import Limits
from afterglow.worker import Worker
from tests.conftest import OpenStore
from tests.kit.records import KATE, OTHER
from tests.kit.talks import say

pytest.importorskip("numpy")
pytestmark = pytest.mark.spec("FACT-9")

WEB = Binding(agent="kate", channel="web", sender="ana")
THEMES = ("pet dog puppy cat animal", "car bus train vehicle", "tea coffee drink", "house flat home", "zebra", "violin")


class Themes:
    """An embedder that knows a few themes and nothing else."""

    def __init__(self, name: str = "themes") -> None:
        self.name = name
        self.seen: list[str] = []
        self.fails = False

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.fails:
            raise ModelBusy("not now")
        self.seen += texts
        return [
            [sum(word in theme.split() for word in text.lower().split()) + 0.01 for theme in THEMES] for text in texts
        ]


async def work(store: Store, embedder: Themes, rounds: int = 3) -> Vectors:
    """Do all there is to do, as a process in the background does it."""
    vectors = Vectors(store, embedder)
    await vectors._announced()
    worker = Worker(store, {"vectors": vectors.act}, holder="w", limits=Limits())
    for _ in range(rounds):
        await store.sweep_vectors()
        await worker.drain()
    return vectors


async def find(
    store: Store, embedder: Themes, text: str, owner: str = KATE.owner, **more: Any
) -> list[tuple[str, int]]:
    found = await memory_search(
        store, Meaning(store, embedder, more.pop("other", lambda name: None)), owner, text, **more
    )
    return [(hit.session, hit.seq) for hit in found.hits]


async def counted(store: Store, table: str) -> int:
    def look(tx: Tx) -> int:
        return int(tx.one(f"SELECT count(*) AS n FROM {table}")["n"])

    return await store._read("counted", EVERYONE, look)


async def test_what_means_the_same_is_found_without_a_word_in_common(store: Store) -> None:
    await say(store, "my puppy ran off", "the train was late", "a cup of coffee")
    embedder = Themes()
    await work(store, embedder)
    assert (await find(store, embedder, "animal"))[0] == ("talk", 1)
    assert (await find(store, embedder, "vehicle"))[0] == ("talk", 2)


async def test_what_has_no_vector_yet_is_found_by_its_words(store: Store) -> None:
    embedder = Themes()
    await say(store, "my puppy ran off")
    await work(store, embedder)
    await say(store, "an animal was seen")
    assert set(await find(store, embedder, "animal")) == {("talk", 1), ("talk", 2)}


async def test_everything_is_embedded_once_however_much_there_is(store: Store) -> None:
    texts = [f"turn {number} about tea" for number in range(2 * BATCH + 5)]
    await say(store, *texts)
    embedder = Themes()
    await work(store, embedder)
    assert sorted(embedder.seen) == sorted(texts)
    assert await counted(store, "search_vectors") == len(texts)
    assert await counted(store, "search_fresh") == 0
    await work(store, embedder)
    assert len(embedder.seen) == len(texts)


async def test_two_processes_embed_nothing_twice(open_store: OpenStore) -> None:
    first, second = await open_store(), await open_store()
    await say(first, *(f"turn {number}" for number in range(BATCH + 5)))
    embedder = Themes()
    await asyncio.gather(work(first, embedder), work(second, embedder))
    assert len(embedder.seen) == BATCH + 5
    assert await counted(first, "search_vectors") == BATCH + 5


@pytest.mark.parametrize("place", ["before", "after"])
async def test_a_failure_at_the_commit_loses_nothing_and_doubles_nothing(store: Store, place: str) -> None:
    await say(store, "my puppy ran off", "the train was late")
    embedder = Themes()
    failpoints.arm(f"commit_vectors:{place}", "error")
    await work(store, embedder, rounds=1)
    failpoints.disarm()
    assert await counted(store, "search_vectors") == (0 if place == "before" else 2)
    await store.retry(EVERYONE, kind="vectors")
    await work(store, embedder)
    assert await counted(store, "search_vectors") == 2
    assert await counted(store, "search_fresh") == 0
    assert (await find(store, embedder, "animal"))[0] == ("talk", 1)


async def test_an_embedder_that_fails_leaves_its_work_due(store: Store) -> None:
    await say(store, "my puppy ran off")
    embedder = Themes()
    embedder.fails = True
    await work(store, embedder)
    (waiting,) = await store.work_list(EVERYONE, kind="vectors")
    assert (waiting.attempts, waiting.owner) == (1, KATE.owner)
    assert "not now" in (waiting.last_error or "")


async def test_a_worker_that_lost_the_claim_writes_no_vector(store: Store) -> None:
    await say(store, "my puppy ran off")
    await store.use_embedder("themes")
    await store.sweep_vectors()
    (claim,) = await store.claim(("vectors",), limit=1, holder="a", limits=Limits())
    await store.give_back(claim, "late", wait_seconds=0, park=False)
    (waiting,) = await store.unembedded(KATE.owner, 10)
    with pytest.raises(ClaimLost):
        await store.commit_vectors(claim, 1, [(waiting.id, b"1")])
    assert await counted(store, "search_vectors") == 0


async def test_old_vectors_are_used_until_the_new_are_complete_and_removed_then(store: Store) -> None:
    await say(store, "my puppy ran off", "the train was late")
    old, new = Themes("old"), Themes("new")
    await work(store, old)
    other = {"old": old, "new": new}.get
    await store.use_embedder("new")
    old.seen.clear()
    assert (await find(store, new, "animal", other=other))[0] == ("talk", 1)
    assert old.seen == ["animal"], "the question was put to the old one"
    await work(store, new)
    old.seen.clear()
    assert (await find(store, new, "animal", other=other))[0] == ("talk", 1)
    assert old.seen == []
    assert await counted(store, "search_vectors") == 2
    assert [each.name for each in await store.generations(KATE.owner)] == ["new"]


async def test_a_process_with_older_settings_leaves_the_work_to_the_newer(store: Store) -> None:
    await say(store, "my puppy ran off")
    late = Vectors(store, Themes("old"))
    await late._announced()
    await store.use_embedder("new")
    await store.sweep_vectors()
    worker = Worker(store, {"vectors": late.act}, holder="w", limits=Limits())
    assert await worker.drain() == 1
    (waiting,) = await store.work_list(EVERYONE, kind="vectors")
    assert (waiting.state, waiting.last_error) == ("waiting", None)
    assert await counted(store, "search_vectors") == 0
    (claim,) = [await store.claim_one(KATE.owner, "vectors", KATE.owner, holder="w", limits=Limits(), anyway=True)]
    assert claim is not None
    with pytest.raises(ClaimLost, match="another embedder"):
        await store.commit_vectors(claim, 1, [])


async def test_what_is_removed_takes_its_vector_with_it(store: Store) -> None:
    await say(store, "my puppy ran off", "the train was late")
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    await memory_search(store, meaning, KATE.owner, "animal")

    def run(tx: Tx) -> None:
        search.unindex_record(tx, owner=KATE.owner, kind="turn", place="talk", seq=1)

    await store._write("unindex", KATE.owner, run)
    assert await counted(store, "search_vectors") == 1
    hits = (await memory_search(store, meaning, KATE.owner, "animal")).hits
    assert 1 not in [hit.seq for hit in hits]


def kept(meaning: Meaning) -> list[int]:
    """How many vectors it has something of in memory, for each owner."""
    return [each.signs.count for each in meaning._kept.values()]


@pytest.mark.spec("SAFE-3", "P12")
async def test_what_is_forgotten_leaves_memory_with_the_next_search(store: Store, clock: FixedClock) -> None:
    await say(store, "my puppy ran off", "the train was late", "a cup of coffee")
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    await memory_search(store, meaning, KATE.owner, "animal")
    assert kept(meaning) == [3]
    await store.forget_turns(KATE.owner, "talk", 1, 1)
    clock.move(1)
    await say(store, "a bus came")  # as many as before
    await work(store, embedder)
    assert [hit.seq for hit in (await memory_search(store, meaning, KATE.owner, "vehicle")).hits] == [4, 2]
    assert kept(meaning) == [3]


@pytest.mark.spec("SAFE-3", "P12")
async def test_an_owner_that_begins_again_has_nothing_in_memory_of_before(store: Store, clock: FixedClock) -> None:
    await say(store, "my puppy ran off", "the train was late")
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    await memory_search(store, meaning, KATE.owner, "animal")
    while not (await store.forget_owner(KATE.owner, keep_stones=False)).done:
        pass
    clock.move(1)
    await say(store, "a cat sat there", session="later")
    await work(store, embedder)
    assert [hit.session for hit in (await memory_search(store, meaning, KATE.owner, "animal")).hits] == ["later"]
    assert kept(meaning) == [1]


async def test_where_nothing_was_removed_only_what_is_new_is_read(store: Store) -> None:
    await say(store, "my puppy ran off")
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    await memory_search(store, meaning, KATE.owner, "animal")
    signs = meaning._kept[KATE.owner].signs
    await say(store, "a cat sat there")
    await work(store, embedder)
    await memory_search(store, meaning, KATE.owner, "animal")
    assert meaning._kept[KATE.owner].signs is signs
    assert kept(meaning) == [2]


async def test_an_owner_with_many_vectors_is_answered_as_one_with_few_whose_vectors_are_in_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(store, "my puppy ran off", "the train was late", "a cat on a train", "a cup of coffee")
    embedder = Themes()
    await work(store, embedder)
    read: list[int] = []
    vectors_of = store.vectors_of

    async def reading(owner: str, generation: int, ids: Sequence[int]) -> dict[int, bytes]:
        read.extend(ids)
        return await vectors_of(owner, generation, ids)

    monkeypatch.setattr(store, "vectors_of", reading)
    few = await memory_search(store, Meaning(store, embedder), KATE.owner, "animal on the train")
    assert read == []
    monkeypatch.setattr(Signs.__init__, "__defaults__", (1,))
    many = await memory_search(store, Meaning(store, embedder), KATE.owner, "animal on the train")
    assert len(read) == 4
    assert [hit.seq for hit in many.hits] == [hit.seq for hit in few.hits]
    assert [hit.why.by_meaning for hit in many.hits] == pytest.approx([hit.why.by_meaning for hit in few.hits])


async def test_who_was_not_searched_for_longest_leaves_memory_when_the_room_is_used_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Themes()
    bindings = [KATE, WEB, OTHER]
    for each in bindings:
        await say(store, "my puppy ran off", to=each, session=each.channel + each.sender)
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    monkeypatch.setattr("afterglow.search.meaning._WHOLE_BYTES_KEPT", 2 * len(THEMES))
    for each in (KATE, WEB, KATE, OTHER):
        assert len((await memory_search(store, meaning, each.owner, "animal")).hits) == 1
    assert list(meaning._kept) == [KATE.owner, OTHER.owner]
    monkeypatch.setattr("afterglow.search.meaning._WHOLE_BYTES_KEPT", 0)
    assert len((await memory_search(store, meaning, WEB.owner, "animal")).hits) == 1
    assert list(meaning._kept) == [WEB.owner], "who is searched now stays"


async def test_all_that_does_not_wait_for_the_embedder_is_read_while_it_works(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(store, "my puppy ran off", "the train was late")
    embedder = Themes()
    await work(store, embedder)
    begun, read, word_matches, embed = asyncio.Event(), asyncio.Event(), store.word_matches, embedder.embed

    async def reading(*given: Any, **named: Any) -> search.Matches:
        assert begun.is_set(), "it is embedded meanwhile"
        found = await word_matches(*given, **named)
        read.set()
        return found

    async def embedding(texts: Sequence[str]) -> list[Sequence[float]]:
        begun.set()
        async with asyncio.timeout(30):
            await read.wait()
        return await embed(texts)

    meaning = Meaning(store, embedder)
    await memory_search(store, meaning, KATE.owner, "train")  # now it is known by what embedder
    monkeypatch.setattr(store, "word_matches", reading)
    monkeypatch.setattr(embedder, "embed", embedding)
    for _ in range(2):
        begun.clear()
        read.clear()
        assert (await memory_search(store, meaning, KATE.owner, "puppy")).hits[0].seq == 1


async def test_only_the_embedder_says_how_near_texts_are(store: Store) -> None:
    embedder = Themes()
    meaning = Meaning(store, embedder)
    made: dict[str, Sequence[float]] = {}
    near, far = await meaning.alike("my dog", ["a puppy", "the train"], made) or ()
    assert near > 0.9 > 0.1 > far
    assert await meaning.alike("my dog", [], made) == []
    assert await meaning.alike("a puppy", ["my dog", "a puppy"], made) == [near, pytest.approx(1, abs=0.01)]
    assert embedder.seen == ["my dog", "a puppy", "the train"], "each is embedded once"
    embedder.fails = True
    assert await meaning.alike("my dog", ["a kitten"], made) is None


@pytest.mark.spec("SAFE-2")
async def test_owners_see_their_own_vectors_and_those_joined_to_them(store: Store) -> None:
    await say(store, "my puppy ran off")
    await say(store, "a cat sat there", to=WEB, session="web")
    await say(store, "an animal of another", "dog", to=OTHER, session="other")
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)

    async def found() -> set[str]:
        return {hit.session for hit in (await memory_search(store, meaning, KATE.owner, "animal")).hits}

    assert await found() == {"talk"}
    await store.join(WEB.owner, KATE.owner)
    assert await found() == {"talk", "web"}
    await store.part(WEB.owner)
    assert await found() == {"talk"}, "although the other's signs were in memory"


async def test_new_vectors_are_read_as_they_come(store: Store) -> None:
    embedder = Themes()
    await say(store, "my puppy ran off")
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    assert len((await memory_search(store, meaning, KATE.owner, "animal")).hits) == 1
    await say(store, "a cat sat there")
    await work(store, embedder)
    assert len((await memory_search(store, meaning, KATE.owner, "animal")).hits) == 2


async def test_without_a_server_what_joined_owners_said_is_found_by_meaning_too(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SettingsMeans, "embedder", lambda self: Themes())
    given = {"data_dir": str(tmp_path), "zone": "UTC", "search": {"embedder": "test:themes"}}
    memory = Memory(store, Settings.model_validate(given), environ={})
    await memory.append(KATE, "user", "my puppy sleeps")
    await memory.append(WEB, "user", "the bus is late")
    await memory.join(WEB.owner, KATE.owner)
    for owner in (KATE.owner, WEB.owner):
        found = await memory.recall("animal", owner=owner)
        assert found.by_meaning and found.hits[0].text == "my puppy sleeps"
        assert (await memory.recall("vehicle", owner=owner)).hits[0].text == "the bus is late"


async def test_an_embedder_of_before_that_fails_does_not_stand_in_the_way_of_the_one_in_use(store: Store) -> None:
    await say(store, "my puppy ran off", "the train was late")
    gone = {"fails": False}
    asked: list[str] = []

    class Before(Themes):
        async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
            self.fails = gone["fails"]
            asked.extend(texts)
            return await super().embed(texts)

    await work(store, Before("before"))
    new = Themes()
    meaning = Meaning(store, new, lambda name: Before(name) if name == "before" else None)  # another object each time
    asked.clear()
    for _ in range(3):
        assert (await memory_search(store, meaning, KATE.owner, "animal")).by_meaning
    assert asked == ["animal"] * 3, "each is embedded once"
    await work(store, new)
    gone["fails"] = True
    for _ in range(2):
        found = await memory_search(store, meaning, KATE.owner, "animal")
        assert found.by_meaning and found.hits[0].seq == 1


async def test_where_the_package_of_an_embedder_of_before_is_missing_words_find(store: Store, tmp_path: Path) -> None:
    await say(store, "my puppy ran off")
    await work(store, Themes("cohere:embed-v3"))
    memory = Memory(store, Settings(data_dir=str(tmp_path)), environ={}, folds=False)
    found = await memory.recall("puppy", owner=KATE.owner)
    assert [hit.seq for hit in found.hits] == [1] and not found.by_meaning


async def test_of_those_without_vectors_no_more_are_kept_than_of_others(store: Store) -> None:
    meaning = Meaning(store, Themes())
    for number in range(70):
        await memory_search(store, meaning, f"kate/telegram/{number}", "puppy")
    assert len(meaning._kept) == 64


async def test_an_embedder_that_fails_is_asked_once_for_a_query_and_again_for_the_next(store: Store) -> None:
    await say(store, "my puppy ran off")
    tried: list[str] = []

    class Watched(Themes):
        async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
            tried.extend(texts)
            return await super().embed(texts)

    embedder = Watched()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    assert (await memory_search(store, meaning, KATE.owner, "animal")).by_meaning
    tried.clear()
    embedder.fails = True
    assert not (await memory_search(store, meaning, KATE.owner, "puppy")).by_meaning
    assert tried == ["puppy"]
    embedder.fails = False
    assert (await memory_search(store, meaning, KATE.owner, "animal")).by_meaning
    assert tried == ["puppy", "animal"]


@pytest.mark.parametrize("steps", range(6))
async def test_a_search_that_is_broken_off_leaves_no_vector_twice(store: Store, steps: int) -> None:
    await say(store, *(f"puppy {number}" for number in range(20)))
    embedder = Themes()
    await work(store, embedder)
    meaning = Meaning(store, embedder)
    add, taking, taken = Signs.add, threading.Event(), threading.Event()

    def slowly(self: Signs, columns: Any) -> None:
        taking.set()
        time.sleep(0.2)
        add(self, columns)
        taken.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Signs, "add", slowly)
        search = asyncio.ensure_future(memory_search(store, meaning, KATE.owner, "animal"))
        for _ in range(steps):
            await asyncio.sleep(0)
        if steps == 5:
            await asyncio.to_thread(taking.wait, 30)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
    assert len((await memory_search(store, meaning, KATE.owner, "animal", limit=50)).hits) == 20
    assert not taking.is_set() or await asyncio.to_thread(taken.wait, 30)
    assert kept(meaning) == [20]
