"""What the tests of the doors stand on: a command line that is run in this process, and a server behind its gate."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

import afterglow
from afterglow import Binding, FixedClock, Memory, Settings
from afterglow.cli import app as command_line
from afterglow.clock import new_token
from afterglow.settings import ServerSettings
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app
from tests.kit.records import KATE, NOON, OTHER

LOCAL = "http://localhost:8765"
EVIL = "evil \x1b[31mred\x1b]0;title\x07 \x9b2J \u202eesrever \x7f"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
PROTECTION = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
OPEN: dict[str, Any] = {"open_locally": True}
"""Most tests ask from the machine itself, without a token."""
BOUND = {"bound": KATE, "other": OTHER}
"""Tokens of scope owner that are bound to one."""

Run = Callable[..., Result]
SEEDS = itertools.count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, which is not there yet, and an empty working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AFTERGLOW_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AFTERGLOW_ZONE", "UTC")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


@pytest.fixture
def run(folder: Path) -> Run:
    """Run a command in this process, and hold it to what is true of all of them."""

    def run_it(*args: str | Path, code: int = 0, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(command_line, [str(each) for each in args], input=input, catch_exceptions=False)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        assert not RAW.search(result.output)
        if code:
            reports = {"doctor", "rebuild", "--verify"} & set(
                args
            )  # which say what they found or did, also where that is bad
            assert not result.stdout or reports, "an error has nothing to say on stdout"
        return result

    return run_it


@pytest.fixture
def filled(run: Run, folder: Path) -> Path:
    """A data folder with one owner and a talk of three exchanges."""
    run("init")
    remember(folder, talk)
    return folder


def remember(folder: Path, act: Callable[[Memory], Coroutine[Any, Any, Any]]) -> Any:
    """Do something with the memory as a library user would."""

    async def inside() -> Any:
        async with afterglow.open(folder, clock=FixedClock(NOON, seed=next(SEEDS))) as memory:
            return await act(memory)

    return asyncio.run(inside())


async def talk(memory: Memory, binding: Binding = KATE) -> None:
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


def session_of(run: Run) -> str:
    return json.loads(run("sessions", "--json").stdout)["items"][0]["id"]


@dataclass
class Door:
    """A memory behind its door, with a token of every sort."""

    memory: Memory
    tokens: dict[str, str]
    usual: Any = None
    """The application as it mostly is: making one takes longer than most of what is asked of it."""

    def client(
        self, credential: str = "none", base: str = LOCAL, beside: Any = None, **server: Any
    ) -> httpx.AsyncClient:
        memory = self.memory
        if server:
            memory = with_settings(memory, server=ServerSettings(**OPEN | server))
        else:
            memory.settings = memory.settings.model_copy(update={"server": ServerSettings(**OPEN)})
        if server or beside is not None:
            made = app(memory, beside)
        else:
            made = self.usual = self.usual or app(memory)
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(made), base_url=base, headers=self.credential(credential)
        )

    def credential(self, name: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[name]}"} if name in self.tokens else {}


def with_settings(memory: Memory, **changed: Any) -> Memory:
    return Memory(memory.store, memory.settings.model_copy(update=changed))


async def make_door(store: Store, folder: Path, clock: FixedClock) -> Door:
    tokens = {name: new_token(clock) for name in ("garbage", "revoked", "read", "agent", "owner", *BOUND)}
    for name in ("revoked", "read", "agent", "owner"):
        made = await store.add_token(name, "owner" if name == "revoked" else name, tokens[name])  # pyright: ignore
        if name == "revoked":
            await store.revoke_token(made.id)
    for name, binding in BOUND.items():
        await store.add_token(name, "owner", tokens[name], owner=binding.owner)
    return Door(Memory(store, Settings(data_dir=folder)), tokens)


@pytest.fixture
async def door(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Door]:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    yield await make_door(store, tmp_path, clock)
    await store.close()


@pytest.fixture
async def any_door(store: Store, tmp_path: Path, clock: FixedClock) -> Door:
    return await make_door(store, tmp_path, clock)


def check(answer: httpx.Response) -> Any:
    """What holds for every answer, whatever was asked."""
    assert {name: answer.headers.get_list(name) for name in PROTECTION} == {k: [v] for k, v in PROTECTION.items()}
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["content-type"] == "application/json"
    if answer.request.method == "HEAD":
        assert not answer.content
        return None
    body = answer.json()
    if answer.status_code >= 400:
        assert list(body) == ["error"] and sorted(body["error"]) == ["kind", "message"]
        assert len(body["error"]["message"]) > 10 and "Traceback" not in answer.text
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
    return body


async def told(client: httpx.AsyncClient, path: str, status: int = 400, **query: Any) -> str:
    answer = await client.get(path, params=query or None)
    assert answer.status_code == status, answer.text
    return check(answer)["error"]["message"]
