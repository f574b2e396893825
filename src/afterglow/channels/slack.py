"""Slack's mrkdwn: `*bold*`, `_italic_`, `~struck~`, backticks and quotes; bullets are only characters.

A section's text holds 3000 characters, the least of Slack's limits, so a part can be sent as `text` or as a block. `&`,
`<` and `>` are escaped everywhere, in code too: mentions, channels and links all begin with `<`. The other signs have no
escape, so ones that look alike are put in their place.
"""

from __future__ import annotations

from afterglow.channels.dialect import (
    HIDDEN,
    Dialect,
    bulleted,
    in_ticks,
    inert,
    is_web,
    mail,
    quiet,
    web,
    without_fences,
)
from afterglow.channels.weaving import between_words

LIMIT = 3000


def escape(text: str) -> str:
    """The three characters that Slack wants escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _address(address: str) -> str:
    return f"<{escape(web(address))}>" if is_web(address) else escape(inert(mail(address)))


SLACK = Dialect(
    limit=LIMIT,
    signs={"bold": ("*", "*"), "italic": ("_", "_"), "strike": ("~", "~")},
    allowed=between_words,
    text=lambda text: escape(inert(quiet(text))),
    code=lambda code: escape(in_ticks(code)),
    address=_address,
    beginning=lambda text: HIDDEN + text if text.startswith("&gt;") else text,
    lead=bulleted,
    code_line=lambda line: escape(without_fences(line)),
)
