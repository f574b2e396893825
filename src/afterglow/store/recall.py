"""What was found by a search, as it is shown: the texts of turns, facts, blocks and summaries, all in one reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from afterglow.store.rows import from_row
from afterglow.store.search import Indexed, Kind, Record, indexed
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary, text_of
from afterglow.terms import CHARS_MAX

Spot = tuple[str, Kind, str, int]
"""The owner, the kind, the place and the number of a row of the index."""


class Spotted(Protocol):
    """What stands for a row of the index."""

    @property
    def owner(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def place(self) -> str: ...
    @property
    def seq(self) -> int: ...


Chosen = TypeVar("Chosen", bound=Spotted)
Choose = Callable[[list[Indexed], list[Record]], Sequence[Chosen]]
"""Says what is to be shown, given turns and other records that were read for it. It may be asked more than once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What a row of the index stands for. `label` is the role of a turn, or the type of a fact."""

    session: str
    label: str
    text: str
    """Of a giant turn its beginning, as far as it is searched."""


_SQL: Mapping[Kind, str] = {
    "turn": """SELECT session, role AS label, coalesce((SELECT substr(w.text, 1, :most) FROM whole_turns AS w
                 WHERE w.owner = t.owner AND w.session = t.session AND w.seq = t.seq), t.text) AS text
               FROM turns AS t WHERE {mine} AND owner = :owner AND session = :place AND seq = :seq""",
    "block": """SELECT session, '' AS label, text FROM blocks
                WHERE {mine} AND owner = :owner AND session = :place AND number = :seq""",
    "summary": "SELECT * FROM summaries WHERE {mine} AND owner = :owner AND session = :place AND newest = 1",
    "fact": """SELECT session, type AS label, content AS text FROM facts
               WHERE {mine} AND owner = :owner AND id = :place""",
}


def recalled(tx: Tx, ids: Sequence[int], choose: Choose[Chosen]) -> list[tuple[Chosen, Content]]:
    """What is chosen, best first, with its text."""
    chosen = choose(*indexed(tx, ids))
    found = contents(tx, [(each.owner, each.kind, each.place, each.seq) for each in chosen])
    return [(each, content) for each, content in zip(chosen, found, strict=True) if content is not None]


def contents(tx: Tx, spots: Sequence[Spot]) -> list[Content | None]:
    """One for each spot; None where that is gone."""
    return [_content(tx, *spot) for spot in spots]


def _content(tx: Tx, owner: str, kind: Kind, place: str, seq: int) -> Content | None:
    row = tx.row(_SQL[kind], owner=owner, place=place, seq=seq, most=CHARS_MAX)
    if row is None:
        return None
    return Content(session=row["session"], label=_label(row, kind), text=_text(row, kind))


def _label(row: Row, kind: Kind) -> str:
    return row["category"] if kind == "summary" else row["label"]


def _text(row: Row, kind: Kind) -> str:
    return text_of(from_row(Summary, row)) if kind == "summary" else row["text"]
