"""The texts that are sent to models, each in a file of its own. A result keeps the name and the hash of its prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A text with places to fill in."""

    text: str
    version: str
    """Its name and the beginning of its hash, as in `fold-3fa2b9c1`."""

    def filled(self, **values: object) -> str:
        text = self.text
        for name, value in values.items():
            assert "{" + name + "}" in text, f"the prompt has no place for {name}"
            text = text.replace("{" + name + "}", str(value))
        return text


@cache
def load(name: str) -> Prompt:
    """The prompt of this name."""
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
    return Prompt(text=text, version=f"{name}-{sha256(text.encode()).hexdigest()[:8]}")
