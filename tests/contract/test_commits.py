"""A result is committed only by the process that may still commit it.

Three guards stand before a commit, and each is taken for itself here, with the others satisfied: the claim (fencing), the
place that the work began at (watermarks of sessions, versions of blocks, facts and embedders), and whether what the result
was compared with is as it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import ClaimLost
from afterglow.facts import Evidence
from afterglow.store import forgetting
from afterglow.store.arrivals import Arriving, Handler
from afterglow.store.contract import Store
from afterglow.store.facts import Again, FactsChanged, Gathered, WantedFacts
from afterglow.store.files import WrittenFiles
from afterglow.store.goals import Step
from afterglow.store.presence import Arrival
from afterglow.store.readings import Read
from afterglow.turns import Binding
from afterglow.work import Claim, Due, Kind, Limits
from tests.faults import verbs
from tests.kit.facts import remember
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, OTHER, said

OWNER = KATE.owner
LIMITS = Limits(lease_seconds=60, attempts_max=10)

Commit = Callable[[Store, Claim], Awaitable[Any]]


async def claimed(store: Store, kind: Kind, subject: str = "talk", *, holder: str = "w") -> Claim:
    """The claim on work that is due now."""
    await store.mark_due(OWNER, Due(kind=kind, at=store.clock.now(), reason="interval", subject=subject))
    claim = await store.claim_one(OWNER, kind, subject, holder=holder, limits=LIMITS)
    assert claim is not None
    return claim


async def begin(store: Store, *bindings: Binding) -> None:
    """Two sessions of four turns, and four facts that the first of them proves: one is to take another's place."""
    for binding in bindings or (KATE,):
        for session in ("talk", "to-fold"):
            await store.open_session(binding, session)
            for seq in range(1, 5):
                turn = said(f"turn {seq}", "user" if seq % 2 else "assistant")
                await store.append(binding.owner, session, turn)
        new = (
            verbs.fact("known", binding=binding),
            verbs.fact("pending", binding=binding, content="The kettle is blue.", status="pending", supersedes="known"),
            verbs.fact("to-forget", binding=binding, content="The stove is old."),
            verbs.fact("steady", binding=binding, content="The lid is white."),
        )
        await store.commit_facts(binding.owner, Gathered(version=0, new=new))


async def refused(
    store: Store, late: Awaitable[Any], error: type[ClaimLost] = ClaimLost, match: str | None = None
) -> None:
    """The commit raises, and every row is as it was."""
    before = await dump(store)
    with pytest.raises(error, match=match) as raised:
        await late
    assert type(raised.value) is error
    assert await dump(store) == before


# --- fencing


async def _commit_facts(store: Store, claim: Claim) -> Any:
    known = await store.known_facts(OWNER, [])
    gathered = Gathered(version=known.version, new=(verbs.fact("new", content="It is hot."),))
    return await store.commit_facts(OWNER, gathered, Read(session="talk", from_seq=0, to_seq=3, claim=claim))


async def _commit_blocks(store: Store, claim: Claim) -> Any:
    change = verbs.change(verbs.block("to-fold", 1, 2), turns=4, exchanges=2)
    return await store.commit_blocks(OWNER, "to-fold", change, claim)


async def _commit_files(store: Store, claim: Claim) -> Any:
    written = WrittenFiles(digests={(OWNER, "facts/index.json"): "newer"}, forgettings={OWNER: 1}, troubles=())
    return await store.commit_files(OWNER, written, claim)


async def _commit_vectors(store: Store, claim: Claim) -> Any:
    generation = (await store.generations(OWNER))[0].number
    waiting = await store.unembedded(OWNER, 2)
    return await store.commit_vectors(claim, generation, [(each.id, b"\1\2") for each in waiting])


async def _commit_task(store: Store, claim: Claim) -> Any:
    done = replace(await store.task(OWNER, "to-run"), state="done", next_at=None, runs=1)
    return await store.commit_task(claim, done, _step("kate", "run"))


def _step(agent: str, step: str) -> Step:
    return Step(agent=agent, goal="boil", step=step, outcome="completed", title="Boil water", note="", at=NOON)


