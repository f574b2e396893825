"""The verbs that forget turns and sessions, and all that was made of them; owners are in forgetting_owners.py.

A forgotten turn stays as a stone: its number, its role and its moment, and nothing it said. A forgotten session goes with
its turns, the newest first, so many in one transaction as nobody else has to wait for long; until it is gone it is a shorter
session that nothing can be added to, and whoever calls again goes on from there.

Whoever read something before it was forgotten cannot commit what it made of that: the version of the session's blocks goes on,
claims on work about the session pass on, and what proves a fact must still be there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from afterglow.clock import to_us
from afterglow.facts import Fact, digest_of, normalised
from afterglow.store import digests, evidence, facts, queue, remaking, search, sessions, stones, tasks, twins
from afterglow.store.transaction import Row, Tx
from afterglow.turns import begins_exchange
from afterglow.work import Due

TURNS_AT_ONCE = 250
_STONE = json.dumps({stones.FORGOTTEN: 1}, separators=(",", ":"))
_HERE = "{mine} AND owner = :owner AND session = :session"
_SAYS = "origin <> 'heartbeat' AND NOT (role = 'system' AND origin = 'task')"
WANTED, _BEGUN = 1, 2
"""A session is to be forgotten; that has begun."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What one step of forgetting did. Where it is not `done`, the same verb is to be called again."""

    turns: int = 0
    blocks: int = 0
    summaries: int = 0
    facts: int = 0
    left: int = 0
    """How many turns are still to go."""
    done: bool = True

    def and_then(self, later: Forgotten) -> Forgotten:
        """This step and the one after it."""
        counts = {
            name: getattr(self, name) + getattr(later, name) for name in ("turns", "blocks", "summaries", "facts")
        }
        return replace(later, **counts)


# A fact


def forget_fact(tx: Tx, fact: str, stated_on: Sequence[str], salt: str, now: datetime) -> Fact:
    """Turns of a conversation that prove it stay. What was said on one of these channels was said to have it kept, and goes."""
    facts.lock_owners(tx)
    unsay(tx, tx.owners)
    row = facts.existing_row(tx, fact)
    rows = facts.with_its_words(tx, row) if row["content"] else [row]
    notes = [note for channel in stated_on for note in _notes(tx, channel, rows)]
    facts.forget_rows(tx, rows, now)
    remaking.let_the_ones_before_return(tx, rows, now)
    for session, seq in notes:
        forget_turns(tx, session, seq, seq, salt, now)
    return facts.whole(tx, _stone(tx, row))


def _stone(tx: Tx, row: Row) -> Row:
    """What stays of a forgotten fact: of one that was superseded, the stone of another with its words may do for both."""
    own = "SELECT * FROM facts WHERE {mine} AND owner = :owner AND id = :id"
    stone = tx.row(own, owner=row["owner"], id=row["id"]) or twins.by_digest(tx, row["owner"], row["content"])
    assert stone is not None, "a forgotten fact leaves a stone"
    return stone


def _notes(tx: Tx, channel: str, rows: Sequence[Row]) -> list[tuple[str, int]]:
    """The turns on this channel that prove one of these facts, or say it: not every one that does is kept as a proof."""
    proofs = [each for row in rows for each in evidence.rows_of(tx, row)]
    proving = {(each["session"], each["seq"]) for each in proofs}
    quoted = {normalised(each["quote"]) for each in proofs if each["quote"]}
    digests = {(row["owner"], row["digest"]) for row in rows}
    said = tx.rows(
        """SELECT t.session, t.seq, t.text, EXISTS (SELECT 1 FROM evidence AS e
                    WHERE e.owner = t.owner AND e.session = t.session AND e.seq = t.seq) AS proves
           FROM turns AS t WHERE {mine} AND removed <> :stone AND session IN
             (SELECT id FROM sessions WHERE {mine} AND channel = :channel) ORDER BY t.session, t.seq""",
        channel=channel,
        stone=_STONE,
    )
    return [
        (turn["session"], turn["seq"])
        for turn in said
        if (turn["session"], turn["seq"]) in proving
        or any(digest_of(owner, turn["text"]) == digest for owner, digest in digests)
        or (not turn["proves"] and normalised(turn["text"]) in quoted)  # "tomorrow", where the fact names the day
    ]


# Turns


