"""The house rules that a program can hold."""

from __future__ import annotations

import ast
import functools
import re
import socket
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "afterglow"

LAYERS = [
    "errors clock turns failpoints acting recalled schedule awake goals",
    "settings tokens spend identifiers language",
    "model prompts",
    "checks compaction context digest excerpts facts fold guard guard_signs pairing primary summaries terms transcript "
    "work channels",
    "store",
    "search sources memory_files",
    "behind blocks contexts conversation endings extraction forgetting log_lines proof reconciling steward worker inbound "
    "proactive prose telling",
    "ending forget health intake means memory reading recollection remembering returning working",
    "transfer",
    "agent",
    "daemon mcp_server web clients adapters",
    "cli",
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
DRIVERS = {
    "sqlite3": {"store/sqlite", "failpoints.py", "cli/doctor.py"},
    "psycopg": {"store/postgres"},
    "psycopg_pool": {"store/postgres"},
    "fastapi": {"web/"},
    "starlette": {"web/"},
    "uvicorn": {"daemon.py"},
    "typer": {"cli/"},
    "rich": {"cli/"},
    "re2": {"search/patterns.py", "search/literals.py"},
    "Stemmer": {"terms.py"},
    "mcp": {"mcp_server/server.py", "sources/mcp.py", "agent/mcp_tools.py"},
    "apscheduler": {"agent/times.py"},
    "langchain": {"model/langchain.py", "search/langchain_embeddings.py", "agent/", "adapters/"},
    "numpy": {"search/signs.py", "search/minilm.py"},
    "onnx": {"search/bytewise.py"},
    "onnxruntime": {"search/minilm.py"},
    "tokenizers": {"search/minilm.py"},
    "langgraph": {"agent/", "adapters/"},
    "telegram": {"adapters/telegram.py"},
    "aiogram": {"adapters/aiogram.py"},
    "slack_bolt": {"adapters/slack.py"},
    "slack_sdk": {"adapters/slack.py"},
    "discord": {"adapters/discord.py"},
}
TIME_AND_CHANCE = re.compile(
    r"(random|secrets|uuid|numpy\.random)(\..*)?"  # chance, whatever is used of it
    r"|time(\.(?!sleep$).*)?"  # to wait is not to read the time
    r"|datetime\.(datetime\.(now|utcnow|today)|date\.today)"
    r"|os\.(urandom|getrandom)|ssl\.RAND_bytes"
)
"""What only `clock.py` may use, by its whole name."""
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imports(path: Path) -> list[str]:
    package = "afterglow." + ".".join(path.relative_to(SOURCE).parts[:-1])
    found: list[str] = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)} uses a relative import; write it out ({package})"
            module = node.module or ""
            found += [f"afterglow.{alias.name}" for alias in node.names] if module == "afterglow" else [module]
    return found


