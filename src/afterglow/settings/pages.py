"""What is told of settings in full: those in effect, the JSON Schema, the reference of docs/settings.md, the example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from afterglow.settings.aliases import ALIASES
from afterglow.settings.aliases import table_of as table_of_alias
from afterglow.settings.checking import LEAVES
from afterglow.settings.effect import rows_of
from afterglow.settings.loading import Loaded
from afterglow.settings.tables import Settings
from afterglow.settings.text import NAME, Leaf, table_of, value_text
from afterglow.settings.values import SQLITE


class Setting(NamedTuple):
    """One setting in effect, fit to be printed: passwords are masked."""

    key: str
    value: Any
    source: str
    description: str


def describe(loaded: Loaded) -> list[Setting]:
    """Every setting in effect, with its source and meaning, fit to be printed."""
    where = {"database": f"{SQLITE}{loaded.settings.sqlite_path}"}
    return [
        Setting(
            row.key, where.get(row.key) if row.value is None else row.value, loaded.sources[row.key], row.leaf.meaning
        )
        for row in rows_of(loaded.settings)
    ]


def json_schema() -> dict[str, Any]:
    """A JSON Schema of the settings file, for editors."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}
    for alias in ALIASES:
        way, name, meant = table_of_alias(alias)
        table, holder = (_defined(schema, path) for path in (way, (*way, *meant[:-1])))
        table["properties"][name] = holder["properties"][meant[-1]]
        if table is holder and meant[0] in table.get("required", ()):
            table["required"].remove(meant[0])
            table["oneOf"] = [{"required": [meant[0]]}, {"required": [name]}]
    return schema


def _defined(schema: dict[str, Any], way: Sequence[str]) -> dict[str, Any]:
    """The schema of the table at the end of the way."""
    model: type[BaseModel] = Settings
    for name in way:
        model = table_of(model.model_fields[name]) or model
    return schema["$defs"][model.__name__] if way else schema


def reference() -> str:
    """The tables of docs/settings.md."""
    groups: dict[str, list[Leaf]] = {}
    for leaf in LEAVES.values():
        groups.setdefault(_title(leaf), []).append(leaf)
    head = ["| key | type | default | allowed | environment variable | meaning |", "|---|---|---|---|---|---|"]
    parts = ["\n".join([f"## {title}", "", *head, *map(_row, leaves), ""]) for title, leaves in groups.items()]
    return "\n".join(parts)


def _title(leaf: Leaf) -> str:
    if leaf.kind in ("list of tables", "tables by name") and not leaf.listed:
        return f"`[[{leaf.key}]]`" if leaf.kind == "list of tables" else f"`[{leaf.key}.{NAME}]`"
    table = ".".join(leaf.path[:-1])
    if not table:
        return "At the top"
    return f"`[[{table}]]`" if leaf.listed and leaf.path[-2] != NAME else f"`[{table}]`"


def _row(leaf: Leaf) -> str:
    in_words = leaf.told and leaf.told.default
    default = "must be given" if leaf.default is None else leaf.default if in_words else f"`{leaf.default}`"
    variable = f"`{leaf.variable}`" if leaf.has_variable else "—"
    allowed = f"{leaf.allowed}: {_keys_of(leaf)}" if leaf.kind == "table" and leaf.path[0] != "agents" else leaf.allowed
    cells = (f"`{leaf.key}`", leaf.kind, default, allowed, variable, leaf.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def _keys_of(leaf: Leaf) -> str:
    """The keys of a table that is a value, each with its default and what it means."""
    table = table_of(leaf.info)
    assert table is not None, "it is a table"
    inner = [Leaf(path=(*leaf.path, name), info=info) for name, info in table.model_fields.items()]
    told = [(each, each.told.default if each.told and each.told.default else f"`{each.default}`") for each in inner]
    return "; ".join(f"`{each.path[-1]}` ({default}): {each.meaning.rstrip('.')}" for each, default in told)


NEW: Mapping[str, Any] = {"away_summary.style": "rich"}
"""What a new set-up has otherwise than a file that says nothing: there nothing changes for who comes from elsewhere."""
_NOTHING: Mapping[str, Any] = {}
_LISTED = ("bindings",)
"""Tables of which there are several, whose inner tables are explained above them."""


def example(given: Mapping[str, Any] = _NOTHING) -> str:
    """A settings file with every setting explained by `# …`, and commented out at its default, unless it is given.

    With NEW it is what `init` writes, and else afterglow.example.toml.
    """
    head = (
        "# Settings of Afterglow. A line such as #port = 8765 shows the default, or an example where the text above it\n"
        "# tells the default; take the # away to change it. The environment goes over it: AFTERGLOW_SERVER__PORT=9000.\n"
    )
    return "\n".join([head, *_parts(Settings, (), given)])


def _parts(model: type[BaseModel], path: tuple[str, ...], given: Mapping[str, Any]) -> Iterator[str]:
    """A table's plain settings, and then the tables in it, for TOML has them in this order."""
    leaves = [Leaf(path=(*path, name), info=info) for name, info in model.model_fields.items()]
    yield from (_lines(leaf, given) for leaf in leaves if not leaf.holds_tables)
    for leaf in leaves:
        table = table_of(leaf.info)
        if table and leaf.kind == "table" and path:
            yield f"# {leaf.meaning}\n#[{leaf.key}]\n"
            if path[0] != "agents" and path[-1] not in _LISTED:  # an agent's has the keys of the section of its name
                yield from _parts(table, leaf.path, given)
        elif table and leaf.kind == "table":
            yield f"# {table.__doc__}\n[{leaf.key}]\n"
            yield from _parts(table, leaf.path, given)
        elif table and leaf.kind == "list of tables":
            yield f"# {table.__doc__}\n#[[{leaf.key}]]\n"
            yield from _parts(table, leaf.path, given)
        elif table:
            name = str(leaf.told.example if leaf.told else NAME)
            yield f"# {table.__doc__}\n#[{leaf.key}.{name}]\n"
            yield from _parts(table, (*leaf.path, name), given)


def _lines(leaf: Leaf, given: Mapping[str, Any]) -> str:
    told = leaf.told
    about = f" The default is {told.default}." if told and told.default else ""
    value = value_text(told.example) if told and told.example is not None else leaf.default
    if leaf.key in given:
        return f"# {leaf.meaning}{about}\n{leaf.path[-1]} = {value_text(given[leaf.key])}\n"
    return f"# {leaf.meaning}{about}\n#{leaf.path[-1]} = {value}\n"


def regenerate(root: Path) -> None:
    """Write afterglow.example.toml and the generated part of docs/settings.md anew."""
    (root / "afterglow.example.toml").write_text(example(), encoding="utf-8")
    page = root / "docs" / "settings.md"
    page.write_text(with_generated(page.read_text(encoding="utf-8"), reference()), encoding="utf-8")


def with_generated(page: str, text: str) -> str:
    """The page with the text between its two marks."""
    before, rest = page.split("<!-- generated -->", 1)
    after = rest.split("<!-- end of generated -->", 1)[1]
    return f"{before}<!-- generated -->\n\n{text}\n<!-- end of generated -->{after}"
