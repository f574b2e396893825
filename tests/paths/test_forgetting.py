"""SAFE-3: what was forgotten stays out of the work that is under way, and goes out of the memory files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afterglow import transfer
from afterglow.clock import FixedClock
from afterglow.errors import NotFound, StoreUnusable
from afterglow.forgetting import forget_owner, forget_session, forget_turns
from afterglow.memory import Memory
from afterglow.model import Completion, Request
from afterglow.model.scripted import ScriptedModel
from afterglow.store.contract import Store
from afterglow.store.facts import WantedFacts
from afterglow.turns import Binding
from afterglow.work import Due
from afterglow.worker import Worker
from tests.kit.facts import remember
from tests.kit.forgetting import (
    LIMITS,
    OWNER,
    SECRET,
    exported,
    holders,
    kinds_due,
    made,
    memory_over,
    secretive,
    talk,
)
from tests.kit.promises import broken
from tests.kit.records import KATE, NOON, OTHER

pytestmark = pytest.mark.spec("SAFE-3", "P12")

SLACK = Binding(agent=KATE.agent, channel="slack", sender=KATE.sender)
"""Another owner with the same agent and sender."""


# --- with a job under way


class Thinking(ScriptedModel):
    """A model that is told something, and does not answer until it is let."""

    def __init__(self, answer: Callable[[Request], str] = secretive) -> None:
        super().__init__(answer)
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.told = ""

    async def complete(self, request: Request) -> Completion:
        self.told += request.material
        self.asked.set()
        await self.may_answer.wait()
        return await super().complete(request)


@pytest.mark.spec("CTX-8")
async def test_a_model_then_writes_the_block_again_from_what_is_left(store: Store, clock: FixedClock) -> None:
    model = ScriptedModel(secretive)
    memory = memory_over(store, model, timeout_summarize_seconds=0, compaction={"keep_recent": 2})
    texts = [f"turn {seq} about {SECRET if seq == 3 else 'tea'} " + "so to speak " * 30 for seq in range(1, 9)]
    await talk(store, *texts)
    worker = Worker(store, {"context": memory.acts["context"]}, holder="w", limits=LIMITS)
    await store.mark_due(OWNER, Due(kind="context", at=NOON, reason="manual", subject="talk"))
    await worker.drain()
    folded = (await store.session(OWNER, "talk")).folded.to_seq
    assert folded == 6 and "blocks" in await holders(store, SECRET)
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert [block.extract for block in (await store.context_rows(OWNER, "talk")).blocks] == [True]
    asked = len(model.requests)
    await worker.drain()
    shown = (await store.context_rows(OWNER, "talk")).blocks
    assert [(block.extract, block.model, block.last_seq) for block in shown] == [(False, "scripted", folded)]
    assert asked < len(model.requests) and SECRET not in "".join(each.material for each in model.requests[asked:])
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


@pytest.mark.spec("P3")
@pytest.mark.parametrize("kind", ["context", "idle", "summary", "facts"])
@pytest.mark.parametrize("what", ["turn", "session", "owner"])
async def test_what_a_job_has_read_before_it_was_forgotten_is_not_committed(
    store: Store, clock: FixedClock, kind: Any, what: str
) -> None:
    model = Thinking()
    memory = memory_over(store, model, timeout_summarize_seconds=60, compaction={"interval": 1, "keep_recent": 2})
    texts = [f"turn {seq} about the weather " + "so to speak " * 30 for seq in range(2, 9)]
    session = await talk(store, f"I really like {SECRET}", *texts)
    clock.move(3600)
    reason = "timer" if kind == "idle" else "manual"
    await store.mark_due(OWNER, Due(kind=kind, at=clock.now(), reason=reason, subject="talk"))
    worker = Worker(store, {kind: memory.acts[kind]}, holder="w", limits=LIMITS)
    working = asyncio.create_task(worker.attend(OWNER, kind, "talk"))
    await asyncio.wait_for(model.asked.wait(), 60)
    assert SECRET in model.told, "it has read it"
    if what == "turn":
        await forget_turns(store, session, 1)
    elif what == "session":
        await forget_session(store, session)
    else:
        await forget_owner(store, OWNER)
    model.may_answer.set()
    await asyncio.wait_for(working, 60)
    assert await holders(store, SECRET) == []
    assert await broken(store) == []
    if what == "turn":
        await Worker(store, memory.acts, holder="w", limits=LIMITS).drain()
        assert await holders(store, SECRET) == []
        if kind == "summary":
            assert await store.summary_of(OWNER, "talk") is not None, "it is made again"
        elif kind == "facts":
            assert (await store.session(OWNER, "talk")).facts_seq == 8, "it is read again"
        else:
            assert (await store.session(OWNER, "talk")).folded.to_seq > 0, "it is folded again"
        assert await broken(store) == []


@pytest.mark.spec("FACT-1")
async def test_the_model_would_have_proved_a_fact_had_nothing_been_forgotten(store: Store) -> None:
    """That the test above can fail at all."""
    await talk(store, f"I really like {SECRET}", "I see")
    memory = memory_over(store)
    await store.mark_due(OWNER, Due(kind="facts", at=NOON, reason="manual", subject="talk"))
    await Worker(store, {"facts": memory.acts["facts"]}, holder="w", limits=LIMITS).drain()
    assert [each.content for each in await store.facts(OWNER, WantedFacts(status=None))] == [f"The user likes {SECRET}"]


# --- the memory files


@pytest.mark.parametrize("what", ["turn", "session", "owner"])
async def test_the_memory_files_say_nothing_of_it_afterwards(store: Store, tmp_path: Path, what: str) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.append(KATE, "user", "hello")
    stated = await memory.facts.add(OWNER, f"The code is {SECRET} today")
    await memory.facts.add(OWNER, "Ana likes tea")
    worker = Worker(store, {"files": memory.files.act}, holder="w", limits=LIMITS)
    await worker.drain()
    folder = tmp_path / "memory"
    assert any(SECRET in path.read_text() for path in folder.rglob("*.json")), "they say it"

    session = await store.session(OWNER, stated.evidence[0].session)
    given: dict[str, Any] = {"verify": True, "data_dir": folder, "rewrite": memory.files.rebuild}
    if what == "turn":
        done = await forget_turns(store, session, stated.evidence[0].seq, **given)
    elif what == "session":
        done = await forget_session(store, session, **given)
    else:
        done = await forget_owner(store, OWNER, **given)
    assert done.proof is not None and done.proof.clean, done.proof
    await worker.drain()
    assert [path for path in folder.rglob("*") if path.is_file() and SECRET in path.read_text()] == []
    contents = [each.content for each in await store.facts(OWNER)]
    assert contents == (["Ana likes tea"] if what == "turn" else []), "nothing is taken in from the files again"


async def joined_over(store: Store, folder: Path) -> Memory:
    """A memory in which OTHER is joined to KATE, who has the folder, and each has stated something."""
    memory = memory_over(store, data_dir=str(folder))
    await memory.facts.add(OWNER, "Ana likes green tea")
    await memory.append(OTHER, "user", "hello there")
    await memory.join(OTHER.owner, OWNER)
    await memory.facts.add(OTHER.owner, f"Ben keeps {SECRET} at home")
    assert SECRET in await memory.files.file_read(OWNER, "facts/index.json"), "one folder tells of both"
    return memory


@pytest.mark.spec("FACT-6")
@pytest.mark.parametrize(
    ("gone", "stays", "left"), [(OTHER, KATE, "green tea"), (KATE, OTHER, SECRET)], ids=["the second", "the first"]
)
async def test_the_files_of_who_was_joined_to_a_forgotten_owner_say_only_what_is_their_own(
    store: Store, tmp_path: Path, gone: Binding, stays: Binding, left: str
) -> None:
    memory = await joined_over(store, tmp_path)
    done = await memory.forget.owner(gone.owner, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    index = await memory.files.file_read(stays.owner, "facts/index.json")
    assert (SECRET in index, "green tea" in index) == (left == SECRET, left == "green tea")
    with pytest.raises(NotFound):
        await memory.files.file_read(gone.owner, "facts/index.json")


@pytest.mark.spec("P3")
@pytest.mark.parametrize("forgotten_before", [0, 1])
async def test_a_kill_before_the_files_are_written_leaves_that_to_the_worker_also_what_cannot_be_read(
    store: Store, tmp_path: Path, forgotten_before: int
) -> None:
    memory = await joined_over(store, tmp_path)
    for _ in range(forgotten_before):
        brief = await memory.facts.add(OTHER.owner, "Ben is tired today")
        await memory.facts.forget(OTHER.owner, brief.id)
    (day,) = [path for path in (tmp_path / "memory").rglob("2*.json") if SECRET in path.read_text()]
    day.write_text(day.read_text()[:-20])
    while not (await store.forget_owner(OTHER.owner)).done:
        pass
    await Worker(store, {"files": memory.files.act}, holder="w", limits=LIMITS).drain()
    assert [path for path in (tmp_path / "memory").rglob("*.json") if SECRET in path.read_text()] == []
    assert "green tea" in day.read_text()


@pytest.mark.spec("FACT-11")
async def test_what_each_of_two_joined_owners_states_is_its_own_also_with_the_same_agent_and_sender(
    store: Store, tmp_path: Path
) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    tea = await memory.facts.add(OWNER, "Ana likes green tea")
    await memory.append(SLACK, "user", "hello there")
    await memory.join(SLACK.owner, OWNER)
    secret = await memory.facts.add(SLACK.owner, f"Ana keeps {SECRET} at home")
    more = [await memory.facts.add(owner, f"{owner} is here") for owner in (OWNER, SLACK.owner)]
    assert (secret.owner, *(each.owner for each in more)) == (SLACK.owner, OWNER, SLACK.owner)
    assert [each.session for each in more] == [tea.session, secret.session], "each goes on where it has begun"
    await memory.part(SLACK.owner)
    assert {each.id for each in await memory.facts.list(SLACK.owner)} == {secret.id, more[1].id}
    await memory.join(SLACK.owner, OWNER)
    done = await memory.forget.owner(SLACK.owner, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert {each.id for each in await memory.facts.list(OWNER)} == {tea.id, more[0].id}


@pytest.mark.spec("FACT-6")
async def test_what_is_changed_in_a_file_is_taken_in_as_that_of_the_joined_owner_who_said_it(
    store: Store, tmp_path: Path
) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.add(OWNER, "Ana likes rye bread")
    await memory.facts.add(SLACK.owner, "Ana likes green tea")
    await memory.join(SLACK.owner, OWNER)
    await memory.facts.rebuild(OWNER)
    (day,) = (tmp_path / "memory").rglob("2*.json")
    for owner, before, after in ((OWNER, "rye", "oat"), (SLACK.owner, "green", "black")):
        day.write_text(day.read_text().replace(before, after))
        (taken,) = (await memory.facts.rebuild(OWNER)).taken
        assert (taken.owner, after in taken.content) == (owner, True)
        assert (await store.session(OWNER, taken.session)).owner == owner


@pytest.mark.spec("FACT-11")
@pytest.mark.parametrize("how", ["forget", "reject"])
async def test_who_forgets_a_fact_is_told_where_the_files_still_hold_it(store: Store, tmp_path: Path, how: str) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    status: dict[str, Any] = {"status": "pending", "why": "a page says so"} if how == "reject" else {}
    known = await remember(store, f"Ana keeps {SECRET} at home", **status)
    await memory.facts.rebuild(OWNER)
    (folder,) = (tmp_path / "memory").glob("*/facts")
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to("elsewhere")
    with pytest.raises(StoreUnusable, match=r"may still hold it: .*facts rebuild"):
        await getattr(memory.facts, how)(OWNER, known.id)
    assert (await memory.facts.show(OWNER, known.id)).status == "forgotten"
    folder.unlink()
    (folder.parent / "elsewhere").rename(folder)
    await memory.facts.forget(OWNER, known.id)
    assert [path for path in (tmp_path / "memory").rglob("*.json") if SECRET in path.read_text()] == []
    assert await kinds_due(store, OWNER) == {}, "the work that was due is done with it"


# --- the files of an owner


async def test_what_an_owner_that_was_forgotten_left_can_go_too(store: Store, tmp_path: Path) -> None:
    await made(store)
    lines = await exported(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.forget.owner(OWNER)
    assert await holders(store, OWNER) == ["stone_salts", "stones"]
    with pytest.raises(NotFound):
        await memory.forget.owner(OWNER)
    await store.add_token("a bot", "read", "a secret", owner=OWNER)
    assert (await memory.forget.owner(OWNER, keep_stones=False)).forgotten.turns == 0
    assert await holders(store, OWNER) == []
    with pytest.raises(NotFound):
        await memory.forget.owner(OWNER, keep_stones=False)
    assert await transfer.import_lines(memory, lines) == 6, "nothing keeps it out"


async def test_when_its_files_have_gone_too_not_even_work_names_an_owner(store: Store, tmp_path: Path) -> None:
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    done = await memory.forget.owner(OWNER, keep_stones=False, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert await holders(store, OWNER) == []
    assert list((tmp_path / "memory").iterdir()) == []


async def test_where_the_files_cannot_be_written_the_log_names_no_owner_all_the_same(
    store: Store, tmp_path: Path
) -> None:
    await made(store)
    log = tmp_path / "afterglow.log"
    log.write_text(f"2026-03-02 12:00:00,000 INFO afterglow: files of {OWNER}\n")

    async def fails(owner: str) -> None:
        raise StoreUnusable("the folder is closed")

    with pytest.raises(StoreUnusable):
        await forget_owner(store, OWNER, data_dir=tmp_path, rewrite=fails)
    assert OWNER not in log.read_text()


async def test_work_that_brings_the_files_of_a_forgotten_owner_leaves_no_name(store: Store, tmp_path: Path) -> None:
    """As where the process that forgot it was killed before it came to the files."""
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    (tmp_path / "afterglow.log").write_text(f"2026-03-02 12:00:00,000 INFO afterglow: files of {OWNER}\n")
    while not (await store.forget_owner(OWNER, keep_stones=False)).done:
        pass
    await memory.facts.write_files(OWNER)
    assert await holders(store, OWNER) == []
    assert OWNER not in (tmp_path / "afterglow.log").read_text()
    assert list((tmp_path / "memory").iterdir()) == []


async def test_a_folder_that_stays_for_what_is_in_it_is_told_since_it_has_the_name(
    store: Store, tmp_path: Path
) -> None:
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    (folder,) = (tmp_path / "memory").iterdir()
    (folder / "mine.txt").write_text("of my own")
    done = await memory.forget.owner(OWNER, keep_stones=False, verify=True)
    assert done.proof is not None and not done.proof.clean
    why = "since somebody put a file of their own into it (mine.txt); move that away, and remove the folder"
    assert done.proof.found == (f"{folder}: its name, {why}",)
    assert (folder / "mine.txt").exists()
