"""The settings that exist, table by table: each with its default, its limits and what it means.

A setting is declared once, here; its checks, its error texts, its environment variable, `afterglow.example.toml` and
docs/settings.md follow from the declaration.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import zoneinfo
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
)

from afterglow.errors import BadInput
from afterglow.settings_text import Told, masked, shown
from afterglow.turns import NAME_CHARS_MAX, check_name

DAY_SECONDS = 24 * 60 * 60
MIB = 1024 * 1024

SQLITE = "sqlite:///"
POSTGRES = "postgresql://"


def _number(default: float, low: float, high: float, description: str) -> Any:
    """A number, which always has limits."""
    return Field(default=default, ge=low, le=high, description=description)


def absolute(value: Any) -> Any:
    """An absolute path, with `~` expanded."""
    if not isinstance(value, str | Path):
        return value
    if not str(value) or "\0" in str(value):
        raise ValueError("it is empty or holds a NUL character; give a path")
    try:
        return Path.cwd() / Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"{shown(value)} names a home that is not known; write the path in full") from None


def _database(value: str | None) -> str | None:
    if value is None or value.startswith(POSTGRES):
        return value
    path = value.removeprefix(SQLITE)
    if path == value or "?" in path or Path(path).name in ("", ":memory:"):
        raise ValueError
    return f"{SQLITE}{absolute(path)}"


def _zone(value: str) -> str:
    if _is_zone(value):
        return value
    known = {name.lower(): name for name in zoneinfo.available_timezones()}
    close = [known[name] for name in difflib.get_close_matches(value.lower(), known)]
    nearest = f" (nearest: {', '.join(close)})" if close else ""
    raise ValueError(f"{shown(value)} is not a time zone; give an IANA name, such as Europe/Berlin{nearest}")


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return False
    return True


def _machine_zone() -> str:
    """The machine's zone as far as it can be told, else UTC."""
    if "TZ" in os.environ:
        names = [os.environ["TZ"].removeprefix(":")]
    else:
        listed = Path("/etc/timezone")
        names = [
            Path("/etc/localtime").resolve().as_posix().rpartition("/zoneinfo/")[2],
            listed.read_text(errors="replace").strip() if os.access(listed, os.R_OK) else "",
        ]
    return next((name for name in names if name and _is_zone(name)), "UTC")


def _host(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        pass
    label = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
    if len(value) > 253 or not re.fullmatch(rf"{label}(\.{label})*", value) or re.fullmatch(r"[\d.]+", value):
        raise ValueError
    return value.lower()


def _name(value: str) -> str:
    try:
        check_name(value, "the id")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return value


class Table(BaseModel):
    """A table of settings: frozen, and strict about what is in it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,  # "yes" is no number, and true is not 1
        validate_default=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class LogSettings(Table):
    """The log of turns."""

    turn_bytes_max: int = _number(256 * MIB, 1024, 512 * MIB, "The most bytes one turn may have; a larger is refused.")
    turn_shown_chars: int = _number(
        24_000, 1_000, 10_000_000, "A turn of more characters is shown to models as its head and tail."
    )


class StoreSettings(Table):
    """The database."""

    batch_max: int = _number(256, 1, 10_000, "The most writes that SQLite commits together.")
    batch_milliseconds: int = _number(20, 1, 10_000, "The longest time that SQLite gathers writes for one commit.")
    busy_timeout_seconds: float = _number(30, 0, 600, "How long to wait for another process that writes to SQLite.")
    readers: int = _number(4, 1, 64, "Connections that read from SQLite.")
    pool_max: int = _number(10, 1, 1_000, "The most connections to PostgreSQL.")
    pool_timeout_seconds: float = _number(10, 0.1, 600, "How long to wait for a free connection to PostgreSQL.")


class WorkSettings(Table):
    """Background work."""

    lease_max_seconds: float = _number(3600, 0.1, 7 * DAY_SECONDS, "A lease that would last longer counts as over.")
    lease_seconds: float = _number(120, 0.1, 7 * DAY_SECONDS, "How long a claim lasts unless it is renewed.")
    attempts_max: int = _number(5, 1, 1_000, "Work that failed so often is parked.")
    backoff_max_seconds: float = _number(3600, 0, 31 * DAY_SECONDS, "The longest wait after a failure.")
    backoff_seconds: float = _number(30, 0, 31 * DAY_SECONDS, "The wait after the first failure; it doubles each time.")
    parked_retry_seconds: float = _number(DAY_SECONDS, 1, 366 * DAY_SECONDS, "How often parked work is tried again.")
    act_seconds_max: float = _number(900, 1, DAY_SECONDS, "Work that takes longer is broken off, and tried again.")
    poll_seconds: float = _number(1.0, 0.01, 3600, "How often to look for work when nothing announces it.")
    concurrency: int = _number(4, 1, 256, "How many pieces of work run side by side in one process.")

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

    rows_max: int = _number(10_000, 1, 10_000_000, "The most turns that a regular expression reads.")
    seconds_max: float = _number(2.0, 0.01, 60, "The longest time that a regular expression takes.")
    results_max: int = _number(100, 1, 10_000, "The most results of one search.")


class ContextSettings(Table):
    """What the model sees."""

    context_limit_tokens: int = _number(8_000, 500, 10_000_000, "The most tokens that a context should have.")


_A_HOST = "an address or a host name, without scheme and port"


class ServerSettings(Table):
    """The HTTP server."""

    host: Annotated[str, Told(allowed=_A_HOST), AfterValidator(_host)] = Field(
        default="127.0.0.1", description="The address to listen on. Any but this machine's own demands a token."
    )
    port: int = _number(8765, 0, 65_535, "The port to listen on; 0 takes any that is free.")
    allowed_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(_host)], ...], Told(allowed=f"up to 100 of: {_A_HOST}")
    ] = Field(default=(), max_length=100, description="More names by which browsers may reach the server.")


class AgentSettings(Table):
    """An agent. An agent that is not listed has these defaults."""

    id: Annotated[
        str, Told(allowed=f"1 to {NAME_CHARS_MAX} printable characters", example="kate"), AfterValidator(_name)
    ] = Field(description="The agent's name, which no other agent has.")
    redact_secrets: bool = Field(default=True, description="Replace keys, tokens and passwords before a turn is kept.")
    drop_private: bool = Field(default=True, description="Drop what stands in <private>…</private> before it is kept.")


class Settings(Table):
    """Settings of Afterglow."""

    data_dir: Annotated[
        Path,
        Told(
            allowed="the path of a folder",
            default="the user's data folder, such as ~/.local/share/afterglow",
            example="~/.local/share/afterglow",
        ),
        BeforeValidator(absolute),
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
        AfterValidator(_database),
    ] = Field(default=None, max_length=4096, description="The database. A password in it is never shown.")
    zone: Annotated[
        str,
        Told(
            allowed="an IANA name, such as Europe/Berlin",
            default="the machine's zone, or UTC where it cannot be told",
            example="Europe/Berlin",
        ),
        AfterValidator(_zone),
    ] = Field(default_factory=_machine_zone, max_length=100, description="The time zone of owners who have none.")
    log: LogSettings = LogSettings()
    store: StoreSettings = StoreSettings()
    work: WorkSettings = WorkSettings()
    search: SearchSettings = SearchSettings()
    context: ContextSettings = ContextSettings()
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
