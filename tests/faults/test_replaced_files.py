"""A server whose database file goes, or is put in place of another, while it runs; and a backup put in its place."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from afterglow import StoreUnusable
from tests.kit.records import KATE, said
from tests.kit.servers import PATIENCE_SECONDS, TURN, Server, Start, opened, starting, token

pytestmark = pytest.mark.spec("P1")

RESTORE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
CLOSE = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM turns'); c.close()"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def start(data: Path) -> Iterator[Start]:
    with starting(data) as begin:
        yield begin


class Client:
    """One who writes turns to a server."""

    def __init__(self, server: Server, data: Path) -> None:
        headers = {"authorization": f"Bearer {token(data)}"}
        self.http = httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS)

    def say(self, text: str) -> httpx.Response:
        return self.http.post("/api/v1/turns", json={**TURN, "client_session": "s", "text": text})


@pytest.fixture
def server(start: Start) -> Server:
    return start()


@pytest.fixture
def client(server: Server, data: Path) -> Iterator[Client]:
    client = Client(server, data)
    with client.http:
        yield client


def back_up(database: Path) -> Path:
    copy = database.parent.parent / "copy.db"
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def close_elsewhere(database: Path) -> None:
    """Open and close the database in another process, which removes the log of changes if it was the last."""
    subprocess.run([sys.executable, "-c", CLOSE, database], check=True)


def delete(database: Path) -> None:
    database.unlink()


def delete_the_log_of_changes(database: Path) -> None:
    database.with_name(f"{database.name}-wal").unlink()


def move_the_folder(database: Path) -> None:
    database.parent.rename(database.parent.with_name("moved"))


def replace(database: Path) -> None:
    back_up(database).replace(database)


WAYS = (delete, delete_the_log_of_changes, move_the_folder, replace)


@pytest.mark.parametrize("harm", WAYS)
def test_no_turn_is_acknowledged_once_the_file_is_not_the_one_at_its_path(
    client: Client, data: Path, harm: Callable[[Path], None]
) -> None:
    assert client.say("before").status_code == 201
    harm(data / "afterglow.db")
    for _ in range(2):
        refused = client.say("after")
        assert refused.status_code == 500
        assert "was deleted, moved or replaced" in refused.json()["error"]["message"]
    assert client.http.get("/readyz").status_code == 503
    assert not (data / "afterglow.db").exists() or harm not in (delete, move_the_folder), "nothing makes an empty one"


def test_a_folder_that_was_moved_back_is_written_to_again(client: Client, data: Path) -> None:
    assert client.say("before").status_code == 201
    moved = data.rename(data.with_name("moved"))
    assert client.say("meanwhile").status_code == 500
    moved.rename(data)
    assert client.say("after").status_code == 201


def test_checkpoints_and_rewriting_by_other_programs_are_no_harm(client: Client, data: Path) -> None:
    assert client.say("one").status_code == 201
    with closing(sqlite3.connect(data / "afterglow.db", isolation_level=None)) as other:
        for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(RESTART)"):
            other.execute(statement)
            assert client.say(statement).status_code == 201


def test_what_is_said_after_a_proof_is_kept_when_another_program_has_closed_the_database(
    client: Client, server: Server, data: Path
) -> None:
    client.say("Zanzibar is what I want to see forgotten")
    forgotten = client.http.post("/api/v1/sessions/s/forget?first=1&verify=true", json={})
    assert forgotten.json()["proof"]["clean"]
    close_elsewhere(data / "afterglow.db")
    assert client.say("after the proof").status_code == 201
    server.stop(signal.SIGKILL)
    assert texts(data) == ["after the proof"]


async def test_a_store_keeps_its_log_of_changes_when_another_of_its_process_was_opened_and_closed(data: Path) -> None:
    async with opened(data) as first:
        async with opened(data):
            pass
        await asyncio.to_thread(close_elsewhere, data / "afterglow.db")
        assert (data / "afterglow.db-wal").exists()
        await first.append(KATE.owner, KATE, said("kept"))


def texts(data: Path) -> list[str]:
    async def read() -> list[str]:
        async with opened(data) as store:
            return [turn.text for turn in await store.turns(KATE.owner, "s") if turn.text]

    return asyncio.run(read())


def test_a_backup_is_restored_by_the_steps_of_the_documentation(
    client: Client, server: Server, start: Start, data: Path
) -> None:
    client.say("in the backup")
    copy = back_up(data / "afterglow.db")
    for number in range(50):
        client.say(f"after the backup {number} " * 200)
    server.stop(signal.SIGKILL)
    assert (data / "afterglow.db-wal").exists()
    section = RESTORE.partition("**Restore.**")[2]
    steps = [line.strip() for line in section.splitlines() if line.startswith(("    cp ", "    rm "))]
    assert len(steps) == 2
    shutil.copyfile(copy, data / "copy.db")
    for step in steps:
        subprocess.run(step, shell=True, cwd=data, check=True)
    assert texts(data) == ["in the backup"]
    again = Client(start(), data)
    with again.http:
        assert again.say("life goes on").status_code == 201


async def test_the_error_of_a_copy_beside_an_old_log_of_changes_says_to_remove_that(tmp_path: Path, data: Path) -> None:
    async with opened(data) as store:
        for number in range(400):
            await store.append(KATE.owner, KATE, said(f"turn {number} " * 50))
        copy = back_up(data / "afterglow.db")
        for number in range(400):
            await store.append(KATE.owner, KATE, said(f"later {number} " * 50))
        killed = Path(shutil.copytree(data, tmp_path / "killed"))
    shutil.copyfile(copy, killed / "afterglow.db")
    with pytest.raises(StoreUnusable, match=r"remove afterglow\.db-wal and afterglow\.db-shm"):
        async with opened(killed) as store:
            assert not await store.check(), "it does not seem to be damaged"
