"""A talk in a terminal: a line is read, answered, and the next is read."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from afterglow.cli.chat import clean
from afterglow.cli.screen import Styled, tell_error, write
from afterglow.cli.sessions import shown_turns, turns_of
from afterglow.cli.slashes import COMMANDS, Leave, obey
from afterglow.cli.talking import Held, Talk
from afterglow.errors import AfterglowError, MissingPackage
from afterglow.model.offline import NAME as OFFLINE
from afterglow.turns import Turn

_PROMPT = "> "
_LOOKED_AT_TURNS = 30
_SHOWN_EXCHANGES = 2
_REMEMBERED_SESSIONS = 5
_REMEMBERED_TURNS = 200
_LINE_CHARS_MAX = 2_000


def converse(talk: Talk) -> None:
    """Talk until the person leaves."""
    _greet(talk)
    _prepare_keys(talk)
    may_leave = False
    while True:
        try:
            typed = input(_PROMPT)
        except EOFError:
            write("\n")
            return
        except KeyboardInterrupt:
            write("\n")
            if may_leave:
                return
            may_leave = True
            talk.call.screen.note("Ctrl-C again leaves, and so does Ctrl-D.")
            continue
        may_leave = False
        try:
            _heed(talk, typed)
        except Leave:
            return
        except KeyboardInterrupt:
            may_leave = True
            talk.call.screen.note("Stopped; what you wrote is kept. Ctrl-C again leaves.")
        except MissingPackage:
            raise
        except AfterglowError as error:
            tell_error(type(error).__name__, str(error), as_json=False)


def _heed(talk: Talk, typed: str) -> None:
    if typed.startswith("/"):
        obey(talk, typed)
    elif text := clean(typed):
        talk.show(text)


def _greet(talk: Talk) -> None:
    """Who is talked to, who answers, and what was said last."""

    async def read(held: Held) -> tuple[str, list[Turn]]:
        model = held.memory.means_of.answering(talk.to.agent).name
        session = await held.memory.store.current_session(talk.to)
        if session is None:
            return model, []
        first = max(1, session.turns - _LOOKED_AT_TURNS + 1)
        return model, await turns_of(held.memory, session, first, session.turns)

    model, turns = talk.stage.run(read)
    to = talk.to
    line = Styled().add(to.agent, "bold").add(f" talks with {to.sender} ({to.owner}). ")
    if model == OFFLINE:
        line.add("No model is set up, so what is remembered is all it can answer with.", "yellow")
    else:
        line.add(f"{model} answers.")
    line.add(" /help lists what else can be typed; Ctrl-D leaves.", "dim")
    talk.call.screen.answer(None, *shown_turns(talk.call, _last(turns), full=False), line.text)
    talk.stage.begin(import_module, "afterglow.agent.graph")  # it takes seconds, which pass while the person types


def _last(turns: list[Turn]) -> list[Turn]:
    """The last exchanges, without what tools gave."""
    asked = [turn.seq for turn in turns if turn.role == "user"][-_SHOWN_EXCHANGES:]
    said = [turn for turn in turns if turn.role in ("user", "assistant") and turn.text.strip()]
    return [turn for turn in said if asked and turn.seq >= asked[0]]


def _prepare_keys(talk: Talk) -> None:
    """Line editing, the names of commands by Tab, and what was said before by the arrow keys.

    That is read from the log: a file of it would keep what the log forgets, and secrets that are not even written there.
    """
    stdin: Any = sys.stdin
    stdin.reconfigure(errors="replace")
    try:
        readline: Any = import_module("readline")
    except ImportError:
        return
    readline.set_completer_delims(" ")
    readline.set_completer(_completed)
    readline.parse_and_bind("tab: complete")
    readline.clear_history()
    for text in talk.stage.run(lambda held: _said_before(held, talk)):
        readline.add_history(text)


def _completed(begun: str, place: int) -> str | None:
    found = [name for name in COMMANDS if begun and name.startswith(begun)]
    return found[place] if place < len(found) else None


async def _said_before(held: Held, talk: Talk) -> list[str]:
    said: list[Turn] = []
    for session in await held.memory.sessions(owner=talk.to.owner, limit=_REMEMBERED_SESSIONS):
        first = max(1, session.turns - _REMEMBERED_TURNS + 1)
        said += await turns_of(held.memory, session, first, session.turns)
    own = [turn for turn in said if turn.role == "user" and turn.origin == "person"]
    texts = [turn.text for turn in sorted(own, key=lambda turn: turn.at)]
    return [text for text in texts if 0 < len(text) <= _LINE_CHARS_MAX and text.isprintable()]
