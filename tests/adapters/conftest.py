"""A memory on SQLite, and each library's bot with the adapter attached: real objects of the library, and no network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pytest

from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.settings import Settings
from afterglow.store.sqlite import SQLiteStore
from afterglow.telling import Deliver
from afterglow.turns import Binding

HOURS = 3600.0
LIBRARIES = ("telegram", "aiogram", "slack", "discord")


class Bot(Protocol):
    """One library's bot. `seen` is what people see, in order: what was sent, and that a message was answered."""

    channel: str
    ana: str
    seen: list[str]
    sent: list[dict[str, Any]]
    """Each message as the library would put it on the wire."""
    failing: int
    """How many of the next messages the bot's own handler fails on."""
    refusing: bool
    """Whether the platform refuses what is sent."""

    async def write(self, text: str, *, id: int, again: bool = False) -> None:
        """Ana writes to the bot alone; `again` is that the platform delivers it once more after a failure."""
        ...

    async def write_in_group(self, text: str, *, id: int) -> None: ...

    async def other_kinds(self) -> int:
        """Whatever else there is comes in; how many of it the bot's own handlers should get."""
        ...

    def deliverer(self) -> Deliver: ...

    async def close(self) -> None: ...


@pytest.fixture
async def memory(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Memory]:
    chosen = Settings.model_validate(
        {"data_dir": str(tmp_path), "zone": "UTC", "away_summary": {"enabled": True, "style": "rich"}}
    )
    memory = Memory(await SQLiteStore.open(tmp_path / "afterglow.db", clock), chosen, environ={})
    yield memory
    await memory.close()


@pytest.fixture(params=LIBRARIES)
async def bot(request: pytest.FixtureRequest, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    """The bot of each library, with the interceptor."""
    made: Bot = await import_module(f"tests.adapters.{request.param}_bot").make(memory, monkeypatch)
    yield made
    await made.close()


def ana_of(bot: Bot) -> Binding:
    """Ana, as she writes to this bot."""
    return Binding(agent="kate", channel=bot.channel, sender=bot.ana)


async def away(memory: Memory, bot: Bot, hours: float = 5) -> None:
    """Ana writes, goes away, and the agent does something meanwhile."""
    await bot.write("first", id=1)
    await memory.record_goal(ana_of(bot), "plants", "done", title="Water the plants")
    await memory.record_goal(ana_of(bot), "rent", "failed", title="Pay <@U2> & co", note="see https://bank.example/x")
    clock = memory.store.clock
    assert isinstance(clock, FixedClock)
    clock.move(hours * HOURS)
