"""The settings: defaults, one file over them (TOML or YAML), the environment over it, arguments over all.

What exists is declared in settings_tables.py; this is how the values in effect are found, and what is said when they
cannot be. Whoever needs a setting gets it as an argument; nothing is global.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from afterglow import settings_file, settings_text
from afterglow.errors import BadSettings
from afterglow.settings_file import KeyPath, SettingsFile
from afterglow.settings_tables import (
    SQLITE,
    AgentSettings,
    ContextSettings,
    LogSettings,
    SearchSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    WorkSettings,
    absolute,
)
from afterglow.settings_text import PREFIX, Leaf, not_allowed, shown, unknown

__all__ = [
    "AgentSettings",
    "ContextSettings",
    "Loaded",
    "LogSettings",
    "SearchSettings",
    "ServerSettings",
    "Setting",
    "Settings",
    "StoreSettings",
    "WorkSettings",
    "describe",
    "example",
    "json_schema",
    "load",
    "reference",
    "regenerate",
]

LEAVES: Mapping[str, Leaf] = {leaf.key: leaf for leaf in settings_text.leaves_of(Settings)}
SECTIONS = settings_text.sections_of(Settings)
VARIABLES: Mapping[str, Leaf] = {leaf.variable: leaf for leaf in LEAVES.values() if leaf.has_variable}

_RESERVED = re.compile(r"AFTERGLOW_(SETTINGS|TOKEN|FAILPOINTS|TEST_\w+)")
# Kubernetes tells a pod of services called afterglow by such variables; they are not meant as settings.
_KUBERNETES = re.compile(r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)=.*|\w+_PORT=\w+://.*")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The settings in effect, and for every key where its value came from."""

    settings: Settings
    sources: Mapping[str, str]
    """`server.port`, or `agents.kate.drop_private`, to `default`, the file's path, `environment NAME` or `argument`."""
    file: Path | None


class Setting(NamedTuple):
    """One setting in effect, fit to be printed: the password of the database is masked."""

    key: str
    value: Any
    source: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Given:
    """A value that somebody gave, not yet checked."""

    value: Any = field(repr=False)
    source: str
    file: SettingsFile | None = None

    def where(self, path: KeyPath) -> str:
        return self.file.where(path) if self.file else self.source


def load(path: Path | None = None, *, environ: Mapping[str, str], overrides: Mapping[str, Any] = _NOTHING) -> Loaded:
    """The settings in effect, or BadSettings with every problem there is, one in a line.

    The file is `path`, or what AFTERGLOW_SETTINGS names, or `afterglow.toml`, `.yaml` or `.yml` in the working
    folder, or the same in the data folder; there may be none. `overrides` has keys like `server.port`; None in it
    means not given, and so does an empty environment variable.
    """
    problems: list[str] = []
    overrides = {key: value for key, value in overrides.items() if value is not None}
    given: dict[str, _Given] = {}
    file = None
    try:
        found = _find(path, environ, overrides)
        file = settings_file.read(found) if found else None
    except BadSettings as error:
        problems.append(str(error))
    if file:
        given |= _from_file(file, problems)
    given |= _from_environment(environ, problems)
    given |= _from_overrides(overrides, problems)
    settings = _checked(given, problems)
    if problems or not settings:
        raise BadSettings("\n".join(problems))
    return Loaded(settings=settings, sources=_sources(settings, given), file=file.path if file else None)


