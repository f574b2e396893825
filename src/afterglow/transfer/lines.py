"""The lines of an export: what they are made of, and how they are read.

The first line names the format and its version; each of the others is one record under its kind.
"""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar, cast

from afterglow.clock import moment_within
from afterglow.errors import BadInput
from afterglow.turns import Binding, Folded

FORMAT = "afterglow-export"
VERSION = 6
"""2 has blocks, 3 summaries, 4 facts, 5 goal events, 6 tasks and messages that wait; exports of older versions are read as
well."""
PAGE = 200
"""So many records are read or written at once."""

T = TypeVar("T")


def check_first_line(line: str) -> None:
    """Whether what begins so is an export that this version can read."""
    if not line.strip():
        raise BadInput("this is empty, and no export of Afterglow; `afterglow export` writes one")
    try:
        kind, value = parsed(line)
    except BadInput as error:
        raise BadInput(f"line 1: {error}") from None
    if kind != "format" or value.get("name") != FORMAT:
        raise BadInput("line 1: this is not an export of Afterglow; `afterglow export` writes one")
    if value.get("version", 0) > VERSION:
        raise BadInput(f"line 1: this export has version {value['version']}, newer than {VERSION}; upgrade Afterglow")


def line(kind: str, value: dict[str, Any]) -> str:
    """A record as it is written."""
    return json.dumps({kind: value}, ensure_ascii=False, default=datetime.isoformat, separators=(",", ":"))


def parsed(line: str) -> tuple[str, dict[str, Any]]:
    """What kind of record a line holds, and its fields."""
    try:
        found: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput(f"not JSON ({error})") from None
    if isinstance(found, dict) and len(cast(Any, found)) == 1:
        ((kind, value),) = cast(dict[str, Any], found).items()
        if isinstance(value, dict):
            return kind, cast(dict[str, Any], value)
    raise BadInput('not an object such as {"turn": {…}}')


def read(record: type[T], value: dict[str, Any]) -> T:
    """A record from its JSON: times, bindings and tuples as they were."""
    known = {each.name for each in fields(cast(Any, record))}
    if unknown := sorted(value.keys() - known):
        raise BadInput(f"unknown field {unknown[0]!r} in a {record.__name__.lower()}")
    return record(**{name: _restored(name, each) for name, each in value.items()})


def _restored(name: str, value: Any) -> Any:
    if name.endswith("_at") or name in ("at", "since", "until"):
        return None if value is None else moment_within(datetime.fromisoformat(value), name)
    if name == "binding":
        return Binding(**value)
    if name == "folded":
        return Folded(**value)
    if name == "recalled":
        return tuple((start, end) for start, end in value)
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
