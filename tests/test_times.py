"""When tasks run: cron as Debian reads it, in zones whose clocks change, beside the schedules of the rest of Afterglow."""

from __future__ import annotations

import builtins
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.agent import times
from afterglow.agent.times import at_wall, check_cron, moment_of, next_time, zone_of
from afterglow.errors import BadInput, MissingPackage
from afterglow.schedule import next_after
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("AGENT-7")

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
CHANGES = {
    "Berlin forward": (BERLIN, datetime(2026, 3, 29, 1, tzinfo=UTC)),
    "Berlin back": (BERLIN, datetime(2026, 10, 25, 1, tzinfo=UTC)),
    "New York forward": (NEW_YORK, datetime(2026, 3, 8, 7, tzinfo=UTC)),
    "New York back": (NEW_YORK, datetime(2026, 11, 1, 6, tzinfo=UTC)),
}


def walls(cron: str, zone: ZoneInfo, first: datetime, days: float) -> list[str]:
    """What the clocks show at each time of some days."""
    found, at = [], first
    while (at := next_time(cron, at, zone)) is not None and at <= first + timedelta(days=days):
        found.append(f"{at.astimezone(zone):%d %H:%M %Z}")
    return found


@for_each("change", CHANGES)
@for_each("hour", [0, 1, 2, 3, 4, 12])
@for_each("minute", [0, 30, 59])
def test_a_time_of_the_day_is_taken_once_a_day_whatever_the_clocks_do(change: str, hour: int, minute: int) -> None:
    zone, at = CHANGES[change]
    start = at_wall(at.astimezone(zone).replace(hour=0, minute=0) - timedelta(days=2, seconds=1), zone)
    end = at_wall(at.astimezone(zone).replace(hour=0, minute=0) + timedelta(days=3), zone)
    found, moment = [], start
    while (moment := next_time(f"{minute} {hour} * * *", moment, zone) or end) < end:
        found.append(moment.astimezone(zone))
    assert [each.day for each in found] == [
        (start + timedelta(days=n, hours=13)).astimezone(zone).day for n in range(5)
    ]
    exact = [each for each in found if (each.hour, each.minute) == (hour, minute)]
    assert len(exact) == 5 or ("forward" in change and hour == 2 and len(exact) == 4)


def test_what_the_clocks_skip_is_taken_at_the_end_of_the_gap_and_what_comes_twice_the_first_time() -> None:
    assert walls("30 2 * * *", BERLIN, datetime(2026, 3, 28, tzinfo=UTC), 2.5) == [
        "28 02:30 CET",
        "29 03:00 CEST",
        "30 02:30 CEST",
    ]
    assert walls("30 2 * * *", BERLIN, datetime(2026, 10, 24, tzinfo=UTC), 2.5) == [
        "24 02:30 CEST",
        "25 02:30 CEST",
        "26 02:30 CET",
    ]
    assert walls("30 2 * * *", NEW_YORK, datetime(2026, 3, 7, tzinfo=UTC), 2.5) == [
        "07 02:30 EST",
        "08 03:00 EDT",
        "09 02:30 EDT",
    ]
    assert walls("30 1 * * *", NEW_YORK, datetime(2026, 10, 31, 12, tzinfo=UTC), 2) == ["01 01:30 EDT", "02 01:30 EST"]
    assert walls("10,40 2 * * *", BERLIN, datetime(2026, 3, 29, tzinfo=UTC), 0.5) == ["29 03:00 CEST"], "one catches up"


def test_late_in_the_hour_that_comes_again_a_time_of_the_day_is_not_taken_again() -> None:
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert f"{second.astimezone(BERLIN):%H:%M %Z}" == "02:10 CET"
    found = next_time("30 2 * * *", second, BERLIN)
    assert found is not None and f"{found.astimezone(BERLIN):%d %H:%M}" == "26 02:30"


def test_what_is_meant_as_a_distance_goes_through_the_change() -> None:
    assert walls("*/30 * * * *", BERLIN, datetime(2026, 10, 24, 23, 45, tzinfo=UTC), 0.11) == [
        "25 02:00 CEST",
        "25 02:30 CEST",
        "25 02:00 CET",
        "25 02:30 CET",
        "25 03:00 CET",
    ]
    assert walls("0 * * * *", NEW_YORK, datetime(2026, 3, 8, 5, 30, tzinfo=UTC), 0.1) == [
        "08 01:00 EST",
        "08 03:00 EDT",
    ]
    late = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)
    assert walls("*/30 * * * *", BERLIN, late, 0.03) == ["25 02:00 CET", "25 02:30 CET"]


