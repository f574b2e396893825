"""Another agent, or any Python callable, as a source: `callable(window, request) -> str`, async or not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any, cast

from afterglow.errors import SourceError
from afterglow.sources import Window, request_text
from afterglow.sources.patience import in_thread

Reporter = Callable[[Window, str], str | Awaitable[str]]


class Agent:
    """Calls it with the window and the request text. One that is not async runs in a thread of its own."""

    def __init__(self, reporter: Reporter | str) -> None:
        self._reporter = reporter
        self._busy = False

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        reporter = self._reporter
        if isinstance(reporter, str):
            name = reporter
            reporter = self._reporter = await in_thread(lambda: load(name))
        asked = request_text(window, prompt)
        said = reporter(window, asked) if _is_async(reporter) else await self._in_thread(reporter, window, asked)
        return await said if inspect.isawaitable(said) else said

    async def _in_thread(self, reporter: Reporter, window: Window, asked: str) -> str | Awaitable[str]:
        """One call at a time: a thread cannot be stopped, and they must not pile up."""
        if self._busy:
            raise SourceError("it is still busy with what it was asked before")

        def call() -> str | Awaitable[str]:
            try:
                return reporter(window, asked)
            finally:
                self._busy = False

        self._busy = True
        return await in_thread(call)


def load(name: str) -> Reporter:
    """What `package.module:callable` names; or SourceError."""
    module, _, path = name.partition(":")
    try:
        found: Any = reduce(getattr, path.split("."), importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise SourceError(f"{name!r} cannot be loaded ({error}); give package.module:callable") from None
    if not callable(found):
        raise SourceError(f"{name!r} is no callable; give package.module:callable")
    return cast("Reporter", found)


def _is_async(reporter: Reporter) -> bool:
    return inspect.iscoroutinefunction(reporter) or inspect.iscoroutinefunction(getattr(reporter, "__call__", None))  # noqa: B004
