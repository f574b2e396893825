r"""Discord: markdown with backslashes as escapes, 2000 characters in a message.

An address stands in `<…>`, which keeps Discord from adding a preview. A mention is broken by a hidden character as well
as escaped, because an escape changes only how it is shown. Whoever sends the parts should still forbid mentions
(`allowed_mentions`); see docs/channels.md.
"""

from __future__ import annotations

import re

from afterglow.channels.dialect import HIDDEN, Dialect, hoisted, is_web, mail, quiet, web, without_fences
from afterglow.channels.markdown import beginning, code_span
from afterglow.channels.weaving import by_flanks

LIMIT = 2000
_ESCAPES = str.maketrans({sign: "\\" + sign for sign in "\\`*_~|<>[]"})
_CALL = re.compile(r"@(?=everyone|here)|(?<=<)[@#]", re.IGNORECASE)


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def _uncalled(code: str) -> str:
    return _CALL.sub(lambda sign: sign[0] + HIDDEN, code)


DISCORD = Dialect(
    limit=LIMIT,
    signs={"bold": ("**", "**"), "italic": ("_", "_"), "strike": ("~~", "~~")},
    allowed=by_flanks,
    text=lambda text: _escape(quiet(text)),
    code=lambda code: code_span(_uncalled(code)),
    address=lambda address: f"<{web(address)}>" if is_web(address) else _escape(mail(address)),
    beginning=beginning,
    lead=hoisted,
    code_line=lambda line: _uncalled(without_fences(line)),
    languages=True,
)
