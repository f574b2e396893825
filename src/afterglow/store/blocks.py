"""The verbs of blocks and reports: what the model sees of a session in place of its older turns.

A commit of blocks is a compare-and-set on the session's version: whoever began at another version is refused, and nothing
is changed. Nothing here is ever overwritten. A block or report that another takes the place of is still there, with the
turn until which it was shown, so that what the model saw at any turn can be shown again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.compaction import Block
from afterglow.context import Report
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.store import log, queue, search, sessions, summaries
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary
from afterglow.turns import Binding, Session, Turn
from afterglow.work import Claim, Due


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """All that a context is made of. `tail` ends at `at`, and may begin later than the blocks end, where it is too long."""

    session: Session
    at: int
    fence: str
    blocks: tuple[Block, ...]
    reports: tuple[Report, ...]
    tail: tuple[Turn, ...]
    earlier: tuple[Summary, ...]
    """What earlier sessions of the owner left, newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What a compaction found: new blocks, the numbers of those they replace, new reports.

    `version` is the session's when it was read. `turns` and `exchanges` are what the session had then, where this was a
    compaction of turns.
    """

    version: int
    blocks: tuple[Block, ...]
    replaces: tuple[int, ...] = ()
    reports: tuple[Report, ...] = ()
    turns: int | None = None
    exchanges: int | None = None
    drops: tuple[str, ...] = ()
    """Sources whose reports are shown no more."""
    waited: bool = False
    idle: tuple[Due, ...] | None = None
    """Where the session is quiet: what is due with that. It is not, if anybody wrote since it was read."""
    fence: str


def begin_exchange(
    tx: Tx,
    to: Binding | str,
    entry: log.Entry,
    named: str | None,
    fresh: sessions.Fresh,
    due: log.Asked,
    tail_turns: int,
    boot: int,
    now_us: int,
) -> tuple[Turn, Shown]:
    turn = log.append(tx, to, entry, named, fresh, due)
    newest = sessions.session(tx, turn.session).turns == turn.seq
    # What is shown now is found by an index; what was shown at some turn takes a look at every block there ever was.
    return turn, context_rows(tx, turn.session, None if newest else turn.seq, tail_turns, boot, now_us)


def context_rows(tx: Tx, session: str, at: int | None, tail_turns: int, boot: int, now_us: int) -> Shown:
    row = sessions.existing(sessions.find(tx, session), session)
    if at is not None and not 0 <= at <= row["turns"]:
        raise NotFound(f"session {session!r} has {row['turns']} turns; there is no context at turn {at}")
    last: int = row["turns"] if at is None else at
    seen = row["turns"] + 1 if at is None else at
    blocks = [from_row(Block, each) for each in _shown(tx, "blocks", row, seen, "first_seq")]
    folded_to = max((block.last_seq for block in blocks), default=0)
    first = max(folded_to + 1, last - tail_turns + 1)
    tail = log.turns(tx, session, first, last, last - first + 1)
    return Shown(
        session=sessions.record(row),
        at=last,
        fence=row["fence"] or "",
        blocks=tuple(blocks),
        reports=tuple(from_row(Report, each) for each in _shown(tx, "reports", row, seen, "number, source")),
        tail=tuple(tail),
        earlier=tuple(_earlier(tx, row, now_us, to_us(tail[-1].at) if at is not None and tail else None, boot)),
    )


def _earlier(tx: Tx, row: Row, now_us: int, past_us: int | None, limit: int) -> list[Summary]:
    """What earlier sessions of the owner left; from the first compaction on as it was then, so that the context is stable."""
    if not limit or not row["fence"]:
        return []
    known_at = now_us if row["boot_at"] is None else row["boot_at"]
    return summaries.summaries_at(tx, known_at if past_us is None else min(known_at, past_us), row["id"], limit)


def blocks(tx: Tx, session: str) -> list[Block]:
    row = sessions.existing(sessions.find(tx, session), session)
    rows = tx.rows(
        "SELECT * FROM blocks WHERE {mine} AND owner = :owner AND session = :session ORDER BY number",
        owner=row["owner"],
        session=session,
    )
    return [from_row(Block, each) for each in rows]


def block(tx: Tx, session: str, number: int) -> Block:
    row = sessions.existing(sessions.find(tx, session), session)
    found = tx.row(
        "SELECT * FROM blocks WHERE {mine} AND owner = :owner AND session = :session AND number = :number",
        owner=row["owner"],
        session=session,
        number=number,
    )
    if found is None:
        raise NotFound(f"session {session!r} has no block {number}; `afterglow context {session}` shows those it has")
    return from_row(Block, found)


def reports(tx: Tx, session: str) -> list[Report]:
    row = sessions.existing(sessions.find(tx, session), session)
    rows = tx.rows(
        "SELECT * FROM reports WHERE {mine} AND owner = :owner AND session = :session ORDER BY number, source",
        owner=row["owner"],
        session=session,
    )
    return [from_row(Report, each) for each in rows]


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A session with all that was made of it, as it was at one moment."""

    session: Session
    fence: str
    blocks: tuple[Block, ...]
    reports: tuple[Report, ...]
    summary: Summary | None


