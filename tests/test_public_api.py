"""What people may rely on: the public names, the tree of errors, and that importing does nothing else."""

from __future__ import annotations

import inspect
import subprocess
import sys

import afterglow
from afterglow import errors


def test_the_public_names_are_these() -> None:
    assert sorted(afterglow.__all__, key=str.lower) == [
        "AfterglowError", "BadInput", "BadSettings", "Binding", "Block", "ClaimLost", "Clock", "Completion",
        "Context", "Digest", "EVERYONE", "Exchange", "Exchanged", "FixedClock", "Found", "GoalEvent", "Handled", "Hit",
        "Inbound", "Listing", "Memory", "Message",
        "MissingPackage", "Model", "ModelBadOutput", "ModelBusy", "ModelError", "ModelStopped", "ModelTooLong",
        "NotAllowed", "NotFound", "open", "Owner", "Part", "Portion", "Reply", "Report", "Request", "Session", "Settings",
        "Source", "SourceError", "Span", "StoreError", "StoreFull", "StoreUnavailable", "StoreUnusable",
        "Summarization", "Summary", "SystemClock", "try_compose_away_digest", "Turn", "Usage", "Window",
    ]  # fmt: skip
    assert all(hasattr(afterglow, name) for name in afterglow.__all__)


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in inspect.cleandoc(errors.__doc__ or "").splitlines()[1:]:
        marks = len(line) - len(line.lstrip(" │├└─"))
        name = line[marks:].split(" ")[0]
        if name:
            path = [*path[: marks // 4], name]
            drawn[name] = path[-2] if len(path) > 1 else "Exception"
    real = {
        name: kind.__base__.__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, Exception)
    }
    assert drawn == real


def test_everything_public_says_what_it_is() -> None:
    for name in afterglow.__all__:
        thing = getattr(afterglow, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
    for name, method in inspect.getmembers(afterglow.Memory, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.getdoc(method), name


def test_importing_loads_no_driver_no_server_and_no_model() -> None:
    script = (
        "import sys, afterglow; "
        "print([m for m in ('psycopg','fastapi','uvicorn','typer','rich','yaml','langchain','mcp') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_the_way_to_install_it() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "try: import afterglow.store.postgres\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("MissingPackage PostgreSQL needs the package psycopg; install it with: pip install")
