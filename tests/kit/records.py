"""The people, the moment and the turns that tests speak of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from afterglow.store.log import Entry
from afterglow.turns import Binding, Draft

KATE = Binding(agent="kate", channel="telegram", sender="ana")
OTHER = Binding(agent="kate", channel="telegram", sender="ben")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def said(text: str, role: Any = "user", **more: Any) -> Entry:
    """A turn as a door would hand it to the store."""
    more.setdefault("at", NOON)
    more.setdefault("tokens", len(text) // 4 + 1)
    trust = {"user": "owner", "assistant": "agent", "tool": "external", "system": "agent"}[role]
    terms = more.pop("terms", re.findall(r"\w+", text.lower()))
    draft = Draft(role=role, text=text, trust=more.pop("trust", trust), origin=more.pop("origin", "person"), **more)
    return Entry(draft=draft, terms=terms, bytes=len(text.encode()))