def _find(path: Path | None, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Path | None:
    """The settings file to read, if there is one."""
    if named := path or environ.get("AFTERGLOW_SETTINGS"):
        by = "argument" if path else "environment AFTERGLOW_SETTINGS"
        try:
            file = absolute(named)
        except ValueError as error:
            raise BadSettings(f"the settings file ({by}): {error}") from None
        if not file.exists():
            raise BadSettings(f"{file} ({by}): there is no such settings file; mend the path, or leave it out")
        return file
    data_dir = overrides.get("data_dir") or environ.get("AFTERGLOW_DATA_DIR")
    for folder in (Path.cwd(), _data_folder(data_dir)):
        files = [folder / f"afterglow{suffix}" for suffix in settings_file.SUFFIXES]
        try:
            files = [file for file in files if file.is_file()]
        except OSError as error:
            raise BadSettings(f"{folder}: no settings file can be looked for: {error.strerror}") from None
        if len(files) > 1:
            raise BadSettings(f"{' and '.join(map(str, files))}: there is more than one settings file; keep one")
        if files:
            return files[0]
    return None


def _data_folder(data_dir: Any) -> Path:
    """The data folder, before any file is read."""
    try:
        return Settings(data_dir=data_dir).data_dir if data_dir else Settings().data_dir
    except ValidationError:  # a data_dir that is not allowed, which the check of all settings reports
        return Path.cwd()


def _from_file(file: SettingsFile, problems: list[str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    flat: dict[KeyPath, Any] = {}
    for name, value in file.data.items():
        if name in SECTIONS and isinstance(value, Mapping):
            flat |= {(name, str(inner)): held for inner, held in cast("Mapping[Any, Any]", value).items()}
        else:
            flat[(str(name),)] = value
    for path, value in flat.items():
        key = ".".join(map(str, path))
        if value is None:  # a key of YAML with nothing after it
            continue
        if key in LEAVES:
            given[key] = _Given(value=_anchored(key, value, file.path.parent), source=str(file.path), file=file)
        elif key in SECTIONS:
            keys = ", ".join(SECTIONS[key].model_fields)
            problems.append(f"{key} ({file.where(path)}): {shown(value)} is not allowed; give a table with {keys}")
        else:
            known = (*SECTIONS, "agents") if isinstance(value, Mapping) else LEAVES
            problems.append(unknown(key, file.where(path), known))
    return given


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for name in sorted(environ):
        text = environ[name]
        if not name.startswith(PREFIX) or not text:
            continue
        if leaf := VARIABLES.get(name):
            given[leaf.key] = _Given(value=leaf.from_text(text), source=f"environment {name}")
        elif name == LEAVES["agents"].variable:
            problems.append(f"agents (environment {name}): agents stand in the settings file only; unset it")
        elif not _RESERVED.fullmatch(name) and not _KUBERNETES.fullmatch(f"{name}={text}"):
            problems.append(unknown(name, "environment", VARIABLES))
    return given


def _from_overrides(overrides: Mapping[str, Any], problems: list[str]) -> dict[str, _Given]:
    problems += [unknown(key, "argument", LEAVES) for key in overrides if key not in LEAVES]
    return {key: _Given(value=_as_tuple(value), source="argument") for key, value in overrides.items() if key in LEAVES}


def _anchored(key: str, value: Any, folder: Path) -> Any:
    """A file's value, with a relative path made to begin at the file's folder."""
    prefix = SQLITE if key == "database" else ""
    if key in ("data_dir", "database") and isinstance(value, str) and value.startswith(prefix):
        path = value.removeprefix(prefix)
        return value if path.startswith("~") or not path else f"{prefix}{folder / path}"
    return _as_tuple(value)


def _as_tuple(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _checked(given: Mapping[str, _Given], problems: list[str]) -> Settings | None:
    data: dict[str, Any] = {}
    for key, one in given.items():
        *section, name = LEAVES[key].path
        (data.setdefault(section[0], {}) if section else data)[name] = one.value
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems += [_problem(detail, given) for detail in details]
    return None


def _problem(detail: Mapping[str, Any], given: Mapping[str, _Given]) -> str:
    """What pydantic found, in a sentence."""
    location: KeyPath = detail["loc"]
    key = ".".join(part for part in location if isinstance(part, str))
    one = given.get("agents" if location[0] == "agents" else key)
    where = one.where(location) if one else "default"
    if detail["type"] == "extra_forbidden":
        return unknown(key, where, LEAVES)
    value = None if detail["type"] == "missing" else detail["input"]
    reason = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else ""
    return not_allowed(LEAVES[key], where, value, reason)


def _sources(settings: Settings, given: Mapping[str, _Given]) -> dict[str, str]:
    sources = {key: given[key].source if key in given else "default" for key, leaf in LEAVES.items() if not leaf.listed}
    for agent in settings.agents:
        for name in AgentSettings.model_fields:
            by_agent = name in agent.model_fields_set
            sources[f"agents.{agent.id}.{name}"] = sources["agents"] if by_agent else "default"
    return sources


def describe(loaded: Loaded) -> list[Setting]:
    """Every setting in effect, with its source and meaning, fit to be printed."""
    settings = loaded.settings
    values = settings.model_dump(mode="json")
    values["agents"] = [agent.id for agent in settings.agents]
    values["database"] = values["database"] or f"{SQLITE}{settings.sqlite_path}"
    rows: list[Setting] = []
    for key, leaf in LEAVES.items():
        if not leaf.listed:
            value = values[key] if key in values else values[leaf.path[0]][leaf.path[1]]
            rows.append(Setting(key, value, loaded.sources[key], leaf.meaning))
    for agent in settings.agents:
        for name in list(AgentSettings.model_fields)[1:]:  # after the id
            key = f"agents.{agent.id}.{name}"
            rows.append(Setting(key, getattr(agent, name), loaded.sources[key], LEAVES[f"agents.{name}"].meaning))
    return rows


def json_schema() -> dict[str, Any]:
    """A JSON Schema of the settings file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}


def reference() -> str:
    """The tables of docs/settings.md."""
    return settings_text.reference(Settings)


def example() -> str:
    """A TOML file with every setting commented out, for `init` and as afterglow.example.toml."""
    return settings_text.example(Settings)


def regenerate(root: Path) -> None:
    """Write afterglow.example.toml and the generated part of docs/settings.md anew."""
    (root / "afterglow.example.toml").write_text(example(), encoding="utf-8")
    page = root / "docs" / "settings.md"
    page.write_text(settings_text.with_generated(page.read_text(encoding="utf-8"), reference()), encoding="utf-8")
