"""Forgetting as people handle it: a turn or a run of them, a session, an owner, with the proof where it is asked for."""

from __future__ import annotations

from pathlib import Path

from afterglow.errors import AfterglowError, BadInput
from afterglow.forgetting import Forgetting, Progress, Rewrite, forget_owner, forget_session, forget_turns
from afterglow.memory_files import MemoryFiles
from afterglow.reading import check_session, one_owner
from afterglow.store.contract import Store
from afterglow.turns import Session


class Forget:
    """What a memory can forget. Nothing of it comes back, not even by an import of an export from before."""

    def __init__(self, store: Store, data_dir: Path, files: MemoryFiles) -> None:
        self._store = store
        self._data_dir = data_dir
        self._files = files

    async def turns(
        self,
        session: Session,
        first_seq: int,
        last_seq: int | None = None,
        *,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Forgetting:
        """One turn, or a run of turns. An empty one stays in the place of each; what came from them is removed or made anew."""
        check_session(session)
        _check_number(first_seq)
        _check_number(first_seq if last_seq is None else last_seq)
        return await forget_turns(
            self._store,
            session,
            first_seq,
            last_seq,
            verify=verify,
            data_dir=self._data_dir,
            rewrite=self._rewrite,
            progress=progress,
        )

    async def session(self, session: Session, *, verify: bool = False, progress: Progress | None = None) -> Forgetting:
        """A session with all that came from it."""
        check_session(session)
        return await forget_session(
            self._store, session, verify=verify, data_dir=self._data_dir, rewrite=self._rewrite, progress=progress
        )

    async def owner(
        self, owner: str, *, keep_stones: bool = True, verify: bool = False, progress: Progress | None = None
    ) -> Forgetting:
        """All that is an owner's. Without stones nothing at all stays, and an import of an older export brings it back."""
        return await forget_owner(
            self._store,
            one_owner(owner),
            keep_stones=keep_stones,
            verify=verify,
            data_dir=self._data_dir,
            rewrite=self._rewrite,
            progress=progress,
        )

    async def _rewrite(self, owner: str) -> None:
        await rewritten(self._files.rebuild, owner)


async def rewritten(rewrite: Rewrite, owner: str) -> None:
    """The memory files say no more what is forgotten, or it is an error that says so."""
    try:
        await rewrite(owner)
    except AfterglowError as error:
        raise type(error)(
            f"it is forgotten in the database, and the memory files may still hold it: {error}. Mend that, and run "
            "`afterglow facts rebuild`"
        ) from None


def _check_number(seq: object) -> None:
    if type(seq) is not int:
        raise BadInput(f"the number of a turn is a whole number; this is {seq!r}")
