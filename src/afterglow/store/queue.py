"""The work queue's verbs. It lives in the same database as the data, so a result and the end of its claim are one commit.

What a row's columns mean:

    due_at       when it was asked for; a claim takes it out, so then it is what was asked for since, or a later timer
    not_before   after a failure: when to try again; 0 otherwise
    ready_at     when it can be claimed: at the end of its lease while it has one, else when to try again, else due_at
    token        the fencing token of the claim that holds it

`work_heads` says for each owner and kind when to look next, never later than the first `ready_at` there. A claim visits
the heads that are over, takes a share of each, and puts each head back behind the others; so the cost of a claim does not
depend on how many rows wait, and an owner with ten thousand of them delays nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from afterglow.clock import from_us, to_us
from afterglow.errors import ClaimLost, NotFound
from afterglow.store import sessions
from afterglow.store.transaction import Row, Tx
from afterglow.work import Claim, Due, Kind, Limits

_SECOND = 1_000_000
_ROUNDS_MAX = 50
_BATCH = 100
T = TypeVar("T")


def ask(tx: Tx, due: Due) -> None:
    """Mark work due for whoever its session belongs to, or for this owner."""
    assert due.subject is not None, "work is about something"
    row = tx.row("SELECT owner FROM sessions WHERE {mine} AND id = :subject", subject=due.subject)
    owner = row["owner"] if row else tx.owner
    mark_due(tx, due, owner, due.subject)
    sessions.note(tx, owner, due.subject, due)


def mark_due(tx: Tx, due: Due, owner: str, subject: str) -> None:
    asked = tx.one(
        """INSERT INTO work (owner, kind, subject, due_at, ready_at, reason)
           VALUES (:owner, :kind, :subject, :at, :at, :reason)
           ON CONFLICT (owner, kind, subject) DO UPDATE SET
             wanted = work.wanted + 1,
             reason = CASE WHEN work.due_at IS NULL OR excluded.due_at < work.due_at
                             OR (:rearm = 1 AND work.due_at > {now}) THEN excluded.reason ELSE work.reason END,
             due_at = CASE WHEN work.due_at IS NULL THEN excluded.due_at
                           WHEN :rearm = 1 AND work.due_at > {now} THEN excluded.due_at
                           ELSE {least}(work.due_at, excluded.due_at) END
           RETURNING {now} AS now""",
        owner=owner,
        kind=due.kind,
        subject=subject,
        at=to_us(due.at),
        reason=due.reason,
        rearm=int(due.rearm),
    )
    if _settle(tx, owner, due.kind, subject) <= asked["now"]:
        tx.wake_workers()


def hurry(tx: Tx, kind: Kind, owner: str, subject: str, seconds: float) -> None:
    """Work that failed and waits is tried again so soon at the latest.

    It is marked due before, in the same transaction: that locks its row, so that a failure is given back before or after.
    """
    hurried = tx.rows(
        f"""UPDATE work SET not_before = {{now}} + :wait
            WHERE {_THIS} AND lease_until IS NULL AND not_before > {{now}} + :wait RETURNING subject""",
        owner=owner,
        kind=kind,
        subject=subject,
        wait=int(seconds * _SECOND),
    )
    if hurried:
        _settle(tx, owner, kind, subject)


def mark_all_due(tx: Tx, due: Due, subjects: Sequence[tuple[str, str]]) -> None:
    """Mark work due, of one kind, that nobody asks for yet: as (owner, subject). What somebody asks for meanwhile stays."""
    now = now_us(tx)
    values = {"kind": due.kind, "at": to_us(due.at), "reason": due.reason}
    for batch in _batches(subjects):
        places = ", ".join(f"(:o{n}, :kind, :s{n}, :at, :at, :reason)" for n in range(len(batch)))
        named = {f"o{n}": owner for n, (owner, _) in enumerate(batch)}
        tx.run(
            f"""INSERT INTO work (owner, kind, subject, due_at, ready_at, reason) VALUES {places}
                ON CONFLICT (owner, kind, subject) DO NOTHING""",
            **values,
            **named,
            **{f"s{n}": subject for n, (_, subject) in enumerate(batch)},
        )
    for batch in _batches(sorted({owner for owner, _ in subjects})):
        places = ", ".join(f"(:o{n}, :kind, :at)" for n in range(len(batch)))
        tx.run(
            f"""INSERT INTO work_heads (owner, kind, look_at) VALUES {places}
                ON CONFLICT (owner, kind) DO UPDATE SET look_at = excluded.look_at
                WHERE work_heads.look_at > excluded.look_at""",
            kind=due.kind,
            at=to_us(due.at),
            **{f"o{n}": owner for n, owner in enumerate(batch)},
        )
    if subjects and to_us(due.at) <= now:
        tx.wake_workers()


def claim(tx: Tx, kinds: Sequence[Kind], limit: int, holder: str, tokens: Sequence[int], limits: Limits) -> list[Claim]:
    now = now_us(tx)
    _end_waits_from_the_future(tx, now, limits)
    for _ in range(_ROUNDS_MAX):  # where the first places have nothing to give, those behind them may
        heads = _due_heads(tx, kinds, now, limit)
        claims = _claims_of(tx, heads, now, limit, holder, tokens, limits)
        if claims or not heads:
            return claims
    return []


def _claims_of(
    tx: Tx, heads: Sequence[Row], now: int, limit: int, holder: str, tokens: Sequence[int], limits: Limits
) -> list[Claim]:
    """What is ready at these places, a share of each."""
    share = -(-limit // max(1, len(heads)))
    until = now + int(limits.lease_seconds * _SECOND)
    claims: list[Claim] = []
    for head in heads:
        if len(claims) == limit:
            break  # the others keep their place in the round
        for row in _ready(tx, head, now, min(share, limit - len(claims))):
            if row["attempts"] >= limits.attempts_max and row["parked_at"] is None:
                _park_the_crashed(tx, row, now + int(limits.parked_retry_seconds * _SECOND))
            else:
                claims.append(_lease(tx, row, holder, tokens[len(claims)], now, until))
        _put_head_back(tx, head, now)
    return claims


def claim_one(tx: Tx, kind: Kind, subject: str, holder: str, token: int, limits: Limits, anyway: bool) -> Claim | None:
    now = now_us(tx)
    rows = tx.rows(
        """SELECT owner, kind, subject, attempts, parked_at, reason FROM work
           WHERE {mine} AND kind = :kind AND subject = :subject
             AND (ready_at <= :now OR (:anyway = 1 AND lease_until IS NULL)) LIMIT 1 {skip_locked}""",
        kind=kind,
        subject=subject,
        anyway=int(anyway),
        now=now,
    )
    for row in rows:
        if row["attempts"] < limits.attempts_max or row["parked_at"] is not None:
            claim = _lease(tx, row, holder, token, now, now + int(limits.lease_seconds * _SECOND))
            _settle(tx, row["owner"], row["kind"], row["subject"])  # its lease may end before anybody would look
            return claim
        _park_the_crashed(tx, row, now + int(limits.parked_retry_seconds * _SECOND))
    return None


def renew(tx: Tx, held: Claim, limits: Limits) -> Claim:
    until: int = _held(
        tx,
        held,
        "UPDATE work SET lease_until = {now} + :lease WHERE {claimed} RETURNING lease_until",
        lease=int(limits.lease_seconds * _SECOND),
    )["lease_until"]
    _settle(tx, held.owner, held.kind, held.subject)
    return replace(held, until=from_us(until))


def check(tx: Tx, held: Claim) -> None:
    """The claim is still held. Verbs that commit a part of a result call this in the same transaction."""
    _held(tx, held, "UPDATE work SET holder = holder WHERE {claimed} RETURNING holder")


def finish(tx: Tx, held: Claim) -> None:
    """End a claim whose work is done. Verbs that commit a result call this in the same transaction."""
    row = _held(
        tx,
        held,
        """UPDATE work SET lease_until = NULL, token = NULL, holder = NULL, attempts = 0, not_before = 0,
                           parked_at = NULL, last_error = NULL
           WHERE {claimed} RETURNING due_at""",
    )
    if row["due_at"] is None:
        tx.run(f"DELETE FROM work WHERE {_THIS}", owner=held.owner, kind=held.kind, subject=held.subject)
        _settle_head(tx, held.owner, held.kind)
    else:
        _settle(tx, held.owner, held.kind, held.subject)


def finish_and_ask(tx: Tx, held: Claim, more: Sequence[Due]) -> None:
    finish(tx, held)
    asked = tx.row(f"SELECT 1 FROM work WHERE {_THIS}", owner=held.owner, kind=held.kind, subject=held.subject)
    if held.kind == "context" and asked is None:
        sessions.want_no_fold(tx, held.owner, held.subject)  # it was looked at, and there is nothing to fold
    for due in more:
        mark_due(tx, due, held.owner, due.subject or held.subject)


def cancel(tx: Tx, owner: str, kind: Kind, subject: str) -> None:
    """Nobody wants this any more; a claim on it has passed on."""
    tx.run(f"DELETE FROM work WHERE {_THIS}", owner=owner, kind=kind, subject=subject)


def give_back(
    tx: Tx, held: Claim, error: str, wait_seconds: float, park: bool, counts: bool, asked_again_seconds: float | None
) -> None:
    asked_again = wait_seconds if asked_again_seconds is None else min(wait_seconds, asked_again_seconds)
    _held(
        tx,
        held,
        """UPDATE work SET lease_until = NULL, token = NULL, holder = NULL, last_error = :error,
                           not_before = {now} + CASE WHEN due_at IS NULL THEN :wait ELSE :asked_again END,
                           attempts = attempts - :uncounted,
                           parked_at = CASE WHEN :park = 1 THEN {now} ELSE NULL END
           WHERE {claimed} RETURNING not_before""",
        error=error,
        wait=int(wait_seconds * _SECOND),
        asked_again=int(asked_again * _SECOND),
        park=int(park),
        uncounted=int(not counts),
    )
    _settle(tx, held.owner, held.kind, held.subject)


def retry(tx: Tx, kind: Kind | None, subject: str | None) -> int:
    rows = tx.rows(
        """UPDATE work SET not_before = {now}, attempts = 0, parked_at = NULL
           WHERE {mine} AND lease_until IS NULL AND (attempts > 0 OR parked_at IS NOT NULL)
             AND kind = coalesce(:kind, kind) AND subject = coalesce(:subject, subject)
           RETURNING owner, kind, subject""",
        kind=kind,
        subject=subject,
    )
    for row in rows:
        _settle(tx, row["owner"], row["kind"], row["subject"])
    if subject is not None and not rows:
        raise NotFound(f"no work about {subject!r} has failed; `afterglow work list` shows what there is")
    if rows:
        tx.wake_workers()
    return len(rows)


def now_us(tx: Tx) -> int:
    """The database's clock, read once: a query would read it again for every row."""
    return tx.one("SELECT {now} AS now")["now"]


