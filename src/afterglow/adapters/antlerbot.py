"""AntlerBot: the names that its code calls, over an agent of Afterglow's.

    from afterglow.adapters import antlerbot as agent, antlerbot as scheduler

The first call opens the agent, by the settings that `load_settings` reads; `close` closes it. `opened` does both, and takes
a model, tools and settings of your own. Each source has a memory to itself. docs/antlerbot.md says what else is different.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from inspect import isawaitable
from pathlib import Path
from typing import Any, cast

from afterglow import settings
from afterglow.agent import Agent, Reason, open_agent
from afterglow.agent.agent import answered
from afterglow.agent.handing import Handle, OnReply
from afterglow.errors import BadInput
from afterglow.excerpts import shorter_parts
from afterglow.settings import Settings
from afterglow.turns import Binding, Part

SETTINGS = Path("config/agent/settings.yaml")
PRIORITY_SCHEDULED, PRIORITY_USER_MESSAGE, PRIORITY_AUTO_CONVERSATION = range(3)
NOBODY = "default"
"""The source of what is invoked without one."""

_AGENT, _CHANNEL = "antlerbot", "antlerbot"
_MEDIA_CHARS_MAX = 2_000
_log = logging.getLogger(__name__)


def load_settings(path: Path | str = SETTINGS) -> dict[str, int | float]:
    """The settings in effect, read anew: of this file, and the defaults where it is absent."""
    found = _settings(path)
    return {
        "context_limit_tokens": found.context.context_limit_tokens,
        "timeout_summarize_seconds": _whole(found.timeout_summarize_seconds),
        "timeout_clear_seconds": _whole(found.timeout_clear_seconds),
    }


async def invoke(
    message: str = "", reason: Reason = "user_message", *, source_key: str | None = None, **kwargs: Any
) -> str:
    """The model's answer, as `Agent.invoke` gives it: text, or JSON that fits `schema` for complex_reschedule.

    It is about the source that is named, else the one that is being answered, else one that stands for nobody.
    """
    source = source_key or _source()
    to = kwargs.pop("to", None) or binding_of(source)
    agent = await _bot().agent()
    with _answering(source):
        return await agent.invoke(message, reason, to=to, **kwargs)


async def enqueue(
    priority: int,
    source_key: str,
    msg: str,
    reply_fn: OnReply,
    parsed_message: Any = None,
    reason: Reason = "user_message",
) -> Handle:
    """Have a message answered after those that wait from the same source; `reply_fn` gets the whole answer, once.

    No source waits for another, so that the `priority` decides nothing. Of a `parsed_message` the content blocks are kept.
    """
    agent = await _bot().agent()

    async def reply(text: str) -> None:
        with _answering(source_key):
            given = reply_fn(text)
            if isawaitable(given):
                await given

    with _answering(source_key):
        return await agent.enqueue(
            msg, to=binding_of(source_key), reply=reply, reason=reason, parts=_blocks(parsed_message)
        )


def clear_history(source_key: str | None = None) -> asyncio.Task[None]:
    """Begin anew with a source: that which is named, else the one that is being answered. What was said stays in the log.

    It need not be awaited: whatever is invoked or enqueued after it waits for it.
    """
    try:
        return _bot().clear(binding_of(source_key or _source()))
    except RuntimeError:
        raise BadInput("clear_history is called from within the bot's event loop, and none runs here") from None


def init_timeout(apscheduler: Any = None) -> None:
    """Nothing needs to be set up: each session's timers are kept in the store, and go off after a restart too."""
    global _told
    if not _told:
        _told = True
        _log.info(
            "init_timeout: the scheduler is not used; Afterglow's own timers are durable, and one to each session"
        )


_told = False


@asynccontextmanager
async def opened(given: Settings | Path | str = SETTINGS, **options: Any) -> AsyncGenerator[Agent]:
    """The agent that these names talk to, as long as this lasts; `options` are those of `open_agent`."""
    global _current
    if _current is not None and _current.is_here:
        raise BadInput("the bot is open already; close it first: await antlerbot.close()")
    _current = _Bot(given, options)
    try:
        yield await _current.agent()
    finally:
        await close()


async def close() -> None:
    """Finish the answers under way and close the agent; the next call opens it again."""
    global _current
    bot = _current
    if bot is not None and bot.is_here:
        await bot.close()  # it is still there for what reply functions invoke meanwhile
    if _current is bot:
        _current = None


def binding_of(source_key: str) -> Binding:
    """Whose memory it is: each source, a private chat or a group, has its own."""
    return Binding(agent=_AGENT, channel=_CHANNEL, sender=source_key)


def _source() -> str:
    """The source that is being answered, seen from inside a tool or a reply function."""
    binding = answered.get()
    return NOBODY if binding is None or binding != binding_of(binding.sender) else binding.sender


class _Bot:
    """An agent that is open as long as one task runs: what it works with has to end where it began."""

    def __init__(self, given: Settings | Path | str, options: Mapping[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Agent] = self._loop.create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
        self._stop = asyncio.Event()
        self._clearing: set[asyncio.Task[None]] = set()
        self._life = asyncio.create_task(self._live(given, options))

    @property
    def is_here(self) -> bool:
        """Whether it belongs to the loop that runs now, and is not over."""
        return self._loop is asyncio.get_running_loop() and not self._life.done()

    async def agent(self) -> Agent:
        """The agent, when it is open and what is to be cleared is."""
        agent = await asyncio.shield(self._ready)
        while waiting := self._clearing - {cast("Any", asyncio.current_task())}:
            await asyncio.wait(waiting)
        return agent

    def clear(self, binding: Binding) -> asyncio.Task[None]:
        async def cleared() -> None:
            await (await asyncio.shield(self._ready)).clear(binding)

        task = asyncio.create_task(cleared())
        self._clearing.add(task)
        task.add_done_callback(self._clearing.discard)
        return task

    async def close(self) -> None:
        self._stop.set()
        await self._life

    async def _live(self, given: Settings | Path | str, options: Mapping[str, Any]) -> None:
        try:
            chosen = given if isinstance(given, Settings) else _settings(given)
            async with open_agent(chosen, binding=binding_of(NOBODY), **options) as agent:
                self._ready.set_result(agent)
                await self._stop.wait()
                await asyncio.gather(*self._clearing, return_exceptions=True)
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)


_current: _Bot | None = None


def _bot() -> _Bot:
    """The bot that is open, opened now if none is."""
    global _current
    if _current is None or not _current.is_here:
        _current = _Bot(SETTINGS, {})
    return _current


@contextmanager
def _answering(source: str) -> Generator[None]:
    before = answered.set(binding_of(source))
    try:
        yield
    finally:
        answered.reset(before)


def _settings(path: Path | str) -> Settings:
    """The settings of the file, or the defaults. Timers of before a restart go off here, unless the settings say otherwise."""
    file = Path(path)
    loaded = settings.load(file if file.exists() else None, environ=os.environ)
    is_said = "primary" in loaded.settings.model_fields_set
    return loaded.settings if is_said else loaded.settings.model_copy(update={"primary": "auto"})


def _whole(seconds: float) -> int | float:
    return int(seconds) if seconds == int(seconds) else seconds


def _blocks(parsed_message: Any) -> list[Part]:
    """What a parsed message has beside text: pictures and the like, each as what it is, without its bytes."""
    blocks: Sequence[Any] = getattr(parsed_message, "content_blocks", None) or ()
    return [short for each in blocks for short in shorter_parts([each], _MEDIA_CHARS_MAX)]
