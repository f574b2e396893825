"""SAFE-2: one owner never sees another's data, and in PostgreSQL not even when the application's own filter is gone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from afterglow.clock import FixedClock, SystemClock
from afterglow.errors import StoreUnusable
from afterglow.store import log, search, sessions, sqlite, transaction
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from tests.faults import conftest as faults
from tests.faults import verbs
from tests.kit.databases import copy_of
from tests.kit.loops import for_each
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("SAFE-2")

own_server = faults.own_server
OF_EVERYONE = {
    *("untold_people", "waiting_places", "owners", "claim", "tokens", "find_token", "check", "join", "part"),
    *("restore_owner", "owners_with_files"),
}
TABLES = (
    "owners",
    "sessions",
    "turns",
    "whole_turns",
    "search_terms",
    "search_totals",
    "turn_totals",
    "search_fresh",
    "search_vectors",
    "work",
    "work_heads",
    "blocks",
    "reports",
    "spend",
    "summaries",
    "facts",
    "evidence",
    "readings",
    "memory_files",
    "written_files",
    "stone_salts",
    "stones",
    "presence",
    "goal_events",
    "digests",
    "arrivals",
    "happenings",
    "inbox",
    "tasks",
    "audit",
)


STAYS = "audit"
"""The table whose rows no owner may change at all, its own neither."""


@pytest.fixture(scope="module")
def prepared(migrated: str) -> Iterator[str]:
    """A database with the scenario, to be copied: ana and ben have the same things under the same names."""

    async def prepare() -> None:
        store = await PostgresStore.open(address, FixedClock(NOON))
        await verbs.prepare(store)
        await store.close()

    with copy_of(migrated) as address:
        with ThreadPoolExecutor(1) as aside:  # the test's own loop may be running
            aside.submit(asyncio.run, prepare()).result()
        yield urlsplit(address).path[1:]


@pytest.fixture
def prepared_address(prepared: str) -> Iterator[str]:
    with copy_of(prepared) as address:
        yield address


@pytest.fixture
def second_address(prepared: str) -> Iterator[str]:
    with copy_of(prepared) as address:
        yield address


@pytest.fixture
async def guarded(prepared_address: str) -> AsyncIterator[PostgresStore]:
    """A store on PostgreSQL with the scenario."""
    store = await PostgresStore.open(prepared_address, FixedClock(NOON))
    yield store
    await store.close()


def without_the_filter(patch: pytest.MonkeyPatch) -> None:
    """The one place where the owner's filter is written goes wrong."""
    patch.setattr(transaction, "mine", lambda owners: "TRUE")


def changes_nothing(connection: psycopg.Connection, table: str, statement: str, *values: str) -> None:
    """It finds no row; of what stays as it is written, it is refused."""
    with pytest.raises(pg.InsufficientPrivilege) if table == STAYS else nullcontext(), connection.transaction():
        assert connection.execute(statement, values).rowcount == 0  # type: ignore[arg-type]


def of_ben(dumped: Mapping[str, list[str]]) -> list[str]:
    return [row for rows in dumped.values() for row in rows if OTHER.owner in row]