def _batches(items: Sequence[T]) -> list[Sequence[T]]:
    """In the order given, so many at a time as fit into one statement of either database."""
    return [items[first : first + _BATCH] for first in range(0, len(items), _BATCH)]


_THIS = "owner = :owner AND kind = :kind AND subject = :subject AND {mine}"


def _held(tx: Tx, held: Claim, sql: str, **values: object) -> Row:
    """Run an update of the row this claim holds, or say that it no longer does."""
    row = tx.row(
        sql.replace("{claimed}", f"{_THIS} AND token = :token"),
        owner=held.owner,
        kind=held.kind,
        subject=held.subject,
        token=held.token,
        **values,
    )
    if row is None:
        raise ClaimLost(f"the claim on {held.kind} of {held.subject} has passed on; its result is dropped")
    return row


def _settle(tx: Tx, owner: str, kind: str, subject: str) -> int:
    """Work out when the row can be claimed, and see that somebody looks by then."""
    ready_at: int = tx.one(
        f"""UPDATE work SET ready_at = CASE WHEN lease_until IS NOT NULL THEN lease_until
                                            WHEN not_before > 0 THEN not_before ELSE due_at END
            WHERE {_THIS} RETURNING ready_at""",
        owner=owner,
        kind=kind,
        subject=subject,
    )["ready_at"]
    tx.run(
        """INSERT INTO work_heads (owner, kind, look_at) VALUES (:owner, :kind, :ready_at)
           ON CONFLICT (owner, kind) DO UPDATE SET look_at = excluded.look_at
           WHERE work_heads.look_at > excluded.look_at""",
        owner=owner,
        kind=kind,
        ready_at=ready_at,
    )
    return ready_at


