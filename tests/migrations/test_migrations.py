"""Every past schema, with rows in it, becomes the present one: whole or not at all, also when killed, also twice at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow.clock import SystemClock
from afterglow.errors import StoreError
from afterglow.store import migrations
from afterglow.store.migrations import Migration
from afterglow.store.transaction import EVERYONE, POSTGRES, SQLITE, Dialect
from afterglow.work import Limits
from tests.faults.nursery import Nursery
from tests.faults.tasks import open_store
from tests.kit.faults import contents
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, said
from tests.migrations.conftest import LATEST, PastSchemas
from tests.migrations.rows import OWNER, ROWS

pytestmark = pytest.mark.spec("P13", "P1")

NAMES = [step.name for step in migrations.load(SQLITE)]


def some(numbers: range) -> list[Any]:
    """All of these, of which the quick suite tries the first, one in the middle and the last."""
    quick = {numbers[0], numbers[len(numbers) // 2], numbers[-1]}
    return [each if each in quick else pytest.param(each, marks=pytest.mark.whole) for each in numbers]


@pytest.fixture
def number() -> int:
    """Which of the past schemas a test begins with: the latest, unless the test has others as parameters."""
    return LATEST


@pytest.fixture
def address(past_schemas: PastSchemas, number: int, tmp_path: Path) -> Iterator[str]:
    """A database with the schema of that number, and rows in all its tables."""
    with past_schemas.copy(number, tmp_path / "afterglow.db") as address:
        assert version(address) == (number or None)
        yield address


def version(address: str) -> int | None:
    """The number of the schema there, or None where there is none at all."""
    of_postgres = address.startswith("postgresql:")
    tables = "pg_tables WHERE schemaname = current_schema()" if of_postgres else "sqlite_schema"
    connection: Any = psycopg.connect(address) if of_postgres else sqlite3.connect(address)
    try:
        if connection.execute(f"SELECT count(*) FROM {tables}").fetchone()[0] == 0:
            return None
        return connection.execute("SELECT max(version) FROM schema_versions").fetchone()[0]
    finally:
        connection.close()


async def use(address: str, from_version: int) -> None:
    """What was there is there, and everything of today works on it."""
    store = await open_store(address)
    assert await store.check() == []
    if from_version >= 1:
        session = await store.session(OWNER, "old")
        assert (session.turns, session.exchanges, session.tokens) == (2, 1, 5)
        assert [turn.text for turn in await store.turns(OWNER, "old")] == ["red kettle", "head …"]
        assert (await store.turn(OWNER, "old", 2)).text == "head and the whole of it"
        assert [token.name for token in await store.tokens()] == ["mine"]
        assert (await store.append(OWNER, KATE, said("red kettle", key="k1"))).seq == 1
    if from_version >= 2:
        claims = await store.claim(("context",), limit=9, holder="w", limits=Limits())
        assert [claim.subject for claim in claims] == ["old"]
        await store.finish(claims[0])
    turn = await store.append(OWNER, KATE, said("today", at=NOON))
    assert (turn.seq, turn.session == "old") == ((3, True) if from_version else (1, False))
    assert (await store.word_matches(OWNER, ["today"])).turns
    assert await broken(store) == []
    await store.close()


def test_every_past_schema_has_rows_to_be_tried_with() -> None:
    assert sorted(ROWS) == list(range(1, LATEST + 1)), (
        "add the rows of the newest schema, for the next migration's sake"
    )


def test_both_databases_take_the_same_steps() -> None:
    assert [step.name for step in migrations.load(POSTGRES)] == NAMES


@pytest.mark.parametrize("number", some(range(LATEST + 1)))
async def test_a_database_of_every_past_schema_becomes_todays(address: str, number: int) -> None:
    await use(address, number)
    assert version(address) == LATEST


@pytest.mark.parametrize("number", some(range(LATEST)))
async def test_a_migration_that_is_killed_before_its_commit_has_changed_nothing_and_after_it_is_done(
    address: str, nursery: Nursery, number: int
) -> None:
    """Each migration is killed once, in the schema just before it."""
    before = contents(address)
    child = nursery.one("open_only", address=address, failpoints=f"migrate {NAMES[number]}:before=kill")
    assert child.was_killed and not child.lines, nursery.errors()
    assert contents(address) == before
    child = nursery.one("open_only", address=address, failpoints="migrate:after=kill")
    assert child.was_killed and not child.lines, nursery.errors()
    assert version(address) == LATEST
    await use(address, number)


@pytest.mark.parametrize(
    "number", [pytest.param(0, marks=pytest.mark.whole), 1, pytest.param(LATEST // 2, marks=pytest.mark.whole)]
)
async def test_an_upgrade_over_several_versions_that_is_killed_in_its_last_step_has_changed_nothing(
    address: str, nursery: Nursery, number: int
) -> None:
    before = contents(address)
    child = nursery.one("open_only", address=address, failpoints=f"migrate {NAMES[-1]}:before=kill")
    assert child.was_killed and not child.lines, nursery.errors()
    assert contents(address) == before
    await use(address, number)


@pytest.mark.parametrize("number", some(range(LATEST)))
@pytest.mark.spec("SUM-11")
async def test_processes_that_migrate_one_database_at_once_all_come_to_the_same(
    address: str, nursery: Nursery, number: int
) -> None:
    assert nursery.well("open_only", children=8, address=address) == ["opened"] * 8
    await use(address, number)


async def test_a_step_that_fails_half_way_leaves_nothing_of_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load = migrations.load

    def with_a_bad_step(dialect: Dialect) -> list[Migration]:
        sql = "CREATE TABLE half (x TEXT);\nINSERT INTO half VALUES ('1');\nINSERT INTO nowhere VALUES ('2');\n"
        return [*load(dialect), Migration(version=LATEST + 1, name="bad", sql=sql)]

    store = await open_store(address)
    before = await dump(store)
    await store.close()
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "load", with_a_bad_step)
        with pytest.raises(StoreError, match="nowhere"):
            await open_store(address)
    store = await open_store(address, SystemClock())
    assert await dump(store) == before
    assert "half" not in before
    assert [work.subject for work in await store.work_list(EVERYONE)] == ["old"]
    await store.close()
