"""Other names of settings, as files of other programs have them. Each is moved to its own place before anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from afterglow.settings.file import KeyPath, SettingsFile

Table = Mapping[str, Any]

ALIASES: Mapping[str, str] = {
    "context_limit_tokens": "context.context_limit_tokens",
    "compaction.context_sources.hand": "compaction.context_sources.source",
    "agents.compaction.context_sources.hand": "agents.compaction.context_sources.source",
}
"""For each other name the name it means, which begins with the same table."""


def table_of(alias: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The way to the table in which an alias stands, the alias in it, and the way from there to what it means."""
    *table, name = alias.split(".")
    return tuple(table), name, tuple(ALIASES[alias].split("."))[len(table) :]


def resolved(file: SettingsFile, problems: list[str]) -> SettingsFile:
    """The file with each setting under its own name. One that stands there under both is a problem."""
    for alias in ALIASES:
        file = _without(alias, file, problems)
    return file


def _without(alias: str, file: SettingsFile, problems: list[str]) -> SettingsFile:
    way, name, meant = table_of(alias)
    written = dict(file.written)

    def moved(table: Table, path: KeyPath) -> Table:
        if table.get(name) is None:
            return table
        rest = {key: value for key, value in table.items() if key != name}
        if _holds(rest, meant):
            where = file.where((*path, name))
            problems.append(f"{alias} ({where}): it means {ALIASES[alias]}, which stands there as well; keep one")
            return rest
        written[(*path, *meant)] = (*path, name)
        return _with(rest, meant, table[name])

    return replace(file, data=_changed(file.data, way, (), moved), written=written)


def _changed(value: Any, way: Sequence[str], path: KeyPath, change: Callable[[Table, KeyPath], Table]) -> Any:
    """The value, with each table at the end of the way changed. A list on the way stands for its tables."""
    if isinstance(value, list):
        tables = enumerate(cast("list[Any]", value))
        return [_changed(one, way, (*path, at), change) if isinstance(one, Mapping) else one for at, one in tables]
    if not isinstance(value, Mapping):
        return value
    table = cast("Table", value)
    if not way:
        return change(table, path)
    inner = _changed(table.get(way[0]), way[1:], (*path, way[0]), change)
    return {**table, way[0]: inner} if way[0] in table else table


def _holds(table: Any, way: Sequence[str]) -> bool:
    """Whether something stands at the end of the way, or bars it."""
    if not way or table is None:
        return table is not None
    return _holds(cast("Table", table).get(way[0]), way[1:]) if isinstance(table, Mapping) else True


def _with(table: Table, way: Sequence[str], value: Any) -> Table:
    inner = _with(table.get(way[0]) or {}, way[1:], value) if way[1:] else value
    return {**table, way[0]: inner}
