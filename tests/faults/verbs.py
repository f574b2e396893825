"""Every verb of the store, each with arguments that are right for one prepared database, the scenario.

Whoever adds a verb to store/contract.py adds it here: then it is killed before and after its commit, run without the
application's own owner filter, and run on both databases, like all the others. A verb uses things of the scenario that
no other verb changes, so that they can be run in any order, each alone or all one after another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from afterglow.clock import from_us
from afterglow.store.contract import Store
from afterglow.store.log import Entry, Shown
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding, Owner, Session
from afterglow.work import Claim, Due, Kind, Limits
from tests.conftest import KATE, NOON, OTHER, said

LIMITS = Limits(lease_seconds=60)
WEB = Binding(agent="kate", channel="web", sender="ana")
MAIL = Binding(agent="kate", channel="mail", sender="ana")

HANDS = [Owner(id=f"{side} hand", created_at=NOON) for side in ("left", "right")]

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
    for claim in await store.claim(("facts",), limit=100, holder="w", limits=LIMITS):
        if claim.subject == "to-retry":
            await store.give_back(claim, "no", wait_seconds=86400, park=True)
    for binding in (KATE, OTHER):
        await store.mark_due(binding.owner, _due("context", "to-claim"))
    for name in ("known", "to-revoke"):
        await store.add_token(name, "agent", f"token {name}")
    for binding in (WEB, MAIL):
        await store.append(binding.owner, binding, said("from another door"))
    await store.open_session(_side(KATE, "door"), "door")
    for hand in HANDS:
        await store.restore_owner(hand)
    await store.join(MAIL.owner, WEB.owner)


def _giant() -> Entry:
    whole = said("a giant text " * 1000, "tool")
    return Entry(draft=whole.draft, terms=["giant"], bytes=whole.bytes, shown=Shown(text="a giant …", parts=()))


def _side(binding: Binding, channel: str) -> Binding:
    return Binding(agent=binding.agent, channel=channel, sender=binding.sender)


def _due(kind: Kind, subject: str) -> Due:
    return Due(kind=kind, at=NOON - timedelta(seconds=1), reason="interval", subject=subject)


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
    "renew": _renew,
    "finish": _finish,
    "give_back": _give_back,
    "retry": lambda store: store.retry(KATE.owner, subject="to-retry"),
    "work_list": lambda store: store.work_list(KATE.owner),
    "backlog": lambda store: store.backlog(KATE.owner),
    "wait_for_work": lambda store: store.wait_for_work(0.01),
    "add_token": lambda store: store.add_token("new", "read", "token new"),
    "find_token": lambda store: store.find_token("token known"),
    "tokens": lambda store: store.tokens(),
    "revoke_token": _revoke_token,
    "check": lambda store: store.check(),
    "close": lambda store: store.close(),
}
