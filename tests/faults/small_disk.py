"""A disk of a few megabytes that a test can fill and make larger, and a folder that cannot be written to."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


class SmallDisk:
    """A file system of its own where we may mount one; else a limit on the pages of the database itself."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir()
        self.mounted = _mount("-t", "tmpfs", "-o", f"size={megabytes}m", "afterglow-test", str(folder))

    def grow(self, megabytes: int) -> None:
        assert _mount("-o", f"remount,size={megabytes}m", str(self.folder))

    def forbid_writing(self) -> None:
        assert _mount("-o", "remount,ro", str(self.folder))

    def close(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    disk = SmallDisk(folder, megabytes)
    try:
        yield disk
    finally:
        disk.close()


@contextlib.contextmanager
def unwritable_folder(folder: Path) -> Iterator[Path]:
    """Permissions do not bind root, so for root it is a read-only file system, or one that holds no files of ours."""
    disk = SmallDisk(folder, 1)
    try:
        if disk.mounted:
            disk.forbid_writing()
        elif os.geteuid() == 0:
            folder = Path("/proc/self")
        else:
            folder.chmod(0o500)
        yield folder
    finally:
        disk.close()


def _mount(*arguments: str) -> bool:
    try:
        return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
