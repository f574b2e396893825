"""`chat`: talking to the agent, in a terminal or from a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, OwnerOption, command
from afterglow.errors import AfterglowError, BadInput, MissingPackage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from afterglow.cli.talking import Talk
    from afterglow.memory import Memory
    from afterglow.turns import Binding

PANEL = "What was said"
_PIECE_BYTES = 1 << 20


def add_to(app: typer.Typer) -> None:
    command(app, "chat", chat, panel=PANEL)


def chat(
    call: Call,
    owner: OwnerOption = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="Say this, show the answer, and leave.")
    ] = None,
) -> None:
    """Talk to the agent.

    The owner is agent/channel/sender, as in kate/telegram/42; one that is new is made. Without a terminal each line of stdin
    is a message, and stdout has the answers alone; with --json it has what happens, one JSON object in a line.
    """
    from importlib.util import find_spec

    if message is not None and not message.strip():
        raise typer.BadParameter("--message is blank; say something in it")
    if find_spec("langgraph") is None:
        raise MissingPackage(
            "talking to the agent needs the package langgraph; install it with: pip install '.[agent]' in Afterglow's folder"
        )
    from afterglow.cli import logfile
    from afterglow.cli.talking import Talk, opened

    with opened(call.loaded.settings) as stage, logfile.aside(call.loaded.settings.data_dir):
        to = stage.run(lambda held: who(held.memory, owner))
        talk = Talk(call, stage, to)
        if message is not None:
            _answer_one(talk, clean(message))
        elif sys.stdin.isatty() and sys.stdout.isatty() and not call.as_json:
            from afterglow.cli.prompt import converse

            converse(talk)
        else:
            _answer_lines(talk)


async def who(memory: Memory, owner: str | None) -> Binding:
    """Whom to talk as: the owner named, or the only one there is, or whoever is logged in."""
    from afterglow.cli.goals import binding
    from afterglow.cli.sessions import terminal
    from afterglow.turns import binding_of

    if owner is not None:
        return await binding(memory, owner, may_be_new=True)
    owners = await memory.store.owners(limit=2)
    only = binding_of(owners[0].id) if len(owners) == 1 else None
    return only or terminal()


def clean(text: str) -> str:
    """What was typed, without what no text can hold."""
    return text.replace("\0", "").encode(errors="replace").decode().strip()


def _answer_one(talk: Talk, text: str) -> None:
    if not talk.call.as_json:
        return talk.show(text)
    heard = talk.hear(text)
    return talk.call.screen.answer(heard.record())


def _answer_lines(talk: Talk) -> None:
    """Each line is a message. What goes wrong with one is told, and the next is answered; in the end the exit code says it."""
    failed = False
    for line in _lines(talk.call.loaded.settings.log.turn_bytes_max):
        try:
            if line is None:
                raise BadInput("a line is longer than log.turn_bytes_max allows; it was passed over")
            if text := clean(line):
                talk.pass_on(text) if talk.call.as_json else talk.show(text)
        except MissingPackage:
            raise
        except AfterglowError as error:
            failed = True
            talk.fail(error)
    if failed:
        raise typer.Exit(1)


def _lines(bytes_max: int) -> Iterator[str | None]:
    """The lines of stdin as they come; None for one that is too long, of which no more than that is held."""
    stdin: Any = sys.stdin.buffer
    while line := stdin.readline(bytes_max + 1):
        if len(line) > bytes_max and not line.endswith(b"\n"):
            while (rest := stdin.readline(_PIECE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield None
        else:
            yield line.decode("utf-8", "replace")
