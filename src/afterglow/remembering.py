"""Facts as people handle them: list, show with proof, add, edit, approve, reject, forget, extract.

What the owner states through one of these doors is a turn like any other, on the channel `facts`: so every fact has a turn
that proves it, also one that was typed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from afterglow.clock import new_id
from afterglow.errors import BadInput, ClaimLost
from afterglow.extraction import Facts, Outcome, Progress
from afterglow.facts import (
    CONTENT_CHARS_MAX,
    FACT_TYPES,
    STATUSES,
    Evidence,
    Fact,
    FactPlace,
    FactType,
    Status,
    normalised,
)
from afterglow.facts.dates import as_stated
from afterglow.forget import rewritten
from afterglow.memory_files import Agreed, MemoryFiles
from afterglow.memory_files.taking import address_of
from afterglow.reading import check_session
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.facts import Again, FactsChanged, Gathered, WantedFacts
from afterglow.store.log import Entry
from afterglow.store.transaction import Scope
from afterglow.turns import Binding, Draft, Session, Turn, check_text
from afterglow.work import Claim, Due
from afterglow.worker import Commit, Worker

CHANNEL = "facts"
"""The channel of what the owner states to Afterglow itself."""
_OWN_CHANNELS = (CHANNEL, "files")
_AROUND = 2
_TRIES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """A proof with the turns around it: `turns` holds the one that is quoted, and a few before and after."""

    evidence: Evidence
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """What the owner stated, as it is known now."""

    fact: Fact
    new: bool
    """Whether it was not known before."""
    believed: bool = False
    """Whether it was known, and was not the owner's word before."""
    retyped: bool = False
    """Whether it was known, and had another type before."""

    @property
    def changed(self) -> bool:
        """Whether anything changed by it."""
        return self.new or self.believed or self.retyped


