"""Days in words: which days a text names, and "tomorrow" as the day it was on the day it was said.

A fact must still be right when it is read in a year, so relative days are made absolute by code, from the moment of the
turn in the owner's zone; and a day that a model writes must be one that the turn supports.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache, lru_cache

from afterglow.facts.numbers import COUNTS, number_of
from afterglow.facts.quoted import QUOTATION
from afterglow.facts.spans import spans_in, spans_written

_MONTH_NAMES = [
    "january jan januar janvier enero styczeń stycznia",
    "february feb februar février febrero luty lutego",
    "march mar märz mars marzo marzec marca",
    "april apr avril abril kwiecień kwietnia",
    "may mai mayo maj maja",
    "june jun juni juin junio czerwiec czerwca",
    "july jul juli juillet julio lipiec lipca",
    "august aug août agosto sierpień sierpnia",
    "september sep sept septembre septiembre wrzesień września",
    "october oct oktober okt octobre octubre październik października",
    "november nov novembre noviembre listopad listopada",
    "december dec dezember dez décembre diciembre grudzień grudnia",
]
_DAY_NAMES = [
    "monday montag lundi lunes poniedziałek",
    "tuesday dienstag mardi martes wtorek",
    "wednesday mittwoch mercredi miércoles środa środę",
    "thursday donnerstag jeudi jueves czwartek",
    "friday freitag vendredi viernes piątek",
    "saturday samstag samedi sábado sobota sobotę",
    "sunday sonntag dimanche domingo niedziela niedzielę",
]
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_DAYS = {name: number for number, names in enumerate(_DAY_NAMES) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = "|".join(sorted(_DAYS, key=len, reverse=True))
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
_RELATIVE = re.compile(
    "|".join(
        [
            *(
                rf"(?P<away{n + 2}>(?<!\w)(?:{words})(?!\w))"
                for n, words in sorted(_AWAY.items(), key=lambda e: -len(e[1]))
            ),
            rf"(?<!\w)in (?P<later>{_COUNT}) (?P<later_unit>{'|'.join(_UNITS)})(?!\w)",
            rf"(?<!\w)(?P<ago>{_COUNT}) (?P<ago_unit>{'|'.join(_UNITS)}) ago(?!\w)",
            rf"(?<!\w)vor (?P<vor>{_COUNT}) (?P<vor_unit>{'|'.join(_UNITS)})(?!\w)",
            r"(?<!\w)(?P<which>next|this past|this|last|coming|nächsten?|kommenden?|letzten?|on|am)\s+"
            rf"(?P<weekday>{_DAY})(?!\w)",
        ]
    ),
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(
    rf"(?P<year>\d{{4}})-(?P<month>\d{{2}})-(?P<day>\d{{2}})"
    rf"|(?<!\d)(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s(?:of\s|de\s)?(?P<name>{_MONTH})\.?(?!\w)(?:,?\s(?:de\s)?(?P<year2>\d{{4}}))?"
    rf"|(?<!\w)(?P<name2>{_MONTH})\.?\s(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s(?P<year3>\d{{4}}))?"
    r"|(?<![\w.-])(?P<day4>\d{1,2})\.\s?(?P<month4>\d{1,2})\.\s?(?P<year4>\d{4})(?![\w.]\w)",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"(?<!\w)(?<!\d\s)(?P<name>{_MONTH})\s(?P<year>\d{{4}})(?!\w)", re.IGNORECASE)
_LED = re.compile(
    r"\b(?:to|until|till|by|from|since|for|before|after|of|and|or|between|in|on|during|over|at|around|throughout)\s+$",
    re.IGNORECASE,
)
_IN_ENGLISH = re.compile(r"day|night|morning|noon|evening|week|tomorrow| ago", re.IGNORECASE)
_MONTH_NAME = re.compile(rf"(?<!\w)(?:{_MONTH})(?!\w)", re.IGNORECASE)
_SEASON = re.compile(
    r"(?<!\w)(?:spring|summer|autumn|fall|winter|frühling|frühjahr|sommer|herbst|printemps|été|automne|hiver|primavera|verano|otoño"
    r"|invierno|estate|autunno|inverno|verão|outono|wiosn\w+|lat[oa]|jesie\w+|zim[ayęo]\w*|вес[ен]\w+|лет[оа]|осен\w+|зим\w+|zomer"
    r"|herfst)(?!\w)",
    re.IGNORECASE,
)
_WITH_YEAR = re.compile(r"(?P<day>\d{1,2}\.? (?:de )?[^\W\d_]+)(?: de)? (?P<year>\d{4})(?!\d)")
"""A day in a language whose months nobody has told us."""
_ISO_MONTH = re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})(?![\d-])")
_OF_A_WEEK = re.compile(
    rf"(?<!\w)(?:on )?(?P<weekday>{_DAY})(?: of|,)? (?P<which>last|this|next) week(?!\w)"
    rf"|(?<!\w)(?P<which2>last|this|next) week(?: on|,)? (?P<weekday2>{_DAY})(?!\w)",
    re.IGNORECASE,
)
_TEXTS_KEPT = 16
"""Many claims rest on one text, and a text may be long."""
_FEW = re.compile(
    r"(?<!\w)(?:(?P<few>a few|several|some|many) (?P<unit>day|week|month|year)s ago|the other day)(?!\w)", re.IGNORECASE
)
_LEFT = re.compile(
    rf"(?<!\w)(?:tomorrow|yesterday|today|tonight|(?:next|last|coming) (?:{_DAY})"
    r"|(?<!the )(?:next|last) (?:week|weekend|month|year|quarter)"
    rf"|(?:\w+|a few|some|a couple of) (?:minute|hour|day|week|month|year)s? ago|the other day)(?!\w)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"(?<!\w)(?:{_DAY})(?!\w)", re.IGNORECASE)
_AGAIN = re.compile(
    r"(?<!\w)(?:every|each|always|daily|weekly|monthly|nightly|whenever|any (?:change|time|day)|usually|jede[nrsm]?|immer"
    r"|täglich|wöchentlich|cada|siempre|tod[oa]s l[oa]s|chaque|toujours|tou(?:te)?s les|ogni|sempre|tod[oa]s [oa]s"
    r"|każd\w+|zawsze|codziennie|кажд\w+|всегда|elke?|altijd)(?!\w)|[每毎]|매일|매주",
    re.IGNORECASE,
)
"""What happens again and again."""
_ENGLISH_DAY = re.compile(r"(?:tomorrow|yesterday|today|tonight|last night|next|last|this)(?!\w)", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|[.!?:;…\n])[\s\"“'(–—-]*$")
_NTH = r"(?:st|nd|rd|th|\.)?"
_TO = r"(?: (?:to|until|till|and|bis|al?|au|do) | ?[-–] ?)"
_FROM_TO = re.compile(
    rf"(?<!\d)(?P<first>\d{{1,2}}){_NTH}(?={_TO}\d{{1,2}}{_NTH}\s(?:of\s|de\s)?(?P<name>{_MONTH})(?!\w))"
    rf"|(?<!\w)(?P<name2>{_MONTH})\.? (?P<first2>\d{{1,2}}){_NTH}{_TO}(?P<last2>\d{{1,2}})(?!\d)",
    re.IGNORECASE,
)
"""From one day of a month to another: the month is named once, and meant of both."""


def day_text(day: date) -> str:
    """A day as facts write it: 2 March 2026."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def made_absolute(text: str, said: date) -> str:
    """The text with each relative day or span as what it was.

    What has a capital inside quotation marks, or in English inside a sentence, is a title. Where something happens again and
    again, so does its tomorrow: "every evening the plan for tomorrow" is of no one day.
    """
    text = _folded(text)
    if _AGAIN.search(text):
        return text
    for each in (_of_weeks, _spans_of, _days_of, _few_of):
        text = each(text, said)
    return text