COMMITS: dict[str, tuple[Kind, str, Commit]] = {
    "commit_facts": ("facts", "talk", _commit_facts),
    "commit_blocks": ("context", "to-fold", _commit_blocks),
    "commit_summary": (
        "summary",
        "to-fold",
        lambda store, claim: store.commit_summary(OWNER, verbs.summary("to-fold"), before_seq=0, claim=claim),
    ),
    "clear_session": (
        "clear",
        "to-clear",
        lambda store, claim: store.clear_session(OWNER, "to-clear", said("cleared", "system"), claim),
    ),
    "commit_files": ("files", OWNER, _commit_files),
    "commit_vectors": ("vectors", "to-embed", _commit_vectors),
    "commit_task": ("task", "to-run", _commit_task),
    "take_messages": ("reply", "taken", lambda store, claim: store.take_messages(claim)),
    "end_messages": ("reply", "answered", lambda store, claim: store.end_messages(claim, ["first"])),
    "claim_daily": ("digest", "daily", lambda store, claim: store.claim_daily(claim, max_events=5)),
    "commit_prose": ("prose", "prosed", lambda store, claim: store.commit_prose(claim, 1, "It boils.", 0.001)),
    "renew": ("facts", "to-renew", lambda store, claim: store.renew(claim, LIMITS)),
    "give_back": (
        "facts",
        "to-give-back",
        lambda store, claim: store.give_back(claim, "no", wait_seconds=5, park=False),
    ),
    "finish": ("facts", "to-finish", lambda store, claim: store.finish(claim)),
}
GO_ON = {"commit_facts", "commit_vectors", "take_messages", "renew", "give_back"}
"""They do not end their claim, or leave the work for later."""


@pytest.mark.spec("P3")
async def test_a_result_whose_claim_another_process_has_taken_is_refused_and_changes_nothing(
    store: Store, clock: FixedClock, subtests: pytest.Subtests
) -> None:
    """Nothing else stands in its way: no watermark and no version has moved, and the other process commits the same."""
    await verbs.prepare(store)
    for name, (kind, subject, commit) in COMMITS.items():
        with subtests.test(verb=name):
            clock.move(3600)  # no claim of before holds any longer
            late = await claimed(store, kind, subject, holder="slow")
            clock.move(LIMITS.lease_seconds)
            taken = await store.claim_one(OWNER, kind, subject, holder="quick", limits=LIMITS)
            assert taken is not None
            await refused(store, commit(store, late), match="has passed on")
            await commit(store, taken)
            held = {each.subject for each in await store.work_list(OWNER, "claimed", kind=kind)}
            assert (subject in held) == (name in GO_ON - {"give_back"})
    assert await broken(store) == []


# --- the place that the work began at


@pytest.mark.spec("P3", "FACT-2")
async def test_a_reading_that_does_not_begin_where_the_session_was_read_to_is_refused_though_its_claim_holds(
    store: Store,
) -> None:
    await begin(store)
    claim = await claimed(store, "facts")
    await store.commit_facts(OWNER, Gathered(version=0), Read(session="talk", from_seq=0, to_seq=2, claim=claim))
    version = (await store.known_facts(OWNER, [])).version
    for from_seq, to_seq in ((0, 3), (1, 3), (3, 4)):
        read = Read(session="talk", from_seq=from_seq, to_seq=to_seq, claim=claim, reading=verbs.READING)
        gathered = Gathered(version=version, new=(verbs.fact("new", content="It is hot."),))
        await refused(store, store.commit_facts(OWNER, gathered, read), match="meanwhile")
    await store.commit_facts(OWNER, gathered, replace(read, from_seq=2))
    assert (await store.session(OWNER, "talk")).facts_seq == 4


@pytest.mark.spec("P3", "FACT-2")
async def test_a_reading_of_turns_that_are_not_there_is_refused(store: Store) -> None:
    await begin(store)
    read = Read(session="talk", from_seq=0, to_seq=5)
    await refused(store, store.commit_facts(OWNER, Gathered(version=0), read), match="is being forgotten")


@pytest.mark.spec("P3", "P12")
async def test_a_reading_of_a_session_that_is_being_forgotten_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(store)
    monkeypatch.setattr(forgetting, "TURNS_AT_ONCE", 1)
    assert not (await store.forget_session(OWNER, "talk")).done
    session = await store.session(OWNER, "talk")
    read = Read(session="talk", from_seq=session.facts_seq, to_seq=session.turns)
    await refused(store, store.commit_facts(OWNER, Gathered(version=0), read), match="is being forgotten")


@pytest.mark.spec("P3", "CTX-8")
async def test_blocks_that_began_at_another_version_are_refused_though_their_claim_holds(store: Store) -> None:
    await begin(store)
    claim = await claimed(store, "context", "to-fold")
    await store.commit_blocks(OWNER, "to-fold", verbs.change(verbs.block("to-fold", 1, 2)))
    for version in (0, 2):
        for block in (verbs.block("to-fold", 1, 2), verbs.block("to-fold", 3, 4)):
            late = store.commit_blocks(OWNER, "to-fold", verbs.change(block, version=version), claim)
            await refused(store, late, match="meanwhile")
    change = verbs.change(verbs.block("to-fold", 3, 4), version=1)
    assert (await store.commit_blocks(OWNER, "to-fold", change, claim)).folded.to_seq == 4


