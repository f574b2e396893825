"""The settings that exist: those at the top of the file, the sections, and the agents.

A setting is declared once, here or in the module of its section, with its default, its limits and what it means; its
checks, its error texts, its environment variable, `afterglow.example.toml` and docs/settings.md follow from that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_serializer, field_validator

from afterglow.settings import values
from afterglow.settings.answering import AnsweringSettings, McpServerSettings
from afterglow.settings.away import AwaySettings
from afterglow.settings.compaction import CompactionSettings
from afterglow.settings.facts import FactsSettings
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
from afterglow.settings.sources import SourceSettings
from afterglow.settings.summaries import (
    BootSettings,
    OwnClear,
    OwnSummarize,
    Primary,
    QuietSettings,
    SummariesSettings,
    SunsetMarker,
    timeout,
)
from afterglow.settings.text import Told, masked, shown
from afterglow.settings.values import DAY_SECONDS, SQLITE, Contradictions, Table, number
from afterglow.turns import NAME_CHARS_MAX, Binding

SECTIONS_OF_AGENTS = ("compaction", "facts", "away_summary", "answering")
"""The sections that an agent may have for itself, with any of their keys."""
TABLES_BY_NAME = ("sources", "mcp_servers")
"""The tables that have tables by names of one's own."""


class AgentSettings(Table):
    """An agent. An agent that is not listed has these defaults."""

    id: Annotated[
        str, Told(allowed=f"1 to {NAME_CHARS_MAX} printable characters", example="kate"), AfterValidator(values.name)
    ] = Field(description="The agent's name, which no other agent has.")
    redact_secrets: bool = Field(default=True, description="Replace keys, tokens and passwords before a turn is kept.")
    drop_private: bool = Field(default=True, description="Drop what stands in <private>…</private> before it is kept.")
    timeout_summarize_seconds: OwnSummarize = timeout(
        None, "As at the top, for the sessions of this agent; 0 is never."
    )
    timeout_clear_seconds: OwnClear = timeout(None, "As at the top, for the sessions of this agent; 0 is never.")
    compaction: Annotated[
        CompactionSettings,
        Told(allowed="a table with any of the keys of [compaction]", default="as in [compaction]"),
    ] = Field(
        default=CompactionSettings(),
        description="What is otherwise than in [compaction] for this agent; any of its keys.",
    )
    facts: Annotated[
        FactsSettings, Told(allowed="a table with any of the keys of [facts]", default="as in [facts]")
    ] = Field(default=FactsSettings(), description="What is otherwise than in [facts] for this agent; any of its keys.")
    away_summary: Annotated[
        AwaySettings,
        Told(allowed="a table with any of the keys of [away_summary]", default="as in [away_summary]"),
    ] = Field(
        default=AwaySettings(),
        description="What is otherwise than in [away_summary] for this agent; any of its keys.",
    )
    answering: Annotated[
        AnsweringSettings, Told(allowed="a table with any of the keys of [answering]", default="as in [answering]")
    ] = Field(
        default=AnsweringSettings(),
        description="What is otherwise than in [answering] for this agent; any of its keys.",
    )


