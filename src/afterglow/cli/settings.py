"""`settings`: what is in effect and where it came from, the schema for editors, an example to begin with."""

from __future__ import annotations

import json

import typer

from afterglow.cli.call import Call, command, group
from afterglow.cli.work import PANEL


def add_to(app: typer.Typer) -> None:
    inner = group(app, "settings", "Show the settings in effect, their schema, or an example file.", panel=PANEL)
    command(inner, "show", show)
    command(inner, "schema", schema)
    command(inner, "example", example)


def show(call: Call) -> None:
    """Show every setting in effect, and where its value came from."""
    from afterglow import settings
    from afterglow.settings.text import value_text

    rows = settings.describe(call.loaded)
    cells = [(each.key, value_text(each.value), each.source) for each in rows]
    items = [each._asdict() for each in rows]
    columns = ("key", "~value", "~from")
    call.screen.items(items, columns, cells, empty="", file=call.loaded.file)


def schema(call: Call) -> None:
    """Show the JSON Schema of the settings file, which editors check it with."""
    from afterglow import settings
    from afterglow.cli.screen import write

    write(json.dumps(settings.json_schema(), indent=2) + "\n")


def example(call: Call) -> None:
    """Show a settings file with every setting explained and commented out."""
    from afterglow import settings
    from afterglow.cli.screen import write

    text = settings.example()
    write(json.dumps({"text": text}, indent=2) + "\n" if call.as_json else text)