class Remembered:
    """The facts of a memory."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        entry_of: Callable[[Draft, str], Entry],
        reader: Facts,
        worker: Worker,
        files: MemoryFiles,
    ) -> None:
        self._store = store
        self._settings = settings
        self._entry_of = entry_of
        self._reader = reader
        self._worker = worker
        self._files = files
        self._zone = ZoneInfo(settings.zone)

    async def list(
        self,
        owner: Scope,
        *,
        status: Status | None = "active",
        type: FactType | None = None,
        since: str | None = None,
        until: str | None = None,
        session: str | None = None,
        limit: int = 50,
        before: Fact | FactPlace | None = None,
    ) -> list[Fact]:
        """Facts, the newest first. `since` and `until` are days such as 2026-03-02; `status` None is all but forgotten ones."""
        _check(type, (*FACT_TYPES, None), "type")
        _check(status, (*STATUSES, None), "status")
        most = self._settings.facts.results_max
        if not 1 <= limit <= most:
            raise BadInput(f"a list gives 1 to {most} facts (facts.results_max); {limit} were asked for")
        first, end = _day(since), _day(until)
        if first is not None and end is not None and first >= end:
            raise BadInput(f"this is no span of time: since {first} is not before until {end}")
        wanted = WantedFacts(status=status, type=type, since=first, until=end, session=session)
        return await self._store.facts(owner, wanted, limit=limit, before=before)

    async def show(self, owner: Scope, fact: str) -> Fact:
        """One fact."""
        return await self._store.fact(owner, fact)

    async def superseded_by(self, fact: Fact) -> Fact | None:
        """The fact that took the place of a superseded one. None where it was read late, or that fact is there no more."""
        return await self._store.superseding_fact(fact.owner, fact.id) if fact.status == "superseded" else None

    async def proofs(self, fact: Fact) -> list[Proof]:
        """Each proof of the fact with the turns around it."""
        return [
            Proof(
                evidence=each,
                turns=tuple(
                    await self._store.turns(
                        fact.owner, each.session, first_seq=max(1, each.seq - _AROUND), last_seq=each.seq + _AROUND
                    )
                ),
            )
            for each in fact.evidence
        ]

    async def add(
        self, owner: str, content: str, *, type: FactType | None = None, supersedes: str | None = None
    ) -> Fact:
        """The owner states a fact, of type other if none is given. One that was forgotten is there again; one of the owner's
        that is known stays as it is, but for a type that is given.
        """
        return (await self.state(owner, content, type=type, supersedes=supersedes)).fact

    async def state(
        self, owner: str, content: str, *, type: FactType | None = None, supersedes: str | None = None
    ) -> Stated:
        """The same as `add`, and what changed by it."""
        _check(type, (*FACT_TYPES, None), "type")
        check_text(content, "a fact")
        content = " ".join(content.split())
        if not 1 <= len(content) <= CONTENT_CHARS_MAX:
            raise BadInput(f"a fact has 1 to {CONTENT_CHARS_MAX} characters; this has {len(content)}")
        binding = await address_of(self._store, owner, CHANNEL)
        note = self._note(binding, content)
        return await self._stated(owner, binding, note, self._absolute(note.draft), type, supersedes)

    async def _stated(
        self, owner: str, binding: Binding, note: Entry, content: str, type: FactType | None, supersedes: str | None
    ) -> Stated:
        """The content is a fact that the note proves; what is known and the owner's needs no note."""
        turn: Turn | None = None
        for _ in range(_TRIES):
            known = await self._store.known_facts(owner, [content])
            held = _in_force(known.held.get(content))
            if held is not None and supersedes not in (None, held.id):
                approve = "approve that one, and " if held.status == "pending" else ""
                raise BadInput(
                    f"fact {held.id!r} ({held.status}) says this already; {approve}forget {supersedes!r} if it is no "
                    "longer true"
                )
            if held is not None and turn is None and (held.status, held.trust) == ("active", "owner"):
                return await self._known(held, type, believed=False)
            turn = turn or await self._store.append(owner, binding, note)
            new = self._fact(turn, content, type or "other", supersedes)
            try:
                await self._store.commit_facts(owner, _gathered(known.version, new, held))
            except FactsChanged:
                continue
            except ClaimLost:  # the note was forgotten with a fact that said the same
                turn = None
                continue
            if held is not None:
                return await self._known(held, type, believed=True)
            await self.write_files(new.owner)
            return Stated(fact=await self._store.fact(owner, new.id), new=True)
        raise FactsChanged(f"the facts of {owner!r} changed {_TRIES} times while one was added; add it again")

    async def _known(self, held: Fact, type: FactType | None, *, believed: bool) -> Stated:
        """What is known and the owner's has the type that is given."""
        retyped = type not in (None, held.type)
        if type is not None and retyped:
            await self._store.retype_fact(held.owner, held.id, type)
        await self.write_files(held.owner)
        fact = await self._store.fact(held.owner, held.id)
        return Stated(fact=fact, new=False, believed=believed, retyped=retyped)

    async def edit(self, owner: str, fact: str, content: str | None = None, *, type: FactType | None = None) -> Fact:
        """The owner states it otherwise: a new fact takes the place of the old one, which stays readable.

        With the same words, or none, it is the same fact, on the owner's word and of the type that is given. Who edits a
        pending fact states it: whatever is given, it is the owner's word from then on, and active.
        """
        _check(type, (*FACT_TYPES, None), "type")
        old = await self._store.fact(owner, fact)
        same = old.content if content is None else " ".join(content.split())
        if old.status == "superseded" and (new := await self._edited(owner, old, same)) and type in (None, new.type):
            return new
        if old.status not in ("active", "pending"):
            raise BadInput(f"fact {fact!r} is {old.status}; only an active or pending one can be edited")
        if same != old.content:
            return await self.add(owner, same, type=type or old.type, supersedes=old.id)
        binding = await address_of(self._store, owner, CHANNEL)  # as it is, and not with days counted from today
        return (await self._stated(owner, binding, self._note(binding, same), same, type, None)).fact

    async def _edited(self, owner: str, old: Fact, content: str) -> Fact | None:
        """The fact that took the place of this one, if that says what is said again: an edit is safe to repeat."""
        held = (await self._store.known_facts(owner, [content])).held.get(content)
        return held if held is not None and held.supersedes == old.id and held.status == "active" else None

    async def approve(self, owner: str, fact: str) -> Fact:
        """The owner believes a pending fact. This door is the owner's alone; no model and no tool has it."""
        approved = await self._store.approve_fact(owner, fact)
        await self.write_files(approved.owner)
        return approved

    async def reject(self, owner: str, fact: str) -> Fact:
        """The owner does not believe a pending fact: it is forgotten, and does not come back."""
        found = await self._store.fact(owner, fact)
        if found.status != "pending":
            raise BadInput(f"fact {fact!r} is {found.status}; only a pending one can be rejected, any can be forgotten")
        return await self.forget(owner, fact)

    async def forget(self, owner: str, fact: str) -> Fact:
        """Nothing of the fact stays but what keeps it from coming back.

        Turns of a conversation that prove it stay. What was said to Afterglow alone, to have it kept, is forgotten with it.
        Where the memory files cannot be written, that is an error; the fact is forgotten all the same.
        """
        forgotten = await self._store.forget_fact(owner, fact, stated_on=_OWN_CHANNELS)
        await rewritten(self._files.bring, forgotten.owner)
        await self.write_files(forgotten.owner)  # which ends the work that is due
        return forgotten

    async def extract(
        self,
        session: Session,
        *,
        anew: bool = False,
        progress: Progress | None = None,
        outcome: Outcome | None = None,
    ) -> Outcome:
        """Read the session for facts now, from where it was last read to; with `anew`, from its beginning.

        What becomes of each part is added to `outcome` when it is committed, so that who breaks it off knows of it.
        """
        check_session(session)
        owner, name = session.owner, session.id
        begun = await (self._store.read_anew(owner, name) if anew else self._store.session(owner, name))
        outcome = Outcome() if outcome is None else outcome

        async def act(claim: Claim) -> Commit | None:
            fresh = await self._store.session(claim.owner, claim.subject)
            told = None if progress is None else _going_on(progress, fresh.facts_seq - begun.facts_seq)
            await self._reader.read(fresh, claim, told, outcome=outcome)
            return None

        while True:  # a long one takes several acts, each within its time
            due = Due(kind="facts", at=self._store.clock.now(), reason="manual", subject=name)
            await self._store.mark_due(owner, due)
            await self._worker.do_now(owner, "facts", name, act)
            if (await self._store.session(owner, name)).facts_seq >= begun.said_seq:
                break
        await self.write_files(owner)
        return outcome

    async def write_files(self, owner: str) -> None:
        """Bring the owner's files to what is known now, if that is due. Where it cannot be done it stays due, and is logged."""
        await self._worker.attend(owner, "files", owner, at_once=True)

    async def write_due_files(self, owner: str) -> None:
        """The same for who reads in the folder, of all owners that share it; what failed waits until it is tried again.

        A folder that somebody took away is due too.
        """
        await self._files.mark_missing(owner)
        for each in await self._store.folder_owners(owner):
            await self._worker.attend(each, "files", each)

    async def rebuild(self, owner: str) -> Agreed:
        """Write all files of the owner anew from the database. What was edited in them is taken in first, as pending."""
        return await self._files.rebuild(owner)

    def _note(self, binding: Binding, content: str) -> Entry:
        """What the owner states, for the log: a note that sets off nothing, and that a fact can quote."""
        draft = Draft(role="system", text=content, trust="owner", origin="task", at=self._store.clock.now())
        entry = self._entry_of(draft, binding.agent)
        if not normalised(entry.draft.text):
            raise BadInput("there is no word left in it, once what is private is taken out; say it in words")
        return entry

    def _absolute(self, note: Draft) -> str:
        """What the owner stated with "tomorrow" as the day it is."""
        assert note.at is not None, "a note says when it was written"
        return as_stated(note.text, note.at.astimezone(self._zone))

    def _fact(self, turn: Turn, content: str, type: FactType, supersedes: str | None) -> Fact:
        return Fact(
            owner=turn.owner,
            id=new_id(self._store.clock),
            type=type,
            content=content,
            confidence="high",
            source_date=turn.at.astimezone(self._zone).date().isoformat(),
            extracted_at=turn.at,
            trust="owner",
            status="active",
            why=None,
            supersedes=supersedes,
            session=turn.session,
            way="owner",
            model="none",
            prompt="none",
            changed_at=turn.at,
            evidence=(Evidence(session=turn.session, seq=turn.seq, quote=turn.text, at=turn.at),),
        )


def _going_on(progress: Progress, done: int) -> Progress:
    """Progress of what is left, told as progress of the whole."""
    return lambda now, rest: progress(done + now, done + rest)


def _in_force(held: Fact | None) -> Fact | None:
    """The fact, unless it was forgotten."""
    return held if held is not None and held.status in ("active", "pending") else None


def _gathered(version: int, new: Fact, held: Fact | None) -> Gathered:
    """The new fact, or of one that is held already its proof."""
    if held is None:
        return Gathered(version=version, new=(new,))
    again = Again(owner=held.owner, fact=held.id, evidence=new.evidence[0], believed=True)
    return Gathered(version=version, again=(again,))


def _day(day: str | None) -> str | None:
    """The day as facts are ordered by it: 20260302 and 2026-W10-1 are 2026-03-02."""
    try:
        return None if day is None else date.fromisoformat(day).isoformat()
    except (TypeError, ValueError):
        raise BadInput(f"{day!r} is no day; write it as 2026-03-02") from None


def _check(given: str | None, allowed: Sequence[str | None], what: str) -> None:
    if given not in allowed:
        raise BadInput(f"{what} {given!r} is not known; use one of {', '.join(str(each) for each in allowed if each)}")