def forget_turns(tx: Tx, session: str, first_seq: int, last_seq: int, salt: str, now: datetime) -> Forgotten:
    facts.lock_owners(tx)
    unsay(tx, tx.owners)
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    turns = _turns(tx, row, "seq BETWEEN :first AND :last AND removed <> :stone ORDER BY seq", first_seq, last_seq)
    if not turns:
        return Forgotten()
    first, last = turns[0]["seq"], turns[-1]["seq"]
    salt = stones.salt_of(tx, row["owner"], salt)
    _lay(tx, row, turns, salt)
    counted = _unindex(tx, row, turns)
    _unask(tx, row, turns)
    _blank(tx, row, turns, salt)
    forgotten = remaking.unprove(tx, row, first, last, now)
    gone, summary_seq = remaking.remove_summaries(tx, row, first)
    blocks = remaking.remake_blocks(tx, row, first, last)
    _count_down(tx, row, turns, counted, summary_seq)
    left = int(
        tx.one(
            f"SELECT count(*) AS n FROM turns WHERE {_HERE} AND seq BETWEEN :first AND :last AND removed <> :stone",
            **_here(row),
            first=last + 1,
            last=last_seq,
            stone=_STONE,
        )["n"]
    )
    _ask_anew(tx, row, now, blocks=blocks > 0, summary=gone > 0)
    return Forgotten(turns=len(turns), blocks=blocks, summaries=gone, facts=forgotten, left=left, done=not left)


def unsay(tx: Tx, owners: Sequence[str]) -> None:
    """What people were told, and what tasks said, may hold what is forgotten."""
    digests.unsay(tx, owners)
    tasks.unsay(tx, owners)


def _turns(tx: Tx, session: Row, which: str, first_seq: int = 1, last_seq: int = 2**62) -> list[Row]:
    """Turns with all their words, no more than one transaction takes."""
    return tx.rows(
        f"""SELECT t.seq, t.role, t.at, t.key, t.tokens, t.removed, coalesce(w.text, t.text) AS text,
                   coalesce(w.parts, t.parts) AS parts
            FROM (SELECT * FROM turns WHERE {_HERE} AND {which} LIMIT :most) AS t
            LEFT JOIN whole_turns AS w ON w.owner = t.owner AND w.session = t.session AND w.seq = t.seq ORDER BY t.seq""",
        **_here(session),
        **({"first": first_seq, "last": last_seq, "stone": _STONE} if ":first" in which else {}),
        most=TURNS_AT_ONCE,
    )


def _lay(tx: Tx, session: Row, turns: Sequence[Row], salt: str) -> None:
    digests: list[str | None] = []
    for turn in turns:
        if turn["removed"] == _STONE:
            continue
        words = (turn["role"], turn["text"], json.loads(turn["parts"]))
        digests += [stones.by_key(salt, turn["key"], *words), stones.by_moment(salt, turn["at"], *words)]
    stones.lay(tx, session["owner"], [digest for digest in digests if digest is not None])


def _unindex(tx: Tx, session: Row, turns: Sequence[Row]) -> dict[str, int]:
    """Nothing finds these turns any more. How many were found by words, and by how many, in each group."""
    counted = {f"{group}_{what}": 0 for group in search.GROUPS for what in ("turns", "terms")}
    for turn in turns:
        where = {"owner": session["owner"], "place": session["id"], "seq": turn["seq"]}
        which = "owner = :owner AND kind = 'turn' AND place = :place AND seq = :seq"
        found = tx.row(f"SELECT terms FROM search_terms WHERE {{mine}} AND {which}", **where)
        if found is not None:
            group = search.group_of(turn["role"])
            counted[f"{group}_turns"] += 1
            counted[f"{group}_terms"] += len(found["terms"].split(" "))
            search.unindex_record(tx, **where, kind="turn")
    return counted


def _blank(tx: Tx, session: Row, turns: Sequence[Row], salt: str) -> None:
    span = {"first": turns[0]["seq"], "last": turns[-1]["seq"]}
    tx.run(f"DELETE FROM whole_turns WHERE {_HERE} AND seq BETWEEN :first AND :last", **_here(session), **span)
    tx.run(
        f"""UPDATE turns SET text = '', parts = '[]', tokens = 0, recalled = '[]', model = NULL, usage = NULL, key = NULL,
              removed = :stone, bytes = 0, cut = 0
            WHERE {_HERE} AND seq BETWEEN :first AND :last AND removed <> :stone""",
        **_here(session),
        **span,
        stone=_STONE,
    )
    for turn in turns:
        if turn["key"] is not None:
            key = stones.KEY_BEGINS + stones.stone_key(salt, session["id"], turn["key"])
            tx.run(
                f"UPDATE turns SET key = :key WHERE {_HERE} AND seq = :seq", **_here(session), key=key, seq=turn["seq"]
            )


