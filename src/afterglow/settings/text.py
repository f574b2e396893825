"""How settings read as text: their names, what is allowed, and the sentences of errors.

Everything here is derived from the tables themselves, so that code, errors and documentation cannot disagree.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import unquote

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

PREFIX = "AFTERGLOW_"
SHOWN_CHARS_MAX = 60
NAME = "NAME"
"""Stands in the way to a setting for a name that is free: `sources.NAME.kind`."""

_KINDS: dict[Any, str] = {
    int: "whole number",
    float: "number",
    float | None: "number",
    bool: "true or false",
    str: "text",
    str | None: "text",
    Path: "path",
}
_KINDS_OF_TABLES: dict[Any, str] = {tuple: "list of tables", dict: "tables by name"}
WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What is said of a setting where its type, limits and default do not say it."""

    allowed: str = ""
    default: str | None = None
    """The default in words, where it depends on the machine."""
    example: Any = None
    secret: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaf:
    """One setting: a key that holds a value rather than a table of keys."""

    path: tuple[str, ...]
    info: FieldInfo
    listed: bool = False
    """Whether it stands in one of several tables, so that no single environment variable can name it."""
    inherited: bool = False
    """Whether it is an agent's own, and is as in the section for all agents where it is left out."""

    @property
    def key(self) -> str:
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        return PREFIX + "__".join(self.path).upper()

    @property
    def has_variable(self) -> bool:
        return not self.listed and not self.holds_tables

    @property
    def holds_tables(self) -> bool:
        return self.kind in ("table", "list of tables", "tables by name")

    @property
    def meaning(self) -> str:
        return self.info.description or ""

    @property
    def kind(self) -> str:
        annotation = self.info.annotation
        if plain := _KINDS.get(annotation):
            return plain
        if get_origin(annotation) is Literal:
            return "text"
        if not table_of(self.info):
            return "list of text"
        return _KINDS_OF_TABLES.get(get_origin(annotation), "table")

    @property
    def told(self) -> Told | None:
        return next((one for one in self.info.metadata if isinstance(one, Told)), None)

    @property
    def allowed(self) -> str:
        """What may be given, to stand after the word give."""
        low = next((one.ge for one in self.info.metadata if isinstance(one, Ge)), None)
        high = next((one.le for one in self.info.metadata if isinstance(one, Le)), None)
        if self.told and self.told.allowed:
            return self.told.allowed
        return f"a {self.kind} from {value_text(low)} to {value_text(high)}" if low is not None else self.kind

    @property
    def default(self) -> str | None:
        """The default as it is written in a file, or in words; None where the setting must be given."""
        if self.told and self.told.default:
            return self.told.default
        return None if self.info.is_required() else value_text(self.info.get_default(call_default_factory=True))

    def from_text(self, text: str) -> Any:
        """The value that an environment variable means, or the text itself where it means none."""
        try:
            match self.kind:
                case "whole number":
                    return int(text)
                case "number":
                    return float(text)
                case "true or false":
                    return WORDS.get(text.strip().lower(), text)
                case "list of text":
                    return tuple(part.strip() for part in text.split(",") if part.strip())
                case _:
                    return text
        except ValueError:
            return text


