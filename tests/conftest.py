"""What every test stands on: a real store on each database, a fixed clock, and no way out to the network."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import typer.main
import typer.testing

from afterglow import failpoints
from afterglow.clock import Clock, FixedClock
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from tests.kit import campaign as campaigns
from tests.kit import databases, selection, transaction_watch
from tests.kit.campaign import Campaign
from tests.kit.databases import POSTGRES, EmptiedDatabase, copy_of
from tests.kit.records import NOON

# A busy machine is no failure, and no example that once failed is tried first: the seed alone says what is tried.
hypothesis.settings.register_profile(
    "afterglow", deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("afterglow")

_SERVER = pytest.StashKey[databases.PostgresServer]()
_FOLDER = pytest.StashKey[str]()
_IN_MEMORY = Path("/dev/shm")
_IN_MEMORY_BYTES = 4 << 30


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("afterglow")
    selection.add_options(group)
    campaigns.add_options(group)


def pytest_configure(config: pytest.Config) -> None:
    """Start one private PostgreSQL for the whole run, unless one is given; each process has a database of its own on it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    worker = getattr(config, "workerinput", {}).get("workerid")
    if config.option.collectonly:
        return
    if worker is None:
        _keep_files_in_memory(config)
    if worker:
        os.environ[POSTGRES] = databases.own_database(os.environ[POSTGRES], worker)
    elif not os.environ.get(POSTGRES):
        config.stash[_SERVER] = server = databases.PostgresServer()
        os.environ[POSTGRES] = server.address


def _keep_files_in_memory(config: pytest.Config) -> None:
    """Temporary files go to the memory disk where there is one with room: the tests write much and wait for the disk often."""
    roomy = _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _IN_MEMORY_BYTES
    if roomy and "TMPDIR" not in os.environ and config.option.basetemp is None:
        config.stash[_FOLDER] = folder = tempfile.mkdtemp(prefix="afterglow-tests-", dir=_IN_MEMORY)
        os.environ["TMPDIR"] = tempfile.tempdir = folder


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SERVER in config.stash:
        config.stash[_SERVER].stop()
    if _FOLDER in config.stash:
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selection.select(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    selection.stop_when_late(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    campaigns.keep(item)
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    campaigns.summarize(terminalreporter)
    selection.summarize(terminalreporter)


@pytest.fixture(scope="session", autouse=True)
def watched() -> Iterator[list[str]]:
    """Offences against promise P4, over the whole run."""
    offences: list[str] = []
    with transaction_watch.no_call_inside_a_transaction(offences.append):
        yield offences


@pytest.fixture(autouse=True)
def no_call_inside_a_transaction(watched: list[str]) -> Iterator[None]:
    """Promise P4: a test fails in which the holder of a transaction calls a model or opens a connection."""
    yield
    offences = "\n".join(watched)
    watched.clear()
    assert not offences, offences


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, watched: list[str]) -> None:
    """No test reaches a provider: only this machine can be connected to."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            raise RuntimeError(f"a test tried to reach {address[0]}; tests may connect to this machine only")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting of the person who runs the tests leaks in, and no fail-point leaks out."""
    for name in os.environ:
        if name.startswith("AFTERGLOW_") and name != POSTGRES:
            monkeypatch.delenv(name)
    yield
    failpoints.disarm()


@pytest.fixture(scope="session", autouse=True)
def prepared_sqlite() -> Iterator[None]:
    with databases.prepared_sqlite():
        yield


@pytest.fixture(scope="session", autouse=True)
def command_line_made_once() -> Iterator[None]:
    """Typer builds the whole tree of commands for each call of its test runner, which takes longer than most commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def campaign(request: pytest.FixtureRequest) -> Iterator[Campaign]:
    """Time and chance for a test that tries at random."""
    yield from campaigns.of(request)


@pytest.fixture(scope="session")
def migrated() -> str:
    """The name of a PostgreSQL database with the schema of today, to be copied."""
    return databases.prepared_postgres()


@pytest.fixture
def postgres_address(migrated: str) -> Iterator[str]:
    """A PostgreSQL database of the test's own, with the schema of today and no rows."""
    with copy_of(migrated) as address:
        yield address


@pytest.fixture(scope="session")
def emptied_database(migrated: str) -> Iterator[EmptiedDatabase]:
    database = EmptiedDatabase(migrated)
    yield database
    database.close()


@pytest.fixture
def emptied_address(emptied_database: EmptiedDatabase) -> Iterator[str]:
    """A PostgreSQL database with the schema of today and no rows, for a test that leaves the schema as it is."""
    yield emptied_database.address
    emptied_database.empty()


OpenStore = Callable[..., Awaitable[Store]]


@pytest.fixture(params=["sqlite", "postgres"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> AsyncIterator[OpenStore]:
    """Open the test's database, as often as wanted; every opening is closed at the end."""
    opened: list[Store] = []
    own = "postgres_address" if "postgres_address" in request.fixturenames else "emptied_address"

    async def open_one(with_clock: Clock = clock) -> Store:
        if request.param == "sqlite":
            store: Store = await SQLiteStore.open(tmp_path / "afterglow.db", with_clock)
        else:
            store = await PostgresStore.open(request.getfixturevalue(own), with_clock)
        opened.append(store)
        return store

    if request.param == "postgres":
        request.getfixturevalue(own)
    yield open_one
    for store in opened:
        with contextlib.suppress(Exception):
            await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    return await open_store()
