"""Named places just before and after each commit, where a test can make the process die, fail or hang.

Set `AFTERGLOW_FAILPOINTS="append:before=kill"` (comma-separated; `name=action@3` acts at the third time), or call
`arm` in the process itself. With nothing armed, reaching a place costs one look at an empty dictionary.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable

from afterglow.errors import BadSettings

_HANG_SECONDS = 3600.0


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _error() -> None:
    raise RuntimeError("a fail-point was armed to fail here")


def _full() -> None:
    raise sqlite3.OperationalError("database or disk is full")


def _hang() -> None:
    time.sleep(_HANG_SECONDS)


ACTIONS: dict[str, Callable[[], None]] = {"kill": _kill, "error": _error, "full": _full, "hang": _hang}
_armed: dict[str, tuple[Callable[[], None], int]] = {}
_watchers: list[Callable[[str], None]] = []


def reach(name: str) -> None:
    """The process has come to this place: do what was armed for it."""
    for watcher in _watchers:
        watcher(name)
    if name not in _armed:
        return
    action, times_left = _armed[name]
    if times_left > 1:
        _armed[name] = (action, times_left - 1)
        return
    del _armed[name]
    action()


def arm(name: str, action: str | Callable[[], None], *, at_time: int = 1) -> None:
    """Act when this place is reached for the `at_time`-th time from now."""
    _armed[name] = (ACTIONS[action] if isinstance(action, str) else action, at_time)


def disarm() -> None:
    """Forget everything that was armed or watched."""
    _armed.clear()
    _watchers.clear()


def watch(watcher: Callable[[str], None]) -> None:
    """Call back with the name of every place reached."""
    _watchers.append(watcher)


def arm_from(environ: str) -> None:
    """Arm what the environment variable asks for."""
    for item in filter(None, environ.split(",")):
        name, _, action = item.partition("=")
        action, _, count = action.partition("@")
        if action not in ACTIONS or not (count or "1").isdigit():
            raise BadSettings(
                f"AFTERGLOW_FAILPOINTS: {item!r} is not name=action[@times]; actions: {', '.join(ACTIONS)}"
            )
        arm(name, action, at_time=int(count or 1))


arm_from(os.environ.get("AFTERGLOW_FAILPOINTS", ""))
