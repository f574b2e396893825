"""What is said to a memory, and the work behind it."""

from __future__ import annotations

from typing import Any

from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.search import words
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.turns import Binding, Session, Turn
from afterglow.work import Limits
from afterglow.worker import Worker
from tests.kit import records
from tests.kit.records import KATE


async def exchanges(
    memory: Memory, count: int, *, first: int = 1, clock: FixedClock | None = None, words: int = 40, to: Binding = KATE
) -> Session:
    """So many exchanges, each with a fact of its own; what each makes due is done behind it."""
    done = None
    padding = "so to speak " * (words // 3)
    for number in range(first, first + count):
        done = await memory.exchange(to, f"FACT-{number:05d} {padding}", lambda context: f"I see. {padding}")
        await memory.settle()
        if clock is not None:
            clock.move(60)
    assert done is not None
    return await memory.session(done.message.session, owner=to.owner)


async def statements(memory: Memory, *texts: str, to: Binding = KATE, **more: Any) -> Session:
    """Turns of the user, without an answer."""
    turn = None
    for text in texts:
        turn = await memory.append(to, "user", text, **more)
    assert turn is not None
    return await memory.session(turn.session, owner=to.owner)


async def say(store: Store, *texts: str | tuple[str, str], session: str = "talk", to: Binding = KATE) -> None:
    """Turns in the log, found by their words: each a text of the user, or a role and its text."""
    await store.open_session(to, session)
    for each in texts:
        role, text = ("user", each) if isinstance(each, str) else each
        await store.append(to.owner, session, records.said(text, role, terms=words.terms(text)))


async def log(memory: Memory, owner: Scope = EVERYONE) -> list[Turn]:
    """All turns of an owner, the oldest session first."""
    sessions = sorted(await memory.sessions(owner=owner), key=lambda session: session.created_at)
    return [turn for session in sessions for turn in await memory.turns(session)]


async def said(memory: Memory, owner: Scope = EVERYONE) -> list[str]:
    """The same, each turn as `role: text`."""
    return [f"{turn.role}: {turn.text}" for turn in await log(memory, owner)]


async def drain(memory: Memory) -> int:
    """Do all that is due, as a worker does; how much that was."""
    await memory.settle()
    return await Worker(memory.store, memory.acts, holder="w", limits=Limits()).drain()


async def reread(memory: Memory, session: Session) -> Session:
    """The session as it is by now."""
    return await memory.session(session.id, owner=session.owner)
