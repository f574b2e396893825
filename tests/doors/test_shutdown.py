"""The end of real processes in which a thread computes and does not stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import httpx
import pytest

from afterglow.store.log import To
from afterglow.turns import Turn
from afterglow.work import Due, Work
from tests.kit.command_line import MODEL_KEYS, wait_until
from tests.kit.processes import PIPE, Process
from tests.kit.records import KATE, NOON, said
from tests.kit.servers import PATIENCE_SECONDS, TURN, opened, token

pytestmark = pytest.mark.spec("P1", "P3")

STUCK = """
from pathlib import Path
from afterglow import contexts, daemon, extraction, memory, working
from afterglow.cli import boundary, main, talking
from afterglow.store import backlog

def computes(*_, **__):
    Path("computing").touch()
    while True:
        pass

{what} = computes
working.DRAIN_SECONDS_MAX = daemon.DRAIN_SECONDS_MAX = 1
daemon.GRACE_SECONDS_MAX = {grace}
memory._CLOSE_SECONDS_MAX = talking._CLOSE_SECONDS = boundary._THREADS_SECONDS_MAX = 0.1
main()
"""
"""The program, in which a thread never ends."""
IMPORTS = ("afterglow.daemon", "afterglow.cli.talking", "afterglow.agent.graph", "afterglow.mcp_server.server")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a session that there is something to fold of."""

    async def say() -> None:
        async with opened(tmp_path) as store:
            for n in range(10):
                text = f"In part {n} of the plan the red kettle goes to Ana, and the green one stays where it is."
                entry = said(text, "assistant" if n % 2 else "user", at=store.clock.now())
                await store.append(KATE.owner, To(binding=KATE, client_session="plan"), entry)

    asyncio.run(say())
    return tmp_path


def stuck(folder: Path, what: str, *command: str, grace: int = 60, stdin: int | None = None) -> Process:
    """A process of the program in which this function, which a thread calls, never returns."""
    given = {name: value for name, value in os.environ.items() if name not in MODEL_KEYS}
    environ = {**given, "AFTERGLOW_COMPACTION__MODEL": "offline", "AFTERGLOW_DATA_DIR": str(folder)}
    script = STUCK.format(what=what, grace=grace)
    return Process(*command, script=script, imports=IMPORTS, env=environ, cwd=folder, stdin=stdin)


def wait_until_it_computes(folder: Path) -> None:
    wait_until((folder / "computing").exists, seconds=20)


def kept(folder: Path) -> tuple[list[Turn], list[Work]]:
    """The turns of the session, and what is due about it."""

    async def look() -> tuple[list[Turn], list[Work]]:
        async with opened(folder) as store:
            return await store.turns(KATE.owner, "plan"), await store.work_list(KATE.owner)

    return asyncio.run(look())


def make_facts_due(folder: Path) -> None:
    async def mark() -> None:
        async with opened(folder) as store:
            await store.mark_due(KATE.owner, Due(kind="facts", at=NOON, reason="test", subject="plan"))

    asyncio.run(mark())


def serving(process: Process) -> str:
    """The address of a server that has started."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_server_ends_in_order_although_a_check_of_facts_never_does(folder: Path) -> None:
    make_facts_due(folder)
    headers = {"authorization": f"Bearer {token(folder)}"}
    with stuck(folder, "extraction.check", "serve", "--port", "0") as process:
        address = serving(process)
        wait_until_it_computes(folder)
        body = {**TURN, "session": "plan", "text": "Said while a thread computed."}
        answer = httpx.post(f"{address}/api/v1/turns", json=body, headers=headers, timeout=PATIENCE_SECONDS)
        assert answer.status_code == 201
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    turns, due = kept(folder)
    assert turns[-1].text == "Said while a thread computed."
    (work,) = [each for each in due if each.kind == "facts"]
    assert (work.state, work.holder, work.attempts) == ("due", None, 0), "it went back into the queue"


def test_a_server_ends_with_its_grace_where_the_store_cannot_be_closed(folder: Path) -> None:
    headers = {"authorization": f"Bearer {token(folder)}"}
    with stuck(folder, "backlog.work_list", "serve", "--port", "0", grace=2) as process:
        with httpx.Client(base_url=serving(process), headers=headers, timeout=PATIENCE_SECONDS) as client:
            assert client.post("/api/v1/turns", json={**TURN, "session": "plan", "text": "Kept."}).status_code == 201
            with pytest.raises(httpx.HTTPError):
                client.get("/api/v1/work", timeout=0.1)
        wait_until_it_computes(folder)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1
        assert process.stderr is not None and "in computes" in process.stderr.read(), "it says what held it up"
    assert kept(folder)[0][-1].text == "Kept."


def test_a_talk_ends_although_a_fold_behind_it_never_does(folder: Path) -> None:
    with stuck(folder, "contexts.material_of", "chat", "--owner", KATE.owner, stdin=PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("Where does the kettle go?\n")
        process.stdin.flush()
        assert process.stdout.readline()
        wait_until_it_computes(folder)
        process.stdin.close()
        assert process.wait() == 0
    turns, due = kept(folder)
    assert [each.role for each in turns[10:]] == ["user", "assistant"]
    assert [each.holder for each in due if each.kind == "context"] == [None]


@pytest.mark.parametrize("is_told", [True, False], ids=["by SIGTERM", "by the end of its input"])
def test_an_mcp_server_ends_although_a_fold_behind_it_never_does(folder: Path, is_told: bool) -> None:
    with stuck(folder, "contexts.material_of", "mcp", "--owner", KATE.owner, stdin=PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        turn = {"role": "assistant", "text": "The blue one goes too.", "session": "plan"}
        for message in (
            {"id": 0, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 1, "method": "tools/call", "params": {"name": "add_turn", "arguments": turn}},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        assert not json.loads(process.stdout.readline())["result"]["isError"]
        wait_until_it_computes(folder)
        if is_told:
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        assert process.wait() == (-signal.SIGTERM if is_told else 0)
    turns, due = kept(folder)
    assert turns[-1].text == "The blue one goes too."
    assert [each.subject for each in due if each.kind == "context"] == ["plan"]
