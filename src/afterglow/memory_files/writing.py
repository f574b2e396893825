"""Bringing one folder of facts to what the database says: look at what is there, then write what differs.

All of it happens while the folder is locked. A file is replaced as a whole or not at all, the days first and the index last,
and just before it is replaced it is looked at again: who edited it meanwhile is heard first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from afterglow import failpoints
from afterglow.errors import AfterglowError, BadInput, ClaimLost, NotFound
from afterglow.memory_files.documents import FACTS, INDEX, digest_of, ends_as_written, is_of_no_day, is_one_of_ours
from afterglow.memory_files.edits import BYTES_MAX, OWN_BYTES_MAX, Change, Difference, Page, difference, page_of
from afterglow.memory_files.folder import Changed, Folder, Lock, Signature, signature
from afterglow.store.files import Remembered

_NO_DAY = "there is no such day, so that nothing is taken from it; name it after one that there is"


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What is in a folder of facts, beside what should be."""

    seen: Mapping[str, Signature | None]
    same: frozenset[str]
    left: Mapping[str, str]
    """The files that nobody can read, and why: they stay as they are."""
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    seen: Signature | None
    same: bool = False
    page: Page | None = None
    problem: str | None = None
    is_folder: bool = False


def survey(folder: Folder, wanted: Mapping[str, bytes], remembered: Remembered) -> Survey:
    """Look at every file of ours in the folder."""
    everything = folder.names()
    names = [name for name in everything if is_one_of_ours(name)]
    there = {name: found for name in names if (found := _found(folder, name, wanted.get(name))) is not None}
    index = there[INDEX].page if INDEX in there else None
    left = {} if remembered.is_gone else {name: _NO_DAY for name in everything if is_of_no_day(name)}
    changes: list[Change] = []
    notes: list[str] = []
    for name, found in there.items():
        try:
            told = _told(found, remembered, index)
        except BadInput as problem:
            # What nobody can read may say what was forgotten since: then it does not stay.
            if found.is_folder or not (remembered.is_gone or remembered.is_behind):
                left[name] = str(problem)
                continue
            told = Difference(notes=("nobody could read it, and something was forgotten since: it is written anew",))
        changes += told.changes
        notes += (f"{FACTS}/{name}: {note}" for note in told.notes)
    for name in sorted({path.removeprefix(f"{FACTS}/") for path in (index.files.values() if index else ())}):
        if name in wanted and name not in there:
            notes.append(f"{FACTS}/{name}: it was removed, and is put back")
    return Survey(
        seen={name: found.seen for name, found in there.items()},
        same=frozenset(name for name, found in there.items() if found.same),
        left=left,
        changes=tuple(changes),
        notes=tuple(notes),
    )


def write(folder: Folder, lock: Lock, wanted: Mapping[str, bytes], found: Survey, *, anew: bool = False) -> list[str]:
    """Write what differs, or all of it anew; the answer is the names of what was written or removed."""
    differing = [name for name in wanted if name not in found.left and (anew or name not in found.same)]
    surplus = [name for name in found.seen if name not in wanted and name not in found.left]
    for name in differing:
        if name != INDEX:
            folder.put(name, wanted[name], partial(_check, folder, lock, found, name))
    for name in surplus:
        _check(folder, lock, found, name)
        folder.remove(name)
        failpoints.reach("file removed:after")
    folder.sync()
    failpoints.reach("days:after")
    if INDEX in differing:
        folder.put(INDEX, wanted[INDEX], partial(_check, folder, lock, found, INDEX))
        folder.sync()
    failpoints.reach("files:after")
    return [*differing, *surplus]


def is_as_written(folder: Folder, name: str) -> Page | None:
    """The page, if it says what its writer put there."""
    try:
        page = page_of(name, _read(folder, name)[0])
    except AfterglowError:
        return None
    return page if page.sealed else None


def digest_in(folder: Folder, name: str) -> str | None:
    """Of the bytes of a file; None where nobody can read it."""
    try:
        return digest_of(_read(folder, name)[0])
    except AfterglowError:
        return None


def _read(folder: Folder, name: str) -> tuple[bytes, os.stat_result]:
    """A file of ours. The writer's own may be longer than what is taken from others."""
    data, look = folder.read(name, OWN_BYTES_MAX)
    if len(data) > BYTES_MAX and (len(data) > OWN_BYTES_MAX or not ends_as_written(data)):
        raise BadInput(f"it has {look.st_size:,} bytes, and {BYTES_MAX:,} are allowed")
    return data, look


def _found(folder: Folder, name: str, wanted: bytes | None) -> _Found | None:
    look = folder.look(name)
    try:
        data, look = _read(folder, name)
        same = data == wanted
        page = Page(name=name, sealed=True, entries=()) if same and name != INDEX else page_of(name, data)
        return _Found(seen=signature(look), same=same, page=page)
    except NotFound:  # it was removed a moment ago
        return None
    except AfterglowError as problem:
        is_folder = look is not None and stat.S_ISDIR(look.st_mode)
        return _Found(seen=signature(look), problem=str(problem), is_folder=is_folder)


def _told(found: _Found, remembered: Remembered, index: Page | None) -> Difference:
    if found.page is None:
        raise BadInput(found.problem or "")
    if found.same or found.page.sealed or remembered.is_gone:
        return Difference()
    return difference(found.page, remembered, index.files if index else {})


def _check(folder: Folder, lock: Lock, found: Survey, name: str) -> None:
    if not lock.is_held:
        raise ClaimLost("the lock of the memory folder was removed by somebody; the files are left for another time")
    if signature(folder.look(name)) != found.seen.get(name):
        raise Changed(name)
