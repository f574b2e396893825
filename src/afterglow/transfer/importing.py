"""Import of an export, line by line. What was forgotten here is passed over; what is there already stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.digest import OCCASIONS, STATUSES, Digest
from afterglow.errors import BadInput, NotFound
from afterglow.facts import Evidence, Fact, normalised
from afterglow.facts.quoted import sought
from afterglow.facts.received import Wordless, received
from afterglow.facts.said import raw_words_of
from afterglow.goals import NOTE_CHARS_MAX, OUTCOMES, TITLE_CHARS_MAX, GoalEvent
from afterglow.memory import Memory
from afterglow.returning import check_goal
from afterglow.store.inbox import Waiting
from afterglow.store.log import Entry
from afterglow.store.moving_goals import Standing
from afterglow.store.stones import is_stone
from afterglow.store.tasks import Task, check_task
from afterglow.summaries import Summary
from afterglow.transfer.lines import PAGE, check_first_line, parsed, read
from afterglow.turns import Draft, Owner, Session, Turn
from afterglow.work import Due

_BATCH_BYTES_MAX = 8 << 20


async def import_lines(memory: Memory, lines: Iterable[str], passed_over: Counter[str] | None = None) -> int:
    """Write down what an export holds; the answer is how many turns were new.

    What is wrong in it and stops nothing is counted in `passed_over`, by what it is.
    """
    number, ended = 0, False
    problem: BadInput | None = None
    taking = _Import(memory, Counter() if passed_over is None else passed_over)
    for number, line in enumerate(lines, 1):
        if number == 1:
            check_first_line(line)
            continue
        try:
            kind, value = parsed(line)
            ended = ended or kind == "end"
            await taking.take(kind, value)
        except (BadInput, TypeError, ValueError, KeyError, AttributeError, AssertionError) as error:
            reason = error if isinstance(error, BadInput) else f"{type(error).__name__}, {error}"
            advice = "What came before it is imported; mend the line and import again"
            problem = BadInput(f"line {number}: {reason}. {advice}")
            break
    await taking.flush()
    for owner in sorted(taking.known):
        await memory.facts.write_files(owner)
    if problem is not None:
        raise problem
    if not number:
        check_first_line("")
    if not ended:
        raise BadInput(
            f"the export breaks off after line {number}: its end is missing. What is there of it is imported; "
            "import it again when it is whole"
        )
    return taking.imported


class _Import:
    """One import. The turns of a session, and the goals of an owner, are written some at a time, each batch whole."""

    def __init__(self, memory: Memory, passed_over: Counter[str]) -> None:
        self._memory = memory
        self._passed_over = passed_over
        self._session: Session | None = None
        self._there = 0
        self._next_seq = 1
        self._entries: list[Entry] = []
        self._bytes = 0
        self._events: list[GoalEvent] = []
        self._stones = 0
        """How many of the session's turns were forgotten when it was exported."""
        self._forgotten: set[tuple[str, str | None]] = set()
        """What was forgotten here, as (owner, session) or (owner, owner): nothing of it is imported."""
        self.imported = 0
        """How many turns were new."""
        self.known: set[str] = set()
        """Whose facts came in."""
        self._takes: Mapping[str, Callable[[dict[str, Any]], Awaitable[None]]] = {
            "owner": self._owner,
            "session": self._begin,
            "turn": self._turn,
            "folded": self._blocks,
            "summary": self._summary,
            "fact": self._fact,
            "read": self._read_to,
            "goal": self._goal,
            "presence": self._presence,
            "task": self._task,
            "waiting": self._message,
            "work": self._work,
            "end": self._end,
        }

    async def take(self, kind: str, value: dict[str, Any]) -> None:
        """Take in one record. What stood before it is written first, unless it is one of a batch."""
        if kind not in self._takes:
            known = ", ".join(each for each in self._takes if each != "end")
            raise BadInput(f"{kind!r} is not known; this version reads {known}")
        if kind not in ("turn", "goal"):
            await self.flush()
        await self._takes[kind](value)

    async def flush(self) -> None:
        """Write the turns and the goals that are read but not yet written."""
        entries, self._entries, self._bytes = self._entries, [], 0
        if entries and self._session is not None:
            first_seq = self._next_seq - len(entries)
            await self._memory.store.restore_turns(self._session.owner, self._session.id, first_seq, entries)
            self.imported += len(entries)
        events, self._events = self._events, []
        if events:
            await self._memory.store.restore_goals(events[0].owner, events)

    async def _end(self, value: dict[str, Any]) -> None:
        """There is nothing in it to keep."""

    async def _owner(self, value: dict[str, Any]) -> None:
        owner = read(Owner, value)
        if await self._memory.store.is_forgotten(owner):
            self._forgotten.add((owner.id, owner.id))
            self._passed_over["owners that were forgotten here"] += 1
        else:
            await self._memory.store.restore_owner(owner)

    async def _begin(self, value: dict[str, Any]) -> None:
        self._session = session = read(Session, value)
        self._next_seq = 1
        self._stones = 0
        if await self._memory.store.is_forgotten(session):
            self._forgotten.add((session.owner, session.id))
            self._passed_over["sessions that were forgotten here"] += 1
            return
        self._there = await self._memory.store.restore_session(session)

    async def _turn(self, value: dict[str, Any]) -> None:
        turn = read(Turn, value)
        if self._session is None or turn.session != self._session.id:
            raise BadInput(f"a turn of session {turn.session!r} stands outside its session")
        if turn.seq != self._next_seq:
            raise BadInput(f"turn {turn.seq} stands where turn {self._next_seq} of session {turn.session!r} should")
        self._next_seq += 1
        if self._is_passed_over(self._session):
            return
        self._stones += is_stone(turn.removed)
        entry = self._memory.intake.prepare(_draft(turn), self._session.binding.agent)
        if turn.seq <= self._there:
            await self._check_same(turn, entry)
            return
        self._entries.append(entry)
        self._bytes += entry.bytes
        if len(self._entries) >= PAGE or self._bytes >= _BATCH_BYTES_MAX:
            await self.flush()

    def _is_passed_over(self, session: Session) -> bool:
        return (session.owner, session.id) in self._forgotten

    async def _blocks(self, value: dict[str, Any]) -> None:
        """The session's blocks and reports, once all the turns they stand for are there."""
        if self._session is None or value["session"] != self._session.id:
            raise BadInput(f"blocks of session {value['session']!r} stand outside their session")
        if self._is_passed_over(self._session):
            return
        blocks = [read(Block, each) for each in value["blocks"]]
        reports = [read(Report, each) for each in value["reports"]]
        await self._memory.store.restore_blocks(self._session, blocks, reports, value["fence"], stones=self._stones)

    async def _summary(self, value: dict[str, Any]) -> None:
        """The session's summary, unless it has a newer one."""
        summary = read(Summary, value)
        if self._session is None or summary.session != self._session.id:
            raise BadInput(f"a summary of session {summary.session!r} stands outside its session")
        if not self._is_passed_over(self._session):
            await self._memory.store.restore_summary(self._session.owner, summary, stones=self._stones)

    def _is_forgotten(self, owner: str, session: str) -> bool:
        """Whether nothing of this session is imported."""
        return bool({(owner, session), (owner, owner)} & self._forgotten)

    async def _fact(self, value: dict[str, Any]) -> None:
        """A fact, with those of its proofs that stand in the turns that are here; without any it is not one, and not
        without a turn that words of it come from.
        """
        digest = value.pop("digest")
        proofs = tuple(read(Evidence, each) for each in value.pop("evidence"))
        fact = replace(read(Fact, value), evidence=proofs)
        try:
            digest = received(fact, digest)
        except Wordless:
            self._passed_over["facts without a word"] += 1
            return
        held = tuple([each for each in proofs if await self._holds(fact, each)])
        needed = sum(each.needed for each in proofs)
        stands = any(each.proves for each in held) and sum(each.needed for each in held) == needed
        if stands or fact.status == "forgotten":
            is_new = await self._memory.store.restore_fact(replace(fact, evidence=held), digest)
            self.known |= {fact.owner} if is_new else set()
        else:
            self._passed_over["facts that nothing here proves"] += 1

    async def _read_to(self, value: dict[str, Any]) -> None:
        """How far a session was read for facts."""
        if not self._is_forgotten(value["owner"], value["session"]):
            await self._memory.store.mark_read(**value)

    async def _goal(self, value: dict[str, Any]) -> None:
        """A goal event. They are written some at a time, those of one owner together."""
        event = read(GoalEvent, value)
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
        if (event.owner, event.owner) not in self._forgotten:
            self._events.append(event)
        if len(self._events) >= PAGE:
            await self.flush()

    async def _presence(self, value: dict[str, Any]) -> None:
        """When somebody was last seen, and what they were told."""
        told = [read(Digest, each) for each in value.pop("digests")]
        if wrong := next((each for each in told if each.kind not in OCCASIONS or each.status not in STATUSES), None):
            raise BadInput(
                f"a digest is {wrong.status!r} and {wrong.kind!r}; it is one of {STATUSES} and of {OCCASIONS}"
            )
        standing = read(Standing, value)
        if (standing.owner, standing.owner) not in self._forgotten:
            await self._memory.store.restore_standing(standing, told)

    async def _task(self, value: dict[str, Any]) -> None:
        """A task, and the work it makes due."""
        task = read(Task, value)
        check_task(task)
        if (task.owner, task.owner) not in self._forgotten:
            clean = self._memory.intake.prepare(_told(task.prompt), task.agent).draft.text
            await self._memory.store.restore_task(replace(task, prompt=clean))

    async def _message(self, value: dict[str, Any]) -> None:
        """A message that waits, behind those that do; one that does so already, or was forgotten, stays as it is."""
        message = read(Waiting, value)
        assert message.binding and message.place and message.key, "a message has a place and a key"
        if self._is_forgotten(message.owner, message.place):
            return
        draft = replace(_told(message.text), parts=message.parts)
        clean = self._memory.intake.prepare(draft, message.agent).draft
        kept = replace(message, text=clean.text, parts=tuple(clean.parts), listener=None)
        await self._memory.store.restore_message(kept)

    async def _work(self, value: dict[str, Any]) -> None:
        owner, due = value.pop("owner"), read(Due, value)
        if (owner, due.subject) not in self._forgotten:
            await self._memory.store.mark_due(owner, due)

    async def _holds(self, fact: Fact, proof: Evidence) -> bool:
        if self._is_forgotten(fact.owner, proof.session):
            return False
        try:
            turn = await self._memory.store.turn(fact.owner, proof.session, proof.seq)
        except NotFound:
            return False
        return fact.status == "forgotten" or sought(proof.quote) in f" {normalised(raw_words_of(turn))} "

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
