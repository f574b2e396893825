"""Facts, blocks and summaries are found by their words as soon as they are stored, and no longer than they are there."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock, to_us
from afterglow.errors import BadInput
from afterglow.search import words
from afterglow.search.memory_search import Recalled, memory_search
from afterglow.store import search
from afterglow.store.contract import Store
from afterglow.store.search import KINDS, Kind
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import Tx
from tests.faults.verbs import block, change, summary
from tests.kit.databases import all_indexed
from tests.kit.loops import for_each
from tests.kit.promises import broken
from tests.kit.records import KATE, NOON, OTHER, said
from tests.kit.talks import say

pytestmark = pytest.mark.spec("FACT-9")

DAY = timedelta(days=1)


async def index_fact(
    store: Store, name: str, text: str, *, type: str = "preference", owner: str = KATE.owner, **more: Any
) -> None:
    """A row of facts as its own verb writes it, with its words."""
    at = more.get("at", NOON)

    def run(tx: Tx) -> None:
        tx.run(
            """INSERT INTO facts (owner, id, type, content, confidence, source_date, extracted_at, trust, status, session,
                                  way, model, prompt, changed_at, digest)
               VALUES (:owner, :id, :type, :content, 'high', '2026-03-02', 0, 'owner', 'active', 'talk', 'owner', 'm', 'p',
                       0, :id)
               ON CONFLICT (owner, id) DO UPDATE SET content = excluded.content""",
            owner=owner,
            id=name,
            type=type,
            content=text,
        )
        search.index_record(tx, owner=owner, kind="fact", place=name, label=type, at_us=to_us(at), text=text)

    await store._write("index_fact", owner, run)


async def unindex(store: Store, kind: Kind, place: str, seq: int = 0) -> None:
    def run(tx: Tx) -> None:
        search.unindex_record(tx, owner=KATE.owner, kind=kind, place=place, seq=seq)

    await store._write("unindex", KATE.owner, run)


async def find(store: Store, text: str, owner: str = KATE.owner, **more: Any) -> list[Recalled]:
    return list((await memory_search(store, None, owner, text, **more)).hits)


async def places(store: Store, text: str, **more: Any) -> list[tuple[str, str, int]]:
    return [(hit.kind, hit.fact or hit.session, hit.seq) for hit in await find(store, text, **more)]


async def fold(store: Store, text: str = "Rufus the dog eats salmon", **more: Any) -> None:
    await store.commit_blocks(KATE.owner, "talk", change(block("talk", 1, 2, text=text, **more)))


async def test_every_kind_is_found_and_says_where_it_comes_from(store: Store) -> None:
    await say(store, ("user", "a dog"), ("assistant", "a good dog"), ("user", "bye"))
    await index_fact(store, "f1", "The dog is called Rufus")
    await fold(store)
    await store.commit_summary(KATE.owner, replace(summary("talk"), last_seq=3, summary="About the dog."), before_seq=0)
    hits = {hit.kind: hit for hit in await find(store, "dog") if hit.seq < 2}
    assert set(hits) == set(KINDS)
    assert (hits["turn"].session, hits["turn"].seq, hits["turn"].role) == ("talk", 1, "user")
    assert (hits["block"].session, hits["block"].seq, hits["block"].text) == ("talk", 1, "Rufus the dog eats salmon")
    assert hits["summary"].session == "talk"
    assert (hits["fact"].fact, hits["fact"].type, hits["fact"].text) == ("f1", "preference", "The dog is called Rufus")
    start, end = hits["fact"].marks[0]
    assert hits["fact"].snippet[start:end] == "dog"
    assert await broken(store) == []


async def test_one_owner_never_finds_anothers_records(store: Store) -> None:
    await say(store, ("user", "hello"))
    await say(store, ("user", "hello"), to=OTHER)
    await index_fact(store, "f1", "Rufus eats salmon")
    assert await find(store, "salmon", owner=OTHER.owner) == []
    assert len(await find(store, "salmon")) == 1


async def test_a_fact_that_answers_stands_before_turns_that_merely_mention(store: Store) -> None:
    await say(
        store,
        ("user", "My dog barked at the postman all morning, again."),
        ("assistant", "Dogs bark at postmen. Perhaps the dog is bored; a longer walk helps many a dog."),
        ("user", "I will walk the dog tomorrow"),
    )
    await index_fact(store, "f1", "Ana's dog is allergic to chicken")
    await index_fact(store, "f2", "Ana drinks tea")
    assert (await places(store, "what is the dog allergic to"))[0] == ("fact", "f1", 0)


async def test_a_turn_that_says_more_stands_before_a_fact_that_merely_mentions(store: Store) -> None:
    await say(store, ("user", "The dog is allergic to chicken broth"), ("assistant", "Noted"))
    await index_fact(store, "f1", "Ana has a dog")
    await index_fact(store, "f2", "Ana drinks tea")
    assert (await places(store, "dog allergic chicken broth"))[0] == ("turn", "talk", 1)


async def test_what_was_removed_is_not_found_and_not_counted(store: Store) -> None:
    await say(store, ("user", "hello"))
    await index_fact(store, "f1", "Rufus eats salmon")
    await index_fact(store, "f2", "Rufus sleeps")
    await unindex(store, "fact", "f1")
    assert await places(store, "rufus salmon") == [("fact", "f2", 0)]
    matches = await store.word_matches(KATE.owner, ["rufus", "salmon"])
    stats = matches.record_stats["fact"]
    assert (stats.records, stats.terms, dict(stats.holding)) == (1, 2, {"rufus": 1, "salmon": 0})
    assert await broken(store) == []


async def test_what_was_removed_leaves_the_index_too_where_that_has_it_already(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.store.sqlite._QUIET_SECONDS", 0.001)
    store = await SQLiteStore.open(tmp_path / "a.db", clock)
    await say(store, ("user", "salmon"))
    await index_fact(store, "f1", "Rufus eats salmon")
    await index_fact(store, "f2", "Rufus sleeps")
    await all_indexed(store.path)
    await unindex(store, "fact", "f1")
    await unindex(store, "turn", "talk", 1)
    matches = await store.word_matches(KATE.owner, ["rufus", "salmon"])
    assert dict(matches.record_stats["fact"].holding) == {"rufus": 1, "salmon": 0}
    assert set(matches.stats.holding.values()) == {0}
    assert _entries(store) == {"f_rufus", "f_sleep"}
    await store.close()


def _entries(store: SQLiteStore) -> set[str]:
    """What stands in SQLite's own index, without the owner's mark."""
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        return {term[-term[::-1].index("_") - 2 :] for (term,) in connection.execute("SELECT term FROM search_vocab")}


async def test_a_record_that_is_indexed_again_is_found_by_its_new_words_alone(store: Store) -> None:
    await say(store, ("user", "hello"))
    await index_fact(store, "f1", "Rufus eats salmon")
    await index_fact(store, "f1", "Rufus eats tuna")
    assert await places(store, "salmon") == []
    assert await places(store, "tuna") == [("fact", "f1", 0)]


async def test_a_block_that_is_made_better_takes_the_place_of_the_first(store: Store) -> None:
    await say(store, ("user", "one"), ("assistant", "two"), ("user", "three"))
    await fold(store, "a kettle")
    better = change(block("talk", 1, 2, text="a teapot"), version=1, replaces=(1,))
    await store.commit_blocks(KATE.owner, "talk", better)
    assert await places(store, "kettle teapot") == [("block", "talk", 2)]


async def test_blocks_of_turns_are_found_and_blocks_of_blocks_are_not(store: Store) -> None:
    await say(store, ("user", "one"), ("assistant", "two"), ("user", "three"))
    await fold(store, "a kettle")
    coarser = change(block("talk", 1, 2, level=1, text="a kettle"), version=1, replaces=(1,))
    await store.commit_blocks(KATE.owner, "talk", coarser)
    assert await places(store, "kettle") == [("block", "talk", 1)]


async def test_blocks_that_are_imported_are_found(store: Store) -> None:
    await say(store, ("user", "one"), ("assistant", "two"), ("user", "three"))
    await fold(store, "a kettle")
    await store.commit_blocks(
        KATE.owner, "talk", change(block("talk", 1, 2, text="a teapot"), version=1, replaces=(1,))
    )
    made = await store.made(KATE.owner, "talk")
    await say(store, ("user", "one"), ("assistant", "two"), ("user", "three"), session="copy")
    copies = [replace(each, session="copy") for each in made.blocks]
    copied = replace(await store.session(KATE.owner, "copy"), folded=made.session.folded)
    await store.restore_blocks(copied, copies, [], made.fence)
    assert set(await places(store, "kettle teapot")) == {("block", "talk", 2), ("block", "copy", 2)}


async def test_only_the_newest_summary_of_a_session_is_found(store: Store) -> None:
    await say(store, ("user", "one"), ("user", "two"), ("user", "three"), ("user", "four"))
    first = replace(summary("talk"), last_seq=2, summary="About a kettle.")
    await store.commit_summary(KATE.owner, first, before_seq=0)
    second = replace(summary("talk"), summary="About a teapot.", created_at=NOON + DAY)
    await store.commit_summary(KATE.owner, second, before_seq=2)
    assert await places(store, "kettle") == []
    assert await places(store, "teapot") == [("summary", "talk", 0)]


async def test_a_search_is_limited_to_kinds_types_and_time(store: Store) -> None:
    await say(store, ("user", "tea in the morning"))
    await index_fact(store, "f1", "Ana likes tea", type="preference", at=NOON - DAY)
    await index_fact(store, "f2", "Ana sells tea", type="identity", at=NOON + DAY)
    assert set(await places(store, "tea")) == {("turn", "talk", 1), ("fact", "f1", 0), ("fact", "f2", 0)}
    assert await places(store, "tea", kinds=["turn"]) == [("turn", "talk", 1)]
    assert await places(store, "tea", kinds=["fact"], types=["identity"]) == [("fact", "f2", 0)]
    assert set(await places(store, "tea", types=["identity"])) == {("turn", "talk", 1), ("fact", "f2", 0)}
    assert await places(store, "tea", since=NOON + DAY) == [("fact", "f2", 0)]
    assert await places(store, "tea", until=NOON) == [("fact", "f1", 0)]
    assert set(await places(store, "tea", since=NOON - DAY, until=NOON + DAY)) == {
        ("turn", "talk", 1),
        ("fact", "f1", 0),
    }


async def test_a_neighbour_outside_the_time_is_not_given(store: Store) -> None:
    await store.open_session(KATE, "talk")
    for day, text in enumerate(("tea", "a cup of it")):
        await store.append(KATE.owner, "talk", said(text, at=NOON + day * DAY, terms=words.terms(text)))
    assert await places(store, "tea", until=NOON + DAY) == [("turn", "talk", 1)]
    assert await places(store, "tea") == [("turn", "talk", 1), ("turn", "talk", 2)]


@for_each(
    "text, more, said_so",
    [
        ("", {}, "no word to search for"),
        ("the", {}, "no word to search for"),
        ("tea", {"kinds": ["letter"]}, "'letter' is no kind"),
        ("tea", {"kinds": []}, "no kind was named"),
        ("tea", {"types": ["a,b"]}, "no comma"),
        ("tea", {"kinds": ["turn"], "types": ["decision"]}, "no facts are searched"),
    ],
)
async def test_what_cannot_be_searched_is_refused(store: Store, text: str, more: Any, said_so: str) -> None:
    with pytest.raises(BadInput, match=said_so):
        await find(store, text, **more)
