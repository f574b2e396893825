"""Without its library an adapter says what to install."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.kit.loops import for_each
from tests.kit.missing import said_by, without

NEEDED = {
    "telegram": ("telegram", "telegram"),
    "aiogram": ("aiogram", "aiogram"),
    "slack": ("slack_bolt", "slack"),
    "discord": ("discord", "discord"),
    "langchain": ("langchain langchain_core langgraph", "agent"),
    "langgraph": ("langgraph langchain_core", "agent"),
}
"""Of each adapter: the packages it needs, and what to install."""
TRIED = """
import importlib, json, sys
said = {}
for adapter, (packages, _) in json.loads(sys.argv[1]).items():
    sys.modules.update(dict.fromkeys(packages.split()))
for adapter in json.loads(sys.argv[1]):
    try:
        importlib.import_module(f"afterglow.adapters.{adapter}")
    except Exception as error:
        said[adapter] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""


@for_each(
    "adapter, package, extra",
    [(adapter, package, extra) for adapter, (packages, extra) in NEEDED.items() for package in packages.split()],
)
def test_an_adapter_without_one_of_its_packages_says_what_to_install(adapter: str, package: str, extra: str) -> None:
    with without(package):
        assert f"pip install '.[{extra}]'" in said_by(adapter)


def test_no_adapter_needs_a_library_of_another_or_before_it_can_say_so() -> None:
    """In a process that never had any of them."""
    ran = subprocess.run([sys.executable, "-c", TRIED, json.dumps(NEEDED)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    wrong = {
        adapter: said.get(adapter)
        for adapter, (_, extra) in NEEDED.items()
        if not re.match(rf"MissingPackage: .*pip install '\.\[{extra}\]'", said.get(adapter, ""), re.DOTALL)
    }
    assert not wrong
