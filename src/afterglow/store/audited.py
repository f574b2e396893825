"""What the audit says of each verb that changes memory. Where a verb found nothing to change, there is nothing to say.

What is looked at beforehand is locked in the order in which the verb itself locks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from afterglow.facts import Fact
from afterglow.store import facts, queue, sessions
from afterglow.store.access import AccessToken
from afterglow.store.audit import NOBODYS, Look, Said, digest, unname_session
from afterglow.store.blocks import Change
from afterglow.store.facts import Gathered
from afterglow.store.forgetting import Forgotten
from afterglow.store.readings import Read
from afterglow.store.tasks import Task
from afterglow.store.transaction import Tx
from afterglow.turns import Owner, Session

# Sessions


def state_of(session: str) -> Look[Session]:
    """The session is in another state than before."""

    def look(tx: Tx) -> Callable[[Session], Said | None]:
        row = sessions.find(tx, session, lock=True)
        before = None if row is None else row["state"]
        return lambda found: None if found.state == before else _of(found)

    return look


def of_session(about: dict[str, Any] | None = None) -> Look[Session]:
    """Something of the session was changed."""
    return lambda tx: lambda found: _of(found, about)


def folded(change: Change) -> Look[Session]:
    """Turns were folded, blocks merged, reports taken in or dropped."""
    made = range(change.version + 1, change.version + 1 + len(change.blocks))
    sources = sorted({*(each.source for each in change.reports), *change.drops})
    about = _filled(blocks=list(made), replaces=list(change.replaces), reports=len(sources))
    return lambda tx: lambda found: _of(found, about) if about else None


# Facts


def gathered(given: Gathered, read: Read | None) -> Look[list[Fact]]:
    """Facts were added, said again, or took the place of others."""
    owners = [each.owner for each in (*given.new, *given.again)]
    replaced = [fact.supersedes for fact in given.new if fact.supersedes and fact.status == "active"]
    about = _filled(
        new=[fact.id for fact in given.new], again=[each.fact for each in given.again], supersedes=sorted(replaced)
    )
    named = [read.session] if read is not None else [fact.session for fact in given.new if fact.session]

    def look(tx: Tx) -> Callable[[list[Fact]], Said | None]:
        session = named[0] if named else None
        whose = next(iter(owners), None) if session is None else _owner_of(tx, session)
        return lambda _: None if whose is None or not owners else Said(owner=whose, session=session, about=about)

    return look


def changed_fact(fact: str) -> Look[Fact]:
    """The fact has another status or type than before."""

    def look(tx: Tx) -> Callable[[Fact], Said | None]:
        facts.lock_owners(tx)
        row = facts.existing_row(tx, fact)
        before = row["status"], row["type"]
        return lambda found: (
            None if (found.status, found.type) == before else Said(owner=found.owner, about={"fact": found.id})
        )

    return look


# Forgetting


def turns_forgotten(session: str, first_seq: int, last_seq: int) -> Look[Forgotten]:
    """Turns of the session are empty."""

    def look(tx: Tx) -> Callable[[Forgotten], Said | None]:
        owner = _owner_of(tx, session)
        asked = {"first_seq": first_seq, "last_seq": last_seq}
        return lambda done: Said(owner=owner, session=session, about=asked | _counts(done)) if done.turns else None

    return look


def session_forgotten(session: str) -> Look[Forgotten]:
    """A part of the session is gone; with the last of it goes its name."""

    def look(tx: Tx) -> Callable[[Forgotten], Said | None]:
        owner = _owner_of(tx, session)

        def tell(done: Forgotten) -> Said:
            name = session
            if done.done:
                row = tx.one("SELECT salt FROM stone_salts WHERE {mine} AND owner = :owner", owner=owner)
                name = digest(row["salt"], session)
                unname_session(tx, owner, session, name)
            return Said(owner=owner, session=name, about=_counts(done))

        return tell

    return look


def owner_forgotten(owner: str, fresh: str) -> Look[Forgotten]:
    """A part of the owner is gone. Where no salt of it is kept, the digest is one that nobody can make again."""

    def look(tx: Tx) -> Callable[[Forgotten], Said | None]:
        def tell(done: Forgotten) -> Said:
            kept = tx.row("SELECT salt FROM stone_salts WHERE owner = :owner", owner=owner)
            return Said(owner=digest(fresh if kept is None else kept["salt"], owner), about=_counts(done))

        return tell

    return look


# Owners, tasks, and who may come in


def joined(owner: str) -> Look[Owner]:
    """The owner belongs to another than before."""

    def look(tx: Tx) -> Callable[[Owner], Said | None]:
        tx.run("{lock_aliases}")
        before = _joined_to(tx, owner)
        return lambda to: None if to.id == before else Said(owner=owner, about={"other": to.id})

    return look


def parted(owner: str) -> Look[Owner]:
    """The owner stands for itself again."""

    def look(tx: Tx) -> Callable[[Owner], Said | None]:
        before = _joined_to(tx, owner)
        return lambda _: Said(owner=owner, about={"other": before})

    return look


def restored(owner: str) -> Look[None]:
    """An import of what is this owner's has begun."""
    return lambda tx: lambda _: Said(owner=owner)


def task_added(tx: Tx) -> Callable[[Task], Said | None]:
    """The task is there."""
    return lambda task: Said(owner=task.owner, about={"task": task.id})


def task_cancelled(id: str) -> Look[Task]:
    """The task was active, and is so no more."""

    def look(tx: Tx) -> Callable[[Task], Said | None]:
        sessions.lock_all_owners(tx, queue.now_us(tx))
        active = tx.rows("SELECT 1 FROM tasks WHERE {mine} AND id = :id AND state = 'active'", id=id)
        return lambda task: Said(owner=task.owner, about={"task": task.id}) if active else None

    return look


def let_in(tx: Tx) -> Callable[[AccessToken], Said | None]:
    """Somebody may come in who could not before."""
    return _of_token


def shut_out(token_id: str) -> Look[AccessToken]:
    """Somebody may come in no more."""

    def look(tx: Tx) -> Callable[[AccessToken], Said | None]:
        row = tx.row("SELECT revoked_at FROM access_tokens WHERE id = :id {lock}", id=token_id)
        return lambda token: _of_token(token) if row is not None and row["revoked_at"] is None else None

    return look


def _of(session: Session, about: dict[str, Any] | None = None) -> Said:
    return Said(owner=session.owner, session=session.id, about=about or {})


def _of_token(token: AccessToken) -> Said:
    return Said(owner=token.owner or NOBODYS, about={"token": token.id, "kind": token.kind, "scope": token.scope})


def _owner_of(tx: Tx, session: str) -> str:
    row = sessions.find(tx, session)
    return tx.owner if row is None else row["owner"]


def _joined_to(tx: Tx, owner: str) -> str | None:
    row = tx.row("SELECT joined_to FROM aliases WHERE owner = :owner", owner=owner)
    return None if row is None else row["joined_to"]


def _counts(done: Forgotten) -> dict[str, int]:
    counts = {name: getattr(done, name) for name in ("turns", "blocks", "summaries", "facts", "left")}
    return {name: count for name, count in counts.items() if count}


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
