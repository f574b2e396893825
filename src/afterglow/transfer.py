"""Export to JSONL, and import of it: a line for each owner, session, turn, session's blocks, summary, fact, goal event,
person who was seen, task, message that waits, and piece of work.

The first line names the format and its version. An import writes a session's turns a batch at a time, each batch whole,
and goes on from where a broken one stopped; into an empty store it gives an equal state.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, TypeVar, cast

from afterglow.clock import moment_within
from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.digest import OCCASIONS, STATUSES, Digest
from afterglow.errors import BadInput, NotFound
from afterglow.facts import Evidence, Fact, normalised
from afterglow.facts.received import received
from afterglow.facts.said import raw_words_of
from afterglow.goals import NOTE_CHARS_MAX, OUTCOMES, TITLE_CHARS_MAX, GoalEvent
from afterglow.memory import Memory
from afterglow.returning import check_goal
from afterglow.store.inbox import Waiting
from afterglow.store.log import Entry
from afterglow.store.moving_goals import Standing
from afterglow.store.stones import is_stone
from afterglow.store.tasks import Task, check_task
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.summaries import Summary
from afterglow.turns import Binding, Draft, Folded, Owner, Session, Turn
from afterglow.work import Due, Kind

FORMAT = "afterglow-export"
VERSION = 6
"""2 has blocks, 3 summaries, 4 facts, 5 goal events, 6 tasks and messages that wait; exports of older versions are read as
well."""
_WITH_THEIR_OWN: frozenset[Kind] = frozenset({"task", "reply"})
"""The work that comes with the line of what it is about."""
_PAGE = 200
_BATCH_BYTES_MAX = 8 << 20

T = TypeVar("T")


async def export_lines(memory: Memory, scope: Scope = EVERYONE) -> AsyncIterator[str]:
    """The log as lines of JSON. A turn that is written meanwhile may or may not be among them."""
    yield _line("format", {"name": FORMAT, "version": VERSION})
    for owner in await memory.store.owners(limit=1_000_000):
        if scope is EVERYONE or scope == owner.id or scope in owner.joined:
            yield _line("owner", asdict(owner))
    after: Session | None = None
    turns = 0
    while page := await memory.store.sessions_by_name(scope, limit=_PAGE, after=after):
        for named in page:
            # What was made of it is read with it: what is committed meanwhile would not fit the counters.
            made = await memory.store.made(named.owner, named.id)
            session = made.session
            yield _line("session", asdict(session))
            for seq in range(1, session.turns + 1, _PAGE):
                for turn in await memory.turns(session, first_seq=seq, last_seq=session.turns, limit=_PAGE):
                    yield _line("turn", asdict(await memory.turn(session, turn.seq) if turn.cut else turn))
            turns += session.turns
            if session.folded.version:
                parts = {name: [asdict(each) for each in getattr(made, name)] for name in ("blocks", "reports")}
                yield _line("folded", {"session": session.id, "fence": made.fence, **parts})
            if made.summary is not None:
                yield _line("summary", asdict(made.summary))
        after = page[-1]
    async for line in _fact_lines(memory, scope):
        yield line
    async for line in _goal_lines(memory, scope):
        yield line
    async for line in _agent_lines(memory, scope):
        yield line
    for work in await memory.store.work_list(scope, limit=1_000_000):
        if work.kind in _WITH_THEIR_OWN:
            continue
        asked = Due(kind=work.kind, at=work.ready_at, reason=work.reason, subject=work.subject)
        yield _line("work", {"owner": work.owner, **asdict(asked)})
    yield _line("end", {"turns": turns})


async def _fact_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """The facts, and then how far each session was read for them: a broken import reads again rather than too little."""
    last: Fact | None = None
    while facts := await memory.store.exported_facts(scope, limit=_PAGE, after=last):
        for fact, digest in facts:
            yield _line("fact", {**asdict(fact), "digest": digest})
        last = facts[-1][0]
    after: Session | None = None
    while page := await memory.store.sessions_by_name(scope, limit=_PAGE, after=after):
        for session in page:
            if session.facts_seq:
                yield _line("read", {"owner": session.owner, "session": session.id, "seq": session.facts_seq})
        after = page[-1]


async def _goal_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """What agents did, and after that how far each owner knows of it: a broken import tells again rather than too little."""
    last: Standing | None = None
    while page := await memory.store.standings(scope, limit=_PAGE, after=last):
        for standing in page:
            number = 0
            while events := await memory.store.goals_after(standing.owner, standing.agent, number, limit=_PAGE):
                for event in events:
                    yield _line("goal", asdict(event))
                number = events[-1].number
            told = await memory.store.digests(standing.owner, agent=standing.agent, limit=_PAGE, of_one=True)
            yield _line("presence", {**asdict(standing), "digests": [asdict(each) for each in told]})
        last = page[-1]


async def _agent_lines(memory: Memory, scope: Scope) -> AsyncIterator[str]:
    """What the agent is to do at set times, and what it is still to answer."""
    task: Task | None = None
    while tasks := await memory.store.exported_tasks(scope, limit=_PAGE, after=task):
        for task in tasks:
            yield _line("task", asdict(task))
    message: Waiting | None = None
    while messages := await memory.store.exported_messages(scope, limit=_PAGE, after=message):
        for message in messages:
            yield _line("waiting", asdict(replace(message, listener=None, answered_at=None)))


async def import_lines(memory: Memory, lines: Iterable[str]) -> int:
    """Write down what an export holds; the answer is how many turns were new."""
    imported = number = 0
    ended = False
    pending = _Pending(memory)
    for number, line in enumerate(lines, 1):
        if number == 1:
            check_first_line(line)
            continue
        kind, value = _parsed(line, number)
        try:
            match kind:
                case "owner":
                    owner = _read(Owner, value)
                    if await memory.store.is_forgotten(owner):
                        pending.forgotten.add((owner.id, owner.id))
                    else:
                        await memory.store.restore_owner(owner)
                case "session":
                    imported += await pending.flush()
                    await pending.begin(_read(Session, value))
                case "turn":
                    imported += await pending.add(_read(Turn, value))
                case "folded":
                    imported += await pending.flush()
                    await pending.fold(value)
                case "summary":
                    imported += await pending.flush()
                    await pending.summarise(_read(Summary, value))
                case "fact":
                    imported += await pending.flush()
                    await pending.know(value)
                case "read":
                    if not pending.is_forgotten(value["owner"], value["session"]):
                        await memory.store.mark_read(**value)
                case "goal":
                    imported += await pending.flush()
                    await pending.act(_read(GoalEvent, value))
                case "presence":
                    await pending.stand(value)
                case "task":
                    imported += await pending.flush()
                    await pending.restore_task(_read(Task, value))
                case "waiting":
                    imported += await pending.flush()
                    await pending.restore_message(_read(Waiting, value))
                case "work":
                    imported += await pending.flush()
                    owner_name, due = value.pop("owner"), _read(Due, value)
                    if (owner_name, due.subject) not in pending.forgotten:
                        await memory.store.mark_due(owner_name, due)
                case "end":
                    ended = True
                case _:
                    raise BadInput(
                        f"{kind!r} is not known; this version reads owner, session, turn, folded, summary, fact, read, goal, "
                        "presence, task, waiting and work"
                    )
        except (BadInput, TypeError, ValueError, KeyError, AttributeError, AssertionError) as error:
            reason = error if isinstance(error, BadInput) else f"{type(error).__name__}, {error}"
            raise BadInput(
                f"line {number}: {reason}. What came before it is imported; mend the line and import again"
            ) from None
    imported += await pending.flush()
    if not number:
        check_first_line("")
    if not ended:
        raise BadInput(
            f"the export breaks off after line {number}: its end is missing. What is there of it is imported; "
            "import it again when it is whole"
        )
    return imported


class _Pending:
    """The turns of one session that are read but not yet written."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._session: Session | None = None
        self._there = 0
        self._next_seq = 1
        self._entries: list[Entry] = []
        self._bytes = 0
        self._events: list[GoalEvent] = []
        self._stones = 0
        """How many of the session's turns were forgotten when it was exported."""
        self.forgotten: set[tuple[str, str | None]] = set()
        """What was forgotten here, as (owner, session) or (owner, owner): nothing of it is imported."""

    async def begin(self, session: Session) -> None:
        self._session = session
        self._next_seq = 1
        self._stones = 0
        if await self._memory.store.is_forgotten(session):
            self.forgotten.add((session.owner, session.id))
            return
        self._there = await self._memory.store.restore_session(session)

    @property
    def _is_forgotten(self) -> bool:
        return self._session is not None and (self._session.owner, self._session.id) in self.forgotten

    async def add(self, turn: Turn) -> int:
        if self._session is None or turn.session != self._session.id:
            raise BadInput(f"a turn of session {turn.session!r} stands outside its session")
        if turn.seq != self._next_seq:
            raise BadInput(f"turn {turn.seq} stands where turn {self._next_seq} of session {turn.session!r} should")
        self._next_seq += 1
        if self._is_forgotten:
            return 0
        self._stones += is_stone(turn.removed)
        entry = self._memory.intake.prepare(_draft(turn), self._session.binding.agent)
        if turn.seq <= self._there:
            await self._check_same(turn, entry)
            return 0
        self._entries.append(entry)
        self._bytes += entry.bytes
        full = len(self._entries) >= _PAGE or self._bytes >= _BATCH_BYTES_MAX
        return await self.flush() if full else 0

    async def flush(self) -> int:
        if not self._entries or self._session is None:
            return 0
        entries, self._entries, self._bytes = self._entries, [], 0
        await self._memory.store.restore_turns(
            self._session.owner, self._session.id, self._next_seq - len(entries), entries
        )
        return len(entries)

    async def fold(self, value: dict[str, Any]) -> None:
        """The session's blocks and reports, once all the turns they stand for are there."""
        if self._session is None or value["session"] != self._session.id:
            raise BadInput(f"blocks of session {value['session']!r} stand outside their session")
        if self._is_forgotten:
            return
        blocks = [_read(Block, each) for each in value["blocks"]]
        reports = [_read(Report, each) for each in value["reports"]]
        await self._memory.store.restore_blocks(self._session, blocks, reports, value["fence"], stones=self._stones)

    async def summarise(self, summary: Summary) -> None:
        """The session's summary, unless it has a newer one."""
        if self._session is None or summary.session != self._session.id:
            raise BadInput(f"a summary of session {summary.session!r} stands outside its session")
        if not self._is_forgotten:
            await self._memory.store.restore_summary(self._session.owner, summary, stones=self._stones)

    def is_forgotten(self, owner: str, session: str) -> bool:
        """Whether nothing of this session is imported."""
        return bool({(owner, session), (owner, owner)} & self.forgotten)

    async def know(self, value: dict[str, Any]) -> None:
        """A fact, with those of its proofs that stand in the turns that are here; without any it is not one, and not
        without a turn that words of it come from.
        """
        digest = value.pop("digest")
        proofs = tuple(_read(Evidence, each) for each in value.pop("evidence"))
        fact = replace(_read(Fact, value), evidence=proofs)
        digest = received(fact, digest)
        held = tuple([each for each in proofs if await self._holds(fact, each)])
        needed = sum(each.needed for each in proofs)
        stands = any(each.proves for each in held) and sum(each.needed for each in held) == needed
        if stands or fact.status == "forgotten":
            await self._memory.store.restore_fact(replace(fact, evidence=held), digest)

    async def act(self, event: GoalEvent) -> None:
        """A goal event. They are written some at a time, those of one owner together."""
        if self._events and (event.owner, event.agent) != (self._events[0].owner, self._events[0].agent):
            raise BadInput(f"a goal of {event.owner!r} stands among those of {self._events[0].owner!r}")
        if event.outcome not in OUTCOMES:
            raise BadInput(f"{event.outcome!r} is no outcome; use one of {', '.join(OUTCOMES)}")
        for what in ("goal", "step"):
            check_goal(getattr(event, what), what)
        words = self._memory.goal_words
        event = replace(
            event,
            title=words(event.agent, event.title, TITLE_CHARS_MAX) or event.goal,
            note=words(event.agent, event.note, NOTE_CHARS_MAX),
        )
        if (event.owner, event.owner) not in self.forgotten:
            self._events.append(event)
        if len(self._events) >= _PAGE:
            await self._flush_events()

    async def stand(self, value: dict[str, Any]) -> None:
        """When somebody was last seen, and what they were told."""
        await self._flush_events()
        told = [_read(Digest, each) for each in value.pop("digests")]
        if wrong := next((each for each in told if each.kind not in OCCASIONS or each.status not in STATUSES), None):
            raise BadInput(
                f"a digest is {wrong.status!r} and {wrong.kind!r}; it is one of {STATUSES} and of {OCCASIONS}"
            )
        standing = _read(Standing, value)
        if (standing.owner, standing.owner) not in self.forgotten:
            await self._memory.store.restore_standing(standing, told)

    async def restore_task(self, task: Task) -> None:
        """A task, and the work it makes due."""
        await self._flush_events()
        check_task(task)
        if (task.owner, task.owner) not in self.forgotten:
            clean = self._memory.intake.prepare(_told(task.prompt), task.agent).draft.text
            await self._memory.store.restore_task(replace(task, prompt=clean))

    async def restore_message(self, message: Waiting) -> None:
        """A message that waits, behind those that do; one that does so already stays as it is."""
        assert message.binding and message.place and message.key, "a message has a place and a key"
        if self.is_forgotten(message.owner, message.place):
            return
        draft = replace(_told(message.text), parts=message.parts)
        clean = self._memory.intake.prepare(draft, message.agent).draft
        kept = replace(message, text=clean.text, parts=tuple(clean.parts), listener=None)
        await self._memory.store.put_message(kept)

    async def _flush_events(self) -> None:
        events, self._events = self._events, []
        if events:
            await self._memory.store.restore_goals(events[0].owner, events)

    async def _holds(self, fact: Fact, proof: Evidence) -> bool:
        if self.is_forgotten(fact.owner, proof.session):
            return False
        try:
            turn = await self._memory.store.turn(fact.owner, proof.session, proof.seq)
        except NotFound:
            return False
        return fact.status == "forgotten" or f" {normalised(proof.quote)} " in f" {normalised(raw_words_of(turn))} "

    async def _check_same(self, turn: Turn, entry: Entry) -> None:
        assert self._session is not None
        there = await self._memory.store.turn(self._session.owner, turn.session, turn.seq)
        if not is_stone(there.removed) and (there.role, there.text) != (turn.role, entry.draft.text):
            raise BadInput(f"session {turn.session!r} already has another turn {turn.seq}")


