"""The verbs of sessions and of the owners they belong to.

An owner is known by its name. An alias joins one owner to another and rewrites no row: a transaction of either is about
the rows of both, and each goes on to write rows of its own, so that parting them undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterglow.acting import LIBRARY
from afterglow.clock import from_us, to_us
from afterglow.compaction import REASONS
from afterglow.errors import BadInput, NotFound
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Binding, ClosedBy, Folded, Owner, Session, SessionState, check_name
from afterglow.work import Due

_OWNERS_NAMED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """How much there is."""

    owners: int
    sessions: int
    turns: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fresh:
    """What a session gets if it has to be made, and who has it made or writes to it."""

    id: str
    fence: str
    """The mark around what its contexts show as a record."""
    by: str = LIBRARY


def open_session(tx: Tx, binding: Binding, named: str | None, fresh: Fresh, at_us: int) -> Session:
    if named is None:
        row = newest(tx, binding)
        if row is None or row["state"] == "closed":
            row = open_new(tx, binding, fresh, at_us)
        return record(row)
    return record(open_named(tx, binding, named, fresh, at_us))


def open_named(tx: Tx, binding: Binding, named: str, fresh: Fresh, at_us: int) -> Row:
    """The session of this name, made if it is missing."""
    check_name(named, "the session's name")
    row = find(tx, named)
    if row is None:
        _lock_owner(tx, at_us)
        row = find(tx, named) or _insert_session(tx, binding, replace(fresh, id=named), at_us)
    if binding_of(row) != binding:
        raise BadInput(f"session {named!r} exists and belongs to another binding ({binding_of(row).owner})")
    return row


def close_session(tx: Tx, session: str, at_us: int, by: ClosedBy = "closed") -> Session:
    row = existing(find(tx, session, lock=True), session)
    if row["state"] != "closed":
        row = tx.one(
            """UPDATE sessions SET state = 'closed', closed_at = :at, closed_by = :by WHERE {mine} AND owner = :owner
               AND id = :id RETURNING *""",
            at=at_us,
            by=by,
            owner=row["owner"],
            id=session,
        )
    return record(row)


def reopen_session(tx: Tx, session: str) -> Session:
    row = existing(find(tx, session, lock=True), session)
    following = newest(tx, binding_of(row), owner=row["owner"])
    if row["state"] != "closed":
        raise BadInput(f"session {session!r} is not closed; there is nothing to restore")
    if row["forgetting"]:
        raise BadInput(f"session {session!r} is being forgotten; it cannot be restored")
    if following is not None and following["id"] != session:
        raise BadInput(
            f"session {session!r} cannot be restored: {following['id']!r} has followed it on the same binding. Its turns and "
            "its summary are still there"
        )
    reopened = tx.one(
        """UPDATE sessions SET state = 'open', closed_at = NULL, closed_by = NULL WHERE {mine} AND owner = :owner
           AND id = :id RETURNING *""",
        owner=row["owner"],
        id=session,
    )
    return record(reopened)


def set_idle_due(tx: Tx, owner: str, session: str, due_us: int) -> None:
    """Note when the timer of a quiet session goes off, so that not every message has to set it again."""
    tx.run(
        "UPDATE sessions SET idle_due = :due WHERE {mine} AND owner = :owner AND id = :id",
        due=due_us,
        owner=owner,
        id=session,
    )


def sunset(tx: Tx, owner: str, session: str, at_us: int) -> None:
    """The session has ended with the turns it has; its summary is to cover them."""
    tx.run(
        """UPDATE sessions SET sunset_seq = said_seq, state = 'closed', closed_at = coalesce(closed_at, {least}(:at, {now})),
             closed_by = coalesce(closed_by, 'sunset') WHERE {mine} AND owner = :owner AND id = :id""",
        at=at_us,
        owner=owner,
        id=session,
    )


def note(tx: Tx, owner: str, session: str, due: Due) -> None:
    """What work asks for, kept with the session too: why it is to be compacted, that its timer is set, that it has ended."""
    if due.kind == "idle":
        set_idle_due(tx, owner, session, to_us(due.at))
    elif due.kind == "context":
        want_fold(tx, owner, session, due)
    elif due.kind == "summary" and due.reason == "sunset-event":
        sunset(tx, owner, session, to_us(due.at))


def want_fold(tx: Tx, owner: str, session: str, due: Due) -> None:
    """Keep with the session why it is to be compacted; the row of work only says when to look."""
    if due.kind == "context" and due.reason in REASONS:
        tx.run(
            "UPDATE sessions SET fold_wanted = :reason WHERE {mine} AND owner = :owner AND id = :id",
            reason=due.reason,
            owner=owner,
            id=session,
        )


def want_no_fold(tx: Tx, owner: str, session: str) -> None:
    """No compaction is asked for."""
    tx.run(
        "UPDATE sessions SET fold_wanted = NULL WHERE {mine} AND owner = :owner AND id = :id AND fold_wanted IS NOT NULL",
        owner=owner,
        id=session,
    )


def session(tx: Tx, session_id: str) -> Session:
    return record(existing(find(tx, session_id), session_id))


def current_session(tx: Tx, binding: Binding) -> Session | None:
    row = newest(tx, binding)
    return None if row is None or row["state"] == "closed" else record(row)


def sessions(
    tx: Tx, limit: int, before: tuple[int, str, str] | None, state: SessionState | None = None
) -> list[Session]:
    last_at, owner, session_id = before or (2**62, "", "")
    rows = tx.rows(
        """SELECT * FROM sessions WHERE {mine} AND (last_at, owner, id) < (:last_at, :owner, :id)
             AND state = coalesce(:state, state)
           ORDER BY last_at DESC, owner DESC, id DESC LIMIT :limit""",
        state=state,
        last_at=last_at,
        owner=owner,
        id=session_id,
        limit=limit,
    )
    return [record(row) for row in rows]


def sessions_by_name(tx: Tx, limit: int, after: tuple[str, str]) -> list[Session]:
    rows = tx.rows(
        """SELECT * FROM sessions WHERE {mine} AND (owner, id) > (:after_owner, :after_id)
           ORDER BY owner, id LIMIT :limit""",
        after_owner=after[0],
        after_id=after[1],
        limit=limit,
    )
    return [record(row) for row in rows]


def totals(tx: Tx) -> Totals:
    row = tx.one(
        """SELECT count(*) AS sessions, sum(turns) AS turns, sum(tokens) AS tokens
           FROM sessions WHERE {mine}"""
    )
    counts = {each: int(row[each] or 0) for each in ("sessions", "turns", "tokens")}
    owners = 1
    if tx.is_everyones:
        owners = tx.one("SELECT count(*) AS n FROM owners WHERE owner NOT IN (SELECT owner FROM aliases)")["n"]
    return Totals(owners=owners, **counts)


def owners(tx: Tx, limit: int, after: str, only: str | None = None) -> list[Owner]:
    rows = tx.rows(
        f"""SELECT owner, created_at FROM owners WHERE {{mine}} AND owner > :after
              AND {"TRUE" if only is None else "owner = :only"}
              AND owner NOT IN (SELECT owner FROM aliases) ORDER BY owner LIMIT :limit""",
        **({} if only is None else {"only": only}),
        after=after,
        limit=limit,
    )
    return [
        Owner(id=row["owner"], created_at=from_us(row["created_at"]), joined=_joined(tx, row["owner"])) for row in rows
    ]


def join(tx: Tx, owner: str, to: str, at_us: int) -> Owner:
    tx.run("{lock_aliases}")
    target = tx.row("SELECT joined_to FROM aliases WHERE owner = :owner", owner=to)
    root: str = target["joined_to"] if target else to
    if root == owner:
        raise BadInput(f"{owner!r} and {to!r} are already one owner, {root!r}")
    # Locked before their sessions are compared: one that is being opened now is waited for.
    locked = tx.rows(
        "SELECT owner FROM owners WHERE owner IN (:owner, :root) ORDER BY owner {lock}", owner=owner, root=root
    )
    for each in (owner, root):
        if each not in {row["owner"] for row in locked}:
            raise NotFound(
                f"there is no owner {each!r}: an owner comes with its first turn; `afterglow owners` lists all"
            )
    both = tx.rows(
        """SELECT id FROM sessions
           WHERE (owner = :owner OR owner IN (SELECT owner FROM aliases WHERE joined_to = :owner)) AND id IN
             (SELECT id FROM sessions WHERE owner = :root
              OR owner IN (SELECT owner FROM aliases WHERE joined_to = :root AND owner <> :owner)) ORDER BY id LIMIT 1""",
        owner=owner,
        root=root,
    )
    if both:
        raise BadInput(
            f"{owner!r} and {root!r} both have a session {both[0]['id']!r}; they cannot be told apart if joined"
        )
    tx.run("UPDATE aliases SET joined_to = :root WHERE joined_to = :owner", owner=owner, root=root)
    tx.run(
        """INSERT INTO aliases (owner, joined_to, created_at) VALUES (:owner, :root, :at)
           ON CONFLICT (owner) DO UPDATE SET joined_to = excluded.joined_to""",
        owner=owner,
        root=root,
        at=at_us,
    )
    return _owner(tx, root)


def part(tx: Tx, owner: str) -> Owner:
    if tx.row("DELETE FROM aliases WHERE owner = :owner RETURNING owner", owner=owner) is None:
        raise NotFound(f"{owner!r} is joined to nobody")
    return _owner(tx, owner)


def restore_owner(tx: Tx, owner: Owner) -> None:
    for each in (owner.id, *owner.joined):
        add_owner(tx, each, to_us(owner.created_at))
    for joined in owner.joined:
        join(tx, joined, owner.id, to_us(owner.created_at))


def restore_session(tx: Tx, given: Session, fence: str) -> int:
    """Make the session unless it is there, or bring it up to a newer state; say how many of its turns are there."""
    _lock_owner(tx, to_us(given.created_at))
    there = find(tx, given.id)
    row = there or _insert_session(
        tx, given.binding, Fresh(id=given.id, fence=fence), to_us(given.created_at), given.owner
    )
    if there is None or given.turns > row["turns"]:
        tx.run(
            """UPDATE sessions SET state = :state, closed_at = :closed_at, closed_by = :closed_by, last_at = :last_at,
                 sunset_seq = :sunset_seq WHERE {mine} AND id = :id""",
            id=given.id,
            state=given.state,
            closed_by=given.closed_by,
            sunset_seq=given.sunset_seq,
            closed_at=None if given.closed_at is None else to_us(given.closed_at),
            last_at=to_us(given.last_at),
        )
    return row["turns"]


def find(tx: Tx, session_id: str, lock: bool = False) -> Row | None:
    rows = tx.rows(f"SELECT * FROM sessions WHERE {{mine}} AND id = :id {'{lock}' if lock else ''}", id=session_id)
    if len(rows) > 1:
        named = ", ".join(sorted(row["owner"] for row in rows)[:_OWNERS_NAMED])
        more = f" and {len(rows) - _OWNERS_NAMED} more" if len(rows) > _OWNERS_NAMED else ""
        raise BadInput(f"several owners have a session {session_id!r}: {named}{more}; say whose (--owner, or owner=…)")
    return rows[0] if rows else None


def existing(row: Row | None, session_id: str) -> Row:
    if row is None:
        raise NotFound(f"there is no session {session_id!r} of this owner; `afterglow sessions` lists those there are")
    return row


def newest(tx: Tx, binding: Binding, lock: bool = False, owner: str | None = None) -> Row | None:
    """The owner's own, whoever is joined to it: what each states is on a binding that joined owners may share."""
    return tx.row(
        f"""SELECT * FROM sessions WHERE {{mine}} AND owner = :owner AND agent = :agent AND channel = :channel
              AND sender = :sender ORDER BY created_at DESC, id DESC LIMIT 1 {"{lock}" if lock else ""}""",
        owner=owner or tx.owner,
        agent=binding.agent,
        channel=binding.channel,
        sender=binding.sender,
    )


