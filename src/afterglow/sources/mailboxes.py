"""Mail in files: a Maildir, or an mbox. Both are only read, also while others write to them."""

from __future__ import annotations

import glob
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import BinaryIO

from afterglow.errors import SourceError
from afterglow.sources.letters import HEADER_BYTES_MAX, LETTERS_MAX, Letter, letter

MBOX_BYTES_MAX = 64 * 1024 * 1024
"""How much of an mbox is read, from its end: that is where new mail is."""
HEADS_MAX = 10 * LETTERS_MAX
"""How many mails of an mbox are looked at: the last ones."""

_STAMP = re.compile(r"(\d{9,10})[.\-_]")
_LINE_BYTES_MAX = 16 * 1024


def read_maildir(path: Path, start: datetime, end: datetime) -> list[Letter]:
    """The newest mails that were delivered between two moments; or SourceError."""
    if not (path / "cur").is_dir():
        raise SourceError(f"{path} is no Maildir: it has no folder cur")
    files: dict[str, Path] = {}
    for folder in ("new", "cur"):  # what is moved meanwhile is met twice, and counts once
        with suppress(FileNotFoundError):
            files |= {file.name.partition(":2,")[0]: file for file in (path / folder).iterdir()}
    delivered = ((_delivered(file), base) for base, file in files.items() if "T" not in _flags(file))
    inside = ((at, base) for at, base in delivered if at is not None and start <= at <= end)
    newest = nlargest(LETTERS_MAX + 1, inside)
    return [one for at, base in newest if (one := _maildir_letter(files[base], base, at)) is not None]


def _delivered(file: Path) -> datetime | None:
    """When a mail came: its name begins with that moment; else the file's own time."""
    stamp = _STAMP.match(file.name)
    with suppress(OSError):
        return datetime.fromtimestamp(int(stamp[1]) if stamp else file.stat().st_mtime, UTC)
    return None


def _flags(file: Path) -> str:
    return file.name.partition(":2,")[2]


def _maildir_letter(file: Path, base: str, at: datetime) -> Letter | None:
    moved = file.parent.parent / "cur"
    for place in (file, *moved.glob(f"{glob.escape(base)}:2,*")):  # its reader may have moved it
        with suppress(OSError), place.open("rb") as opened:
            flags = _flags(place)
            return letter(_head(opened), at, unread="S" not in flags, flagged="F" in flags)
    return None


def _head(opened: BinaryIO) -> bytes:
    read = opened.read(HEADER_BYTES_MAX)
    return re.split(rb"\r?\n\r?\n", read, maxsplit=1)[0] + b"\n\n"


def read_mbox(path: Path, start: datetime, end: datetime) -> list[Letter]:
    """The newest mails of an mbox that arrived between two moments; or SourceError."""
    try:
        with path.open("rb") as opened:
            heads = deque(_heads(opened), maxlen=HEADS_MAX)
    except OSError as error:
        raise SourceError(f"the mailbox {path} cannot be read: {error.strerror or error}") from None
    letters = [one for head in heads if (one := _mbox_letter(head)) is not None]
    return nlargest(LETTERS_MAX + 1, (one for one in letters if start <= one.at <= end), key=lambda one: one.at)


def _heads(opened: BinaryIO) -> Iterator[bytes]:
    """The headers of each mail, as far as the file went when it was opened."""
    size = opened.seek(0, 2)
    at = opened.seek(max(0, size - MBOX_BYTES_MAX))
    after_blank, held = at == 0, None
    while at < size and (line := opened.readline(_LINE_BYTES_MAX)):
        at += len(line)
        if after_blank and line.startswith(b"From "):
            held = bytearray()
        elif held is not None and not line.strip():
            yield bytes(held) + b"\n"
            held = None
        elif held is not None and len(held) < HEADER_BYTES_MAX:
            held += line
        after_blank = not line.strip()


def _mbox_letter(head: bytes) -> Letter | None:
    marks = b"".join(re.findall(rb"(?im)^X?-?Status:\s*([A-Z]*)", head)).decode("ascii")
    return None if "D" in marks else letter(head, None, unread="R" not in marks, flagged="F" in marks)