def made(tx: Tx, session: str) -> Made:
    row = sessions.existing(sessions.find(tx, session), session)
    return Made(
        session=sessions.record(row),
        fence=row["fence"] or "",
        blocks=tuple(blocks(tx, session)),
        reports=tuple(reports(tx, session)),
        summary=summaries.summary_of(tx, session),
    )


def commit_blocks(
    tx: Tx, session: str, change: Change, claim: Claim | None, more: Sequence[Due], at_us: int
) -> Session:
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    if row["blocks_version"] != change.version:
        raise ClaimLost(f"session {session!r} was compacted by somebody else meanwhile; this result is dropped")
    _check_it_fits(tx, row, change)
    seen = row["turns"] + (not change.waited)  # who waited for it sees it now, everybody else with the next turn
    number = change.version
    for each in change.blocks:
        number += 1
        _insert(tx, "blocks", row, replace(each, number=number, created_at=from_us(at_us), shown_from=seen))
        _index(tx, row, each, number)
    for replaced in change.replaces:
        _no_longer_shown(tx, "blocks", row, seen, "number = :number", number=replaced)
        if any(each.level == 0 for each in change.blocks):  # the same turns in better words, not in fewer
            search.unindex_record(tx, owner=row["owner"], kind="block", place=session, seq=replaced)
    number += not change.blocks
    for source in change.drops:
        _no_longer_shown(tx, "reports", row, seen, "source = :source", source=source)
    for report in change.reports:
        _no_longer_shown(tx, "reports", row, seen, "source = :source", source=report.source)
        _insert(tx, "reports", row, replace(report, number=number, shown_from=seen))
    idle = change.idle is not None and row["turns"] == change.turns and row["state"] == "open"
    folded = _set_folded(tx, row, change, number, idle, at_us)
    if claim is not None:
        queue.finish(tx, claim)
    following = (change.idle or ()) if idle else ()
    if change.idle is not None and not idle and row["state"] == "open":
        # Something was said meanwhile: a person's message has set the timer anew, a heartbeat or the agent's has not.
        following = (Due(kind="idle", at=from_us(at_us), reason="timer"),)
    for due in sorted([*more, *following], key=lambda due: due.kind):
        queue.mark_due(tx, due, row["owner"], session)
    return folded


def restore_blocks(
    tx: Tx, given: Session, blocks: Sequence[Block], reports: Sequence[Report], fence: str, stones: int
) -> None:
    row = sessions.existing(sessions.find(tx, given.id, lock=True), given.id)
    if row["blocks_version"] >= given.folded.version or row["stones"] > stones:
        return  # it has newer ones, or these may say what was forgotten here
    if row["blocks_version"] or row["turns"] < given.folded.to_seq:
        raise BadInput(f"session {given.id!r} is here in another state; its blocks cannot be imported into it")
    for each in blocks:
        _insert(tx, "blocks", row, each)
    for each in {each.first_seq: each for each in sorted(blocks, key=_number) if each.level == 0}.values():
        _index(tx, row, each, each.number)
    for report in reports:
        _insert(tx, "reports", row, report)
    folded = given.folded
    tx.run(
        """UPDATE sessions SET folded_to = :to, folded_turns = :turns, folded_exchanges = :exchanges,
             blocks_version = :version, block_tokens = :tokens, waits = :waits, fence = :fence, fold_wanted = :wanted,
             tail_tokens = :tail, overhead_tokens = :overhead, boot_at = :boot_at
           WHERE {mine} AND owner = :owner AND id = :id""",
        owner=row["owner"],
        id=given.id,
        to=folded.to_seq,
        turns=folded.turns,
        exchanges=folded.exchanges,
        version=folded.version,
        tokens=folded.block_tokens,
        waits=folded.waits,
        wanted=folded.wanted,
        fence=fence,
        tail=given.tail_tokens,
        overhead=given.overhead_tokens,
        boot_at=None if given.boot_at is None else to_us(given.boot_at),
    )


