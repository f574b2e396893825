"""Every setting in effect, one by one: also those of each source, and of each agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from afterglow.settings.checking import LEAVES
from afterglow.settings.compaction import ContextSourceSettings
from afterglow.settings.tables import SECTIONS_OF_AGENTS, TABLES_BY_NAME, Settings
from afterglow.settings.text import NAME, Leaf


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One setting in effect."""

    key: str
    leaf: Leaf
    value: Any
    """Fit to be printed: passwords are masked, and of tables there are only the names."""
    given: str | None
    """The key under which it was given, if it was; None where it is left to its default."""


def rows_of(settings: Settings) -> Iterator[Row]:
    """Every setting, in the order in which it is declared; then what has tables by name, what sources are asked, and agents."""
    values = settings.model_dump(mode="json")
    for key, leaf in LEAVES.items():
        if not leaf.listed:
            value = values[key] if key in values else values[leaf.path[0]][leaf.path[1]]
            yield Row(key=key, leaf=leaf, value=_printed(leaf, value), given=key)
    for table in TABLES_BY_NAME:
        for name, one in getattr(settings, table).items():
            yield from _rows(one, f"{table}.{name}", f"{table}.{NAME}", table)
    yield from _asked(settings.compaction.context_sources, "compaction.context_sources", "compaction.context_sources")
    for agent in settings.agents:
        key = f"agents.{agent.id}"
        own = _rows(agent, key, "agents", "agents", without=("id", *SECTIONS_OF_AGENTS))
        yield from (row for row in own if row.value is not None)  # the rest is as at the top
        for section in SECTIONS_OF_AGENTS:
            own = _rows(getattr(agent, section), f"{key}.{section}", section, "agents")
            yield from (row for row in own if row.given)  # the rest is as in the section
        yield from _asked(agent.compaction.context_sources, f"{key}.compaction.context_sources", "agents")


def _asked(sources: tuple[ContextSourceSettings, ...], key: str, given: str) -> Iterator[Row]:
    for one in sources:
        yield from _rows(one, f"{key}.{one.source}", "compaction.context_sources", given, without=("source",))


def _rows(table: BaseModel, key: str, pattern: str, given: str, without: tuple[str, ...] = ()) -> Iterator[Row]:
    """The settings of one of several tables. `pattern` is its way in LEAVES."""
    for name, value in table.model_dump(mode="json", exclude=set(without)).items():
        leaf = LEAVES[f"{pattern}.{name}"]
        own = given if name in table.model_fields_set else None
        yield Row(key=f"{key}.{name}", leaf=leaf, value=_printed(leaf, value), given=own)


def _printed(leaf: Leaf, value: Any) -> Any:
    """Of several tables their names; anything else as it is."""
    if leaf.kind not in ("list of tables", "tables by name"):
        return value
    keys = ("id", "source", "channel")
    return [one if isinstance(one, str) else next(one[key] for key in keys if key in one) for one in value]
