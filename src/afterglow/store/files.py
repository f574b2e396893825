"""The verbs behind the memory files: what they are made of, as it was at one moment, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from afterglow.clock import from_us, to_us
from afterglow.facts import Fact
from afterglow.store import digests, facts, queue, sessions, twins
from afterglow.store.rows import insert
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Owner
from afterglow.work import Claim, Due


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """All facts of an owner and of those joined with it, as they were at one moment."""

    root: str
    """The owner that the others are joined to: the files are in its folder."""
    owners: tuple[str, ...]
    version: int
    forgettings: Mapping[str, int]
    """How often something of each owner was forgotten."""
    is_behind: bool
    """Whether something was forgotten since the files were last written: a file may still say it."""
    facts: tuple[Fact, ...]
    """Without those that were forgotten."""
    is_gone: bool
    """Whether the owner itself is being forgotten, or was: then nothing is taken in, and nothing stays."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileTrouble:
    """A file that was left as it is, and why."""

    owner: str
    name: str
    problem: str
    found_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenFiles:
    """The memory files of an owner and of those joined with it, as a writer leaves them."""

    digests: Mapping[tuple[str, str], str]
    """Of what each file says, by the owner whose folder it is in and its name; empty for one that was left as it is."""
    forgettings: Mapping[str, int]
    """How often something of each owner had been forgotten when the facts were read."""
    troubles: tuple[FileTrouble, ...]


def folder_owners(tx: Tx) -> tuple[str, ...]:
    root: str = tx.one("SELECT {root} AS root")["root"]
    return (root, *sorted(each for each in tx.owners if each != root))


def remembered(tx: Tx) -> Remembered:
    owners = tx.rows(
        "SELECT owner, forgetting, facts_version, facts_forgotten, files_forgotten FROM owners WHERE {mine}"
    )
    rows = tx.rows(
        "SELECT * FROM facts WHERE {mine} AND twin_of IS NULL AND status <> 'forgotten' ORDER BY source_date, id, owner"
    )
    proofs = _proofs(tx)
    return Remembered(
        root=folder_owners(tx)[0],
        owners=tuple(sorted(tx.owners)),
        version=sum(row["facts_version"] for row in owners),
        forgettings={row["owner"]: row["facts_forgotten"] for row in owners},
        is_behind=any(row["facts_forgotten"] != row["files_forgotten"] for row in owners),
        facts=tuple(facts.record(row, proofs.get((row["owner"], row["id"]), ())) for row in rows),
        is_gone=all(row["forgetting"] for row in owners),
    )


def commit_files(tx: Tx, files: WrittenFiles, claim: Claim | None) -> None:
    for owner, count in sorted(files.forgettings.items()):  # never fewer: a later writer may have been here before
        tx.run(
            "UPDATE owners SET files_forgotten = :count WHERE {mine} AND owner = :owner AND files_forgotten < :count",
            owner=owner,
            count=count,
        )
    # Whoever was forgotten meanwhile has no row, and gets none here.
    alive = {row["owner"] for row in tx.rows("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")}
    _keep_digests(tx, {place: digest for place, digest in files.digests.items() if place[0] in alive})
    _keep_troubles(tx, [trouble for trouble in files.troubles if trouble.owner in alive])
    if claim is not None:
        queue.finish(tx, claim)
    for owner in sorted(set(tx.owners) - alive):
        _end(tx, owner)


def _end(tx: Tx, owner: str) -> None:
    """The files were the last of an owner who was forgotten: not even that they were to go stays, nor that they went."""
    for table in ("work", "work_heads", "happenings"):
        tx.run(
            f"""DELETE FROM {table} WHERE {{mine}} AND owner = :owner
                AND NOT EXISTS (SELECT 1 FROM owners WHERE owners.owner = {table}.owner)""",
            owner=owner,
        )


def _keep_digests(tx: Tx, digests: Mapping[tuple[str, str], str]) -> None:
    known = file_digests(tx)
    for owner, name in sorted(known.keys() | digests.keys()):
        digest = digests.get((owner, name))
        if digest is None:
            tx.run("DELETE FROM written_files WHERE {mine} AND owner = :owner AND name = :name", owner=owner, name=name)
        elif digest != known.get((owner, name)):
            insert(
                tx,
                "written_files",
                {"owner": owner, "name": name, "digest": digest},
                "ON CONFLICT (owner, name) DO UPDATE SET digest = excluded.digest",
            )


def _keep_troubles(tx: Tx, troubles: Sequence[FileTrouble]) -> None:
    known = {(row["owner"], row["name"]): row for row in tx.rows("SELECT * FROM memory_files WHERE {mine}")}
    tx.run("DELETE FROM memory_files WHERE {mine}")
    for each in troubles:
        row = known.get((each.owner, each.name))
        since = row["found_at"] if row is not None and row["problem"] == each.problem else to_us(each.found_at)
        insert(
            tx,
            "memory_files",
            {"owner": each.owner, "name": each.name, "problem": each.problem, "found_at": since},
            "ON CONFLICT (owner, name) DO UPDATE SET problem = excluded.problem, found_at = excluded.found_at",
        )


def file_digests(tx: Tx) -> dict[tuple[str, str], str]:
    rows = tx.rows("SELECT owner, name, digest FROM written_files WHERE {mine}")
    return {(row["owner"], row["name"]): row["digest"] for row in rows}


def owners_with_files(tx: Tx) -> list[str]:
    return [row["owner"] for row in tx.rows("SELECT DISTINCT owner FROM written_files WHERE {mine} ORDER BY owner")]


def file_troubles(tx: Tx, limit: int) -> list[FileTrouble]:
    rows = tx.rows("SELECT * FROM memory_files WHERE {mine} ORDER BY owner, name LIMIT :limit", limit=limit)
    return [
        FileTrouble(owner=row["owner"], name=row["name"], problem=row["problem"], found_at=from_us(row["found_at"]))
        for row in rows
    ]


def join(tx: Tx, owner: str, to: str, now: datetime) -> Owner:
    before = twins.group(tx, owner)
    joined = sessions.join(tx, owner, to, to_us(now))
    twins.settle_all(tx, before, twins.group(tx, owner))
    _ask(tx, (owner, joined.id), now)
    return joined


def restore_owner(tx: Tx, owner: Owner) -> None:
    sessions.restore_owner(tx, owner)
    twins.settle_all(tx, owner.joined, twins.group(tx, owner.id))


def part(tx: Tx, owner: str, now: datetime) -> Owner:
    row = tx.row("SELECT joined_to FROM aliases WHERE owner = :owner", owner=owner)
    before = twins.group(tx, owner)
    parted = sessions.part(tx, owner)
    digests.unsay(tx, before)  # which may tell what is the other's from now on
    twins.release(tx, (owner,))
    twins.release(tx, [each for each in before if each != owner])
    _ask(tx, (owner, *([row["joined_to"]] if row else [])), now)
    return parted


def _ask(tx: Tx, owners: Sequence[str], now: datetime) -> None:
    """The files of both are other ones now, if any of them has facts."""
    if any(tx.row("SELECT 1 FROM facts WHERE owner = :owner LIMIT 1", owner=owner) for owner in owners):
        for owner in sorted(owners):
            queue.mark_due(tx, Due(kind="files", at=now, reason="joined"), owner, owner)


def _proofs(tx: Tx) -> dict[tuple[str, str], list[Row]]:
    """The proofs of all facts, read at once."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in tx.rows("SELECT * FROM evidence WHERE {mine} ORDER BY at, session, seq"):
        found.setdefault((row["fact_owner"], row["fact"]), []).append(row)
    return found
