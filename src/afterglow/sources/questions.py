"""What a program is told when it is asked: the same names for HTTP, commands and tools."""

from __future__ import annotations

from typing import Any

from afterglow.sources import Window, iso, request_text


def question(window: Window, prompt: str, tokens_max: int) -> dict[str, Any]:
    """The window, the whole request, the user's own prompt in it, and how long the answer may be."""
    return {
        "from": iso(window.start),
        "to": iso(window.end),
        "now": iso(window.now),
        "request": request_text(window, prompt),
        "prompt": prompt,
        "tokens_max": tokens_max,
    }
