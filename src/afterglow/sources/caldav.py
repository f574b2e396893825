"""Reading calendars over CalDAV (RFC 4791): which calendars there are, and what lies in a span of time. Nothing is written.

It is three kinds of request over the same checked connections as all other HTTP here, which is why no library does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urljoin
from xml.etree import ElementTree

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access, site
from afterglow.sources.fetch import fetch

CALENDARS_MAX = 50

_DAV, _CAL = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}"
_XML = {"Content-Type": "application/xml; charset=utf-8"}
_ASK_PLACE = (
    '<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><current-user-principal/>'
    "<C:calendar-home-set/><C:supported-calendar-component-set/></prop></propfind>"
)
_ASK_EVENTS = (
    '<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><C:calendar-data/></prop><C:filter>'
    '<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="{start}" end="{end}"/>'
    "</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"
)


async def calendar_texts(address: str, access: Access, start: datetime, end: datetime) -> list[str]:
    """The events between two moments, each as iCalendar text: of one calendar, or of all that the address leads to."""
    texts: list[str] = []
    query = _ASK_EVENTS.format(start=_stamp(start), end=_stamp(end))
    for calendar in await calendars(address, access):
        answer = await _send("REPORT", calendar, access, query, depth=1)
        texts += [data.text for data in answer.iter(f"{_CAL}calendar-data") if data.text]
    return texts


async def calendars(address: str, access: Access) -> list[str]:
    """The calendars at an address, which is that of a calendar, of an account, or just of the server."""
    place = await _look(address, access)
    if _is_calendar(place):
        return [address]
    home = _href(place, f"{_CAL}calendar-home-set")
    principal = _href(place, f"{_DAV}current-user-principal")
    if home is None and principal is not None:
        address = urljoin(address, principal)
        home = _href(await _look(address, access), f"{_CAL}calendar-home-set")
    home_address = urljoin(address, home) if home else address
    below = await _send("PROPFIND", home_address, access, _ASK_PLACE, depth=1)
    found = [urljoin(home_address, href) for href, row in _rows(below) if _is_calendar(row) and _has_events(row)]
    if not found:
        raise SourceError(f"{site(address)} shows no calendar at this path; give the address of the calendar itself")
    return found[:CALENDARS_MAX]


async def _look(address: str, access: Access) -> ElementTree.Element:
    return await _send("PROPFIND", address, access, _ASK_PLACE, depth=0)


async def _send(method: str, address: str, access: Access, body: str, *, depth: int) -> ElementTree.Element:
    content = f'<?xml version="1.0" encoding="utf-8"?>{body}'.encode()
    answer = await fetch(method, address, access, content=content, headers={**_XML, "Depth": str(depth)})
    text = answer.text
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SourceError(f"{site(address)} answers with XML that declares entities, which no CalDAV server needs to")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise SourceError(f"{site(address)} does not answer as a CalDAV server does: {error}") from None


def _rows(answer: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    for row in answer.iter(f"{_DAV}response"):
        if href := (row.findtext(f"{_DAV}href") or "").strip():
            yield href, row


def _href(place: ElementTree.Element, name: str) -> str | None:
    for found in place.iter(name):
        return (found.findtext(f"{_DAV}href") or "").strip() or None
    return None


def _is_calendar(place: ElementTree.Element) -> bool:
    return any(kind.find(f"{_CAL}calendar") is not None for kind in place.iter(f"{_DAV}resourcetype"))


def _has_events(place: ElementTree.Element) -> bool:
    """Whether a calendar takes events; one that does not say takes everything."""
    kinds = [kind.get("name") for kind in place.iter(f"{_CAL}comp")]
    return not kinds or "VEVENT" in kinds


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
