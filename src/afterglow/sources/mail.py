"""A mailbox as a source: on an IMAP server, in a Maildir, or in an mbox."""

from __future__ import annotations

from pathlib import Path

from afterglow.errors import SourceError
from afterglow.sources import Window
from afterglow.sources.addresses import Access
from afterglow.sources.imap import read_imap
from afterglow.sources.letters import LETTERS_MAX, Letter, mail_listing
from afterglow.sources.listing import Listing, shown
from afterglow.sources.mailboxes import read_maildir, read_mbox
from afterglow.sources.patience import in_thread


class Mail:
    """Reports the mail that arrived in the window, what is urgent first. Nothing is marked as seen."""

    def __init__(self, address: str, *, access: Access | None = None) -> None:
        self._address = address
        self._access = access or Access()

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        return shown(await self.gather(window), tokens_max)

    async def gather(self, window: Window) -> Listing:
        letters = await self._letters(window)
        return mail_listing(letters[:LETTERS_MAX], window, more=len(letters) > LETTERS_MAX)

    async def _letters(self, window: Window) -> list[Letter]:
        scheme, _, rest = self._address.partition(":")
        if scheme in ("imaps", "imap"):
            return await read_imap(self._address, self._access, window.start, window.end)
        if scheme == "maildir":
            return await in_thread(lambda: read_maildir(Path(rest), window.start, window.end))
        if scheme == "mbox":
            return await in_thread(lambda: read_mbox(Path(rest), window.start, window.end))
        raise SourceError(
            f"{scheme!r} is no kind of mailbox; give imaps://user@host/FOLDER, maildir:/path or mbox:/path"
        )
