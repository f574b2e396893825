"""The generated pages of docs/: what makes each, and `python -m tests.generated` to write them all anew."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from pathlib import Path

from afterglow import settings
from afterglow.cli import reference

ROOT = Path(__file__).parent.parent
_REQUIREMENT = re.compile(r"^(P\d+|(?:LOG|CTX|SRC|IDLE|SUM|FACT|AWAY|AGENT|DOOR|SAFE)-\d+) (.*)$", re.MULTILINE)
_TITLE_CHARS_MAX = 90


def requirements() -> dict[str, str]:
    """The ids of docs/spec.md, each with its first words."""
    found = _REQUIREMENT.findall((ROOT / "docs" / "spec.md").read_text())
    return {id: _first_words(text) for id, text in found}


@functools.cache
def proofs() -> dict[str, list[str]]:
    """For each requirement, the tests that name it, as file::test."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(file.read_text())
        everywhere = _marks(_page_marks(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for id in _marks(node.decorator_list) or everywhere:
                    found.setdefault(id, []).append(f"{file.relative_to(ROOT / 'tests')}::{node.name}")
    return found


def coverage_page() -> str:
    """docs/spec-coverage.md."""
    tests = proofs()
    known = requirements()
    proved = sum(1 for id in known if id in tests)
    lines = [
        "# Which requirements are proved by tests",
        "",
        "Generated from the `spec` marks of the tests by `make docs`. A requirement without a test is not yet built, or not",
        f"yet proved. {proved} of {len(known)} have one.",
        "",
        "| requirement | tests | |",
        "|---|---|---|",
    ]
    for id, title in known.items():
        lines.append(f"| {id} | {len(tests.get(id, ())) or '—'} | {title} |")
    return "\n".join(lines) + "\n"


def _first_words(text: str) -> str:
    text = text.replace("|", "/")
    return text if len(text) <= _TITLE_CHARS_MAX else text[:_TITLE_CHARS_MAX].rsplit(" ", 1)[0] + " …"


def _page_marks(tree: ast.Module) -> list[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            return node.value.elts if isinstance(node.value, ast.List) else [node.value]
    return []


def _marks(decorators: list[ast.expr]) -> list[str]:
    return [
        argument.value
        for mark in decorators
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.spec"
        for argument in mark.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def pages() -> dict[Path, Callable[[], str]]:
    """Each generated page, and what makes it."""
    return {ROOT / "docs" / "spec-coverage.md": coverage_page}


def main() -> None:
    for path, make in pages().items():
        path.write_text(make())
        print("wrote", path.relative_to(ROOT))
    settings.regenerate(ROOT)
    reference.regenerate(ROOT)


if __name__ == "__main__":
    main()
