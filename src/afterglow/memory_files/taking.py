"""How a sentence that somebody wrote into a memory file becomes a fact: as pending, with a turn that proves it.

It is first written into the owner's log as what it is, a text of unknown hand; secrets are taken out there, as everywhere. The
turn's key is made of the sentence and its place, so that a kill between the turn and the fact gives no second turn; and where
the sentence speaks of "tomorrow", of the day it is seen from, since on another day that is another sentence. What is known
already, or was forgotten, is not taken in again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from hashlib import blake2b
from typing import NamedTuple

from afterglow.clock import new_id
from afterglow.errors import BadInput, ClaimLost
from afterglow.facts import CONTENT_CHARS_MAX, Evidence, Fact, normalised
from afterglow.facts.dates import as_stated
from afterglow.memory_files.edits import Change
from afterglow.store.contract import Store
from afterglow.store.facts import Gathered
from afterglow.store.log import Entry
from afterglow.store.readings import Read
from afterglow.turns import Binding, Draft, Turn, binding_of

CHANNEL = "files"
_COMPARED_MAX = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A change with its text as the log will have it."""

    change: Change
    entry: Entry
    at: datetime
    """When it was written down, in the owner's zone."""

    @property
    def said(self) -> str:
        """The text, its secrets taken out."""
        return self.entry.draft.text.strip()

    @property
    def day(self) -> str:
        """The day it is of. Nobody said it later than it is taken in."""
        today = self.at.date().isoformat()
        return min(self.change.source_date or today, today)

    @property
    def content(self) -> str:
        """What the fact says: the same, with "tomorrow" as the day it is seen from its own."""
        return as_stated(self.said, self.at, date.fromisoformat(self.day))


class Taken(NamedTuple):
    """The facts that came of changes, and what is to be said of the others, each thing once."""

    facts: list[Fact]
    notes: dict[str, None]


class Taking:
    """Takes in what people and programs wrote into memory files."""

    def __init__(self, store: Store, entry_of: Callable[[Draft, str], Entry], zone: tzinfo = UTC) -> None:
        self._store = store
        self._entry_of = entry_of
        self._zone = zone

    async def take(self, changes: Sequence[Change]) -> Taken:
        """The facts that came of it, all pending."""
        taken = Taken([], {})
        for owner in sorted({change.owner for change in changes}):
            binding = await address_of(self._store, owner, CHANNEL)
            mine = [self._sentence(change, binding) for change in changes if change.owner == owner]
            taken.facts.extend(await self._taken(owner, binding, _distinct(mine), taken.notes))
        return taken

    async def _taken(
        self, owner: str, binding: Binding, sentences: Sequence[Sentence], notes: dict[str, None]
    ) -> list[Fact]:
        for _ in range(_COMPARED_MAX):
            known = await self._store.known_facts(owner, [each.content for each in sentences])
            new = [each for each in sentences if each.content not in known.held]
            notes.update(
                (f"{each.change.name}: a sentence in it was forgotten, and is not taken in again", None)
                for each in sentences
                if each.content in known.held and known.held[each.content].status == "forgotten"
            )
            turns = [await self._store.append(owner, binding, each.entry) for each in new]
            begun = [replace(each, at=self._here(turn.at)) for each, turn in zip(new, turns, strict=True)]
            if [each.content for each in begun] != [each.content for each in new]:
                sentences = _distinct(begun)  # written down at an earlier hour, and seen from that
                continue
            # A turn that says it no more was forgotten, and so stays what it said.
            proved = [
                (each, turn)
                for each, turn in zip(new, turns, strict=True)
                if turn.cut or turn.text.strip() == each.said
            ]
            if not proved:
                return []
            facts = tuple(self._fact(each, turn) for each, turn in proved)
            try:
                read = await self._read(owner, turns)
                return await self._store.commit_facts(owner, Gathered(version=known.version, new=facts), read)
            except ClaimLost:  # other facts came in, or somebody read the session: compare again
                continue
        raise ClaimLost(f"the facts of {owner!r} changed {_COMPARED_MAX} times while a file of theirs was taken in")

    async def _read(self, owner: str, turns: Sequence[Turn]) -> Read | None:
        """These turns are read with that, where they are all that is unread in their session."""
        session = await self._store.session(owner, turns[0].session)
        unread = range(session.facts_seq + 1, session.facts_seq + 1 + len(turns))
        if [(turn.session, turn.seq) for turn in turns] != [(session.id, seq) for seq in unread]:
            return None
        return Read(session=session.id, from_seq=session.facts_seq, to_seq=turns[-1].seq)

    def _sentence(self, change: Change, binding: Binding) -> Sentence:
        now = self._store.clock.now()
        place = "\0".join((change.name, change.supersedes or "", change.content, *self._seen_from(change, now)))
        draft = Draft(
            role="tool",
            text=change.content,
            trust="external",
            origin="import",
            at=now,
            channel=CHANNEL,
            key=f"file {blake2b(place.encode(), digest_size=16).hexdigest()}",
        )
        return Sentence(change=change, entry=self._entry_of(draft, binding.agent), at=self._here(now))

    def _seen_from(self, change: Change, now: datetime) -> list[str]:
        """The day that the sentence counts from; none where it says the same on every day."""
        day = change.source_date or self._here(now).date().isoformat()
        return [day] if as_stated(change.content, datetime.fromisoformat(day)) != change.content else []

    def _here(self, moment: datetime) -> datetime:
        return moment.astimezone(self._zone)

    def _fact(self, sentence: Sentence, turn: Turn) -> Fact:
        change, now = sentence.change, self._store.clock.now()
        return Fact(
            owner=change.owner,
            id=new_id(self._store.clock),
            type=change.type,
            content=sentence.content,
            confidence=change.confidence,
            source_date=sentence.day,
            extracted_at=now,
            trust="external",
            status="pending",
            why=f"it was written into {change.name}",
            supersedes=change.supersedes,
            session=turn.session,
            way="file",
            model="none",
            prompt="none",
            changed_at=now,
            evidence=(Evidence(session=turn.session, seq=turn.seq, quote=sentence.said, at=turn.at),),
        )


async def address_of(store: Store, owner: str, channel: str) -> Binding:
    """The address that an owner's own statements are written from: with its agent and sender, on a channel of their own.

    Owners that are joined may have the same; each has sessions of its own there.
    """
    named = binding_of(owner)
    if named is None:
        newest = await store.sessions(owner, limit=1)
        if not newest:
            raise BadInput(f"owner {owner!r} is not known; write agent/channel/sender, such as kate/telegram/42")
        named = newest[0].binding
    return replace(named, channel=channel)


def _distinct(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Each sentence once, and only those that still say something a fact can hold."""
    by_words = {normalised(each.content): each for each in sentences if len(each.content) <= CONTENT_CHARS_MAX}
    return [each for words, each in by_words.items() if words]
