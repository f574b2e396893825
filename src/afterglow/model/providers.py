"""What is known of providers and their models: packages, keys, small models, windows, and how much they think.

A model that thinks before it answers counts its thoughts as output, so it is told to think little, and is given tokens
for it beyond those of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WINDOW_TOKENS = 128_000
"""Of a model that is not listed."""
LOCAL_WINDOW_TOKENS = 8_192
"""Of a model at an address of one's own. Many such servers cut what is longer without a word, so it is better small."""
THINKING_TOKENS = 4_000

_THINKS = re.compile(r"o[1345](-|$)|gpt-([5-9]|\d\d)(?!.*-chat)|gemini-(2\.5-pro|[3-9]|\d\d)")
# Calls are minutes apart, and the clients of some providers are shared by all event loops of a process: a connection that
# is kept would be one of a loop that is gone.
_CLOSE = {"Connection": "close"}
_WINDOWS = (
    (r"gpt-4\.1", 1_000_000),
    (r"gpt-4o|gpt-4-(turbo|1106|0125)|chatgpt-4o", 128_000),
    (r"gpt-4-32k", 32_000),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"gpt-5\.3", 128_000),
    (r"gpt-5", 400_000),
    (r"gpt-6", 1_000_000),
    (r"o1-(mini|preview)", 128_000),
    (r"o[134](-|$)", 200_000),
    (r"claude-(2|instant)", 100_000),
    (r"claude-", 200_000),
    (r"gemini-(1\.5|2|3|4)", 1_000_000),
    (r"gemini-(1\.0|pro)", 32_000),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """Where models come from, by the name that LangChain has for it."""

    id: str
    package: str
    extra: str | None = None
    """What to install it with; None for a provider that Afterglow has no extra for."""
    keys: tuple[str, ...] = ()
    """The environment variables that may hold its key, the first that is set."""
    small: str = ""
    """The model that is used when only a key is given: cheap, quick, and without much thinking."""

    @property
    def installation(self) -> str:
        return f".[{self.extra}]" if self.extra else self.package.replace("_", "-")

    def options(self, model: str, window_tokens: int, base_url: str | None) -> dict[str, Any]:
        """What LangChain's class is made with, beside the model's name and the key."""
        address = {"base_url": base_url} if base_url else {}
        if self.id == "ollama":
            # Without its size said, the server's window is small, and what is longer is cut at its beginning.
            window = {"num_ctx": window_tokens, "reasoning": False}
            return {**address, **window, "client_kwargs": {"headers": _CLOSE}}
        if self.id == "google_genai":
            once = {"max_retries": 1, "additional_headers": _CLOSE}  # 0 would mean its own default
            return {**address, **once, **_google_thinking(model)}
        thinking = _openai_thinking(model) if self.id == "openai" and not base_url else {}
        if self.id == "openai":
            thinking |= {"stream_usage": True}  # at other addresses it is off unless asked for
        headers = {"default_headers": _CLOSE} if self.id in PROVIDERS else {}
        return {**address, "max_retries": 0, **headers, **thinking}

    def limit(self, model: str, tokens: int, base_url: str | None) -> dict[str, Any]:
        """How the most tokens of an answer are said."""
        if self.id == "openai" and base_url and not _THINKS.match(model):
            # LangChain sends OpenAI's newer name for it, which other servers pass over.
            return {"extra_body": {"max_tokens": tokens}}
        return {
            "ollama": {"num_predict": tokens},
            "google_genai": {"max_output_tokens": tokens},
        }.get(self.id, {"max_tokens": tokens})

    @property
    def no_calls(self) -> Mapping[str, Any] | str | None:
        """How it is said that tools are named and not to be used; None where that cannot be said."""
        return {"openai": "none", "google_genai": "none", "anthropic": {"type": "none"}}.get(self.id)

    def thinking_tokens(self, model: str) -> int:
        return THINKING_TOKENS if _THINKS.match(model) else 0


PROVIDERS: Mapping[str, Provider] = {
    provider.id: provider
    for provider in (
        Provider(
            id="openai",
            package="langchain_openai",
            extra="openai",
            keys=("OPENAI_API_KEY",),
            small="gpt-4.1-mini",
        ),
        Provider(
            id="anthropic",
            package="langchain_anthropic",
            extra="anthropic",
            keys=("ANTHROPIC_API_KEY",),
            small="claude-haiku-4-5",
        ),
        Provider(
            id="google_genai",
            package="langchain_google_genai",
            extra="google",
            keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            small="gemini-2.5-flash",
        ),
        Provider(id="ollama", package="langchain_ollama", extra="ollama"),
    )
}


def window_of(model: str) -> int:
    """How many tokens a well-known model takes; a careful guess for the others."""
    return next((tokens for pattern, tokens in _WINDOWS if re.match(pattern, model)), WINDOW_TOKENS)


def _openai_thinking(model: str) -> dict[str, Any]:
    if not _THINKS.match(model):
        return {}
    return {"reasoning_effort": "minimal" if re.match(r"gpt-5(-|$)", model) else "low"}


def _google_thinking(model: str) -> dict[str, Any]:
    if re.match(r"gemini-2\.5-flash(-\d|$)", model):
        return {"thinking_budget": 0}
    if model.startswith("gemini-2.5-pro"):
        return {"thinking_budget": 128}  # the least that it accepts
    return {"thinking_level": "low"} if _THINKS.match(model) else {}
