"""What all commands that forget have in common: they ask first, and show the proof where one was wanted."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from afterglow.cli.call import Call
    from afterglow.memory import Memory
    from afterglow.proof import Proof
    from afterglow.settings import Settings

SHOWN = 3
"""How many places are named that other turns say the same in; there may be hundreds."""

VerifyOption = Annotated[
    bool,
    typer.Option("--verify", metavar="", help="Search the bytes of database, files and indexes for it afterwards."),
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", metavar="", help="With --verify: name every place that was searched.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]


def ask(what: str, yes: bool) -> None:
    """Nobody forgets by a slip of the hand."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise typer.BadParameter(f"this forgets {what} for ever; say --yes if that is meant")
    typer.confirm(f"Forget {what}? This cannot be undone.", default=False, abort=True, err=True)


class Replaced:
    """Memory files that were known to be unreadable, and do not stay, since they may say what was forgotten."""

    def __init__(self) -> None:
        self._names: list[str] = []

    @asynccontextmanager
    async def watched(self, memory: Memory) -> AsyncGenerator[None]:
        """Within this something is forgotten."""
        before = await self._unreadable(memory)
        yield
        self._names = sorted(before - await self._unreadable(memory))

    def tell(self, call: Call) -> None:
        """Name them."""
        if self._names:
            named = ", ".join(self._names)
            call.screen.warn(f"Nobody could read {named}, and it may have said this: it is written anew, or removed.")

    async def _unreadable(self, memory: Memory) -> set[str]:
        from afterglow.memory import EVERYONE

        return {f"{each.name} of {each.owner}" for each in await memory.store.file_troubles(EVERYONE)}


def proof_lines(call: Call, proof: Proof | None, verbose: bool) -> list[str]:
    """The proof as people read it: where was searched, in short, and whatever is not as it should be."""
    if proof is None:
        return []
    searched = list(proof.looked_at) if verbose else places(proof, call.loaded.settings)
    found = "something of it is still there" if proof.found else "nothing of it was found"
    lines = [f"Searched {', '.join(searched)}: {found}." if proof.sought else "Nothing of it could be looked for."]
    lines += [f"Not searched: {each}" for each in proof.not_looked_at]
    lines += [f"Still there: {each}" for each in proof.found]
    elsewhere = proof.said_elsewhere if verbose else proof.said_elsewhere[:SHOWN]
    lines += [f"The same words were said elsewhere: {each}" for each in elsewhere]
    if more := len(proof.said_elsewhere) - len(elsewhere):
        lines.append(f"The same words were said in {more:,} more places; -v names them all.")
    return lines


def places(proof: Proof, settings: Settings) -> list[str]:
    """The places that were searched, files of a kind counted together."""
    from afterglow.cli.screen import count

    database, memory = str(settings.sqlite_path), str(settings.data_dir / "memory")
    named = {database: "the database", f"{database}-wal": "its write-ahead log", f"{database}-shm": "its shared memory"}
    kinds = Counter(
        named.get(place) or ("memory file" if place.startswith(memory) else "other file" if os.sep in place else place)
        for place in proof.looked_at
    )
    counted = [count(kinds[kind], kind) for kind in ("memory file", "other file") if kinds[kind]]
    return [*(kind for kind in kinds if not kind.endswith(" file")), *counted]
