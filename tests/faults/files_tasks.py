"""What the nursery's children do with memory files: write them, edit them, forget what is in them, be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from afterglow.errors import ClaimLost
from afterglow.intake import Intake
from afterglow.memory_files import MemoryFiles
from afterglow.memory_files.names import folder_name
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.facts import WantedFacts
from afterglow.store.transaction import EVERYONE
from afterglow.work import Limits
from afterglow.worker import Worker, holder_name
from tests.faults.nursery import Voice
from tests.faults.tasks import clock_of, open_store
from tests.kit.facts import remember
from tests.kit.records import KATE

LIMITS = Limits(attempts_max=10**6, backoff_seconds=0.01, backoff_max_seconds=0.05)
EDITED = "edited by hand"
"""The name of a file while it is edited."""


def files_of(store: Store, data_dir: Path) -> MemoryFiles:
    return MemoryFiles(store, data_dir, Intake(Settings()).prepare)


def facts_folder(data_dir: Path) -> Path:
    return data_dir / "memory" / folder_name(KATE.owner) / "facts"


def edit(path: Path, content: str) -> None:
    """Put another sentence in the place of the first one, as an editor does: all at once."""
    document = json.loads(path.read_text())
    document["facts"][0]["content"] = content
    aside = path.with_name(f"{EDITED}.{os.getpid()}")  # of two at once each has its own
    aside.write_text(json.dumps(document))
    aside.rename(path)


async def write_files(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Do all work on files, until there is none."""
    store = await open_store(order["address"], clock_of(order))
    files = files_of(store, Path(order["data_dir"]))
    worker = Worker(
        store, {"files": files.act}, holder=holder_name(), limits=replace(LIMITS, **order.get("limits", {}))
    )
    while await store.work_list(EVERYONE, kind="files"):
        if not await worker.drain():
            await asyncio.sleep(0.02)
    voice.say("written")
    await store.close()


async def live_with_files(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Remember, forget, edit files and write them, for as long as one lives."""
    store = await open_store(order["address"])
    data_dir = Path(order["data_dir"])
    files = files_of(store, data_dir)
    worker = Worker(
        store, {"files": files.act}, holder=holder_name(), limits=replace(LIMITS, **order.get("limits", {}))
    )
    chance = random.Random(order["seed"] * 1000 + number)
    voice.ready()
    while True:
        day = f"2026-03-0{chance.randrange(1, 5)}"
        what = chance.random()
        if what < 0.4:
            with contextlib.suppress(ClaimLost):
                await remember(store, f"WORD{chance.getrandbits(60):015x}", day)
        elif what < 0.6:
            for fact in (await store.facts(KATE.owner, WantedFacts(status=None), limit=100))[-1:]:
                await store.forget_fact(KATE.owner, fact.id)
                voice.say(["forgot", fact.content])
        elif what < 0.7:
            with contextlib.suppress(OSError, IndexError):
                edit(facts_folder(data_dir) / f"{day}.json", f"WORD{chance.getrandbits(60):015x}")
        else:
            await worker.drain()
