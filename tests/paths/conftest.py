"""A memory over the test's store, with a scripted model that summarises and a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.model import Model, Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.sources import Source, Window
from afterglow.store.contract import Store
from afterglow.turns import Binding, Session
from tests.kit.records import KATE

OpenMemory = Callable[..., Memory]


def summary(request: Request) -> str:
    """A summary of the right size, which names the last fact it was shown."""
    facts = [word for word in request.material.replace(",", " ").split() if word.startswith("FACT-")]
    about = facts[-1] if facts else "nothing much"
    return (
        f"They talked about {about}, and nothing is open. The user spoke at some length about how things stand, as one may "
        "put it, and the assistant said that it saw what was meant by that and had nothing to add."
    )


class Calendar:
    """A source that keeps what it was asked, and answers from a script; an exception in it is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Window, str]] = []

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        self.asked.append((window, prompt))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(summary)


@pytest.fixture
def memory_with(store: Store, model: ScriptedModel, tmp_path: Path) -> OpenMemory:
    """A memory over the test's store, with these settings of compaction, model and sources."""

    def open_one(
        compaction: Mapping[str, Any] | None = None,
        *,
        over: Store = store,
        answering: Model = model,
        sources: Mapping[str, Source] | None = None,
        **more: Any,
    ) -> Memory:
        declared = {name: {"kind": "agent", "address": "tests.paths.conftest:Calendar"} for name in sources or {}}
        asked = tuple({"source": name, "prompt": f"what about {name}?"} for name in sources or {})
        given = {
            "zone": "UTC",
            "timeout_summarize_seconds": 0,
            "sources": declared,
            **more,
            "compaction": {"context_sources": asked, **(compaction or {})},
        }
        chosen = Settings.model_validate({"data_dir": str(tmp_path), **given})
        return Memory(over, chosen, model=answering, sources=sources, environ={})

    return open_one


async def talk(
    memory: Memory, count: int, *, first: int = 1, clock: FixedClock | None = None, words: int = 40, to: Binding = KATE
) -> Session:
    """So many exchanges, each with a fact of its own, and what is due is done behind each."""
    done = None
    padding = "so to speak " * (words // 3)
    for number in range(first, first + count):
        done = await memory.exchange(to, f"FACT-{number:05d} {padding}", lambda context: f"I see. {padding}")
        await memory.settle()
        if clock is not None:
            clock.move(60)
    assert done is not None
    return await memory.session(done.message.session, owner=to.owner)