async def test_without_the_applications_filter_every_verb_sees_and_changes_the_same(
    guarded: PostgresStore, second_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfiltered = await PostgresStore.open(second_address, FixedClock(NOON))
    before = of_ben(await dump(unfiltered))
    assert len(before) > 10
    for name, verb in verbs.VERBS.items():
        if name == "close":
            continue
        wanted = await verb(guarded)
        with monkeypatch.context() as patch:
            without_the_filter(patch)
            got = await verb(unfiltered)
        assert got == wanted, f"{name} gave something else without the filter"
        assert name in OF_EVERYONE or OTHER.owner not in repr(got), f"{name} gave ana something of ben's"
        assert await dump(unfiltered) == await dump(guarded), f"{name} changed something else without the filter"
    assert of_ben(await dump(unfiltered)) == before, "something of ben's was changed"
    await unfiltered.close()


async def test_without_row_level_security_and_without_the_filter_it_would_be_seen(
    guarded: PostgresStore, prepared_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the test above can fail at all."""
    with psycopg.connect(prepared_address, autocommit=True) as connection:
        connection.execute("ALTER TABLE turns DISABLE ROW LEVEL SECURITY")
    without_the_filter(monkeypatch)
    assert OTHER.owner in {turn.owner for turn in await guarded.turns_before(KATE.owner, None, 100)}


async def test_the_check_notices_a_table_without_row_level_security(
    guarded: PostgresStore, prepared_address: str
) -> None:
    assert await guarded.check() == []
    with psycopg.connect(prepared_address, autocommit=True) as connection:
        connection.execute("ALTER TABLE turns NO FORCE ROW LEVEL SECURITY")
        connection.execute("CREATE TABLE forgotten (owner TEXT)")
    assert sorted(await guarded.check()) == [
        "table forgotten has no row-level security",
        "table turns has no row-level security",
    ]


async def test_the_words_of_another_owner_are_not_found_by_their_token(guarded: PostgresStore) -> None:
    def look(token: str) -> Callable[[Tx], tuple[int, int]]:
        def run(tx: Tx) -> tuple[int, int]:
            found = tx.rows("SELECT afterglow_matches(:token, 0, 9000000000000000000, '', 10)", token=token)
            return len(found), tx.one("SELECT afterglow_matches_count(:token) AS n", token=token)["n"]

        return run

    ana, ben = (search._mark(owner, "user") + "kettle" for owner in (KATE.owner, OTHER.owner))
    assert await guarded._read("look", KATE.owner, look(ana)) == (1, 1)
    assert await guarded._read("look", KATE.owner, look(ben)) == (0, 0)
    assert await guarded._read("look", EVERYONE, look(ben)) == (0, 0), "the worker has no owner, and no words"


@for_each("table", TABLES)
async def test_who_names_no_owner_sees_nothing_and_writes_nothing(
    guarded: PostgresStore, prepared_address: str, table: str
) -> None:
    with psycopg.connect(prepared_address) as connection:
        connection.execute("SET ROLE afterglow_owner")
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # type: ignore[arg-type]
        changes_nothing(connection, table, f"DELETE FROM {table}")
        with pytest.raises(pg.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO owners VALUES ('nobody', 0)")


@for_each(
    "statement",
    [
        f"INSERT INTO owners VALUES ('{OTHER.owner} too', 0)",
        f"UPDATE turns SET owner = '{OTHER.owner}' WHERE seq = 1",
        f"INSERT INTO work (owner, kind, subject, ready_at, reason) VALUES ('{OTHER.owner}', 'facts', 'x', 0, 'x')",
        "SELECT * FROM aliases",
        "SELECT * FROM access_tokens",
        "DELETE FROM schema_versions",
        "DROP TABLE turns",
        "SET LOCAL ROLE afterglow_worker",
    ],
)
async def test_an_owners_transaction_may_not_do_what_is_no_owners_business(
    guarded: PostgresStore, prepared_address: str, statement: str
) -> None:
    with psycopg.connect(prepared_address) as connection:
        # As a login that has only this role: a member of both could change from one to the other.
        connection.execute("SET SESSION AUTHORIZATION afterglow_owner")
        connection.execute("SELECT set_config('afterglow.owner', %s, true)", (KATE.owner,))
        with pytest.raises(pg.InsufficientPrivilege):
            connection.execute(statement)  # type: ignore[arg-type]


@for_each("table", TABLES)
async def test_every_statement_of_one_owner_passes_over_another(
    guarded: PostgresStore, prepared_address: str, table: str
) -> None:
    with psycopg.connect(prepared_address) as connection:
        connection.execute("SET ROLE afterglow_owner")
        connection.execute("SELECT set_config('afterglow.owner', %s, true)", (KATE.owner,))
        owners = {row[0] for row in connection.execute(f"SELECT owner FROM {table}")}  # type: ignore[arg-type]
        assert owners == {KATE.owner}
        for statement in ("UPDATE {} SET owner = owner WHERE owner = %s", "DELETE FROM {} WHERE owner = %s"):
            changes_nothing(connection, table, statement.format(table), OTHER.owner)


# --- an ordinary login, as an administrator gives it out


@pytest.fixture
def admin(own_server: Any) -> Iterator[psycopg.Connection]:
    """A cluster on which Afterglow has never been."""
    with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
        yield connection
        connection.execute("DROP DATABASE IF EXISTS memory WITH (FORCE)")
        connection.execute('DROP ROLE IF EXISTS afterglow_owner, afterglow_worker, "an app", other')


def address_of(server: Any, user: str) -> str:
    return make_conninfo(**{**conninfo_to_dict(server.get_uri()), "user": user, "dbname": "memory"})


async def use(address: str) -> None:
    """The ordinary flow, verb by verb."""
    store = await PostgresStore.open(address, FixedClock(NOON))
    await verbs.prepare(store)
    for name, verb in verbs.VERBS.items():
        if name != "close":
            await verb(store)
    assert await broken(store) == []
    await store.close()
    again = await PostgresStore.open(address, FixedClock(NOON))
    assert (await again.append(KATE.owner, KATE, said("still here"))).seq > 1
    await again.close()


async def test_a_login_that_may_make_roles_sets_everything_up_by_itself(
    own_server: Any, admin: psycopg.Connection
) -> None:
    admin.execute('CREATE ROLE "an app" LOGIN CREATEROLE')
    admin.execute('CREATE DATABASE memory OWNER "an app"')
    await use(address_of(own_server, "an app"))


async def test_a_login_that_may_not_make_roles_is_told_what_an_administrator_must_run(
    own_server: Any, admin: psycopg.Connection
) -> None:
    admin.execute('CREATE ROLE "an app" LOGIN')
    admin.execute('CREATE DATABASE memory OWNER "an app"')
    for _ in range(2):
        with pytest.raises(StoreUnusable, match="let an administrator run: ") as refused:
            await PostgresStore.open(address_of(own_server, "an app"), SystemClock())
        advice = str(refused.value).split("let an administrator run: ")[1].removesuffix(" Then start again")
        first, _, rest = advice.partition("; ")
        admin.execute(first)  # type: ignore[arg-type] - only the first: the next error asks for what is left
        assert rest
    admin.execute(rest)  # type: ignore[arg-type]
    await use(address_of(own_server, "an app"))


async def test_a_login_without_a_schema_of_its_own_is_told_so(own_server: Any, admin: psycopg.Connection) -> None:
    admin.execute('CREATE ROLE "an app" LOGIN CREATEROLE')
    admin.execute("CREATE DATABASE memory")
    with pytest.raises(StoreUnusable, match="give it a database or a schema that it owns"):
        await PostgresStore.open(address_of(own_server, "an app"), SystemClock())


# --- that the filter, and the policies under it, leave the indexes their use


def many_rows(tx: Tx) -> None:
    """Eight owners with a thousand turns each, made by the database itself."""
    for number in range(8):
        owner = f"o{number}"
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        tx.run("INSERT INTO owners (owner, created_at) VALUES (:owner, 0)", owner=owner)
        tx.run(
            """INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns)
               VALUES (:owner, 's', 'kate', 'web', :owner, 'open', 0, 1000, 1000)""",
            owner=owner,
        )
        tx.run(
            f"""INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, removed,
                                   bytes)
                {numbers} SELECT '{owner}', 's', i, 'user', 'text', '[]', i, 1, 'owner', 'person', '[]', '{{}}', 4 FROM n"""
        )
        tx.run(
            f"""INSERT INTO search_terms (owner, kind, place, seq, label, at, mark, terms)
                {numbers} SELECT '{owner}', 'turn', 's', i, 'user', i, '{search._mark(owner, "user")}',
                                 CASE WHEN i % 100 = 0 THEN 'common rare' ELSE 'common' END FROM n"""
        )
    tx.words_written()
    tx.words_written()


def look_around(tx: Tx) -> None:
    """What the foreground does all the time."""
    assert len(log.tail(tx, "s", 6)) == 6
    assert len(log.turns(tx, "s", 10, 20, 100)) == 11
    assert len(log.turns_before(tx, None, 10)) == 10
    assert log.turn(tx, "s", 500).seq == 500
    assert sessions.session(tx, "s").turns == 1000
    matches = search.word_matches(tx, ["rare"], search.Sought())
    assert len(matches.turns) == 10
    assert len(search.turns_at(tx, [(turn.session, turn.seq - 1) for turn in matches.turns])) == 10


async def test_postgresql_reads_no_table_of_turns_from_end_to_end(postgres_address: str) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store._write("many", EVERYONE, many_rows)
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("ANALYZE")

    def counts(tx: Tx) -> dict[str, int]:
        """Scans of whole tables, and rows of `turns` found by an index, as this connection has counted them so far."""
        rows = tx.rows("SELECT * FROM pg_stat_xact_user_tables WHERE schemaname = current_schema()")
        by_table = {row["relname"]: row for row in rows}
        return {
            "whole": sum(by_table[table]["seq_scan"] for table in ("turns", "search_terms")),
            "rows": by_table["turns"]["idx_tup_fetch"],
        }

    def look(tx: Tx) -> dict[str, int]:
        before = counts(tx)
        look_around(tx)
        return {name: count - before[name] for name, count in counts(tx).items()}

    for scope in ("o3", "o5"):
        assert await store._read("look", scope, look) == {"whole": 0, "rows": 6 + 11 + 10 + 1}, (
            "just what was asked for"
        )
    await store.close()


async def test_postgresql_finds_words_by_the_index_of_words(postgres_address: str) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store._write("many", EVERYONE, many_rows)
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("ANALYZE")
        connection.execute("SET ROLE afterglow_worker")
        connection.execute("SET plan_cache_mode = force_generic_plan")  # as a function's statement is planned
        connection.execute("SELECT set_config('afterglow.owner', 'o3', false)")
        for name, types in (
            ("afterglow_matches", "TEXT, BIGINT, BIGINT, TEXT, BIGINT"),
            ("afterglow_matches_count", "TEXT"),
        ):
            row = connection.execute(
                "SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace",
                (name,),
            ).fetchone()
            assert row is not None
            body = row[0].replace("token", "$1").replace("at >= since AND at < until", "at >= $2 AND at < $3")
            body = body.replace("labels", "$4").replace("LIMIT most", "LIMIT $5")
            connection.execute(f"PREPARE {name} ({types}) AS {body}")  # type: ignore[arg-type]
            arguments = f"'{search._mark('o3', 'user')}rare'" + (", 0, 5000, '', 500" if "BIGINT" in types else "")
            plan = connection.execute(f"EXPLAIN EXECUTE {name} ({arguments})").fetchall()  # type: ignore[arg-type]
            assert any("search_terms_by_lexeme" in line for (line,) in plan), plan
            assert not any("Seq Scan" in line for (line,) in plan), plan
    await store.close()


async def test_sqlite_reads_no_table_of_turns_from_end_to_end(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", FixedClock(NOON))
    await store._write("many", EVERYONE, many_rows)
    executed: list[tuple[str, Mapping[str, Any]]] = []
    execute = sqlite._SQLiteTx._execute

    def noted(self: Any, sql: str, values: Mapping[str, Any]) -> Any:
        executed.append((sql, values))
        return execute(self, sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(sqlite._SQLiteTx, "_execute", noted)
        await store._read("look", "o3", look_around)
        await _append(store)

    def plans(tx: Tx) -> list[str]:
        return [row["detail"] for sql, values in executed for row in tx._execute(f"EXPLAIN QUERY PLAN {sql}", values)]

    found = await store._read("plans", EVERYONE, plans)
    tail = "SEARCH turns USING INDEX sqlite_autoindex_turns_1 (owner=? AND session=? AND seq>? AND seq<?)"
    assert found.count(tail) == 2, "the tail, and a run of turns, by the primary key"
    whole = re.compile(r"SCAN (turns|whole_turns|search_terms|sessions|work)\b")
    assert [line for line in found if whole.match(line)] == []
    await store.close()


async def _append(store: Store) -> None:
    await store.append("o3", "s", said("one more", key="k"))
