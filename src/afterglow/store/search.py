"""The verbs that search by words needs: they give candidates and counts; the score is search/words.py's.

Each term is indexed behind a mark that differs by owner and by role, so an owner's words are found without passing over
anybody else's, and document frequencies are the owner's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from afterglow.store.transaction import Row, Tx
from afterglow.turns import Role

MATCHES_MAX = 500
"""The newest turns taken for each term and role. Rarer terms are complete; of a common one, older turns weigh little."""

_PLACES_AT_ONCE = 100

Group = Literal["user", "others"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, kw_only=True, slots=True)
class Indexed:
    """A turn as the index holds it: its terms in order, repeats included."""

    session: str
    seq: int
    role: Role
    at_us: int
    terms: tuple[str, ...]


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


def group_of(role: Role) -> Group:
    """Roles are ranked apart, so that long answers do not drown short statements."""
    return "user" if role == "user" else "others"


def index_turn(tx: Tx, *, owner: str, session: str, seq: int, role: Role, at_us: int, terms: Sequence[str]) -> None:
    if terms:
        tx.run(
            """INSERT INTO turn_terms (owner, session, seq, role, at, mark, terms)
               VALUES (:owner, :session, :seq, :role, :at, :mark, :terms)""",
            owner=owner,
            session=session,
            seq=seq,
            role=role,
            at=at_us,
            mark=_mark(owner, group_of(role)),
            terms=" ".join(terms),
        )
        tx.words_written()


def word_matches(tx: Tx, terms: Sequence[str]) -> tuple[list[Indexed], Stats]:
    holding: dict[tuple[Group, str], int] = {(group, term): 0 for group in GROUPS for term in terms}
    found: dict[tuple[str, str, int], Indexed] = {}
    for owner in tx.owners:
        for group, term in holding:
            asked = {"mark": _mark(owner, group), "term": term}
            holding[group, term] += int(tx.one("{matches_count}", **asked)["n"])
            for row in tx.rows(
                "SELECT * FROM turn_terms WHERE {mine} AND id IN ({matches})", **asked, most=MATCHES_MAX
            ):
                found[owner, row["session"], row["seq"]] = _indexed(row)
    neighbours = {(owner, session, seq + step) for owner, session, seq in found for step in (-1, 1)} - found.keys()
    for row in _at(tx, sorted(neighbours)):
        found[row["owner"], row["session"], row["seq"]] = _indexed(row)
    return list(found.values()), _stats(tx, holding, {(owner, session) for owner, session, _ in found})


def _at(tx: Tx, places: list[tuple[str, str, int]]) -> list[Row]:
    """The rows of these places that there are, many at a time."""
    rows: list[Row] = []
    for first in range(0, len(places), _PLACES_AT_ONCE):
        some = places[first : first + _PLACES_AT_ONCE]
        values = ", ".join(f"(:owner{n}, :session{n}, CAST(:seq{n} AS BIGINT))" for n in range(len(some)))
        names = (
            {f"owner{n}": owner, f"session{n}": session, f"seq{n}": seq} for n, (owner, session, seq) in enumerate(some)
        )
        rows += tx.rows(
            f"""WITH places (owner, session, seq) AS (VALUES {values})
                SELECT * FROM places JOIN turn_terms USING (owner, session, seq) WHERE {{mine}}""",
            **{name: value for each in names for name, value in each.items()},
        )
    return rows


def _stats(tx: Tx, holding: dict[tuple[Group, str], int], sessions: set[tuple[str, str]]) -> Stats:
    total = tx.one(
        """SELECT count(*) AS sessions, sum(user_turns) AS user_turns, sum(user_terms) AS user_terms,
                  sum(others_turns) AS others_turns, sum(others_terms) AS others_terms
           FROM sessions WHERE {mine} AND turns > 0"""
    )
    lengths = {
        session: int(row["terms"])
        for owner, session in sorted(sessions)
        for row in tx.rows(
            """SELECT user_terms + others_terms AS terms FROM sessions
               WHERE {mine} AND owner = :owner AND id = :session""",
            owner=owner,
            session=session,
        )
    }
    return Stats(
        turns={group: int(total[f"{group}_turns"] or 0) for group in GROUPS},
        terms={group: int(total[f"{group}_terms"] or 0) for group in GROUPS},
        holding=holding,
        sessions=int(total["sessions"]),
        session_terms=lengths,
    )


def _indexed(row: Row) -> Indexed:
    return Indexed(
        session=row["session"],
        seq=row["seq"],
        role=row["role"],
        at_us=row["at"],
        terms=tuple(row["terms"].split(" ")),
    )


def _mark(owner: str, group: Group) -> str:
    return f"{hashlib.blake2b(owner.encode(), digest_size=6).hexdigest()}{group[0]}_"
