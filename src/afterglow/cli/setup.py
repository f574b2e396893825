"""`init` makes a place for everything, `serve` opens it to programs and to the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, command
from afterglow.errors import StoreUnusable

if TYPE_CHECKING:
    from afterglow.memory import Memory

PANEL = "Begin here"
FIRST_TOKEN = "first"


def add_to(app: typer.Typer) -> None:
    command(app, "init", init, panel=PANEL)
    command(app, "serve", serve, panel=PANEL)


def init(
    call: Call,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")] = False,
) -> None:
    """Make the data folder, a settings file, the database and a first token.

    What is there already stays as it is, so it can be run again.
    """
    folder = call.loaded.settings.data_dir
    if not (yes or folder.exists() or _agreed(folder)):
        call.screen.note("Nothing was done.")
        raise typer.Exit(1)
    _make_folder(folder)
    settings_file, written = _write_settings(call)
    database, token = call.run(_first_token, create=True)
    screen = call.screen
    screen.note(f"data folder    {folder}")
    screen.note(f"settings       {settings_file}{'' if written else ' (was there, left as it is)'}")
    screen.note(f"database       {database}")
    screen.note("owner's token  there is one already" if token is None else "owner's token  shown only this once:")
    data = {"data_dir": folder, "settings_file": settings_file, "settings_written": written, "database": database}
    screen.answer({**data, "token": token}, *([token["token"]] if token else []))
    _say_what_next(call)


def serve(
    call: Call,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="The address to listen on.")] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", min=0, max=65_535, help="The port; 0 takes any free one."),
    ] = None,
) -> None:
    """Serve the HTTP interface. Ctrl-C ends it."""
    import asyncio

    from afterglow import daemon
    from afterglow.cli import logfile

    call.overrides |= {"server.host": host, "server.port": port}
    folder = call.loaded.settings.data_dir
    _make_folder(folder)
    chosen = call.loaded.settings.server
    with logfile.written(folder, chosen.log_format, chosen.log_to) as log_file:
        where = f"The log is {log_file}." if log_file else "The log follows."

        at = ""

        def announce(address: str) -> None:
            nonlocal at
            at = address

        def invite(link: str) -> None:  # it follows at once, and the two are told in one document
            call.screen.answer({"address": at, "log": log_file, "page": link}, at)
            sys.stdout.flush()
            call.screen.note(f"Ctrl-C ends it. {where}\nIn another terminal: {_others(call)}.")
            call.screen.note(f"The page, for one browser, within ten minutes: {link}")

        asyncio.run(daemon.serve(call.loaded, announce=announce, invite=invite))
    call.screen.note("Stopped.")


def _agreed(folder: Path) -> bool:
    """Ask, where there is somebody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return typer.confirm(f"Set up Afterglow in {folder}?", default=True, err=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"cannot make the data folder {folder}: {error.strerror}; choose another with --data-dir"
        ) from None


def _write_settings(call: Call) -> tuple[Path, bool]:
    """The settings file, and whether it was written now. One that is in effect is never written over."""
    from afterglow import settings

    if call.loaded.file is not None:
        return call.loaded.file, False
    path = call.loaded.settings.data_dir / "afterglow.toml"
    with path.open("x", encoding="utf-8") as file:
        path.chmod(0o600)
        file.write(settings.example(settings.NEW))
    return path, True


async def _first_token(memory: Memory) -> tuple[str, dict[str, Any] | None]:
    """Where the database is, and a new token unless an owner's is there."""
    from afterglow.clock import new_token

    there = await memory.store.tokens()
    if any(token.scope == "owner" and token.revoked_at is None for token in there):
        return memory.store.where, None
    secret = new_token(memory.store.clock)
    token = await memory.store.add_token(FIRST_TOKEN, "owner", secret)
    return memory.store.where, {"id": token.id, "name": token.name, "scope": token.scope, "token": secret}


def _others(call: Call) -> str:
    return ", ".join(f"`{call.typed(what)}`" for what in ("status", "sessions"))


def _say_what_next(call: Call) -> None:
    call.screen.note(
        f"\nNext:\n  {call.typed('doctor')}   is everything in order?\n  {call.typed('serve')}    the HTTP interface"
    )
    if call.data_dir:
        call.screen.note("\nTo leave --data-dir out, put the folder into the environment as AFTERGLOW_DATA_DIR.")
