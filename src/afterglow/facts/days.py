"""Days in words: which days a text names, by their date or seen from the day it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache, lru_cache

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.months import DAY, DAYS, MONTH, MONTHS
from afterglow.facts.nth import nth_days
from afterglow.facts.numbers import COUNTS, number_of

_BEFORE_A_MORNING = (
    "guten",
    "heute",
    "gestern",
    "am",
    "jeden",
    "den",
    "diesen",
    "dem",
    "ganzen",
    "einen",
    "der",
    "frühen",
    "späten",
)
_NOT_THE_MORNING = "".join(f"(?<!{each} )" for each in _BEFORE_A_MORNING)
_AWAY = {
    -2: "the day before yesterday|day before yesterday|vorgestern|avant-hier|anteayer|przedwczoraj|前天",
    -1: "yesterday|last night|gestern|hier soir|ayer|wczoraj|昨天",
    0: (
        "today|tonight|this morning|this afternoon|this evening|earlier today|heute abend|heute|aujourd'hui|ce soir|hoy|dziś|"
        "dzisiaj|今天"
    ),
    1: f"tomorrow|{_NOT_THE_MORNING}morgen|demain|(?<!la )(?<!esta )(?<!una )mañana|jutro|明天",
    2: "the day after tomorrow|day after tomorrow|übermorgen|après-demain|pasado mañana|pojutrze|后天",
}
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(COUNTS, key=len, reverse=True))}"
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "tag": 1, "tagen": 1, "woche": 7, "wochen": 7}
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
"""As people type them behind "last" and "next"; elsewhere they are mostly other words."""
_SHORT = "|".join(sorted(_SHORT_DAYS, key=len, reverse=True))
RELATIVE = lazily_compiled(
    "|".join(
        [
            rf"(?<!\w)(?:on )?(?P<of_week>{DAY})(?: of|,)? (?P<week>last|this|next) week(?!\w)",
            rf"(?<!\w)(?P<week2>last|this|next) week(?: on|,)? (?P<of_week2>{DAY})(?!\w)",
            *(
                rf"(?P<away{n + 2}>(?<!\w)(?:{words})(?!\w))"
                for n, words in sorted(_AWAY.items(), key=lambda e: -len(e[1]))
            ),
            rf"(?<!\w)in (?P<later>{_COUNT}) (?P<later_unit>{'|'.join(_UNITS)})(?!\w)",
            rf"(?<!\w)(?P<ago>{_COUNT}) (?P<ago_unit>{'|'.join(_UNITS)}) ago(?!\w)",
            rf"(?<!\w)vor (?P<vor>{_COUNT}) (?P<vor_unit>{'|'.join(_UNITS)})(?!\w)",
            r"(?<!\w)(?P<which>next|this past|this|last|coming|nächsten?|kommenden?|letzten?|on|am)\s+"
            rf"(?P<weekday>{DAY}|(?<=next )(?:{_SHORT})|(?<=last )(?:{_SHORT}))(?!\w)",
        ]
    ),
    re.IGNORECASE,
)
ABSOLUTE = lazily_compiled(
    rf"(?P<year>\d{{4}})-(?P<month>\d{{2}})-(?P<day>\d{{2}})"
    rf"|(?<!\d)(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s(?:of\s|de\s)?(?P<name>{MONTH})\.?(?!\w)(?:,?\s(?:de\s)?(?P<year2>\d{{4}}))?"
    rf"|(?<!\w)(?P<name2>{MONTH})\.?\s(?:the\s)?(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s(?P<year3>\d{{4}}))?"
    r"|(?<![\w.-])(?P<day4>\d{1,2})\.\s?(?P<month4>\d{1,2})\.\s?(?P<year4>\d{4})(?![\w.]\w)",
    re.IGNORECASE,
)
MONTH_YEAR = lazily_compiled(rf"(?<!\w)(?<!\d\s)(?P<name>{MONTH})\s(?P<year>\d{{4}})(?!\w)", re.IGNORECASE)
ISO_MONTH = lazily_compiled(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})(?![\d-])")
_WEEKDAY = lazily_compiled(rf"(?<!\w)(?:{DAY})(?!\w)", re.IGNORECASE)
_BESIDE = lazily_compiled(
    rf"(?<!\w)(?:(?:on|am|this|next|last|coming) )?(?P<weekday>{DAY}),? (?:the |den |dem )?(?={ABSOLUTE.pattern})",
    re.IGNORECASE,
)
"""A weekday beside its date, which needs no other day to be told from."""
_NTH = r"(?:st|nd|rd|th|\.)?"
_TO = r"(?: (?:to|until|till|and|bis|al?|au|do) | ?[-–] ?)"
_FROM_TO = lazily_compiled(
    rf"(?<!\d)(?P<first>\d{{1,2}}){_NTH}(?={_TO}\d{{1,2}}{_NTH}\s(?:of\s|de\s)?(?P<name>{MONTH})(?!\w))"
    rf"|(?<!\w)(?P<name2>{MONTH})\.? (?P<first2>\d{{1,2}}){_NTH}{_TO}(?P<last2>\d{{1,2}})(?!\d)",
    re.IGNORECASE,
)
"""From one day of a month to another: the month is named once, and meant of both."""
_TEXTS_KEPT = 16
"""Many claims rest on one text, and a text may be long."""


@lru_cache(maxsize=_TEXTS_KEPT)
def days_named(text: str, said: date) -> frozenset[date]:
    """The days that a text means, by their date or seen from the day it was said; of a day without a year, the near ones."""
    return frozenset(day for days in each_day(text, said) for day in days)


def each_day(text: str, said: date) -> Iterator[set[date]]:
    """The same one by one: of each, the days that it may be."""
    text = _BESIDE.sub("", _FROM_TO.sub(_with_both_months, folded(text)))
    yield from (set(meant(match, said)) for match in RELATIVE.finditer(text))
    alone = _WEEKDAY.finditer(RELATIVE.sub(" ", text))
    yield from (set(_around(DAYS[match.group().lower()], said)) for match in alone)
    yield from (set(written(match, said)) for match in ABSOLUTE.finditer(text))
    yield from nth_days(text, said)


def misnamed(text: str, said: date) -> set[str]:
    """The weekdays that stand beside a date which is of another one."""
    return {
        match.group()
        for match in _BESIDE.finditer(text)
        if DAYS[match["weekday"].lower()] not in {day.weekday() for day in written(match, said)}
    }


def _with_both_months(match: re.Match[str]) -> str:
    if match["first"]:
        return f"{match['first']} {match['name']}"
    return f"{match['first2']} {match['name2']} {match['last2']} {match['name2']}"


def folded(text: str) -> str:
    """Without the two letters that match others when case is ignored, and are no other case of them."""
    return text.replace("ſ", "s").replace("ı", "i").replace("İ", "I")


@cache
def _plain() -> dict[str, int]:
    return {re.sub(r"\(\?<!.*?\)", "", word): n for n, words in _AWAY.items() for word in words.split("|")}


def meant(match: re.Match[str], said: date) -> Iterator[date]:
    """The day that relative words mean; the days, where they may mean more than one."""
    found = match.groupdict()
    for name in ("later", "ago", "vor"):
        if found[name]:
            days = number_of(found[name]) * _UNITS[found[f"{name}_unit"].lower()]
            yield from _shifted(said, days if name == "later" else -days)
            return
    if weekday := found["of_week"] or found["of_week2"]:
        weeks = {"last": -1, "this": 0, "next": 1}[(found["week"] or found["week2"]).lower()]
        yield from _shifted(said, DAYS[weekday.lower()] - said.weekday() + 7 * weeks)
        return
    if found["weekday"]:
        yield from _weekday(found["which"].lower(), (DAYS | _SHORT_DAYS)[found["weekday"].lower()], said)
        return
    yield from _shifted(said, _plain()[match.group().lower()])


def _weekday(which: str, weekday: int, said: date) -> Iterator[date]:
    ahead = (weekday - said.weekday()) % 7
    if which.startswith(("last", "letzt", "this past")):
        yield said - timedelta(days=(said.weekday() - weekday) % 7 or 7)
    elif which.startswith(("next", "nächst")):  # people mean the coming one, or that of the week after
        yield said + timedelta(days=ahead or 7)
        if ahead and ahead + said.weekday() < 7:
            yield said + timedelta(days=ahead + 7)
    elif which in ("on", "am"):  # it may be behind or ahead
        yield from _around(weekday, said)
    else:
        yield said + timedelta(days=ahead)


def _around(weekday: int, said: date) -> Iterator[date]:
    ahead = (weekday - said.weekday()) % 7
    yield said + timedelta(days=ahead)
    yield said + timedelta(days=ahead - 7)
    if not ahead:
        yield said + timedelta(days=7)


def _shifted(said: date, days: int) -> Iterator[date]:
    """The day so many days away, if the calendar has it."""
    try:
        yield said + timedelta(days=days)
    except OverflowError:
        return


def written(match: re.Match[str], said: date) -> Iterator[date]:
    """The day that is written there; without a year, that of each near one."""
    found = match.groupdict()
    day = next(int(found[name]) for name in ("day", "day2", "day3", "day4") if found[name])
    name = found["name"] or found["name2"]
    month = MONTHS[name.lower()] if name else int(found["month"] or found["month4"])
    year = next((found[each] for each in ("year", "year2", "year3", "year4") if found[each]), None)
    years = [int(year)] if year else [said.year - 1, said.year, said.year + 1]
    for each in years:
        try:
            yield date(each, month, day)
        except ValueError:
            continue
