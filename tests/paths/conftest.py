"""A memory over the test's store, with a scripted model that summarises and a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from afterglow.memory import Memory
from afterglow.model import Model
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.sources import Source
from afterglow.store.contract import Store
from tests.kit.models import summary

OpenMemory = Callable[..., Memory]


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
        declared = {name: {"kind": "agent", "address": "tests.kit.models:Calendar"} for name in sources or {}}
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
