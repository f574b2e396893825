"""Dates of a statement: "tomorrow" as the day it was on the day it was said, and no day that nobody spoke of.

A fact must still be right when it is read in a year, so relative days are made absolute by code, from the moment of the
turn in the owner's zone; and a day that a model writes must be one that the turn supports.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, timedelta

from afterglow.facts import CONTENT_CHARS_MAX
from afterglow.facts.days import ABSOLUTE, ISO_MONTH, MONTH_YEAR, RELATIVE, days_named, folded, meant, misnamed, written
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.months import DAY, MONTH, MONTHS
from afterglow.facts.nth import nths_written
from afterglow.facts.numbers import COUNTS, SPELLED, number_of
from afterglow.facts.quoted import QUOTATION
from afterglow.facts.spans import spans_in, spans_written

_LED = lazily_compiled(
    r"\b(?:to|until|till|by|from|since|for|before|after|of|and|or|between|in|on|during|over|at|around|throughout)\s+$",
    re.IGNORECASE,
)
_IN_ENGLISH = lazily_compiled(r"day|night|morning|noon|evening|week|tomorrow| ago|last |next ", re.IGNORECASE)
_MONTH_NAME = lazily_compiled(rf"(?<!\w)(?:{MONTH})(?!\w)", re.IGNORECASE)
_SEASON = lazily_compiled(
    r"(?<!\w)(?:spring|summer|autumn|fall|winter|frühling|frühjahr|sommer|herbst|printemps|été|automne|hiver|primavera|verano|otoño"
    r"|invierno|estate|autunno|inverno|verão|outono|wiosn\w+|lat[oa]|jesie\w+|zim[ayęo]\w*|вес[ен]\w+|лет[оа]|осен\w+|зим\w+|zomer"
    r"|herfst)(?!\w)",
    re.IGNORECASE,
)
_WITH_YEAR = lazily_compiled(r"(?P<day>\d{1,2}\.? (?:de )?[^\W\d_]+)(?: de)? (?P<year>\d{4})(?!\d)")
"""A day in a language whose months nobody has told us."""
FEW = lazily_compiled(
    r"(?<!\w)(?:(?P<few>a few|several|some|many) (?P<unit>day|week|month|year)s ago|the other day)(?!\w)", re.IGNORECASE
)
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(COUNTS, key=len, reverse=True))}"
_MARK_OR_END = r"\s*(?:[.,;:!?)…]|$)"
_HOURS = lazily_compiled(
    r"(?<![\w.,:/~≈<>+–-])(?:(?:about|around|almost|nearly|roughly|only|just) )?"
    rf"(?:(?P<half>half an hour)|(?P<ago>{_COUNT}) (?P<unit>hour|minute)s?) ago"
    r"(?!\w|-| (?:or|exactly|give|plus|tops|at (?:the )?(?:most|least|latest|earliest))\b)"
    rf"|(?<!\w)vor (?P<vor>{_COUNT}) (?P<vor_unit>stunde|minute)n?"
    rf"(?={_MARK_OR_END}| (?:habe?|has?t|haben|hatten?|ist|bin|sind|war|waren|wurden?)\b| \w*ge\w+(?:t|en){_MARK_OR_END})",
    re.IGNORECASE,
)
"""How long ago, in hours and minutes; in German "vor einer Stunde Yoga" may also be what comes before it."""
_MEASURED = lazily_compiled(
    r"(?<!\w)(?:than|over|under|above|below|beyond|past|within|inside|least|most|even|some|as|like|not|well|way|maybe|perhaps"
    r"|another|good|full|whole|mere|to|or|and|of|the|a|an|half|approx|circa|ca|\w+ly|als|nicht|kurz|knapp|gut|etwa|rund|fast)\.?\s+$"
    rf"|(?:\d|(?<!\w)(?:{'|'.join(SPELLED)}|hundred|dozen|couple|few|several|(?:second|minute|hour|day|week|month|year)s?))\W+$",
    re.IGNORECASE,
)
"""What makes more of the hours behind it than a plain moment: "more than two", "thirty five", "three quarters of an"."""
_LEFT = lazily_compiled(
    rf"(?<!\w)(?:tomorrow|yesterday|today|tonight|(?:next|last|coming) (?:{DAY})"
    r"|(?<!the )(?:next|last) (?:week|weekend|month|year|quarter)"
    rf"|(?:\w+|a few|some|a couple of) (?:minute|hour|day|week|month|year)s? ago|the other day)(?!\w)",
    re.IGNORECASE,
)
AGAIN = lazily_compiled(
    r"(?<!\w)(?:every|each(?! other)|always|daily|weekly|monthly|nightly|whenever|any (?:change|time|day)|usually"
    r"|jede[nrsm]?|immer|täglich|wöchentlich|cada|siempre|tod[oa]s l[oa]s|chaque|toujours|tou(?:te)?s les|ogni|sempre"
    r"|tod[oa]s [oa]s|każd\w+|zawsze|codziennie|кажд\w+|всегда|elke?|altijd)(?!\w)|[每毎]|매일|매주",
    re.IGNORECASE,
)
"""What happens again and again, and so on no one day."""
_ENGLISH_DAY = lazily_compiled(r"(?:tomorrow|yesterday|today|tonight|last night|next|last|this)(?!\w)", re.IGNORECASE)
_BEGINS = lazily_compiled(r"(?:^|[.!?:;…\n])[\s\"“'(–—-]*$")


def day_text(day: date) -> str:
    """A day as facts write it: 2 March 2026."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def made_absolute(text: str, said: date) -> str:
    """The text with each relative day or span as what it was.

    What has a capital inside quotation marks, or in English inside a sentence, is a title. Where something happens again and
    again, so does its tomorrow: "every evening the plan for tomorrow" is of no one day.
    """
    text = folded(text)
    if AGAIN.search(text):
        return text
    for each in (_nths_of, _days_of, _spans_of, _few_of):
        text = each(text, said)
    return text


