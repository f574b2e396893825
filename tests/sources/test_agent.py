"""Python callables and other agents as sources."""

from __future__ import annotations

import asyncio
import threading

import pytest

from afterglow.errors import SourceError
from afterglow.sources import Window, request_text
from afterglow.sources.agent import Agent, load
from afterglow.sources.patience import is_asking
from tests.kit.loops import for_each
from tests.sources.windows import MORNING, ask_about, wanted


def plain(window: Window, request: str) -> str:
    return f"{threading.current_thread() is threading.main_thread()} {is_asking()} {request}"


async def aware(window: Window, request: str) -> str:
    await asyncio.sleep(0)
    return f"{window.start:%H:%M} {request}"


class Other:
    async def __call__(self, window: Window, request: str) -> str:
        return await aware(window, request)


def hands_back(window: Window, request: str) -> object:
    return aware(window, request)


@pytest.mark.spec("SRC-2", "SRC-3", "SRC-6")
@for_each("reporter", [aware, Other(), hands_back, f"{__name__}:aware"])
async def test_an_async_callable_is_awaited(reporter: object) -> None:
    said = await Agent(reporter).report(MORNING, "My «own» prompt.", tokens_max=9)  # type: ignore[arg-type]
    assert said == f"09:15 {request_text(MORNING, 'My «own» prompt.')}"


@pytest.mark.spec("SRC-3", "SRC-4")
async def test_a_plain_callable_runs_in_a_thread_that_knows_it_is_asked() -> None:
    (answer,) = await ask_about(MORNING, wanted(Agent(plain)))
    assert answer.text.startswith("False True Provide a contextual summary")


@pytest.mark.spec("SRC-4")
async def test_one_that_hangs_takes_one_thread_and_not_one_more_each_time() -> None:
    release = threading.Event()
    source = Agent(lambda window, request: str(release.wait()))
    (late,) = await ask_about(MORNING, wanted(source, deadline_seconds=0.05))
    (busy,) = await ask_about(MORNING, wanted(source, deadline_seconds=5))
    assert late.error == "it did not answer within 0.05 seconds"
    assert busy.error == "it is still busy with what it was asked before"
    release.set()
    while (await ask_about(MORNING, wanted(source)))[0].error:  # noqa: ASYNC110 - the thread tells nobody
        await asyncio.sleep(0.01)


@pytest.mark.spec("SRC-4")
@for_each("error", [SystemExit(3), StopIteration(), ValueError("broken"), KeyboardInterrupt()])
async def test_whatever_a_callable_raises_is_its_own_failure(error: BaseException) -> None:
    def raises(window: Window, request: str) -> str:
        raise error

    (answer,) = await ask_about(MORNING, wanted(Agent(raises)))
    assert answer.error is not None


@pytest.mark.spec("SRC-4")
@for_each("name", ["no.such.module:x", "afterglow.sources:missing", "afterglow.sources:__doc__", ":", "a"])
def test_what_cannot_be_loaded_is_an_error(name: str) -> None:
    with pytest.raises(SourceError, match=r"give package\.module:callable"):
        load(name)
