"""Records as rows: a dataclass whose fields are named as the columns. Moments are microseconds, truths 0 and 1, tuples JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from afterglow.clock import from_us, to_us
from afterglow.store.transaction import Row, Tx

T = TypeVar("T")
_Change = Callable[[Any], Any]


def insert(tx: Tx, table: str, values: Mapping[str, Any], otherwise: str = "") -> None:
    """One row; `otherwise` is what to do where it is there already."""
    places = ", ".join(f":{name}" for name in values)
    tx.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places}) {otherwise}", **values)


def to_row(record: Any) -> dict[str, Any]:
    """The columns of a record."""
    return {name: _stored(getattr(record, name)) for name in _changes(record.__class__)}


def from_row(kind: type[T], row: Row) -> T:
    """The record of a row that has all its columns."""
    changes = _changes(kind).items()
    return kind(**{name: row[name] if change is None else change(row[name]) for name, change in changes})


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_us(value)
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return int(value) if isinstance(value, bool) else value


@cache
def _changes(kind: type[Any]) -> dict[str, _Change | None]:
    """For each field, what makes its value out of a column; None where it is the same."""
    return {name: _change(hint) for name, hint in get_type_hints(kind).items()}


def _change(hint: Any) -> _Change | None:
    given = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) is tuple:
        return lambda text: tuple(json.loads(text))
    if hint is bool:
        return bool
    if hint is datetime:
        return from_us
    if given == [datetime]:
        return lambda at: None if at is None else from_us(at)
    return None
