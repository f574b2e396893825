"""Whether a rule by which an event repeats can be written out in bearable time.

A rule is followed step by step from its first day on. `FREQ=SECONDLY` since 1990 takes a thousand million steps, and a rule
that never comes true is followed to the end of the calendar, in the year 9999. Such rules are refused by their look.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

STEPS_MAX = 400_000
DAYS_IN_YEAR = 366

_DAYS = {"DAILY": 1.0, "WEEKLY": 1.0, "MONTHLY": 1.0, "YEARLY": 1.0, "HOURLY": 1 / 24, "MINUTELY": 1 / 1440}
_DAYS["SECONDLY"] = _DAYS["MINUTELY"] / 60
"""How many days one step of a rule is. Slower rules than daily ones look at every day all the same."""

_FILTERS = ("BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS")
_CLOCK = {"HOURLY": ("BYMINUTE", "BYSECOND"), "MINUTELY": ("BYSECOND",), "SECONDLY": ()}


def rule_parts(rule: str) -> dict[str, str]:
    """`FREQ=DAILY;COUNT=3` as a mapping, its keys and values in capitals."""
    pairs = (part.partition("=") for part in rule.upper().split(";"))
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}


def is_bearable(rule: Mapping[str, str], years: float) -> bool:
    """Whether following the rule over so many years takes a bearable number of steps, and comes to an end."""
    frequency, interval = rule.get("FREQ", ""), rule.get("INTERVAL", "1")
    if frequency not in _DAYS or not interval.isdecimal() or not 0 < int(interval) < 100_000:
        return False
    if _may_never_come_true(rule, frequency, int(interval)):
        return False
    spaced = int(interval) if _DAYS[frequency] < 1 or frequency == "DAILY" else 1
    times = prod(
        rule[key].count(",") + 1 for key in _CLOCK.get(frequency, _CLOCK["HOURLY"] + ("BYHOUR",)) if key in rule
    )
    return years * DAYS_IN_YEAR / _DAYS[frequency] / spaced * times <= STEPS_MAX


def _may_never_come_true(rule: Mapping[str, str], frequency: str, interval: int) -> bool:
    """The 30th of February. Weekly and slower rules reach the year 9999 soon enough; quicker ones do not."""
    if frequency in ("WEEKLY", "MONTHLY", "YEARLY"):
        return False
    filters = sum(key in rule for key in _FILTERS)
    if frequency == "DAILY":
        return filters > 1
    return filters > 0 or ("BYDAY" in rule and interval > 1)
