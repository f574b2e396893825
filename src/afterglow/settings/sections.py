"""The sections that stand alone: the log, the database, background work, search, the context, spending, the server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from afterglow.settings import values
from afterglow.settings.text import Told, shown
from afterglow.settings.values import DAY_SECONDS, MIB, Table, number


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
    embedder: Annotated[
        str,
        Told(allowed="auto, none, or provider:model, such as openai:text-embedding-3-small"),
        AfterValidator(values.model),
    ] = Field(
        default="auto",
        min_length=1,
        max_length=200,
        description="What searches by meaning. auto is the one that needs no key, if the extra `meaning` is installed.",
    )
    base_url: Annotated[
        str | None,
        Told(
            allowed="the address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1",
            default="the provider's own",
            example="http://127.0.0.1:11434/v1",
        ),
        AfterValidator(values.base_url),
    ] = Field(default=None, max_length=4096, description="Where the embedder is found.")


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


class McpSettings(Table):
    """The MCP door over stdio."""

    owner: Annotated[
        str | None,
        Told(
            allowed="an owner, as agent/channel/sender",
            default="the only owner there is",
            example="kate/telegram/42",
        ),
        AfterValidator(values.owner),
    ] = Field(default=None, max_length=2_000, description="Whose memory `afterglow mcp` opens.")


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
    open_locally: bool = Field(
        default=False,
        description="Whether programs on this machine may read without a token; all who have a login here could.",
    )
    requests_per_second: float = number(
        500, 0, 1_000_000, "So many requests a token may make, and twice as many at once; 0 is no limit."
    )
    log_format: Annotated[Literal["text", "json"], Told(allowed="text or json")] = Field(
        default="text", description="Lines for people, or a JSON object for each, with the act and the session."
    )
    log_to: Annotated[Literal["file", "stderr"], Told(allowed="file or stderr")] = Field(
        default="file", description="afterglow.log in the data folder, or stderr, where a container's log is read."
    )
