"""SAFE-7: every change to memory has its line in the audit: who, what, when. Nothing that was said is in it."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from afterglow import acting, failpoints
from afterglow.acting import acting_as
from afterglow.clock import FixedClock
from afterglow.errors import AfterglowError
from afterglow.forgetting import forget_owner, forget_session
from afterglow.store.audit import FORGOTTEN, AuditLine
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Owner
from afterglow.work import Claim, Limits
from afterglow.worker import Commit, Worker
from tests.conftest import OpenStore
from tests.faults import verbs
from tests.faults.verbs import WRITING
from tests.kit.promises import dump
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("SAFE-7")

QUEUE = "the queue is how work is shared out; what the work does to memory has its own line"
LOG = "the log is its own record; who wrote to it has a line where that changes"
GOALS = "goal events, digests and presence are a log of their own"
IMPORT = "a part of an import, of which restore_owner has the line of each owner"
SEARCH = "the index and its vectors are made of memory, and change nothing of it"
SPEND = "what calls cost is an account, and no memory"
CLOCKS = "leases and schedules say who works when"
NOT_AUDITED = {
    **dict.fromkeys(("append", "begin_exchange", "open_session"), LOG),
    **dict.fromkeys(
        ("put_message", "take_messages", "end_messages", "take_back", "stop_listening"),
        "a message that waits is not in the log yet",
    ),
    **dict.fromkeys(("record_goal", "commit_task", "come_in", "handled", "renew_arrival", "end_digest"), GOALS),
    **dict.fromkeys(("claim_daily", "mark_told_due", "commit_prose"), GOALS),
    **dict.fromkeys(("restore_session", "restore_turns", "restore_blocks", "restore_summary", "restore_fact"), IMPORT),
    **dict.fromkeys(("restore_goals", "restore_standing", "restore_task", "restore_message", "mark_read"), IMPORT),
    **dict.fromkeys(("mark_due", "claim", "claim_one", "renew", "finish", "give_back", "retry", "sweep"), QUEUE),
    **dict.fromkeys(("keep_time", "keep_schedule", "take_primary", "leave_primary"), CLOCKS),
    **dict.fromkeys(("use_embedder", "sweep_vectors", "commit_vectors", "drop_old_vectors"), SEARCH),
    **dict.fromkeys(("reserve_spend", "settle_spend"), SPEND),
    "note_use": "when a token was last used stands with the token, to the minute",
    "read_anew": "only how far a session was read; what the reading finds has its line",
    "commit_files": "what the memory files said, and which were left alone; the files follow the facts, and those have lines",
}
"""What writes, and is not in the audit, each with the reason."""
TURNS = ("append", "begin_exchange")
"""What has a line only where another writes to the session than before."""
AUDITED = sorted(set(WRITING) - set(NOT_AUDITED))


async def lines(store: Store, owner: str | None = None) -> list[AuditLine]:
    return await store.audit(EVERYONE if owner is None else owner, limit=1000)


def noted_as(name: str) -> list[str]:
    return re.findall(r'self\._noted\(\s*"(\w+)"', inspect.getsource(getattr(Store, name)))


def test_every_verb_that_writes_is_audited_or_says_why_not() -> None:
    gone = set(NOT_AUDITED) - set(WRITING)
    assert not gone, f"these are no writing verbs any more: {sorted(gone)}"
    missing = [name for name in AUDITED if noted_as(name) != [name]]
    assert not missing, f"run these through self._noted, or name them in NOT_AUDITED with the reason: {missing}"
    assert not [name for name in NOT_AUDITED if noted_as(name)]
    assert len(AUDITED) >= 20


async def test_each_change_writes_one_line_that_says_who_what_and_when(open_store: OpenStore) -> None:
    store = await open_store()
    await verbs.prepare(store)
    for name in WRITING:
        before = {line.id for line in await lines(store)}
        with acting_as(f"cli:{name}"):
            await verbs.VERBS[name](store)
        new = [line for line in await lines(store) if line.id not in before]
        told = [(line.who, line.what, line.at) for line in new]
        what = "append" if name in TURNS else name
        assert told == ([(f"cli:{name}", what, NOON)] if name in AUDITED or name in TURNS else []), name


async def test_of_every_turn_it_can_be_told_who_wrote_it(store: Store) -> None:
    session = (await store.open_session(KATE, "s")).id
    writers = ["library", "token:phone", "token:phone", "mcp:stdio", "library", "library", "token:phone"]
    for number, writer in enumerate(writers):
        with acting_as(writer):
            await store.append(KATE.owner, session, said(f"turn {number}", key=str(number)))
    with acting_as("mcp:stdio"):  # which writes nothing
        await store.append(KATE.owner, session, said("turn 6", key="6"))
    with acting_as("token:phone"):
        await store.append(KATE.owner, (await store.open_session(KATE, "other")).id, said("elsewhere"))
    begun = {
        line.about["first_seq"]: line.who for line in await lines(store) if (line.what, line.session) == ("append", "s")
    }
    assert begun == {2: "token:phone", 4: "mcp:stdio", 5: "library", 7: "token:phone"}
    found = [begun.get(max((first for first in begun if first <= seq), default=0), "library") for seq in range(1, 8)]
    assert found == writers


async def test_a_change_that_does_not_commit_has_no_line_and_one_that_does_has_it(open_store: OpenStore) -> None:
    store = await open_store()
    await verbs.prepare(store)
    for name in AUDITED:
        before, seen = await dump(store), {line.id for line in await lines(store)}
        failpoints.arm(f"{name}:before", "error")
        with pytest.raises(RuntimeError, match="armed to fail"):
            await verbs.VERBS[name](store)
        assert await dump(store) == before, f"{name} did not commit"
        failpoints.arm(f"{name}:after", "error")
        with pytest.raises(RuntimeError, match="armed to fail"):
            await verbs.VERBS[name](store)
        assert [line.what for line in await lines(store) if line.id not in seen] == [name], "it was committed by then"


async def test_what_is_refused_or_changes_nothing_has_no_line(store: Store) -> None:
    await verbs.prepare(store)
    await store.close_session(KATE.owner, "to-close")
    await store.approve_fact(KATE.owner, "pending")
    await store.forget_fact(KATE.owner, "to-forget")
    await store.cancel_task(KATE.owner, "to-cancel")
    token = await store.add_token("phone", "read", "secret of phone")
    await store.revoke_token(token.id)
    await store.forget_turns(KATE.owner, "to-forget", 2, 3)
    before = await lines(store)
    await store.close_session(KATE.owner, "to-close")
    await store.approve_fact(KATE.owner, "pending")
    await store.forget_fact(KATE.owner, "to-forget")
    await store.cancel_task(KATE.owner, "to-cancel")
    await store.revoke_token(token.id)
    await store.forget_turns(KATE.owner, "to-forget", 2, 3)
    for refused in (
        store.close_session(KATE.owner, "nowhere"),
        store.forget_session(KATE.owner, "nowhere"),
        store.forget_owner("nobody"),
        store.join(KATE.owner, "nobody"),
        store.part(KATE.owner),
    ):
        with pytest.raises(AfterglowError):
            await refused
    assert await lines(store) == before


async def test_no_line_holds_a_word_of_what_was_said(store: Store) -> None:
    await verbs.prepare(store)
    for name in AUDITED:
        await verbs.VERBS[name](store)
    told = repr([(line.about, line.what) for line in await lines(store)])
    for word in ("kettle", "stove", "whistles", "hello", "cleared"):
        assert word not in told


async def test_the_worker_acts_under_the_name_of_its_work(store: Store) -> None:
    await store.append(KATE.owner, KATE, said("hello"), named="talk")
    seen: list[str] = []

    async def act(claim: Claim) -> Commit | None:
        seen.append(acting.who())

        async def commit() -> None:
            await store.close_session(KATE.owner, "talk")
            await store.finish(claim)

        return commit

    worker = Worker(store, {"facts": act}, holder="w", limits=Limits(lease_seconds=60))
    await store.mark_due(KATE.owner, verbs._due("facts", "talk"))
    with acting_as("cli:ana"):
        await worker.drain()
        assert acting.who() == "cli:ana"
    await store.reopen_session(KATE.owner, "talk")
    assert seen == ["worker:facts"]
    assert [(line.who, line.what) for line in await lines(store)] == [
        ("library", "reopen_session"),
        ("worker:facts", "close_session"),
    ]


async def test_lines_come_in_pages_the_newest_first_and_from_a_moment_on(open_store: OpenStore) -> None:
    clock = FixedClock(NOON)
    store = await open_store(clock)
    await store.open_session(KATE, "talk")
    for _ in range(3):
        await store.close_session(KATE.owner, "talk")
        clock.move(60)
        await store.reopen_session(KATE.owner, "talk")
    found = await lines(store)
    assert [line.what for line in found] == ["reopen_session", "close_session"] * 3
    assert [line.session for line in found] == ["talk"] * 6
    paged: list[AuditLine] = []
    while page := await store.audit(KATE.owner, limit=4, before=paged[-1] if paged else None):
        paged += page
    assert paged == found
    since = await store.audit(KATE.owner, since=NOON + timedelta(seconds=120))
    assert since == found[:3]


async def test_an_owner_sees_its_own_lines_and_no_others(store: Store) -> None:
    for binding in (KATE, OTHER):
        await store.open_session(binding, binding.sender)
        await store.close_session(binding.owner, binding.sender)
    await store.add_token("all", "read", "secret of all")
    assert [line.owner for line in await lines(store, KATE.owner)] == [KATE.owner]
    assert [line.owner for line in await lines(store)] == ["", OTHER.owner, KATE.owner]
    await store.join(KATE.owner, OTHER.owner)
    assert {line.owner for line in await lines(store, KATE.owner)} == {KATE.owner, OTHER.owner}


async def test_on_postgres_no_role_can_rewrite_a_line(postgres_address: str) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store.open_session(KATE, "talk")
    await store.close_session(KATE.owner, "talk")
    for scope, change in (
        (KATE.owner, "UPDATE audit SET who = 'nobody'"),
        (KATE.owner, "DELETE FROM audit"),
        (EVERYONE, "UPDATE audit SET about = '{}'"),
    ):
        with pytest.raises(AfterglowError, match="permission denied"):
            await store._write("change", scope, lambda tx, change=change: tx.run(change))
    await store.close()


# --- forgetting


async def test_of_a_forgotten_owner_one_line_stays_that_does_not_name_it(store: Store, tmp_path: Path) -> None:
    for binding in (KATE, OTHER):
        await store.append(binding.owner, binding, said(f"the zanzibar4711{binding.sender}"), named=binding.sender)
        await store.close_session(binding.owner, binding.sender)
    await store.join(OTHER.owner, KATE.owner)
    await store.part(OTHER.owner)
    await store.add_token("ana's", "read", "secret", owner=KATE.owner)
    with acting_as("cli:root"):
        done = await forget_owner(store, KATE.owner, verify=True, data_dir=tmp_path)
    assert done.proof is not None and done.proof.clean, done.proof
    found = await lines(store)
    assert [(line.who, line.what) for line in found] == [("cli:root", "forget_owner"), ("library", "close_session")]
    assert found[0].owner.startswith(FORGOTTEN) and found[0].about == {"turns": 1} and found[1].owner == OTHER.owner
    assert KATE.owner not in repr((await dump(store))["audit"])


async def test_without_stones_the_digest_of_the_owner_cannot_be_made_again(store: Store) -> None:
    digests: set[str] = set()
    for _ in range(2):
        await store.append(KATE.owner, KATE, said("hello"))
        await store.forget_owner(KATE.owner, keep_stones=False)
        digests |= {line.owner for line in await lines(store)}
    assert len(digests) == 2
    assert KATE.owner not in repr((await dump(store))["audit"])


async def test_with_stones_the_lines_of_one_owner_can_be_told(store: Store) -> None:
    for _ in range(2):
        await store.append(KATE.owner, KATE, said("hello"))
        await store.forget_owner(KATE.owner)
    assert len(await lines(store)) == 2 and len({line.owner for line in await lines(store)}) == 1


async def test_of_a_forgotten_session_the_lines_stay_without_its_name(store: Store, tmp_path: Path) -> None:
    await store.append(KATE.owner, KATE, said("the zanzibar4712 is red"), named="zanzibar4712")
    await store.close_session(KATE.owner, "zanzibar4712")
    await store.append(KATE.owner, KATE, said("hello"), named="other")
    await store.close_session(KATE.owner, "other")
    session = await store.session(KATE.owner, "zanzibar4712")
    done = await forget_session(store, session, verify=True, data_dir=tmp_path)
    assert done.proof is not None and done.proof.clean, done.proof
    gone, other, closed = await lines(store, KATE.owner)
    assert (gone.what, closed.what, other.session) == ("forget_session", "close_session", "other")
    assert gone.session == closed.session and str(gone.session).startswith(FORGOTTEN)
    assert "zanzibar" not in repr((await dump(store))["audit"])


async def test_an_import_has_one_line_for_each_owner(store: Store) -> None:
    owner = Owner(id=KATE.owner, created_at=NOON, joined=())
    with acting_as("cli:ana"):
        await store.restore_owner(owner)
        await store.restore_session(replace(verbs._restored(), owner=KATE.owner, binding=KATE))
        await store.restore_turns(KATE.owner, "old", 1, [said("hi"), said("ho", "assistant")])
    assert [(line.owner, line.who, line.what) for line in await lines(store)] == [
        (KATE.owner, "cli:ana", "restore_owner")
    ]
