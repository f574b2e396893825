"""A command as a source: told what it needs, killed with all it started."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from afterglow.errors import SourceError
from afterglow.sources.command import Command
from tests.sources.windows import MORNING, ask_about, wanted

ENVIRON = {"PATH": os.environ["PATH"]}


def python(code: str, *arguments: str) -> Command:
    return Command([sys.executable, "-c", code, *arguments], environ=ENVIRON)


@pytest.mark.spec("SRC-1", "SRC-2", "SRC-6")
async def test_it_is_told_the_window_and_the_prompt_twice() -> None:
    code = (
        "import json, os, sys; told = {k: v for k, v in os.environ.items() if k.startswith('AFTERGLOW_')}; "
        "print(json.dumps([json.load(sys.stdin), told, sys.argv[1]]))"
    )
    said = await python(code, "$(id); `id` ;").report(MORNING, "Mind “this”\n& that", tokens_max=5)
    stdin, environ, argument = json.loads(said)
    assert stdin["prompt"] == environ["AFTERGLOW_PROMPT"] == "Mind “this”\n& that"
    assert stdin["from"] == environ["AFTERGLOW_FROM"] == "2026-03-02T09:15:00-08:00"
    assert stdin["to"] == environ["AFTERGLOW_TO"] == environ["AFTERGLOW_NOW"] == "2026-03-02T13:15:00-08:00"
    assert stdin["request"].endswith("Mind “this”\n& that") and stdin["tokens_max"] == 5
    assert argument == "$(id); `id` ;"  # no shell


@pytest.mark.spec("SRC-4")
async def test_a_failure_is_told_by_the_first_line_of_stderr() -> None:
    with pytest.raises(SourceError, match=r"ended with status 3: no such account$"):
        await python("import sys; print('no such account\\nmore', file=sys.stderr); sys.exit(3)").report(
            MORNING, "", tokens_max=5
        )
    with pytest.raises(SourceError, match=r"cannot be run: .*No such file"):
        await Command(["/no/such/program"], environ={}).report(MORNING, "", tokens_max=5)


@pytest.mark.spec("SRC-3")
async def test_one_that_reads_nothing_of_a_long_prompt_is_fine() -> None:
    assert await python("print('Done.')").report(MORNING, "\0" + "x" * 1_000_000, tokens_max=5) == "Done.\n"


@pytest.mark.spec("SRC-4")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_one_that_prints_without_end_is_stopped(stream: str) -> None:
    with pytest.raises(SourceError, match="more than 1,048,576 bytes"):
        await python(f"import sys\nwhile True: sys.{stream}.write('x' * 65536)").report(MORNING, "", tokens_max=5)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.spec("SRC-4")
async def test_one_that_is_late_is_killed_with_all_it_started(tmp_path: Path) -> None:
    code = (
        "import os, sys, time; child = os.fork()\n"
        "open(sys.argv[1], 'a').write(f'{os.getpid()}\\n')\n"
        "while True: time.sleep(1)"
    )
    started: list[int] = []
    for seconds in (1.5, 6, 24):  # the interpreter must have started by then
        pids = tmp_path / f"pids-{seconds}"
        (answer,) = await ask_about(MORNING, wanted(python(code, str(pids)), deadline_seconds=seconds))
        assert answer.error == f"it did not answer within {seconds:g} seconds"
        started = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
        if len(started) == 2:
            break
    assert len(started) == 2
    while any(map(is_alive, started)):  # noqa: ASYNC110 - processes that end tell nobody
        await asyncio.sleep(0.01)


@pytest.mark.spec("SRC-4")
async def test_what_it_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "if not os.fork():\n"
        "    [os.close(fd) for fd in (0, 1, 2)]\n"
        "    open(sys.argv[1], 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        "while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read(): time.sleep(0.01)\n"
        "print('Done.')"
    )
    assert await python(code, str(tmp_path / "pid")).report(MORNING, "", tokens_max=5) == "Done.\n"
    while is_alive(int((tmp_path / "pid").read_text())):  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.01)
