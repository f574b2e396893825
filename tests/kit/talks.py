"""What is said to a memory, and the work behind it."""

from __future__ import annotations

from typing import Any

from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.turns import Binding, Session
from afterglow.work import Limits
from afterglow.worker import Worker
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


async def drain(memory: Memory) -> int:
    """Do all that is due, as a worker does; how much that was."""
    await memory.settle()
    return await Worker(memory.store, memory.acts, holder="w", limits=Limits()).drain()


async def reread(memory: Memory, session: Session) -> Session:
    """The session as it is by now."""
    return await memory.session(session.id, owner=session.owner)