def open_new(tx: Tx, binding: Binding, fresh: Fresh, at_us: int) -> Row:
    """A new session on this binding, or the one that another process opened a moment ago."""
    _lock_owner(tx, at_us)
    row = newest(tx, binding)  # locked only after its owner, as everywhere
    if row is not None and row["state"] != "closed":
        return existing(find(tx, row["id"], lock=True), row["id"])
    return _insert_session(tx, binding, fresh, at_us)


def _after_the_newest(tx: Tx, binding: Binding, at_us: int) -> int:
    """When a session opens: later than the binding's others, whatever their clocks said."""
    row = newest(tx, binding)
    return at_us if row is None else max(at_us, row["created_at"] + 1)


def _lock_owner(tx: Tx, at_us: int) -> None:
    """Two processes that open a session for one owner take turns."""
    while True:
        add_owner(tx, tx.owner, at_us)
        if tx.row("SELECT owner FROM owners WHERE owner = :owner {lock}", owner=tx.owner) is not None:
            return  # or else whoever held it has forgotten the owner, who begins anew now


def lock_all_owners(tx: Tx, at_us: int) -> None:
    """The owner is there, and it and all that are joined to it are locked, in the order in which everybody locks them."""
    while True:
        add_owner(tx, tx.owner, at_us)
        if tx.owner in {row["owner"] for row in tx.rows("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")}:
            return  # as above