@pytest.mark.spec("P3", "SUM-11")
async def test_a_summary_that_began_at_another_place_is_refused_though_its_claim_holds(store: Store) -> None:
    await begin(store)
    claim = await claimed(store, "summary", "to-fold")
    early = replace(verbs.summary("to-fold"), last_seq=2, title="Early")
    await store.commit_summary(OWNER, early, before_seq=0)
    for before_seq in (0, 1, 3):
        late = store.commit_summary(OWNER, verbs.summary("to-fold"), before_seq=before_seq, claim=claim)
        await refused(store, late, match="meanwhile")
    await store.commit_summary(OWNER, verbs.summary("to-fold"), before_seq=2, claim=claim)
    assert await store.work_list(OWNER, "claimed", kind="summary") == []


@pytest.mark.spec("P3", "FACT-9")
async def test_vectors_of_an_embedder_that_is_no_longer_in_use_are_refused_though_their_claim_holds(
    store: Store,
) -> None:
    await begin(store)
    await store.use_embedder("an embedder")
    await store.sweep_vectors()
    claim = await claimed(store, "vectors", OWNER)
    waiting = await store.unembedded(OWNER, 1)
    await store.use_embedder("another embedder")
    for generation in (1, 3):
        late = store.commit_vectors(claim, generation, [(each.id, b"\1\2") for each in waiting])
        await refused(store, late, match="another embedder is in use now")


# --- what happened meanwhile


@pytest.mark.spec("P3", "IDLE-3")
async def test_a_session_that_is_no_longer_quiet_is_not_cleared_by_its_timer(store: Store) -> None:
    await begin(store)
    before = await store.session(OWNER, "talk")
    claim = await claimed(store, "clear")
    await store.clear_session(OWNER, "talk", said("cleared", "system"), claim)
    assert await store.session(OWNER, "talk") == before and before.state == "open"
    assert await store.work_list(OWNER, kind="clear") == [], "and the work is done"


@pytest.mark.spec("P3", "AGENT-7")
async def test_a_task_that_was_cancelled_during_its_run_stays_cancelled_and_its_run_is_written_down(
    store: Store,
) -> None:
    await store.add_task(verbs.task(KATE, "to-run"))
    claim = await claimed(store, "task", "to-run")
    there = await store.task(OWNER, "to-run")
    await store.cancel_task(OWNER, "to-run")
    ran = await store.commit_task(claim, replace(there, runs=1, note="It boiled."), _step(KATE.agent, "run"))
    assert (ran.state, ran.next_at, ran.runs, ran.note) == ("cancelled", None, 1, "It boiled.")
    assert await store.task(OWNER, "to-run") == ran
    assert len(await store.goal_events(OWNER, KATE.agent)) == 1
    assert await store.work_list(OWNER, kind="task") == [], "it runs no more"


# --- what the result was compared with


def _gathered(name: str, version: int, binding: Binding = KATE, **more: Any) -> Gathered:
    return Gathered(version=version, new=(verbs.fact(name, binding=binding, **more),))


async def _contents(store: Store, owner: str = OWNER) -> list[str]:
    return sorted(each.content for each in await store.facts(owner, WantedFacts(status=None)))


@pytest.mark.spec("P3", "FACT-5")
async def test_of_two_sessions_whose_facts_were_compared_with_the_same_ones_the_second_compares_again(
    store: Store,
) -> None:
    """Neither watermark nor claim is in the way of the second: it read another session, and holds the claim on it."""
    await begin(store)
    claims = {session: await claimed(store, "facts", session) for session in ("talk", "to-fold")}
    before, version = await _contents(store), (await store.known_facts(OWNER, [])).version

    def commit(session: str, name: str, content: str, version: int) -> Awaitable[Any]:
        proof = Evidence(session=session, seq=1, quote="", at=NOON)
        gathered = _gathered(name, version, session=session, content=content, evidence=(proof,))
        return store.commit_facts(
            OWNER, gathered, Read(session=session, from_seq=0, to_seq=3, claim=claims[session], reading=verbs.READING)
        )

    await commit("talk", "one", "Ana lives in Rome.", version)
    await refused(store, commit("to-fold", "two", "Rome is where Ana lives.", version), FactsChanged)
    assert await _contents(store) == sorted([*before, "Ana lives in Rome."])
    assert (await store.session(OWNER, "to-fold")).facts_seq == 0
    await commit("to-fold", "two", "Rome is where Ana lives.", (await store.known_facts(OWNER, [])).version)
    assert (await store.session(OWNER, "to-fold")).facts_seq == 3, "compared again, it is committed"


