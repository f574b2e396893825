"""Search by regular expression, on an engine whose time grows with the text alone, and with limits on both."""

from __future__ import annotations

from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from afterglow.errors import BadInput

PATTERN_CHARS_MAX = 1000
_MEMORY_BYTES_MAX = 16 << 20


class Pattern:
    """A compiled expression: RE2's syntax, so no look-around and no back-references."""

    def __init__(self, expression: str, *, ignore_case: bool = False) -> None:
        if not expression or len(expression) > PATTERN_CHARS_MAX:
            raise BadInput(
                f"a regular expression has 1 to {PATTERN_CHARS_MAX} characters; this one has {len(expression)}"
            )
        options = re2.Options()
        options.max_mem = _MEMORY_BYTES_MAX
        options.log_errors = False
        options.case_sensitive = not ignore_case
        try:
            self._compiled: Any = cast(Any, re2).compile(expression, options)
        except cast(type[Exception], re2.error) as error:  # pyright: ignore[reportUnknownMemberType]
            raise BadInput(
                f"{expression!r} is not a regular expression that can be searched with: {_reason(error)}. "
                "Look-around and back-references are not supported, since their time has no limit."
            ) from None

    def find(self, text: str) -> tuple[int, int] | None:
        """Where it matches first."""
        match = self._compiled.search(text)
        return None if match is None else match.span()


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