def as_stated(text: str, at: datetime, day: date | None = None) -> str:
    """What somebody stated at this moment, or for another day, made absolute; as it is, where that is too long for a fact.

    Hours ago are of the day on which that was; seen from a day alone nobody can tell.
    """
    on = day or at.date()
    absolute = made_absolute(_hours_of(text, at) if on == at.date() else text, on)
    return absolute if len(absolute) <= CONTENT_CHARS_MAX else text


def left_relative(text: str) -> bool:
    """Whether the text still speaks of a day that can only be told from the day it was said on."""
    return not AGAIN.search(text) and any(not _is_title(match) for match in _LEFT.finditer(text))


def _spans_of(text: str, said: date) -> str:
    def led(match: re.Match[str], words: str) -> str:
        if _is_title(match):
            return match.group()
        return _led(match, words, "on" if words.startswith("the weekend") else "in")

    return spans_written(text, said, led)


def _nths_of(text: str, said: date) -> str:
    return nths_written(text, said, lambda days: " or ".join(map(day_text, days)))


def _days_of(text: str, said: date) -> str:
    def absolute(match: re.Match[str]) -> str:
        days = sorted(set(meant(match, said)))
        is_either = (match["which"] or "").lower().startswith(("next", "nächst"))
        if _is_title(match) or not days or (len(days) > 1 and not is_either):
            return match.group()
        if not _IN_ENGLISH.search(match.group()):
            return " / ".join(day.isoformat() for day in days)
        return _led(match, " or ".join(map(day_text, days)), "on")

    return RELATIVE.sub(absolute, text)


