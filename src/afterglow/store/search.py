"""The verbs that search by words needs: they give candidates and counts; the score is search/words.py's.

Each term is indexed behind a mark that differs by owner and by group, so an owner's words are found without passing over
anybody else's, and document frequencies are the owner's own. A record's terms are written and removed in the transaction
that writes or removes the record, so that what was just stored is found at once, and what was forgotten never.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from afterglow.store.transaction import Row, Tx
from afterglow.terms import terms as cut
from afterglow.turns import Role

MATCHES_MAX = 48
"""The most turns of one group that are looked at, those with the rarest terms first, of each term the newest."""
RECORDS_MAX = 100
"""The same for each of the other kinds."""

_PLACES_AT_ONCE = 100
_COLUMNS = "id, owner, kind, place, seq, label, at, terms"

REMOVED = "removed"
"""Under this name it is counted what was removed: whoever keeps something of the index in memory sees it by that."""

Kind = Literal["turn", "fact", "block", "summary"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Group = Literal["user", "others"]
"""Turns are counted in two groups."""
GROUPS: tuple[Group, ...] = get_args(Group)
RecordKind = Literal["fact", "block", "summary"]
RECORD_KINDS: tuple[RecordKind, ...] = get_args(RecordKind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sought:
    """What a search is limited to: kinds, types of facts, and the time from `since_us` to before `until_us`."""

    kinds: tuple[Kind, ...] = KINDS
    types: tuple[str, ...] = ()
    """Of facts; none means all."""
    since_us: int = -(2**62)
    until_us: int = 2**62


class Indexed(NamedTuple):
    """A turn as the index holds it: its terms in order, repeats included. A tuple, since a search makes hundreds."""

    session: str
    seq: int
    role: Role
    at_us: int
    terms: tuple[str, ...]
    owner: str = ""
    id: int = 0
    """Of its row in the index, by which its vector is found."""


class Record(NamedTuple):
    """A fact, a block or a summary as the index holds it. `place` is its session, or the id of a fact."""

    kind: RecordKind
    place: str
    seq: int
    at_us: int
    terms: tuple[str, ...]
    owner: str = ""
    id: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """What an owner's index holds as a whole. A missing entry counts as nothing."""

    turns: Mapping[Group, int]
    terms: Mapping[Group, int]
    """How many terms all turns of the group have together."""
    holding: Mapping[tuple[Group, str], int]
    """How many turns of the group hold the term; for the terms of the query."""
    sessions: int
    session_terms: Mapping[str, int]
    """How many terms a session has; for the sessions of the candidates."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordStats:
    """What the index holds of one kind of record."""

    records: int
    terms: int
    holding: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """The turns and records that hold any of the terms, and what ranking needs to know of all the others."""

    turns: list[Indexed]
    stats: Stats
    records: list[Record]
    record_stats: Mapping[RecordKind, RecordStats]


Follow = Callable[[Matches], Sequence[tuple[str, int]]]
"""Says which other turns, by session and number, are to be read beside those that match. It may be asked more than once."""


def group_of(role: Role) -> Group:
    """Roles are ranked apart, so that long answers do not drown short statements."""
    return "user" if role == "user" else "others"


# Writing


def index_turn(tx: Tx, *, owner: str, session: str, seq: int, role: Role, at_us: int, terms: Sequence[str]) -> None:
    if terms:
        _insert(tx, owner, "turn", session, seq, role, at_us, _mark(owner, group_of(role)), terms)


def index_record(
    tx: Tx, *, owner: str, kind: RecordKind, place: str, seq: int = 0, label: str = "", at_us: int, text: str
) -> None:
    """This record is found by these words from now on, in place of what it was found by before."""
    unindex_record(tx, owner=owner, kind=kind, place=place, seq=seq)
    terms = cut(text)
    if terms:
        _insert(tx, owner, kind, place, seq, label, at_us, _mark(owner, kind), terms)
        _count(tx, owner, kind, 1, len(terms))


def unindex_record(tx: Tx, *, owner: str, kind: Kind, place: str, seq: int = 0) -> None:
    """Nothing finds this turn or record any more: its words and its vectors are gone."""
    values = {"owner": owner, "kind": kind, "place": place, "seq": seq}
    which = "{mine} AND owner = :owner AND kind = :kind AND place = :place AND seq = :seq"
    tx.run("{unindex} " + which if tx.dialect.words["unindex"] else "SELECT 1", **values)
    for row in tx.rows(f"DELETE FROM search_terms WHERE {which} RETURNING terms", **values):
        _count(tx, owner, REMOVED, 1, 0)
        if kind != "turn":  # turns are counted by their sessions
            _count(tx, owner, kind, -1, -len(row["terms"].split(" ")))


def _insert(
    tx: Tx, owner: str, kind: Kind, place: str, seq: int, label: str, at_us: int, mark: str, terms: Sequence[str]
) -> None:
    tx.run(
        """INSERT INTO search_terms (owner, kind, place, seq, label, at, mark, terms)
           VALUES (:owner, :kind, :place, :seq, :label, :at, :mark, :terms)""",
        owner=owner,
        kind=kind,
        place=place,
        seq=seq,
        label=label,
        at=at_us,
        mark=mark,
        terms=" ".join(terms),
    )
    tx.words_written()


def _count(tx: Tx, owner: str, kind: str, records: int, terms: int) -> None:
    tx.run(
        """INSERT INTO search_totals (owner, kind, records, terms) VALUES (:owner, :kind, :records, :terms)
           ON CONFLICT (owner, kind) DO UPDATE SET records = search_totals.records + excluded.records,
                                                   terms = search_totals.terms + excluded.terms""",
        owner=owner,
        kind=kind,
        records=records,
        terms=terms,
    )


# Reading


def word_matches(tx: Tx, terms: Sequence[str], sought: Sought, follow: Follow | None = None) -> Matches:
    totals = _totals(tx, sought)
    counts = _holding(tx, (*GROUPS, *totals), terms)  # what a word is worth is told by turns, whatever is looked for
    turns: dict[tuple[str, str, int], Indexed] = {}
    for group in GROUPS if "turn" in sought.kinds else ():
        for row in _rarest_first(tx, group, counts[group], sought, MATCHES_MAX):
            turns[row["owner"], row["place"], row["seq"]] = _indexed(row)
    records: list[Record] = []
    record_stats: dict[RecordKind, RecordStats] = {}
    for kind, total in totals.items():
        records += [_record(row) for row in _rarest_first(tx, kind, counts[kind], sought, RECORDS_MAX)]
        record_stats[kind] = RecordStats(records=int(total["records"]), terms=int(total["terms"]), holding=counts[kind])
    holding: dict[tuple[Group, str], int] = {(group, term): n for group in GROUPS for term, n in counts[group].items()}
    stats = _stats(tx, holding, sorted({(owner, session) for owner, session, _ in turns}))
    matches = Matches(turns=list(turns.values()), stats=stats, records=records, record_stats=record_stats)
    if follow is not None:
        matches.turns.extend(turns_at(tx, follow(matches)))
    return matches


def indexed_ids(tx: Tx) -> list[int]:
    """The numbers of all that the index holds of the owner."""
    return [row["id"] for row in tx.rows("SELECT id FROM search_terms WHERE {mine}")]


def indexed(tx: Tx, ids: Sequence[int]) -> tuple[list[Indexed], list[Record]]:
    """What the index holds under these numbers, turns and records apart."""
    turns: list[Indexed] = []
    records: list[Record] = []
    for first in range(0, len(ids), _PLACES_AT_ONCE):
        names = {f"id{n}": each for n, each in enumerate(ids[first : first + _PLACES_AT_ONCE])}
        listed = ", ".join(f":{name}" for name in names)
        for row in tx.rows(
            f"""SELECT * FROM (SELECT {_COLUMNS} FROM search_terms WHERE id IN ({listed}) LIMIT :most) AS found
                WHERE {{mine}}""",
            **names,
            most=_PLACES_AT_ONCE,
        ):
            if row["kind"] == "turn":
                turns.append(_indexed(row))
            else:
                records.append(_record(row))
    return turns, records


def turns_at(tx: Tx, places: Sequence[tuple[str, int]]) -> list[Indexed]:
    """What the index holds of the turns at these places."""
    whole = [(owner, session, seq) for owner in tx.owners for session, seq in places]
    found: list[Indexed] = []
    for first in range(0, len(whole), _PLACES_AT_ONCE):
        names: dict[str, str | int] = {}
        for n, (owner, session, seq) in enumerate(whole[first : first + _PLACES_AT_ONCE]):
            names |= {f"owner{n}": owner, f"place{n}": session, f"seq{n}": seq}
        values = ", ".join(f"(:owner{n}, 'turn', :place{n}, CAST(:seq{n} AS BIGINT))" for n in range(len(names) // 3))
        rows = tx.rows(
            f"""WITH places (owner, kind, place, seq) AS (VALUES {values})
                SELECT id, owner, place, seq, label, at, terms FROM places JOIN search_terms USING (owner, kind, place, seq)
                WHERE {{mine}}""",
            **names,
        )
        found += [_indexed(row) for row in rows]
    return found


def _holding(
    tx: Tx, groups: Sequence[Group | RecordKind], terms: Sequence[str]
) -> dict[Group | RecordKind, dict[str, int]]:
    """How many of each group hold each term."""
    marks: dict[str, Group | RecordKind] = {_mark(owner, group): group for group in groups for owner in tx.owners}
    names = {f"mark{n}": mark for n, mark in enumerate(marks)} | {f"term{n}": term for n, term in enumerate(terms)}
    values = ", ".join(f"(:mark{mark}, :term{term})" for mark in range(len(marks)) for term in range(len(terms)))
    counts: dict[Group | RecordKind, dict[str, int]] = {group: dict.fromkeys(terms, 0) for group in groups}
    for row in tx.rows(
        f"WITH asked (mark, term) AS (VALUES {values}) SELECT mark, term, {{matches_count}} AS n FROM asked", **names
    ):
        counts[marks[row["mark"]]][row["term"]] += int(row["n"])
    return counts


def _rarest_first(tx: Tx, group: Group | RecordKind, counts: Mapping[str, int], sought: Sought, most: int) -> list[Row]:
    """Up to so many that hold a term. What holds only words that are everywhere comes last, and may be left out."""
    labels = ",".join(sought.types) if group == "fact" else ""
    found: dict[int, Row] = {}
    for term in sorted(counts, key=lambda term: counts[term]):
        for owner in tx.owners if counts[term] and len(found) < most else ():
            for row in tx.rows(
                # First by their numbers, then by the owner: the other way round the database may read all that is the owner's.
                f"""SELECT * FROM (SELECT {_COLUMNS} FROM search_terms WHERE id IN ({{matches}}) LIMIT :most) AS found
                    WHERE {{mine}}""",
                mark=_mark(owner, group),
                term=term,
                since=sought.since_us,
                until=sought.until_us,
                labels=labels,
                most=most - len(found),
            ):
                found[row["id"]] = row
    return list(found.values())


def _totals(tx: Tx, sought: Sought) -> dict[RecordKind, Row]:
    rows = tx.rows(
        "SELECT kind, sum(records) AS records, sum(terms) AS terms FROM search_totals WHERE {mine} GROUP BY kind"
    )
    wanted = [kind for kind in RECORD_KINDS if kind in sought.kinds]
    return {row["kind"]: row for row in rows if row["kind"] in wanted and row["records"]}


def _stats(tx: Tx, holding: dict[tuple[Group, str], int], sessions: list[tuple[str, str]]) -> Stats:
    total = tx.one(
        """SELECT sum(sessions) AS sessions, sum(user_turns) AS user_turns, sum(user_terms) AS user_terms,
                  sum(others_turns) AS others_turns, sum(others_terms) AS others_terms
           FROM turn_totals WHERE {mine}"""
    )
    lengths: dict[str, int] = {}
    for first in range(0, len(sessions), _PLACES_AT_ONCE):
        some = sessions[first : first + _PLACES_AT_ONCE]
        values = ", ".join(f"(:owner{n}, :session{n})" for n in range(len(some)))
        names = {f"owner{n}": owner for n, (owner, _) in enumerate(some)}
        names |= {f"session{n}": session for n, (_, session) in enumerate(some)}
        rows = tx.rows(
            f"""WITH named (owner, id) AS (VALUES {values})
                SELECT id, user_terms + others_terms AS terms FROM named JOIN sessions USING (owner, id) WHERE {{mine}}""",
            **names,
        )
        lengths |= {row["id"]: int(row["terms"]) for row in rows}
    return Stats(
        turns={group: int(total[f"{group}_turns"] or 0) for group in GROUPS},
        terms={group: int(total[f"{group}_terms"] or 0) for group in GROUPS},
        holding=holding,
        sessions=int(total["sessions"] or 0),
        session_terms=lengths,
    )


def _indexed(row: Row) -> Indexed:
    terms = tuple(row["terms"].split(" "))
    return Indexed(row["place"], row["seq"], row["label"], row["at"], terms, row["owner"], row["id"])


def _record(row: Row) -> Record:
    return Record(
        kind=row["kind"],
        place=row["place"],
        seq=row["seq"],
        at_us=row["at"],
        terms=tuple(row["terms"].split(" ")),
        owner=row["owner"],
        id=row["id"],
    )


def _mark(owner: str, group: Group | RecordKind) -> str:
    return f"{hashlib.blake2b(owner.encode(), digest_size=6).hexdigest()}{group[0]}_"