def left_relative(text: str) -> bool:
    """Whether the text still speaks of a day that can only be told from the day it was said on."""
    return not _AGAIN.search(text) and any(not _is_title(match) for match in _LEFT.finditer(text))


def _of_weeks(text: str, said: date) -> str:
    def absolute(match: re.Match[str]) -> str:
        which, weekday = match["which"] or match["which2"], match["weekday"] or match["weekday2"]
        days = _DAYS[weekday.lower()] - said.weekday() + {"last": -7, "this": 0, "next": 7}[which.lower()]
        found = list(_shifted(said, days))
        return _led(match, day_text(found[0]), "on") if found and not _is_title(match) else match.group()

    return _OF_A_WEEK.sub(absolute, text)


def _spans_of(text: str, said: date) -> str:
    def led(match: re.Match[str], words: str) -> str:
        if _is_title(match):
            return match.group()
        return _led(match, words, "on" if words.startswith("the weekend") else "in")

    return spans_written(text, said, led)


def _days_of(text: str, said: date) -> str:
    def absolute(match: re.Match[str]) -> str:
        days = sorted(set(_meant(match, said)))
        is_either = (match["which"] or "").lower().startswith(("next", "nächst"))
        if _is_title(match) or not days or (len(days) > 1 and not is_either):
            return match.group()
        if not _IN_ENGLISH.search(match.group()):
            return " / ".join(day.isoformat() for day in days)
        return _led(match, " or ".join(map(day_text, days)), "on")

    return _RELATIVE.sub(absolute, text)


def _few_of(text: str, said: date) -> str:
    def absolute(match: re.Match[str]) -> str:
        if _is_title(match):
            return match.group()
        unit = (match["unit"] or "day").lower()
        month = f"{calendar.month_name[said.month]} {said.year}"
        seen_from = {"year": str(said.year), "month": month}.get(unit, day_text(said))
        return f"{match['few'] or 'a few'} {unit}s before {seen_from}"

    return _FEW.sub(absolute, text)