@pytest.mark.spec("P3", "FACT-5")
async def test_facts_are_compared_again_whatever_changed_among_those_of_the_owner_and_of_owners_joined_to_it(
    store: Store, subtests: pytest.Subtests
) -> None:
    await begin(store)
    await remember(store, "Ben lives in Rome.", binding=verbs.GONE)
    changes: dict[str, Callable[[], Awaitable[Any]]] = {
        "approved": lambda: store.approve_fact(OWNER, "pending"),
        "retyped": lambda: store.retype_fact(OWNER, "pending", "event"),
        "forgotten": lambda: store.forget_fact(OWNER, "to-forget"),
        "joined": lambda: store.join(verbs.GONE.owner, OWNER),
        "stored by the joined owner": lambda: remember(store, "Ben lives in Bonn.", binding=verbs.GONE),
    }
    again = Again(
        owner=OWNER,
        fact="steady",
        evidence=Evidence(session="talk", seq=3, quote="thanks", at=NOON),
        believed=True,
    )
    for name, change in changes.items():
        version = (await store.known_facts(OWNER, [])).version
        await change()
        with subtests.test(change=name):
            for gathered in (_gathered(name, version, content=f"{name}."), Gathered(version=version, again=(again,))):
                await refused(store, store.commit_facts(OWNER, gathered), FactsChanged)
    read = Read(session="talk", from_seq=0, to_seq=3)
    await store.commit_facts(OWNER, Gathered(version=0), read)
    assert (await store.session(OWNER, "talk")).facts_seq == 3, "a reading that found nothing has nothing to compare"


@pytest.mark.spec("P3", "FACT-5", "FACT-11")
async def test_a_fact_in_the_words_of_one_that_is_known_or_was_forgotten_is_not_stored_at_any_version(
    store: Store,
) -> None:
    await begin(store)
    await store.forget_fact(OWNER, "to-forget")
    version = (await store.known_facts(OWNER, [])).version
    known = [
        (content, way) for content in ("The kettle is red.", "the kettle is RED!") for way in ("extracted", "owner")
    ]
    for content, way in (*known, ("The stove is old.", "extracted")):
        late = store.commit_facts(OWNER, _gathered("new", version, content=content, way=way))
        await refused(store, late, FactsChanged)
    await store.commit_facts(OWNER, _gathered("new", version, content="The stove is old.", way="owner"))
    assert "The stove is old." in await _contents(store), "the owner may state it again"


@pytest.mark.spec("P3", "FACT-11")
async def test_a_proof_of_a_fact_that_is_forgotten_or_superseded_is_refused_at_any_version(store: Store) -> None:
    await begin(store)
    await store.forget_fact(OWNER, "to-forget")
    await store.approve_fact(OWNER, "pending")
    assert (await store.fact(OWNER, "known")).status == "superseded"
    version = (await store.known_facts(OWNER, [])).version
    for fact in ("known", "to-forget", "not there"):
        proof = Evidence(session="talk", seq=3, quote="thanks", at=NOON)
        again = Again(owner=OWNER, fact=fact, evidence=proof, believed=True)
        await refused(store, store.commit_facts(OWNER, Gathered(version=version, again=(again,))), FactsChanged)


@pytest.mark.spec("SAFE-2")
async def test_the_counts_of_one_owner_include_no_fact_of_another(store: Store) -> None:
    await begin(store, KATE, OTHER)
    alone = await store.fact_counts(OWNER)
    assert alone == {"active": 3, "pending": 1}
    known = await store.known_facts(OTHER.owner, [])
    more = tuple(verbs.fact(f"more {n}", binding=OTHER, content=f"Ben has {n} cups.") for n in range(3))
    await store.commit_facts(OTHER.owner, Gathered(version=known.version, new=more))
    assert await store.fact_counts(OWNER) == alone
    assert await store.fact_counts(OTHER.owner) == {"active": 6, "pending": 1}


@pytest.mark.spec("P3", "P12")
async def test_files_that_are_written_late_do_not_count_as_older_than_those_that_were_written_before_them(
    store: Store,
) -> None:
    tea = await remember(store, "Ana likes tea.")

    async def write(forgotten: int) -> bool:
        written = WrittenFiles(digests={}, forgettings={OWNER: forgotten}, troubles=())
        await store.commit_files(OWNER, written)
        return (await store.remembered(OWNER)).is_behind

    await store.forget_fact(OWNER, tea.id)
    assert await write(0), "its facts were read before that was forgotten"
    assert not await write(1)
    assert not await write(0), "the files of the other writer stand"


