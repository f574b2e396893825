"""Asking sources by hand: with the prompts, deadlines and limits that a compaction would ask them with."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from afterglow.cli.moments import moment
from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.settings import ContextSourceSettings
from afterglow.sources import Window
from afterglow.sources.asking import Wanted, ask
from afterglow.sources.factory import label_of, make
from afterglow.tokens import estimate

_ANY_AGENT = "-"
"""An agent that has no settings of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What a source said, or why it did not, and how long that took."""

    source: str
    label: str
    text: str
    error: str | None
    prompt: str
    seconds: float
    tokens: int
    tokens_max: int


def window_of(start: str, end: str, now: datetime, zone: str) -> Window:
    """The window that somebody typed."""
    here = ZoneInfo(zone)
    window = Window(start=moment(start, now, here), end=moment(end, now, here), now=now.astimezone(here))
    if window.start >= window.end:
        raise BadInput(f"the window ends before it begins: --from is {window.start}, --to is {window.end}")
    return window


async def ask_all(memory: Memory, names: list[str], window: Window, prompt: str | None) -> list[Checked]:
    """What each source says about the window, all asked at once."""
    wanted = [_wanted(memory, name) for name in names]
    if prompt is not None:
        wanted = [replace(each, prompt=prompt) for each in wanted]
    return list(await asyncio.gather(*(_ask(memory, each, window) for each in wanted)))


async def _ask(memory: Memory, wanted: Wanted, window: Window) -> Checked:
    began = memory.store.clock.now()
    answer = await ask(wanted, window)
    return Checked(
        source=wanted.name,
        label=wanted.label,
        text=answer.text,
        error=answer.error,
        prompt=wanted.prompt,
        seconds=(memory.store.clock.now() - began).total_seconds(),
        tokens=estimate(answer.text),
        tokens_max=wanted.tokens_max,
    )


def _wanted(memory: Memory, name: str) -> Wanted:
    """The source as the first agent that asks it does; with the defaults where none does."""
    agents = [_ANY_AGENT, *(agent.id for agent in memory.settings.agents)]
    for agent in agents:
        for each in memory.means_of(agent).sources:
            if each.name == name:
                return each
    declared, defaults = memory.settings.sources[name], ContextSourceSettings(source=name)
    return Wanted(
        name=name,
        label=label_of(name, declared),
        source=make(name, declared, environ=os.environ, model=memory.means_of(_ANY_AGENT).model),
        prompt=defaults.prompt,
        deadline_seconds=defaults.deadline_seconds,
        tokens_max=defaults.tokens_max,
    )
