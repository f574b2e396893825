"""The command line in tests: commands in this process, the program in one of its own, and what stands in its data folder."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pty
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import afterglow
from afterglow import Binding, FixedClock, Memory, SystemClock
from afterglow.cli import app
from afterglow.clock import Clock
from afterglow.model import Request
from afterglow.model.scripted import Script, ScriptedModel
from afterglow.summaries import Filled
from tests.kit.processes import Process
from tests.kit.records import KATE, NOON

EVIL = "evil \x1b[31mred\x1b]0;title\x07 \x9b2J \u202eesrever \x7f"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
MODEL_KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
    *("OLLAMA_HOST", "OLLAMA_MODEL"),
)
"""What chooses a model in the environment of a person."""

Run = Callable[..., Result]
Prepare = Callable[[str, Callable[[], object]], Path]
"""Makes a data folder of a name, or copies it."""
_SEEDS = itertools.count()
_REPORTS = {"doctor", "rebuild", "--verify"}
"""Commands that say on stdout what they found or did, also where that is bad."""


# --- commands


def run(*args: str | Path, code: int = 0, input: str | bytes | None = None) -> Result:
    """Run a command in this process, and hold it to what is true of all of them."""
    result = CliRunner().invoke(app, [str(each) for each in args], input=input, catch_exceptions=False)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert not RAW.search(result.output)
    if code:
        assert not result.stdout or _REPORTS & set(args), "an error has nothing to say on stdout"
    return result


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


def execute(*args: str | Path, **more: Any) -> ProcessResult:
    """Run the program in a process of its own."""
    with Process(*args, **more) as process:
        stdout, stderr = process.communicate()
        return ProcessResult(process.wait(), stdout, stderr)


def in_a_terminal(*args: str, typed: str = "", code: int = 0, **environ: str) -> str:
    """What the program writes to a terminal of 80 columns."""
    main, side = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"TERM": "xterm-256color", **environ}
    os.write(main, typed.encode())
    with Process(*args, stdin=side, stdout=side, stderr=side, env=environment, terminal=True) as process:
        os.close(side)
        shown = b""
        while True:
            try:
                more = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            shown += more
        os.close(main)
        assert process.wait() == code, shown
    return shown.decode()


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


# --- what commands say


def asked(run: Run, *args: str, code: int = 0) -> Any:
    """The answer of a command as data."""
    return json.loads(run(*args, "--json", code=code).stdout)


def one_line(text: str) -> str:
    return " ".join(text.split())


def levels(result: Result) -> dict[str, str]:
    """What `doctor --json` found, by name."""
    return {each["name"]: each["level"] for each in json.loads(result.stdout)["items"]}


def findings(run: Run, name: str, *more: str, code: int = 0) -> list[dict[str, Any]]:
    """What `doctor` found of this name."""
    return [each for each in asked(run, "doctor", *more, code=code)["items"] if each["name"] == name]


def facts_of(run: Run, *more: str) -> list[dict[str, Any]]:
    return asked(run, "facts", "list", *more)["items"]


def titles(run: Run, *more: str) -> list[str]:
    """Of the summaries that are shown."""
    return [each["title"] for each in asked(run, "summaries", *more)["items"]]


def session_of(run: Run) -> str:
    return asked(run, "sessions")["items"][0]["id"]


# --- what stands in a data folder


def remember(folder: Path, act: Callable[[Memory], Awaitable[Any]]) -> Any:
    """Do something with the memory as a library user would, at noon."""
    return really(folder, act, FixedClock(NOON, seed=next(_SEEDS)))


def really(folder: Path, act: Callable[[Memory], Awaitable[Any]], clock: Clock | None = None) -> Any:
    """Do something with the memory at this hour, which is the command line's too."""

    async def inside() -> Any:
        async with afterglow.open(folder, clock=clock or SystemClock()) as memory:
            return await act(memory)

    return asyncio.run(inside())


def ago(**span: float) -> FixedClock:
    now = SystemClock().now()
    return FixedClock(now - timedelta(**span), seed=int(now.timestamp() * 1000) % 2**31)


async def talk(memory: Memory, binding: Binding = KATE) -> None:
    """Three exchanges, with words to find and characters that no terminal may obey."""
    said = [
        ("user", "Please book the train to Lisbon. I prefer the window seat."),
        ("assistant", "Booked: the 9:15 to Lisbon, window seat, reference XK-1029."),
        ("user", "我明天下午三点去看牙医"),
        ("assistant", "Noted. [bold]The dentist[/bold] tomorrow at 15:00."),
        ("user", EVIL),
        ("assistant", "That had odd characters in it."),
    ]
    for place, (role, text) in enumerate(said):
        await memory.append(binding, role, text, at=NOON + timedelta(minutes=place))  # pyright: ignore[reportArgumentType]


# --- models


def answering(monkeypatch: pytest.MonkeyPatch, script: Script, **more: Any) -> ScriptedModel:
    """Have this model answer in place of the settings' one."""
    model = ScriptedModel(script, **more)
    monkeypatch.setattr("afterglow.means.choose", lambda *_, **__: model)
    return model


def summary_form(request: Request) -> str:
    """The form of a summary, filled in. Sessions are told apart by their names: alpha, beta, gamma."""
    name = next((each for each in ("alpha", "beta", "gamma") if each in request.material), "a talk")
    return Filled(
        title=f"About {name}",
        summary=f"They looked at {name} and kept it.",
        category="decision" if name == "beta" else "planning",
        decisions=[f"Keep {name}."],
        open_threads=["Ask Carla."],
        outcomes=["It is fine."],
        people=[name],
    ).model_dump_json()