def _led(match: re.Match[str], words: str, by: str) -> str:
    """The words with a preposition before them, where none is there and they are nobody's: since March, March's review."""
    before, behind = match.string[: match.start()], match.string[match.end() :]
    led = words if _LED.search(before) or behind.startswith(("'s", "’s")) else f"{by} {words}"
    return led if before.strip() else led[0].upper() + led[1:]


def _is_title(match: re.Match[str]) -> bool:
    if not match.group()[0].isupper():
        return False
    if _ENGLISH_DAY.match(match.group()) and not _BEGINS.search(match.string[: match.start()]):
        return True
    return any(found.start() < match.start() < found.end() for found in QUOTATION.finditer(match.string))


@lru_cache(maxsize=_TEXTS_KEPT)
def days_named(text: str, said: date) -> frozenset[date]:
    """The days that a text means, by their date or seen from the day it was said; of a day without a year, the near ones."""
    text = _FROM_TO.sub(_with_both_months, _folded(text))
    relative = {day for match in _RELATIVE.finditer(text) for day in _meant(match, said)}
    weekdays = {day for match in _WEEKDAY.finditer(text) for day in _around(_DAYS[match.group().lower()], said)}
    return frozenset(relative | weekdays | {day for match in _ABSOLUTE.finditer(text) for day in _written(match, said)})


def _with_both_months(match: re.Match[str]) -> str:
    if match["first"]:
        return f"{match['first']} {match['name']}"
    return f"{match['first2']} {match['name2']} {match['last2']} {match['name2']}"


def years_named(text: str, said: date) -> set[int]:
    """The years that a text means by a day, a month or a span of them."""
    text = _folded(text)
    years = {day.year for day in days_named(text, said)}
    years |= {day.year for span in spans_in(text, said) for day in (span.first, span.last)}
    years |= {said.year} if _FEW.search(text) else set()
    return years | {said.year + step for step in (-1, 0, 1) if _MONTH_NAME.search(text) or _SEASON.search(text)}


def years_beside(content: str, text: str, said: date) -> set[int]:
    """The years that the content puts behind a day which was said without one, where they are near."""
    found = [match for match in _WITH_YEAR.finditer(content) if match["day"].casefold() in text.casefold()]
    return {int(match["year"]) for match in found} & {said.year + step for step in (-1, 0, 1)}


def unsupported_days(content: str, turn_text: str, said: date) -> set[str]:
    """The days in the content that the turn does not speak of; the day it was said on is always fair."""
    content, turn_text = _folded(content), _folded(turn_text)
    if without_days(content) == content:
        return set()
    spans = [span for span in spans_in(turn_text, said) if span.is_precise]
    bounds = {day for span in spans for day in (span.first, span.last)}
    meant = days_named(turn_text, said) | bounds | {said}
    months = {(day.year, day.month) for day in meant}
    unsaid = {match.group() for match in _ABSOLUTE.finditer(content) if not meant & set(_written(match, said))}
    for match in _MONTH_YEAR.finditer(content):
        month, year = _MONTHS[match["name"].lower()], int(match["year"])
        is_named = match["name"].lower() in turn_text.lower() and abs(year - said.year) <= 1
        if (year, month) not in months and not is_named:
            unsaid.add(match.group())
    for match in _ISO_MONTH.finditer(content):
        if (int(match["year"]), int(match["month"])) not in months:
            unsaid.add(match.group())
    return unsaid


def _folded(text: str) -> str:
    """Without the two letters that match others when case is ignored, and are no other case of them."""
    return text.replace("ſ", "s").replace("ı", "i").replace("İ", "I")


def without_days(text: str) -> str:
    """The text without the days that are written in it, so that their numbers are not taken for others."""
    return _ISO_MONTH.sub(" ", _MONTH_YEAR.sub(" ", _ABSOLUTE.sub(" ", text)))


@cache
def _plain() -> dict[str, int]:
    return {re.sub(r"\(\?<!.*?\)", "", word): n for n, words in _AWAY.items() for word in words.split("|")}


def _meant(match: re.Match[str], said: date) -> Iterator[date]:
    found = match.groupdict()
    for name in ("later", "ago", "vor"):
        if found[name]:
            days = number_of(found[name]) * _UNITS[found[f"{name}_unit"].lower()]
            yield from _shifted(said, days if name == "later" else -days)
            return
    if found["weekday"]:
        yield from _weekday(found["which"].lower(), _DAYS[found["weekday"].lower()], said)
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
    try:
        yield said + timedelta(days=days)
    except OverflowError:
        return


def _written(match: re.Match[str], said: date) -> Iterator[date]:
    found = match.groupdict()
    day = next(int(found[name]) for name in ("day", "day2", "day3", "day4") if found[name])
    name = found["name"] or found["name2"]
    month = _MONTHS[name.lower()] if name else int(found["month"] or found["month4"])
    year = next((found[each] for each in ("year", "year2", "year3", "year4") if found[each]), None)
    years = [int(year)] if year else [said.year - 1, said.year, said.year + 1]
    for each in years:
        try:
            yield date(each, month, day)
        except ValueError:
            continue
