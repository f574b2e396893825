"""The file of the log, and how a name is taken out of it again.

Whoever writes the log has it open, perhaps another process, and may start it anew at any moment. So no line is removed and no
file replaced: what names the one who was forgotten is written over where it stands, with as many bytes, while others go on
writing at the end. A record goes as a whole, with its traceback, since an error may quote what was said.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from afterglow.errors import StoreUnusable
from afterglow.memory_files.names import folder_name

FILE = "afterglow.log"
OLDER_KEPT = 1
"""So many files from before stay beside it: afterglow.log.1."""

_FORGOTTEN = "(of somebody who was forgotten)"
_FORGOTTEN_JSON = json.dumps({"message": _FORGOTTEN})
_BEGINNING = re.compile(
    rb'^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} |\{"at": |\(of somebody who was|\{"message": )', re.MULTILINE
)


def unname(data_dir: Path, owner: str) -> int:
    """Nothing that was logged names this owner any more; the answer is how many records did."""
    # The newest first: one that is started anew meanwhile is looked at under its other name.
    files = [data_dir / FILE, *(data_dir / f"{FILE}.{number}" for number in range(1, OLDER_KEPT + 1))]
    return sum(_unname(file, _names(owner)) for file in files)


def _unname(file: Path, names: re.Pattern[str]) -> int:
    try:
        with file.open("r+b") as log:
            data = log.read()
            found = [(start, end) for start, end in _records(data) if names.search(_text(data[start:end]))]
            for start, end in found:
                log.seek(start)
                log.write(_blank(data[start:end]))
            if found:
                log.flush()
                os.fsync(log.fileno())
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StoreUnusable(
            f"it is forgotten, and the log {file} may still name it: {error.strerror or error}; mend that, or remove the file"
        ) from None
    return len(found)


def _names(owner: str) -> re.Pattern[str]:
    """The owner's name in all the ways that a line may have it, and not as a part of a longer name."""
    forms = {owner, repr(owner)[1:-1], json.dumps(owner)[1:-1], folder_name(owner), quote(owner, safe="")}
    listed = "|".join(map(re.escape, sorted(forms)))
    return re.compile(rf"(?<![A-Za-z0-9_@%+~.-])(?:{listed})(?![A-Za-z0-9_@%+~-]|\.[A-Za-z0-9])")


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each record begins and ends; one may have many lines."""
    starts = [found.start() for found in _BEGINNING.finditer(data)]
    return pairwise([0, *(start for start in starts if start), len(data)])


def _text(record: bytes) -> str:
    """What a record says, without the escapes of JSON."""
    try:
        said: Any = json.loads(record)
    except ValueError:
        return record.decode(errors="replace")
    values = cast("dict[str, Any]", said).values() if isinstance(said, dict) else [said]
    return "\n".join(map(str, values))


def _blank(record: bytes) -> bytes:
    """As many bytes that say nothing; JSON is JSON still."""
    end = b"\n" if record.endswith(b"\n") else b""
    told = (_FORGOTTEN_JSON if record.startswith(b"{") else _FORGOTTEN).encode()
    length = len(record) - len(end)
    return (told if len(told) <= length else b"").ljust(length) + end
