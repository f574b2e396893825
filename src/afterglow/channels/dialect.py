"""How a channel writes lines down: its signs for bold and code, and how it keeps text from being taken for them.

Each channel that sends plain strings is one `Dialect`, in a file of its own. Telegram and HTML are not: the first sends
marks beside the text, the second needs the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from afterglow.channels.cutting import cut, units
from afterglow.channels.lines import BULLET, QUOTE, Line
from afterglow.channels.tree import Mark, Run
from afterglow.channels.weaving import Allowed, woven

INNER_QUOTE = "› "
TICK = "ˋ"
"""What stands for a backtick where a real one would end the code. No channel but markdown offers an escape there."""
HIDDEN = "\u2060"
"""The word joiner: nothing to see, but a sign followed by it is no sign any more."""
_MENTION = re.compile(
    r"[@＠](?!\s)|(?<!\w)#(?=\d{0,30}[^\W\d]|\Z)|(?<=<)#|(?<!\bhttp)(?<!\bhttps):(?=//)", re.IGNORECASE
)
_MAIL = re.compile(r"[\w.%+-]+@(?!everyone|here|channel)[\w-]+(?:\.[\w-]+)+", re.IGNORECASE | re.ASCII)
_TICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """One channel's way to write. `limit` counts UTF-16 units, the longest way that anybody counts."""

    limit: int | None
    signs: Mapping[Mark, tuple[str, str]]
    allowed: Allowed
    text: Callable[[str], str]
    code: Callable[[str], str]
    address: Callable[[str], str]
    beginning: Callable[[str], str]
    """Keeps the text of a line from being taken for a list, a quote or a heading."""
    lead: Callable[[Sequence[str]], str]
    fence: Callable[[Sequence[Line]], str | None] = lambda lines: "```"
    """What goes around a block of code."""
    code_line: Callable[[str], str]
    code_leads: bool = False
    """Whether code stays inside its list or quote."""
    languages: bool = False


def parts(lines: Sequence[Line], dialect: Dialect) -> list[str]:
    """The messages, none of them over the limit."""
    if dialect.limit is None:
        return [_text(lines, dialect)] if lines else []

    def size(line: Line) -> int:
        return units(_line(line, dialect)) + units(dialect.lead(line.lead)) + 2  # the ends of this and an empty line

    def opening(line: Line) -> int:
        return units(line.language) + 8 if line.block else 0

    return [_text(part, dialect) for part in cut(lines, size, opening, dialect.limit)]


def _text(lines: Sequence[Line], dialect: Dialect) -> str:
    out: list[str] = []
    for place, line in enumerate(lines):
        before = lines[place - 1] if place else None
        if line.apart and before:
            out.append(dialect.lead(_shared(before.lead, line.lead)).rstrip())
        if line.block and (before is None or before.block != line.block):
            out += _block(lines[place:], dialect)
        elif not line.block:
            out.append(_line(line, dialect))
    return "\n".join(out)


def _shared(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The quotes that both lines stand in."""
    count = min(first.count(QUOTE), second.count(QUOTE))
    return (QUOTE,) * count if first[:1] == second[:1] == (QUOTE,) else ()


def _block(lines: Sequence[Line], dialect: Dialect) -> list[str]:
    """The block of code that these lines begin with."""
    end = next((place for place, line in enumerate(lines) if line.block != lines[0].block), len(lines))
    shown = [_line(line, dialect) for line in lines[:end]]
    fence = dialect.fence(lines[:end])
    if fence is None:
        return shown
    lead = dialect.lead(lines[0].lead) if dialect.code_leads else ""
    return [f"{lead}{fence}{lines[0].language if dialect.languages else ''}", *shown, lead + fence]


def _line(line: Line, dialect: Dialect) -> str:
    if line.block:
        return (dialect.lead(line.lead) if dialect.code_leads else "") + dialect.code_line(line.text)

    def show(run: Run) -> str:
        way = dialect.code if "code" in run.marks else dialect.address if "address" in run.marks else dialect.text
        return way(run.text)

    body = woven(line.runs, show, dialect.signs, dialect.allowed)
    first = bool(line.runs) and not line.runs[0].marks
    return (dialect.lead(line.lead) + (dialect.beginning(body) if first else body)).rstrip()


# --- What several dialects do ---------------------------------------------------------------------------------------


def same(text: str) -> str:
    """The text as it is."""
    return text


def quiet(text: str) -> str:
    """The text with nothing in it that calls somebody, joins a channel or opens a program: `@name`, `#name`, `tg://`."""
    return _MENTION.sub(lambda sign: sign[0] + HIDDEN, text)


def is_web(address: str) -> bool:
    """Whether an address is one of the web, and not of mail."""
    return address[:4].lower() == "http" and "://" in address


def web(address: str) -> str:
    """A web address without `@`: it would call somebody, or hide the real host behind a false one."""
    return address.replace("@", "%40")


def mail(address: str) -> str:
    """An address of mail, as it is where it is nothing else."""
    return address if _MAIL.fullmatch(address) else quiet(address)


def hoisted(lead: Sequence[str]) -> str:
    """What goes before a line where only a whole line can be a quote: its sign comes first, inner ones are others."""
    if QUOTE not in lead:
        return "".join(lead)
    outer = lead.index(QUOTE)
    signs = [sign for sign in lead[:outer] if sign.strip()]
    inner = [INNER_QUOTE if sign == QUOTE else sign for sign in lead[outer + 1 :]]
    return "".join(("> ", *signs, *inner))


def bulleted(lead: Sequence[str]) -> str:
    """The same with a real bullet, where the channel makes none itself."""
    return hoisted(["• " if sign == BULLET else sign for sign in lead])


def in_ticks(text: str) -> str:
    """Code between backticks, which cannot hold any itself."""
    return f"`{text.replace('`', TICK)}`"


def without_fences(text: str) -> str:
    """A line of a block of code that cannot end it."""
    return _TICKS.sub(lambda ticks: TICK * len(ticks[0]), text)


_LOOKALIKES = {"*": "∗", "_": "ˍ", "~": "∼", "`": TICK}
_SIGN = re.compile(r"(?<!\w)[*_~](?!\s)|(?<!\s)[*_~](?!\w)|`")


def inert(text: str) -> str:
    """The text with signs that look alike, where the channel has no escape and the real ones might mark something up."""
    return _SIGN.sub(lambda sign: _LOOKALIKES[sign[0]], text)
