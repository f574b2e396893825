"""Whether what was given can be the settings, and what is said when it cannot: the key, the place, and the fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from afterglow.settings.file import KeyPath, SettingsFile
from afterglow.settings.tables import Settings
from afterglow.settings.text import NAME, Leaf, leaves_of, not_allowed, sections_of, shown, unknown
from afterglow.settings.values import Contradictions

LEAVES: Mapping[str, Leaf] = {leaf.key: leaf for leaf in leaves_of(Settings)}
SECTIONS = sections_of(Settings)
VARIABLES: Mapping[str, Leaf] = {leaf.variable: leaf for leaf in LEAVES.values() if leaf.has_variable}


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
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems += [problem for detail in details for problem in _problems(detail, given)]
    return None


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
    if names[:2] == ("agents", "compaction") and names[2:]:  # it has the keys of the section
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
    if names[:2] == ("agents", "compaction"):
        return [f"agents.{key}" for key in LEAVES if key.startswith("compaction.")]
    free = names[1] if names[0] == "sources" and names[1:] else NAME
    return [".".join(free if part == NAME else part for part in leaf.path) for leaf in LEAVES.values()]
