"""The watch over promise P4 sees what it is there to see."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import Any

import pytest

from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.store.contract import Store
from tests.kit.records import KATE

pytestmark = pytest.mark.spec("P4")

REQUEST = Request(purpose="fold", instructions="Summarise.", material="", tokens_max=9, deadline_seconds=9)


@pytest.mark.both
@pytest.mark.parametrize("door", ["_read", "_write"])
async def test_a_verb_that_calls_a_model_connects_or_starts_a_process_is_noted(
    store: Store, watched: list[str], door: str
) -> None:
    loop, model = asyncio.get_running_loop(), ScriptedModel(lambda request: "A summary.")

    def bad_verb(tx: Any) -> None:
        """The model is called in another thread, by a task that this one starts."""
        asyncio.run_coroutine_threadsafe(model.complete(REQUEST), loop).result()
        with socket.socket() as outside, pytest.raises(OSError):
            outside.connect(("127.0.0.1", 9))
        subprocess.run([sys.executable, "-c", ""], check=True)

    await getattr(store, door)("bad", KATE.owner, bad_verb)
    assert [each.partition(" and ")[0] for each in watched] == ["`bad` holds a transaction"] * 3
    assert (
        "calls ScriptedModel.complete" in watched[0]
        and "connects to" in watched[1]
        and "starts a process" in watched[2]
    )
    watched.clear()
    await model.complete(REQUEST)
    assert watched == [], "outside a transaction a model may be called"
