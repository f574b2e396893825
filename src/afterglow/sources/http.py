"""Any program that answers over HTTP: it is sent the window and the prompt as JSON, and gives a text."""

from __future__ import annotations

import json
from typing import Any, cast

from afterglow.errors import SourceError
from afterglow.sources import Window
from afterglow.sources.addresses import Access, site
from afterglow.sources.fetch import fetch
from afterglow.sources.questions import question

BYTES_MAX = 1024 * 1024
_KEYS = ("summary", "text", "report")


class Http:
    """Asks by POST. The answer is plain text, or JSON with the text under `summary`, `text` or `report`."""

    def __init__(self, address: str, *, access: Access | None = None) -> None:
        self._address = address
        self._access = access or Access()

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        content = json.dumps(question(window, prompt, tokens_max), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/plain;q=0.9"}
        answer = await fetch("POST", self._address, self._access, content=content, headers=headers, bytes_max=BYTES_MAX)
        if "json" not in answer.content_type:
            return self._plain(answer.content_type, answer.text)
        try:
            return self._told(json.loads(answer.body))
        except (ValueError, RecursionError):
            raise SourceError(f"{site(self._address)} says that it answers in JSON, and does not") from None

    def _plain(self, content_type: str, text: str) -> str:
        if content_type not in ("", "text/plain", "text/markdown"):
            raise SourceError(f"{site(self._address)} answers with {content_type}; plain text or JSON is wanted")
        return text

    def _told(self, data: Any) -> str:
        if isinstance(data, str):
            return data
        if isinstance(data, dict):
            found = cast("dict[str, Any]", data)
            for key in _KEYS:
                if isinstance(found.get(key), str):
                    return found[key]
        raise SourceError(f"{site(self._address)} answers in JSON without a text under {', '.join(_KEYS)}")
