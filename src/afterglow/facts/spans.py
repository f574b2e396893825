"""Weeks, weekends, months, seasons and years in words: "last month" as the month it was when it was said."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.numbers import COUNTS, number_of

_MONTH_NAMES = [name.lower() for name in calendar.month_name if name]
_LAST, _THIS, _NEXT = r"(?<!\bthe )(?:last|past|this past)", "this", r"(?<!\bthe )(?:next|the coming|coming)"
_LETZT, _DIES, _NAECHST = "(?:letzte|vergangene|vorige)[nrms]?", "diese[nrms]?", "(?:nächste|kommende)[nrms]?"
_SAID: dict[tuple[str, int], str] = {
    ("week", -2): "the week before last|vorletzte woche|上上周|先々週",
    ("week", -1): rf"{_LAST} week|{_LETZT} woche|la semaine dernière|la semana pasada|la settimana scorsa"
    r"|(?:n?a )?semana passada|w (?:zeszłym|ubiegłym) tygodniu|на прошлой неделе|(?:vorige|afgelopen) week"
    r"|上周|上个?星期|先週|지난 ?주",
    ("week", 0): rf"{_THIS} week|{_DIES} woche|cette semaine|n?esta semana|questa settimana|w tym tygodniu"
    r"|на этой неделе|deze week|这周|本周|这个?星期|今週|이번 ?주",
    ("week", 1): rf"{_NEXT} week|{_NAECHST} woche|la semaine prochaine|(?:la |n?a )?próxima semana"
    r"|(?:la )?semana que v(?:iene|em)|la (?:settimana prossima|prossima settimana)|w przyszłym tygodniu"
    r"|на следующей неделе|volgende week|下周|下个?星期|来週|다음 ?주",
    ("week", 2): "the week after next|übernächste woche|下下周|再来週",
    ("weekend", -1): rf"{_LAST} weekend|{_LETZT} wochenende|le week-?end dernier|el fin de semana pasado"
    r"|lo scorso weekend|(?:n?o )?fim de semana passado|w zeszły weekend|в прошлые выходные|(?:vorig|afgelopen) weekend"
    r"|上周末|先週末|지난 주말",
    ("weekend", 0): rf"{_THIS}(?: coming)? weekend|dieses (?:kommende )?wochenende|ce week-?end|este fin de semana"
    r"|questo weekend|n?este fim de semana|w ten weekend|в эти выходные|dit weekend|这个?周末|今週末|이번 주말",
    ("weekend", 1): rf"{_NEXT} weekend|{_NAECHST} wochenende|le week-?end prochain|el próximo fin de semana"
    r"|il prossimo weekend|(?:n?o )?próximo fim de semana|w (?:przyszły|następny) weekend|в следующие выходные"
    r"|volgend weekend|下周末|来週末|다음 주말",
    ("month", -1): rf"{_LAST} month|{_LETZT} monats?|le mois dernier|el mes pasado|il mese scorso|(?:n?o )?mês passado"
    r"|w (?:zeszłym|ubiegłym) miesiącu|в прошлом месяце|(?:vorige|afgelopen) maand|上个?月|先月|지난 ?달",
    ("month", 0): rf"{_THIS} month|{_DIES} monats?|ce mois-ci|este mes|questo mese|n?este mês|w tym miesiącu"
    r"|в этом месяце|deze maand|这个?月|本月|今月|이번 ?달",
    ("month", 1): rf"{_NEXT} month|{_NAECHST} monats?|le mois prochain|el (?:próximo mes|mes que viene)"
    r"|il (?:mese prossimo|prossimo mese)|(?:n?o )?(?:próximo mês|mês que vem)|w przyszłym miesiącu"
    r"|в следующем месяце|volgende maand|下个?月|来月|다음 ?달",
    ("year", -1): rf"{_LAST} year|{_LETZT} jahre?s?|l['’]an(?:née)? derni(?:er|ère)|el año pasado|l['’]anno scorso"
    r"|(?:n?o )?ano passado|w (?:zeszłym|ubiegłym) roku|в прошлом году|(?:vorig|afgelopen) jaar|去年|昨年|작년|지난해",
    ("year", 0): rf"{_THIS} year|{_DIES} jahre?s?|cette année|este año|quest['’]anno|n?este ano|w tym roku"
    r"|в этом году|dit jaar|今年|올해",
    ("year", 1): rf"{_NEXT} year|{_NAECHST} jahre?s?|l['’]an(?:née)? prochaine?|el (?:próximo año|año que viene)"
    r"|l['’]anno prossimo|(?:n?o )?(?:próximo ano|ano que vem)|w przyszłym roku|в следующем году|volgend jaar"
    r"|明年|来年|내년",
}  # fmt: skip
_COUNT = rf"\d{{1,2}}|{'|'.join(sorted(COUNTS, key=len, reverse=True))}"
_UNSPACED = lazily_compiled(r"[\u3041-\u9fff\uac00-\ud7af]")


def _bounded(words: str) -> str:
    """Whole words; where words are not set apart, wherever they stand."""
    split = [(_UNSPACED.search(each) is not None, each) for each in re.split(r"\|(?![^(]*\))", words)]
    spaced, unspaced = [each for far, each in split if not far], [each for far, each in split if far]
    return "|".join([rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)", *unspaced])


_SPAN = lazily_compiled(
    "|".join(
        [
            *(rf"(?P<{unit}{shift + 2}>{_bounded(words)})" for (unit, shift), words in _SAID.items()),
            rf"(?<!\w)(?P<ago>{_COUNT}) (?P<ago_unit>month|year)s? ago(?!\w)",
            rf"(?<!\w)vor (?P<vor>{_COUNT}) (?P<vor_unit>monat|jahr)e?n?(?!\w)",
            rf"(?<!\w)in (?P<later>{_COUNT}) (?P<later_unit>month|year)s?(?!['’\w])",
            rf"(?<!\w)(?P<which>{_LAST}|{_THIS}|{_NEXT}) (?P<name>{'|'.join(_MONTH_NAMES)}|spring|summer|autumn|fall)(?!\w)",
        ]
    ),
    re.IGNORECASE,
)
_IN_ENGLISH = lazily_compiled(
    r"(?:the week|last|past|this|next|the coming|coming|\w+ months?|\w+ years?|in |a couple)", re.IGNORECASE
)
_NOT_ENGLISH = lazily_compiled(r"(?:vor|vorig|afgelopen|deze|volgend)", re.IGNORECASE)
_TEXTS_KEPT = 16
_PRECISE = ("week", "weekend", "month")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """From the first to the last day of what is meant; of a season only the year is known."""

    unit: str
    first: date
    last: date

    @property
    def is_precise(self) -> bool:
        """Whether its days are near enough together to name a month by."""
        return self.unit in _PRECISE


@lru_cache(maxsize=_TEXTS_KEPT)
def spans_in(text: str, said: date) -> tuple[Span, ...]:
    """The spans that a text means, seen from the day it was said; of what may be one of two, both."""
    return tuple(span for match in _SPAN.finditer(text) for span in _meant(match, said))


def spans_written(text: str, said: date, led: Callable[[re.Match[str], str], str]) -> str:
    """The text with each such span as what it was. `led` puts a word before it, where there is none."""

    def written(match: re.Match[str]) -> str:
        spans = list(_meant(match, said))
        if not spans:
            return match.group()
        is_english = _IN_ENGLISH.match(match.group()) and not _NOT_ENGLISH.match(match.group())
        if not is_english:
            return " / ".join(map(_plainly, spans))
        name = (match["name"] or "").lower()
        return led(match, _in_words(spans, name if name and name not in _MONTH_NAMES else ""))

    return _SPAN.sub(written, text)


def _meant(match: re.Match[str], said: date) -> Iterator[Span]:
    try:
        yield from _spans(match, said)
    except (OverflowError, ValueError):  # before the first year, or after the last
        return


def _spans(match: re.Match[str], said: date) -> Iterator[Span]:
    found = match.groupdict()
    for group, sign in (("ago", -1), ("vor", -1), ("later", 1)):
        if found[group]:
            count = sign * number_of(found[group])
            yield _shifted("month" if found[f"{group}_unit"].lower() in ("month", "monat") else "year", count, said)
            return
    if found["name"]:
        yield from _named(found["which"].lower(), found["name"].lower(), said)
        return
    unit, shift = next((unit, shift) for unit, shift in _SAID if found[f"{unit}{shift + 2}"])
    yield _shifted(unit, shift, said)
    if (unit, shift) == ("weekend", 1) and said.weekday() < 5:  # people mean the coming one, or that of the week after
        yield _shifted(unit, 2, said)


def _shifted(unit: str, shift: int, said: date) -> Span:
    if unit == "week":
        monday = said + timedelta(days=7 * shift - said.weekday())
        return Span(unit=unit, first=monday, last=monday + timedelta(days=6))
    if unit == "weekend":
        is_weekend = said.weekday() >= 5
        coming = said + timedelta(days=5 - said.weekday())
        saturday = coming + timedelta(days=7 * (shift if is_weekend or shift < 1 else shift - 1))
        return Span(unit=unit, first=saturday, last=saturday + timedelta(days=1))
    if unit == "month":
        months = said.year * 12 + said.month - 1 + shift
        year, month = months // 12, months % 12 + 1
        return Span(unit=unit, first=date(year, month, 1), last=date(year, month, calendar.monthrange(year, month)[1]))
    return _year(unit, said.year + shift)


def _year(unit: str, year: int) -> Span:
    return Span(unit=unit, first=date(year, 1, 1), last=date(year, 12, 31))


def _named(which: str, name: str, said: date) -> Iterator[Span]:
    """A month or a season by its name. Of the one that has just been, or is just coming, people mean this year's or another."""
    step = -1 if "last" in which or "past" in which else 0 if which == "this" else 1
    if name in _MONTH_NAMES:
        month = _MONTH_NAMES.index(name) + 1
        year = said.year + (-1 if step < 0 and month >= said.month else 1 if step > 0 and month <= said.month else 0)
        yield _shifted("month", (year - said.year) * 12 + month - said.month, said)
        return
    begins = {"spring": 3, "summer": 6}.get(name, 9)
    if step and (said.month > begins + 2 if step < 0 else said.month < begins):
        yield _year("season", said.year)
    yield _year("season", said.year + step)


def _in_words(spans: list[Span], season: str) -> str:
    days = [f"{each.first.day} {calendar.month_name[each.first.month]} {each.first.year}" for each in spans]
    match spans[0].unit:
        case "week" | "weekend":
            return f"the {spans[0].unit} of {' or '.join(days)}"
        case "month":
            return f"{calendar.month_name[spans[0].first.month]} {spans[0].first.year}"
        case _:
            years = " or ".join(sorted({str(each.first.year) for each in spans}))
            return f"the {season} of {years}" if season else years


def _plainly(span: Span) -> str:
    """In digits, which every language reads."""
    match span.unit:
        case "week" | "weekend":
            return f"{span.first.isoformat()} – {span.last.isoformat()}"
        case "month":
            return f"{span.first:%Y-%m}"
        case _:
            return str(span.first.year)
