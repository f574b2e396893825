"""What one check of `afterglow doctor` found."""

from __future__ import annotations

from dataclasses import dataclass

FINE, WARNING, FAULT = "✓", "!", "✗"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What one check found: fine, a warning, or a fault, and how to mend it."""

    mark: str
    name: str
    text: str
    mend: str = ""

    def record(self) -> dict[str, str | None]:
        level = {FINE: "fine", WARNING: "warning", FAULT: "fault"}[self.mark]
        return {"name": self.name, "level": level, "text": self.text, "mend": self.mend or None}
