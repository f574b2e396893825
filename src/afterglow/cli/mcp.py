"""`mcp`: the memory as an MCP server over stdin and stdout, for the program that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, command

if TYPE_CHECKING:
    from afterglow.memory import Memory

PANEL = "People and programs"
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
    from afterglow.cli import logfile

    chosen = call.loaded.settings
    chosen.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def act(memory: Memory) -> None:
        from afterglow.mcp_server import caller, stdio

        who = await caller.chosen(memory, owner or chosen.mcp.owner, _HOW, may="read" if read_only else "owner")
        await stdio.serve(memory, who)

    with logfile.aside(chosen.data_dir):
        call.run(act, create=True)
