"""One settings file, TOML or YAML: what it holds, and on which line each key stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from afterglow.errors import BadSettings

SUFFIXES = (".toml", ".yaml", ".yml")
FILE_BYTES_MAX = 1024 * 1024

KeyPath = tuple[str | int, ...]
"""The way to a value: `("server", "port")`, `("agents", 0, "id")`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingsFile:
    """A settings file as it was read. Its values are not shown when it is printed: one may be a password."""

    path: Path
    data: Mapping[str, Any] = field(repr=False)
    lines: Mapping[KeyPath, int] = field(repr=False)
    written: Mapping[KeyPath, KeyPath] = field(default_factory=dict[KeyPath, KeyPath], repr=False)
    """For each key that stands there under another name, how it is written."""

    def where(self, path: KeyPath) -> str:
        """The file, and the line of the key or else of the nearest table around it."""
        path = self.written.get(path, path)
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return f"{self.path}, line {self.lines[path[:length]]}"
        return str(self.path)


def read(path: Path) -> SettingsFile:
    """The file at this path, or BadSettings with the place and the fix."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadSettings(f"{path}: a settings file ends in {', '.join(SUFFIXES)}; rename it to its kind")
    text = _text(path)
    try:
        data, lines = _read_toml(path, text) if path.suffix.lower() == ".toml" else _read_yaml(path, text)
    except RecursionError:
        raise BadSettings(f"{path}: it is nested too deeply; settings need five levels") from None
    if data is None:
        data = {}
    if not isinstance(data, Mapping):
        raise BadSettings(f"{path}: it holds no settings; a line reads `key: value`")
    return SettingsFile(path=path, data=cast("Mapping[str, Any]", data), lines=lines)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise BadSettings(f"{path}: the settings file cannot be read: {error.strerror}") from None
    if len(content) > FILE_BYTES_MAX:
        raise BadSettings(f"{path}: a settings file has at most {FILE_BYTES_MAX:_} bytes; is it the right file?")
    try:
        return content.decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadSettings(f"{path}, line {line}: this is not UTF-8 text; save the file as UTF-8") from None


def _read_toml(path: Path, text: str) -> tuple[Any, dict[KeyPath, int]]:
    import tomllib  # here, because most starts read no file or one of the other kind

    try:
        return tomllib.loads(text), dict(_toml_lines(text))
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        message, line, column = _toml_place(str(error), text)
        place = f"{path}, line {line}, column {column}" if line else str(path)
        raise BadSettings(
            f"{place}: this is not valid TOML: {message}; a line reads `key = value`, with text in quotes"
        ) from None


def _toml_place(message: str, text: str) -> tuple[str, int, int]:
    if match := re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL):
        return match[1], int(match[2]), int(match[3])
    if message.endswith(" (at end of document)"):
        last = text.split("\n")[-1]
        return message.removesuffix(" (at end of document)"), text.count("\n") + 1, len(last) + 1
    return message.split(";")[0], 0, 0


def _toml_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    """The line of each key. tomllib tells no lines, so each statement (a header, or a key and its value) is parsed
    alone: it begins on a line of its own, and ends with the first line that makes it whole."""
    import tomllib

    table: KeyPath = ()
    counts: Counter[KeyPath] = Counter()
    headed: set[KeyPath] = set()  # tables that have a line, if only as a part of the header of another
    statement, begin = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        goes_on = statement != ""
        statement += line + "\n"
        if goes_on and not any(closer in line for closer in ("]", "}", '"""', "'''")):
            continue
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if statement.lstrip().startswith("["):
            table = _toml_header(parsed, counts)
            around = {table[:length] for length in range(1, len(table))} - headed
            headed |= around
            yield from ((path, begin) for path in (*around, table))
        else:
            yield from ((table + path, begin) for path in _paths(parsed))
        statement, begin = "", number + 1


def _toml_header(parsed: Any, counts: Counter[KeyPath]) -> KeyPath:
    """The way to a header's table. `counts` has the number of tables of each `[[list]]` so far."""
    path: KeyPath = ()
    while parsed:
        if isinstance(parsed, list):
            counts[path] += 1
            path, parsed = (*path, counts[path] - 1), cast("list[Any]", parsed)[0]
        else:
            path, parsed = (*path, next(iter(parsed))), next(iter(parsed.values()))
            if path in counts and not isinstance(parsed, list):
                path = (*path, counts[path] - 1)
    return path


def _paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield (*path, key)
            yield from _paths(inner, (*path, key))


def _read_yaml(path: Path, text: str) -> tuple[Any, dict[KeyPath, int]]:
    import yaml  # here, because most starts read no file or one of the other kind

    try:
        compose = cast("Any", yaml).compose  # the types of it are not known
        lines: dict[KeyPath, int] = {}
        _yaml_lines(path, compose(text, Loader=yaml.SafeLoader), (), lines, set())
        return yaml.safe_load(text), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
        message = error.problem or error.context
    except (yaml.YAMLError, ValueError) as error:  # a character, date or number that cannot be
        place, message = str(path), str(error).splitlines()[0]
    raise BadSettings(
        f"{place}: this is not valid YAML: {message}; a line reads `key: value`, indented with spaces, not tabs"
    )


def _yaml_lines(file: Path, node: Any, path: KeyPath, lines: dict[KeyPath, int], seen: set[int]) -> None:
    """Fill in the line of each key. A key that stands twice is an error: YAML would let the last one win silently."""
    if node is None or id(node) in seen:  # an empty file, or an alias, perhaps of a node around it
        return
    seen.add(id(node))
    entries: list[tuple[str | int, Any, Any]] = []
    if node.id == "mapping":
        entries = [(str(key.value), key, value) for key, value in node.value]
    elif node.id == "sequence":
        entries = [(index, value, value) for index, value in enumerate(node.value)]
    for name, first, value in entries:
        here, line = (*path, name), first.start_mark.line + 1
        if here in lines:
            raise BadSettings(f"{file}, line {line}: {name} already stands in line {lines[here]}; keep one of them")
        lines[here] = line
        _yaml_lines(file, value, here, lines, seen)
