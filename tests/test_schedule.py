"""Schedules: cron with a zone, right across clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from afterglow.errors import BadInput
from afterglow.schedule import check_schedule, is_due, next_after
from tests.kit.loops import for_each

BERLIN = ZoneInfo("Europe/Berlin")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type]


@pytest.mark.spec("FACT-1")
@for_each(
    "schedule, after, expected",
    [
        ("hourly", utc(2026, 3, 2, 12, 0), utc(2026, 3, 2, 13, 0)),
        ("end-of-day", utc(2026, 3, 2, 12, 0), utc(2026, 3, 2, 22, 55)),
        ("30 18 * * 1-5", utc(2026, 3, 6, 18, 0), utc(2026, 3, 9, 17, 30)),
        ("30 2 * * *", utc(2026, 10, 24, 12, 0), utc(2026, 10, 25, 0, 30)),  # it comes twice: the first
        ("30 2 * * *", utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)),  # and not the second
        ("30 2 * * *", utc(2027, 3, 27, 12, 0), utc(2027, 3, 28, 1, 0)),  # the clocks skip it
        ("hourly", utc(2026, 10, 25, 0, 0), utc(2026, 10, 25, 1, 0)),  # a day of 25 hours has 25 of them
    ],
)
def test_the_next_time_is_right_across_clock_changes(schedule: str, after: datetime, expected: datetime) -> None:
    assert next_after(schedule, after, BERLIN) == expected


@pytest.mark.spec("FACT-1")
def test_a_schedule_is_due_once_its_time_has_passed_and_however_often_it_was_missed() -> None:
    last = utc(2026, 3, 2, 12, 30)
    assert not is_due("hourly", last, last + timedelta(minutes=29), BERLIN)
    assert is_due("hourly", last, last + timedelta(minutes=30), BERLIN)
    assert is_due("hourly", last, last + timedelta(days=3), BERLIN)
    assert not is_due("never", last, last + timedelta(days=3), BERLIN)
    assert is_due("hourly", last + timedelta(days=400), last, BERLIN), "a clock that ran ahead stops nothing for ever"


@for_each("schedule", ["61 * * * *", "daily", "", "* * * *", "0 0 30 2 *"])
def test_nonsense_is_told_with_what_could_be_written(schedule: str) -> None:
    with pytest.raises(BadInput, match="hourly"):
        check_schedule(schedule)
