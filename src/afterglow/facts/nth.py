"""A day by its number alone: "on the 12th" is the coming one or the past one, seen from the day it was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.months import MONTH, MONTHS

_AFTER_A_DAY = (
    r"and|or|but|at|in|to|till|until|with|for|from|if|so|when|because|as|is|was|works|suits|I|we|he|she|they|you|it|my|our|his|her"
    r"|this|after|before|during|while|already|too|then|instead|please|of (?P<of>this|next|last) month"
)
_NTH = lazily_compiled(
    r"(?<!\w)(?:(?P<by>on|by|until|till|from|since|before|after|around|between|for|to|and|or) "
    r"|(?<!\w )(?=the \w+ (?:is|was|works|suits)\b))"
    rf"the (?P<nth>\d{{1,2}})(?:st|nd|rd|th)(?=\s*(?:[.,;:!?)…]|$)|\s[–—-]\s|\s(?:{_AFTER_A_DAY})(?!\w))"
    r"|(?<!\w)(?P<am>am|zum|vom|ab dem) (?P<nth2>\d{1,2})\.(?=\s*(?:[,;:!?)]|$)|\s(?-i:[a-zäöü]))",
    re.IGNORECASE,
)
"""What follows tells such a day from the 5th floor and the 12th time."""
_MONTH_NAME = lazily_compiled(rf"(?<!\w)(?:{MONTH})(?!\w)", re.IGNORECASE)
_MONTHLY = lazily_compiled(
    r"\b(?:rent|salary|wages?|payday|paid|mortgage|subscription|bills?|miete|gehalt|of the month)\b", re.IGNORECASE
)
"""What comes on such a day of every month, though nobody says so."""
_AHEAD = lazily_compiled(
    r"(?:\b(?:will|shall|going|plan\w*|book\w*|schedul\w*|due|expect\w*|wants?|intends?|needs?|must|should|ha(?:s|ve) to|hopes?"
    r"|decided|agreed|promised|is|are|am|tomorrow|next|coming|upcoming|fl(?:y|ies)|comes?|starts?|begins?|leaves?|arrives?|moves?"
    r"|returns?|ends?|opens?|meets?|works|suits)|['’](?:ll|m|re))\b",
    re.IGNORECASE,
)
_BEHIND = lazily_compiled(
    r"\b(?:was|were|did\w*|had|went|came|flew|met|saw|got|left|took|made|bought|gave|began|ran|sent|told|lost|won|last"
    r"|(?<!is )(?<!are )(?<!be )\w{3,}ed)\b",
    re.IGNORECASE,
)


def nth_days(text: str, said: date) -> Iterator[set[date]]:
    """The days that each of them may be: the past one, the coming one, and that of each month which the text names."""
    months = {MONTHS[name.lower()] for name in _MONTH_NAME.findall(text)}
    named = [month - said.month + years for month in months for years in (-12, 0, 12)]
    for match in _NTH.finditer(text):
        day, of = int(match["nth"] or match["nth2"]), (match["of"] or "").lower()
        near = _dates(day, said, [{"last": -1, "this": 0, "next": 1}[of]]) if of else _near(day, said)
        yield {*near, *_dates(day, said, named)}


def nths_written(text: str, said: date, named: Callable[[Sequence[date]], str]) -> str:
    """The text with each such day as `named` writes it: the one that the tense tells, or both."""
    if _MONTHLY.search(text) or any(name != "may" for name in _MONTH_NAME.findall(text)):
        return text

    def written(match: re.Match[str]) -> str:
        if match["of"]:  # a span, which is written as what it was by itself
            return match.group()
        if match["nth2"]:
            return " / ".join(day.isoformat() for day in _near(int(match["nth2"]), said)) or match.group()
        days = list(_near(int(match["nth"]), said))
        by = match["by"] or ""
        is_ahead = by.lower() in ("by", "for") or _AHEAD.search(text) is not None
        is_behind = _BEHIND.search(text) is not None
        if by.lower() == "since" or (is_behind and not is_ahead):
            days = [day for day in days if day <= said][-1:]
        elif is_ahead and not is_behind:
            days = [day for day in days if day >= said][:1]
        return f"{by} {named(days)}".strip() if days else match.group()

    return _NTH.sub(written, text)


def _near(day: int, said: date) -> list[date]:
    """The last such day before, the day itself, and the first one after."""
    days = list(_dates(day, said, range(-2, 3)))
    return [*[each for each in days if each < said][-1:], *[each for each in days if each >= said][:1]]


def _dates(day: int, said: date, months: Sequence[int]) -> Iterator[date]:
    """That day of each of the months, counted from that of the day it was said, where there is one."""
    for month in months:
        years, month_before = divmod(said.year * 12 + said.month - 1 + month, 12)
        try:
            yield date(years, month_before + 1, day)
        except ValueError:
            continue
