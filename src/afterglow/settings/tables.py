"""The settings that exist, table by table: each with its default, its limits and what it means.

A setting is declared once, here; its checks, its error texts, its environment variable, `afterglow.example.toml` and
docs/settings.md follow from the declaration.
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
from afterglow.settings.compaction import CompactionSettings
from afterglow.settings.sources import SourceSettings
from afterglow.settings.text import Told, masked, shown
from afterglow.settings.values import DAY_SECONDS, MIB, SQLITE, Contradictions, Table, number
from afterglow.turns import NAME_CHARS_MAX


class LogSettings(Table):
    """The log of turns."""

    turn_bytes_max: int = number(256 * MIB, 1024, 512 * MIB, "The most bytes one turn may have; a larger is refused.")
    turn_shown_chars: int = number(
        24_000, 1_000, 10_000_000, "A turn of more characters is shown to models as its head and tail."
    )


class StoreSettings(Table):
    """The database."""

    batch_max: int = number(256, 1, 10_000, "The most writes that SQLite commits together.")
    batch_milliseconds: int = number(20, 1, 10_000, "The longest time that SQLite gathers writes for one commit.")
    busy_timeout_seconds: float = number(30, 0, 600, "How long to wait for another process that writes to SQLite.")
    readers: int = number(4, 1, 64, "Connections that read from SQLite.")
    pool_max: int = number(10, 1, 1_000, "The most connections to PostgreSQL.")
    pool_timeout_seconds: float = number(10, 0.1, 600, "How long to wait for a free connection to PostgreSQL.")


class WorkSettings(Table):
    """Background work."""

    lease_max_seconds: float = number(3600, 0.1, 7 * DAY_SECONDS, "A lease that would last longer counts as over.")
    lease_seconds: float = number(120, 0.1, 7 * DAY_SECONDS, "How long a claim lasts unless it is renewed.")
    attempts_max: int = number(5, 1, 1_000, "Work that failed so often is parked.")
    backoff_max_seconds: float = number(3600, 0, 31 * DAY_SECONDS, "The longest wait after a failure.")
    backoff_seconds: float = number(30, 0, 31 * DAY_SECONDS, "The wait after the first failure; it doubles each time.")
    parked_retry_seconds: float = number(DAY_SECONDS, 1, 366 * DAY_SECONDS, "How often parked work is tried again.")
    act_seconds_max: float = number(900, 1, DAY_SECONDS, "Work that takes longer is broken off, and tried again.")
    poll_seconds: float = number(1.0, 0.01, 3600, "How often to look for work when nothing announces it.")
    concurrency: int = number(4, 1, 256, "How many pieces of work run side by side in one process.")

    @field_validator("lease_seconds", "backoff_seconds")
    @classmethod
    def _not_over_its_maximum(cls, value: float, info: ValidationInfo) -> float:
        maximum = (info.field_name or "").replace("_seconds", "_max_seconds")
        if value > info.data.get(maximum, value):
            raise ValueError(
                f"{shown(value)} is over work.{maximum}, which is {shown(info.data[maximum])}; "
                "lower the one or raise the other"
            )
        return value


class SearchSettings(Table):
    """Searching the log."""

    rows_max: int = number(10_000, 1, 10_000_000, "The most turns that a regular expression reads.")
    seconds_max: float = number(2.0, 0.01, 60, "The longest time that a regular expression takes.")
    results_max: int = number(100, 1, 10_000, "The most results of one search.")


class ContextSettings(Table):
    """What the model sees."""

    context_limit_tokens: int = number(8_000, 500, 10_000_000, "The most tokens that a context should have.")
    window_tokens: int = number(
        0,
        0,
        100_000_000,
        "The whole window of the model that answers: a context over it is folded at once. "
        "0 means four times context_limit_tokens.",
    )

    @field_validator("window_tokens")
    @classmethod
    def _not_under_the_limit(cls, value: int, info: ValidationInfo) -> int:
        limit = info.data.get("context_limit_tokens", 0)
        if 0 < value < limit:
            raise ValueError(
                f"{shown(value)} is under context.context_limit_tokens, which is {shown(limit)}; "
                "raise the one or lower the other, or give 0 for four times the limit"
            )
        return value

    @property
    def whole_window_tokens(self) -> int:
        """`window_tokens`, or what its 0 means."""
        return self.window_tokens or 4 * self.context_limit_tokens


class SpendSettings(Table):
    """What models may cost."""

    day_ceiling_usd: float = number(5.0, 0, 1_000_000, "The most dollars that one day's calls of models may cost.")
    day_ceiling_tokens: int = number(5_000_000, 0, 10**12, "The most tokens that one day's calls of models may use.")
    breaker_failures: int = number(5, 1, 1_000, "A model that failed so often in a row is left alone for a while.")
    breaker_seconds: float = number(60, 1, DAY_SECONDS, "How long a failing model is left alone.")


_A_HOST = "an address or a host name, without scheme and port"


class ServerSettings(Table):
    """The HTTP server."""

    host: Annotated[str, Told(allowed=_A_HOST), AfterValidator(values.host)] = Field(
        default="127.0.0.1", description="The address to listen on. Any but this machine's own demands a token."
    )
    port: int = number(8765, 0, 65_535, "The port to listen on; 0 takes any that is free.")
    allowed_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(values.host)], ...], Told(allowed=f"up to 100 of: {_A_HOST}")
    ] = Field(default=(), max_length=100, description="More names by which browsers may reach the server.")


class AgentSettings(Table):
    """An agent. An agent that is not listed has these defaults."""

    id: Annotated[
        str, Told(allowed=f"1 to {NAME_CHARS_MAX} printable characters", example="kate"), AfterValidator(values.name)
    ] = Field(description="The agent's name, which no other agent has.")
    redact_secrets: bool = Field(default=True, description="Replace keys, tokens and passwords before a turn is kept.")
    drop_private: bool = Field(default=True, description="Drop what stands in <private>…</private> before it is kept.")
    compaction: Annotated[
        CompactionSettings,
        Told(allowed="a table with any of the keys of [compaction]", default="as in [compaction]"),
    ] = Field(
        default=CompactionSettings(),
        description="What is otherwise than in [compaction] for this agent; any of its keys.",
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
    spend: SpendSettings = SpendSettings()
    server: ServerSettings = ServerSettings()
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

    @field_validator("sources")
    @classmethod
    def _has_names_that_can_be_shown(cls, sources: dict[str, SourceSettings]) -> dict[str, SourceSettings]:
        if found := [((name,), reason) for name in sources if (reason := values.fault_of_name(name))]:
            raise Contradictions(found)
        return sources

    @field_validator("compaction")
    @classmethod
    def _fits_the_context(cls, compaction: CompactionSettings, info: ValidationInfo) -> CompactionSettings:
        if found := list(_misfits(compaction, info.data)):
            raise Contradictions(found)
        return compaction

    @field_validator("agents")
    @classmethod
    def _fit_the_context(cls, agents: tuple[AgentSettings, ...], info: ValidationInfo) -> tuple[AgentSettings, ...]:
        found = [
            ((place, "compaction", *path), reason)
            for place, agent in enumerate(agents)
            for path, reason in _misfits(agent.compaction, info.data)
            if path[0] in agent.compaction.model_fields_set  # the rest is as in [compaction], which is checked itself
        ]
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
        return self._agents_by_id.get(id) or AgentSettings(id=id)

    @cached_property
    def _agents_by_id(self) -> dict[str, AgentSettings]:
        return {agent.id: agent for agent in self.agents}

    def compaction_of(self, agent_id: str) -> CompactionSettings:
        """How the sessions of the agent are compacted: as its own table says, and else as [compaction] does."""
        return self.compaction.overridden_by(self.agent(agent_id).compaction)


def _misfits(compaction: CompactionSettings, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What does not fit the limit of the context, or the sources. `data` has of them what is right in itself."""
    if context := data.get("context"):
        yield from compaction.over(context.context_limit_tokens)
    if "sources" in data:
        yield from compaction.undeclared(data["sources"])
