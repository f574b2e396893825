"""Every command's help shows how it is typed, and what it shows can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from afterglow.cli import app
from afterglow.cli.call import Call
from afterglow.cli.examples import EXAMPLES
from afterglow.cli.reference import commands
from afterglow.clock import _ALPHABET, FixedClock, new_id  # pyright: ignore[reportPrivateUsage]
from tests.kit.command_line import Run
from tests.kit.processes import ROOT
from tests.kit.records import KATE, NOON

pytestmark = pytest.mark.spec("DOOR-2")

COMMANDS = typer.main.get_command(app)
PATHS = [path.partition(" ")[2] for path, _ in commands(COMMANDS, "afterglow")][1:]
LOOKING = ("status", "search", "summaries", "audit", "sessions list", "facts list", "goals list", "tasks list")
LOOKING += ("digest history", "sources list", "owners list", "token list", "work list", "settings show")
LOOKING += ("settings schema", "settings example")


def test_every_command_has_an_example_and_no_example_is_of_nothing() -> None:
    alone = [
        path.partition(" ")[2] for path, each in commands(COMMANDS, "afterglow") if not isinstance(each, TyperGroup)
    ]
    assert set(alone) == set(EXAMPLES)


def test_the_help_of_every_command_shows_an_example(run: Run, subtests: pytest.Subtests) -> None:
    for path in PATHS:
        with subtests.test(path=path):
            told = run(*path.split(), "--help").stdout
            _, _, shown = told.partition("Examples:")
            assert f"afterglow {path.split()[0]}" in shown or "--data-dir" in shown, told


def test_every_example_is_of_its_command_and_can_be_typed(subtests: pytest.Subtests) -> None:
    for path, lines in EXAMPLES.items():
        for line in lines:
            with subtests.test(line=line):
                assert len(line) <= 66, "it stands on one line of the help"
                assert typed(line) == path


def typed(line: str) -> str:
    """The command that is run by this line."""
    command: Any = COMMANDS
    context = command.make_context("afterglow", shlex.split(line), obj=Call())
    names: list[str] = []
    while isinstance(command, TyperGroup):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        names.append(name or "")
        context = command.make_context(name, rest, parent=context)
    return " ".join(names)


def test_ids_in_examples_and_in_the_documentation_look_like_real_ones() -> None:
    real = re.compile(rf"[{_ALPHABET}]{{16}}")
    assert real.fullmatch(new_id(FixedClock(NOON)))
    by_id = ("facts show", "facts edit", "facts approve", "facts reject", "facts forget", "forget fact", "token revoke")
    named = [line.removeprefix(path).split()[0] for path in by_id for line in EXAMPLES[path]]
    for page in (ROOT / "README.md", ROOT / "llms.txt", *(ROOT / "docs").glob("*.md")):
        named += re.findall(r"facts (?:show|edit|approve|reject|forget) ([0-9a-z]\w+)", page.read_text())
        named += re.findall(r'^ +"id": "([^"]+)"', page.read_text(), re.MULTILINE)
    assert len(named) > len(by_id) and all(map(real.fullmatch, named)), named


def test_examples_that_only_look_work_as_they_stand(run: Run, filled: Path, subtests: pytest.Subtests) -> None:
    for path in LOOKING:
        for line in EXAMPLES[path]:
            if "planning" not in line:
                with subtests.test(line=line):
                    run(*shlex.split(line.replace("kate/telegram/ana", KATE.owner)))
