"""Plain text, for terminals, text messages and screen readers: the words without any signs. It has no limit."""

from __future__ import annotations

from afterglow.channels.dialect import Dialect, same
from afterglow.channels.lines import QUOTE
from afterglow.channels.weaving import always

PLAIN = Dialect(
    limit=None,
    signs={},
    allowed=always,
    text=same,
    code=same,
    address=same,
    beginning=same,
    lead=lambda lead: "".join("> " if sign == QUOTE else sign for sign in lead),
    fence=lambda lines: None,
    code_line=same,
    code_leads=True,
)
