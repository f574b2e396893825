"""The house rules that a program can hold."""

from __future__ import annotations

import ast
import re
import socket
from collections.abc import Iterator
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
    r"\b(time\.(time|time_ns|monotonic|monotonic_ns|perf_counter)\(|datetime\.(now|utcnow|today)\(|date\.today\("
    r"|random\.|secrets\.|uuid\.uuid|os\.urandom\()"
)
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports(path: Path) -> Iterator[str]:
    package = "afterglow." + ".".join(path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)} uses a relative import; write it out ({package})"
            module = node.module or ""
            if module == "afterglow":
                yield from (f"afterglow.{alias.name}" for alias in node.names)
            else:
                yield module


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_downwards(path: Path) -> None:
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    assert own in LEVEL, f"{own} has no place in the layers of test_tidy.py; give it one"
    for imported in imports(path):
        parts = imported.split(".")
        if parts[0] == "afterglow" and len(parts) > 1 and parts[1] != own and not parts[1].startswith("__"):
            assert LEVEL[parts[1]] <= LEVEL[own], f"{name_of(path)} may not import {imported}: it stands above it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_drivers_stay_in_their_own_file(path: Path) -> None:
    for imported in imports(path):
        allowed = DRIVERS.get(imported.split(".")[0])
        if allowed is not None:
            assert any(name_of(path).startswith(place) for place in allowed), f"{name_of(path)} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_time_and_chance_come_from_the_clock_alone(path: Path) -> None:
    if name_of(path) == "clock.py":
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        assert not TIME_AND_CHANCE.search(line), (
            f"{name_of(path)}:{number} reads time or chance by itself: {line.strip()}"
        )


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_opens_with_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{name_of(path)} has no docstring"


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