def _told(text: str) -> Draft:
    """Words on their way in, to be freed of secrets as all are."""
    return Draft(role="user", text=text, trust="agent", origin="task")


def _draft(turn: Turn) -> Draft:
    shared = {each.name for each in fields(Draft)} & {each.name for each in fields(Turn)}
    return Draft(**{name: getattr(turn, name) for name in shared})


def check_first_line(line: str) -> None:
    """Whether what begins so is an export that this version can read."""
    if not line.strip():
        raise BadInput("this is empty, and no export of Afterglow; `afterglow export` writes one")
    kind, value = _parsed(line, 1)
    if kind != "format" or value.get("name") != FORMAT:
        raise BadInput("line 1: this is not an export of Afterglow; `afterglow export` writes one")
    if value.get("version", 0) > VERSION:
        raise BadInput(f"line 1: this export has version {value['version']}, newer than {VERSION}; upgrade Afterglow")


def _line(kind: str, value: dict[str, Any]) -> str:
    return json.dumps({kind: value}, ensure_ascii=False, default=datetime.isoformat, separators=(",", ":"))


def _parsed(line: str, number: int) -> tuple[str, dict[str, Any]]:
    try:
        found: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput(f"line {number}: not JSON ({error})") from None
    if isinstance(found, dict) and len(cast(Any, found)) == 1:
        ((kind, value),) = cast(dict[str, Any], found).items()
        if isinstance(value, dict):
            return kind, cast(dict[str, Any], value)
    raise BadInput(f'line {number}: not an object such as {{"turn": {{…}}}}')


def _read(record: type[T], value: dict[str, Any]) -> T:
    """A record from its JSON: times, bindings and tuples as they were."""
    known = {each.name for each in fields(cast(Any, record))}
    if unknown := sorted(value.keys() - known):
        raise BadInput(f"unknown field {unknown[0]!r} in a {record.__name__.lower()}")
    return record(**{name: _restored(name, each) for name, each in value.items()})


def _restored(name: str, value: Any) -> Any:
    if name.endswith("_at") or name in ("at", "since", "until"):
        return None if value is None else moment_within(datetime.fromisoformat(value), name)
    if name == "binding":
        return Binding(**value)
    if name == "folded":
        return Folded(**value)
    if name == "recalled":
        return tuple((start, end) for start, end in value)
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
