"""Regular expressions that are compiled when they are first used: all of them at once would take most of a start's time."""

from __future__ import annotations

import re
from typing import Any, cast


class _Expression:
    """Stands for a pattern until one of its attributes is asked for, and hands that out from then on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._given), name)
        setattr(self, name, attribute)
        return attribute


def lazily_compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The same as `re.compile`, later."""
    return cast("re.Pattern[str]", _Expression(pattern, flags))