# --- what happened in an absence


async def comes_in(store: Store, message: str) -> Arrival:
    handler = Handler(name="w", token=5)
    came = Arriving(binding=KATE, message=message, handler=handler, lease_seconds=60)
    return await store.come_in(OWNER, came, verbs.EVERY_TIME)


async def boils(store: Store, times: int) -> None:
    """What happens so often is so many events."""
    await store.record_goal(OWNER, _step(KATE.agent, f"step {times}"))
    assert len(await store.goal_events(OWNER, KATE.agent)) == times


@pytest.mark.spec("P3", "AWAY-7")
async def test_words_about_events_are_kept_only_while_those_are_the_newest_and_not_told(
    store: Store, clock: FixedClock
) -> None:
    async def says(about: int, text: str) -> str | None:
        claim = await claimed(store, "prose", KATE.agent)
        await store.commit_prose(claim, about, text, 0.001)
        return (await store.absence(OWNER, KATE.agent, max_events=5)).prose

    await comes_in(store, "first")
    clock.move(3600)
    await boils(store, 1)
    assert await says(1, "It boils.") == "It boils."
    await boils(store, 2)
    assert await says(1, "It boiled then.") is None, "it says nothing of the newest event"
    assert await says(2, "Both boil.") == "Both boil."
    assert await says(1, "It boiled then.") == "Both boil.", "nor does it take the place of what does"
    assert (await comes_in(store, "back")).digest is not None
    told = await store.presence(OWNER, KATE.agent)
    assert await says(2, "Both boil still.") is None
    assert await store.presence(OWNER, KATE.agent) == told, "it was told meanwhile"


@pytest.mark.spec("P3", "P9", "AWAY-7")
async def test_a_digest_ends_once_and_what_is_said_of_it_later_changes_nothing(store: Store, clock: FixedClock) -> None:
    await comes_in(store, "first")
    clock.move(3600)
    await boils(store, 1)
    digest = (await comes_in(store, "back")).digest
    assert digest is not None
    await store.end_digest(OWNER, KATE.agent, digest.number, "delivered", text="It boiled.", remembers=False)
    before = await dump(store)
    await store.end_digest(OWNER, KATE.agent, digest.number, "failed", reason="too late", text="", remembers=False)
    assert await dump(store) == before


@pytest.mark.spec("P3", "AWAY-7")
async def test_a_message_belongs_to_the_process_that_took_it_last(store: Store, clock: FixedClock) -> None:
    one, other = Handler(name="one", token=1), Handler(name="other", token=2)

    async def comes(handler: Handler, instead_of: Handler | None = None) -> tuple[str, Handler | None]:
        came = Arriving(binding=KATE, message="m", handler=handler, lease_seconds=60, instead_of=instead_of)
        arrival = await store.come_in(OWNER, came, verbs.EVERY_TIME)
        return arrival.state, arrival.handler

    assert await comes(one) == ("new", None)
    assert await comes(other) == ("under way", one)
    clock.move(30)
    await store.renew_arrival(OWNER, "m", one.token, lease_seconds=60)
    clock.move(59)
    assert await comes(other) == ("under way", one), "its time was renewed"
    clock.move(1)
    assert await comes(other) == ("new", None)
    await store.handled(OWNER, "m", one.token)
    await store.renew_arrival(OWNER, "m", one.token, lease_seconds=3600)
    assert await comes(one) == ("under way", other), "the first has no say in it any more"
    clock.move(60)
    assert await comes(one) == ("new", None), "nor did it prolong the time of the second"
    await store.handled(OWNER, "m", one.token)
    assert await comes(other) == ("again", None)


@pytest.mark.spec("P3", "SUM-1")
async def test_only_the_process_that_holds_the_primarys_lease_gives_it_up(store: Store, clock: FixedClock) -> None:
    assert (await store.take_primary("one", 1, lease_seconds=30)).holder == "one"
    assert (await store.take_primary("other", 2, lease_seconds=30)).holder == "one"
    await store.leave_primary(2)
    assert (await store.take_primary("other", 2, lease_seconds=30)).holder == "one"
    clock.move(30)
    assert (await store.take_primary("other", 2, lease_seconds=30)).holder == "other"
    await store.leave_primary(1)
    assert (await store.take_primary("one", 1, lease_seconds=30)).holder == "other"
    await store.leave_primary(2)
    assert (await store.take_primary("one", 1, lease_seconds=30)).holder == "one"
