"""The account of spend: what every call cost, and what each day has cost so far.

A day's total is one row that all calls of the day update, so that any number of processes together keep its ceiling. It
counts a call with the most that it could cost from the moment it is about to be made, and with the real figures once
they are known. It is nobody's in particular: the ceiling is one for all owners.
"""

from __future__ import annotations

from afterglow.clock import from_us
from afterglow.spend import Amount, Call, CallSpend, ModelSpend, Reservation, Spend, Usage
from afterglow.store.transaction import Row, Tx

NOBODY = ""
"""The owner of calls that are made for no owner."""


def reserve_spend(tx: Tx, call: Call, most: Amount, ceiling: Amount) -> Reservation | Spend:
    assert most.tokens >= 0 and (most.micro_usd or 0) >= 0, "a call cannot give anything back"
    tx.run("INSERT INTO spend_days (day) VALUES (:day) ON CONFLICT (day) DO NOTHING", day=call.day)
    within = tx.row(
        """UPDATE spend_days SET calls = calls + 1, tokens = tokens + :tokens, micro_usd = micro_usd + :micro_usd
           WHERE day = :day AND tokens + :tokens <= :tokens_max AND micro_usd + :micro_usd <= :micro_usd_max
           RETURNING day""",
        day=call.day,
        tokens=most.tokens,
        micro_usd=most.micro_usd or 0,
        tokens_max=ceiling.tokens,
        micro_usd_max=ceiling.micro_usd,
    )
    if within is None:
        return spend_of_day(tx, call.day)
    return Reservation(id=_write_down(tx, call, most), call=call, most=most)


def settle_spend(tx: Tx, reservation: Reservation, usage: Usage, micro_usd: int | None) -> None:
    assert usage.tokens >= 0 and (micro_usd or 0) >= 0, "a call cannot give anything back"
    row = tx.row(
        """UPDATE spend SET settled_at = {now}, tokens = :tokens, micro_usd = :micro_usd, input_tokens = :input_tokens,
                            output_tokens = :output_tokens, cached_tokens = :cached_tokens
           WHERE owner = :owner AND id = :id AND settled_at IS NULL RETURNING day""",
        owner=reservation.call.owner or NOBODY,
        id=reservation.id,
        tokens=usage.tokens,
        micro_usd=micro_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
    )
    if row is None:
        return  # it was settled before
    tx.run(
        "UPDATE spend_days SET tokens = tokens + :tokens, micro_usd = micro_usd + :micro_usd WHERE day = :day",
        day=row["day"],
        tokens=usage.tokens - reservation.most.tokens,
        micro_usd=(micro_usd or 0) - (reservation.most.micro_usd or 0),
    )


def spend_of_day(tx: Tx, day: str) -> Spend:
    row = tx.row("SELECT calls, tokens, micro_usd FROM spend_days WHERE day = :day", day=day)
    return Spend() if row is None else _spend(row)


def spend_by_model(tx: Tx, day: str) -> list[ModelSpend]:
    rows = tx.rows(
        """SELECT model, purpose, count(*) AS calls, sum(tokens) AS tokens, coalesce(sum(micro_usd), 0) AS micro_usd
           FROM spend WHERE {mine} AND day = :day GROUP BY model, purpose
           ORDER BY micro_usd DESC, tokens DESC, model, purpose""",
        day=day,
    )
    return [ModelSpend(model=row["model"], purpose=row["purpose"], spend=_spend(row)) for row in rows]


def spend_of_session(tx: Tx, session: str) -> Spend:
    return _spend(
        tx.one(
            """SELECT count(*) AS calls, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(micro_usd), 0) AS micro_usd
               FROM spend WHERE {mine} AND session = :session""",
            session=session,
        )
    )


def spend_calls(tx: Tx, session: str | None, limit: int) -> list[CallSpend]:
    wanted = "TRUE" if session is None else "session = :session"
    rows = tx.rows(
        f"SELECT * FROM spend WHERE {{mine}} AND {wanted} ORDER BY id DESC LIMIT :limit",
        limit=limit,
        **({} if session is None else {"session": session}),
    )
    return [_call_spend(row) for row in rows]


def _write_down(tx: Tx, call: Call, most: Amount) -> int:
    row = tx.one(
        """INSERT INTO spend (owner, session, day, at, purpose, model, tokens, micro_usd)
           VALUES (:owner, :session, :day, {now}, :purpose, :model, :tokens, :micro_usd) RETURNING id""",
        owner=call.owner or NOBODY,
        session=call.session,
        day=call.day,
        purpose=call.purpose,
        model=call.model,
        tokens=most.tokens,
        micro_usd=most.micro_usd,
    )
    return int(row["id"])


def _spend(row: Row) -> Spend:
    return Spend(calls=int(row["calls"]), tokens=int(row["tokens"]), micro_usd=int(row["micro_usd"]))


def _call_spend(row: Row) -> CallSpend:
    call = Call(
        day=row["day"],
        model=row["model"],
        purpose=row["purpose"],
        owner=row["owner"] or None,
        session=row["session"],
    )
    usage = Usage(
        input_tokens=row["input_tokens"], output_tokens=row["output_tokens"], cached_tokens=row["cached_tokens"]
    )
    return CallSpend(
        id=row["id"],
        call=call,
        at=from_us(row["at"]),
        amount=Amount(tokens=row["tokens"], micro_usd=row["micro_usd"]),
        usage=None if row["settled_at"] is None else usage,
    )
