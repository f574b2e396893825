"""What `afterglow doctor` looks at. Each check gives one finding: fine, a warning, or a fault, and how to mend it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

from afterglow.cli.call import Call
from afterglow.cli.extracting import MEND
from afterglow.cli.findings import FAULT, FINE, WARNING, Finding
from afterglow.cli.outside import embedder, models, sources
from afterglow.clock import SystemClock
from afterglow.errors import AfterglowError, BadSettings
from afterglow.health import summarization
from afterglow.memory import open_store
from afterglow.settings import Loaded, Settings
from afterglow.store import migrations
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, POSTGRES, SQLITE

_GB = 10**9
_SPACE_BYTES_FAULT, _SPACE_BYTES_WARNING = _GB // 10, _GB
_EARLIEST_YEAR = 2025
_NETWORK = ("nfs", "cifs", "smb", "sshfs", "9p", "afs", "ceph", "gluster", "lustre", "davfs", "gfs", "ocfs", "virtiofs")


def examine(call: Call) -> tuple[Loaded | None, list[Finding]]:
    """Every finding, and the settings if they can be read."""
    findings = [python(sys.version_info[:3])]
    loaded: Loaded | None = None
    try:
        loaded = call.loaded
        findings.append(_settings_found(loaded))
    except BadSettings as error:
        mend = "mend what it says; the data folder and the database are looked at when the settings can be read"
        findings.append(Finding(mark=FAULT, name="settings", text=str(error), mend=mend))
    chosen = loaded.settings if loaded else None
    if chosen is None or chosen.sqlite_path is not None:
        findings += [sqlite_version(sqlite3.sqlite_version_info), full_text_search()]
    if chosen is not None:
        findings += [*rights(chosen), space(chosen), *_file_system(chosen), *asyncio.run(_database(chosen))]
        findings.append(time_zone(chosen, SystemClock()))
    if loaded is not None:
        findings += [*models(loaded, os.environ), embedder(loaded.settings, os.environ)]
        findings += sources(loaded.settings, os.environ)
    return loaded, findings


def python(version: tuple[int, int, int]) -> Finding:
    text = ".".join(map(str, version))
    if version >= (3, 11, 0):
        return Finding(mark=FINE, name="Python", text=text)
    return Finding(mark=FAULT, name="Python", text=text, mend="Afterglow needs Python 3.11 or later; install that")


def sqlite_version(version: tuple[int, int, int]) -> Finding:
    text = ".".join(map(str, version))
    if version >= (3, 51, 3) or version == (3, 50, 7):
        return Finding(mark=FINE, name="SQLite", text=text)
    return Finding(
        mark=WARNING,
        name="SQLite",
        text=f"{text} has a known fault: if two processes write at the same moment as one of them tidies up its "
        "log of changes (a checkpoint), the file can be damaged. It is very rare, and does not arise while "
        "only one process uses the database.",
        mend="use a Python whose SQLite is 3.51.3 or later, or let only one process write, such as `afterglow serve`",
    )


def full_text_search() -> Finding:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.Error as error:
            mend = "use a Python whose SQLite is built with FTS5; without it nothing can be searched"
            return Finding(mark=FAULT, name="full-text search", text=f"FTS5 is missing ({error})", mend=mend)
    return Finding(mark=FINE, name="full-text search", text="FTS5 is there")


def _settings_found(loaded: Loaded) -> Finding:
    text = f"{loaded.file} is valid" if loaded.file else "no file was found; the defaults are in effect"
    return Finding(mark=FINE, name="settings", text=text)


def rights(chosen: Settings) -> Iterator[Finding]:
    """Whether others on this machine can read what is kept."""
    folder, name = chosen.data_dir, "data folder"
    if not folder.exists():
        yield Finding(mark=WARNING, name=name, text=f"{folder} is not there yet", mend="run `afterglow init`")
        return
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        mend = f"give it to yourself: chown \"$(id -un)\" '{folder}', or choose another with --data-dir"
        yield Finding(mark=FAULT, name=name, text=f"{folder} is not a folder that you can write to", mend=mend)
        return
    files = [folder / "afterglow.toml", folder / "afterglow.log"]
    if chosen.sqlite_path:
        files += [chosen.sqlite_path.with_name(chosen.sqlite_path.name + end) for end in ("", "-wal", "-shm")]
    bare = [path for path in files if path.is_file() and _open_to_others(path)]
    if _open_to_others(folder):
        text = f"others on this machine can look into {folder}"
        yield Finding(mark=WARNING, name=name, text=text, mend=f"chmod 700 '{folder}'")
    for path in bare:
        text = f"others on this machine can read {path}"
        yield Finding(mark=FAULT, name=name, text=text, mend=f"chmod 600 '{path}'")
    if not bare and not _open_to_others(folder):
        yield Finding(mark=FINE, name=name, text=f"{folder}, yours alone")


def _open_to_others(path: Path) -> bool:
    return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def space(chosen: Settings) -> Finding:
    free = shutil.disk_usage(_existing(_place(chosen))).free
    text = f"{free / _GB:,.1f} GB free"
    if free >= _SPACE_BYTES_WARNING:
        return Finding(mark=FINE, name="disk", text=text)
    mark = FAULT if free < _SPACE_BYTES_FAULT else WARNING
    return Finding(mark=mark, name="disk", text=text, mend="make room: a full disk refuses new turns, but loses none")


def _file_system(chosen: Settings) -> Iterator[Finding]:
    mounts = Path("/proc/mounts")
    if chosen.sqlite_path and os.access(mounts, os.R_OK):
        yield file_system(_existing(_place(chosen)).resolve(), mounts.read_text(errors="replace"))


def file_system(place: Path, mounts: str) -> Finding:
    """Whether SQLite may be trusted with this place: over a network, its locks may not hold."""
    kinds: dict[Path, str] = {}
    for line in mounts.splitlines():
        _, point, kind, *_ = line.split(" ")
        kinds[Path(point.replace("\\040", " "))] = kind
    kind = next((kinds[folder] for folder in (place, *place.parents) if folder in kinds), "unknown")
    if not any(kind.removeprefix("fuse.").startswith(each) for each in _NETWORK):
        return Finding(mark=FINE, name="file system", text=f"{kind}, on this machine")
    mend = "keep the data folder on a disk of this machine, or use PostgreSQL (the setting `database`)"
    text = f"{kind}, over a network: two machines that write there at once damage a SQLite database"
    return Finding(mark=FAULT, name="file system", text=text, mend=mend)


async def _database(chosen: Settings) -> list[Finding]:
    """Whether the database opens, is of the newest schema, and is sound."""
    name = "PostgreSQL" if chosen.sqlite_path is None else "database"
    if chosen.sqlite_path and not chosen.sqlite_path.exists():
        text = f"{chosen.sqlite_path} is not there yet"
        return [Finding(mark=WARNING, name=name, text=text, mend="run `afterglow init`")]
    try:
        store = await open_store(chosen, SystemClock())
    except AfterglowError as error:
        return [Finding(mark=FAULT, name=name, text=str(error), mend="do what it says, then run this again")]
    more: list[Finding] = []
    try:
        wrong = await store.check()
        more += [] if wrong else [*await parked(store), *await summaries(store, chosen), *await memory_files(store)]
    except AfterglowError as error:
        wrong = [str(error)]
    finally:
        await store.close()
    schema = len(migrations.load(POSTGRES if chosen.sqlite_path is None else SQLITE))
    opened = Finding(mark=FINE, name=name, text=f"{store.where}, schema {schema}, the newest")
    if not wrong:
        return [opened, Finding(mark=FINE, name="soundness", text="every page and reference is in order"), *more]
    text = "; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")
    mend = "stop what uses it, `afterglow export` what can be read, and import that into a new data folder"
    return [opened, Finding(mark=FAULT, name="soundness", text=text, mend=mend)]


async def parked(store: Store) -> list[Finding]:
    """What was tried too often, and why."""
    left = (await store.backlog(EVERYONE)).parked
    found = await store.work_list(EVERYONE, "parked", 1)
    if not found:
        return [Finding(mark=FINE, name="work", text="none is parked")]
    first = found[0]
    what = "1 piece of work is" if left == 1 else f"{left:,} pieces of work are"
    text = f"{what} parked, after too many tries: {first.kind} of {first.subject}: {first.last_error or 'no reason'}"
    mend = "mend what it says (`afterglow work list --state parked` lists all), then run `afterglow work retry`"
    return [Finding(mark=WARNING, name="work", text=text, mend=mend)]


async def summaries(store: Store, chosen: Settings) -> list[Finding]:
    """Whether somebody makes the summaries that are due."""
    name, health = "summaries", await summarization(store, chosen, chosen.primary)
    waiting = health.queue_depth + health.deferred
    who = f"{health.primary_holder} is primary" if health.primary_holder else "no process is primary"
    found = [Finding(mark=FINE, name=name, text=f"{who}; {waiting:,} due or put off")]
    if waiting and not health.primary_holder:
        mend = "start `afterglow serve`, or make them now with `afterglow summarize`"
        found = [Finding(mark=WARNING, name=name, text=f"{waiting:,} wait to be made, and {who}", mend=mend)]
    if not chosen.auto_summarize:
        text = "false, so only sunsets, idle sessions and manual runs are summarised"
        found.append(Finding(mark=FINE, name="auto_summarize", text=text))
    return found


async def memory_files(store: Store) -> list[Finding]:
    """The files that were left as they are, since nobody can read them."""
    name, troubles = "memory files", await store.file_troubles(EVERYONE)
    found = [
        Finding(
            mark=WARNING,
            name=name,
            text=f"{each.name} of {each.owner} is left as it is: {each.problem}",
            mend=MEND,
        )
        for each in troubles
    ]
    return found or [Finding(mark=FINE, name=name, text="none is left as it is for a fault in it")]


def time_zone(chosen: Settings, clock: SystemClock) -> Finding:
    now = clock.now().astimezone(ZoneInfo(chosen.zone))
    text = f"{now:%Y-%m-%d %H:%M} in {chosen.zone}"
    if now.year < _EARLIEST_YEAR:
        return Finding(mark=FAULT, name="clock", text=text, mend="set the machine's clock: turns are dated by it")
    return Finding(mark=FINE, name="clock", text=text)


def _place(chosen: Settings) -> Path:
    return chosen.sqlite_path.parent if chosen.sqlite_path else chosen.data_dir


def _existing(path: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(each for each in (path, *path.parents) if each.exists())
