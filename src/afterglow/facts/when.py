"""Whether a statement is of a day that the sentences it quotes speak of, where they speak of any.

"I went there yesterday" was said today, and a small model dates it today. So the day of the turn is fair only where its words
name no other day, or this one too; and what another turn says of another day is no date for these.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date

from afterglow.facts.clauses import clauses, of_the_same
from afterglow.facts.dates import AGAIN, FEW
from afterglow.facts.days import ABSOLUTE, each_day, folded
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.months import DAY, MONTH, MONTHS
from afterglow.facts.said import Cut
from afterglow.facts.spans import spans_in

Period = tuple[date, date]
"""From the first to the last day of what is meant."""
_NOW = lazily_compiled(
    r"(?<!\w)(?:now|currently|at the moment|(?:['’]ve|have|has|i|we|he|she|they) just|(?:hours?|minutes?) ago|jetzt|gerade"
    r"|soeben|derzeit|maintenant|ahora|adesso|agora|teraz|сейчас|только что|zojuist)(?!\w)|现在|刚|지금",
    re.IGNORECASE,
)
_UP_TO = lazily_compiled(
    r"(?<!\w)(?:since(?! (?:we|i|you|our)\b)|until|till|through|seit|bis|depuis|jusqu\w*|desde|hasta|od|sinds|tot|с|до)(?!\w)",
    re.IGNORECASE,
)
_IN = lazily_compiled(
    r"(?<!\w)(?:in|since|until|till|by|from|im|seit|bis|en|depuis|desde|hasta|w|od|в)\s(?:early |late |mid-?)?"
    rf"(?:(?P<name>{MONTH})(?!\w)(?:\s(?P<year>\d{{4}}))?|(?P<year2>(?:19|20)\d\d)(?![\w-]))",
    re.IGNORECASE,
)
_SAYING = "said|told|mentioned|reported|stated|announced|asked|noted|wrote"
_WRITTEN = rf"(?:{DAY},? )?(?:{ABSOLUTE.pattern})"
_TOLD_ON = [
    lazily_compiled(
        rf"\b(?:as of|(?:day|week|weekend|month|year|{DAY})s? (?:before|after)|(?:{_SAYING})(?: on)?) {_WRITTEN}",
        re.IGNORECASE,
    ),
    lazily_compiled(rf"\bon {_WRITTEN},? (?=(?:the )?\w+ (?:{_SAYING})\b)", re.IGNORECASE),
]
"""The day on which it was told, which is not the day on which it was."""


def is_another_day(content: str, sentence: str, said: date, cut: Cut) -> bool:
    """Whether the statement names days, and none that the sentence means; or the day of the turn, which it does not mean."""
    for pattern in _TOLD_ON:
        content = pattern.sub(" ", content)
    named = list(_periods(content, said))
    told = _told(content, sentence, said, cut) if named else []
    wrong = [each for each in named if not any(_touch(one, other) for one in each for other in told)]
    return bool(told and wrong) and (len(wrong) == len(named) or [(said, said)] in wrong)


def _told(content: str, sentence: str, said: date, cut: Cut) -> list[Period]:
    """What the sentence speaks of; and today, where it says of the same that it is now, without another day."""
    parts = clauses(sentence)
    told = [period for part in parts for period in _reaching(part, said)]
    same = of_the_same(content, parts, cut) if told else []
    is_now = any(_NOW.search(part) and not any(_periods(part, said)) for part in same)
    return [*told, (said, said)] if is_now else told


def _reaching(clause: str, said: date) -> Iterator[Period]:
    """What a clause speaks of. What has been since then, or will be until then, is today too."""
    reaches = _UP_TO.search(clause) is not None
    for first, last in (period for each in _periods(clause, said) for period in each):
        yield (min(first, said), max(last, said)) if reaches else (first, last)


def _periods(text: str, said: date) -> Iterator[list[Period]]:
    """What a text speaks of, one by one: of each, the periods that it may be."""
    text = folded(text)
    if AGAIN.search(text):
        return
    yield from ([(day, day) for day in days] for days in each_day(text, said))
    yield from ([(span.first, span.last)] for span in spans_in(text, said))
    yield from (list(_months(match, said)) for match in _IN.finditer(text))
    if FEW.search(text):
        yield [(date.min, date.fromordinal(max(1, said.toordinal() - 1)))]


def _months(match: re.Match[str], said: date) -> Iterator[Period]:
    """The month, of a year or of the near ones; or the year."""
    if match["year2"]:
        yield date(int(match["year2"]), 1, 1), date(int(match["year2"]), 12, 31)
        return
    month = MONTHS[match["name"].lower()]
    for year in [int(match["year"])] if match["year"] else range(said.year - 1, said.year + 2):
        if date.min.year <= year <= date.max.year:
            yield date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _touch(one: Period, other: Period) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