class Settings(Table):
    """Settings of Afterglow."""

    data_dir: Annotated[
        Path,
        Told(
            allowed="the path of a folder",
            default="the user's data folder, such as ~/.local/share/afterglow",
            example="~/.local/share/afterglow",
        ),
        BeforeValidator(values.absolute),
    ] = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("afterglow")),
        description="The folder of everything Afterglow keeps.",
    )
    database: Annotated[
        str | None,
        Told(
            allowed="sqlite:///path/to/file.db or postgresql://user:password@host/database",
            default="SQLite at afterglow.db in data_dir",
            example="postgresql://afterglow@localhost/afterglow",
            secret=True,
        ),
        AfterValidator(values.database),
    ] = Field(default=None, max_length=4096, description="The database. A password in it is never shown.")
    zone: Annotated[
        str,
        Told(
            allowed="an IANA name, such as Europe/Berlin",
            default="the machine's zone, or UTC where it cannot be told",
            example="Europe/Berlin",
        ),
        AfterValidator(values.zone),
    ] = Field(default_factory=values.machine_zone, max_length=100, description="The time zone of owners who have none.")
    primary: Primary = Field(
        default="auto",
        description="Whether this process makes work due unasked: auto, while no other does; true, or it does not start; "
        "false, never.",
    )
    primary_lease_seconds: float = number(
        30, 0.1, 3600, "How long a process stays the primary unless it renews that; then another takes over."
    )
    auto_summarize: bool = Field(
        default=True, description="Whether the primary looks by itself for sessions that need a summary."
    )
    sweep_interval_seconds: float = number(
        600,
        0,
        31 * DAY_SECONDS,
        "The sweep: how often the primary looks for sessions with turns that no summary covers; 0 is never.",
    )
    sweep_sessions: int = number(10, 1, 10_000, "The most sessions that one sweep takes, the newest first.")
    sweep_quiet_seconds: float = number(
        600,
        0,
        31 * DAY_SECONDS,
        "The sweep leaves alone a session with a turn in so many last seconds, unless it is closed.",
    )
    drift_days: int = number(
        30, 0, 36_600, "How many days back the primary looks for the same when it starts; 0 is not at all."
    )
    sunset_marker: SunsetMarker = Field(
        default="[SUNSET HANDOVER]",
        max_length=200,
        description="A turn of the owner or the agent that begins with this text ends the session; none does where it is "
        "empty.",
    )
    timeout_summarize_seconds: float = timeout(
        1800, "So long after the last message the whole session is summarised; 0 is never."
    )
    timeout_clear_seconds: float = timeout(
        3600, "So long after that summary the context is cleared and the session closed; 0 is never."
    )
    log: LogSettings = LogSettings()
    store: StoreSettings = StoreSettings()
    work: WorkSettings = WorkSettings()
    search: SearchSettings = SearchSettings()
    context: ContextSettings = ContextSettings()
    sources: Annotated[
        dict[str, SourceSettings],
        Told(allowed="a table for each, by name: [sources.calendar-hand] in TOML", example="calendar-hand"),
    ] = Field(default={}, max_length=1_000, description="What may be asked about a time window, by name.")
    compaction: CompactionSettings = CompactionSettings()
    boot: BootSettings = BootSettings()
    summaries: SummariesSettings = SummariesSettings()
    facts: FactsSettings = FactsSettings()
    away_summary: AwaySettings = AwaySettings()
    mcp_servers: Annotated[
        dict[str, McpServerSettings],
        Told(allowed="a table for each, by name: [mcp_servers.files] in TOML", example="files"),
    ] = Field(default={}, max_length=100, description="MCP servers whose tools agents may use, by name.")
    answering: AnsweringSettings = AnsweringSettings()
    spend: SpendSettings = SpendSettings()
    server: ServerSettings = ServerSettings()
    mcp: McpSettings = McpSettings()
    agents: Annotated[
        tuple[AgentSettings, ...],
        Told(allowed="up to 10_000 tables, each with an id: [[agents]] in TOML, `- id: kate` in YAML"),
    ] = Field(default=(), max_length=10_000, description="The agents that have settings of their own.")

    @field_validator("agents")
    @classmethod
    def _has_each_id_once(cls, agents: tuple[AgentSettings, ...]) -> tuple[AgentSettings, ...]:
        counts = Counter(agent.id for agent in agents)
        if twice := [shown(one) for one, count in counts.items() if count > 1]:
            raise ValueError(f"the id {', '.join(twice)} stands there more than once; put its settings in one table")
        return agents

    @field_validator(*TABLES_BY_NAME)
    @classmethod
    def _has_names_that_can_be_shown(cls, tables: dict[str, Any]) -> dict[str, Any]:
        if found := [((name,), reason) for name in tables if (reason := values.fault_of_name(name))]:
            raise Contradictions(found)
        return tables

    @field_validator("compaction")
    @classmethod
    def _fits_the_context(cls, compaction: CompactionSettings, info: ValidationInfo) -> CompactionSettings:
        if found := list(_misfits(compaction, info.data)):
            raise Contradictions(found)
        return compaction

    @field_validator("answering")
    @classmethod
    def _names_servers_that_are_declared(cls, answering: AnsweringSettings, info: ValidationInfo) -> AnsweringSettings:
        if found := list(answering.undeclared(info.data.get("mcp_servers", {}))):
            raise Contradictions(found)
        return answering

    @field_validator("boot")
    @classmethod
    def _leaves_room_in_the_context(cls, boot: BootSettings, info: ValidationInfo) -> BootSettings:
        if (context := info.data.get("context")) and (found := list(boot.over(context.context_limit_tokens))):
            raise Contradictions(found)
        return boot

    @field_validator("agents")
    @classmethod
    def _fit_the_context(cls, agents: tuple[AgentSettings, ...], info: ValidationInfo) -> tuple[AgentSettings, ...]:
        found = [
            ((place, "compaction", *path), reason)
            for place, agent in enumerate(agents)
            for path, reason in _misfits(agent.compaction, info.data)
            if path[0] in agent.compaction.model_fields_set  # the rest is as in [compaction], which is checked itself
        ]
        servers = info.data.get("mcp_servers", {})
        for place, agent in enumerate(agents):
            found += [((place, "answering", *path), reason) for path, reason in agent.answering.undeclared(servers)]
        if found:
            raise Contradictions(found)
        return agents

    @field_serializer("database")
    def _without_password(self, database: str | None) -> str | None:
        return masked(database) if database else database

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, self._without_password(value) if name == "database" else value

    @property
    def sqlite_path(self) -> Path | None:
        """The file of the SQLite database; None where the database is PostgreSQL."""
        if self.database is None:
            return self.data_dir / "afterglow.db"
        return Path(self.database.removeprefix(SQLITE)) if self.database.startswith(SQLITE) else None

    def agent(self, id: str) -> AgentSettings:
        """The settings of the agent, or the defaults."""
        return self._agents_by_id.get(id) or self._any_agent.model_copy(update={"id": id})

    @cached_property
    def _agents_by_id(self) -> dict[str, AgentSettings]:
        return {agent.id: agent for agent in self.agents}

    @cached_property
    def _any_agent(self) -> AgentSettings:
        """Checking the defaults anew for every turn took longer than all else that is done to it."""
        return AgentSettings(id="any")

    def compaction_of(self, agent_id: str) -> CompactionSettings:
        """How the sessions of the agent are compacted: as its own table says, and else as [compaction] does."""
        return self.compaction.overridden_by(self.agent(agent_id).compaction)

    def facts_of(self, agent_id: str) -> FactsSettings:
        """How the sessions of the agent are read for facts: as its own table says, and else as [facts] does."""
        return self.facts.overridden_by(self.agent(agent_id).facts)

    def answering_of(self, agent_id: str) -> AnsweringSettings:
        """How the agent answers: as its own table says, and else as [answering] does."""
        return self.answering.overridden_by(self.agent(agent_id).answering)

    def away_of(self, binding: Binding) -> AwaySettings:
        """What somebody who was away is told: as is said of the binding, else of the agent, else in [away_summary]."""
        return self.away_summary.overridden_by([self.agent(binding.agent).away_summary]).of(binding)

    def primary_or(self, default: Primary) -> Primary:
        """`primary` where it was given, and else the default of whoever asks: a server's is not that of a library."""
        return self.primary if "primary" in self.model_fields_set else default

    def quiet_of(self, agent_id: str) -> QuietSettings:
        """What happens to quiet sessions of the agent: as it has it itself, and else as the top of the file has it."""
        agent = self.agent(agent_id)
        summarize, clear = agent.timeout_summarize_seconds, agent.timeout_clear_seconds
        return QuietSettings(
            timeout_summarize_seconds=self.timeout_summarize_seconds if summarize is None else summarize,
            timeout_clear_seconds=self.timeout_clear_seconds if clear is None else clear,
        )

    @property
    def boot_tokens_max(self) -> int:
        """The most tokens that a new session's context begins with."""
        return self.boot.tokens_max_in(self.context.context_limit_tokens)


def _misfits(compaction: CompactionSettings, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What does not fit the limit of the context, or the sources. `data` has of them what is right in itself."""
    if context := data.get("context"):
        yield from compaction.over(context.context_limit_tokens)
    if "sources" in data:
        yield from compaction.undeclared(data["sources"])
