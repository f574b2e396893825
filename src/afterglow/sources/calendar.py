"""A calendar as a source: an iCalendar file or a folder of them, one on the web, or all calendars of a CalDAV account."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from afterglow.errors import SourceError
from afterglow.sources import Window
from afterglow.sources.addresses import Access
from afterglow.sources.listing import Listing, shown
from afterglow.sources.patience import in_thread

BYTES_MAX = 32 * 1024 * 1024
FILES_MAX = 20_000

_WEB = {"https": "https", "http": "http", "webcal": "https"}
_CALDAV = {"caldavs": "https", "caldav+https": "https", "caldav": "http", "caldav+http": "http"}


class Calendar:
    """Reports what took place in the window, what goes on, and what comes within so many hours."""

    def __init__(self, address: str, *, access: Access | None = None, ahead_hours: float = 4) -> None:
        self._address = address
        self._access = access or Access()
        self._ahead = timedelta(hours=ahead_hours)

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        return shown(await self.gather(window), tokens_max)

    async def gather(self, window: Window) -> Listing:
        """The events from the window's start until some hours from now."""
        from afterglow.sources.agenda import agenda
        from afterglow.sources.events import find_events

        end = max(window.now, window.end) + self._ahead
        texts = await self._texts(window.start, end)
        zone = window.now.tzinfo
        assert zone is not None, "a window without a zone"
        return agenda(await in_thread(lambda: find_events(texts, window.start, end, zone)), window)

    async def _texts(self, start: datetime, end: datetime) -> Sequence[str]:
        scheme, found, rest = self._address.partition("://")
        if found and scheme in _WEB:
            from afterglow.sources.fetch import fetch

            return [(await fetch("GET", f"{_WEB[scheme]}://{rest}", self._access, bytes_max=BYTES_MAX)).text]
        if found and scheme in _CALDAV:
            from afterglow.sources.caldav import calendar_texts

            return await calendar_texts(f"{_CALDAV[scheme]}://{rest}", self._access, start, end)
        return await in_thread(lambda: read_files(Path(self._address)))


def read_files(path: Path) -> list[str]:
    """The text of an iCalendar file, or of all of them in a folder; or SourceError."""
    try:
        files = sorted(islice(path.glob("*.ics"), FILES_MAX)) if path.is_dir() else [path]
        if sum(file.stat().st_size for file in files) > BYTES_MAX:
            raise SourceError(f"the calendar {path} has more than {BYTES_MAX:,} bytes; give a smaller one")
        return [file.read_bytes()[:BYTES_MAX].decode("utf-8-sig", "replace") for file in files]
    except OSError as error:
        raise SourceError(f"the calendar {path} cannot be read: {error.strerror or error}") from None
