"""The settings: defaults, one file over them (TOML or YAML), the environment over it, arguments over all.

What exists is declared in tables.py and beside it; this is how the values in effect are found, and what is said when they
cannot be. Whoever needs a setting gets it as an argument; nothing is global.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from afterglow.errors import BadSettings
from afterglow.settings import aliases
from afterglow.settings import file as settings_file
from afterglow.settings.checking import LEAVES, SECTIONS, VARIABLES, Given, checked
from afterglow.settings.effect import rows_of
from afterglow.settings.file import KeyPath, SettingsFile
from afterglow.settings.sources import path_in
from afterglow.settings.tables import TABLES_BY_NAME, Settings
from afterglow.settings.text import PREFIX, shown, unknown
from afterglow.settings.values import SQLITE, absolute

_RESERVED = re.compile(r"AFTERGLOW_(SETTINGS|TOKEN|FAILPOINTS|TEST_\w+)")
# Kubernetes tells a pod of services called afterglow by such variables; they are not meant as settings.
_KUBERNETES = re.compile(r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)=.*|\w+_PORT=\w+://.*")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_IN_FILE_ONLY = [leaf for leaf in LEAVES.values() if leaf.holds_tables and not leaf.listed]
_TABLES_DEEP = 6
"""An agent, its compaction, the list of sources, one of them, its key, and one to spare; YAML may go on for ever."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The settings in effect, and for every key where its value came from."""

    settings: Settings
    sources: Mapping[str, str]
    """`server.port`, or `agents.kate.drop_private`, to `default`, the file's path, `environment NAME` or `argument`."""
    file: Path | None


def load(path: Path | None = None, *, environ: Mapping[str, str], overrides: Mapping[str, Any] = _NOTHING) -> Loaded:
    """The settings in effect, or BadSettings with every problem there is, one in a line.

    The file is `path`, or what AFTERGLOW_SETTINGS names, or `afterglow.toml`, `.yaml` or `.yml` in the working
    folder, or the same in the data folder; there may be none. `overrides` has keys like `server.port`; None in it
    means not given, and so does an empty environment variable.
    """
    problems: list[str] = []
    overrides = {key: value for key, value in overrides.items() if value is not None}
    given: dict[str, Given] = {}
    file = None
    try:
        found = _find(path, environ, overrides)
        file = settings_file.read(found) if found else None
    except BadSettings as error:
        problems.append(str(error))
    if file:
        given |= _from_file(aliases.resolved(file, problems), problems)
    given |= _from_environment(environ, problems)
    given |= _from_overrides(overrides, problems)
    settings = checked(given, problems)
    if problems or not settings:
        raise BadSettings("\n".join(problems))
    sources = {row.key: given[row.given].source if row.given in given else "default" for row in rows_of(settings)}
    return Loaded(settings=settings, sources=sources, file=file.path if file else None)


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
    except BadSettings:  # a data_dir that is not allowed, which the check of all settings reports
        return Path.cwd()


def _from_file(file: SettingsFile, problems: list[str]) -> dict[str, Given]:
    given: dict[str, Given] = {}
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
        if key in LEAVES and LEAVES[key].path == path and not LEAVES[key].listed:
            given[key] = Given(value=_anchored(key, _plain(value), file.path.parent), source=str(file.path), file=file)
        elif key in SECTIONS:
            keys = ", ".join(SECTIONS[key].model_fields)
            problems.append(f"{key} ({file.where(path)}): {shown(value)} is not allowed; give a table with {keys}")
        else:
            known = (*SECTIONS, *TABLES_BY_NAME, "agents") if isinstance(value, Mapping) else LEAVES
            problems.append(unknown(key, file.where(path), known))
    return given


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, Given]:
    given: dict[str, Given] = {}
    for name in sorted(environ):
        text = environ[name]
        if not name.startswith(PREFIX) or not text:
            continue
        if leaf := VARIABLES.get(name):
            given[leaf.key] = Given(value=leaf.from_text(text), source=f"environment {name}")
        elif leaf := next((one for one in _IN_FILE_ONLY if f"{name}__".startswith(f"{one.variable}__")), None):
            last = leaf.path[-1]
            problems.append(f"{leaf.key} (environment {name}): {last} stand in the settings file only; unset it")
        elif not _RESERVED.fullmatch(name) and not _KUBERNETES.fullmatch(f"{name}={text}"):
            problems.append(unknown(name, "environment", VARIABLES))
    return given


def _from_overrides(overrides: Mapping[str, Any], problems: list[str]) -> dict[str, Given]:
    known = {key for key, leaf in LEAVES.items() if not leaf.listed}
    problems += [unknown(key, "argument", LEAVES) for key in overrides if key not in known]
    return {key: Given(value=_plain(value), source="argument") for key, value in overrides.items() if key in known}


def _anchored(key: str, value: Any, folder: Path) -> Any:
    """A file's value, with relative paths made to begin at the file's folder."""
    if key == "sources" and isinstance(value, Mapping):
        tables = cast("Mapping[str, Any]", value)
        return {name: _anchored_source(table, folder) for name, table in tables.items()}
    prefix = SQLITE if key == "database" else ""
    if key in ("data_dir", "database") and isinstance(value, str) and value.startswith(prefix):
        return prefix + _begun_at(folder, value.removeprefix(prefix))
    return value


def _anchored_source(table: Any, folder: Path) -> Any:
    if not isinstance(table, Mapping):
        return table
    source = cast("Mapping[str, Any]", table)
    kind, address = source.get("kind"), source.get("address")
    if isinstance(address, str) and (found := path_in(str(kind), address)):
        return {**source, "address": found[0] + _begun_at(folder, found[1])}
    return source


def _begun_at(folder: Path, path: str) -> str:
    return path if path.startswith("~") or not path else str(folder / path)


def _plain(value: Any, depth: int = _TABLES_DEEP) -> Any:
    """The value with tuples for lists, and without keys that have nothing after them."""
    if isinstance(value, list) and depth:
        return tuple(_plain(one, depth - 1) for one in cast("list[Any]", value))
    if isinstance(value, Mapping) and depth:
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): _plain(one, depth - 1) for key, one in items if one is not None}
    return cast("Any", value)
