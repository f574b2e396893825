"""What the documentation prints is right for a checker of types: `make lint` has pyright read this file too."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

import afterglow
from afterglow.settings import AgentSettings, CompactionSettings, ContextSourceSettings, SourceSettings

pytestmark = pytest.mark.spec("DOOR-1", "DOOR-8")


def test_settings_take_a_text_for_a_path_and_a_mapping_for_a_section() -> None:
    settings = afterglow.Settings(data_dir="./notes", compaction={"interval": 10})
    assert settings.data_dir == Path.cwd() / "notes"
    assert settings.compaction.interval == 10
    away = MappingProxyType({"awake_hours": MappingProxyType({"start": "09:00"})})
    hours = afterglow.Settings(away_summary=away).away_summary.awake_hours
    assert hours is not None and hours.start == "09:00"


def test_settings_take_any_sequence_where_they_hold_several() -> None:
    feed = SourceSettings(kind="command", command=["khal", "list"])
    settings = afterglow.Settings(
        sources=MappingProxyType({"feed": feed, "notes": {"kind": "http", "address": "https://a.example"}}),
        compaction=CompactionSettings(context_sources=[ContextSourceSettings(source="feed"), {"source": "notes"}]),
        agents=[AgentSettings(id="kate", answering={"tools": ["expand"], "mcp_servers": ["files"]}), {"id": "bob"}],
        away_summary={"bindings": [{"channel": "telegram"}]},
        mcp_servers={"files": {"command": ["files"], "environment": ["TOKEN"]}},
        server={"allowed_hosts": ["a.example"]},
    )
    assert [agent.id for agent in settings.agents] == ["kate", "bob"]
    assert settings.sources["feed"].command == ("khal", "list")
    assert [one.source for one in settings.compaction.context_sources] == ["feed", "notes"]
    assert settings.answering_of("kate").mcp_servers == ("files",)
    assert settings.away_summary.bindings[0].channel == "telegram"
    assert settings.mcp_servers["files"].environment == ("TOKEN",)
    assert settings.server.allowed_hosts == ("a.example",)


def test_a_text_is_no_list_of_texts() -> None:
    with pytest.raises(afterglow.BadSettings, match="allowed_hosts"):
        afterglow.Settings(server={"allowed_hosts": "a.example"})
