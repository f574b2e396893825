"""Every verb of the store, each with arguments that are right for one prepared database, the scenario.

A verb that is added to store/contract/ is added here: then it is killed before and after its commit, run without the
application's own owner filter, and run on both databases, like all the others. A verb uses things of the scenario that
no other verb changes, so that they can be run in any order, each alone or all one after another.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from afterglow.clock import from_us
from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.facts import Evidence, Fact
from afterglow.goals import GoalEvent
from afterglow.search.joined import Ranked
from afterglow.settings.away import AwaySettings
from afterglow.spend import Amount, Call, Reservation, Usage
from afterglow.store.arrivals import Arriving, Handler
from afterglow.store.blocks import Change
from afterglow.store.contract import Store
from afterglow.store.facts import Again, Gathered, WantedFacts
from afterglow.store.files import FileTrouble, WrittenFiles
from afterglow.store.goals import Step
from afterglow.store.inbox import Waiting
from afterglow.store.log import Entry, Shown
from afterglow.store.moving_goals import Standing
from afterglow.store.readings import Read, Reading
from afterglow.store.search import Indexed, Record
from afterglow.store.tasks import Task
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.summaries import Summary
from afterglow.turns import Binding, Folded, Owner, Session
from afterglow.work import Claim, Due, Kind, Limits
from tests.kit.records import KATE, NOON, OTHER, said

LIMITS = Limits(lease_seconds=60)
LATER = NOON + timedelta(hours=1)
WEB = Binding(agent="kate", channel="web", sender="ana")
MAIL = Binding(agent="kate", channel="mail", sender="ana")

GONE = Binding(agent="kate", channel="gone", sender="ana")

HANDS = [Owner(id=f"{side} hand", created_at=NOON) for side in ("left", "right")]

EVERY_TIME = AwaySettings(enabled=True, threshold_hours=0)

MOST = Amount(tokens=1000, micro_usd=500)
CEILING = Amount(tokens=1_000_000, micro_usd=1_000_000)

Verb = Callable[[Store], Awaitable[Any]]


def all_of_them(turns: list[Indexed], records: list[Record]) -> list[Ranked]:
    """All that was read of the index, to be shown."""
    spots = [(turn.owner, "turn", turn.session, turn.seq) for turn in turns]
    spots += [(each.owner, each.kind, each.place, each.seq) for each in records]
    named = ({"owner": owner, "kind": kind, "place": place, "seq": seq} for owner, kind, place, seq in sorted(spots))
    return [Ranked(**each, at_us=0, score=1.0, by_words=1.0, by_meaning=0.0) for each in named]  # pyright: ignore[reportArgumentType]


async def prepare(store: Store) -> None:
    """The scenario: what ana has (and ben has the same), at noon."""
    for binding in (KATE, OTHER):
        owner = binding.owner
        await store.open_session(binding, "talk")
        for role, text in (("user", "the red kettle"), ("assistant", "is on the stove"), ("user", "thanks")):
            await store.append(owner, "talk", said(text, role, key=f"{role} {text}"))
        await store.append(owner, "talk", _giant())
        await store.open_session(_side(binding, "to-close"), "to-close", owner)
        for subject in ("to-finish", "to-renew", "to-give-back", "to-retry"):
            await store.mark_due(owner, _due("facts", subject))
        await _folded(store, binding)
    for claim in await store.claim(("facts",), limit=100, holder="w", limits=LIMITS):
        if claim.subject == "to-retry":
            await store.give_back(claim, "no", wait_seconds=86400, park=True)
    for binding in (KATE, OTHER):
        await store.mark_due(binding.owner, _due("context", "to-claim"))
        await store.mark_due(binding.owner, _due("files", "to-claim-one"))
        await store.reserve_spend(_call(binding, "to-settle"), MOST, CEILING)
        await _known(store, binding)
    await store.keep_schedule("facts", None)
    await store.take_primary("before", 6, lease_seconds=0)
    for name in ("known", "to-revoke"):
        await store.add_token(name, "agent", f"token {name}")
    await store.add_token("known", "agent", "token of ana", owner=KATE.owner)
    await store.add_token("page", "owner", "link to use", kind="link", expires_at=LATER)
    for binding in (WEB, MAIL):
        await store.append(binding.owner, binding, said("from another door"))
    await _embedded(store)
    await store.open_session(_side(KATE, "door"), "door")
    for binding in (KATE, OTHER):
        for name in ("to-forget", "to-forget-whole", "to-restore"):
            await _remembered(store, binding, name)
        await store.forget_turns(binding.owner, "to-restore", 1, 1)
        await _was_away(store, binding)
        await _is_busy(store, binding)
        await store.commit_files(binding.owner, _files(binding.owner, "digest"))
    await store.append(GONE.owner, GONE, said("from a door that is to go"))
    for hand in HANDS:
        await store.restore_owner(hand)
    await store.join(MAIL.owner, WEB.owner)


async def _is_busy(store: Store, binding: Binding) -> None:
    """Messages that wait, some of them being answered, and tasks, one of them being done."""
    for place, key in (
        ("line", "first"),
        ("line", "to-take-back"),
        ("answered", "first"),
        ("answered", "second"),
        ("taken", "first"),
    ):
        await store.put_message(waiting(binding, place, key))
    for name in ("known", "to-cancel", "to-run"):
        await store.add_task(task(binding, name))
    for kind, subject in (("reply", "answered"), ("reply", "taken"), ("task", "to-run")):
        await store.claim_one(binding.owner, kind, subject, holder="w", limits=LIMITS, anyway=True)


def waiting(binding: Binding, place: str, key: str) -> Waiting:
    """A message that waits for the agent at a place of its own."""
    names = {"agent": binding.agent, "channel": binding.channel, "sender": binding.sender}
    said = {
        "reason": "user_message",
        "text": "hello",
        "at": NOON,
        "key": key,
        "listener": f"the bot of {binding.sender}",
    }
    return Waiting(owner=binding.owner, place=place, session=None, **said, **names)


def task(binding: Binding, name: str) -> Task:
    """Something to do in an hour."""
    names = {"agent": binding.agent, "channel": binding.channel, "sender": binding.sender}
    when = {"kind": "once", "schedule": LATER.isoformat(), "zone": "UTC", "next_at": LATER}
    return Task(owner=binding.owner, id=name, prompt="Look.", created_at=NOON, **names, **when)


async def _take_messages(store: Store) -> Any:
    return await store.take_messages(await held(store, "taken"))


async def _end_messages(store: Store) -> Any:
    return await store.end_messages(await held(store, "answered"), ["first"])


async def _commit_task(store: Store) -> Any:
    done = replace(await store.task(KATE.owner, "to-run"), state="done", next_at=None, runs=1)
    return await store.commit_task(await held(store, "to-run"), done, _step("kate", "run"))


READING = Reading(claimed=3, stored=1, again=1, dropped={"no such turn": 1}, model="scripted", prompt="facts-1")


async def _known(store: Store, binding: Binding) -> None:
    """One fact that is active, one that is pending and would take its place, and one to forget."""
    new = (
        fact("known", binding=binding),
        fact("pending", binding=binding, content="The kettle is blue.", status="pending", supersedes="known"),
        fact("to-forget", binding=binding, content="The stove is old."),
    )
    await store.commit_facts(
        binding.owner, Gathered(version=0, new=new), Read(session="talk", from_seq=0, to_seq=0, reading=READING)
    )


def fact(name: str, binding: Binding = KATE, **more: Any) -> Fact:
    """A fact that the first turn of the talk proves."""
    given: dict[str, Any] = {
        "owner": binding.owner,
        "id": name,
        "type": "other",
        "content": "The kettle is red.",
        "confidence": "high",
        "source_date": "2026-03-02",
        "extracted_at": NOON,
        "trust": "owner",
        "status": "active",
        "why": None,
        "supersedes": None,
        "session": "talk",
        "way": "extracted",
        "model": "scripted",
        "prompt": "facts-1",
        "changed_at": NOON,
        "evidence": (Evidence(session="talk", seq=1, quote="the red kettle", at=NOON),),
    }
    return Fact(**{**given, **more})


async def _commit_facts(store: Store) -> Any:
    known = await store.known_facts(KATE.owner, [])
    again = Again(
        owner=KATE.owner,
        fact="pending",
        evidence=Evidence(session="talk", seq=3, quote="thanks", at=NOON),
        believed=True,
    )
    gathered = Gathered(version=known.version, new=(fact("new", content="It is hot."),), again=(again,))
    return await store.commit_facts(KATE.owner, gathered, Read(session="talk", from_seq=0, to_seq=3, reading=READING))


async def _folded(store: Store, binding: Binding) -> None:
    """Three sessions of four turns: in one, the first two are in a block; the others are there to be folded."""
    for name in ("folded", "to-fold", "restored"):
        await store.open_session(_side(binding, name), name, binding.owner)
        for seq in range(1, 5):
            await store.append(binding.owner, name, said(f"turn {seq}", "user" if seq % 2 else "assistant"))
    await store.commit_summary(binding.owner, summary("folded", binding), before_seq=0)
    for name in ("to-sunset", "to-clear", "to-reopen"):
        await store.open_session(_side(binding, name), name, binding.owner)
        await store.append(binding.owner, name, said("good bye"))
    await store.close_session(binding.owner, "to-reopen")
    await store.commit_blocks(binding.owner, "folded", change(block("folded", 1, 2), reports=(report("folded"),)))
    await store.mark_due(binding.owner, _due("facts", "to-fold"))


async def _remembered(store: Store, binding: Binding, name: str) -> None:
    """A session of four turns; unless it is to be restored, the first two are in a block and there is a summary."""
    await store.open_session(_side(binding, name), name, binding.owner)
    for seq in range(1, 5):
        await store.append(binding.owner, name, said(f"turn {seq}", "user" if seq % 2 else "assistant", key=f"k{seq}"))
    if name != "to-restore":
        await store.commit_blocks(binding.owner, name, change(block(name, 1, 2), reports=(report(name),)))
        await store.commit_summary(binding.owner, summary(name, binding), before_seq=0)


def block(session: str, first_seq: int, last_seq: int, **more: Any) -> Block:
    """A block over these turns, as a compaction makes it."""
    given: dict[str, Any] = {
        "session": session,
        "level": 0,
        "first_seq": first_seq,
        "last_seq": last_seq,
        "first_at": NOON,
        "last_at": NOON,
        "text": f"turns {first_seq} to {last_seq}",
        "tokens": 5,
        "span_tokens": 20,
        "input_hash": "hash",
        "prompt": "fold-1",
        "model": "scripted",
        "reason": "interval",
    }
    return Block(**{**given, **more})


def summary(session: str, binding: Binding = KATE) -> Summary:
    """What a session of four turns was about."""
    return Summary(
        owner=binding.owner,
        session=session,
        agent="kate",
        title="A talk",
        summary="They talked.",
        category="other",
        decisions=("go on",),
        open_threads=(),
        outcomes=(),
        people=("Ana",),
        first_seq=1,
        last_seq=4,
        first_at=NOON,
        last_at=NOON,
        trigger="manual",
        model="scripted",
        prompt="summary-1",
        input_tokens=10,
        output_tokens=5,
        cost_usd=None,
        degraded=False,
        created_at=NOON,
    )


def report(session: str, text: str = "dentist at 2 PM") -> Report:
    """What a calendar said."""
    moments = dict.fromkeys(("asked_at", "start_at", "end_at"), NOON)
    return Report(session=session, source="calendar", label="Calendar", text=text, tokens=5, **moments)


def change(*blocks: Block, version: int = 0, **more: Any) -> Change:
    """What a compaction that began at this version found."""
    return Change(version=version, blocks=blocks, fence="~~~ mark ~~~", **more)


async def _commit_blocks(store: Store) -> Any:
    claim = await held(store, "to-fold")
    return await store.commit_blocks(KATE.owner, "to-fold", change(block("to-fold", 1, 2), turns=4, exchanges=2), claim)


async def _restore_blocks(store: Store) -> Any:
    session = await store.session(KATE.owner, "restored")
    folded = replace(session, folded=Folded(to_seq=1, version=1, block_tokens=5))
    whole = block("restored", 1, 1, number=1, shown_from=2)
    await store.restore_blocks(folded, [whole], [replace(report("restored"), number=1, shown_from=2)], "~~~")


def _giant() -> Entry:
    whole = said("a giant text " * 1000, "tool")
    return Entry(draft=whole.draft, terms=["giant"], bytes=whole.bytes, shown=Shown(text="a giant …", parts=()))


def _side(binding: Binding, channel: str) -> Binding:
    return Binding(agent=binding.agent, channel=channel, sender=binding.sender)


def _due(kind: Kind, subject: str) -> Due:
    return Due(kind=kind, at=NOON - timedelta(seconds=1), reason="interval", subject=subject)


def _call(binding: Binding, purpose: str) -> Call:
    return Call(day="2026-03-02", model="openai:m", purpose=purpose, owner=binding.owner, session="talk")


async def _was_away(store: Store, binding: Binding) -> None:
    """Goals of agents that have not been heard of since: one to be told of daily, one with words prepared, one in delivery."""
    for agent in ("daily", "prosed", "told"):
        await store.come_in(binding.owner, _arriving(binding, agent, f"{agent} 0"), EVERY_TIME)
        await store.record_goal(binding.owner, _step(agent, "1"))
    for kind, agent in (("digest", "daily"), ("prose", "prosed")):
        await store.mark_due(binding.owner, _due(kind, agent))
        await store.claim_one(binding.owner, kind, agent, holder="w", limits=LIMITS)
    await store.come_in(binding.owner, _arriving(binding, "told", "told 1"), EVERY_TIME)


def _arriving(binding: Binding, agent: str, message: str) -> Arriving:
    handler = Handler(name="w", token=5)
    return Arriving(binding=replace(binding, agent=agent), message=message, handler=handler, lease_seconds=60)


def _step(agent: str, step: str) -> Step:
    return Step(
        agent=agent, goal="boil", step=step, outcome="completed", title="Boil water", note="it whistled", at=NOON
    )


def _goal(agent: str) -> GoalEvent:
    step = replace(_step(agent, "1"), at=LATER)
    return GoalEvent(owner=KATE.owner, number=1, **{name: getattr(step, name) for name in Step.__slots__})


def _standing(agent: str) -> Standing:
    seen = {"seen_at": LATER, "channel": "telegram", "sender": "ana"}
    return Standing(owner=KATE.owner, agent=agent, version=3, events=0, told_to=0, **seen)  # type: ignore[arg-type]


async def held(store: Store, subject: str, owner: str = KATE.owner) -> Claim:
    """The claim on a subject, as its holder knows it."""

    def look(tx: Tx) -> Claim:
        row = tx.one("SELECT * FROM work WHERE owner = :owner AND subject = :subject", owner=owner, subject=subject)
        return Claim(
            owner=owner,
            kind=row["kind"],
            subject=subject,
            token=row["token"],
            until=from_us(row["lease_until"]),
            attempt=row["attempts"],
            reason=row["reason"],
        )

    return await store._read("held", EVERYONE, look)


async def _append(store: Store) -> Any:
    due = [Due(kind="summary", at=NOON, reason="idle")]
    return await store.append(KATE.owner, "talk", said("one more", key="one more"), due)


async def _finish(store: Store) -> Any:
    return await store.finish(await held(store, "to-finish"))


async def _renew(store: Store) -> Any:
    return await store.renew(await held(store, "to-renew"), Limits(lease_seconds=90))


async def _give_back(store: Store) -> Any:
    return await store.give_back(await held(store, "to-give-back"), "no", wait_seconds=5, park=False)


async def _settle_spend(store: Store) -> Any:
    (made,) = [made for made in await store.spend_calls(KATE.owner) if made.call.purpose == "to-settle"]
    reservation = Reservation(id=made.id, call=made.call, most=MOST)
    return await store.settle_spend(reservation, Usage(input_tokens=300, output_tokens=20), 70)


async def _claim_daily(store: Store) -> Any:
    return await store.claim_daily(await held(store, "daily"), max_events=5)


async def _commit_prose(store: Store) -> Any:
    return await store.commit_prose(await held(store, "prosed"), 1, "The water boils.", 0.001)


async def _is_open(store: Store) -> Any:
    (token,) = [token for token in await store.tokens() if token.owner == KATE.owner]
    return await store.is_open(token.id)


async def _note_use(store: Store) -> Any:
    (token,) = [token for token in await store.tokens() if token.owner == KATE.owner]
    return await store.note_use(token.id)


async def _revoke_token(store: Store) -> Any:
    (token,) = [token for token in await store.tokens() if token.name == "to-revoke"]
    return await store.revoke_token(token.id)


def _files(owner: str, digest: str) -> WrittenFiles:
    day, index = "facts/2026-03-02.json", "facts/index.json"
    trouble = FileTrouble(owner=owner, name=day, problem="it is a folder", found_at=NOON)
    return WrittenFiles(digests={(owner, day): "", (owner, index): digest}, forgettings={owner: 1}, troubles=(trouble,))


async def _embedded(store: Store) -> None:
    """One vector of ana and of ben each; all there is of two others, by an embedder and by the one before it."""
    whose = (KATE.owner, OTHER.owner, WEB.owner, MAIL.owner)
    for owner in whose:
        await store.mark_due(owner, _due("vectors", "to-embed"))
    claims = await store.claim(("vectors",), limit=100, holder="w", limits=LIMITS)
    for generation, name in enumerate(("an older embedder", "an embedder"), 1):
        await store.use_embedder(name)
        await store.sweep_vectors()
        for claim in sorted(claims, key=lambda claim: whose.index(claim.owner)):
            some = await store.unembedded(claim.owner, 1 if claim.owner in whose[:2] else 100)
            await store.commit_vectors(claim, generation, [(each.id, b"\1\2") for each in some])


async def _commit_vectors(store: Store) -> Any:
    generation = (await store.generations(KATE.owner))[0].number
    waiting = await store.unembedded(KATE.owner, 2)
    made = [(each.id, bytes([number, 5])) for number, each in enumerate(waiting)]
    return await store.commit_vectors(await held(store, "to-embed"), generation, made)


async def _vectors_after(store: Store) -> Any:
    return await store.vectors_after(KATE.owner, lambda generations: (generations[0], {}), 10)


async def _vectors_of(store: Store) -> Any:
    generation, read = await _vectors_after(store)
    return await store.vectors_of(KATE.owner, generation.number, [record for columns in read for record in columns.ids])


async def _scrub(store: Store) -> None:
    await store.scrub()  # which files there are differs from one database to another


def _restored() -> Session:
    binding = _side(KATE, "import")
    return Session(
        owner=KATE.owner, id="old", binding=binding, state="closed", created_at=NOON, last_at=NOON, closed_at=NOON
    )


VERBS: dict[str, Verb] = {
    "append": _append,
    "turn": lambda store: store.turn(KATE.owner, "talk", 4),
    "turns": lambda store: store.turns(KATE.owner, "talk"),
    "tail": lambda store: store.tail(KATE.owner, "talk", 2),
    "begin_exchange": lambda store: store.begin_exchange(KATE.owner, "talk", said("and one more", key="and one more")),
    "context_rows": lambda store: store.context_rows(KATE.owner, "folded", at=4),
    "blocks": lambda store: store.blocks(KATE.owner, "folded"),
    "block": lambda store: store.block(KATE.owner, "folded", 1),
    "made": lambda store: store.made(KATE.owner, "folded"),
    "reports": lambda store: store.reports(KATE.owner, "folded"),
    "commit_blocks": _commit_blocks,
    "restore_blocks": _restore_blocks,
    "request_sunset": lambda store: store.request_sunset(KATE.owner, "to-sunset", _due("summary", "to-sunset")),
    "clear_session": lambda store: store.clear_session(KATE.owner, "to-clear", said("cleared", "system")),
    "reopen_session": lambda store: store.reopen_session(KATE.owner, "to-reopen"),
    "commit_summary": lambda store: store.commit_summary(KATE.owner, summary("to-fold"), before_seq=0),
    "summaries": lambda store: store.summaries(KATE.owner),
    "summary_of": lambda store: store.summary_of(KATE.owner, "folded"),
    "summaries_at": lambda store: store.summaries_at(KATE.owner, NOON, besides="talk", limit=3),
    "stale_sessions": lambda store: store.stale_sessions(KATE.owner),
    "sweep": lambda store: store.sweep("periodic-sweep", quiet_before=LATER, newest=1, oldest=1),
    "take_primary": lambda store: store.take_primary("w", 7, lease_seconds=30),
    "leave_primary": lambda store: store.leave_primary(6),
    "fleet": lambda store: store.fleet(),
    "turn_by_key": lambda store: store.turn_by_key(KATE, "new", since=NOON),
    "turns_before": lambda store: store.turns_before(KATE.owner, None, 10),
    "word_matches": lambda store: store.word_matches(
        KATE.owner, ["kettle", "stove"], follow=lambda _: [("talk", 1), ("talk", 99)]
    ),
    "recalled": lambda store: store.recalled(KATE.owner, range(1, 20), all_of_them),
    "indexed_ids": lambda store: store.indexed_ids(KATE.owner),
    "generations": lambda store: store.generations(KATE.owner),
    "unembedded": lambda store: store.unembedded(KATE.owner, 3),
    "commit_vectors": _commit_vectors,
    "vectors_after": _vectors_after,
    "vectors_of": _vectors_of,
    "drop_old_vectors": lambda store: store.drop_old_vectors(WEB.owner, 10),
    "sweep_vectors": lambda store: store.sweep_vectors(rows=1),
    "use_embedder": lambda store: store.use_embedder("another embedder"),
    "known_facts": lambda store: store.known_facts(KATE.owner, ["The kettle is RED", "nothing"]),
    "commit_facts": _commit_facts,
    "approve_fact": lambda store: store.approve_fact(KATE.owner, "pending"),
    "retype_fact": lambda store: store.retype_fact(KATE.owner, "pending", "event"),
    "forget_fact": lambda store: store.forget_fact(KATE.owner, "to-forget"),
    "fact": lambda store: store.fact(KATE.owner, "known"),
    "superseding_fact": lambda store: store.superseding_fact(KATE.owner, "known"),
    "facts": lambda store: store.facts(KATE.owner, WantedFacts(status=None)),
    "fact_counts": lambda store: store.fact_counts(KATE.owner),
    "facts_of_turns": lambda store: store.facts_of_turns(KATE.owner, "talk", 1, 3),
    "readings": lambda store: store.readings(KATE.owner),
    "exported_facts": lambda store: store.exported_facts(KATE.owner),
    "restore_fact": lambda store: store.restore_fact(fact("old", content="It whistles."), "digest"),
    "mark_read": lambda store: store.mark_read(KATE.owner, "talk", 4),
    "read_anew": lambda store: store.read_anew(KATE.owner, "talk"),
    "schedule_kept": lambda store: store.schedule_kept("facts"),
    "keep_schedule": lambda store: store.keep_schedule("another", None),
    "folder_owners": lambda store: store.folder_owners(MAIL.owner),
    "remembered": lambda store: store.remembered(KATE.owner),
    "commit_files": lambda store: store.commit_files(KATE.owner, _files(KATE.owner, "another digest")),
    "file_digests": lambda store: store.file_digests(KATE.owner),
    "owners_with_files": lambda store: store.owners_with_files(),
    "file_troubles": lambda store: store.file_troubles(KATE.owner),
    "record_goal": lambda store: store.record_goal(KATE.owner, _step("kate", "2"), [_due("prose", "kate")]),
    "goal_events": lambda store: store.goal_events(KATE.owner, "told"),
    "come_in": lambda store: store.come_in(KATE.owner, _arriving(KATE, "kate", "new"), EVERY_TIME),
    "handled": lambda store: store.handled(KATE.owner, "daily 0", 5),
    "renew_arrival": lambda store: store.renew_arrival(KATE.owner, "prosed 0", 5, lease_seconds=90),
    "end_digest": lambda store: store.end_digest(KATE.owner, "told", 2, "delivered", text="told", remembers=False),
    "claim_daily": _claim_daily,
    "untold_people": lambda store: store.untold_people(),
    "mark_told_due": lambda store: store.mark_told_due("daily", [(KATE.owner, "told")]),
    "keep_time": lambda store: store.keep_time("daily at 08:00", None),
    "absence": lambda store: store.absence(KATE.owner, "prosed", max_events=5),
    "commit_prose": _commit_prose,
    "untold": lambda store: store.untold(KATE.owner, "prosed", limit=5),
    "presence": lambda store: store.presence(KATE.owner, "told"),
    "digests": lambda store: store.digests(KATE.owner),
    "standings": lambda store: store.standings(KATE.owner),
    "goals_after": lambda store: store.goals_after(KATE.owner, "told", 0),
    "restore_goals": lambda store: store.restore_goals(KATE.owner, [_goal("restored")]),
    "restore_standing": lambda store: store.restore_standing(_standing("restored")),
    "put_message": lambda store: store.put_message(waiting(KATE, "line", "new")),
    "waiting_messages": lambda store: store.waiting_messages(KATE.owner, "line"),
    "waiting_places": lambda store: store.waiting_places(),
    "take_messages": _take_messages,
    "end_messages": _end_messages,
    "take_back": lambda store: store.take_back(KATE.owner, "line", "to-take-back"),
    "stop_listening": lambda store: store.stop_listening(f"the bot of {KATE.sender}"),
    "add_task": lambda store: store.add_task(task(KATE, "new")),
    "tasks": lambda store: store.tasks(KATE.owner),
    "task": lambda store: store.task(KATE.owner, "known"),
    "cancel_task": lambda store: store.cancel_task(KATE.owner, "to-cancel"),
    "commit_task": _commit_task,
    "exported_tasks": lambda store: store.exported_tasks(KATE.owner),
    "restore_task": lambda store: store.restore_task(replace(task(KATE, "restored"), created_at=LATER)),
    "exported_messages": lambda store: store.exported_messages(KATE.owner),
    "restore_message": lambda store: store.restore_message(
        replace(waiting(KATE, "line", "restored"), text="hello again", at=NOON + timedelta(hours=1))
    ),
    "open_session": lambda store: store.open_session(_side(KATE, "new")),
    "close_session": lambda store: store.close_session(KATE.owner, "to-close"),
    "session": lambda store: store.session(KATE.owner, "talk"),
    "current_session": lambda store: store.current_session(KATE),
    "sessions": lambda store: store.sessions(KATE.owner),
    "sessions_by_name": lambda store: store.sessions_by_name(KATE.owner),
    "totals": lambda store: store.totals(KATE.owner),
    "owners": lambda store: store.owners(),
    "join": lambda store: store.join("left hand", "right hand"),
    "part": lambda store: store.part(MAIL.owner),
    "restore_owner": lambda store: store.restore_owner(Owner(id="old", created_at=NOON, joined=("older",))),
    "restore_session": lambda store: store.restore_session(_restored()),
    "restore_turns": lambda store: store.restore_turns(
        _side(KATE, "door").owner, "door", 1, [said("hi"), said("ho", "assistant")]
    ),
    "mark_due": lambda store: store.mark_due(KATE.owner, _due("digest", "to-mark")),
    "claim": lambda store: store.claim(("context",), limit=1, holder="w", limits=LIMITS),
    "claim_one": lambda store: store.claim_one(KATE.owner, "files", "to-claim-one", holder="w", limits=LIMITS),
    "renew": _renew,
    "finish": _finish,
    "give_back": _give_back,
    "retry": lambda store: store.retry(KATE.owner, subject="to-retry"),
    "work_list": lambda store: store.work_list(KATE.owner),
    "backlog": lambda store: store.backlog(KATE.owner),
    "backlog_by_kind": lambda store: store.backlog_by_kind(KATE.owner),
    "wait_for_work": lambda store: store.wait_for_work(0.01),
    "reserve_spend": lambda store: store.reserve_spend(_call(KATE, "fold"), MOST, CEILING),
    "settle_spend": _settle_spend,
    "spend_of_day": lambda store: store.spend_of_day("2026-03-02"),
    "spend_of_session": lambda store: store.spend_of_session(KATE.owner, "talk"),
    "spend_calls": lambda store: store.spend_calls(KATE.owner),
    "add_token": lambda store: store.add_token("new", "read", "token new"),
    "find_token": lambda store: store.find_token("token of ana"),
    "is_open": _is_open,
    "note_use": _note_use,
    "sign_in": lambda store: store.sign_in("link to use", "a cookie", LATER),
    "tokens": lambda store: store.tokens(),
    "audit": lambda store: store.audit(KATE.owner),
    "happened": lambda store: store.happened(KATE.owner, 0),
    "spend_by_model": lambda store: store.spend_by_model(KATE.owner, "2026-03-02"),
    "titles": lambda store: store.titles(KATE.owner, [(KATE.owner, "talk"), (OTHER.owner, "talk")]),
    "revoke_token": _revoke_token,
    "forget_turns": lambda store: store.forget_turns(KATE.owner, "to-forget", 2, 3),
    "forget_session": lambda store: store.forget_session(KATE.owner, "to-forget-whole"),
    "forget_owner": lambda store: store.forget_owner(GONE.owner),
    "unfinished_forgetting": lambda store: store.unfinished_forgetting(),
    "is_forgotten": lambda store: store.is_forgotten(_restored()),
    "restore_summary": lambda store: store.restore_summary(KATE.owner, summary("to-restore"), stones=1),
    "rows_holding": lambda store: store.rows_holding(["from another door"]),
    "scrub": _scrub,
    "check": lambda store: store.check(),
    "close": lambda store: store.close(),
}

WRITING = sorted(
    name
    for name, method in inspect.getmembers(Store, inspect.iscoroutinefunction)
    if not name.startswith("_") and "self._write(" in inspect.getsource(method)
)
"""The verbs that commit something."""
