"""What `afterglow doctor` looks at. Each check gives one finding: fine, a warning, or a fault, and how to mend it."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from afterglow.cli.call import Call
from afterglow.cli.findings import FAULT, FINE, WARNING, Finding
from afterglow.cli.outside import embedder, models, sources
from afterglow.cli.stored import database
from afterglow.clock import SystemClock
from afterglow.errors import BadSettings
from afterglow.settings import Loaded, Settings
from afterglow.settings.text import masked

_GB = 10**9
_SPACE_BYTES_FAULT, _SPACE_BYTES_WARNING = _GB // 10, _GB
_LOG_BYTES_WARNING = _GB // 4
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
        findings += [*rights(chosen), space(chosen), *_file_system(chosen), *log_of_changes(chosen)]
        findings += [*asyncio.run(database(chosen)), time_zone(chosen, SystemClock())]
    if loaded is not None:
        findings += [*secret_settings(loaded), *models(loaded, os.environ), embedder(loaded.settings, os.environ)]
        findings += sources(loaded.settings, os.environ)
    return loaded, [each.typed_as(call.typed()) for each in findings]


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
        mend = f'give it to yourself: chown "$(id -un)" {shlex.quote(str(folder))}, or choose another with --data-dir'
        yield Finding(mark=FAULT, name=name, text=f"{folder} is not a folder that you can write to", mend=mend)
        return
    files = [folder / "afterglow.toml", folder / "afterglow.log"]
    if chosen.sqlite_path:
        files += [chosen.sqlite_path.with_name(chosen.sqlite_path.name + end) for end in ("", "-wal", "-shm")]
    open_folders = [each for each in (folder, folder / "memory") if each.is_dir() and _open_to_others(each)]
    bare = [path for path in files if path.is_file() and _open_to_others(path)]
    for each in open_folders:
        yield _closable(WARNING, name, f"others on this machine can look into {each}", each, 0o700)
    for path in bare:
        yield _closable(FAULT, name, f"others on this machine can read {path}", path, 0o600)
    unwritable = [path for path in files if path.is_file() and not os.access(path, os.R_OK | os.W_OK)]
    for path in unwritable:
        mend = f'give it to yourself: chown "$(id -un)" {shlex.quote(str(path))}'
        yield Finding(mark=FAULT, name=name, text=f"{path} is not yours to read and write", mend=mend)
    if not (bare or open_folders or unwritable):
        yield Finding(mark=FINE, name=name, text=f"{folder}, yours alone")


def secret_settings(loaded: Loaded) -> Iterator[Finding]:
    """Whether others can read a settings file with a password in it that lies elsewhere than in the data folder."""
    address, file = loaded.settings.database, loaded.file
    has_password = address is not None and masked(address) != address and loaded.sources.get("database") == str(file)
    if file and has_password and file.parent != loaded.settings.data_dir and _open_to_others(file):
        text = f"others on this machine can read the password of the database in {file}"
        yield _closable(FAULT, "settings", text, file, 0o600)


def _closable(mark: str, name: str, text: str, path: Path, mode: int) -> Finding:
    """What others can see, and the rights that keep it from them."""
    mend = f"chmod {mode:o} {shlex.quote(str(path))}"
    return Finding(mark=mark, name=name, text=text, mend=mend, fix=partial(path.chmod, mode))


def log_of_changes(chosen: Settings) -> Iterator[Finding]:
    """Whether SQLite's log of changes (the file -wal) is worked off, or grows without end."""
    path = chosen.sqlite_path
    if path is None or not path.exists():
        return
    log = path.with_name(path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    if size < _LOG_BYTES_WARNING:
        return
    text = f"{log} has grown to {size / _GB:,.1f} GB: it is worked off when nobody reads for a moment"
    mend = "stop a process that keeps the database open, such as a shell of sqlite3, or run `afterglow doctor --fix`"
    yield Finding(mark=WARNING, name="log of changes", text=text, mend=mend, fix=partial(_work_off, path))


def _work_off(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=5)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


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