def add_owner(tx: Tx, owner: str, at_us: int) -> None:
    """The owner is there from now on, if it was not."""
    tx.run(
        "INSERT INTO owners (owner, created_at) VALUES (:owner, :at) ON CONFLICT (owner) DO NOTHING",
        owner=owner,
        at=at_us,
    )


def _insert_session(tx: Tx, binding: Binding, fresh: Fresh, at_us: int, owner: str | None = None) -> Row:
    return tx.one(
        """INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, fence)
           VALUES (:owner, :id, :agent, :channel, :sender, 'open', :created_at, :at, :fence) RETURNING *""",
        owner=owner or tx.owner,
        id=fresh.id,
        fence=fresh.fence,
        agent=binding.agent,
        channel=binding.channel,
        sender=binding.sender,
        created_at=_after_the_newest(tx, binding, at_us) if owner is None else at_us,
        at=at_us,
    )


def record(row: Row) -> Session:
    return Session(
        owner=row["owner"],
        id=row["id"],
        binding=binding_of(row),
        state=row["state"],
        created_at=from_us(row["created_at"]),
        last_at=from_us(row["last_at"]),
        closed_at=None if row["closed_at"] is None else from_us(row["closed_at"]),
        turns=row["turns"],
        exchanges=row["exchanges"],
        tokens=row["tokens"],
        tail_tokens=row["tail_tokens"],
        exchange_seq=row["exchange_seq"],
        exchange_tokens=row["exchange_tokens"],
        said_seq=row["said_seq"],
        real_at=None if row["real_at"] is None else from_us(row["real_at"]),
        idle_due=None if row["idle_due"] is None else from_us(row["idle_due"]),
        summary_seq=row["summary_seq"],
        facts_seq=row["facts_seq"],
        sunset_seq=row["sunset_seq"],
        closed_by=row["closed_by"],
        boot_at=None if row["boot_at"] is None else from_us(row["boot_at"]),
        overhead_tokens=row["overhead_tokens"],
        folded=Folded(
            to_seq=row["folded_to"],
            turns=row["folded_turns"],
            exchanges=row["folded_exchanges"],
            version=row["blocks_version"],
            block_tokens=row["block_tokens"],
            wanted=row["fold_wanted"],
            waits=row["waits"],
        ),
    )


def binding_of(row: Row) -> Binding:
    return Binding(agent=row["agent"], channel=row["channel"], sender=row["sender"])


def _owner(tx: Tx, owner: str) -> Owner:
    row = tx.one("SELECT owner, created_at FROM owners WHERE owner = :owner", owner=owner)
    return Owner(id=owner, created_at=from_us(row["created_at"]), joined=_joined(tx, owner))


def _joined(tx: Tx, owner: str) -> tuple[str, ...]:
    rows = tx.rows("SELECT owner FROM aliases WHERE joined_to = :owner ORDER BY owner", owner=owner)
    return tuple(row["owner"] for row in rows)