def test_weekdays_are_crons_and_day_or_weekday_is_enough() -> None:
    monday = datetime(2026, 3, 2, tzinfo=UTC)

    def days(cron: str) -> list[str]:
        found, at = [], monday
        for _ in range(4):
            at = next_time(cron, at, UTC)
            assert at is not None
            found.append(f"{at:%a %d}")
        return found

    assert days("0 9 * * 0") == days("0 9 * * 7") == days("0 9 * * sun") == ["Sun 08", "Sun 15", "Sun 22", "Sun 29"]
    assert days("0 9 * * 1-5") == ["Mon 02", "Tue 03", "Wed 04", "Thu 05"]
    assert days("0 9 * * 5-7") == days("0 9 * * FRI-SUN") == ["Fri 06", "Sat 07", "Sun 08", "Fri 13"]
    assert days("0 9 13 * 5") == ["Fri 06", "Fri 13", "Fri 20", "Fri 27"]
    assert days("0 9 14 3 5") == ["Fri 06", "Fri 13", "Sat 14", "Fri 20"]
    assert days("0 9 */2 * 1") == ["Mon 09", "Mon 23", "Mon 13", "Mon 27"], "a star in front wants both, as Debian does"


FIELDS = [(0, 59), (0, 23), (1, 28), (1, 12), (0, 7)]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        numbers.map(str),
        st.integers(2, 6).map(lambda step: f"*/{step}"),
        st.lists(numbers, min_size=1, max_size=3).map(lambda found: ",".join(map(str, sorted(set(found))))),
        st.tuples(numbers, numbers).filter(lambda ends: ends[0] < ends[1]).map(lambda ends: f"{ends[0]}-{ends[1]}"),
    )


@settings(max_examples=400, deadline=None)
@given(
    fields=st.tuples(*(field(low, high) for low, high in FIELDS)),
    change=st.sampled_from(sorted(CHANGES)),
    minutes=st.integers(-3000, 300),
)
def test_a_cron_expression_means_the_same_here_as_in_the_settings(
    fields: tuple[str, ...], change: str, minutes: int
) -> None:
    zone, at = CHANGES[change]
    after = at + timedelta(minutes=minutes)
    wanted = next_after(" ".join(fields), after, zone)
    if wanted is None or wanted > after:  # in the hour that comes again the other gives what is past
        assert next_time(" ".join(fields), after, zone) == wanted


@for_each(
    "cron, why",
    [
        ("* * * *", "five fields"),
        ("", "five fields"),
        ("60 * * * *", "higher than the maximum"),
        ("0 9 * * 8", "no weekday"),
        ("0 9 * * fri-mon", "runs backwards"),
        ("0 9 * * dog", "no weekday"),
        ("0 9 ? * *", "not of numbers"),
        ("0 9 L * *", "Unrecognized"),
        ("*/0 * * * *", "Increment"),
        ("0 0 31 2 *", "no day that there is"),
        ("@daily", "five fields"),
    ],
)
def test_what_is_no_cron_expression_is_refused_with_the_reason(cron: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check_cron(cron)


def test_a_moment_without_an_offset_is_one_of_the_zone() -> None:
    assert moment_of("2026-07-01T09:15", BERLIN) == datetime(2026, 7, 1, 7, 15, tzinfo=UTC)
    assert moment_of("2026-07-01T09:15-04:00", BERLIN) == datetime(2026, 7, 1, 13, 15, tzinfo=UTC)
    assert moment_of("2026-03-29T02:30", BERLIN) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "there is no such time"
    assert moment_of("2026-10-25T02:30", BERLIN) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "the first of two"
    assert moment_of("2026-10-04T02:10", ZoneInfo("Australia/Lord_Howe")) == datetime(2026, 10, 3, 15, 30, tzinfo=UTC)
    for wrong in ("tomorrow", "2026-13-01", ""):
        with pytest.raises(BadInput, match="is no time"):
            moment_of(wrong, UTC)
    for name in ("Europe/Berln", "", "../etc", "/etc/passwd", "Europe"):
        with pytest.raises(BadInput, match="there is no zone"):
            zone_of(name)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("apscheduler"):
            raise ImportError("no", name="apscheduler.triggers")
        return real(name, *args, **more)

    times._triggers.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackage, match=r"need the package apscheduler; .*\[agent\]"):
        next_time("0 9 * * *", datetime(2026, 1, 1, tzinfo=UTC), UTC)
