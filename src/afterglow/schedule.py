"""When something is to be done again and again: every hour, at the end of the day, or as a cron expression says, in a zone.

A day with a clock change has every time once: a time that the clocks skip is taken when they have passed it, one that comes
twice is taken the first time. What was missed is caught up with once, not as often as it was missed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim, CronSimError

from afterglow.errors import BadInput

NAMED = {"hourly": "0 * * * *", "end-of-day": "55 23 * * *"}
"""Schedules that have a name."""
NEVER = "never"


def check_schedule(schedule: str) -> str:
    """The schedule, if it is one."""
    if schedule != NEVER:
        next_after(schedule, datetime(2026, 1, 1, tzinfo=UTC), UTC)
    return schedule


def next_after(schedule: str, after: datetime, zone: tzinfo) -> datetime | None:
    """The first moment after this one that the schedule names; None where it never does."""
    if schedule == NEVER:
        return None
    expression = NAMED.get(schedule, schedule)
    try:
        return next(CronSim(expression, after.astimezone(zone))).astimezone(UTC)
    except CronSimError as error:
        raise BadInput(
            f"{schedule!r} is no schedule ({error}); write {', '.join(NAMED)}, {NEVER}, or five cron fields such as "
            "'30 18 * * 1-5' (minute, hour, day, month, weekday)"
        ) from None
    except StopIteration:
        return None


def is_due(schedule: str, last: datetime, now: datetime, zone: tzinfo) -> bool:
    """Whether a time of the schedule has passed since it was last kept."""
    if last > now + timedelta(days=1):  # a clock that ran ahead does not stop it for ever
        return True
    due = next_after(schedule, last, zone)
    return due is not None and due <= now
