"""The log of what happens inside Afterglow: a file in the data folder, or lines on stderr, for people or for programs."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Literal

from afterglow.errors import StoreUnusable
from afterglow.log_lines import FILE, OLDER_KEPT
from afterglow.work import doing

BYTES_MAX = 5_000_000


class _PrivateFile(RotatingFileHandler):
    """A file that its owner alone can read, since an error may quote what was said."""

    def _open(self) -> io.TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8")


class _JSONLines(logging.Formatter):
    """One JSON object for each record, with the work that was being done when it was written."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if claim := doing.get():
            said |= {"act": claim.kind, "session": claim.subject, "owner": claim.owner, "reason": claim.reason}
            said["attempt"] = claim.attempt
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


@contextmanager
def written(
    data_dir: Path, form: Literal["text", "json"] = "text", to: Literal["file", "stderr"] = "file"
) -> Generator[Path | None]:
    """Within this, everything that is logged goes to the file, which is started anew when it has become large; or to stderr."""
    path = data_dir / FILE if to == "file" else None
    handler = _file(path) if path else logging.StreamHandler(sys.stderr)
    people = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_JSONLines() if form == "json" else people)
    everything, ours = logging.getLogger(), logging.getLogger("afterglow")
    level = ours.level
    everything.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        yield path
    finally:
        ours.setLevel(level)
        everything.removeHandler(handler)
        handler.close()


def _file(path: Path) -> logging.Handler:
    try:
        return _PrivateFile(path, maxBytes=BYTES_MAX, backupCount=OLDER_KEPT)
    except OSError as error:
        raise StoreUnusable(
            f"cannot write the log at {path}: {error.strerror}; make that folder writable, choose another with --data-dir, "
            'or set server.log_to to "stderr"'
        ) from None


@contextmanager
def aside(data_dir: Path) -> Generator[None]:
    """Within this, what is logged goes to the file if it can be written, and never to the terminal.

    For commands that say themselves what happened.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(written(data_dir))
        except StoreUnusable:
            nowhere = logging.NullHandler()
            logging.getLogger().addHandler(nowhere)
            stack.callback(logging.getLogger().removeHandler, nowhere)
        yield
