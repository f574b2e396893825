"""SAFE-3: the proof that what was forgotten is gone: where it looks, what it finds, and of what it says nothing."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import StoreUnavailable
from afterglow.forgetting import forget_owner, forget_session, forget_turns
from afterglow.proof import pieces, prove
from afterglow.store import remaking
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding
from tests.faults import verbs
from tests.kit.databases import all_indexed
from tests.kit.forgetting import (
    OWNER,
    RUN,
    SECRET,
    canaries,
    fact,
    made,
    memory_over,
    merged,
    store_facts,
    talk,
)
from tests.kit.loops import for_each
from tests.kit.promises import broken
from tests.kit.records import OTHER

pytestmark = pytest.mark.spec("SAFE-3", "P12")


def own_folder(folder: Path) -> Path:
    """One more folder in this one, for a round of a loop."""
    return Path(tempfile.mkdtemp(dir=folder))


async def test_of_whom_nothing_is_left_to_look_for_there_is_no_proof(store: Store, tmp_path: Path) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await made(store)
    await talk(store, "hello", session="other", to=Binding(agent="kate", channel="telegram", sender="anastasia"))
    await memory.forget.owner(OWNER)
    assert (await memory.forget.owner(OWNER, keep_stones=False, verify=True)).proof is None


async def test_a_name_that_stands_in_anothers_is_not_proved_gone(store: Store, tmp_path: Path) -> None:
    short, long = (Binding(agent="kate", channel="tg", sender=sender) for sender in ("42", "421"))
    memory = memory_over(store, data_dir=str(tmp_path))
    for each in (short, long):
        await memory.append(each, "user", "I like green tea a lot")
    done = await memory.forget.owner(short.owner, keep_stones=False, verify=True)
    assert done.proof is not None
    assert f"the name {short.owner}, since it stands in that of {long.owner} too" in done.proof.not_looked_at


async def test_the_proof_names_the_turn_that_still_says_the_words(store: Store, tmp_path: Path) -> None:
    session = await talk(store, f"the code is {SECRET} today", f"so the code is {SECRET}, I see")
    done = await forget_turns(store, session, 1, verify=True)
    assert done.proof is not None and done.proof.clean
    assert any("session talk, seq 2" in place for place in done.proof.said_elsewhere)


async def test_words_of_another_owner_prove_nothing(store: Store) -> None:
    session = await talk(store, f"the code is {SECRET} today", "I see")
    await talk(store, "one", "two", to=OTHER, session="talk")
    block = verbs.block("talk", 1, 2, text=f"something about {SECRET}")
    await store.commit_blocks(OTHER.owner, "talk", verbs.change(block))
    done = await forget_turns(store, session, 1, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert any(place.startswith("table blocks") for place in done.proof.said_elsewhere)


async def test_the_proof_finds_a_block_that_still_says_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await merged(store)
    monkeypatch.setattr(remaking, "remake_blocks", lambda *_: 0)
    done = await forget_turns(store, await store.session(OWNER, "talk"), 3, verify=True)
    assert done.proof is not None and not done.proof.clean
    assert any(place.startswith("table blocks (session talk, number 2") for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_the_proof_looks_for_the_facts_that_went_too(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "peanuts make my throat swell", "I see")
    await store_facts(store, fact("Ana must never eat peanuts", ("talk", 1), id="f1"))
    (tmp_path / "copy.txt").write_text("a note: Ana must never eat peanuts")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and not done.proof.clean
    assert any("copy.txt" in place for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_a_fact_that_another_turn_proves_too_is_no_trace_of_what_was_forgotten(store: Store) -> None:
    session = await talk(store, "peanuts make my throat swell", "I see", "they really do make it swell")
    await store_facts(store, fact("Ana must never eat peanuts", ("talk", 1), ("talk", 3)))
    done = await forget_turns(store, session, 1, verify=True)
    assert [each.content for each in await store.facts(OWNER)] == ["Ana must never eat peanuts"]
    assert done.proof is not None and done.proof.clean, done.proof


async def test_the_proof_finds_what_is_left_in_a_file_of_the_data_folder(store: Store, tmp_path: Path) -> None:
    session = await talk(store, f"the code is {SECRET} today", "I see")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "2026-03-02.md").write_text(f"# Monday\n- the code is {SECRET} today\n", encoding="utf-16")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean
    assert {place.partition(": ")[0] for place in done.proof.found} == {str(folder / "2026-03-02.md")}

    async def rewrite(owner: str) -> None:
        (folder / "2026-03-02.md").write_text("# Monday\n")

    session = await talk(store, f"the code is {SECRET} today", "I see", session="again")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder, rewrite=rewrite)
    assert done.proof is not None and done.proof.clean


async def test_the_proof_names_files_and_folders_that_it_may_not_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    (folder / "locked").mkdir(parents=True)
    (folder / "closed.txt").write_text("x")
    (folder / "copy.txt").write_text(f"the code is {SECRET} today")
    opening, listing = Path.open, os.scandir

    def open_some(path: Path, *given: Any, **more: Any) -> Any:
        if path.name == "closed.txt":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opening(path, *given, **more)

    def list_some(path: Any = ".") -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(Path, "open", open_some)
    monkeypatch.setattr(os, "scandir", list_some)
    session = await talk(store, f"the code is {SECRET} today", "I see")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean, "the other files are searched"
    for name in ("closed.txt", "locked"):
        assert f"{folder / name}: it cannot be read (Permission denied)" in done.proof.not_looked_at
    assert str(folder / "closed.txt") not in done.proof.looked_at


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.whole)])
async def test_of_many_sessions_every_second_is_forgotten_to_the_last_byte(store: Store, count: int) -> None:
    sessions = await canaries(store, count)
    if isinstance(store, SQLiteStore):
        await all_indexed(store.path)
    for session in sessions[::2]:
        await forget_session(store, session)
    words = [f"canary{number:04d}{RUN}" for number in range(count)]
    proof = await prove(store, words[::2], owner=OWNER)
    assert proof.clean, proof.found[:5]
    assert proof.said_elsewhere == ()
    if isinstance(store, SQLiteStore):
        assert str(store.path) in proof.looked_at
        whole = b"".join(path.read_bytes() for path in store.path.parent.glob("afterglow.db*"))
        assert [word for word in words[::2] if word.encode() in whole] == []
        assert all(word.encode() in whole for word in words[1::2]), "that it can be found at all"
    found = [await store.word_matches(OWNER, [word]) for word in words]
    assert {turn.session for each in found for turn in each.turns} == {session.id for session in sessions[1::2]}
    assert await broken(store) == []


@pytest.mark.parametrize("is_sampled", [False, pytest.param(True, marks=pytest.mark.both)])
async def test_a_forgotten_owner_is_gone_to_the_last_byte(store: Store, is_sampled: bool) -> None:
    await canaries(store, 5)
    if is_sampled:
        await store.scrub()  # in which PostgreSQL's planner takes samples of rows, and keeps them when there are none
    done = await forget_owner(store, OWNER, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert len(done.proof.looked_at) > 1, "the files were searched, on both databases"


@pytest.mark.both
async def test_a_forgotten_turn_is_gone_to_the_last_byte(store: Store) -> None:
    sessions = await canaries(store, 5)
    for session in sessions:
        last = (await store.session(OWNER, session.id)).turns
        done = await forget_turns(store, session, 1, last, verify=True)
        assert done.proof is not None and done.proof.clean, done.proof


async def test_bytes_that_belong_to_no_row_are_found_and_written_over(store: Store, tmp_path: Path) -> None:
    if not isinstance(store, SQLiteStore):
        pytest.skip("pages are SQLite's")
    session = await talk(store, f"the code is {SECRET} today", "I see")

    def without_overwriting(tx: Tx) -> None:
        tx.run("PRAGMA secure_delete = OFF")

    await store._write("pragma", EVERYONE, without_overwriting)
    await forget_turns(store, session, 1)
    await store.scrub()
    assert SECRET.encode() in store.path.read_bytes(), "they are left behind"
    proof = await prove(store, [SECRET], owner=OWNER, session="talk")
    assert proof.clean, proof
    assert SECRET.encode() not in store.path.read_bytes()


def test_a_text_is_recognised_by_its_runs_of_words_and_its_rare_words() -> None:
    found = pieces("My code is Zulu99887 and nobody knows it")
    assert "Zulu99887" in found and "zulu99887" in found and "code is Zulu99887" in found
    assert pieces("My pin") == ["My pin"] and pieces(" \n") == []


@pytest.mark.spec("SAFE-3")
@for_each(
    "text, found",
    [
        ("I prefer the aisle", ["prefer the aisle"]),
        ("I would like to meet Carla in Lisbon", ["Carla in Lisbon", "meet Carla in Lisbon"]),
        ("I think it will be good to go on", ["I think it will be good", "will be good to go on"]),
        ("I prefer the", ["I prefer the"]),
        ("My cat is red", ["My cat is red"]),
    ],
)
def test_common_words_alone_tell_nothing_unless_there_are_no_others(text: str, found: list[str]) -> None:
    assert set(found) <= set(pieces(text))
    assert not {"I prefer the", "would like to"} & set(pieces(text)) - {text}


@pytest.mark.spec("SAFE-3")
async def test_a_proof_is_not_drowned_by_words_that_are_common(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "I prefer the aisle seat near galley four", "I prefer the window", "I prefer the train")
    (tmp_path / "copy.txt").write_text("noted: aisle seat near galley")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and done.proof.said_elsewhere == ()
    assert any("copy.txt" in place for place in done.proof.found), "what is left is found"


@pytest.mark.spec("SAFE-3")
@for_each(
    "text, left",
    [
        (
            "My sister and I went to Lisbon. I am not going to be with him any more, I do not want to be.",
            "I am not going to be with him any more",
        ),
        ("I do not want him to know about it. Carla visited Lisbon yesterday evening.", "I do not want him to know"),
        ("Bob has HIV now", "note: Bob has HIV now."),
        ("From the list of today:\nAspirin 100mg\nCipralex 10mg", "Cipralex 10mg"),
        (
            " ".join(f"the {a}{b} quokka" for a in "abcde" for b in "klmn") + " my dog Rufus barked",
            "my dog Rufus barked",
        ),
    ],
)
async def test_what_is_left_of_any_part_of_a_text_is_found(store: Store, tmp_path: Path, text: str, left: str) -> None:
    folder = own_folder(tmp_path)
    session = await talk(store, text, session=folder.name)
    (folder / "copy.txt").write_text(left)
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean
    assert any("copy.txt" in place for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_of_a_turn_that_was_forgotten_before_nothing_is_proved(store: Store) -> None:
    session = await talk(store, "the quokka lives in Lisbon", "yes")
    assert (await forget_turns(store, session, 1, verify=True)).proof is not None
    again = await forget_turns(store, session, 1, verify=True)
    assert (again.forgotten.turns, again.proof) == (0, None)
    brief = await forget_turns(store, session, 1, 2, verify=True)
    assert brief.proof is not None
    assert (brief.proof.sought, brief.proof.clean, brief.proof.found) == (0, False, ()), "it is too short to tell"


@for_each("text", ["PIN is 4471", "#4471", "bread\nbutter\nquince", "密码是零"])
async def test_a_short_text_is_looked_for_as_a_whole(store: Store, tmp_path: Path, text: str) -> None:
    folder = own_folder(tmp_path)
    session = await talk(store, text, "I see", session=folder.name)
    (folder / "copy.log").write_text(f"it was said: {text}!")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean
    assert any(place.startswith(str(folder / "copy.log")) for place in done.proof.found)


async def test_the_proof_says_of_how_many_texts_it_can_say_nothing(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "yes", "ok", f"the code is {SECRET} today", "yes")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and "1 text is too short to be looked for" in done.proof.not_looked_at
    done = await forget_turns(store, session, 2, 4, verify=True, data_dir=tmp_path)
    assert done.proof is not None and "2 texts are too short to be looked for" in done.proof.not_looked_at


async def test_a_proof_that_the_database_has_no_time_for_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*, whole: bool = False) -> None:
        raise StoreUnavailable("another process holds it")

    session = await talk(store, f"the code is {SECRET} today", "I see")
    monkeypatch.setattr(store, "scrub", busy)
    done = await forget_turns(store, session, 1, verify=True)
    assert done.forgotten.turns == 1 and done.proof is not None
    assert any("another process holds it" in each for each in done.proof.not_looked_at)
