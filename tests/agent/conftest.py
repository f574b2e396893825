"""An agent over the test's store, with a model that answers from a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from afterglow.agent import Agent
from afterglow.memory import Memory
from afterglow.model.scripted import Script, ScriptedModel
from afterglow.settings import Settings
from afterglow.store.contract import Store
from tests.kit.models import echo
from tests.kit.records import KATE
from tests.paths.conftest import memory_with, model

__all__ = ["memory_with", "model"]
OpenAgent = Callable[..., Agent]


@pytest.fixture
async def agent_with(store: Store, tmp_path: Path) -> AsyncIterator[OpenAgent]:
    """An agent over the test's store, with this script and these settings. All are closed at the end."""
    opened: list[Agent] = []

    def open_one(script: Script = echo, *, over: Store = store, settings: Any = None, **more: Any) -> Agent:
        answers = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
        given = {"zone": "UTC", "timeout_summarize_seconds": 0, **(settings or {})}
        chosen = Settings.model_validate({"data_dir": str(tmp_path), **given})
        agent = Agent(Memory(over, chosen, model=answers, environ={}), **{"binding": KATE, **more})
        opened.append(agent)
        return agent

    yield open_one
    for agent in opened:
        await agent.close(5)
        await agent.memory.settle(5)