def _hours_of(text: str, at: datetime) -> str:
    """A plain moment as its day. What might be anything else stays: a relative time is better than a garbled sentence."""

    def absolute(match: re.Match[str]) -> str:
        has_capitals = not match["vor"] and not match.group()[1:].islower()
        if has_capitals or _is_title(match) or _MEASURED.search(match.string[: match.start()]):
            return match.group()
        unit = (match["unit"] or match["vor_unit"] or "minute").lower()
        count = 30 if match["half"] else number_of(match["ago"] or match["vor"])
        day = (at - timedelta(minutes=count if unit == "minute" else 60 * count)).date()
        return day.isoformat() if match["vor"] else _led(match, day_text(day), "on")

    return text if AGAIN.search(text) else _HOURS.sub(absolute, text)


def _few_of(text: str, said: date) -> str:
    def absolute(match: re.Match[str]) -> str:
        if _is_title(match):
            return match.group()
        unit = (match["unit"] or "day").lower()
        month = f"{calendar.month_name[said.month]} {said.year}"
        seen_from = {"year": str(said.year), "month": month}.get(unit, day_text(said))
        return f"{match['few'] or 'a few'} {unit}s before {seen_from}"

    return FEW.sub(absolute, text)


def _led(match: re.Match[str], words: str, by: str) -> str:
    """The words with a preposition before them, where none is there and they are nobody's: since March, March's review."""
    before, behind = match.string[: match.start()], match.string[match.end() :]
    led = words if _LED.search(before) or behind.startswith(("'s", "’s")) else f"{by} {words}"
    is_first = not before.strip() or (match.group()[0].isupper() and _BEGINS.search(before))
    return led[0].upper() + led[1:] if is_first else led


def _is_title(match: re.Match[str]) -> bool:
    if not match.group()[0].isupper():
        return False
    if _ENGLISH_DAY.match(match.group()) and not _BEGINS.search(match.string[: match.start()]):
        return True
    return any(found.start() < match.start() < found.end() for found in QUOTATION.finditer(match.string))


def years_named(text: str, said: date) -> set[int]:
    """The years that a text means by a day, a month or a span of them."""
    text = folded(text)
    years = {day.year for day in days_named(text, said)}
    years |= {day.year for span in spans_in(text, said) for day in (span.first, span.last)}
    years |= {said.year} if FEW.search(text) else set()
    return years | {said.year + step for step in (-1, 0, 1) if _MONTH_NAME.search(text) or _SEASON.search(text)}


def years_beside(content: str, text: str, said: date) -> set[int]:
    """The years that the content puts behind a day which was said without one, where they are near."""
    found = [match for match in _WITH_YEAR.finditer(content) if match["day"].casefold() in text.casefold()]
    return {int(match["year"]) for match in found} & {said.year + step for step in (-1, 0, 1)}


def unsupported_days(content: str, turn_text: str, said: date) -> set[str]:
    """The days in the content that the turn does not speak of, or by a wrong weekday; the day it was said on is always fair."""
    content, turn_text = folded(content), folded(turn_text)
    if without_days(content) == content:
        return set()
    spans = [span for span in spans_in(turn_text, said) if span.is_precise]
    bounds = {day for span in spans for day in (span.first, span.last)}
    fair = days_named(turn_text, said) | bounds | {said}
    months = {(day.year, day.month) for day in fair}
    unsaid = {match.group() for match in ABSOLUTE.finditer(content) if not fair & set(written(match, said))}
    for match in MONTH_YEAR.finditer(content):
        month, year = MONTHS[match["name"].lower()], int(match["year"])
        is_named = match["name"].lower() in turn_text.lower() and abs(year - said.year) <= 1
        if (year, month) not in months and not is_named:
            unsaid.add(match.group())
    for match in ISO_MONTH.finditer(content):
        if (int(match["year"]), int(match["month"])) not in months:
            unsaid.add(match.group())
    return unsaid | misnamed(content, said)


def without_days(text: str) -> str:
    """The text without the days that are written in it, so that their numbers are not taken for others."""
    return ISO_MONTH.sub(" ", MONTH_YEAR.sub(" ", ABSOLUTE.sub(" ", text)))
