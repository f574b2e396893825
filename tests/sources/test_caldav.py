"""CalDAV, against a real server: Radicale on this machine."""

from __future__ import annotations

import httpx2
import pytest

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access
from afterglow.sources.caldav import calendar_texts, calendars
from afterglow.sources.calendar import Calendar
from tests.sources.hostile import Hostile
from tests.sources.windows import MORNING, calendar, event

ANA = Access(username="ana", password="pässword", allow_private=True)


@pytest.fixture
def filled(radicale: str) -> str:
    """Two calendars of ana's, one for events and one for tasks alone."""
    auth = httpx2.BasicAuth("ana", "pässword")
    make = (
        '<C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop>'
        '<C:supported-calendar-component-set><C:comp name="{}"/></C:supported-calendar-component-set>'
        "</prop></set></C:mkcalendar>"
    )
    events = {
        "dentist": event("Dentist", ":20260302T220000Z"),
        "standup": event("Standup", ";TZID=America/Los_Angeles:20250101T093000", "DURATION:PT15M", "RRULE:FREQ=DAILY"),
        "later": event("Later", ":20260501T220000Z"),
    }
    with httpx2.Client(base_url=radicale, auth=auth) as web:
        if web.request("PROPFIND", "/ana/home/", headers={"Depth": "0"}).status_code == 207:
            return radicale
        for name, kind in (("home", "VEVENT"), ("tasks", "VTODO")):
            assert web.request("MKCALENDAR", f"/ana/{name}/", content=make.format(kind)).status_code == 201
        for name, one in events.items():
            put = web.put(f"/ana/home/{name}.ics", content=calendar(one), headers={"Content-Type": "text/calendar"})
            assert put.status_code == 201, put.text
    return radicale


@pytest.mark.spec("SRC-3")
@pytest.mark.parametrize("path", ["/ana/home/", "/ana/", "/"])
async def test_events_are_found_from_the_calendar_the_account_or_the_server(filled: str, path: str) -> None:
    source = Calendar(filled.replace("http", "caldav", 1) + path, access=ANA)
    assert await source.report(MORNING, "", tokens_max=300) == (
        "Standup 9:30 AM–9:45 AM (completed). Dentist 2:00 PM (in 45 minutes)."
    )


@pytest.mark.spec("SRC-3")
async def test_only_calendars_of_events_and_only_events_of_the_time_are_fetched(filled: str) -> None:
    assert await calendars(filled + "/", ANA) == [filled + "/ana/home/"]
    texts = await calendar_texts(filled + "/", ANA, MORNING.start, MORNING.end)
    assert ["Standup" in text for text in texts] == [True]


@pytest.mark.spec("SRC-4")
async def test_what_a_server_refuses_is_told_without_the_password(filled: str) -> None:
    wrong = Access(username="ana", password="wrong", allow_private=True)
    with pytest.raises(SourceError, match="answers 401; check username and password_env") as raised:
        await calendar_texts(filled + "/ana/home/", wrong, MORNING.start, MORNING.end)
    assert "wrong" not in str(raised.value)
    with pytest.raises(SourceError, match="answers 404; check the path"):
        await calendar_texts(filled + "/ana/missing/", ANA, MORNING.start, MORNING.end)
    with pytest.raises(SourceError, match="shows no calendar"):
        await calendar_texts(
            filled + "/", Access(username="ben", password="ben", allow_private=True), MORNING.start, MORNING.end
        )


@pytest.mark.spec("SAFE-6")
async def test_a_private_server_is_not_reached_unless_allowed(filled: str) -> None:
    access = Access(username="ana", password="pässword")
    for scheme in ("http", "https"):
        with pytest.raises(SourceError, match="allow_private"):
            await calendar_texts(filled.replace("http", scheme, 1) + "/", access, MORNING.start, MORNING.end)


@pytest.mark.spec("SRC-4")
@pytest.mark.parametrize(("path", "error"), [("entities", "declares entities"), ("plain", "as a CalDAV server does")])
async def test_what_is_no_caldav_server_is_an_error(hostile: Hostile, path: str, error: str) -> None:
    with pytest.raises(SourceError, match=error):
        await calendar_texts(hostile.at(path), ANA, MORNING.start, MORNING.end)
