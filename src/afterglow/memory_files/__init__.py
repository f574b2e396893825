"""The memory files: an owner's facts as JSON in a folder, made from the database and equal to it.

One writer brings a folder to what the database says. It locks the folder first and reads the facts only then: whoever gets
the lock later has read later, so that a slow writer cannot put back what is older, or what was forgotten meanwhile. It can be
killed anywhere: each file is whole at any moment, and the work stays due until its end is committed. What somebody else wrote
into a file is taken in as pending facts before it is written anew (edits.py, taking.py); what nobody can read is left as it is
and reported. The assistant's `file_list` and `file_read` see this folder and nothing else (reading.py).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import TypeVar

from afterglow.errors import AfterglowError, ClaimLost, NotFound, StoreUnusable
from afterglow.facts import Fact
from afterglow.memory_files import reading
from afterglow.memory_files.documents import FACTS, INDEX, digest_of, is_of_no_day, is_one_of_ours
from afterglow.memory_files.folder import Changed, Folder, Signature, signature
from afterglow.memory_files.holding import finished, held, surveyed, written
from afterglow.memory_files.names import folder_name, owner_of
from afterglow.memory_files.reading import Listed
from afterglow.memory_files.taking import Taking
from afterglow.memory_files.writing import digest_in, is_as_written
from afterglow.store.contract import Store
from afterglow.store.files import FileTrouble, WrittenFiles
from afterglow.store.log import Entry
from afterglow.turns import Draft
from afterglow.work import Claim, Due

FOLDER = "memory"
"""Where the owners' folders are, in the data folder."""
_ROUNDS_MAX = 20
"""So often a folder is looked at anew, where somebody edits it all the while."""

