"""Real processes that start at once: one process imports the program, and forks a child for each that a test asks for.

A child has streams, signals, an environment and a working folder of its own, and ends as every interpreter does. Two things
it does not show: what importing takes, and what an interpreter reads of its environment at its start; PYTHONIOENCODING is
heeded all the same. A test of these starts `PROGRAM` itself.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("afterglow")
PATIENCE_SECONDS = 120
PIPE = subprocess.PIPE
_IMPORTED = ("afterglow.cli", "afterglow.cli.screen", "afterglow.memory", "afterglow.store.sqlite", "rich.progress")
_COMMAND_LINE = "from afterglow.cli import main; main()"


def without_coverage() -> dict[str, str]:
    """The environment for a process whose imports are tested: coverage, where it is on, would import modules of its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


class Process:
    """A process that runs the command line, or a `script` in its place. A stream is a file, a number or `PIPE`."""

    def __init__(
        self,
        *args: str | Path,
        script: str = _COMMAND_LINE,
        imports: Sequence[str] = (),
        stdin: Any = None,
        stdout: Any = PIPE,
        stderr: Any = PIPE,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        terminal: bool = False,
    ) -> None:
        """The `imports` are done before the fork, once for all that ask for them; `terminal` says that `stdin` is one."""
        order = {
            "argv": ["afterglow", *map(str, args)],
            "script": script,
            "imports": list(imports),
            "environ": dict(os.environ) if env is None else env,
            "folder": str(cwd or Path.cwd()),
            "terminal": terminal,
        }
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self.returncode: int | None = None
        theirs, passed = [], []
        for name, given, mode in (("stdin", stdin, "w"), ("stdout", stdout, "r"), ("stderr", stderr, "r")):
            end = _number(given)
            if end is None:
                ours, end = reversed(os.pipe()) if mode == "w" else os.pipe()
                setattr(self, name, os.fdopen(ours, mode, encoding="utf-8"))
                theirs.append(end)
            passed.append(end)
        self._status, status = os.pipe()
        theirs.append(status)
        socket.send_fds(_nursery(), [json.dumps(order).encode() + b"\n"], [*passed, status])
        for end in theirs:
            os.close(end)
        self.pid = int(self._line())

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float = PATIENCE_SECONDS) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("afterglow", timeout)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, timeout: float = PATIENCE_SECONDS) -> tuple[str, str]:
        """What is left of its stdout and its stderr, neither of which is longer than a pipe holds."""
        self.wait(timeout)
        told = tuple(stream.read() if stream else "" for stream in (self.stdout, self.stderr))
        self.close()
        return told[0], told[1]

    def close(self) -> None:
        """End it if it runs, and close our ends of its streams."""
        self.kill()
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream and not stream.closed:
                stream.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self.returncode is None and hasattr(self, "_status"):
            os.close(self._status)

    def _end(self) -> None:
        self.returncode = int(self._line())
        os.close(self._status)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            more = os.read(self._status, 1)
            assert more, "the process was not started; its traceback is on stderr"
            line += more
        return line


def _number(given: Any) -> int | None:
    """The file number of a stream; None asks for a pipe."""
    global _nothing
    if given == PIPE:
        return None
    if given in (None, subprocess.DEVNULL):
        _nothing = os.open(os.devnull, os.O_RDWR) if _nothing is None else _nothing
        return _nothing
    return given if isinstance(given, int) else given.fileno()


_nothing: int | None = None
_connection: socket.socket | None = None


def _nursery() -> socket.socket:
    """The connection to the process that forks; it ends when this one does."""
    global _connection
    if _connection is None:
        _connection, other = socket.socketpair()
        environ = {name: value for name, value in os.environ.items() if not name.startswith("AFTERGLOW_")}
        command = [sys.executable, "-m", "tests.kit.processes", str(other.fileno())]
        nursery = subprocess.Popen(
            command, cwd=ROOT, env=environ, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
        )
        other.close()
        atexit.register(_end_of, _connection, nursery)
    return _connection


def _end_of(connection: socket.socket, nursery: subprocess.Popen[bytes]) -> None:
    connection.close()
    nursery.wait()


# --- the process that forks


def _serve(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork for each order; in the child, give it and its streams."""
    while True:
        order, passed = _received(connection)
        for name in order["imports"]:
            importlib.import_module(name)
        gc.freeze()  # or each child would look through all that is imported when it ends, for up to a second
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing is left of those that wait
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection.close()
            *streams, status = passed
            if not (pid := os.fork()):
                os.close(status)
                return order, streams
            _wait(pid, streams, status)
        for number in passed:
            os.close(number)


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    text, passed = b"", list[int]()
    while not text.endswith(b"\n"):
        more, numbers, _, _ = socket.recv_fds(connection, 1 << 16, 4)
        if not more:
            os._exit(0)
        text, passed = text + more, [*passed, *numbers]
    return json.loads(text), passed


def _wait(pid: int, streams: list[int], status: int) -> NoReturn:
    """Tell the number of a child, and how it ends."""
    for number in streams:
        os.close(number)
    os.write(status, f"{pid}\n".encode())
    _, ended = os.waitpid(pid, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Be the process that was ordered."""
    if order["terminal"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in set(streams):
        os.close(stream)
    if order["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()
    os.chdir(order["folder"])
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        buffering = 1 if number == 2 or os.isatty(number) else -1
        mode, errors = "w" if number else "r", "backslashreplace" if number == 2 else "strict"
        stream = open(number, mode, buffering, encoding, errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = order["argv"]


if __name__ == "__main__":
    for each in _IMPORTED:
        importlib.import_module(each)
    # The child leaves the loop with its order, so that it ends as every interpreter does.
    found, given = _serve(socket.socket(fileno=int(sys.argv[1])))
    _become(found, given)
    exec(compile(found["script"], "<script>", "exec"), {"__name__": "__main__"})
