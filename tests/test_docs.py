"""The documentation says what is."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import afterglow
from afterglow.cli import app
from afterglow.summaries import Filled
from afterglow.work import KINDS
from tests.generated import ROOT, pages, proofs, requirements
from tests.kit.examples import RunExample, here_and_alone
from tests.kit.loops import for_each
from tests.kit.records import KATE

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


@pytest.mark.spec("DOOR-1", "CTX-11")
async def test_the_quick_starts_messages_hold_the_calls_and_results_of_tools(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "quickstart-agents.md").read_text()
    (function,) = re.findall(r"^def to_openai.*?^    return said$", page, re.DOTALL | re.MULTILINE)
    printed: dict[str, Any] = {"afterglow": afterglow, "json": json, "Any": Any}
    exec(function, printed)
    answer = runpy.run_path(str(ROOT / "examples" / "tools.py"))["answer"]
    async with afterglow.open(tmp_path) as memory:
        done = await memory.exchange(KATE, "And in Oslo?", answer)
        context = await memory.context(await memory.session(done.message.session, owner=KATE.owner))
    asked, call, result, said = map(printed["to_openai"], context.messages)
    assert (asked["content"], said["content"]) == ("And in Oslo?", "In Oslo: rain, 4 °C.")
    assert call["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert result == {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "rain, 4 °C"}


@pytest.mark.spec("DOOR-1")
async def test_the_model_that_the_library_page_shows_summarises_and_finds_facts(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```python\n(class Mine:.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)

    async def ask(instructions: str, material: str) -> str:
        _, asks_for_json, schema = instructions.partition("JSON of this schema alone: ")
        if not asks_for_json:
            return "They spoke of seats."
        seat: dict[str, Any] = {"turn": 1, "speaker": "user", "quote": "I prefer the window seat"}
        seat |= {"type": "preference", "content": "The user prefers the window seat.", "confidence": "high"}
        filled = Filled(title="About seats", summary="They spoke of seats.", category="planning")
        return (
            json.dumps({"facts": [seat]}) if "facts" in json.loads(schema)["properties"] else filled.model_dump_json()
        )

    printed: dict[str, Any] = {"afterglow": afterglow, "json": json, "ask": ask}
    exec(shown, printed)
    async with afterglow.open(tmp_path, model=printed["Mine"]()) as memory:
        await memory.exchange(KATE, "I prefer the window seat.", lambda context: "Noted.")
        session = await memory.open_session(KATE)
        summary = await memory.summarize(session)
        outcome = await memory.facts.extract(session)
    assert summary is not None and (summary.title, summary.model) == ("About seats", "mine")
    assert outcome.stored == 1


def test_every_kind_of_work_is_explained() -> None:
    page = (ROOT / "docs" / "work.md").read_text().partition("| kind |")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(KINDS)


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


def test_extras_are_installed_beside_what_make_run_serves(tmp_path: Path) -> None:
    command = ["make", "--dry-run", f"VENV={tmp_path}", "run", "EXTRAS=telegram,slack"]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    installed = [number for number, line in enumerate(printed) if "--editable '.[telegram,slack]'" in line]
    served = [number for number, line in enumerate(printed) if "afterglow serve" in line]
    assert installed and served and installed < served
    copies = [
        page.name for page in PAGES if re.search(r"\.venv/bin/(python -m )?pip install (?!-e)[^`]*\.", page.read_text())
    ]
    assert not copies, "an install that is no editable one replaces that of `make run`"


@for_each("page", [ROOT / "README.md", ROOT / "docs" / "quickstart-assistant.md"])
def test_a_newcomer_is_told_to_start_one_writer(page: Path) -> None:
    writer = r"^ {4}\S*afterglow (?:chat|init|facts (?:extract|add)|tasks add)\b.*"
    for part in re.split(r"^## |Ctrl-C stops the server", page.read_text(), flags=re.MULTILINE):
        _, *beside = re.split(r"^ {4}(?:make run|\S*afterglow serve)\b", part, maxsplit=1, flags=re.MULTILINE)
        assert not re.findall(writer, "".join(beside), re.MULTILINE)


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
