"""What is said and shipped for operators holds: the commands exist, the variables are all there, the files can be read."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main
import yaml

from afterglow import settings
from afterglow.cli import app
from afterglow.settings.checking import LEAVES, VARIABLES
from tests.generated import ROOT
from tests.kit.loops import for_each

DEPLOY = ROOT / "deploy"
OPERATING, SUMMARIES = ROOT / "docs" / "operating.md", ROOT / "docs" / "summaries.md"
BESIDE_SETTINGS = {"AFTERGLOW_SETTINGS", "AFTERGLOW_FAILPOINTS", "AFTERGLOW_TOKEN"}
TOLD = [OPERATING, SUMMARIES, *sorted(path for path in DEPLOY.iterdir() if path.is_file())]
_VARIABLE = re.compile(r"\bAFTERGLOW_[A-Z_]+\b")


def variables(path: Path) -> set[str]:
    return set(_VARIABLE.findall(path.read_text()))


def commands(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Every command of ours on a page: its words, and the options that stand behind them on the line."""
    lines = [line.partition("#")[0] if line.startswith("    ") else line for line in path.read_text().splitlines()]
    spans = [line for line in lines if line.startswith("    ")]
    spans += [span for line in lines if not line.startswith("    ") for span in re.findall(r"`([^`]+)`", line)]
    for span in spans:
        if found := re.search(r"(?:^|[ /])afterglow ([a-z]+.*)", span):
            words = found[1].split()
            yield (
                [word for word in words if re.fullmatch(r"[a-z]+", word)],
                [word for word in words if word.startswith("--")],
            )


@functools.cache
def tree() -> click.Command:
    return typer.main.get_command(app)


def resolved(words: list[str]) -> click.Command:
    """The command that these words name; those behind it are its arguments."""
    found: Any = tree()
    for word in words:
        if not hasattr(found, "commands"):
            break
        assert word in found.commands, f"there is no command {word!r} in {words}"
        found = found.commands[word]
    return found


@pytest.mark.spec("SUM-1")
def test_the_inventory_of_environment_variables_is_whole() -> None:
    assert variables(OPERATING) == VARIABLES.keys() | BESIDE_SETTINGS


@for_each("path", TOLD)
def test_no_variable_is_named_that_does_not_exist(path: Path) -> None:
    assert variables(path) <= VARIABLES.keys() | BESIDE_SETTINGS


@pytest.mark.parametrize("page", [OPERATING, SUMMARIES], ids=lambda path: path.name)
def test_every_setting_that_a_page_names_exists(page: Path) -> None:
    names = set(re.findall(r"`((?:work|store|server|boot|summaries|compaction)\.[a-z_]+)`", page.read_text()))
    assert names and names - {"summaries.md"} <= LEAVES.keys()


@pytest.mark.parametrize("page", [OPERATING, SUMMARIES], ids=lambda path: path.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    found = list(commands(page))
    assert len(found) > 5
    for words, options in found:
        command = resolved(words)
        known = {option for each in command.params for option in each.opts}
        assert set(options) <= known | {"--json"}, f"{words} has no {set(options) - known}"


@pytest.mark.spec("SUM-1")
def test_the_composed_servers_are_two_candidates_on_one_database() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = composed["services"]
    servers = [each for name, each in services.items() if name.startswith("memory-")]
    assert len(servers) == 2 and len({each["hostname"] for each in servers}) == 2
    assert len({each["ports"][0] for each in servers}) == 2
    for each in servers:
        assert each["environment"]["AFTERGLOW_PRIMARY"] == "auto"
        assert "@database/" in each["environment"]["AFTERGLOW_DATABASE"]
        assert each["depends_on"] == {"database": {"condition": "service_healthy"}}
        build = (DEPLOY / each["build"]["context"]).resolve()
        assert (build / each["build"]["dockerfile"]).exists()
    assert set(composed["volumes"]) == {mount.partition(":")[0] for mount in services["database"]["volumes"]}


def test_the_composed_servers_settings_can_be_loaded(tmp_path: Path) -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    given: dict[str, str] = composed["services"]["memory-1"]["environment"]
    password = {"AFTERGLOW_DATABASE": re.sub(r"\$\{[^}]*\}", "secret", given["AFTERGLOW_DATABASE"])}
    environ = {**given, **password, "AFTERGLOW_DATA_DIR": str(tmp_path)}
    chosen = settings.load(environ=environ).settings
    assert chosen.server.host == "0.0.0.0" and chosen.server.log_to == "stderr"


def test_the_example_of_an_environment_can_be_loaded(tmp_path: Path) -> None:
    lines = (DEPLOY / "afterglow.env.example").read_text().splitlines()
    given = dict(line.lstrip("#").split("=", 1) for line in lines if re.match(r"#?[A-Z_]+=", line))
    environ = {**given, "AFTERGLOW_DATA_DIR": str(tmp_path)}
    assert settings.load(environ=environ).settings.primary == "auto"


def test_what_the_image_is_made_of_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert names and all((ROOT / name).exists() and f"!{name}" in kept for name in names)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "afterglow.service").read_text()
    assert "/opt/afterglow/bin/afterglow serve" in unit
    here = tmp_path / "afterglow.service"
    here.write_text(unit.replace("/opt/afterglow/bin/afterglow", str(Path(sys.executable).parent / "afterglow")))
    ran = subprocess.run(["systemd-analyze", "verify", str(here)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
