"""One talk with the agent: a message goes in, and what happens until its answer is whole is shown as it happens."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, ExitStack, aclosing, asynccontextmanager, closing
from dataclasses import asdict, dataclass, field
from typing import Any

from afterglow.agent import Agent, Done, Event, Text, ToolUsed
from afterglow.cli.backstage import Backstage, backstage
from afterglow.cli.call import Call
from afterglow.cli.screen import Styled, console_on, plain_json, tell_error, visible, waiting, write
from afterglow.errors import AfterglowError
from afterglow.inbound import Inbound
from afterglow.memory import Memory, open_memory
from afterglow.settings import Settings
from afterglow.turns import Binding

_CLOSE_SECONDS = 3.0
"""Who leaves does not wait longer for what is answered or folded; it stays due."""
_TOOL_CHARS_MAX = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """What happened while the person was away, told before the answer."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What a talk is held with."""

    memory: Memory
    agent: Agent


def opened(chosen: Settings) -> AbstractContextManager[Backstage[Held]]:
    """A memory, made if there is none, and an agent on it. Work of other sessions is left to a server."""

    @asynccontextmanager
    async def opening() -> AsyncGenerator[Held]:
        async with open_memory(chosen.model_copy(update={"primary": "false"})) as memory:
            agent = Agent(memory)
            try:
                yield Held(memory=memory, agent=agent)
            finally:
                await agent.close(_CLOSE_SECONDS)
                await memory.settle(_CLOSE_SECONDS)

    return backstage(opening())


@dataclass(kw_only=True, slots=True)
class Heard:
    """All that came of a message."""

    message: str
    digest: str | None = None
    tools: list[ToolUsed] = field(default_factory=list[ToolUsed])
    done: Done | None = None

    def take(self, event: Event | Digest) -> None:
        if isinstance(event, Digest):
            self.digest = "\n\n".join(each for each in (self.digest, event.text) if each)
        elif isinstance(event, ToolUsed):
            self.tools.append(event)
        elif isinstance(event, Done):
            self.done = event

    def record(self) -> dict[str, Any]:
        """As programs get it."""
        assert self.done is not None, "who answers ends with the answer, or raises"
        exchanged = self.done.exchanged
        replies = () if exchanged is None else exchanged.replies
        names = ("input_tokens", "output_tokens", "cached_tokens")
        return {
            "message": self.message,
            "reply": self.done.text,
            "session": None if exchanged is None else exchanged.message.session,
            "tokens": {name: sum((each.usage or {}).get(name, 0) for each in replies) for name in names},
            "tools": [asdict(each) for each in self.tools],
            "digest": self.digest,
        }


class Talk:
    """A talk of one person with one agent."""

    def __init__(self, call: Call, stage: Backstage[Held], to: Binding) -> None:
        self.call = call
        self.stage = stage
        self.to = to

    def events(self, text: str) -> Generator[Event | Digest]:
        """What happens, as it happens. Who stops listening stops the answer; the message stays."""

        async def answer(held: Held, put: Callable[[Event | Digest], None]) -> None:
            async def process(_: Inbound) -> None:
                async with aclosing(held.agent.stream(text, to=self.to)) as events:
                    async for event in events:
                        put(event)

            async def deliver(_: Binding, part: Any) -> None:
                put(Digest(text=part.text))

            await held.memory.on_inbound(Inbound(binding=self.to, text=text), process, deliver=deliver)

        return self.stage.hear(answer)

    def hear(self, text: str) -> Heard:
        """All that comes of a message, when it is whole."""
        heard = Heard(message=text)
        with closing(self.events(text)) as events:
            for event in events:
                heard.take(event)
        return heard

    def show(self, text: str) -> None:
        """The answer on stdout and the rest on stderr: to a terminal word by word, to anything else when it is whole."""
        shown = _Shown(streams=sys.stdout.isatty())
        with closing(self.events(text)) as events, ExitStack() as while_silent:
            while_silent.enter_context(waiting(self.to.agent))
            try:
                for event in events:
                    while_silent.close()
                    shown.take(event)
            finally:
                shown.end_line()

    def pass_on(self, text: str) -> None:
        """What happens, one JSON object in a line."""
        heard = Heard(message=text)
        with closing(self.events(text)) as events:
            for event in events:
                heard.take(event)
                _write_line(_record(event) if not isinstance(event, Done) else {"event": "done", **heard.record()})

    def fail(self, error: AfterglowError) -> None:
        """Say why there is no answer; the talk goes on."""
        if self.call.as_json:
            _write_line({"event": "error", "kind": type(error).__name__, "message": str(error)})
        else:
            tell_error(type(error).__name__, str(error), as_json=False)


class _Shown:
    """An answer on its way to people."""

    def __init__(self, *, streams: bool) -> None:
        self._streams = streams
        self._said = ""
        """What of the last reply stands there already."""
        self._mid_line = False

    def take(self, event: Event | Digest) -> None:
        match event:
            case Digest():
                self._tell_digest(event.text)
            case ToolUsed():
                self.end_line()
                self._said = ""
                console_on(sys.stderr).print(_tool_line(event), no_wrap=True, overflow="ellipsis")
            case Text() if self._streams:
                self._write(event.text)
            case Text():
                pass
            case Done():
                self._finish(event.text)

    def end_line(self) -> None:
        if self._mid_line:
            write("\n")
            sys.stdout.flush()
        self._mid_line = False

    def _finish(self, whole: str) -> None:
        """What was not streamed of the last reply, which may be all of it."""
        if whole.startswith(self._said):
            self._write(whole[len(self._said) :])
        self.end_line()

    def _write(self, piece: str) -> None:
        self._said += piece
        if piece:
            write(visible(piece, lines=True))
            sys.stdout.flush()
            self._mid_line = not piece.endswith("\n")

    def _tell_digest(self, text: str) -> None:
        out = console_on(sys.stdout if self._streams else sys.stderr)
        out.print(Styled().add(text, lines=True).add("\n", lines=True).text)


def _tool_line(used: ToolUsed) -> Any:
    given = json.dumps(dict(used.arguments), ensure_ascii=False, default=str)
    line = f"· {used.name} {given if given != '{}' else ''}".rstrip()
    brief = line if len(line) <= _TOOL_CHARS_MAX else line[:_TOOL_CHARS_MAX] + "…"
    return Styled().add(brief, "dim").add(" (failed)" if used.failed else "", "dim red").text


def _record(event: Text | ToolUsed | Digest) -> dict[str, Any]:
    name = {Digest: "digest", Text: "text", ToolUsed: "tool"}[type(event)]
    return {"event": name, **asdict(event)}


def _write_line(record: dict[str, Any]) -> None:
    as_ascii = "utf" not in (sys.stdout.encoding or "").lower()
    write(plain_json(json.dumps(record, ensure_ascii=as_ascii, default=str)) + "\n")
    sys.stdout.flush()
