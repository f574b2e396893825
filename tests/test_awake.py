"""Awake hours: by the clock on the wall, over midnight, across clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.awake import AwakeHours, is_awake, next_awake
from tests.kit.loops import for_each

BERLIN = ZoneInfo("Europe/Berlin")
DAY = AwakeHours(start=time(8), end=time(22), zone=BERLIN)
NIGHT_OWL = AwakeHours(start=time(14), end=time(2), zone=BERLIN)
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"]


def berlin(*when: int, fold: int = 0) -> datetime:
    return datetime(*when, tzinfo=BERLIN, fold=fold)  # type: ignore[arg-type, misc]


@pytest.mark.spec("AWAY-10")
@for_each(
    "hours, at, awake",
    [
        (DAY, berlin(2026, 3, 2, 8), True),
        (DAY, berlin(2026, 3, 2, 7, 59), False),
        (DAY, berlin(2026, 3, 2, 22), False),
        (NIGHT_OWL, berlin(2026, 3, 2, 1, 59), True),
        (NIGHT_OWL, berlin(2026, 3, 2, 2), False),
        (NIGHT_OWL, berlin(2026, 3, 2, 13, 59), False),
        (AwakeHours(start=time(8), end=time(8), zone=BERLIN), berlin(2026, 3, 2, 3), True),
        (None, berlin(2026, 3, 2, 3), True),
    ],
)
def test_the_beginning_is_within_and_the_end_is_not(hours: AwakeHours | None, at: datetime, awake: bool) -> None:
    assert is_awake(at, hours) is awake


@pytest.mark.spec("AWAY-10")
@for_each(
    "hours, at, morning",
    [
        (DAY, berlin(2026, 3, 2, 3), berlin(2026, 3, 2, 8)),
        (DAY, berlin(2026, 3, 2, 23), berlin(2026, 3, 3, 8)),
        (DAY, berlin(2026, 3, 29, 1), berlin(2026, 3, 29, 8)),  # an hour shorter
        (DAY, berlin(2026, 10, 25, 1), berlin(2026, 10, 25, 8)),  # an hour longer
        (AwakeHours(start=time(2, 30), end=time(20), zone=BERLIN), berlin(2026, 3, 29, 1), berlin(2026, 3, 29, 3)),
        (
            AwakeHours(start=time(2, 30), end=time(20), zone=BERLIN),
            berlin(2026, 10, 25, 2, 10, fold=1),
            berlin(2026, 10, 25, 2, 30, fold=1),
        ),
    ],
)
def test_at_night_it_waits_for_the_morning_of_that_zone(hours: AwakeHours, at: datetime, morning: datetime) -> None:
    assert next_awake(at.astimezone(UTC), hours) == morning.astimezone(UTC)


@pytest.mark.spec("AWAY-10")
@settings(max_examples=300, deadline=None)
@given(
    st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2027, 12, 31)),
    st.times(),
    st.times(),
    st.sampled_from(ZONES),
)
def test_the_next_awake_moment_is_awake_soon_and_the_first(at: datetime, start: time, end: time, zone: str) -> None:
    hours = AwakeHours(
        start=start.replace(second=0, microsecond=0), end=end.replace(second=0, microsecond=0), zone=ZoneInfo(zone)
    )
    now = at.replace(tzinfo=UTC)
    found = next_awake(now, hours)
    assert is_awake(found, hours) and now <= found < now + timedelta(hours=49)
    if found > now:
        assert not is_awake(found - timedelta(minutes=1), hours) or found - timedelta(minutes=1) <= now


def _minute(clock: time) -> time:
    return clock.replace(second=0, microsecond=0)