_Seen = tuple[Signature | None, str | None]
"""A file, and the digest of what was last written into it."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreed:
    """What was done to bring the folders of an owner to what the database says."""

    written: tuple[str, ...] = ()
    """The files that were written or removed."""
    taken: tuple[Fact, ...] = ()
    """The facts that came of edits, all pending."""
    notes: tuple[str, ...] = ()
    """What was not taken from edits, and what was put back."""
    troubles: tuple[FileTrouble, ...] = ()
    """The files that were left as they are."""


class MemoryFiles:
    """The memory folders under a data folder."""

    def __init__(
        self, store: Store, data_dir: Path, entry_of: Callable[[Draft, str], Entry], zone: tzinfo = UTC
    ) -> None:
        """`zone` is where "tomorrow" in an edited file is a day."""
        self._store = store
        self._path = data_dir / FOLDER
        self._taking = Taking(store, entry_of, zone)
        self._seen: dict[str, dict[str, _Seen]] = {}
        """For `edited`: of each owner's folder, each file as it was when it was last looked at."""

    async def act(self, claim: Claim) -> Callable[[], Awaitable[None]]:
        """Bring the owner's files to what the database says; the commit ends the claim and keeps what is wrong with them."""
        _, files = await self._agree(claim.owner)
        return partial(self._store.commit_files, claim.owner, files, claim)

    async def rebuild(self, owner: str) -> Agreed:
        """Write all files of the owner anew from the database. Edits are taken in first, as ever."""
        return await self.bring(owner, anew=True)

    async def bring(self, owner: str, *, anew: bool = False) -> Agreed:
        """Bring the owner's files to what the database says now, whether that is due or not."""
        agreed, files = await self._agree(owner, anew=anew)
        await self._store.commit_files(owner, files)
        return agreed

    async def edited(self, owner: str) -> bool:
        """Whether a file of the owner has become another than was last written, since this was last asked.

        Reads only what is new.
        """
        owners = await self._store.folder_owners(owner)
        digests = await self._store.file_digests(owner)
        return await asyncio.to_thread(lambda: any([self._edited(each, digests) for each in owners]))

    async def run(self, stop: asyncio.Event, seconds: float) -> None:
        """Look every so many seconds whether somebody edited a file, and have it taken in, until told to stop."""
        while not stop.is_set():
            await self._look_at_all()
            try:
                async with asyncio.timeout(seconds):
                    await stop.wait()
            except TimeoutError:
                continue

    async def _look_at_all(self) -> None:
        try:
            owners = await self.owners()
        except AfterglowError as error:
            _log.warning("the memory files cannot be looked at now: %s", error)
            return
        for owner in owners:
            await self._look(owner)

    async def _look(self, owner: str) -> None:
        try:
            if await self.edited(owner):
                due = Due(kind="files", at=self._store.clock.now(), reason="edited", subject=owner)
                await self._store.mark_due(owner, due)
        except (AfterglowError, OSError) as error:
            _log.warning("the memory files of %s cannot be looked at now: %s", owner, error)

    async def owners(self) -> list[str]:
        """The owners that have a folder here, or should have one."""
        written = await self._store.owners_with_files()
        return sorted({*written, *await asyncio.to_thread(self._owners)})

    async def file_list(self, owner: str, path: str = "") -> list[Listed]:
        """The files and folders at a path in the owner's memory folder."""
        parts = reading.parts_of(path)
        await self._check_written(owner)
        try:
            return await self._looked(owner, partial(reading.file_list, path=path))
        except NotFound:
            if parts:
                raise
            return []  # nothing is known yet

    async def file_read(self, owner: str, path: str) -> str:
        """The text of a file in the owner's memory folder, marked as recalled memory."""
        reading.parts_of(path)
        await self._check_written(owner)
        return await self._looked(owner, partial(reading.file_read, path=path))

    async def mark_missing(self, owner: str) -> bool:
        """Whether there is no folder though something is known. It is due to be written then, whoever removed it."""
        root, *_ = await self._store.folder_owners(owner)
        if self._is_there(root) or not await self._is_known(root):
            return False
        due = Due(kind="files", at=self._store.clock.now(), reason="edited", subject=root)
        await self._store.mark_due(root, due)
        return True

    async def _check_written(self, owner: str) -> None:
        """That there is no folder does not say that nothing is known: it may be about to be written, or could not be."""
        if await self.mark_missing(owner):
            raise NotFound(
                "the memory files are due to be written, and are not there yet; ask again in a moment, or use memory_search"
            )

    async def _is_known(self, root: str) -> bool:
        counts = await self._store.fact_counts(root)
        return any(count for status, count in counts.items() if status != "forgotten")

    async def _looked(self, owner: str, look: Callable[[Folder], T]) -> T:
        root, *_ = await self._store.folder_owners(owner)

        def looked() -> T:
            with self._own(root) as own:
                return look(own)

        return await asyncio.to_thread(looked)

    # --- writing

    async def _agree(self, owner: str, *, anew: bool = False) -> tuple[Agreed, WrittenFiles]:
        """The folder of the owner that the others are joined to says all; theirs, from before they were joined, nothing."""
        root, *others = await self._store.folder_owners(owner)
        is_known = await self._is_known(root)
        folders = [each for each in (root, *others) if self._is_there(each) or (each == root and is_known)]
        done = [await self._bring(each, anew) for each in folders]
        agreed = Agreed(
            written=tuple(name for each, _ in done for name in each.written),
            taken=tuple(fact for each, _ in done for fact in each.taken),
            notes=tuple(note for each, _ in done for note in each.notes),
            troubles=tuple(trouble for each, _ in done for trouble in each.troubles),
        )
        return agreed, WrittenFiles(
            digests={place: digest for _, files in done for place, digest in files.digests.items()},
            # What was forgotten between two folders may still stand in the first.
            forgettings={each: count for _, files in reversed(done) for each, count in files.forgettings.items()},
            troubles=agreed.troubles,
        )

    async def _bring(self, owner: str, anew: bool) -> tuple[Agreed, WrittenFiles]:
        taken: list[Fact] = []
        notes: dict[str, None] = {}
        async with held(self._path, owner) as folder:
            for _ in range(_ROUNDS_MAX):
                remembered = await self._store.remembered(owner)  # only now: see the top of this module
                wanted, found = await finished(partial(surveyed, folder, remembered))
                notes |= dict.fromkeys(found.notes)
                new = await self._taking.take(found.changes)
                notes |= new.notes
                if new.facts:
                    taken += new.facts
                    continue
                try:
                    names = await finished(partial(written, folder, wanted, found, anew=anew))
                except Changed as changed:
                    _log.info("memory files of %s: %s was edited at this moment; looking again", owner, changed)
                    continue
                troubles = self._troubles(owner, found.left.items())
                _tell(owner, taken, notes, troubles)
                said = {name: digest_of(data) for name, data in wanted.items()} | dict.fromkeys(found.left, "")
                agreed = Agreed(written=tuple(names), taken=tuple(taken), notes=tuple(notes), troubles=troubles)
                digests = {(owner, f"{FACTS}/{name}"): digest for name, digest in said.items()}
                return agreed, WrittenFiles(
                    digests=digests, forgettings=remembered.forgettings, troubles=agreed.troubles
                )
        raise ClaimLost(f"the memory files of {owner!r} are edited all the while; they are written at another time")

    def _troubles(self, owner: str, left: Iterable[tuple[str, str]]) -> tuple[FileTrouble, ...]:
        now = self._store.clock.now()
        return tuple(
            FileTrouble(owner=owner, name=f"{FACTS}/{name}", problem=problem, found_at=now) for name, problem in left
        )

    # --- looking

    def _is_there(self, owner: str) -> bool:
        return (self._path / folder_name(owner)).is_dir()

    @contextmanager
    def _own(self, owner: str) -> Generator[Folder]:
        """An owner's folder, called nothing in errors: to who reads in it, it is all there is."""
        with Folder.top(self._path) as top:
            try:
                own = top.folder(folder_name(owner), shown="")
            except NotFound:
                raise NotFound("nothing is known yet, so there are no memory files") from None
            with own:
                yield own

    def _edited(self, owner: str, digests: Mapping[tuple[str, str], str]) -> bool:
        wanted = {name.removeprefix(f"{FACTS}/"): digest for (whose, name), digest in digests.items() if whose == owner}
        before = self._seen.get(owner, {})
        now: dict[str, _Seen]
        try:
            with self._own(owner) as own, own.folder(FACTS) as facts:
                names = {name for name in facts.names() if is_one_of_ours(name) or is_of_no_day(name)} | wanted.keys()
                now = {name: (signature(facts.look(name)), wanted.get(name)) for name in names}
                new = [name for name in names if now[name] != before.get(name)]
                others = [name for name in new if digest_in(facts, name) != wanted.get(name)]
        except (AfterglowError, OSError):  # the folder is gone, or somebody put something else there
            now = {name: (None, digest) for name, digest in wanted.items()}
            others = [name for name in now if now[name] != before.get(name)]
        self._seen[owner] = now
        return bool(others)

    def _owners(self) -> list[str]:
        try:
            with Folder.top(self._path) as top:
                found = [owner_of(name) or _owner_inside(top, name) for name in top.names() if not name.startswith(".")]
        except NotFound:
            return []
        except OSError as error:
            raise StoreUnusable(
                f"the memory folder {self._path} cannot be read: {error.strerror or error}; give yourself the right to read it"
            ) from error
        return [owner for owner in found if owner is not None]


def _tell(owner: str, taken: list[Fact], notes: Iterable[str], troubles: Iterable[FileTrouble]) -> None:
    for note in notes:
        _log.info("memory files of %s: %s", owner, note)
    for trouble in troubles:
        _log.warning("memory files of %s: %s is left as it is: %s", owner, trouble.name, trouble.problem)
    if taken:
        _log.info("memory files of %s: %d facts were taken in, and wait for approval", owner, len(taken))


def _owner_inside(top: Folder, name: str) -> str | None:
    """Whose folder it is, by the index in it."""
    try:
        with top.folder(name) as own, own.folder(FACTS) as facts:
            page = is_as_written(facts, INDEX)
    except (AfterglowError, OSError):
        return None
    return page.owner if page and page.owner and folder_name(page.owner) == name else None


__all__ = ["FOLDER", "Agreed", "FileTrouble", "Listed", "MemoryFiles"]
