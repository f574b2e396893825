"""One folder, opened once and never left: every name is looked up in it alone, and no link is followed.

Where the system allows it (all but Windows) names are looked up from the open folder itself, so that nothing that is moved or
swapped for a link meanwhile can lead elsewhere. Elsewhere each name is looked at before and after it is opened.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from afterglow import failpoints
from afterglow.errors import NotAllowed, NotFound

_BY_HANDLE = os.open in os.supports_dir_fd and os.listdir in os.supports_fd
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | (_READ & ~os.O_RDONLY)
_READ_FILE = _READ | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_READ_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)
_REPARSE_POINT = 0x400
_TRIES_MAX = 5
_SWAPPED = (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO)
"""What opening a name says when something else has been put there since it was looked at."""
LOCK = ".lock"
_NEW = ".new"

Signature = tuple[int, int, int, int]
"""What is other when a file is: its number, size, and times of change."""


class Changed(Exception):
    """A file is another one than it was when it was looked at."""


class Folder:
    """An open folder. `shown` is what it is called in errors."""

    def __init__(self, path: Path, handle: int | None, shown: str) -> None:
        self._path = path
        self._handle = handle
        self._shown = shown
        self._real = path if handle is not None else Path(os.path.realpath(path))

    @classmethod
    def top(cls, path: Path, *, make: bool = False) -> Folder:
        """The folder at this path. Links on the way to it are the operator's, and followed."""
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not path.is_dir():
            raise NotFound("nothing is known yet, so there are no memory files")
        return cls(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY) if _BY_HANDLE else None, "")

    def folder(self, name: str, *, make: bool = False, shown: str | None = None) -> Folder:
        """A folder within this one."""
        if make and self.look(name) is None:
            with suppress(FileExistsError):
                os.mkdir(self._at(name), 0o700, dir_fd=self._handle)
                self.sync()
        found = self.look(name)
        if found is None:
            raise NotFound(
                f"there is no folder {self._called(name)!r} in the memory folder; file_list shows what there is"
            )
        if not stat.S_ISDIR(found.st_mode) or _is_link(found):
            raise NotAllowed(f"{self._called(name)!r} is {_kind(found)}, not a folder; nothing is opened through it")
        try:
            handle = os.open(name, _READ_FOLDER, dir_fd=self._handle) if _BY_HANDLE else None
        except OSError as error:  # it was swapped a moment ago
            raise NotAllowed(f"{self._called(name)!r} cannot be opened as a folder: {error.strerror}") from None
        found_there = Folder(self._path / name, handle, self._called(name) if shown is None else shown)
        if handle is None and found_there._real != self._real / name:
            raise NotAllowed(f"{self._called(name)!r} leads elsewhere; nothing is opened through it")
        return found_there

    def close(self) -> None:
        """Let go of it."""
        if self._handle is not None:
            os.close(self._handle)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """What is in it, in order."""
        return sorted(os.listdir(self._path if self._handle is None else self._handle))  # noqa: PTH208 - of an open folder

    def look(self, name: str) -> os.stat_result | None:
        """What a name stands for here, itself and not what it leads to; None for nothing."""
        try:
            return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
        except OSError:  # nothing there, or a name that no file could have
            return None

    def read(self, name: str, bytes_max: int, *, alone: bool = False) -> tuple[bytes, os.stat_result]:
        """The first bytes of a file, and one more where there are more. What is no plain file is not opened.

        With `alone`, nor is one that has a second name, which may be that of a file elsewhere.
        """
        for _ in range(_TRIES_MAX):
            before = self.look(name)
            if before is None:
                break
            self._check_plain(name, before, alone)
            try:
                handle = os.open(self._at(name), _READ_FILE, dir_fd=self._handle)
                with os.fdopen(handle, "rb") as file:
                    opened = os.fstat(handle)
                    self._check_plain(name, opened, alone)
                    if self._handle is None and not self._is_still(before, opened):
                        continue
                    return file.read(bytes_max + 1), opened
            except OSError as error:
                if error.errno not in _SWAPPED:
                    raise NotAllowed(f"{self._called(name)!r} cannot be read: {error.strerror or error}") from None
        raise NotFound(f"there is no file {self._called(name)!r} in the memory folder; file_list shows what there is")

    def put(self, name: str, data: bytes, check: Callable[[], None]) -> None:
        """The file says this from now on: a reader sees all of the old or all of the new. `check` is asked last of all."""
        new = f".{name}{_NEW}"
        self.remove(new)
        try:
            with os.fdopen(os.open(self._at(new), _WRITE, 0o600, dir_fd=self._handle), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            failpoints.reach("file:before")
            check()
            os.replace(self._at(new), self._at(name), src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            self.remove(new)
            raise
        failpoints.reach("file:after")

    def remove(self, name: str) -> None:
        """There is no file of this name."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._handle)

    def remove_folder(self, name: str) -> None:
        """There is no folder of this name, if it was empty."""
        with suppress(OSError):
            os.rmdir(self._at(name), dir_fd=self._handle)

    def clean(self) -> None:
        """Remove what a writer that was killed left behind."""
        for name in self.names():
            if name.startswith(".") and name.endswith(_NEW):
                self.remove(name)

    def sync(self) -> None:
        """What was renamed and removed in it stays so when the power fails."""
        if self._handle is not None:
            os.fsync(self._handle)

    def lock(self) -> Lock | None:
        """The right to write here, unless somebody else has it now."""
        try:
            handle = os.open(
                self._at(LOCK), os.O_RDWR | os.O_CREAT | (_READ & ~os.O_RDONLY), 0o600, dir_fd=self._handle
            )
        except FileNotFoundError:  # the folder itself was removed a moment ago
            return None
        lock = Lock(self, handle)
        if _take(handle) and lock.is_held:
            return lock
        lock.release()
        return None

    def _is_still(self, before: os.stat_result, opened: os.stat_result) -> bool:
        """Whether what was opened is what was looked at, and is where it was."""
        same = (opened.st_dev, opened.st_ino) == (before.st_dev, before.st_ino)
        return same and Path(os.path.realpath(self._path)) == self._real

    def _at(self, name: str) -> str:
        return name if self._handle is not None else str(self._path / name)

    def _called(self, name: str) -> str:
        return f"{self._shown}/{name}" if self._shown else name

    def _check_plain(self, name: str, found: os.stat_result, alone: bool) -> None:
        if not stat.S_ISREG(found.st_mode) or _is_link(found):
            raise NotAllowed(f"{self._called(name)!r} is {_kind(found)}, not a file; it is not opened")
        if alone and found.st_nlink > 1:
            raise NotAllowed(f"{self._called(name)!r} has a second name elsewhere (a hard link); it is not opened")


class Lock:
    """The right to write in a folder. The system takes it back when the process ends, however it ends."""

    def __init__(self, folder: Folder, handle: int) -> None:
        self._folder = folder
        self._handle = handle

    @property
    def is_held(self) -> bool:
        """Whether the file that is locked is still the one that others would lock."""
        there, locked = self._folder.look(LOCK), os.fstat(self._handle)
        return there is not None and (there.st_dev, there.st_ino) == (locked.st_dev, locked.st_ino)

    def release(self) -> None:
        """Let others write."""
        os.close(self._handle)


def signature(found: os.stat_result | None) -> Signature | None:
    """What tells whether a file is still the same, without reading it."""
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _take(handle: int) -> bool:
    """Lock an open file if nobody else has it locked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_link(found: os.stat_result) -> bool:
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def _kind(found: os.stat_result) -> str:
    if _is_link(found):
        return "a link"
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(found.st_mode), "something else")
