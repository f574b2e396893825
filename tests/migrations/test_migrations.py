"""Every past schema, with rows in it, becomes the present one: whole or not at all, also when killed, also twice at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
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
from tests.faults.promises import broken, dump
from tests.faults.tasks import open_store
from tests.kit.records import KATE, NOON, said

pytestmark = pytest.mark.spec("P13", "P1")

LATEST = len(migrations.load(SQLITE))
NAMES = [step.name for step in migrations.load(SQLITE)]
OWNER = KATE.owner

# What a database of each past schema may hold. Whoever adds a migration adds the rows of the schema before it.
ROWS: dict[int, list[str]] = {
    1: [
        f"INSERT INTO owners (owner, created_at) VALUES ('{OWNER}', 1)",
        f"""INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, exchanges, tokens,
                                  last_role, user_turns, user_terms, others_turns, others_terms)
            VALUES ('{OWNER}', 'old', 'kate', 'telegram', 'ana', 'open', 1, 3, 2, 1, 5, 'assistant', 1, 2, 1, 1)""",
        f"""INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, key, removed,
                               bytes, cut)
            VALUES ('{OWNER}', 'old', 1, 'user', 'red kettle', '[]', 2, 2, 'owner', 'person', '[]', 'k1', '{{}}', 10, 0),
                   ('{OWNER}', 'old', 2, 'assistant', 'head …', '[]', 3, 3, 'agent', 'agent', '[]', 'k2', '{{}}', 99, 1)""",
        f"INSERT INTO whole_turns VALUES ('{OWNER}', 'old', 2, 'head and the whole of it', '[]')",
        f"""INSERT INTO search_terms (owner, kind, place, seq, label, at, mark, terms)
            VALUES ('{OWNER}', 'turn', 'old', 1, 'user', 2, 'm_', 'red kettle'),
                   ('{OWNER}', 'turn', 'old', 2, 'assistant', 3, 'n_', 'head')""",
        "INSERT INTO access_tokens (id, name, scope, digest, created_at) VALUES ('t', 'mine', 'owner', 'digest', 1)",
    ],
    2: [
        f"""INSERT INTO work (owner, kind, subject, due_at, ready_at, reason)
            VALUES ('{OWNER}', 'context', 'old', 5, 5, 'interval')""",
        f"INSERT INTO work_heads VALUES ('{OWNER}', 'context', 5)",
    ],
    3: [
        f"""INSERT INTO blocks (owner, session, number, level, first_seq, last_seq, first_at, last_at, text, tokens,
              span_tokens, children, input_hash, prompt, model, input_tokens, output_tokens, reason, extract, lost,
              lost_count, created_at, shown_from)
            VALUES ('{OWNER}', 'old', 1, 0, 1, 2, 2, 3, 'a kettle', 3, 5, '[]', 'h', 'fold-1', 'm', 9, 3, 'manual', 0,
              '[]', 0, 4, 3)""",
        f"""INSERT INTO reports (owner, session, source, number, label, text, tokens, asked_at, start_at, end_at, shown_from)
            VALUES ('{OWNER}', 'old', 'calendar', 1, 'Calendar', 'dentist', 2, 4, 2, 3, 3)""",
        f"""UPDATE sessions SET folded_to = 2, folded_turns = 2, folded_exchanges = 1, blocks_version = 1,
              block_tokens = 3, tail_tokens = 0, fence = 'f' WHERE owner = '{OWNER}' AND id = 'old'""",
    ],
    4: [
        f"""INSERT INTO spend (owner, session, day, at, purpose, model, tokens, micro_usd)
            VALUES ('{OWNER}', 'old', '2026-03-02', 1, 'fold', 'openai:m', 10, 5)""",
        "INSERT INTO spend_days VALUES ('2026-03-02', 1, 10, 5)",
    ],
    5: [
        f"""INSERT INTO summaries (owner, session, last_seq, first_seq, first_at, last_at, agent, title, summary, category,
              decisions, open_threads, outcomes, people, trigger, model, prompt, input_tokens, output_tokens, degraded,
              newest, created_at)
            VALUES ('{OWNER}', 'old', 2, 1, 2, 3, 'kate', 'A kettle', 'It is red.', 'other', '[]', '[]', '[]', '[]',
              'manual', 'm', 'summary-1', 9, 3, 0, 1, 4)""",
        f"UPDATE sessions SET summary_seq = 2 WHERE owner = '{OWNER}' AND id = 'old'",
    ],
    6: [
        f"""INSERT INTO facts (owner, id, type, content, confidence, source_date, extracted_at, trust, status, session, way,
              model, prompt, changed_at, digest)
            VALUES ('{OWNER}', 'f', 'other', 'The kettle is red.', 'high', '1970-01-01', 4, 'owner', 'active', 'old',
              'extracted', 'm', 'facts-1', 4, 'd')""",
        f"INSERT INTO evidence VALUES ('{OWNER}', 'old', 1, '{OWNER}', 'f', 'red kettle', 2, 1, 0)",
        f"INSERT INTO readings VALUES ('{OWNER}', 'old', 2, 4, 1, 1, 0, '{{}}', 'm', 'facts-1')",
        "INSERT INTO schedules VALUES ('facts', 4)",
        f"UPDATE sessions SET facts_seq = 2 WHERE owner = '{OWNER}' AND id = 'old'",
        f"UPDATE owners SET facts_version = 1 WHERE owner = '{OWNER}'",
    ],
    7: [
        f"INSERT INTO search_totals VALUES ('{OWNER}', 'fact', 1, 2)",
        "INSERT INTO search_embedders VALUES (1, 'some', 0, 2)",
        f"INSERT INTO search_vectors SELECT '{OWNER}', 1, 1, min(id), '12' FROM search_terms",
    ],
    8: [
        f"INSERT INTO stone_salts VALUES ('{OWNER}', '5a17')",
        f"INSERT INTO stones VALUES ('{OWNER}', 'd1')",
    ],
    9: [
        f"""INSERT INTO presence (owner, agent, version, seen_at, channel, sender, events)
            VALUES ('{OWNER}', 'kate', 1, 3, 'telegram', 'ana', 1)""",
        f"INSERT INTO goal_events VALUES ('{OWNER}', 'kate', 1, 'boil', '1', 'completed', 'Boil', '', 4)",
        f"INSERT INTO digests VALUES ('{OWNER}', 'kate', 1, 3, 1, 'none', 'nothing happened', 0, 0, '', 'return', 0, 0)",
        f"INSERT INTO arrivals VALUES ('{OWNER}', 'm', 3, 'w', NULL, 4)",
    ],
    10: [
        f"""INSERT INTO inbox (owner, place, number, agent, channel, sender, reason, text, parts, at, key)
            VALUES ('{OWNER}', 'old', 1, 'kate', 'telegram', 'ana', 'user_message', 'hello', '[]', 3, 'k')""",
        f"""INSERT INTO tasks (owner, id, agent, channel, sender, prompt, kind, schedule, zone, state, created_at, created_by)
            VALUES ('{OWNER}', 'look', 'kate', 'telegram', 'ana', 'Look.', 'cron', '0 9 * * *', 'UTC', 'active', 3, 'owner')""",
    ],
    11: [
        f"""INSERT INTO access_tokens (id, name, scope, digest, created_at, kind, bound_to, expires_at, last_used_at)
            VALUES ('b', 'bound', 'read', 'digest of b', 1, 'session', '{OWNER}', 9, 2)""",
        f"INSERT INTO happenings (owner, kind, session, number) VALUES ('{OWNER}', 'turn', 'old', 1)",
    ],
    12: [
        f"""INSERT INTO audit (at, owner, who, what, session, about)
            VALUES (4, '{OWNER}', 'cli:ana', 'close_session', 'old', '{{}}')""",
    ],
    13: [
        f"""INSERT INTO audit (at, owner, who, what, session, about)
            VALUES (5, '{OWNER}', 'token:phone', 'append', 'old', '{{"first_seq": 1}}')""",
    ],
    14: [f"INSERT INTO written_files VALUES ('{OWNER}', 'facts/1970-01-01.json', 'd')"],
    15: [],  # its one table is filled by triggers
}


def is_postgres(address: str) -> bool:
    return address.startswith("postgresql:")


def execute(address: str, statements: list[str]) -> None:
    if is_postgres(address):
        with psycopg.connect(address) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]
        return
    connection = sqlite3.connect(address)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def version(address: str) -> int | None:
    """The number of the schema there, or None where there is none at all."""
    exists = {
        True: "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()",
        False: "SELECT count(*) FROM sqlite_schema",
    }[is_postgres(address)]
    connection: Any = psycopg.connect(address) if is_postgres(address) else sqlite3.connect(address)
    try:
        if connection.execute(exists).fetchone()[0] == 0:
            return None
        return connection.execute("SELECT max(version) FROM schema_versions").fetchone()[0]
    finally:
        connection.close()


Past = Callable[[str, int], Any]


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Past:
    """Make a database as the version of that time did, with rows in all its tables."""

    async def make(address: str, number: int) -> None:
        if number == 0:
            return
        load = migrations.load
        with monkeypatch.context() as patch:
            patch.setattr(migrations, "load", lambda dialect: load(dialect)[:number])
            store = await open_store(address)
            await store.close()
        assert version(address) == number
        for step in range(1, number + 1):
            execute(address, ROWS[step])

    return make


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


@pytest.mark.parametrize("number", range(LATEST + 1))
async def test_a_database_of_every_past_schema_becomes_todays(address: str, past: Past, number: int) -> None:
    await past(address, number)
    await use(address, number)
    assert version(address) == LATEST


@pytest.mark.parametrize(
    ("number", "step"), [(number, step) for number in range(LATEST) for step in range(number, LATEST)]
)
async def test_a_migration_that_is_killed_before_its_commit_has_changed_nothing(
    address: str, past: Past, nursery: Nursery, number: int, step: int
) -> None:
    await past(address, number)
    child = nursery.one("open_only", address=address, failpoints=f"migrate {NAMES[step]}:before=kill")
    assert child.was_killed and not child.lines, nursery.errors()
    assert version(address) == (number or None)
    await use(address, number)


@pytest.mark.parametrize("number", range(LATEST))
async def test_a_migration_that_is_killed_after_its_commit_is_done(
    address: str, past: Past, nursery: Nursery, number: int
) -> None:
    await past(address, number)
    child = nursery.one("open_only", address=address, failpoints="migrate:after=kill")
    assert child.was_killed and not child.lines, nursery.errors()
    assert version(address) == LATEST
    await use(address, number)


@pytest.mark.parametrize("number", range(LATEST))
@pytest.mark.spec("SUM-11")
async def test_processes_that_migrate_one_database_at_once_all_come_to_the_same(
    address: str, past: Past, nursery: Nursery, number: int
) -> None:
    await past(address, number)
    assert nursery.well("open_only", children=8, address=address) == ["opened"] * 8
    await use(address, number)


async def test_a_step_that_fails_half_way_leaves_nothing_of_it(
    address: str, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    await past(address, LATEST)
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
