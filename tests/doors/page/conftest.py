"""What the tests of the page stand on: a server on loopback in a thread of its own, and Debian's Chromium before it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from afterglow import FixedClock, Memory
from afterglow.clock import new_token
from afterglow.model import Model
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app
from tests.doors.page import scene
from tests.kit.records import NOON

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_BROWSER = (
    "the page was not tested in a browser, since there is no Chromium on this machine; on Debian install it with: "
    "apt-get install chromium"
)

TIMEOUT_MS = 30_000
expect.set_options(timeout=TIMEOUT_MS)

T = TypeVar("T")
Fill = Callable[[Memory, FixedClock], Awaitable[Any]]


@dataclass
class Site:
    """A memory that is served, and the way to it from the test's own thread."""

    url: str
    memory: Memory
    clock: FixedClock
    loop: asyncio.AbstractEventLoop
    app: FastAPI

    def do(self, act: Awaitable[T]) -> T:
        """Do something with the memory, where it lives."""

        async def inside() -> T:
            return await act

        waiting: Future[T] = asyncio.run_coroutine_threadsafe(inside(), self.loop)
        return waiting.result(60)

    def link(self, **more: Any) -> str:
        """What `serve` would print to sign in with."""
        code, until = new_token(self.clock), self.clock.now() + timedelta(days=1)
        self.do(self.memory.store.add_token("browser", "owner", code, kind="link", expires_at=until, **more))
        return f"{self.url}/#signin={code}"


@contextlib.contextmanager
def served(folder: Path, fill: Fill | None = None, model: Model | None = None) -> Iterator[Site]:
    """Serve a memory that is filled first."""
    started: Future[tuple[Site, uvicorn.Server]] = Future()

    async def life() -> None:
        clock = FixedClock(NOON)
        store = await SQLiteStore.open(folder / "afterglow.db", clock)
        memory = Memory(store, scene.settings(folder), model=model or scene.scripted())
        if fill:
            await fill(memory, clock)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            made = app(memory)
            config = uvicorn.Config(made, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
            server = uvicorn.Server(config)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            started.set_result((Site(url, memory, clock, asyncio.get_running_loop(), made), server))
            await server.serve([listener])
        await memory.close()

    def run() -> None:
        try:
            asyncio.run(life())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run, name="server of the page")
    thread.start()
    site, server = started.result(120)
    try:
        yield site
    finally:
        server.should_exit = True
        thread.join(30)


@dataclass
class Chromium:
    """One browser for all tests of a process."""

    browser: Browser
    loop: asyncio.AbstractEventLoop

    @contextlib.contextmanager
    def at_work(self) -> Iterator[Browser]:
        """Playwright's loop counts as running from its start to its end; only in here it may, or no other loop could run."""
        asyncio._set_running_loop(self.loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    playwright = sync_playwright().start()
    try:
        started = Chromium(playwright.chromium.launch(executable_path=CHROMIUM), asyncio.get_running_loop())
    except BaseException:
        playwright.stop()
        raise
    finally:
        asyncio._set_running_loop(None)
    yield started
    with started.at_work():
        started.browser.close()
        playwright.stop()


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    with chromium.at_work() as opened:
        yield opened


@dataclass
class Heard:
    """What a page did that it must not do: errors, questions, and requests to anywhere but its own server."""

    host: str
    errors: list[str] = field(default_factory=list[str])
    dialogs: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])
    waiting: set[Request] = field(default_factory=set[Request])
    """What was asked and is not answered yet, but for the stream of what happens, which stays open."""
    allowed: tuple[str, ...] = ()

    def listen(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.context.on("request", self._asked)
        page.context.on("requestfinished", lambda request: self.waiting.discard(request))
        page.context.on("requestfailed", lambda request: self.waiting.discard(request))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(each in message.text for each in self.allowed):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.path != "/api/v1/events":
            self.waiting.add(request)
        if parts.scheme != "data" and parts.netloc != self.host:
            self.outside.append(request.url)

    def check(self) -> None:
        assert (self.errors, self.dialogs, self.outside) == ([], [], [])


OpenPage = Callable[..., Page]
Calm = Callable[[Page], None]
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"


@pytest.fixture
def heard_of() -> dict[Page, Heard]:
    """What the pages of the test did."""
    return {}


@pytest.fixture
def calm(heard_of: dict[Page, Heard]) -> Calm:
    """Wait until a page has all it asked for, and has drawn it."""

    def wait(page: Page) -> None:
        quiet, end = 0, time.monotonic() + TIMEOUT_MS / 1000
        while quiet < 2:
            page.evaluate(TWO_FRAMES)
            quiet = 0 if heard_of[page].waiting else quiet + 1
            assert time.monotonic() < end, [each.url for each in heard_of[page].waiting]

    return wait


@pytest.fixture
def open_page(browser: Browser, heard_of: dict[Page, Heard]) -> Iterator[OpenPage]:
    """Open the page of a site, signed in, or in one more tab `beside` another; at the end nothing may have gone wrong in it."""

    def open_one(
        site: Site,
        address: str = "#/",
        *,
        link: str | None = None,
        allowed: tuple[str, ...] = (),
        beside: Page | None = None,
        **more: Any,
    ) -> Page:
        given: dict[str, Any] = {"locale": "en-GB", "timezone_id": "UTC", "viewport": {"width": 1280, "height": 800}}
        page = (beside.context if beside else browser.new_context(**{**given, **more})).new_page()
        page.set_default_timeout(TIMEOUT_MS)
        heard = Heard(urlsplit(site.url).netloc, allowed=allowed)
        heard.listen(page)
        page.clock.set_fixed_time(site.clock.now() + timedelta(minutes=1))
        heard_of[page] = heard
        if link is not None:
            page.goto(link or site.url)
        elif beside:
            page.goto(f"{site.url}/{address}")
        else:
            page.goto(site.link())
            page.wait_for_selector("#live.on")
            page.goto(f"{site.url}/{address}")
        return page

    yield open_one
    for context in {page.context for page in heard_of}:
        context.close()
    for heard in heard_of.values():
        heard.check()


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A small memory that no test changes."""
    with served(tmp_path_factory.mktemp("life"), scene.fill_small) as site:
        yield site


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Site]:
    """A small memory of the test's own, to be changed."""
    with served(tmp_path, scene.fill_small) as site:
        yield site


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path) as site:
        yield site
