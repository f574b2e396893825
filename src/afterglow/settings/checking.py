"""Whether what was given can be the settings, and what is said when it cannot: the key, the place, and the fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from afterglow.settings.answering import McpServerSettings
from afterglow.settings.compaction import ContextSourceSettings
from afterglow.settings.file import KeyPath, SettingsFile
from afterglow.settings.sources import SourceSettings
from afterglow.settings.tables import SECTIONS_OF_AGENTS, TABLES_BY_NAME, AgentSettings, Settings
from afterglow.settings.text import NAME, Leaf, leaves_of, not_allowed, sections_of, shown, unknown
from afterglow.settings.values import Contradictions

LEAVES: Mapping[str, Leaf] = {leaf.key: leaf for leaf in leaves_of(Settings)}
SECTIONS = sections_of(Settings)
VARIABLES: Mapping[str, Leaf] = {leaf.variable: leaf for leaf in LEAVES.values() if leaf.has_variable}


_PLACES: Mapping[type[BaseModel], tuple[str, ...]] = {
    **{table: (name,) for name, table in SECTIONS.items()},
    ContextSourceSettings: ("compaction", "context_sources"),
    AgentSettings: ("agents",),
    SourceSettings: ("sources", NAME),
    McpServerSettings: ("mcp_servers", NAME),
}
"""Where each table stands in the settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """A value that somebody gave, not yet checked."""

    value: Any = field(repr=False)
    source: str
    file: SettingsFile | None = None

    def where(self, path: KeyPath) -> str:
        return self.file.where(path) if self.file else self.source

    def written(self, path: KeyPath) -> KeyPath:
        """The way to the key as it stands in the file, which may have another name for it."""
        return self.file.written.get(path, path) if self.file else path


def checked(given: Mapping[str, Given], problems: list[str]) -> Settings | None:
    """The settings, unless something is wrong with what was given; then the problems are added to."""
    data: dict[str, Any] = {}
    for key, one in given.items():
        *section, name = LEAVES[key].path
        (data.setdefault(section[0], {}) if section else data)[name] = one.value
    details = _wrong(Settings, data)
    if not details:
        return Settings.model_validate(data)
    problems += [problem for detail in details for problem in _problems(detail, given)]
    return None


def explained(table: type[BaseModel], data: Mapping[str, Any]) -> str:
    """What is wrong with a table that a program makes, one problem in a line."""
    place = _PLACES.get(table, ())
    given = dict.fromkeys((*data, *place[:1]), Given(value=None, source="argument"))
    details = ({**detail, "loc": (*place, *detail["loc"])} for detail in _wrong(table, data))
    return "\n".join(problem for detail in details for problem in _problems(detail, given))


def _wrong(table: type[BaseModel], data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All that is wrong. Rules between keys are only looked at in a table of known keys, so that unknown ones are found first,
    and then the rest without them; otherwise a person would mend the file twice."""
    first = _errors(table, data)
    unknown_keys = [each["loc"] for each in first if each["type"] == "extra_forbidden"]
    if not unknown_keys:
        return first
    told = [(each["loc"], each["msg"]) for each in first]
    tables = {way[:-1] for way in unknown_keys}
    rest = _errors(table, _without(data, unknown_keys))
    return first + [
        each for each in rest if (each["loc"], each["msg"]) not in told and not _is_meant(each, table, tables)
    ]


def _is_meant(detail: Mapping[str, Any], table: type[BaseModel], tables: Collection[KeyPath]) -> bool:
    """Whether a source lacks what it needs, where it has an unknown key: that is most likely what is missing, misspelt."""
    by_name = table in (SourceSettings, McpServerSettings) or detail["loc"][0] in TABLES_BY_NAME
    return detail["loc"] in tables and by_name


def _errors(table: type[BaseModel], data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    try:
        table.model_validate(data)
    except ValidationError as error:
        return list(error.errors(include_url=False))
    return []


def _without(value: Any, ways: Collection[KeyPath]) -> Any:
    """The value without what stands at the end of each way."""
    heads = {way[0]: [other[1:] for other in ways if other[0] == way[0]] for way in ways}
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key: _without(one, heads.get(key, ())) for key, one in items if () not in heads.get(key, ())}
    if isinstance(value, list | tuple):
        return tuple(_without(one, heads.get(at, ())) for at, one in enumerate(cast("Sequence[Any]", value)))
    return value


def _problems(detail: Mapping[str, Any], given: Mapping[str, Given]) -> Iterator[str]:
    """What pydantic found, in sentences."""
    error = detail["ctx"]["error"] if detail["type"] == "value_error" else None
    if isinstance(error, Contradictions):
        for path, reason in error.found:
            yield _problem({**detail, "loc": (*detail["loc"], *path)}, given, reason)
    else:
        yield _problem(detail, given, str(error or ""))


def _problem(detail: Mapping[str, Any], given: Mapping[str, Given], reason: str) -> str:
    location: KeyPath = detail["loc"]
    one = given.get(".".join(map(str, location[:2]))) or given.get(str(location[0]))
    where = one.where(location) if one else "default"
    key = _key(one.written(location) if one else location)
    names = _names(location)
    if detail["type"] == "extra_forbidden":
        return unknown(key, where, _keys_beside(names))
    value = None if detail["type"] == "missing" else detail["input"]
    return not_allowed(_leaf_at(names), shown(key)[1:-1], where, value, reason)


def _names(location: KeyPath) -> tuple[str, ...]:
    return tuple(part for part in location if isinstance(part, str))


def _key(location: KeyPath) -> str:
    return ".".join(_names(location))


def _leaf_at(names: tuple[str, ...]) -> Leaf:
    """The setting at the end of the way, or else the nearest that holds the table it stands in."""
    if names[0] == "agents" and names[2:] and names[1] in SECTIONS_OF_AGENTS:  # it has the keys of the section
        return replace(_leaf_at(names[1:]), inherited=len(names) == 3)
    for length in range(len(names), 0, -1):
        for leaf in LEAVES.values():
            if len(leaf.path) == length and all(map(_fits, leaf.path, names)):
                return leaf
    raise AssertionError(f"no setting holds {names}")


def _fits(pattern: str, name: str) -> bool:
    return pattern in (NAME, name)


def _keys_beside(names: tuple[str, ...]) -> Iterable[str]:
    """The keys that may have been meant by the one at the end of the way, with the names that are free filled in."""
    if names[0] == "agents" and names[1] in SECTIONS_OF_AGENTS:
        return [f"agents.{key}" for key in LEAVES if key.startswith(f"{names[1]}.")]
    free = names[1] if names[0] in TABLES_BY_NAME and names[1:] else NAME
    return [".".join(free if part == NAME else part for part in leaf.path) for leaf in LEAVES.values()]
