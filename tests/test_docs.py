"""The documentation says what is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from afterglow.cli import app
from tests.generated import ROOT, pages, proofs, requirements
from tests.kit.examples import RunExample, here_and_alone
from tests.kit.loops import for_each

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "llms.txt", *sorted((ROOT / "docs").glob("*.md"))]
QUICK_STARTS = sorted((ROOT / "docs").glob("quickstart-*.md"))


@pytest.mark.parametrize(("path", "make"), pages().items(), ids=lambda value: getattr(value, "name", ""))
def test_generated_pages_are_up_to_date(path: Path, make: Callable[[], str]) -> None:
    assert path.read_text() == make(), f"{path.name} is out of date; run: make docs"


def test_tests_name_only_requirements_that_exist() -> None:
    unknown = proofs().keys() - requirements().keys()
    assert not unknown, f"no such requirements: {unknown}"


@for_each("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_llms_txt_has_its_form_and_lists_every_page() -> None:
    text = (ROOT / "llms.txt").read_text()
    assert re.match(r"# \S.*\n\n> \S", text), "a title, then a summary as a quotation"
    lists = text.partition("\n## ")[2].splitlines()[1:]
    strays = [line for line in lists if line and not re.match(r"## \S|- \[[^]]+\]\([^)]+\): \S", line)]
    assert not strays, f"neither a heading nor a link with what it is: {strays}"
    missing = {page.name for page in (ROOT / "docs").glob("*.md")} - set(re.findall(r"\(docs/([^)]+)\)", text))
    assert not missing, f"llms.txt does not list {missing}"


@pytest.mark.spec("DOOR-1")
def test_the_readmes_ten_lines_work_as_they_stand(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(code.strip().splitlines()) <= 12
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "We decided to move the design review to 3 March.\n"), ran.stderr
    assert (tmp_path / "notes" / "afterglow.db").exists()


@here_and_alone
def test_the_quick_start_for_agents_runs_as_it_stands(
    run: RunExample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "quickstart-agents.md").read_text(), re.DOTALL)
    (code,) = (block for block in blocks if "asyncio.run" in block)
    (tmp_path / "program.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    said = "I was shown 1 message(s).\npreference · I prefer the window seat.\nI prefer the window seat\n"
    assert run(tmp_path / "program.py") == said


@pytest.mark.spec("CTX-6")
@here_and_alone
def test_the_example_of_a_small_context_runs_and_stays_small(run: RunExample, tmp_path: Path) -> None:
    printed = run(ROOT / "examples" / "small_context.py", tmp_path)
    assert "200 turns" in printed and "blocks of level 1" in printed
    tokens = int(re.findall(r"(\d+) tokens in the context", printed)[0])
    assert tokens < 2_500


@pytest.mark.spec("CTX-11")
@here_and_alone
def test_the_example_with_tools_runs(run: RunExample, tmp_path: Path) -> None:
    printed = run(ROOT / "examples" / "tools.py", tmp_path)
    assert "→ In Lagos: sun, 31 °C." in printed and "tool_result" in printed


def test_the_readmes_commands_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text()))
    assert used <= targets
    commands = set(re.findall(r"bin/afterglow(?: --data-dir \S+)? ([a-z]+)", (ROOT / "README.md").read_text()))
    assert commands and not [each for each in commands if CliRunner().invoke(app, [each, "--help"]).exit_code]


@pytest.mark.parametrize("page", QUICK_STARTS, ids=lambda page: page.name)
def test_quick_starts_name_only_commands_and_examples_that_exist(page: Path) -> None:
    known = set(re.findall(r"^## `afterglow ([a-z]+)", (ROOT / "docs" / "cli.md").read_text(), re.MULTILINE))
    commands = re.findall(r"(?:^ {4}|\$\()afterglow(?: --data-dir \S+)? ([a-z]+)", page.read_text(), re.MULTILINE)
    assert set(commands) <= known, f"{page.name} speaks of {set(commands) - known}"
    assert all((ROOT / path).exists() for path in re.findall(r"\bexamples/\w+\.py", page.read_text()))


@for_each("page", PAGES)
def test_pages_name_only_modules_that_exist(page: Path) -> None:
    source = ROOT / "src" / "afterglow"
    if page.name in ("spec.md",):
        return
    for name in re.findall(r"`((?:store|search|web|cli)/[a-z_]+\.py|[a-z_]+\.py)`", page.read_text()):
        found = list(source.rglob(name)) or list((ROOT / "tests").rglob(name)) or list(ROOT.glob(f"*/{name}"))
        assert found, f"{page.name} speaks of {name}"
