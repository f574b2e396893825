"""A person who goes away, what happens meanwhile, and what the person gets to see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from afterglow.channels import Part
from afterglow.clock import FixedClock
from afterglow.inbound import Handled, Inbound
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.steward import Steward
from afterglow.turns import Binding
from afterglow.working import stewardship
from tests.kit.records import KATE

HOURS = 3600.0
AWAY = {"enabled": True}
PROSE = {**AWAY, "style": "rich", "prose": True}
DAILY = {**AWAY, "daily_at": "08:30", "awake_hours": {"start": "08:00", "end": "22:00", "zone": "Europe/Berlin"}}
GOOD = "The weekly report is done, and the deploy failed because the quota was exceeded."


class Chat:
    """What a person gets to see: what was delivered, and what was answered, in order."""

    def __init__(self, failing: Exception | None = None, hangs: bool = False) -> None:
        self.seen: list[str] = []
        self.to: list[Binding] = []
        self._failing = failing
        self._hangs = hangs
        self.delivering = asyncio.Event()

    async def deliver(self, to: Binding, part: Part) -> None:
        self.delivering.set()
        if self._hangs:
            await asyncio.Event().wait()
        if self._failing is not None:
            raise self._failing
        self.to.append(to)
        self.seen.append(part.text)

    async def process(self, message: Inbound) -> str:
        self.seen.append(f"answer to {message.text}")
        return "handled"


async def write(memory: Memory, chat: Chat, text: str = "hello", to: Binding = KATE, id: str | None = None) -> Handled:
    return await memory.on_inbound(Inbound(binding=to, text=text, id=id), chat.process, deliver=chat.deliver)


def later(memory: Memory, seconds: float) -> None:
    clock = memory.store.clock
    assert isinstance(clock, FixedClock)
    clock.move(seconds)


async def away_with(memory: Memory, chat: Chat, *outcomes: str, to: Binding = KATE, hours: float = 5) -> None:
    """A person writes and goes away, and the agent does this meanwhile."""
    await write(memory, chat, "first", to)
    for number, outcome in enumerate(outcomes):
        await memory.record_goal(to, f"goal {number}", outcome, step=1, title=f"Goal {number}")
    later(memory, hours * HOURS)


def answering(*answers: str | Exception) -> tuple[ScriptedModel, list[Request]]:
    """A model that gives these answers, the last of them again and again, and what it was asked."""
    asked: list[Request] = []
    left = list(answers)

    def answer(request: Request) -> str:
        asked.append(request)
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return said

    return ScriptedModel(answer, usd_per_million_tokens=1.0), asked


def stewarded(memory_with: Callable[..., Memory], chat: Chat, **more: Any) -> tuple[Memory, Steward]:
    """A memory with a daily digest, and the steward that looks when it is time."""
    memory = memory_with(away_summary={**DAILY, **more})
    memory.deliver = chat.deliver
    return memory, Steward(memory.store, "p", stewardship(memory.settings, "auto"))
