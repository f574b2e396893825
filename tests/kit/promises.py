"""What must be true of a database whatever happened to it. Each function gives sentences about what is not."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx

_SESSIONS = """
SELECT s.owner, s.id, s.turns, s.tokens, s.exchanges, s.user_turns + s.others_turns AS indexed,
       s.user_terms + s.others_terms AS terms, s.last_role,
       coalesce(t.turns, 0) AS t_turns, coalesce(t.first, 1) AS first, coalesce(t.last, 0) AS last,
       coalesce(t.tokens, 0) AS t_tokens, coalesce(t.exchanges, 0) AS t_exchanges,
       coalesce(i.indexed, 0) AS t_indexed, coalesce(i.terms, 0) AS t_terms
FROM sessions s
LEFT JOIN (SELECT owner, session, count(*) AS turns, min(seq) AS first, max(seq) AS last, sum(tokens) AS tokens,
                  sum(CASE WHEN role = 'user' AND coalesce(before, '') <> 'user' THEN 1 ELSE 0 END) AS exchanges
           FROM (SELECT turns.*, lag(role) OVER (PARTITION BY owner, session ORDER BY seq) AS before FROM turns) AS t1
           GROUP BY owner, session) AS t ON t.owner = s.owner AND t.session = s.id
LEFT JOIN (SELECT owner, place AS session, count(*) AS indexed,
                  sum(length(terms) - length(replace(terms, ' ', '')) + 1) AS terms
           FROM search_terms WHERE kind = 'turn' GROUP BY owner, place) AS i ON i.owner = s.owner AND i.session = s.id
"""


async def broken(store: Store) -> list[str]:
    """What is wrong with the database, from its pages up to its counters, its queue and its index."""

    def look(tx: Tx) -> list[str]:
        return [*_counters(tx), *_totals(tx), *_queue(tx), *_summaries(tx), *_timers(tx), *_goals(tx)]

    found = await store.check() + await store._read("look", EVERYONE, look)
    if isinstance(store, SQLiteStore):
        found += _index(store)
    return found


def _counters(tx: Tx) -> list[str]:
    found: list[str] = []
    for row in tx.rows(_SESSIONS):
        name = f"session {row['id']} of {row['owner']}"
        if (row["first"], row["last"]) != (1, row["t_turns"]):
            found.append(f"{name} has {row['t_turns']} turns numbered {row['first']} to {row['last']}")
        for counter in ("turns", "tokens", "exchanges", "indexed", "terms"):
            if row[counter] != row[f"t_{counter}"]:
                found.append(f"{name} counts {row[counter]} {counter}; it has {row[f't_{counter}']}")
    return found


_TOTALS = """
SELECT owner, sum(sessions) AS sessions, sum(user_turns) AS user_turns, sum(user_terms) AS user_terms,
       sum(others_turns) AS others_turns, sum(others_terms) AS others_terms
FROM (SELECT owner, sessions, user_turns, user_terms, others_turns, others_terms FROM turn_totals
      UNION ALL
      SELECT owner, CASE WHEN turns > 0 THEN -1 ELSE 0 END, -user_turns, -user_terms, -others_turns, -others_terms
      FROM sessions) AS both_ways
GROUP BY owner
"""


def _totals(tx: Tx) -> list[str]:
    """What an owner's searches are weighed by is what its sessions add up to."""
    return [
        f"{row['owner']} counts {row[name]} {name} too many"
        for row in tx.rows(_TOTALS)
        for name in ("sessions", "user_turns", "user_terms", "others_turns", "others_terms")
        if row[name]
    ]


def _goals(tx: Tx) -> list[str]:
    """Goal events are numbered without gaps, and nothing is told that did not happen."""
    rows = tx.rows(
        """SELECT p.owner, p.agent, p.events, p.told_to, count(g.number) AS there, coalesce(max(g.number), 0) AS last
           FROM presence p LEFT JOIN goal_events g ON g.owner = p.owner AND g.agent = p.agent
           GROUP BY p.owner, p.agent, p.events, p.told_to"""
    )
    return [
        f"{row['owner']} and {row['agent']} count {row['events']} goal events, told to {row['told_to']}; there are "
        f"{row['there']}, the last is {row['last']}"
        for row in rows
        if not (row["events"] == row["there"] == row["last"] and row["told_to"] <= row["events"])
    ]


def _queue(tx: Tx) -> list[str]:
    """A head that was put back behind the others is looked at from then on, so up to now; a clock may go back a little."""
    rows = tx.rows(
        """SELECT w.owner, w.kind, w.subject FROM work w LEFT JOIN work_heads h ON h.owner = w.owner AND h.kind = w.kind
           WHERE h.look_at IS NULL OR h.look_at > {greatest}(w.ready_at, {now} + 10000000)"""
    )
    return [f"no worker will look for {row['kind']} of {row['subject']} when it is ready" for row in rows]


_SUMMARIES = """
SELECT s.owner, s.id, s.turns, s.said_seq, s.summary_seq, s.sunset_seq, coalesce(m.last_seq, 0) AS last_seq,
       coalesce(m.newest_seq, 0) AS newest_seq, coalesce(m.newest, 0) AS newest,
       (SELECT count(*) FROM work w WHERE w.owner = s.owner AND w.kind = 'summary' AND w.subject = s.id) AS asked
FROM sessions s
LEFT JOIN (SELECT owner, session, max(last_seq) AS last_seq, sum(newest) AS newest,
                  max(CASE WHEN newest = 1 THEN last_seq END) AS newest_seq
           FROM summaries GROUP BY owner, session) AS m ON m.owner = s.owner AND m.session = s.id
"""


