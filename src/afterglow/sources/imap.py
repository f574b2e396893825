"""Mail on an IMAP server, read without a trace: the folder is only examined, and headers are peeked at."""

from __future__ import annotations

import imaplib
import ipaddress
import re
import socket
import ssl
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access, resolve
from afterglow.sources.letters import LETTERS_MAX, Letter, letter, mail_moment
from afterglow.sources.patience import in_thread, seconds_left

_PORTS = {"imaps": 993, "imap": 143}
_CHUNK = 100
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WANTED = (
    "(UID FLAGS INTERNALDATE BODY.PEEK[HEADER.FIELDS "
    "(FROM SUBJECT DATE IMPORTANCE PRIORITY X-PRIORITY X-MSMAIL-PRIORITY)])"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A folder on a server."""

    host: str
    port: int
    tls: bool
    username: str
    folder: str


def place_of(address: str, access: Access) -> Place:
    """`imaps://user@host:port/FOLDER` taken apart; or SourceError."""
    parts = urlsplit(address)
    username = access.username or unquote(parts.username or "")
    if not parts.hostname or not username:
        raise SourceError("the address of the mailbox names no host or no user; give imaps://user@host/FOLDER")
    return Place(
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        tls=parts.scheme == "imaps",
        username=username,
        folder=unquote(parts.path.lstrip("/")) or "INBOX",
    )


async def read_imap(address: str, access: Access, start: datetime, end: datetime) -> list[Letter]:
    """The newest mails that arrived between two moments; or SourceError."""
    place = place_of(address, access)
    allowed = access.allow_private or _is_this_machine(place.host)
    reached = await resolve(place.host, place.port, allow_private=allowed)
    visit = _Visit(place, reached[0], seconds_left())
    return await in_thread(lambda: visit.letters(access.password or "", start, end), stop=visit.stop)


class _Visit:
    """One connection to the server, from a thread. `stop`, from another, ends whatever it waits for."""

    def __init__(self, place: Place, address: str, seconds: float) -> None:
        self._place = place
        self._address = address
        self._seconds = seconds
        self._socket: socket.socket | None = None

    def letters(self, password: str, start: datetime, end: datetime) -> list[Letter]:
        try:
            with _Client(self._connected()) as client:
                return _letters(client, self._place, password, start, end)
        except (OSError, imaplib.IMAP4.error, ValueError, IndexError) as error:
            raise SourceError(f"the mail server {self._place.host} gives no mail: {_told(error)}") from None

    def stop(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _connected(self) -> socket.socket:
        self._socket = socket.create_connection((self._address, self._place.port), timeout=self._seconds)
        if self._place.tls:
            try:
                self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=self._place.host)
            except OSError:
                self._socket.close()
                raise
        return self._socket


class _Client(imaplib.IMAP4):
    """imaplib over a connection that was made, and checked, elsewhere."""

    def __init__(self, connected: socket.socket) -> None:
        self._connected = connected
        super().__init__()

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._connected


def _letters(client: imaplib.IMAP4, place: Place, password: str, start: datetime, end: datetime) -> list[Letter]:
    client.login(place.username, password)
    _good(client.select(_quoted(place.folder), readonly=True), f"there is no folder {place.folder!r}")
    # SINCE knows days only, and only those of the server's own zone.
    day = (start - timedelta(days=1)).astimezone(UTC)
    since = f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"
    found = _good(client.uid("SEARCH", "SINCE", since), "it cannot be searched")
    uids = sorted(int(uid) for uid in found[0].split())[-LETTERS_MAX * 2 :] if found and found[0] else []
    letters: list[Letter] = []
    for at in range(len(uids), 0, -_CHUNK):
        chunk = ",".join(map(str, uids[max(0, at - _CHUNK) : at]))
        rows = _good(client.uid("FETCH", chunk, _WANTED), "its mail cannot be read")
        letters += [one for one in _read(rows) if start <= one.at <= end]
    letters.sort(key=lambda one: one.at, reverse=True)
    return letters[: LETTERS_MAX + 1]


def _read(rows: Sequence[Any]) -> list[Letter]:
    """The mails in a FETCH answer: for each a pair of what stands before the headers and the headers, then the rest."""
    letters: list[Letter] = []
    for place, row in enumerate(rows):
        if not isinstance(row, tuple):
            continue
        rest = rows[place + 1] if place + 1 < len(rows) and isinstance(rows[place + 1], bytes) else b""
        around, head = bytes(row[0]) + b" " + rest, bytes(row[1])  # pyright: ignore[reportUnknownArgumentType]
        flags = (re.search(rb"FLAGS \(([^)]*)\)", around) or [b"", b""])[1].lower().split()
        stamp = re.search(rb'INTERNALDATE "([^"]*)"', around)
        at = mail_moment(stamp[1].decode("ascii", "replace")) if stamp else None
        if b"\\deleted" in flags:
            continue
        one = letter(head, at, unread=b"\\seen" not in flags, flagged=b"\\flagged" in flags)
        letters += [one] if one is not None else []
    return letters


def _good(answer: tuple[str, Any], fault: str) -> list[Any]:
    if answer[0] != "OK":
        raise ValueError(fault)
    return answer[1]


def _quoted(folder: str) -> str:
    """A folder's name as the protocol has it: in quotation marks, and other letters in its own kind of UTF-7."""

    def shifted(run: re.Match[str]) -> str:
        return "&" + b64encode(run[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",") + "-"

    name = re.sub(r"[^\x20-\x7e]+", shifted, folder.replace("&", "&-"))
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _told(error: Exception) -> str:
    said = error.args[0] if error.args and isinstance(error.args[0], bytes) else str(error)
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else said or type(error).__name__


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