def _count_down(tx: Tx, session: Row, turns: Sequence[Row], counted: dict[str, int], summary_seq: int) -> None:
    """The session's counters without these turns; who folded it meanwhile is refused."""
    said = tx.rows(
        f"SELECT seq FROM turns WHERE {_HERE} AND removed <> :stone AND {_SAYS} ORDER BY seq DESC LIMIT 1",
        **_here(session),
        stone=_STONE,
    )
    shown = tx.one(
        f"SELECT coalesce(sum(tokens), 0) AS n FROM blocks WHERE {_HERE} AND shown_until IS NULL", **_here(session)
    )
    said_seq = said[0]["seq"] if said else 0
    tx.run(
        f"""UPDATE sessions SET tokens = tokens - :tokens, tail_tokens = tail_tokens - :tail,
              exchange_tokens = exchange_tokens - :exchange, stones = stones + :stones,
              {", ".join(f"{name} = {name} - :{name}" for name in counted)},
              blocks_version = blocks_version + 1, block_tokens = :block_tokens, summary_seq = :summary_seq,
              said_seq = :said_seq, sunset_seq = {{least}}(sunset_seq, CAST(:said_seq AS BIGINT))
            WHERE {{mine}} AND owner = :owner AND id = :session""",
        **_here(session),
        **counted,
        tokens=_tokens(turns),
        tail=_tokens(turns, session["folded_to"] + 1),
        exchange=_tokens(turns, session["exchange_seq"]),
        stones=len(turns),
        block_tokens=int(shown["n"]),
        summary_seq=summary_seq,
        said_seq=said_seq,
    )


def _tokens(turns: Sequence[Row], from_seq: int = 1) -> int:
    return sum(turn["tokens"] for turn in turns if turn["seq"] >= from_seq)


def _ask_anew(tx: Tx, session: Row, now: datetime, *, blocks: bool, summary: bool) -> None:
    """Work about the session begins again: claims pass on, so that what they have read is not committed."""
    held = tx.rows(
        "SELECT kind, reason FROM work WHERE {mine} AND owner = :owner AND subject = :session AND token IS NOT NULL",
        **_here(session),
    )
    due = [Due(kind=row["kind"], at=now, reason=row["reason"]) for row in held]
    due += [Due(kind="context", at=now, reason="redo")] if blocks else []
    row = sessions.existing(sessions.find(tx, session["id"]), session["id"])
    due += [Due(kind="summary", at=now, reason="forget")] if summary and row["said_seq"] > row["summary_seq"] else []
    for held_row in held:
        queue.cancel(tx, session["owner"], held_row["kind"], session["id"])
    tx.run(
        "UPDATE work SET last_error = NULL WHERE {mine} AND owner = :owner AND subject = :session AND last_error IS NOT NULL",
        **_here(session),
    )
    for each in sorted(due, key=lambda each: each.kind):
        queue.mark_due(tx, each, session["owner"], session["id"])
    queue.mark_due(tx, Due(kind="files", at=now, reason="forget"), session["owner"], session["owner"])


# A session


def forget_session(tx: Tx, session: str, salt: str, now: datetime) -> Forgotten:
    facts.lock_owners(tx)
    unsay(tx, tx.owners)
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    return step(tx, row, stones.salt_of(tx, row["owner"], salt), now)


def step(tx: Tx, session: Row, salt: str | None, now: datetime) -> Forgotten:
    """The next part of a session goes; at last the session itself. Without a salt nothing keeps it from coming back."""
    done = Forgotten() if session["forgetting"] == _BEGUN else _begin(tx, session, now)
    turns = _turns(tx, session, "TRUE ORDER BY seq DESC")
    if salt is not None:
        _lay(tx, session, turns, salt)
    if turns:
        _remove_turns(tx, session, turns)
    left = session["turns"] - len(turns)
    if not left:
        done = done.and_then(_remove_derived(tx, session, now))
        if salt is not None:
            stones.lay(tx, session["owner"], [stones.of_session(salt, session["id"], session["created_at"])])
        tx.run("DELETE FROM sessions WHERE {mine} AND owner = :owner AND id = :session", **_here(session))
        queue.mark_due(tx, Due(kind="files", at=now, reason="forget"), session["owner"], session["owner"])
    return replace(done, turns=len(turns), left=left, done=not left)


