"""Settings: one file, the environment over it, arguments over both. Declared in tables.py, found by loading.py.

Whoever needs a setting gets it as an argument; nothing is global.
"""

from __future__ import annotations

from afterglow.settings.answering import AnsweringSettings, McpServerSettings
from afterglow.settings.away import AwaySettings
from afterglow.settings.checking import LEAVES, VARIABLES
from afterglow.settings.compaction import CompactionSettings, ContextSourceSettings
from afterglow.settings.loading import Loaded, load
from afterglow.settings.pages import (
    NEW,
    Setting,
    describe,
    example,
    json_schema,
    reference,
    regenerate,
    with_generated,
)
from afterglow.settings.sections import (
    ContextSettings,
    LogSettings,
    McpSettings,
    SearchSettings,
    ServerSettings,
    SpendSettings,
    StoreSettings,
    WorkSettings,
)
from afterglow.settings.sources import SourceKind, SourceSettings
from afterglow.settings.summaries import BootSettings, Primary, QuietSettings, SummariesSettings
from afterglow.settings.tables import AgentSettings, Settings
from afterglow.settings.text import value_text

__all__ = [
    "LEAVES",
    "NEW",
    "VARIABLES",
    "AgentSettings",
    "AnsweringSettings",
    "AwaySettings",
    "BootSettings",
    "CompactionSettings",
    "ContextSettings",
    "ContextSourceSettings",
    "Loaded",
    "LogSettings",
    "McpServerSettings",
    "McpSettings",
    "Primary",
    "QuietSettings",
    "SearchSettings",
    "ServerSettings",
    "Setting",
    "Settings",
    "SourceKind",
    "SourceSettings",
    "SpendSettings",
    "StoreSettings",
    "SummariesSettings",
    "WorkSettings",
    "describe",
    "example",
    "json_schema",
    "load",
    "reference",
    "regenerate",
    "value_text",
    "with_generated",
]
