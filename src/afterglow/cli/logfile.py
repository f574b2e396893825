"""afterglow.log in the data folder: what went wrong inside Afterglow, for whoever has to find out why."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

BYTES_MAX = 5_000_000
OLDER_KEPT = 1


class _PrivateFile(RotatingFileHandler):
    """A file that its owner alone can read, since an error may quote what was said."""

    def _open(self) -> io.TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8")


@contextmanager
def written(data_dir: Path) -> Generator[Path]:
    """Within this, everything that is logged goes to the file, which is started anew when it has become large."""
    path = data_dir / "afterglow.log"
    handler = _PrivateFile(path, maxBytes=BYTES_MAX, backupCount=OLDER_KEPT)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
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


@contextmanager
def aside(data_dir: Path) -> Generator[None]:
    """Within this, what is logged goes to the file if there is a data folder, and never to the terminal.

    For commands that say themselves what happened.
    """
    if data_dir.is_dir():
        with written(data_dir):
            yield
        return
    nowhere = logging.NullHandler()
    logging.getLogger().addHandler(nowhere)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nowhere)
