"""What was made of turns that are forgotten: blocks are made anew of what is left, summaries go, facts lose their proof.

A block keeps its number, its span and its place, and with them the order of all blocks stays as it is. Its text is made on the
spot, without a model, from the sentences that are left; where a model is there, it then writes a better one, as it does for
any block that was made without it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from afterglow.compaction import HEADING_TOKENS
from afterglow.facts import APPROVED
from afterglow.fold import Material, extract, requests_in, still_open, without_names
from afterglow.identifiers import identifiers
from afterglow.store import facts, log, search, summaries, twins
from afterglow.store.rows import from_row
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary
from afterglow.tokens import estimate
from afterglow.transcript import said_by_anybody, said_by_user
from afterglow.turns import Turn

_MADE_ON_THE_SPOT = "window"
"""The reason of a block that is to be replaced by a better one at once."""
_TOKENS_MIN = 20


# Blocks


def remake_blocks(tx: Tx, session: Row, first_seq: int, last_seq: int) -> int:
    """Every block over any of these turns, of every level, also those that are shown no more, says only what is left."""
    rows = tx.rows(
        """SELECT * FROM blocks WHERE {mine} AND owner = :owner AND session = :session
             AND first_seq <= :last AND last_seq >= :first ORDER BY level, number""",
        owner=session["owner"],
        session=session["id"],
        first=first_seq,
        last=last_seq,
    )
    for row in rows:
        material = _material_of_blocks(tx, row) if row["level"] else _material_of_turns(tx, row)
        _rewrite(tx, row, material)
    return len(rows)


def _rewrite(tx: Tx, row: Row, material: Material) -> None:
    written = extract(material, max(_TOKENS_MIN, row["tokens"] - HEADING_TOKENS))
    tx.run(
        """UPDATE blocks SET text = :text, tokens = :tokens, span_tokens = :span_tokens, input_hash = :hash,
             prompt = :prompt, model = :model, reason = :reason, extract = 1, lost = :lost, lost_count = :lost_count
           WHERE {mine} AND owner = :owner AND session = :session AND number = :number""",
        owner=row["owner"],
        session=row["session"],
        number=row["number"],
        text=written.text,
        tokens=estimate(written.text) + HEADING_TOKENS,
        span_tokens=material.replaced_tokens,
        hash=material.hash,
        prompt=written.prompt,
        model=written.model,
        reason=_MADE_ON_THE_SPOT,
        lost=json.dumps(written.lost, ensure_ascii=False),
        lost_count=written.lost_count,
    )
    where = {"owner": row["owner"], "place": row["session"], "seq": row["number"]}
    indexed = "SELECT 1 FROM search_terms WHERE {mine} AND owner = :owner AND kind = 'block' AND place = :place AND seq = :seq"
    if tx.row(indexed, **where) is not None:
        search.index_record(tx, **where, kind="block", at_us=row["last_at"], text=written.text)


def _material_of_turns(tx: Tx, row: Row) -> Material:
    count = row["last_seq"] - row["first_seq"] + 1
    turns: Sequence[Turn] = log.turns(tx, row["session"], row["first_seq"], row["last_seq"], count)
    said = said_by_anybody(turns)
    return Material(
        text=said,
        said=said,
        identifiers=identifiers(said),
        requests=requests_in(said_by_user(turns)),
        replaced_tokens=sum(turn.tokens for turn in turns),
    )


def _material_of_blocks(tx: Tx, row: Row) -> Material:
    texts: list[str] = []
    for number in json.loads(row["children"]):
        sql = "SELECT text FROM blocks WHERE {mine} AND owner = :owner AND session = :session AND number = :number"
        child = tx.row(sql, owner=row["owner"], session=row["session"], number=number)
        texts += [child["text"]] if child is not None else []
    said = "\n".join(map(without_names, texts))
    return Material(
        text=said,
        said=said,
        identifiers=identifiers("\n".join(texts)),
        requests=still_open(texts),
        replaced_tokens=sum(map(estimate, texts)),
    )


# Summaries


def remove_summaries(tx: Tx, session: Row, first_seq: int) -> tuple[int, int]:
    """Those that cover the turn of this number or a later one go. How many went, and to which turn what is left covers."""
    which = {"owner": session["owner"], "session": session["id"]}
    mine = "{mine} AND owner = :owner AND session = :session"
    gone = tx.rows(
        f"DELETE FROM summaries WHERE {mine} AND last_seq >= :first RETURNING last_seq", **which, first=first_seq
    )
    newest = tx.rows(f"SELECT * FROM summaries WHERE {mine} ORDER BY last_seq DESC, created_at DESC LIMIT 1", **which)
    if not gone:
        return 0, session["summary_seq"]
    search.unindex_record(tx, owner=session["owner"], kind="summary", place=session["id"])
    for row in newest:
        tx.run(
            f"UPDATE summaries SET newest = 1 WHERE {mine} AND last_seq = :last_seq AND created_at = :created_at",
            **which,
            last_seq=row["last_seq"],
            created_at=row["created_at"],
        )
        summaries.index_summary(tx, session["owner"], from_row(Summary, row))
    return len(gone), newest[0]["last_seq"] if newest else 0


# Facts


def unprove(tx: Tx, session: Row, first_seq: int, last_seq: int, now: datetime) -> int:
    """These turns prove nothing any more. Facts that nothing else proves, or with words from them, are forgotten; how many."""
    span = {"owner": session["owner"], "session": session["id"], "first": first_seq, "last": last_seq}
    here = "{mine} AND owner = :owner AND session = :session AND seq BETWEEN :first AND :last"
    rows = tx.rows(
        f"""SELECT fact_owner, fact, max(needed) AS needed FROM evidence WHERE {here}
            GROUP BY fact_owner, fact ORDER BY fact_owner, fact""",
        **span,
    )
    found = [(row, _fact(tx, row["fact_owner"], row["fact"])) for row in rows]
    # A fact that is not seen from here is that of an owner who was joined once: its quote of these turns goes all the same.
    gone = [row for row, fact in found if fact is None or fact["status"] != "forgotten"]
    proved = [(row, fact) for row, fact in found if fact is not None and fact["status"] != "forgotten"]
    for row in gone:
        tx.run(
            f"DELETE FROM evidence WHERE {here} AND fact_owner = :fact_owner AND fact = :fact",
            **span,
            fact_owner=row["fact_owner"],
            fact=row["fact"],
        )
    unproved = [fact for row, fact in proved if row["needed"] or not _stands(tx, fact)]
    facts.forget_rows(tx, unproved, now)
    for fact in unproved:
        twins.settle(tx, twins.group(tx, fact["owner"]), fact["content"])
    let_the_ones_before_return(tx, unproved, now)
    _tell(tx, {fact["owner"] for _, fact in proved}, now)
    return len(unproved)


def _fact(tx: Tx, owner: str, fact: str) -> Row | None:
    return tx.row("SELECT * FROM facts WHERE {mine} AND owner = :owner AND id = :id", owner=owner, id=fact)


def _stands(tx: Tx, row: Row) -> bool:
    """Whether something else proves the fact. What its owner wrote is proved by the turn that says it, like any other."""
    other = "SELECT 1 FROM evidence WHERE {mine} AND fact_owner = :fact_owner AND fact = :fact AND proves = 1 LIMIT 1"
    return tx.row(other, fact_owner=row["owner"], fact=row["id"]) is not None


def let_the_ones_before_return(tx: Tx, gone: Sequence[Row], now: datetime) -> None:
    """What forgotten facts had taken the place of counts again, unless another has taken it since; what waited, waits.

    `gone` is as it was before.
    """
    for row in gone:
        before = row["supersedes"] if facts.took_a_place(row) else None
        owners = twins.group(tx, row["owner"])
        if before is not None and (heir := _heir(tx, row, owners)):
            inherit = "UPDATE facts SET supersedes = :before WHERE {mine} AND owner = :owner AND id = :id"
            tx.run(inherit, before=heir["supersedes"] or before, owner=heir["owner"], id=heir["id"])
            continue
        for owner in owners:
            tx.run(
                "UPDATE facts SET supersedes = :before WHERE {mine} AND owner = :owner AND supersedes = :gone",
                owner=owner,
                before=before,
                gone=row["id"],
            )
        found = next((fact for owner in owners if (fact := _fact(tx, owner, before or ""))), None)
        if found is not None and facts.in_its_place(tx, twins.shown(tx, found)) is None:
            _return(tx, twins.shown(tx, found), owners, now)


def _heir(tx: Tx, gone: Row, owners: Sequence[str]) -> Row | None:
    """Another active fact with the same words, of somebody joined: it says what was said instead of the one before."""
    same = (twins.by_digest(tx, owner, gone["content"]) for owner in owners)
    return next((row for row in same if row is not None and row["status"] == "active"), None)


def _return(tx: Tx, row: Row, owners: Sequence[str], now: datetime) -> None:
    """A superseded fact is what it was, and so are its twins."""
    back = [each for each in (row, *twins.of(tx, row)) if each["status"] == "superseded" and not _is_known(tx, each)]
    for each in back:
        facts.change(tx, each, now, status="active" if each["why"] in (None, APPROVED) else "pending")
    for each in back:
        twins.settle(tx, owners, each["content"])
    _tell(tx, {each["owner"] for each in back}, now)


def _is_known(tx: Tx, row: Row) -> bool:
    """Whether another fact of its owner has the words of this superseded one, or was forgotten."""
    return twins.by_digest(tx, row["owner"], row["content"]) is not None


def _tell(tx: Tx, owners: set[str], now: datetime) -> None:
    """Who compared with the facts of these owners compares again, and their files are written anew: they may still say it."""
    for owner in sorted(owners):
        tx.run("UPDATE owners SET facts_forgotten = facts_forgotten + 1 WHERE {mine} AND owner = :owner", owner=owner)
    facts.changed(tx, owners, now)