def _summaries(tx: Tx) -> list[str]:
    """One summary is the newest, it is the one that covers most, and an end that was asked for is not forgotten."""
    found: list[str] = []
    for row in tx.rows(_SUMMARIES):
        name = f"session {row['id']} of {row['owner']}"
        if row["newest"] != (row["last_seq"] > 0):
            found.append(f"{name} has {row['newest']} newest summaries")
        if not row["summary_seq"] == row["last_seq"] == row["newest_seq"]:
            found.append(
                f"{name} says it is summarised to turn {row['summary_seq']}; its summaries go to {row['last_seq']}, the "
                f"newest to {row['newest_seq']}"
            )
        if not row["summary_seq"] <= row["said_seq"] <= row["turns"] or row["sunset_seq"] > row["said_seq"]:
            found.append(f"{name} counts beyond its end: {dict(row)}")
        if row["sunset_seq"] > row["summary_seq"] and not row["asked"]:
            found.append(f"{name} has ended at turn {row['sunset_seq']}, and no work will summarise it")
    return found


def _timers(tx: Tx) -> list[str]:
    """An open session whose timer was set once has one, or work that sets it again."""
    rows = tx.rows(
        """SELECT s.owner, s.id FROM sessions s WHERE s.state = 'open' AND s.idle_due IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM work w WHERE w.owner = s.owner AND w.kind = 'idle' AND w.subject = s.id)"""
    )
    return [f"the timer of the open session {row['id']} of {row['owner']} is lost" for row in rows]


def _index(store: SQLiteStore) -> list[str]:
    """SQLite's own check does not look into the index of words: compare it with the terms, word for word.

    The index may be behind; up to where it says it has come, it has everything, and after that nothing.
    """
    connection = sqlite3.connect(store.path)
    try:
        connection.execute("CREATE VIRTUAL TABLE temp.entries USING fts5vocab(main, search_index, instance)")
        connection.execute("BEGIN")
        indexed = set(connection.execute("SELECT term, doc FROM temp.entries"))
        (indexed_to,) = connection.execute("SELECT indexed_to FROM search_progress").fetchone()
        wanted = {
            (mark + term, number)
            for number, mark, terms in connection.execute("SELECT id, mark, terms FROM search_terms")
            for term in terms.split(" ")
            if number <= indexed_to
        }
    finally:
        connection.close()
    missing, extra = len(wanted - indexed), len(indexed - wanted)
    return [f"the index of words lacks {missing} entries and has {extra} too many"] if missing or extra else []


async def lost(store: Store, acknowledged: list[tuple[Any, ...]], digest: Any) -> list[str]:
    """Which acknowledged turns (owner, session, seq, key, digest of the text) are not there as they were written."""

    def look(tx: Tx) -> dict[tuple[Any, ...], str]:
        rows = tx.rows("SELECT owner, session, seq, key, text FROM turns")
        return {(row["owner"], row["session"], row["seq"], row["key"]): row["text"] for row in rows}

    stored = await store._read("look", EVERYONE, look)
    return [
        f"turn {each[2]} of session {each[1]}, key {each[3]}, was acknowledged and is not there as it was written"
        for each in acknowledged
        if tuple(each[:4]) not in stored or digest(stored[tuple(each[:4])]) != each[4]
    ]


async def doubled(store: Store) -> list[str]:
    """Which texts stand in the log more than once, where every text was written once."""

    def look(tx: Tx) -> Counter[tuple[str, str]]:
        return Counter((row["owner"], row["text"]) for row in tx.rows("SELECT owner, text FROM turns"))

    counted = await store._read("look", EVERYONE, look)
    return [f"{text!r} of {owner} is there {count} times" for (owner, text), count in counted.items() if count > 1]


async def dump(store: Store) -> dict[str, list[str]]:
    """Every row of every table, to compare two databases or two moments of one."""
    # What may differ where all that can be seen is equal: PostgreSQL gives no number again that a refused verb had taken, and
    # keeps an owner's totals in more parts.
    inner = {"search_terms": {"id", "lexemes"}}
    inner |= {table: {"id"} for table in ("search_fresh", "search_vectors", "happenings", "audit")}

    def look(tx: Tx) -> dict[str, list[str]]:
        return {
            table: sorted(
                repr({name: value for name, value in dict(row).items() if name not in inner.get(table, ())})
                for row in tx.rows(f"SELECT * FROM {_SUMMED if table == 'turn_totals' else table}")
            )
            for table in sorted({row["name"] for row in tx.rows(_TABLES[tx.dialect.name])} - {"schema_versions"})
        }

    return await store._read("dump", EVERYONE, look)


_SUMMED = """(
SELECT owner, CAST(sum(sessions) AS BIGINT) AS sessions, CAST(sum(user_turns) AS BIGINT) AS user_turns,
       CAST(sum(user_terms) AS BIGINT) AS user_terms, CAST(sum(others_turns) AS BIGINT) AS others_turns,
       CAST(sum(others_terms) AS BIGINT) AS others_terms
FROM turn_totals GROUP BY owner) AS summed"""

_TABLES = {
    "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_index%'"
    " AND name NOT IN ('search_vocab', 'search_progress', 'sqlite_sequence')",
    "postgres": "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
}
