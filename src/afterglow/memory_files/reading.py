"""What the assistant may see of an owner's memory folder: names, and texts. No path leads out of it."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime

from afterglow import recalled
from afterglow.clock import from_us
from afterglow.errors import BadInput, NotAllowed, NotFound
from afterglow.guard import strip_invisible
from afterglow.memory_files.folder import Folder
from afterglow.memory_files.names import is_device
from afterglow.turns import check_text

READ_BYTES_MAX = 60_000
"""So much of a file is shown to a model."""
LISTED_MAX = 1_000
PATH_CHARS_MAX = 500
DEPTH_MAX = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A file or a folder, by the path that `file_read` or `file_list` takes."""

    path: str
    is_folder: bool
    bytes: int
    changed_at: datetime


def file_list(own: Folder, path: str) -> list[Listed]:
    """The files and folders at a path; the last by name, where there are very many."""
    parts = parts_of(path)
    with _within(own, parts) as folder:
        seen = [(name, folder.look(name)) for name in folder.names() if not name.startswith(".") and name.isprintable()]
    return [
        Listed(
            path="/".join([*parts, name]),
            is_folder=stat.S_ISDIR(found.st_mode),
            bytes=0 if stat.S_ISDIR(found.st_mode) else found.st_size,
            changed_at=from_us(found.st_mtime_ns // 1000),
        )
        for name, found in seen
        if found is not None and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))
    ][-LISTED_MAX:]


def file_read(own: Folder, path: str) -> str:
    """The text of a file, marked as recalled memory; of a very long one the beginning."""
    *folders, name = parts_of(path) or [""]
    if not name:
        raise BadInput("no file is named; name one, such as facts/index.json")
    with _within(own, folders) as folder:
        data, found = folder.read(name, READ_BYTES_MAX, alone=True)
    cut = len(data) > READ_BYTES_MAX
    text = strip_invisible(_text(data[:READ_BYTES_MAX], path, cut))[0]
    if cut:
        text += f"\n[cut here: these are the first {READ_BYTES_MAX:,} of {found.st_size:,} bytes; memory_search finds the rest]"
    return recalled.wrap(text)


def parts_of(path: str) -> list[str]:
    """The names that a path is made of; whatever could lead out of the folder is refused by its looks alone."""
    check_text(path, "the path")
    if len(path) > PATH_CHARS_MAX:
        raise BadInput(f"the path has {len(path):,} characters, and {PATH_CHARS_MAX} are allowed")
    if not path.isprintable():
        raise BadInput("the path holds characters that cannot be seen; write it as facts/2026-03-02.json")
    names = path.split("/")
    if path.startswith("/") or "\\" in path or ":" in path or ".." in names:
        raise NotAllowed(f"{path!r} leads out of the memory folder; name a path within it, such as facts/index.json")
    parts = [name for name in names if name not in ("", ".")]
    for name in parts:
        if name.startswith(".") or name != name.strip(" .") or is_device(name):
            raise NotFound(f"there is no {path!r} in the memory folder; file_list shows what there is")
    if len(parts) > DEPTH_MAX:
        raise NotFound(f"there is no {path[:50]!r}… in the memory folder: it has no folders so deep")
    return parts


@contextmanager
def _within(own: Folder, parts: Sequence[str]) -> Generator[Folder]:
    """The folder at the end of these names, each looked up in the one before."""
    with ExitStack() as opened:
        folder = own
        for name in parts:
            folder = opened.enter_context(folder.folder(name))
        yield folder


def _text(data: bytes, path: str, cut: bool) -> str:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=not cut)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadInput(f"{path!r} is not a text, and is not shown; file_list shows the other files")
    return text
