"""The lines to paste that docs/bots.md shows."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module

import pytest

from tests.adapters import discord_bot  # noqa: F401 - it loads discord.py with its warning kept quiet
from tests.generated import ROOT

SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "bots.md").read_text(), re.DOTALL)


@pytest.mark.spec("AWAY-11")
@pytest.mark.parametrize("code", SNIPPETS, ids=lambda code: code.splitlines()[1])
def test_the_lines_to_paste_fit_the_adapters(code: str) -> None:
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    ours = [
        (call, call.func)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("attach", "deliverer")
    ]
    assert ours
    exec(compile("\n".join(line for line in code.splitlines() if "import" in line), "bots.md", "exec"), {})
    for call, named in ours:
        assert isinstance(named.value, ast.Name)
        function = getattr(import_module(f"afterglow.adapters.{named.value.id}"), named.attr)
        inspect.signature(function).bind(*call.args, **{str(each.arg): each.value for each in call.keywords})
