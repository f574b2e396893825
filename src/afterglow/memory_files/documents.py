"""Facts as JSON files: one for each day, and the index that answers what is known without opening them.

The same facts give the same bytes, so that only what changed is written. Every file carries a seal, a digest of all it says.
One whose seal does not fit was written by somebody else since, and what that says is looked at before it is written anew
(edits.py). Of one whose seal fits nothing is taken in, so that a kill between a rename and a commit cannot make a file look
edited. But an older file has a seal too, and anybody can make one: whether a file is the one that was written last is told by
the digest of its bytes, which the database keeps.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from hashlib import blake2b
from typing import Any

from afterglow.facts import Evidence, Fact
from afterglow.store.files import Remembered

FORMAT = 1
FACTS = "facts"
INDEX = "index.json"
UNDATED = "undated.json"
LINE_CHARS_MAX = 160

_END = re.compile(rb'"seal": "[0-9a-f]{32}"\n}\n$')
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def documents(remembered: Remembered) -> dict[str, bytes]:
    """The files that say all this, by their names in the folder of facts; none, where nothing is known."""
    if not remembered.facts:
        return {}
    by_file: dict[str, list[Fact]] = {}
    for fact in remembered.facts:
        by_file.setdefault(file_of(fact), []).append(fact)
    days = {name: _sealed(_day(name, remembered.root, by_file[name])) for name in sorted(by_file)}
    return {**days, INDEX: _sealed(_index(remembered))}


def is_one_of_ours(name: str) -> bool:
    """Whether a file of this name belongs to the writer; others are somebody's own."""
    return name in (INDEX, UNDATED) or (name.endswith(".json") and is_day(name.removesuffix(".json")))


def is_of_no_day(name: str) -> bool:
    """Whether it is named as the file of a day is, and there is no such day: 2026-11-31.json."""
    day = name.removesuffix(".json")
    return name.endswith(".json") and _DAY.fullmatch(day) is not None and not is_day(day)


def is_day(text: str) -> bool:
    """Whether this is a day: 2026-03-02."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def file_of(fact: Fact) -> str:
    """The file that a fact stands in, by the day it was said."""
    return f"{fact.source_date}.json" if is_day(fact.source_date) else UNDATED


def is_sealed(document: Mapping[str, Any], name: str) -> bool:
    """Whether the file of this name says what its writer put there."""
    said = {key: value for key, value in document.items() if key != "seal"}
    return document.get("seal") == _seal(said) and said.get("file") == f"{FACTS}/{name}"


def ends_as_written(data: bytes) -> bool:
    """Whether a file at least ends as the writer's do; for one that is too long to be read on suspicion."""
    return _END.search(data[-60:]) is not None


def digest_of(data: bytes) -> str:
    """By which the database knows a file that was written."""
    return blake2b(data, digest_size=16).hexdigest()


def line_of(fact: Fact) -> str:
    """A fact on one line of the index."""
    line = " ".join(fact.content.split())
    return line if len(line) <= LINE_CHARS_MAX else line[: LINE_CHARS_MAX - 1].rstrip() + "…"


def _day(name: str, owner: str, facts: Iterable[Fact]) -> dict[str, Any]:
    return {"format": FORMAT, "owner": owner, "file": f"{FACTS}/{name}", "facts": [_entry(fact) for fact in facts]}


def _entry(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "type": fact.type,
        "content": fact.content,
        "confidence": fact.confidence,
        "source_date": fact.source_date,
        "extracted_at": fact.extracted_at.isoformat(),
        "status": fact.status,
        "why": fact.why,
        "supersedes": fact.supersedes,
        "session": fact.session,
        "trust": fact.trust,
        "evidence": [_proof(each) for each in fact.evidence],
    }


def _proof(evidence: Evidence) -> dict[str, Any]:
    marks = {"proves": evidence.proves, "needed": evidence.needed}
    return {
        "session": evidence.session,
        "seq": evidence.seq,
        "quote": evidence.quote,
        "at": evidence.at.isoformat(),
        **marks,
    }


def _index(remembered: Remembered) -> dict[str, Any]:
    """The newest first: where a reader is shown only the beginning, that is what it sees."""
    facts = remembered.facts
    days = sorted(fact.source_date for fact in facts)
    return {
        "format": FORMAT,
        "owner": remembered.root,
        "owners": list(remembered.owners),
        "file": f"{FACTS}/{INDEX}",
        "version": remembered.version,
        "count": len(facts),
        "by_type": _counted(fact.type for fact in facts),
        "by_status": _counted(fact.status for fact in facts),
        "first_date": days[0],
        "last_date": days[-1],
        "facts": [
            {
                "id": fact.id,
                "type": fact.type,
                "status": fact.status,
                "line": line_of(fact),
                "date": fact.source_date,
                "file": f"{FACTS}/{file_of(fact)}",
            }
            for fact in reversed(facts)
        ],
    }


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _sealed(document: dict[str, Any]) -> bytes:
    text = json.dumps({**document, "seal": _seal(document)}, ensure_ascii=False, indent=2)
    return (text + "\n").encode()


def _seal(document: Mapping[str, Any]) -> str:
    """A digest of what a file says, however it is set: a tool that only indents it otherwise has changed nothing."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