def sections_of(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The tables of a model of settings, by name."""
    return {
        name: info.annotation
        for name, info in model.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
    }


def leaves_of(model: type[BaseModel], path: tuple[str, ...] = (), *, listed: bool = False) -> Iterator[Leaf]:
    """Every setting of a model, in the order in which it is declared. Sections are gone into. A table within one is a value,
    and so is one in a list: that has the keys of the section of its name."""
    for name, info in model.model_fields.items():
        leaf = Leaf(path=(*path, name), info=info, listed=listed)
        table = table_of(info)
        is_section = leaf.kind == "table" and not path
        if not table or not is_section:
            yield leaf
        if table and is_section:
            yield from leaves_of(table, leaf.path)
        elif table and leaf.kind == "list of tables":
            yield from leaves_of(table, leaf.path, listed=True)
        elif table and leaf.kind == "tables by name":
            yield from leaves_of(table, (*leaf.path, NAME), listed=True)


def table_of(info: FieldInfo) -> type[BaseModel] | None:
    """The model of the table, or of each table where the setting holds several."""
    for one in (info.annotation, *get_args(info.annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None


def value_text(value: Any) -> str:
    """A value as TOML writes it, which YAML and the environment also understand."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        number = int(value) if value == int(value) else value
        return f"{number:_}" if abs(number) >= 10_000 else str(number)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(one) for one in value) + "]"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Mapping):
        inner = ", ".join(f"{name} = {value_text(one)}" for name, one in value.items())  # pyright: ignore
        return f"{{{f' {inner} ' if inner else ''}}}"
    return json.dumps(str(value), ensure_ascii=False)


def masked(text: str) -> str:
    """A database address without its passwords. In doubt it hides too much."""
    text = re.sub(r"(://[^:]*:).*@", r"\1***@", text, flags=re.DOTALL)
    return re.sub(
        r"([?&]([^=&]*)=)[^&]*",
        lambda found: found[1] + "***" if "pass" in unquote(found[2]).lower() else found[0],
        text,
    )


def shown(value: Any, leaf: Leaf | None = None) -> str:
    """What was given, short, on one line, and with no secret in it."""
    if leaf and leaf.told and leaf.told.secret:
        scheme = re.match(r"[a-z0-9+]{1,20}://", value) if isinstance(value, str) else None
        return f'"{scheme[0]}…"' if scheme else "what is given (not shown, it may hold a password)"
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number of more than 30 digits"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float):
        return value_text(value)
    text = masked(str(value))
    return value_text(text if len(text) <= SHOWN_CHARS_MAX else text[:SHOWN_CHARS_MAX] + "…")


def not_allowed(leaf: Leaf, key: str, where: str, value: Any, reason: str) -> str:
    """The sentence for a value that is not allowed. `reason` is what a rule said of it, and may be empty."""
    if reason:
        return f"{key} ({where}): {reason}"
    if value is None and leaf.info.is_required():
        return f"{key} ({where}): it is missing; give {leaf.allowed}"
    quotes = ""
    if isinstance(value, str) and leaf.kind != "list of text" and leaf.from_text(value) != value:
        quotes = ", without quotes"
    elif leaf.kind in ("text", "path") and not isinstance(value, str | Mapping | list | tuple):
        quotes = ", in quotes"
    otherwise = f", or leave it out for the default, {leaf.default}" if leaf.default else ""
    if leaf.inherited:
        otherwise = f", or leave it out to have it as in [{leaf.path[0]}]"
    return f"{key} ({where}): {shown(value, leaf)} is not allowed; give {leaf.allowed}{quotes}{otherwise}"


def unknown(name: str, where: str, known: Iterable[str]) -> str:
    """The sentence for a name that no setting has. Its value is not shown: it may be a password's."""
    table, _, last = name.rpartition(".")
    ends = {one: _last(one) for one in known}
    beside = [end for one, end in ends.items() if table and one.rpartition(".")[0] == table]
    close = [one for one, end in ends.items() if end == _last(name)]
    if not close and beside:
        close = [f"{table}.{end}" for end in difflib.get_close_matches(last, beside, n=1)]
    elif not close:
        near = difflib.get_close_matches(last, ends.values(), n=1)
        close = difflib.get_close_matches(name, ends, n=1) or [one for one, end in ends.items() if end in near]
    hint = f"{table} has {', '.join(beside)}" if beside else "take it out, or look for its name in docs/settings.md"
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    return f"{shown(name)[1:-1]} ({where}): there is no such setting; {hint}"


def _last(name: str) -> str:
    return re.split(r"\.|__", name.removeprefix(PREFIX))[-1].lower()
