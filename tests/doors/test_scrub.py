"""SAFE-3: after a forget through any door the database's files hold nothing of it, proof or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kit.command_line import Run, asked, one_line, wait_until
from tests.kit.servers import PATIENCE_SECONDS, TURN, Server, starting, token

pytestmark = pytest.mark.spec("SAFE-3", "P12")

MARKS = ("zebrafinch", "wkey", "wsession")
"""What stands in what was said, in the keys of messages, and in the names of sessions; each is made a word of its own."""
SAID = (
    "I really prefer zebrafinch{n} tea to numbatcoffee{n} before zebrafinch{n} walks. " + "More of zebrafinch{n}. " * 50
)


class Door:
    """A server on the folder of the test, and what is asked of it."""

    def __init__(self, server: Server, secret: str) -> None:
        headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        self.client = httpx.Client(base_url=f"{server.url}/api/v1/", headers=headers, timeout=PATIENCE_SECONDS)

    def post(self, path: str, **more: Any) -> dict[str, Any]:
        answer = self.client.post(path, **more)
        assert answer.is_success, answer.text
        return answer.json()

    def is_scrubbed(self) -> bool:
        return self.client.get("status").json()["scrub"]["state"] == "done"


@pytest.fixture
def door(folder: Path) -> Iterator[Door]:
    """A server with four sessions that have the marks in them, between the turns of another one."""
    folder.mkdir()
    secret = token(folder)
    with starting(folder) as start:
        door = Door(start(), secret)
        for n in range(40):
            door.post(
                "turns", json={**TURN, "session": f"wsession{n % 4}", "key": f"wkey{n}", "text": SAID.format(n=n)}
            )
            door.post("turns", json={**TURN, "session": "kept", "text": f"Plain water number {n}. " * 20})
        yield door
        door.client.close()


def held(folder: Path) -> dict[str, list[str]]:
    """The files that hold any of the marks, and which."""
    read = {path.name: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}
    found = {name: [mark for mark in MARKS if mark.encode() in data] for name, data in read.items()}
    return {name: marks for name, marks in found.items() if marks}


def test_sessions_that_are_forgotten_over_http_leave_the_files_while_the_server_goes_on(
    folder: Path, door: Door
) -> None:
    assert held(folder)
    for n in range(4):
        answer = door.post(f"sessions/wsession{n}/forget")
        assert (answer["forgotten"]["turns"], answer["proof"]) == (10, None)
        assert answer["scrub"]["state"] in ("due", "running", "done")
    wait_until(door.is_scrubbed)
    assert held(folder) == {}


def test_a_stated_fact_that_is_forgotten_over_http_leaves_the_files_while_the_server_goes_on(
    folder: Path, door: Door
) -> None:
    for n in range(4):
        door.post(f"sessions/wsession{n}/forget")
    fact = door.post("facts", json={"content": "I keep a zebrafinch."})
    assert "zebrafinch" in str(held(folder))
    assert door.post(f"facts/{fact['id']}/forget")["scrub"]["state"] in ("due", "running", "done")
    wait_until(door.is_scrubbed)
    assert held(folder) == {}


def test_what_is_forgotten_by_command_leaves_the_files_of_a_server_that_goes_on(
    folder: Path, door: Door, run: Run
) -> None:
    for n in range(3):
        told = run("forget", "turn", f"wsession{n}", "1", "10", "--yes").stdout
        assert one_line(told).endswith("What was removed is written over in the database's files.")
    assert asked(run, "forget", "session", "wsession3", "--yes")["scrub"]["state"] == "done"
    assert {mark for marks in held(folder).values() for mark in marks} == {"wsession"}, "three sessions are still there"
    assert asked(run, "status")["scrub"]["state"] == "done" and door.is_scrubbed()
