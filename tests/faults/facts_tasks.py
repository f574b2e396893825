"""What the nursery's children do with facts: read sessions for them, be killed, read on."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.store.transaction import EVERYONE
from afterglow.work import Limits
from afterglow.worker import Worker, holder_name
from tests.faults.nursery import Voice
from tests.faults.tasks import clock_of, open_store

LIMITS = Limits(attempts_max=10**6, backoff_seconds=0.01, backoff_max_seconds=0.05)
_STATED = re.compile(r"^\[(\d+)\] user, [^:]+:\d\d: (I prefer \w+ number \w+)", re.MULTILINE)


def answer(request: Request) -> str:
    """A model that finds every preference in what it is shown."""
    if "pairs" in request.instructions:
        return json.dumps({"pairs": []})
    found = [
        {
            "type": "preference",
            "content": stated.replace("I prefer", "The user prefers"),
            "confidence": "high",
            "turn": int(turn),
            "speaker": "user",
            "quote": stated,
        }
        for turn, stated in _STATED.findall(request.material)
    ]
    return json.dumps({"facts": found})


async def read_for_facts(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Do all work on facts and files, until there is none."""
    store = await open_store(order["address"], clock_of(order))
    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC", "facts": {"part_tokens": 200}})
    memory = Memory(store, chosen, model=ScriptedModel(answer), environ={})
    acts = {kind: act for kind, act in memory.acts.items() if kind in ("facts", "files")}
    worker = Worker(store, acts, holder=holder_name(), limits=replace(LIMITS, **order.get("limits", {})))
    while any(each.kind in acts for each in await store.work_list(EVERYONE)):
        if not await worker.drain():
            await asyncio.sleep(0.02)
    voice.say("read")
    await store.close()
