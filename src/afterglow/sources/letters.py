"""Mail as far as it is reported: who wrote, about what, when, and whether it was read. Bodies are never looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.header import decode_header
from email.message import Message
from email.parser import HeaderParser
from email.utils import parseaddr, parsedate_to_datetime

from afterglow.sources import Window
from afterglow.sources.listing import Item, Listing
from afterglow.sources.moments import point
from afterglow.sources.texts import shorter

LETTERS_MAX = 500
"""The most mails that are looked at, the newest first."""
HEADER_BYTES_MAX = 64 * 1024

_SENDER_CHARS_MAX = 60
_SUBJECT_CHARS_MAX = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Letter:
    """One mail. `at` is when it arrived, in UTC."""

    sender: str
    subject: str
    at: datetime
    unread: bool
    urgent: bool = False
    flagged: bool = False


def letter(head: bytes, at: datetime | None, *, unread: bool, flagged: bool) -> Letter | None:
    """A mail from its headers; None where nothing says when it arrived."""
    headers = HeaderParser().parsestr(_text(head[:HEADER_BYTES_MAX]))
    arrived = at or arrival(headers)
    if arrived is None:
        return None
    return Letter(
        sender=shorter(_sender(headers), _SENDER_CHARS_MAX) or "an unknown sender",
        subject=shorter(decoded(_header(headers, "Subject")), _SUBJECT_CHARS_MAX) or "(no subject)",
        at=arrived.astimezone(UTC),
        unread=unread,
        urgent=_is_urgent(headers),
        flagged=flagged,
    )


def arrival(headers: Message) -> datetime | None:
    """When the last server took it in; else when the sender says it was written."""
    received = _header(headers, "Received").rpartition(";")[2]
    for stamp in (received, _header(headers, "Date")):
        if (moment := mail_moment(stamp)) is not None:
            return moment
    return None


def mail_moment(stamp: str) -> datetime | None:
    """The moment that a mail's date stands for; None where it stands for none."""
    try:
        moment = parsedate_to_datetime(stamp.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def decoded(value: str) -> str:
    """A header as people read it; as it stands where its encoding is broken."""
    try:
        parts = decode_header(value)
    except ValueError:  # HeaderParseError is one
        return value
    return "".join(part if isinstance(part, str) else _in_charset(part, charset) for part, charset in parts)


def mail_listing(letters: Sequence[Letter], window: Window, *, more: bool = False) -> Listing:
    """The mail of the window in words, what is urgent or flagged first, then the newest. `more`: there was even more."""
    since = point(window.start, window.now)
    if not letters:
        return Listing(heading=f"No new mail since {since}.", items=())
    first = sorted(letters, key=lambda one: (not (one.urgent or one.flagged), -one.at.timestamp()))
    unread = sum(one.unread for one in letters)
    count = f"{'more than ' if more else ''}{len(letters)} new email{'' if len(letters) == 1 else 's'}"
    return Listing(
        heading=f"{count[0].upper()}{count[1:]} since {since}, {unread or 'none'} unread.",
        items=tuple(Item(text=_sentence(one, window.now), rank=rank) for rank, one in enumerate(first)),
    )


def _sentence(one: Letter, now: datetime) -> str:
    marks = {"unread": one.unread, "urgent": one.urgent, "flagged": one.flagged}
    told = ", ".join([point(one.at.astimezone(now.tzinfo), now), *(mark for mark, is_so in marks.items() if is_so)])
    return f"From {one.sender}: {one.subject} ({told})."


def _is_urgent(headers: Message) -> bool:
    if _header(headers, "X-Priority").strip()[:1] in ("1", "2"):
        return True
    levels = {_header(headers, name).strip().lower() for name in ("Importance", "Priority", "X-MSMail-Priority")}
    return bool(levels & {"high", "urgent"})


def _sender(headers: Message) -> str:
    name, address = parseaddr(_header(headers, "From"))
    return decoded(name) or address or decoded(_header(headers, "From"))


def _header(headers: Message, name: str) -> str:
    return str(headers.get(name, ""))


def _text(head: bytes) -> str:
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _in_charset(part: bytes, charset: str | None) -> str:
    """What claims to be Latin-1 is mostly Windows' superset of it: the dashes and quotation marks are in there."""
    named = "cp1252" if (charset or "").lower() in ("iso-8859-1", "latin-1", "latin1") else charset
    try:
        return part.decode(named or "utf-8", "replace")
    except LookupError:
        return part.decode("utf-8", "replace")
