"""What can be typed in a talk besides messages: /context, /facts and the like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from afterglow.cli import digest, facts, sessions, tasks
from afterglow.cli.call import Call
from afterglow.cli.folding import fold
from afterglow.cli.screen import Styled, bar, count, pairs, table, waiting
from afterglow.cli.summaries import whole
from afterglow.cli.talking import Held, Talk
from afterglow.context import Context, Portion
from afterglow.errors import BadInput, NotFound
from afterglow.memory import Memory
from afterglow.turns import Session

T = TypeVar("T")

_BAR_COLUMNS = 30


class Leave(Exception):
    """No error: the person wants to go."""


@dataclass
class _Within(Call):
    """A call of a command within a talk: it uses the memory that is open."""

    talk: Talk | None = None

    def run(self, act: Callable[[Memory], Awaitable[T]], *, create: bool = False) -> T:
        assert self.talk is not None, "it is made for a talk"
        return self.talk.stage.run(lambda held: act(held.memory))


def _within(talk: Talk) -> Call:
    call = talk.call
    return _Within(
        debug=call.debug,
        settings_file=call.settings_file,
        data_dir=call.data_dir,
        overrides=call.overrides,
        talk=talk,
    )


def obey(talk: Talk, typed: str) -> None:
    """Do what was typed; NotFound where there is no such thing."""
    name = typed.split()[0]
    if name not in COMMANDS:
        there = ", ".join(COMMANDS)
        raise NotFound(f"there is no {name}; there are {there}. A message that begins with / is typed after a blank")
    COMMANDS[name][1](talk)


def _session(talk: Talk) -> Session:
    found = talk.stage.run(lambda held: held.memory.store.current_session(talk.to))
    if found is None:
        raise BadInput("no session is open yet; it begins with your next message")
    return found


def context(talk: Talk) -> None:
    session = _session(talk)
    shown = talk.stage.run(lambda held: held.memory.context(session))
    limits = talk.stage.run(lambda held: _limit(held, session))
    over = shown.tokens > limits
    line = (
        Styled()
        .add(f"{shown.tokens:,} of {limits:,} tokens", "bold")
        .add(f" in {count(len(shown.messages), 'message')}")
    )
    line.add(f"  {bar(shown.tokens / limits, _BAR_COLUMNS)}", "bold red" if over else "green")
    talk.call.screen.answer(None, line.text, _portions(shown))


async def _limit(held: Held, session: Session) -> int:
    return held.memory.frame_of(session.binding.agent).limits.context_limit_tokens


def _portions(shown: Context) -> Any:
    rows = [
        (
            _name(each),
            f"{each.tokens:,}",
            Styled().add(bar(each.tokens / max(1, shown.tokens), _BAR_COLUMNS, rest=""), "green").text,
        )
        for each in shown.portions
    ]
    return table(("~part", "#tokens", "share"), rows)


def _name(portion: Portion) -> str:
    span = f", turns {portion.first_seq:,} to {portion.last_seq:,}" if portion.first_seq and portion.last_seq else ""
    return f"{portion.name}{span}"


def compact(talk: Talk) -> None:
    session = _session(talk)
    with waiting(f"folding {session.id}"):
        done = talk.stage.run(lambda held: fold(held.memory, session, talk.call.screen.time))
    talk.call.screen.answer(None, *done.lines())


def list_facts(talk: Talk) -> None:
    facts.list_facts(_within(talk), owner=talk.to.owner)


def preview(talk: Talk) -> None:
    digest.preview(_within(talk), owner=talk.to.owner)


def sunset(talk: Talk) -> None:
    session = _session(talk)
    talk.stage.run(lambda held: held.memory.sunset(session))
    talk.call.screen.note("This session has ended; your next message begins another.")
    with waiting(f"summarising {session.id}"):
        summary = talk.stage.run(lambda held: held.memory.summarize(session))
    if summary is not None:
        talk.call.screen.answer(None, *whole(talk.call, summary))


def history(talk: Talk) -> None:
    sessions.show(_within(talk), _session(talk).id, owner=talk.to.owner)


def list_tasks(talk: Talk) -> None:
    tasks.list_tasks(_within(talk), owner=talk.to.owner)


def help(talk: Talk) -> None:
    talk.call.screen.answer(None, pairs((name, told) for name, (told, _) in COMMANDS.items()))


def leave(talk: Talk) -> None:
    raise Leave


COMMANDS: dict[str, tuple[str, Callable[[Talk], None]]] = {
    "/context": ("what the model sees, in tokens by portion", context),
    "/compact": ("fold what can be folded of it now", compact),
    "/facts": ("what is known of you", list_facts),
    "/digest": ("what you would be told if you had been away", preview),
    "/sunset": ("end this session and summarise it", sunset),
    "/history": ("what was said in this session", history),
    "/tasks": ("what it is to do for you at set times", list_tasks),
    "/help": ("this list", help),
    "/quit": ("leave, as Ctrl-D does", leave),
}