def _end_waits_from_the_future(tx: Tx, now: int, limits: Limits) -> None:
    """A lease or a pause that ends later than any could was made before the clock was set back: it counts as over."""
    longest = max(limits.backoff_max_seconds, limits.parked_retry_seconds)
    rows = tx.rows(
        "UPDATE work SET lease_until = :now WHERE lease_until > :longest RETURNING owner, kind, subject",
        now=now,
        longest=now + int(limits.lease_max_seconds * _SECOND),
    ) + tx.rows(
        "UPDATE work SET not_before = :now WHERE not_before > :longest AND not_before > 0 RETURNING owner, kind, subject",
        now=now,
        longest=now + int(longest * _SECOND),
    )
    for row in rows:
        _settle(tx, row["owner"], row["kind"], row["subject"])


def _due_heads(tx: Tx, kinds: Sequence[Kind], now: int, limit: int) -> list[Row]:
    heads = [
        head
        for kind in kinds
        for head in tx.rows(
            """SELECT owner, kind, look_at FROM work_heads WHERE kind = :kind AND look_at <= :now
               ORDER BY look_at, owner LIMIT :limit {skip_locked}""",
            kind=kind,
            now=now,
            limit=limit,
        )
    ]
    return sorted(heads, key=lambda head: (head["look_at"], head["owner"], head["kind"]))[:limit]


