"""Every verb of the store, each with arguments that are right for one prepared database, the scenario.

Whoever adds a verb to store/contract.py adds it here: then it is killed before and after its commit, run without the
application's own owner filter, and run on both databases, like all the others. A verb uses things of the scenario that
no other verb changes, so that they can be run in any order, each alone or all one after another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from afterglow.clock import from_us
from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.spend import Amount, Call, Reservation, Usage
from afterglow.store.blocks import Change
from afterglow.store.contract import Store
from afterglow.store.log import Entry, Shown
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.summaries import Summary
from afterglow.turns import Binding, Folded, Owner, Session
from afterglow.work import Claim, Due, Kind, Limits
from tests.conftest import KATE, NOON, OTHER, said

LIMITS = Limits(lease_seconds=60)
LATER = NOON + timedelta(hours=1)
WEB = Binding(agent="kate", channel="web", sender="ana")
MAIL = Binding(agent="kate", channel="mail", sender="ana")

HANDS = [Owner(id=f"{side} hand", created_at=NOON) for side in ("left", "right")]

MOST = Amount(tokens=1000, micro_usd=500)
CEILING = Amount(tokens=1_000_000, micro_usd=1_000_000)

Verb = Callable[[Store], Awaitable[Any]]


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
    await store.take_primary("before", 6, lease_seconds=0)
    for name in ("known", "to-revoke"):
        await store.add_token(name, "agent", f"token {name}")
    for binding in (WEB, MAIL):
        await store.append(binding.owner, binding, said("from another door"))
    await store.open_session(_side(KATE, "door"), "door")
    for hand in HANDS:
        await store.restore_owner(hand)
    await store.join(MAIL.owner, WEB.owner)


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


async def _revoke_token(store: Store) -> Any:
    (token,) = [token for token in await store.tokens() if token.name == "to-revoke"]
    return await store.revoke_token(token.id)


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
    "turns_before": lambda store: store.turns_before(KATE.owner, None, 10),
    "word_matches": lambda store: store.word_matches(KATE.owner, ["kettle", "stove"]),
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
    "find_token": lambda store: store.find_token("token known"),
    "tokens": lambda store: store.tokens(),
    "revoke_token": _revoke_token,
    "check": lambda store: store.check(),
    "close": lambda store: store.close(),
}
