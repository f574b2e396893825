"""The verbs of facts: what a fact rests on, what joined owners both know, how much of the readings is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import BadInput, ModelBusy
from afterglow.facts import EVIDENCE_MAX, Evidence, Fact, Status, digest_of
from afterglow.reconciling import Near
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import memory_search
from afterglow.store import readings, sqlite
from afterglow.store.contract import Store
from afterglow.store.facts import Again, Gathered, WantedFacts
from afterglow.store.readings import Read, Reading
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import Tx
from afterglow.turns import Owner
from tests.kit.facts import remember
from tests.kit.forgetting import fact, holders, store_facts, talk
from tests.kit.promises import broken
from tests.kit.records import KATE, NOON, OTHER

OWNER = KATE.owner
TEXTS = ("My sister is Ana.", "I see.", "She lives in Rome.", "Fine.", "Ana lives in Rome.", "My sister lives in Rome.")


def proof(seq: int, **more: bool) -> Evidence:
    return Evidence(session="talk", seq=seq, quote=TEXTS[seq - 1], at=NOON, **more)


NEEDED = {"proves": False, "needed": True}
ROME = replace(fact("Ana lives in Rome.", ("talk", 3)), id="rome", evidence=(proof(3), proof(1, **NEEDED)))


async def again(store: Store, *evidence: Evidence) -> None:
    known = await store.known_facts(OWNER, [])
    first, *rest = evidence
    said_again = Again(owner=OWNER, fact=ROME.id, evidence=first, needed=tuple(rest), believed=False)
    await store.commit_facts(OWNER, Gathered(version=known.version, again=(said_again,)))


async def status(store: Store) -> str:
    return (await store.fact(OWNER, ROME.id)).status


# --- what a fact rests on


@pytest.mark.spec("SAFE-3", "P12")
async def test_a_fact_goes_with_a_turn_that_it_has_words_from(store: Store) -> None:
    await talk(store, *TEXTS)
    await store_facts(store, ROME)
    (kept,) = await store.facts(OWNER)
    assert [(each.seq, each.proves, each.needed) for each in kept.evidence] == [(1, False, True), (3, True, False)]
    await store.forget_turns(OWNER, "talk", 2, 2)
    assert await status(store) == "active"
    assert (await store.forget_turns(OWNER, "talk", 1, 1)).facts == 1
    assert await status(store) == "forgotten"
    assert "facts" not in await holders(store, "Ana") and "evidence" not in await holders(store, "Ana")
    assert [each.seq for each in (await store.fact(OWNER, ROME.id)).evidence] == [3], "which a stone needs no more"
    assert await broken(store) == []


@pytest.mark.spec("SAFE-3", "P12")
async def test_another_proof_does_not_hold_up_a_fact_with_words_from_a_forgotten_turn(store: Store) -> None:
    await talk(store, *TEXTS)
    await store_facts(store, ROME)
    await again(store, proof(6, proves=False))
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert await status(store) == "forgotten", "what says it in other words does not prove these"
    assert await store.facts_of_turns(OWNER, "talk", 6, 6), "and it does not come back by them"


@pytest.mark.spec("SAFE-3", "FACT-5")
async def test_a_fact_that_another_turn_proves_in_full_stays_when_the_first_is_forgotten(store: Store) -> None:
    await talk(store, *TEXTS)
    await store_facts(store, ROME)
    await again(store, proof(5))
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert await status(store) == "active"
    await store.forget_turns(OWNER, "talk", 5, 5)
    assert await status(store) == "forgotten", "the turn that gave a word proves nothing"


async def test_a_turn_that_gave_words_and_then_proves_is_both(store: Store) -> None:
    await talk(store, *TEXTS)
    await store_facts(store, ROME)
    await again(store, replace(proof(1), quote="is Ana"))
    first = (await store.fact(OWNER, ROME.id)).evidence[0]
    assert (first.quote, first.proves, first.needed) == ("is Ana", True, True)


async def test_of_very_many_proofs_the_first_and_those_that_gave_words_never_go(store: Store) -> None:
    await talk(store, *TEXTS, *(f"Ana lives in Rome, {n}." for n in range(40)))
    await store_facts(store, ROME)
    for seq in range(7, 47):
        await again(store, Evidence(session="talk", seq=seq, quote="Ana lives in Rome", at=NOON))
    kept = [each.seq for each in (await store.fact(OWNER, ROME.id)).evidence]
    assert (len(kept), kept[:2], kept[-1]) == (EVIDENCE_MAX, [1, 3], 46)
    many = [Evidence(session="talk", seq=seq, quote="Ana", at=NOON, **NEEDED) for seq in range(7, 7 + EVIDENCE_MAX)]
    await again(store, proof(5), *many)
    assert [each.seq for each in (await store.fact(OWNER, ROME.id)).evidence] == kept, "there is no room for so many"


# --- what joined owners both know


async def both(store: Store, **more: str) -> tuple[Fact, Fact]:
    mine = await remember(store, "Ana lives in Rome.")
    return mine, await remember(store, "ana lives in rome", binding=OTHER, **more)


async def known(store: Store, owner: str = OWNER) -> list[str]:
    listed = [each.id for each in await store.facts(owner, WantedFacts(status=None))]
    found = [hit.fact for hit in (await memory_search(store, None, owner, "rome", kinds=("fact",))).hits]
    assert set(found) <= set(listed)
    return listed


@pytest.mark.spec("FACT-5", "P12")
async def test_what_joined_owners_both_know_is_shown_and_found_once_and_parting_undoes_it(store: Store) -> None:
    mine, theirs = await both(store)
    await store.join(OTHER.owner, OWNER)
    assert await known(store) == await known(store, OTHER.owner) == [mine.id]
    assert await store.fact_counts(OWNER) == {"active": 1}
    assert [each.id for each in (await store.remembered(OWNER)).facts] == [mine.id]
    assert (await store.known_facts(OTHER.owner, ["Ana lives in Rome"])).held["Ana lives in Rome"].id == mine.id
    assert (await store.fact(OWNER, theirs.id)).status == "active", "it is there for who asks for it"
    await store.part(OTHER.owner)
    assert (await known(store), await known(store, OTHER.owner)) == ([mine.id], [theirs.id])
    assert [hit.fact for hit in (await memory_search(store, None, OTHER.owner, "rome", kinds=("fact",))).hits]
    assert await broken(store) == []


@pytest.mark.spec("FACT-5")
async def test_what_is_believed_stands_for_what_is_not_and_what_becomes_of_one_becomes_of_both(store: Store) -> None:
    mine, theirs = await both(store)
    waiting = await remember(store, "Ben lives in Rome.", status="pending", why="w")
    believed = await remember(store, "Ben lives in Rome.", binding=OTHER)
    await store.join(OWNER, OTHER.owner)
    assert set(await known(store)) == {mine.id, believed.id}
    newer = await remember(store, "Ana lives in Bonn.", supersedes=theirs.id)
    assert {(await store.fact(OWNER, each.id)).status for each in (mine, theirs)} == {"superseded"}
    await store.part(OWNER)
    assert {each.id for each in await store.facts(OWNER, WantedFacts(status=None))} == {mine.id, waiting.id, newer.id}


@pytest.mark.spec("FACT-11")
async def test_another_type_is_that_of_both_twins_and_what_search_goes_by(store: Store) -> None:
    mine, theirs = await both(store)
    await store.join(OTHER.owner, OWNER)
    version = (await store.known_facts(OWNER, [])).version
    assert (await store.retype_fact(OWNER, theirs.id, "event")).type == "event"
    assert (await store.known_facts(OWNER, [])).version > version, "who compared compares again"
    hits = (await memory_search(store, None, OWNER, "rome", kinds=("fact",), types=("event",))).hits
    assert [hit.fact for hit in hits] == [mine.id]
    await store.part(OTHER.owner)
    assert {(await store.fact(each.owner, each.id)).type for each in (mine, theirs)} == {"event"}
    await store.forget_fact(OWNER, mine.id)
    with pytest.raises(BadInput, match="is forgotten"):
        await store.retype_fact(OWNER, mine.id, "event")
    assert await broken(store) == []


@pytest.mark.spec("FACT-5")
async def test_a_superseded_fact_knows_what_took_its_place_and_so_does_its_twin(store: Store) -> None:
    mine, theirs = await both(store)
    await store.join(OWNER, OTHER.owner)
    assert await store.superseding_fact(OWNER, mine.id) is None, "it stands"
    bonn = await remember(store, "Ana lives in Bonn.", supersedes=theirs.id)
    await remember(store, "Ana lives in Turin.", supersedes=mine.id, status="pending", why="w")
    found = [await store.superseding_fact(OWNER, each.id) for each in (mine, theirs)]
    assert [each and each.id for each in found] == [bonn.id, bonn.id]
    oslo = await remember(store, "Ana lives in Oslo.", supersedes=bonn.id)
    found = [await store.superseding_fact(OWNER, each.id) for each in (mine, bonn)]
    assert [each and each.content for each in found] == [bonn.content, oslo.content]


@pytest.mark.spec("FACT-11", "P12")
@pytest.mark.parametrize("which", [0, 1])
async def test_who_forgets_one_forgets_both(store: Store, which: int) -> None:
    pair = await both(store)
    await store.join(OTHER.owner, OWNER)
    await store.forget_fact(OWNER, pair[which].id)
    await store.part(OTHER.owner)
    assert (await known(store), await known(store, OTHER.owner)) == ([], [])
    assert "facts" not in await holders(store, "Rome")


@pytest.mark.spec("FACT-11", "P12")
async def test_what_both_stated_to_have_it_kept_goes_with_the_fact(store: Store) -> None:
    """Turns on other channels are a conversation, and stay."""
    mine, _ = await both(store)
    await store.join(OTHER.owner, OWNER)
    await store.forget_fact(OWNER, mine.id, stated_on=("elsewhere",))
    assert len(await spoken(store)) == 2
    mine = await remember(store, "Ben lives in Rome.")
    await remember(store, "Ben lives in Rome.", binding=OTHER, way="owner")
    await store.forget_fact(OWNER, mine.id, stated_on=("telegram",))
    assert [text for text in await spoken(store) if "ben" in text.lower()] == []


async def spoken(store: Store) -> list[str]:
    turns = await store.turns_before(OWNER, None, 50)
    return [turn.text for turn in turns if turn.text]


@pytest.mark.spec("LOG-7", "FACT-5")
async def test_owners_that_an_import_joins_show_what_both_know_once(store: Store) -> None:
    mine, _ = await both(store)
    await store.restore_owner(Owner(id=OWNER, created_at=NOON, joined=(OTHER.owner,)))
    assert await known(store) == [mine.id]


@pytest.mark.spec("FACT-11", "P12")
async def test_who_forgets_a_fact_forgets_an_older_one_with_the_same_words(store: Store) -> None:
    older = await remember(store, "Ana lives in Rome.")
    between = await remember(store, "Ana lives in Bonn.", supersedes=older.id)
    newest = await remember(store, "Ana lives in Rome!", supersedes=between.id)
    await store.forget_fact(OWNER, newest.id)
    assert await known(store) == [between.id]
    assert "facts" not in await holders(store, "Rome")


@pytest.mark.spec("FACT-11", "P12")
async def test_a_forgotten_fact_keeps_nothing_that_tells_what_was_known(store: Store) -> None:
    known = await remember(store, "Ana lives in Rome.", type="person", confidence="high")
    await store.forget_fact(OWNER, known.id)
    proof = replace(known.evidence[0], quote="")
    nothing = {"content": "", "type": "other", "confidence": "low", "model": "none", "prompt": "none"}
    left = await store.fact(OWNER, known.id)
    assert left == replace(known, status="forgotten", evidence=(proof,), changed_at=left.changed_at, **nothing)


@pytest.mark.spec("SAFE-3")
async def test_when_the_turn_of_one_is_forgotten_the_other_stands_for_itself(store: Store) -> None:
    mine, theirs = await both(store)
    await store.join(OTHER.owner, OWNER)
    await store.forget_turns(OWNER, mine.session, 1, 1)
    assert await known(store) == [theirs.id]
    assert [hit.fact for hit in (await memory_search(store, None, OWNER, "rome", kinds=("fact",))).hits] == [theirs.id]


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize("root", [OWNER, OTHER.owner])
async def test_when_one_owner_is_forgotten_the_other_keeps_its_own(store: Store, root: str) -> None:
    _, theirs = await both(store)
    await store.join(OTHER.owner if root == OWNER else OWNER, root)
    while not (await store.forget_owner(OWNER)).done:
        pass
    assert await known(store, OTHER.owner) == [theirs.id]


@pytest.mark.spec("LOG-7")
async def test_a_fact_that_is_restored_beside_its_twin_is_not_shown_again(store: Store) -> None:
    mine, theirs = await both(store)
    ((_, digest),) = await store.exported_facts(OTHER.owner)
    await store.join(OTHER.owner, OWNER)
    beach = replace(mine, id="one", content="Ana likes the beach.")
    assert await store.restore_fact(beach, digest_of(OWNER, beach.content))
    twin = replace(beach, owner=OTHER.owner, id="two")
    assert await store.restore_fact(twin, digest_of(OTHER.owner, twin.content))
    assert set(await known(store)) == {mine.id, "one" if OTHER.owner > OWNER else "two"}
    await store.forget_fact(OTHER.owner, theirs.id)
    assert not await store.restore_fact(theirs, digest), "what was forgotten does not come back"


# --- readings


@pytest.mark.spec("FACT-4")
async def test_of_an_owners_readings_the_newest_are_kept(
    store: Store, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "READINGS_KEPT", 3)
    await talk(store, *TEXTS)
    await talk(store, "Hello.", session="other", to=OTHER)
    reading = Reading(claimed=1, stored=0, again=0, dropped={"no such turn": 1}, model="m", prompt="p")
    nobodys = Read(session="other", from_seq=0, to_seq=1, reading=reading)
    await store.commit_facts(OTHER.owner, Gathered(version=0), nobodys)
    for seq in range(6):
        read = Read(session="talk", from_seq=seq, to_seq=seq + 1, reading=replace(reading, claimed=seq))
        await store.commit_facts(OWNER, Gathered(version=0), read)
        clock.move(1 if seq % 2 else 0)  # two at one moment
    assert sorted(each.claimed for _, _, each in await store.readings(OWNER)) == [3, 4, 5]
    assert len(await store.readings(OTHER.owner)) == 1, "another's are another's"


# --- nearness


class Places:
    """An embedder that knows cities from everything else."""

    name = "places"
    fails = False

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.fails:
            raise ModelBusy("not now")
        return [[1.0, 0.1] if "Rome" in text or "capital" in text else [0.1, 1.0] for text in texts]


@pytest.mark.spec("FACT-5")
async def test_facts_are_near_in_meaning_where_there_is_an_embedder_that_answers(store: Store) -> None:
    pytest.importorskip("numpy")
    await remember(store, "Ana lives in Rome.")
    waiting = await remember(store, "Ben lives in Rome.", status="pending", why="w")
    places = Places()
    near = Near(store, lambda: Meaning(store, places))
    nearest = [*await near.active(OWNER, "Ana moved to the capital", 5), *await near.pending(OWNER)]
    found = [each.content for each in nearest]
    assert found == ["Ana lives in Rome.", waiting.content]
    cosines = await near.cosines("Ana moved to the capital", [*found, "Ana likes tea."], {})
    assert cosines == [pytest.approx(1.0, abs=0.01), pytest.approx(1.0, abs=0.01), pytest.approx(0.2, abs=0.01)]
    assert await Near(store, lambda: None).cosines("Ana", found, {}) == [None, None]
    places.fails = True
    assert await near.cosines("Ana", found, {}) == [None, None], "words are enough"


@pytest.mark.spec("FACT-7", "P8")
@pytest.mark.parametrize("status", ["active", "pending"])
async def test_sqlite_lists_facts_of_a_status_in_the_order_of_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: Status
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", FixedClock(NOON))
    executed: list[tuple[str, Any]] = []
    execute = sqlite._SQLiteTx._execute
    monkeypatch.setattr(
        sqlite._SQLiteTx, "_execute", lambda tx, sql, values: executed.append((sql, values)) or execute(tx, sql, values)
    )
    await store.facts(OWNER, WantedFacts(status=status), limit=5)
    ((sql, values),) = [each for each in executed if "FROM facts" in each[0]]

    def plan(tx: Tx) -> str:
        return "\n".join(row["detail"] for row in tx._execute(f"EXPLAIN QUERY PLAN {sql}", values))

    found = await store._read("plan", OWNER, plan)
    assert "USING INDEX facts_newest" in found and "TEMP B-TREE" not in found
    await store.close()


@pytest.mark.spec("FACT-11", "P12")
async def test_a_fact_that_was_superseded_is_forgotten_by_its_own_name_too(store: Store) -> None:
    tea = await remember(store, "Ana likes tea.")
    coffee = await remember(store, "Ana likes coffee.", supersedes=tea.id)
    again = await remember(store, "Ana likes tea.", supersedes=coffee.id)
    stone = await store.forget_fact(OWNER, tea.id)
    assert (stone.id, stone.status, stone.content) == (again.id, "forgotten", ""), "one stone does for both"
    assert [each.content for each in await store.facts(OWNER, WantedFacts(status=None), limit=10)] == [
        "Ana likes coffee."
    ]
    assert await broken(store) == []


@pytest.mark.spec("FACT-5")
async def test_what_was_contradicted_does_not_return_while_another_joined_says_the_same(store: Store) -> None:
    rome = await remember(store, "Ana lives in Rome.")
    bonn = await remember(store, "Ana lives in Bonn.", supersedes=rome.id)
    theirs = await remember(store, "Ana lives in Bonn.", binding=OTHER)
    await store.join(OTHER.owner, OWNER)
    proof = bonn.evidence[0]
    await store.forget_turns(OWNER, proof.session, proof.seq, proof.seq)
    assert (await store.fact(OWNER, rome.id)).status == "superseded"
    assert (await store.fact(OWNER, theirs.id)).status == "active"
    found = await store.superseding_fact(OWNER, rome.id)
    assert found is not None and found.id == theirs.id
    assert await broken(store) == []


@pytest.mark.spec("SAFE-3")
async def test_an_imported_stone_tells_nothing_either(store: Store) -> None:
    known = await remember(store, "Ana lives in Rome.")
    told = {"type": "person", "confidence": "high", "model": "large", "prompt": "facts-1"}
    stone = replace(known, id="1kjq8dwa38y6v9eq", status="forgotten", content="", evidence=(), **told)
    await store.restore_fact(stone, "0" * 32)
    kept = await store.fact(OWNER, stone.id)
    assert (kept.type, kept.confidence, kept.model, kept.prompt) == ("other", "low", "none", "none")
