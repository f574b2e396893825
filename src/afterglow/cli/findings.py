"""What one check of `afterglow doctor` found, and what can be done about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

FINE, WARNING, FAULT = "✓", "!", "✗"
_TYPED = re.compile(r"`afterglow(?= |`)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What one check found: fine, a warning, or a fault, and how to mend it."""

    mark: str
    name: str
    text: str
    mend: str = ""
    fix: Callable[[], None] | None = None
    """What mends it, where that loses nothing and costs nothing."""

    def record(self) -> dict[str, str | bool | None]:
        level = {FINE: "fine", WARNING: "warning", FAULT: "fault"}[self.mark]
        can_be_fixed = self.fix is not None
        return {
            "name": self.name,
            "level": level,
            "text": self.text,
            "mend": self.mend or None,
            "fixable": can_be_fixed,
        }

    def typed_as(self, program: str) -> Finding:
        """The same, with the commands in it as they are to be typed here."""
        return replace(self, text=pasteable(self.text, program), mend=pasteable(self.mend, program))


def pasteable(text: str, program: str) -> str:
    """The text with every `afterglow …` in it as it reaches the same data: with the folder or file that was named."""
    return _TYPED.sub(lambda _: f"`{program}", text)
