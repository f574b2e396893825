"""An owner's folder, locked against every other writer, and what is done to it while it is."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from afterglow.clock import Deadline
from afterglow.errors import ClaimLost, NotAllowed, NotFound, StoreFull, StoreUnusable
from afterglow.memory_files.documents import FACTS, documents
from afterglow.memory_files.folder import LOCK, Folder, Lock
from afterglow.memory_files.names import folder_name
from afterglow.memory_files.writing import Survey, survey, write
from afterglow.store.files import Remembered

LOCK_SECONDS_MAX = 30
_LOOK_AGAIN_SECONDS = 0.05
_FULL = (errno.ENOSPC, errno.EDQUOT)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """An owner's folder, which nobody else writes in."""

    owner: str
    top: Folder
    own: Folder
    facts: Folder
    lock: Lock


@asynccontextmanager
async def held(path: Path, owner: str) -> AsyncGenerator[Held]:
    """The owner's folder, made if it is missing."""
    with _translated(path), Folder.top(path, make=True) as top:
        own, lock = await _locked(top, owner)
        try:
            with own, own.folder(FACTS, make=True) as facts:
                yield Held(owner=owner, top=top, own=own, facts=facts, lock=lock)
        finally:
            lock.release()


def surveyed(held: Held, remembered: Remembered) -> tuple[dict[str, bytes], Survey]:
    """What the folder should say, and what it says."""
    held.own.clean()
    held.facts.clean()
    wanted = documents(remembered) if held.owner == remembered.root else {}
    return wanted, survey(held.facts, wanted, remembered)


def written(held: Held, wanted: dict[str, bytes], found: Survey, *, anew: bool) -> list[str]:
    """The folder says what it should. Where that is nothing it goes, unless somebody has something of their own in it."""
    names = write(held.facts, held.lock, wanted, found, anew=anew)
    if not wanted:
        held.own.remove_folder(FACTS)
        if held.own.names() == [LOCK]:
            with suppress(OSError):  # where an open file cannot be removed, it stays
                held.own.remove(LOCK)
            held.top.remove_folder(folder_name(held.owner))
    return names


async def finished(run: Callable[[], T]) -> T:
    """Run it in a thread, to its end also if nobody waits any more: the lock is held as long as somebody writes."""
    running = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise


async def _locked(top: Folder, owner: str) -> tuple[Folder, Lock]:
    deadline = Deadline(LOCK_SECONDS_MAX)
    while (got := _lock(top, owner)) is None:
        if deadline.passed:
            raise ClaimLost(f"another process writes the memory files of {owner!r} at this moment")
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    return got


def _lock(top: Folder, owner: str) -> tuple[Folder, Lock] | None:
    try:
        own = top.folder(folder_name(owner), make=True, shown="")
    except NotFound:  # another writer removed it, empty, a moment ago
        return None
    try:
        lock = own.lock()
    except BaseException:
        own.close()
        raise
    if lock is None:
        own.close()
        return None
    return own, lock


@contextmanager
def _translated(where: Path) -> Generator[None]:
    """What the system says of the folder, as one of our errors."""
    try:
        yield
    except NotAllowed as error:
        raise StoreUnusable(f"the memory folder {where} cannot be written: {error}; move that away") from error
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(
                f"the disk of the memory folder {where} is full; make room, and it is written again"
            ) from error
        raise StoreUnusable(f"the memory folder {where} cannot be written: {error.strerror or error}") from error
