"""Which tests reach which removal: a plugin that records it, and the file it is kept in.

`pytest -p tests.mutants.reach --reach-folder=FOLDER` measures the files that removals change, with the test as coverage's
context, in the test processes and in those they start. `gathered` turns that into the tests of each removal.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import coverage
import pytest

from tests.mutants.removals import REMOVALS, Edit, Removal

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "afterglow"
FILE = Path(__file__).with_name("reach.json")
FILES = sorted({edit.file for removal in REMOVALS for edit in removal.edits})
_SETTINGS = """[run]
parallel = True
patch = subprocess, _exit
data_file = {folder}/data
include =
    {files}
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-imported, module-not-measured
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reach-folder", help="where the data of coverage go")


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(config.option.reach_folder)
    settings = folder / "settings.ini"
    if not hasattr(config, "workerinput"):
        files = "\n    ".join(str(SOURCE / file) for file in FILES)
        settings.write_text(_SETTINGS.format(folder=folder, files=files))
        if config.getoption("numprocesses", None):
            return
    config.pluginmanager.register(_Recorder(coverage.Coverage(config_file=str(settings), context="")))


class _Recorder:
    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        measured.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._measured.switch_context(item.nodeid)
        return (yield)

    def pytest_sessionfinish(self) -> None:
        self._measured.stop()
        self._measured.save()


def gathered(folder: Path) -> dict[str, list[str]]:
    """The test functions that reach each removal, by its name."""
    measured = coverage.Coverage(config_file=str(folder / "settings.ini"))
    measured.combine(keep=True)
    data = measured.get_data()
    return {removal.name: sorted(_reaching(data, removal)) for removal in REMOVALS}


def _reaching(data: coverage.CoverageData, removal: Removal) -> set[str]:
    found: set[str] = set()
    for edit in removal.edits:
        by_line = data.contexts_by_lineno(str(SOURCE / edit.file))
        for lines in _places(edit):
            reached = {_function(each) for line in lines for each in by_line.get(line, ()) if "::" in each}
            if reached:
                found |= reached
                break
    return found


def _places(edit: Edit) -> Iterator[range]:
    """The changed lines; the function they stand in, since only a statement's first line counts; the file, for constants."""
    text = (SOURCE / edit.file).read_text()
    start = text.index(edit.old)
    first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, start + len(edit.old)) + 1
    yield range(first, last + 1)
    functions = [
        range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    around = [lines for lines in functions if first in lines]
    if around:
        yield min(around, key=len)
    yield range(1, text.count("\n") + 1)


def _function(context: str) -> str:
    """The test function of a context: `tests/a.py::test_b[c]`, or with ` (call)` behind it from the environment."""
    return context.rpartition("|")[2].partition("[")[0].partition(" (")[0]


def keep(reached: dict[str, list[str]]) -> None:
    """Tests are listed once and named by their numbers, a line for each removal."""
    tests = sorted({test for each in reached.values() for test in each})
    number = {test: place for place, test in enumerate(tests)}
    lines = [f"  {json.dumps(name)}: {json.dumps([number[test] for test in each])}" for name, each in reached.items()]
    listed = ",\n".join(f"  {json.dumps(test)}" for test in tests)
    FILE.write_text(f'{{"tests": [\n{listed}\n],\n"reached": {{\n' + ",\n".join(lines) + "\n}}\n")


def kept() -> dict[str, list[str]]:
    """The test functions that reach each removal. Those that reach few others come first: they are about it."""
    stored = json.loads(FILE.read_text())
    reached: dict[str, list[int]] = stored["reached"]
    breadth = Counter(place for places in reached.values() for place in places)
    ordered = {name: sorted(places, key=lambda place: (breadth[place], place)) for name, places in reached.items()}
    return {name: [stored["tests"][place] for place in places] for name, places in ordered.items()}
