"""Forgetting as people handle it: a turn or a run of them, a session, an owner, with the proof where it is asked for."""

from __future__ import annotations

from pathlib import Path

from afterglow.forgetting import Forgetting, Progress, forget_owner, forget_session, forget_turns
from afterglow.memory_files import MemoryFiles
from afterglow.store.contract import Store
from afterglow.turns import Session


class Forget:
    """What a memory can forget. Nothing of it comes back, not even by an import of the same transcript."""

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
        return await forget_session(
            self._store, session, verify=verify, data_dir=self._data_dir, rewrite=self._rewrite, progress=progress
        )

    async def owner(
        self, owner: str, *, keep_stones: bool = True, verify: bool = False, progress: Progress | None = None
    ) -> Forgetting:
        """All that is an owner's. Without stones nothing at all stays, and an import of the same transcript brings it back."""
        return await forget_owner(
            self._store,
            owner,
            keep_stones=keep_stones,
            verify=verify,
            data_dir=self._data_dir,
            rewrite=self._rewrite,
            progress=progress,
        )

    async def _rewrite(self, owner: str) -> None:
        await self._files.rebuild(owner)