def _begin(tx: Tx, session: Row, now: datetime) -> Forgotten:
    """From here on the session is closed for good, and nothing is made of it any more."""
    removed = _remove_derived(tx, session, now)
    tx.run(
        """UPDATE sessions SET forgetting = :begun, state = 'closed', closed_at = coalesce(closed_at, :now),
             closed_by = coalesce(closed_by, 'closed'), folded_to = 0, folded_turns = 0, folded_exchanges = 0,
             block_tokens = 0, blocks_version = blocks_version + 1, fold_wanted = NULL, tail_tokens = tokens, said_seq = 0,
             summary_seq = 0, sunset_seq = 0, facts_seq = 0, idle_due = NULL
           WHERE {mine} AND owner = :owner AND id = :session""",
        **_here(session),
        begun=_BEGUN,
        now=to_us(now),
    )
    return removed


def _unask(tx: Tx, session: Row, turns: Sequence[Row]) -> None:
    """What is forgotten is not answered any more either."""
    for key in [turn["key"] for turn in turns if turn["key"] is not None]:
        tx.run("DELETE FROM inbox WHERE {mine} AND owner = :owner AND key = :key", owner=session["owner"], key=key)


def _remove_derived(tx: Tx, session: Row, now: datetime) -> Forgotten:
    forgotten = remaking.unprove(tx, session, 1, 2**62, now)
    blocks = tx.rows(f"DELETE FROM blocks WHERE {_HERE} RETURNING number", **_here(session))
    for block in blocks:
        search.unindex_record(tx, owner=session["owner"], kind="block", place=session["id"], seq=block["number"])
    gone = tx.rows(f"DELETE FROM summaries WHERE {_HERE} RETURNING last_seq", **_here(session))
    search.unindex_record(tx, owner=session["owner"], kind="summary", place=session["id"])
    for table in ("reports", "readings", "evidence"):
        tx.run(f"DELETE FROM {table} WHERE {_HERE}", **_here(session))
    tx.run(f"UPDATE spend SET session = NULL WHERE {_HERE}", **_here(session))
    tx.run("DELETE FROM work WHERE {mine} AND owner = :owner AND subject = :session", **_here(session))
    tx.run("DELETE FROM inbox WHERE {mine} AND owner = :owner AND place = :session", **_here(session))
    tx.run(  # to a session that still proves them
        f"""UPDATE facts SET session = coalesce((SELECT min(evidence.session) FROM evidence
              WHERE evidence.fact_owner = facts.owner AND evidence.fact = facts.id), '') WHERE {_HERE}""",
        **_here(session),
    )
    return Forgotten(blocks=len(blocks), summaries=len(gone), facts=forgotten)


def _remove_turns(tx: Tx, session: Row, turns: Sequence[Row]) -> None:
    """The newest turns go, and what is left is a whole session of fewer."""
    first = turns[0]["seq"]
    counted = _unindex(tx, session, turns)
    _unask(tx, session, turns)
    before = tx.row(f"SELECT role FROM turns WHERE {_HERE} AND seq = :seq", **_here(session), seq=first - 1)
    roles: list[Any] = [None if before is None else before["role"], *(turn["role"] for turn in turns)]
    begun = sum(begins_exchange(role, previous) for previous, role in pairwise(roles))
    for table in ("whole_turns", "turns"):
        tx.run(f"DELETE FROM {table} WHERE {_HERE} AND seq >= :first", **_here(session), first=first)
    tokens = _tokens(turns)
    tx.run(
        f"""UPDATE sessions SET turns = :turns, exchanges = exchanges - :begun, tokens = tokens - :tokens,
              tail_tokens = tokens - :tokens, exchange_seq = 1, exchange_tokens = tokens - :tokens, last_role = :role,
              stones = stones - :stones, {", ".join(f"{name} = {name} - :{name}" for name in counted)}
            WHERE {{mine}} AND owner = :owner AND id = :session""",
        **_here(session),
        **counted,
        turns=first - 1,
        begun=begun,
        tokens=tokens,
        role=roles[0],
        stones=sum(turn["removed"] == _STONE for turn in turns),
    )


def _here(session: Row) -> dict[str, str]:
    return {"owner": session["owner"], "session": session["id"]}
