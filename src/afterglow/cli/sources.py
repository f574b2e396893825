"""`sources`: what is asked about a time window when a session is folded, and what it would say."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, command, group
from afterglow.cli.contexts import PANEL
from afterglow.errors import NotFound

if TYPE_CHECKING:
    from afterglow.cli.questions import Checked
    from afterglow.memory import Memory
    from afterglow.settings import Settings, SourceSettings
    from afterglow.sources import Window

_NONE = (
    "No source is declared. A table [sources.NAME] in the settings file declares one, and "
    "[[compaction.context_sources]] asks it; `afterglow settings example` shows how."
)

_ENDING_SECONDS = 5.0
"""How long a source that was late may take to close its connection or its process before the command ends."""


def add_to(app: typer.Typer) -> None:
    inner = group(app, "sources", "List the sources that are asked when a session is folded, or ask them.", panel=PANEL)
    command(inner, "list", list_sources)
    command(inner, "check", check)


def list_sources(call: Call) -> None:
    """List the sources that are declared, and which agents' sessions they are asked for."""
    from afterglow.sources.factory import label_of

    chosen = call.loaded.settings
    items = [
        {
            "name": name,
            "kind": declared.kind,
            "address": _address(declared),
            "label": label_of(name, declared),
            "asked_for": _asked_for(chosen, name),
        }
        for name, declared in chosen.sources.items()
    ]
    rows = [(each["name"], each["kind"], each["label"], each["asked_for"], each["address"]) for each in items]
    call.screen.items(items, ("~source", "kind", "~label", "~asked for", "~address"), rows, empty=_NONE)


def check(
    call: Call,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One source; all of them without it.")] = None,
    start: Annotated[
        str, typer.Option("--from", metavar="TIME", help="Where the window begins: a time, or 2h, 1d for so long ago.")
    ] = "1d",
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="Where the window ends.")] = "now",
    prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What to ask for, in place of the settings' prompt.")
    ] = None,
) -> None:
    """Ask the sources about a window of time, for real, and show what each would say.

    All are asked at once, each with its deadline. Nothing is kept. The exit code is 1 where one failed.
    """
    from afterglow.cli import logfile
    from afterglow.cli.questions import ask_all, window_of
    from afterglow.cli.screen import waiting
    from afterglow.sources import asking

    chosen = call.loaded.settings
    if name is not None and name not in chosen.sources:
        there = f"declared are: {', '.join(chosen.sources)}" if chosen.sources else "none is declared"
        raise NotFound(f"there is no source {name!r}; {there}")
    names = [name] if name is not None else list(chosen.sources)
    if not names:
        return call.screen.items([], (), [], empty=_NONE)

    async def ask(memory: Memory) -> tuple[Window, list[Checked]]:
        window = window_of(start, end, memory.store.clock.now(), chosen.zone)
        with waiting(f"asking {', '.join(names)}"):
            answers = await ask_all(memory, names, window, prompt)
            await asking.settle(_ENDING_SECONDS)
        return window, answers

    with logfile.aside(chosen.data_dir):
        window, answers = call.run(ask)
    _show(call, window, answers)
    if any(each.error for each in answers):
        raise typer.Exit(1)
    return None


def _show(call: Call, window: Window, answers: list[Checked]) -> None:
    from afterglow.cli.screen import Styled, indented

    time = call.screen.time
    lines: list[Any] = [f"About {time(window.start)} to {time(window.end)} ({call.loaded.settings.zone}):"]
    for each in answers:
        failed = each.error is not None
        line = Styled().add("✗ " if failed else "✓ ", "bold red" if failed else "green").add(each.source, "bold")
        tokens = "" if failed else f", {each.tokens:,} of {each.tokens_max:,} tokens"
        lines.append(line.add(f"  {each.label}, {each.seconds:.1f} s{tokens}", "dim").text)
        lines.append(indented(Styled().add(each.error or each.text, lines=True).text))
    call.screen.answer({"from": window.start, "to": window.end, "items": answers}, *lines)


def _address(declared: SourceSettings) -> str:
    """Where it is found, with no password in it."""
    from afterglow.settings.text import masked

    return masked(declared.address) if declared.address else shlex.join(declared.command)


def _asked_for(chosen: Settings, name: str) -> str:
    """For which agents' sessions it is asked: `everybody`, `everybody but kate`, `kate`, `nobody`."""
    asking = {agent.id: _asks(chosen.compaction_of(agent.id), name) for agent in chosen.agents}
    if _asks(chosen.compaction, name):
        but = ", ".join(agent for agent, asks in asking.items() if not asks)
        return f"everybody but {but}" if but else "everybody"
    return ", ".join(agent for agent, asks in asking.items() if asks) or "nobody"


def _asks(compaction: Any, name: str) -> bool:
    return any(each.source == name for each in compaction.context_sources)
