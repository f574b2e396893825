"""What the tests of the doors stand on: a command line that is run in this process, and a server behind its gate."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from afterglow import FixedClock, Memory, Settings
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from tests.kit import command_line, web
from tests.kit.command_line import MODEL_KEYS, Prepare, Run, remember, talk
from tests.kit.servers import Start, starting
from tests.kit.web import Door, TwoOwners, Walk, make_door


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, which is not there yet, an empty working folder, and no key of a model."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AFTERGLOW_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AFTERGLOW_ZONE", "UTC")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", *MODEL_KEYS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


@pytest.fixture
def run(folder: Path) -> Run:
    """Run a command in this process, on the test's own data folder."""
    return command_line.run


@pytest.fixture(scope="session")
def kept_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def prepare(folder: Path, kept_folders: Path) -> Prepare:
    """Make a data folder of this name; each further test of the module that asks for the name gets a copy of it."""

    def prepare_it(name: str, make: Callable[[], object]) -> Path:
        kept = kept_folders / make.__module__ / name
        if kept.exists():
            shutil.copytree(kept, folder)
        else:
            make()
            shutil.copytree(folder, kept)
        return folder

    return prepare_it


@pytest.fixture
def begun(run: Run, prepare: Prepare) -> Path:
    """A data folder as `init` makes it."""
    return prepare("begun", lambda: run("init"))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server in a process of its own, on a data folder of the test's own; the keywords are settings."""
    with starting(tmp_path) as one:
        yield one


@pytest.fixture
def filled(run: Run, folder: Path, prepare: Prepare) -> Path:
    """A data folder with one owner and a talk of three exchanges."""

    def make() -> None:
        run("init")
        remember(folder, talk)

    return prepare("filled", make)


@pytest.fixture(scope="session", autouse=True)
def routes_made_once() -> Iterator[None]:
    with web.routes_made_once():
        yield


@pytest.fixture
async def door(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Door]:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    yield await make_door(store, tmp_path, clock)
    await store.close()


@pytest.fixture
async def memory(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Memory]:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    made = Memory(store, Settings(data_dir=tmp_path, zone="UTC"))
    yield made
    await made.close()


@pytest.fixture
async def any_door(store: Store, tmp_path: Path, clock: FixedClock) -> Door:
    return await make_door(store, tmp_path, clock)


_filled: list[TwoOwners] = []


@pytest.fixture
async def two_owners(tmp_path_factory: pytest.TempPathFactory) -> TwoOwners:
    """The folder of two owners' memories, which each process fills once."""
    if not _filled:
        _filled.append(await TwoOwners.make(tmp_path_factory.mktemp("two-owners")))
    return _filled[0]


@pytest.fixture
async def walk(two_owners: TwoOwners, tmp_path: Path) -> AsyncIterator[Walk]:
    async with two_owners.walk(tmp_path / "walk") as one:
        yield one
