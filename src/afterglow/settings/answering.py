"""How an agent answers: with which model, in which manner, with which tools."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from afterglow.settings import values
from afterglow.settings.compaction import Misfits
from afterglow.settings.text import Told, shown
from afterglow.settings.values import A_MODEL, Contradictions, Table, number

OwnTool = Literal[
    "file_list", "file_read", "memory_search", "expand", "record_goal", "schedule_task", "list_tasks", "cancel_task"
]
OWN_TOOLS: tuple[OwnTool, ...] = get_args(OwnTool)


class AnsweringSettings(Table):
    """How an agent answers. Only who talks to it through Afterglow needs this."""

    model: Annotated[
        str, Told(allowed=A_MODEL, default="the model of compaction", example=""), AfterValidator(values.model)
    ] = Field(default="", max_length=200, description="The model that answers.")
    base_url: Annotated[
        str | None,
        Told(
            allowed="the address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1",
            default="that of compaction",
            example="http://127.0.0.1:11434/v1",
        ),
        AfterValidator(values.base_url),
    ] = Field(default=None, max_length=4096, description="Where the model is found.")
    instructions: Annotated[
        str,
        Told(
            allowed="text of up to 100_000 characters",
            default="a few sentences of how to use the record and the tools",
            example="You are Kate, who keeps my calendar. Answer in one or two sentences.",
        ),
    ] = Field(default="", max_length=100_000, description="What the model is told to be: the system prompt.")
    tokens_max: int = number(2_000, 16, 100_000, "The most tokens of one answer.")
    deadline_seconds: float = number(180, 1, 3600, "The longest time that one call of the model takes.")
    tools: Annotated[
        tuple[OwnTool, ...], Told(allowed=f"any of {', '.join(OWN_TOOLS)}", default="all of them", example=OWN_TOOLS)
    ] = Field(default=OWN_TOOLS, description="The tools of Afterglow's own that the model may use.")
    mcp_servers: Annotated[
        tuple[str, ...] | None,
        Told(allowed="names of tables [mcp_servers.NAME]", default="all that are declared", example=("files",)),
    ] = Field(default=None, max_length=100, description="The MCP servers whose tools the model may use.")
    tool_rounds_max: int = number(8, 0, 100, "After so many rounds of tools the model must answer without any.")
    tool_calls_max: int = number(
        32, 1, 1000, "The most calls of tools in one reply; the model is told of those not made."
    )
    tool_seconds_max: float = number(60, 0.1, 3600, "A tool that takes longer is given up; the model is told so.")
    concurrency: int = number(64, 1, 10_000, "How many sessions are answered at one time by one process.")

    def overridden_by(self, other: AnsweringSettings) -> AnsweringSettings:
        """These settings, with those in their place that were given for the other."""
        given = {name: getattr(other, name) for name in other.model_fields_set}
        return self.model_copy(update=given) if given else self

    def undeclared(self, names: Collection[str]) -> Misfits:
        """The servers that are named and are not among these."""
        for place, name in enumerate(self.mcp_servers or ()):
            if name not in names:
                others = f"; declared are {', '.join(names)}" if names else "; none is declared so far"
                reason = f"there is no MCP server {shown(name)}; declare it in a table [mcp_servers.{name}]{others}"
                yield ("mcp_servers", place), reason


class McpServerSettings(Table):
    """An MCP server whose tools the agent may use."""

    command: Annotated[
        tuple[str, ...],
        Told(
            allowed='up to 100 texts: a program and its arguments, such as ["npx", "-y", "some-server"]',
            default="none",
            example=(),
        ),
    ] = Field(default=(), max_length=100, description="The program that is the server, where it has no address.")
    address: Annotated[
        str | None,
        Told(allowed="https://… or http://…", default="none", example="https://example.org/mcp"),
        AfterValidator(values.base_url),
    ] = Field(default=None, max_length=4096, description="Where it is found, over streamable HTTP.")
    environment: Annotated[
        tuple[str, ...],
        Told(allowed="names of environment variables", default="none", example=("GITHUB_TOKEN",)),
    ] = Field(default=(), max_length=100, description="The variables of this process that the program is given.")
    password_env: Annotated[
        str | None,
        Told(allowed="the name of an environment variable", default="none", example="NOTES_TOKEN", secret=True),
    ] = Field(default=None, max_length=200, description="The environment variable that holds the bearer token.")
    allow_private: bool = Field(default=False, description="Whether addresses of private networks may be reached.")

    @model_validator(mode="after")
    def _has_one_way_in(self) -> McpServerSettings:
        if bool(self.command) == bool(self.address):
            fault = "address stands there as well, keep one of the two" if self.command else "it is missing"
            raise Contradictions([(("command",), f"{fault}; give the command that starts the server, or its address")])
        return self
