"""Markdown itself: the same message with nothing in it but what it shows. It has no limit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from afterglow.channels.dialect import Dialect, is_web, same, web
from afterglow.channels.lines import QUOTE, Line
from afterglow.channels.weaving import by_flanks

_SIGN = re.compile(r"[\\`*\[\]<>~|&]|(?<![^\W_])_|_(?![^\W_])")
_NUMBER = re.compile(r"(\d{1,9})(?=[.)])")
_TICKS = re.compile("`+")


def escape(text: str) -> str:
    """The text with a backslash before whatever might be markup."""
    return _SIGN.sub(r"\\\g<0>", text)


def beginning(text: str) -> str:
    """The text of a line that begins no heading, list or rule."""
    if text[:1] and text[0] in "#+=:-":
        return "\\" + text
    return _NUMBER.sub(r"\1\\", text, count=1) if _NUMBER.match(text) else text


def code_span(text: str) -> str:
    """Code between as many backticks as it takes."""
    ticks = "`"
    while ticks in _TICKS.findall(text):
        ticks += "`"
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text.strip() else text


def _fence(lines: Sequence[Line]) -> str:
    return "`" * max(3, 1 + max((len(ticks) for line in lines for ticks in _TICKS.findall(line.text)), default=0))


def _lead(lead: Sequence[str]) -> str:
    return "".join("> " if sign == QUOTE else sign for sign in lead)


MARKDOWN = Dialect(
    limit=None,
    signs={"bold": ("**", "**"), "italic": ("_", "_"), "strike": ("~~", "~~")},
    allowed=by_flanks,
    text=escape,
    code=code_span,
    address=lambda address: f"<{web(address) if is_web(address) else address}>",
    beginning=beginning,
    lead=_lead,
    fence=_fence,
    code_line=same,
    code_leads=True,
    languages=True,
)