def _check_it_fits(tx: Tx, row: Row, change: Change) -> None:
    """New blocks cover exactly what they replace, or go on from where the others end, and leave no gap."""
    gone = [block(tx, row["id"], number) for number in change.replaces]
    assert all(each.shown_until is None for each in gone), "a block that is no longer shown cannot be replaced"
    expected = gone[0].first_seq if gone else row["folded_to"] + 1
    for each in change.blocks:
        assert each.first_seq == expected, f"a block begins at turn {each.first_seq}, and should at {expected}"
        expected = each.last_seq + 1
    assert not change.blocks or expected - 1 <= row["turns"], "a block ends after the last turn"
    assert not gone or expected == gone[-1].last_seq + 1, "new blocks cover other turns than those they replace"


def _set_folded(tx: Tx, row: Row, change: Change, version: int, idle: bool, at_us: int) -> Session:
    to = max([row["folded_to"], *(each.last_seq for each in change.blocks)])
    folded_tokens = tx.one(
        """SELECT coalesce(sum(tokens), 0) AS n FROM turns WHERE {mine} AND owner = :owner AND session = :session
           AND seq > :after AND seq <= :to""",
        owner=row["owner"],
        session=row["id"],
        after=row["folded_to"],
        to=to,
    )["n"]
    block_tokens = tx.one(
        """SELECT coalesce(sum(tokens), 0) AS n FROM blocks WHERE {mine} AND owner = :owner AND session = :session
           AND shown_until IS NULL""",
        owner=row["owner"],
        session=row["id"],
    )["n"]
    changed = tx.one(
        """UPDATE sessions SET folded_to = :to, folded_turns = :turns, folded_exchanges = :exchanges,
             blocks_version = :version, block_tokens = :block_tokens, tail_tokens = tail_tokens - :folded_tokens,
             waits = waits + :waited, fence = coalesce(fence, :fence), boot_at = coalesce(boot_at, :now),
             fold_wanted = CASE WHEN :compacted = 1 THEN NULL ELSE fold_wanted END,
             state = CASE WHEN :idle = 1 THEN 'idle' ELSE state END,
             idle_due = CASE WHEN :idle = 1 THEN NULL ELSE idle_due END
           WHERE {mine} AND owner = :owner AND id = :id RETURNING *""",
        owner=row["owner"],
        id=row["id"],
        to=to,
        turns=row["folded_turns"] if change.turns is None else change.turns,
        exchanges=row["folded_exchanges"] if change.exchanges is None else change.exchanges,
        version=version,
        block_tokens=int(block_tokens),
        folded_tokens=int(folded_tokens),
        waited=int(change.waited),
        idle=int(idle),
        compacted=int(change.turns == row["turns"]),  # with a turn since then, somebody may want another
        fence=change.fence,
        now=at_us,
    )
    return sessions.record(changed)


def _shown(tx: Tx, table: str, row: Row, seen: int, order: str) -> list[Row]:
    """The rows that were before the model when turn `seen` was answered."""
    now = seen > row["turns"]
    when = "shown_until IS NULL" if now else "shown_from <= :seen AND (shown_until IS NULL OR shown_until > :seen)"
    return tx.rows(
        f"SELECT * FROM {table} WHERE {{mine}} AND owner = :owner AND session = :session AND {when} ORDER BY {order}",
        owner=row["owner"],
        session=row["id"],
        **({} if now else {"seen": seen}),
    )


def _no_longer_shown(tx: Tx, table: str, row: Row, seen: int, which: str, **values: Any) -> None:
    tx.run(
        f"""UPDATE {table} SET shown_until = :seen WHERE {{mine}} AND owner = :owner AND session = :session
            AND shown_until IS NULL AND {which}""",
        owner=row["owner"],
        session=row["id"],
        seen=seen,
        **values,
    )


def _number(block: Block) -> int:
    return block.number


def _index(tx: Tx, row: Row, new: Block, number: int) -> None:
    """Only blocks of turns are searched: those made from blocks say the same again, with less in it."""
    if new.level == 0:
        search.index_record(
            tx,
            owner=row["owner"],
            kind="block",
            place=row["id"],
            seq=number,
            at_us=to_us(new.last_at),
            text=new.text,
        )


def _insert(tx: Tx, table: str, row: Row, new: Block | Report) -> None:
    insert(tx, table, {"owner": row["owner"], **to_row(new), "session": row["id"]})