def _ready(tx: Tx, head: Row, now: int, limit: int) -> list[Row]:
    return tx.rows(
        """SELECT owner, kind, subject, attempts, parked_at, reason FROM work
           WHERE owner = :owner AND kind = :kind AND ready_at <= :now
           ORDER BY ready_at, subject LIMIT :limit {skip_locked}""",
        owner=head["owner"],
        kind=head["kind"],
        now=now,
        limit=limit,
    )


def _lease(tx: Tx, row: Row, holder: str, token: int, now: int, until: int) -> Claim:
    tx.run(
        f"""UPDATE work SET holder = :holder, token = :token, lease_until = :until, ready_at = :until,
                            due_at = CASE WHEN due_at > :now THEN due_at END,
                            parked_at = NULL, attempts = attempts + 1 WHERE {_THIS}""",
        owner=row["owner"],
        kind=row["kind"],
        subject=row["subject"],
        holder=holder,
        token=token,
        now=now,
        until=until,
    )
    return Claim(
        owner=row["owner"],
        kind=row["kind"],
        subject=row["subject"],
        token=token,
        until=from_us(until),
        attempt=row["attempts"] + 1,
        reason=row["reason"],
    )


def _park_the_crashed(tx: Tx, row: Row, again_at: int) -> None:
    """Work whose worker died each time: nobody was left to give it back."""
    tx.run(
        f"""UPDATE work SET holder = NULL, token = NULL, lease_until = NULL, parked_at = {{now}},
                            not_before = :again_at, ready_at = :again_at,
                            last_error = coalesce(last_error, 'the worker died each time it tried')
            WHERE {_THIS}""",
        owner=row["owner"],
        kind=row["kind"],
        subject=row["subject"],
        again_at=again_at,
    )


def _settle_head(tx: Tx, owner: str, kind: Kind) -> None:
    """After the end of a piece of work: nobody is to look in vain where nothing is left."""
    here = "owner = :owner AND kind = :kind AND {mine}"
    # Locked before it is looked whether anything is left: who asks for more waits, and puts it there anew.
    tx.row(f"SELECT 1 FROM work_heads WHERE {here} {{lock}}", owner=owner, kind=kind)
    if tx.row(f"SELECT 1 FROM work WHERE {here} LIMIT 1", owner=owner, kind=kind) is None:
        tx.run(f"DELETE FROM work_heads WHERE {here}", owner=owner, kind=kind)


def _put_head_back(tx: Tx, head: Row, now: int) -> None:
    """Look there again when its next row is ready; if one is ready now, after all the others whose time has come."""
    following = tx.one(
        """SELECT (SELECT min(ready_at) FROM work WHERE owner = :owner AND kind = :kind) AS ready_at,
                  (SELECT max(look_at) FROM work_heads WHERE kind = :kind AND look_at <= :now) AS last_look""",
        owner=head["owner"],
        kind=head["kind"],
        now=now,
    )
    if following["ready_at"] is None:
        tx.run("DELETE FROM work_heads WHERE owner = :owner AND kind = :kind", owner=head["owner"], kind=head["kind"])
        return
    behind_the_others = min(now, (following["last_look"] or 0) + 1)
    tx.run(
        "UPDATE work_heads SET look_at = :look_at WHERE owner = :owner AND kind = :kind",
        owner=head["owner"],
        kind=head["kind"],
        look_at=max(following["ready_at"], behind_the_others),
    )
