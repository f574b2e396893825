"""`mcp`: the memory as an MCP server over stdin and stdout, for the program that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, command

if TYPE_CHECKING:
    from afterglow.mcp_server.pipes import Pipes
    from afterglow.memory import Memory

PANEL = "People and programs"
_GRACE_SECONDS_MAX = 15
"""The process ends this long after its last answer, whatever still runs in it."""
_HOW = "name one with --owner, or in the settings as mcp.owner"


def add_to(app: typer.Typer) -> None:
    command(app, "mcp", mcp, panel=PANEL)


def mcp(
    call: Call,
    owner: Annotated[
        str | None,
        typer.Option("--owner", metavar="OWNER", help="Whose memory, as agent/channel/sender; else mcp.owner."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", metavar="", help="Offer only the tools that change nothing.")
    ] = False,
) -> None:
    """Serve the memory over MCP to the program that starts this, on stdin and stdout, until the input ends.

    It is never primary, whatever the settings say. What goes wrong is in the log of the data folder.
    """
    from afterglow.mcp_server.first_answers import FirstAnswers
    from afterglow.mcp_server.pipes import Pipes, claimed

    with claimed() as (incoming, outgoing):
        pipes = Pipes(incoming, outgoing, FirstAnswers(read_only=read_only))  # before all that takes long to load
        _serve(call, owner, read_only, pipes)


def _serve(call: Call, owner: str | None, read_only: bool, pipes: Pipes) -> None:
    from afterglow import shutdown
    from afterglow.cli import logfile

    chosen = call.loaded.settings
    chosen.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def act(memory: Memory) -> None:
        from dataclasses import replace

        from afterglow.clock import new_id
        from afterglow.mcp_server import caller, stdio

        who = await caller.chosen(memory, owner or chosen.mcp.owner, _HOW, may="read" if read_only else "agent")
        try:
            await stdio.serve(memory, replace(who, session=f"mcp-{new_id(memory.store.clock)}"), pipes)
        finally:
            limit(_GRACE_SECONDS_MAX)

    with logfile.aside(chosen.data_dir), shutdown.bounded() as limit:
        call.run(act, create=True)
