"""Numbers and times of day in words and digits, in one form, so that "half past nine" and 9:30 are the same."""

from __future__ import annotations

import re

from afterglow.facts.expressions import lazily_compiled

_ONES = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
SPELLED: dict[str, int] = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENS))},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}
"""Numbers in words."""
COUNTS: dict[str, int] = {
    **{word: number for word, number in SPELLED.items() if number},
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "ein": 1,
    "einem": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
}
"""Numbers in words as they stand before days and weeks."""

_HOURS_MAX = 24
_NUMBER = lazily_compiled(r"\d+(?:[.,:]\d+)*")
_COMPOUND = lazily_compiled(rf"\b(?P<tens>{'|'.join(_TENS)})[- ](?P<ones>{'|'.join(_ONES[1:10])})\b")
_WORD = lazily_compiled(rf"\b(?:{'|'.join(SPELLED)})\b")
_HALF = lazily_compiled(
    r"\b(?:(?P<half>half)|(?:a )?(?P<quarter>quarter)) (?:(?P<past>past|after)|to|before) (?P<hour>\d{1,2})\b"
)
_CLOCK = lazily_compiled(r"\b(?P<hour>\d{1,2})(?:[.:](?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b")
_HOUR = lazily_compiled(r"\b(?P<hour>\d{1,2})[.:](?P<minute>\d\d)\b")
_BEFORE_AN_HOUR = (
    "before|after|at|by|until|till|from|around|about|past|between|since|um|ab|vor|nach|bis|gegen|von|zwischen|à|avant|après|vers|dès|entre"
    "|las|alle|le|delle|dalle|às|das|o|przed|po|do|od|między|в|до|после|с|к|около|между|om|voor|na|tot|vanaf|rond|tussen"
)
_AND_AN_HOUR = "and|to|till|until|und|bis|et|à|y|a|e|i|do|и|до|en|tot"
_AFTER_AN_HOUR = (
    rf"{_AND_AN_HOUR}|or|but|on|in|every|each|daily|today|tomorrow|tonight|sharp|with|for|if|because|when|so|please|we|he|she|they"
    "|oder|am|auf|an|los|zurück|morgens|abends|früh|heures?|h|ou|du|le|de|por|los|da|di|w|na|rano|утра|вечера"
)
_FULL_HOUR = lazily_compiled(
    rf"\b(?:{_BEFORE_AN_HOUR}) (?P<hour>\d{{1,2}})(?:(?: (?:{_AND_AN_HOUR}) | ?[-–] ?)(?P<last>\d{{1,2}}))?"
    rf"(?=\s*(?:[.,:](?!\d)|[;!?)…]|$)| [–—-] |h\b| (?:{_AFTER_AN_HOUR})\b(?! \d))"
    r"|(?<!\d)(?P<sharp>\d{1,2})(?= ?(?:o['’]?clock|uhr)\b|[点點时]|時(?!間)|시(?!간))"
)
"""A number that is said as a time of day: what stands around it tells it from "after 3 days"."""
_GROUPED = lazily_compiled(r"(?<!\d)\+?\(?\d+(?:[ \-/.)(]{1,2}\d{2,})+")
"""As telephone numbers are written: the groups are one number. Two numbers with a word or a comma between them are two."""


def number_of(word: str) -> int:
    """What a count says, in digits or in a word that stands before days and weeks."""
    return int(word) if word.isdigit() else COUNTS[word.lower()]


def numbers_written(text: str) -> list[str]:
    """The numbers in a text as they are written in digits."""
    return _NUMBER.findall(text)


def numbers_meant(text: str) -> set[str]:
    """All that the numbers in a text may be written as, in the form that numbers are compared in."""
    plain = in_digits(text)
    found = {bare(number) for number in _NUMBER.findall(plain)} | _times(plain)
    return found | {re.sub(r"\D", "", group).lstrip("0") for group in _GROUPED.findall(plain)}


def is_among(number: str, content: str, meant: set[str]) -> bool:
    """Whether a number of the content is one that was meant: as it stands there, or as the time of day it is part of."""
    clocks = {
        bare(_at(clock)) for clock in _CLOCK.finditer(content.casefold()) if clock.group().startswith(number.casefold())
    }
    return bare(number) in meant or bool(clocks & meant)


def bare(number: str) -> str:
    """A number as it is compared: 1,204 and 1204 are one, 3.5 and 35 are not."""
    whole = re.sub(r"[.,](?=\d{3}(?!\d))", "", number)
    return re.sub(r"[,:]", ".", whole).lstrip("0") or "0"


def in_digits(text: str) -> str:
    """The text in lower case with its numbers in digits."""
    text = _COMPOUND.sub(lambda found: str(SPELLED[found["tens"]] + SPELLED[found["ones"]]), text.casefold())
    text = _WORD.sub(lambda found: str(SPELLED[found[0]]), text)
    return _HALF.sub(_past, text)


def _past(found: re.Match[str]) -> str:
    hour, minutes = int(found["hour"]), 30 if found["half"] else 15
    return f"{hour}:{minutes}" if found["past"] else f"{hour - 1 or 12}:{60 - minutes}"


def _times(plain: str) -> set[str]:
    """Each time of day by the clock of 24 hours too, and a full hour with its minutes and without."""
    clocks = {_at(found) for found in _CLOCK.finditer(plain)}
    clocks |= {f"{found['hour']}:{found['minute']}" for found in _HOUR.finditer(plain)}
    hours = {hour for found in _FULL_HOUR.finditer(plain) for hour in found.groups() if hour}
    clocks |= {f"{hour}:00" for hour in hours if int(hour) <= _HOURS_MAX}
    return {bare(each) for clock in clocks for each in (clock, clock.removesuffix(":00"))}


def _at(clock: re.Match[str]) -> str:
    hour = int(clock["hour"]) % 12 + (12 if clock["half"] == "p" else 0)
    return f"{hour}:{clock['minute'] or '00'}"
