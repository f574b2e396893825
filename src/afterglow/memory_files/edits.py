"""What somebody wrote into a memory file: read with care, and compared with what is known.

Only sentences are taken from a file: a new one, or another in the place of a known one. What an entry says of itself besides
(its status, its proof, its trust) is the database's to say, since whoever can write files may be an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from afterglow.errors import BadInput
from afterglow.facts import CONFIDENCES, CONTENT_CHARS_MAX, FACT_TYPES, Confidence, Fact, FactType, normalised
from afterglow.memory_files.documents import FACTS, INDEX, is_day, is_sealed, line_of
from afterglow.store.files import Remembered
from afterglow.turns import check_text

BYTES_MAX = 5_000_000
OWN_BYTES_MAX = 64_000_000
"""The index of a quarter of a million facts."""
CHANGES_MAX = 200
"""More new sentences than this in one file are no edit by hand."""
_ID = re.compile("[0-9abcdefghjkmnpqrstvwxyz]{16}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """One entry as a file has it. What it does not say is None."""

    id: str | None
    content: str
    type: FactType | None
    confidence: Confidence | None
    date: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A file that can be read."""

    name: str
    sealed: bool
    entries: tuple[Given, ...]
    owner: str | None = None
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the index: in which file each fact stands, by its id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A sentence that a file says and the database does not."""

    owner: str
    name: str
    content: str
    type: FactType
    confidence: Confidence
    source_date: str | None
    supersedes: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What is taken in of a page, and in words what is not."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


def page_of(name: str, data: bytes) -> Page:
    """The file as it can be read; BadInput says why it cannot."""
    try:
        document: Any = json.loads(data.decode("utf-8-sig"))
        sealed = isinstance(document, dict) and is_sealed(cast(dict[str, Any], document), name)
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not UTF-8 text (byte {error.start})") from None
    except RecursionError:
        raise BadInput("it is nested too deep") from None
    except ValueError as error:
        raise BadInput(f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadInput("it must be a JSON object with a list `facts`")
    said = cast(dict[str, Any], document)
    if sealed:
        return _sealed_page(name, said)
    listed: Any = said.get("facts")
    if not isinstance(listed, list):
        raise BadInput("it has no list `facts`")
    entries = enumerate(cast(list[Any], listed), 1)
    return Page(name=name, sealed=False, entries=tuple(_given(number, entry) for number, entry in entries))


def difference(page: Page, remembered: Remembered, listed: Mapping[str, str]) -> Difference:
    """What the page says that is not known. `listed` is in which file each fact stood when it was last written."""
    known = {fact.id: fact for fact in remembered.facts}
    changes: list[Change] = []
    notes: list[str] = []
    for number, given in enumerate(page.entries, 1):
        fact = known.get(given.id or "")
        if fact is None and is_id(given.id or ""):
            notes.append("an entry is of a fact that is there no more, and is not taken in")
        elif fact is None:
            _check_words(number, given)
            changes.append(_new(page, given, remembered.root))
        elif given.content != (line_of(fact) if page.name == INDEX else fact.content):
            if page.name == INDEX and given.content.endswith("…"):
                notes.append(f"the line of {fact.id} is cut; edit {listed.get(fact.id, 'the file of its day')} instead")
            else:
                _check_words(number, given)
                changes.append(_instead(page, given, fact))
        elif {given.type, given.confidence} - {None, fact.type, fact.confidence}:
            notes.append(
                f"the type and confidence of {fact.id} are put back; `afterglow facts edit --type` changes a type"
            )
    if len(changes) > CHANGES_MAX:
        raise BadInput(f"it has {len(changes):,} new sentences, and {CHANGES_MAX} are taken from one file; give fewer")
    there = {given.id for given in page.entries}
    lost = [id for id in known if id not in there and (page.name == INDEX or listed.get(id) == f"{FACTS}/{page.name}")]
    notes += [f"the entry {id} was taken out, and is put back" for id in lost if id in listed]
    return Difference(changes=tuple(changes), notes=tuple(notes))


def is_id(text: str) -> bool:
    """Whether this is how a fact is named here: what has such a name was known once."""
    return _ID.fullmatch(text) is not None


def _sealed_page(name: str, said: Mapping[str, Any]) -> Page:
    """What the writer's own index said; nothing is taken from the writer's own files. A seal can be forged: it is checked."""
    if name != INDEX:
        return Page(name=name, sealed=True, entries=())
    try:
        files = {str(entry["id"]): str(entry["file"]) for entry in said["facts"]}
        owner = str(said["owner"])
    except (LookupError, TypeError):
        raise BadInput("it is not as an index is written") from None
    return Page(name=name, sealed=True, entries=(), owner=owner, files=files)


def _given(number: int, entry: Any) -> Given:
    if not isinstance(entry, dict):
        raise BadInput(f"entry {number} is not a JSON object")
    said = cast(dict[str, Any], entry)
    content = said.get("content", said.get("line"))
    if not isinstance(content, str) or not content.strip():
        raise BadInput(f"entry {number} has no `content`")
    check_text(content, f"the content of entry {number}")
    if len(content) > CONTENT_CHARS_MAX:
        raise BadInput(
            f"the content of entry {number} has {len(content):,} characters, and {CONTENT_CHARS_MAX} are allowed"
        )
    date = said.get("source_date", said.get("date"))
    if date is not None and not (isinstance(date, str) and is_day(date)):
        raise BadInput(f"the source_date of entry {number} is no day; write it as 2026-03-02")
    return Given(
        id=said["id"] if isinstance(said.get("id"), str) else None,
        content=content,
        type=_choice(said, "type", FACT_TYPES, number),
        confidence=_choice(said, "confidence", CONFIDENCES, number),
        date=date,
    )


def _check_words(number: int, given: Given) -> None:
    """A new sentence says something; what is known already may be older than this rule."""
    if not normalised(given.content):
        raise BadInput(f"the content of entry {number} has no word in it; say it in words, or take the entry out")


def _choice(said: Mapping[str, Any], key: str, allowed: tuple[Any, ...], number: int) -> Any:
    value = said.get(key)
    if value is not None and value not in allowed:
        raise BadInput(f"the {key} of entry {number} is unknown; use one of {', '.join(allowed)}")
    return value


def _new(page: Page, given: Given, owner: str) -> Change:
    day = page.name.removesuffix(".json")
    return Change(
        owner=owner,
        name=f"{FACTS}/{page.name}",
        content=given.content.strip(),
        type=given.type or "other",
        confidence=given.confidence or "medium",
        source_date=given.date or (day if is_day(day) else None),
        supersedes=None,
    )


def _instead(page: Page, given: Given, fact: Fact) -> Change:
    """It stands beside what it would take the place of: in the file of the same day, and with the same owner."""
    return Change(
        owner=fact.owner,
        name=f"{FACTS}/{page.name}",
        content=given.content.strip(),
        type=given.type or fact.type,
        confidence=given.confidence or fact.confidence,
        source_date=fact.source_date,
        supersedes=fact.id,
    )
