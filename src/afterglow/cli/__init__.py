"""The command line. A command parses what it was given, makes one call on the memory, and shows the answer.

`afterglow --help` must answer at once, so what takes long to load (the memory, the settings, tables, the server) is
imported inside the functions of this package that need it, and nothing but Typer at their top.
"""

from __future__ import annotations

from typing import Annotated

import typer

from afterglow.cli import (
    access,
    audit,
    chat,
    contexts,
    digest,
    facts,
    forget,
    goals,
    health,
    mcp,
    owners,
    search,
    sessions,
    settings,
    setup,
    sources,
    summaries,
    sunset,
    tasks,
    transfer,
    work,
)
from afterglow.cli.boundary import Entrance
from afterglow.cli.call import Call, everywhere

__all__ = ["app", "main"]

app = typer.Typer(
    name="afterglow",
    cls=Entrance,
    help="Afterglow keeps what matters of every conversation between people and their agents.",
    epilog="Data goes to stdout, everything else to stderr. Exit codes: 0 fine, 1 something is wrong, 2 wrong usage.",
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


def _version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from afterglow import __version__

        typer.echo(f'{{"version": "{__version__}"}}' if context.obj.as_json else __version__)
        raise typer.Exit


@everywhere
def _begin(
    call: Call,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if call.context.invoked_subcommand is None:
        if call.as_json:
            call.context.fail("name a command that is to answer with JSON")
        typer.echo(call.context.get_help(), nl=False)


app.callback()(_begin)
for each in (
    setup,
    health,
    chat,
    sessions,
    search,
    summaries,
    facts,
    forget,
    sunset,
    tasks,
    goals,
    digest,
    contexts,
    sources,
    transfer,
    owners,
    access,
    audit,
    mcp,
    work,
    settings,
):
    each.add_to(app)


def main() -> None:
    """The entry point: what is typed as `afterglow`."""
    app()
