"""A process that imports everything once and then forks children to do a task, so that killing them is cheap.

Run as a program it is the nursery itself: it reads one order for each line and answers with one line. `Nursery` is how
a test talks to it. The children of one order start their task at the same moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.transaction_watch import no_call_inside_a_transaction

ROOT = Path(__file__).parents[2]
HANGING_SECONDS = 100
OFFENCE = "offence"
"""What a child says when the holder of a transaction calls out (promise P4): a killed child has said it too."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """How a child ended, and what it had to say by then."""

    status: int
    lines: list[Any]

    @property
    def was_killed(self) -> bool:
        return self.status == -signal.SIGKILL


class Nursery:
    """The nursery as a test sees it."""

    def __init__(self) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("AFTERGLOW_")}
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def run(self, task: str, *, children: int = 1, **order: Any) -> list[Child]:
        """Let children do a task of tasks.py, or of the `module` of this folder that is named.

        `failpoints` are armed in them. With `kill_after` they are killed so many seconds after they said that they are
        ready, or with `early` after they were started. With `kill_every` one of them, by chance, is killed each time so
        many seconds are over, and another takes its place, `kills` times; then all are.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"task": task, "children": children, **order}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the nursery died: {self.errors()}"
        children = [Child(**child) for child in json.loads(answer)]
        offences = [
            line[OFFENCE] for child in children for line in child.lines if isinstance(line, dict) and OFFENCE in line
        ]
        assert not offences, offences
        return children

    def one(self, task: str, **order: Any) -> Child:
        (child,) = self.run(task, **order)
        return child

    def well(self, task: str, *, children: int = 1, **order: Any) -> list[Any]:
        """The same, where every child must come to a good end: all that they said."""
        ended = self.run(task, children=children, **order)
        assert [child.status for child in ended] == [0] * children, self.errors()
        return [line for child in ended for line in child.lines]

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-4000:]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


@dataclass(frozen=True)
class Voice:
    """How a child speaks: each line is in a file before the call returns, so it outlives the child."""

    file: int
    ready_pipe: int

    def say(self, line: Any) -> None:
        os.write(self.file, (json.dumps(line) + "\n").encode())

    def ready(self) -> None:
        os.write(self.ready_pipe, b".")


def _serve() -> None:
    for module in ("tasks", "quiet_tasks"):
        importlib.import_module(f"tests.faults.{module}")
    for line in sys.stdin:
        order = json.loads(line)
        tasks = importlib.import_module(f"tests.faults.{order.get('module', 'tasks')}")
        print(json.dumps(_run(order, getattr(tasks, order["task"]))), flush=True)


def _run(order: dict[str, Any], task: Any) -> list[dict[str, Any]]:
    ready, starting = os.pipe(), os.pipe()
    files = [tempfile.TemporaryFile() for _ in range(order["children"])]  # noqa: SIM115
    pids = [_fork(order, task, number, file.fileno(), ready, starting) for number, file in enumerate(files)]
    os.close(starting[1])
    if order.get("kill_every") is not None:
        _kill_by_chance(order, task, pids, files, ready, starting[0])
    os.close(starting[0])
    os.close(ready[1])
    if order.get("kill_after") is not None:
        if not order.get("early"):
            select.select([ready[0]], [], [], HANGING_SECONDS)
        time.sleep(order["kill_after"])
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    os.close(ready[0])
    return [{"status": status, "lines": list(_lines(file))} for status, file in zip(statuses, files, strict=True)]


def _kill_by_chance(
    order: dict[str, Any], task: Any, pids: list[int], files: list[Any], ready: Any, started: int
) -> None:
    """Kill one at a time and let another take its place; in the end kill all that are left."""
    chance = random.Random(order.get("seed", 0))
    living = list(pids)
    for _ in range(order["kills"]):
        time.sleep(order["kill_every"])
        os.kill(living.pop(chance.randrange(len(living))), signal.SIGKILL)
        files.append(tempfile.TemporaryFile())  # noqa: SIM115
        # The other end of `started` is closed, so this one does not wait for anybody.
        living.append(_fork(order, task, len(files) - 1, files[-1].fileno(), ready, (started, None)))
        pids.append(living[-1])
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def _lines(file: Any) -> Iterator[Any]:
    with file:
        file.seek(0)
        for line in file:
            with contextlib.suppress(json.JSONDecodeError):  # the last one may be cut short
                yield json.loads(line)


def _fork(order: dict[str, Any], task: Any, number: int, file: int, ready: Any, starting: Any) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        from afterglow import failpoints

        signal.alarm(HANGING_SECONDS)
        failpoints.arm_from(order.get("failpoints", ""))
        if starting[1] is not None:
            os.close(starting[1])
        os.read(starting[0], 1)  # until the last of them is there
        voice = Voice(file, ready[1])
        with no_call_inside_a_transaction(lambda offence: voice.say({OFFENCE: offence})):
            asyncio.run(task(voice, number, order))
        os._exit(0)
    except BaseException:  # noqa: BLE001 - whatever it is, the nursery's stderr shows it
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    _serve()
