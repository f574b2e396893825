"""Export to JSONL: the log, and all that was made of it and beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, replace

from afterglow.facts import Fact
from afterglow.memory import Memory
from afterglow.store.inbox import Waiting
from afterglow.store.moving_goals import Standing
from afterglow.store.tasks import Task
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.transfer.lines import FORMAT, PAGE, VERSION, line
from afterglow.turns import Session
from afterglow.work import Due, Kind

_WITH_THEIR_OWN: frozenset[Kind] = frozenset({"task", "reply"})
"""The work that comes with the line of what it is about."""


async def export_lines(memory: Memory, scope: Scope = EVERYONE) -> AsyncIterator[str]:
    """The log as lines of JSON. A turn that is written meanwhile may or may not be among them."""
    yield line("format", {"name": FORMAT, "version": VERSION})
    for owner in await memory.store.owners(limit=1_000_000):
        if scope is EVERYONE or scope == owner.id or scope in owner.joined:
            yield line("owner", asdict(owner))
    after: Session | None = None
    turns = 0
    while page := await memory.store.sessions_by_name(scope, limit=PAGE, after=after):
        for named in page:
            # What was made of it is read with it: what is committed meanwhile would not fit the counters.
            made = await memory.store.made(named.owner, named.id)
            session = made.session
            yield line("session", asdict(session))
            for seq in range(1, session.turns + 1, PAGE):
                for turn in await memory.turns(session, first_seq=seq, last_seq=session.turns, limit=PAGE):
                    yield line("turn", asdict(await memory.turn(session, turn.seq) if turn.cut else turn))
            turns += session.turns
            if session.folded.version:
                parts = {name: [asdict(each) for each in getattr(made, name)] for name in ("blocks", "reports")}
                yield line("folded", {"session": session.id, "fence": made.fence, **parts})
            if made.summary is not None:
                yield line("summary", asdict(made.summary))
        after = page[-1]
    async for each in _fact_lines(memory, scope):
        yield each
    async for each in _goal_lines(memory, scope):
        yield each
    async for each in _agent_lines(memory, scope):
        yield each
    for work in await memory.store.work_list(scope, limit=1_000_000):
        if work.kind in _WITH_THEIR_OWN:
            continue
        asked = Due(kind=work.kind, at=work.ready_at, reason=work.reason, subject=work.subject)
        yield line("work", {"owner": work.owner, **asdict(asked)})
    yield line("end", {"turns": turns})


async def _fact_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """The facts, and then how far each session was read for them: a broken import reads again rather than too little."""
    last: Fact | None = None
    while facts := await memory.store.exported_facts(scope, limit=PAGE, after=last):
        for fact, digest in facts:
            yield line("fact", {**asdict(fact), "digest": digest})
        last = facts[-1][0]
    after: Session | None = None
    while page := await memory.store.sessions_by_name(scope, limit=PAGE, after=after):
        for session in page:
            if session.facts_seq:
                yield line("read", {"owner": session.owner, "session": session.id, "seq": session.facts_seq})
        after = page[-1]


async def _goal_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """What agents did, and after that how far each owner knows of it: a broken import tells again rather than too little."""
    last: Standing | None = None
    while page := await memory.store.standings(scope, limit=PAGE, after=last):
        for standing in page:
            number = 0
            while events := await memory.store.goals_after(standing.owner, standing.agent, number, limit=PAGE):
                for event in events:
                    yield line("goal", asdict(event))
                number = events[-1].number
            told = await memory.store.digests(standing.owner, agent=standing.agent, limit=PAGE, of_one=True)
            yield line("presence", {**asdict(standing), "digests": [asdict(each) for each in told]})
        last = page[-1]


async def _agent_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """What the agent is to do at set times, and what it is still to answer."""
    task: Task | None = None
    while tasks := await memory.store.exported_tasks(scope, limit=PAGE, after=task):
        for task in tasks:
            yield line("task", asdict(task))
    message: Waiting | None = None
    while messages := await memory.store.exported_messages(scope, limit=PAGE, after=message):
        for message in messages:
            yield line("waiting", asdict(replace(message, listener=None, answered_at=None)))
