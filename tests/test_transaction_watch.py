"""The watch over promise P4 sees what it is there to see."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from typing import Any

import psycopg
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
        socket.getaddrinfo("127.0.0.1", 9)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect("host=127.0.0.1 port=9")
        subprocess.run([sys.executable, "-c", ""], check=True)
        thread = threading.Thread(target=len, args=[()])
        thread.start()
        thread.join()

    await getattr(store, door)("bad", KATE.owner, bad_verb)
    said = [each.removesuffix(" (promise P4)").partition(" holds a transaction and ") for each in watched]
    assert {verb for verb, _, _ in said} == {"`bad`"}
    assert [what for _, _, what in said] == [
        "calls ScriptedModel.complete",
        "connects to ('127.0.0.1', 9)",
        "looks up a host",
        "connects to PostgreSQL",
        "starts a process",
        "starts a thread",
    ]
    watched.clear()
    await model.complete(REQUEST)
    assert watched == [], "outside a transaction a model may be called"