class Names(ast.NodeVisitor):
    """The imported things that a module uses, each with its line and whole name: `datetime.datetime.now` on line 12.

    A name counts together with the attributes that follow it, so `time.sleep` is not a use of `time`.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[tuple[int, str]] = []
        self._meant: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    self._meant[alias.asname or first] = alias.name if alias.asname else first
                    if alias.name != "time":  # which `time.sleep` needs
                        self.found.append((node.lineno, alias.name))
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    self._meant[alias.asname or alias.name] = whole
                    self.found.append((node.lineno, whole))
        self.visit(tree)

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node, [])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        behind = [node.attr]
        owner = node.value
        while isinstance(owner, ast.Attribute):
            behind.insert(0, owner.attr)
            owner = owner.value
        if isinstance(owner, ast.Name):
            self._use(owner, behind)
        else:
            self.visit(owner)

    def _use(self, name: ast.Name, behind: list[str]) -> None:
        if name.id in self._meant:
            self.found.append((name.lineno, ".".join([self._meant[name.id], *behind])))


def time_and_chance(tree: ast.Module) -> dict[int, str]:
    """Where a module reads time or chance by itself: by the line, what it uses there."""
    return {line: name for line, name in Names(tree).found if TIME_AND_CHANCE.fullmatch(name)}


def test_imports_point_downwards() -> None:
    wrong: list[str] = []
    for path in MODULES:
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        if own not in LEVEL:
            wrong.append(f"{name_of(path)}: {own} has no place in the layers of test_tidy.py; give it one")
            continue
        for imported in imports(path):
            parts = imported.split(".")
            if parts[0] != "afterglow" or len(parts) == 1 or parts[1] == own or parts[1].startswith("__"):
                continue
            if parts[1] not in LEVEL:
                wrong.append(f"{name_of(path)} imports {imported}, which has no place in the layers of test_tidy.py")
            elif LEVEL[parts[1]] > LEVEL[own]:
                wrong.append(f"{name_of(path)} may not import {imported}: it stands above it")
    assert not wrong, "\n".join(wrong)


def test_drivers_stay_in_their_own_file() -> None:
    wrong = [
        f"{name_of(path)} imports {imported}"
        for path in MODULES
        for imported in imports(path)
        if (allowed := DRIVERS.get(imported.split(".")[0])) is not None
        and not any(name_of(path).startswith(place) for place in allowed)
    ]
    assert not wrong, "\n".join(wrong)


def test_time_and_chance_come_from_the_clock_alone() -> None:
    wrong = [
        f"{name_of(path)}:{line} uses {name}"
        for path in MODULES
        if name_of(path) != "clock.py"
        for line, name in time_and_chance(tree_of(path)).items()
    ]
    assert not wrong, "\n".join(wrong)


def test_no_way_to_write_it_hides_that_time_or_chance_is_read() -> None:
    used = {
        "import random": "random",
        "import secrets as chance": "secrets",
        "from secrets import token_hex": "secrets.token_hex",
        "from random import Random as Dice": "random.Random",
        "import uuid": "uuid",
        "from uuid import uuid4": "uuid.uuid4",
        "from os import urandom as more": "os.urandom",
        "import os; os.urandom(8)": "os.urandom",
        "import os as system; read = system.urandom": "os.urandom",
        "import time; time.time()": "time.time",
        "import time; begin = time.monotonic_ns": "time.monotonic_ns",
        "import time as t; t.perf_counter()": "time.perf_counter",
        "import time; clock = time": "time",
        "from time import time": "time.time",
        "from time import *": "time.*",
        "from datetime import datetime; datetime.now()": "datetime.datetime.now",
        "from datetime import datetime as dt; f(default=dt.utcnow)": "datetime.datetime.utcnow",
        "import datetime; datetime.datetime.today()": "datetime.datetime.today",
        "import datetime as d; d.date.today()": "datetime.date.today",
        "from datetime import date; f(date.today().isoformat())": "datetime.date.today",
        "import numpy as np; np.random.default_rng()": "numpy.random.default_rng",
        "def f():\n    import random": "random",
    }
    assert {code: [*time_and_chance(ast.parse(code)).values()] for code in used} == {
        code: [name] for code, name in used.items()
    }
    harmless = [
        "import time; time.sleep(1)",
        "from time import sleep",
        "from datetime import time; time(9)",
        "from datetime import datetime; datetime.fromisoformat(text)",
        "clock.now(); self.clock.bits(8)",
        "import os; os.path.exists(path)",
        "random = 1; random.real",
        "from afterglow.clock import new_token",
    ]
    assert {code: time_and_chance(ast.parse(code)) for code in harmless} == {code: {} for code in harmless}


def test_every_module_opens_with_what_it_is() -> None:
    texts = {path: path.read_text() for path in MODULES}
    assert [name_of(path) for path in MODULES if texts[path].strip() and not ast.get_docstring(tree_of(path))] == []


def test_files_are_named_by_nouns_that_say_something() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "base", "core", "service", "services", "manager", "misc"}
    assert not [name_of(path) for path in MODULES if path.stem in empty]


def test_rules_are_pure() -> None:
    """The layers below the store open no file, no socket and no database."""
    for path in MODULES:
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if LEVEL.get(own) == LEVEL["context"]:
            found = set(imports(path)) & {"os", "socket", "sqlite3", "asyncio", "pathlib", "subprocess", "threading"}
            assert not found, f"{name_of(path)} imports {found}"


def test_no_test_reaches_a_provider() -> None:
    """The network is closed but for this machine, so a real model cannot be called by chance."""
    with socket.socket() as outside, pytest.raises(RuntimeError, match="this machine only"):
        outside.connect(("192.0.2.1", 443))
