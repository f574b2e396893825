"""docs/cli.md, made from the commands themselves: `python -m afterglow.cli.reference` writes it anew."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperGroup

from afterglow.cli import app
from afterglow.cli.call import EVERYWHERE
from afterglow.cli.examples import EXAMPLES
from afterglow.settings.pages import with_generated

PAGE = Path("docs") / "cli.md"
_TYPERS_OWN = {"install_completion", "show_completion", "help"}


def reference() -> str:
    """The generated part of the page: the options of everywhere once, then every command."""
    root = typer.main.get_command(app)
    shared = [param for param in root.params if param.name in EVERYWHERE]
    parts = ["## Options of every command\n\n" + _table(shared)]
    for path, command in commands(root, "afterglow"):
        if not isinstance(command, TyperGroup):
            parts.append(_section(path, command))
    return "\n".join(parts)


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command, with all that is typed to reach it."""
    yield path, command
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}")


def _section(path: str, command: Any) -> str:
    own = [each for each in command.params if each.name not in EVERYWHERE and each.name not in _TYPERS_OWN]
    arguments = [_metavar(each) for each in own if each.param_type_name == "argument"]
    about = inspect.cleandoc(command.help or "")
    typed = [f"    afterglow {line}" for line in EXAMPLES[path.partition(" ")[2]]]
    table = [_table(own)] if own else []
    return "\n".join([f"## `{' '.join([path, *arguments])}`", "", about, "", *typed, "", *table])


def _table(params: list[Any]) -> str:
    rows = [f"| `{_name(each)}` | {_about(each)} |" for each in params]
    return "\n".join(["| | |", "|---|---|", *rows, ""])


def _name(param: Any) -> str:
    if param.param_type_name == "argument":
        return _metavar(param).replace("|", "\\|")
    return f"{', '.join(param.opts)} {_metavar(param)}".strip().replace("|", "\\|")


def _metavar(param: Any) -> str:
    metavar = str(param.metavar or "")
    return metavar if param.required or param.param_type_name == "option" or "[" in metavar else f"[{metavar}]"


def _about(param: Any) -> str:
    default = f" Default: {param.default}." if isinstance(param.default, int | str) and param.default else ""
    return f"{param.help or ''}{default}".strip()


def regenerate(root: Path) -> None:
    """Write the generated part of docs/cli.md anew."""
    page = root / PAGE
    page.write_text(with_generated(page.read_text(encoding="utf-8"), reference()), encoding="utf-8")


if __name__ == "__main__":
    regenerate(Path())
