"""WhatsApp: `*bold*`, `_italic_`, `~struck~`, backticks, lists and quotes. A text body holds 4096 characters.

There is no escape. Signs that might mark something up are replaced by ones that look alike; in an address they are
percent-encoded, which leads to the same place.
"""

from __future__ import annotations

import re

from afterglow.channels.dialect import (
    HIDDEN,
    Dialect,
    hoisted,
    in_ticks,
    inert,
    is_web,
    mail,
    quiet,
    web,
    without_fences,
)
from afterglow.channels.weaving import between_words

LIMIT = 4096
_BEGINNING = re.compile(r"[-*>+]|\d+[.)]")
_SIGN = re.compile(r"(?<![^\W_])[*_~]|[*_~](?![^\W_])")


def _address(address: str) -> str:
    if not is_web(address):
        return inert(mail(address))
    return _SIGN.sub(lambda sign: f"%{ord(sign[0]):02X}", web(address))


WHATSAPP = Dialect(
    limit=LIMIT,
    signs={"bold": ("*", "*"), "italic": ("_", "_"), "strike": ("~", "~")},
    allowed=between_words,
    text=lambda text: inert(quiet(text)),
    code=in_ticks,
    address=_address,
    beginning=lambda text: HIDDEN + text if _BEGINNING.match(text) else text,
    lead=hoisted,
    code_line=without_fences,
)
