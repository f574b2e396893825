"""Afterglow in the compaction benchmark: through its front door, on SQLite, with the settings it comes with.

The clock is one that the benchmark moves by 20 seconds from message to message, so that the times in the headings of the
blocks, and with them the tokens, are the same in every run.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from afterglow.clock import FixedClock
from afterglow.context import Context
from afterglow.memory import Memory, open_store
from afterglow.model import Completion, Request
from afterglow.settings import Settings
from afterglow.spend import Usage
from afterglow.turns import Binding
from benchmarks.compaction_models import Models, tokens_of

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
GAP_SECONDS = 20
BINDING = Binding(agent="bench", channel="chat", sender="ana")


class Afterglow:
    """`Memory.exchange`, which folds behind the replies."""

    name: ClassVar[str] = "Afterglow"
    packages: ClassVar[tuple[str, ...]] = ()

    def __init__(self, models: Models) -> None:
        self.models = models
        self.clock = FixedClock(START)
        self.last: Context | None = None

    async def open(self, folder: Path) -> None:
        settings = Settings(data_dir=folder, zone="UTC")
        self.store = await open_store(settings, self.clock)
        self.memory = Memory(self.store, settings, model=Summariser(self.models), environ={})

    async def exchange(self, user_text: str) -> str:
        self.clock.move(GAP_SECONDS)
        return (await self.memory.exchange(BINDING, user_text, self._respond)).text

    async def settle(self) -> None:
        await self.memory.settle()

    async def close(self) -> None:
        await self.store.close()

    def parts(self) -> dict[str, int]:
        """The portions of the context, which Afterglow counts by its own estimate, in this benchmark's tokens."""
        assert self.last is not None
        found: dict[str, int] = {}
        for portion in self.last.portions:
            part = {"block": f"level {portion.level}", "tail": "tail", "around the record": "frame"}[portion.name]
            found[part] = found.get(part, 0) + portion.tokens
        share = tokens_of(*self.models.context) / sum(found.values())
        return {part: round(tokens * share) for part, tokens in found.items()}

    async def _respond(self, context: Context) -> str:
        self.last = context
        return await self.models.reply([message.text for message in context.messages])


class Summariser:
    """The fake summariser as a model of Afterglow's: it fills the size it is asked for, never more."""

    name = "fake:summariser"
    window_tokens = 128_000

    def __init__(self, models: Models) -> None:
        self.models = models

    async def complete(self, request: Request) -> Completion:
        prompt = request.instructions + request.material
        text = await self.models.summarise(prompt, request.tokens_max)
        usage = Usage(input_tokens=tokens_of(prompt), output_tokens=tokens_of(text))
        return Completion(text=text, model=self.name, usage=usage)
