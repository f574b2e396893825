"""Which model to use: the one that is named, else the one that the environment has a key for, else `offline`.

Choosing imports no provider's package; it only looks whether it is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from afterglow.clock import Clock, SystemClock
from afterglow.errors import BadSettings, MissingPackage
from afterglow.model import Model
from afterglow.model.langchain import LangChainModel
from afterglow.model.offline import NAME as OFFLINE
from afterglow.model.offline import OfflineModel
from afterglow.model.providers import LOCAL_WINDOW_TOKENS, PROVIDERS, Provider, window_of

_WELL_KNOWN = {
    "openai": re.compile(r"(gpt-(?!oss)|chatgpt-|o[134](-|$))"),
    "anthropic": re.compile(r"claude-"),
    "google_genai": re.compile(r"gemini-"),
}
_ALIASES = {"google": "google_genai", "gemini": "google_genai", "claude": "anthropic"}
_OPENAI = "https://api.openai.com"
_NO_KEY = "none"
"""Sent to an address of one's own when there is no key: the client insists on one, the server does not."""
CHOICES = (
    '"offline"; "openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5", "google_genai:gemini-2.5-flash", "ollama:llama3.2" '
    "or any other provider:model; a bare name that begins with gpt-, o1, o3, o4, claude- or gemini-; or, with base_url, the "
    'name of a model at that address; "" takes what the environment has a key for'
)


def choose(
    name: str,
    *,
    environ: Mapping[str, str],
    base_url: str | None = None,
    window_tokens: int | None = None,
    clock: Clock | None = None,
) -> Model:
    """The model of this name; BadSettings lists the choices, MissingPackage says what to install."""
    finder = _Finder(environ, base_url, window_tokens, clock or SystemClock())
    if name == OFFLINE:
        return OfflineModel()
    if base_url:
        return finder.at_address(name)
    if not name:
        return finder.from_environment()
    provider, colon, model = name.partition(":")
    if not colon:
        return finder.by_bare_name(name)
    return finder.of_provider(_ALIASES.get(provider, provider), model, name)


class _Finder:
    def __init__(
        self, environ: Mapping[str, str], base_url: str | None, window_tokens: int | None, clock: Clock
    ) -> None:
        self._environ = environ
        self._base_url = base_url
        self._window_tokens = window_tokens
        self._clock = clock

    def from_environment(self) -> Model:
        """An address with a model's name first, then the keys, then Ollama; what lacks its package is passed over."""
        get = self._environ.get
        address, named = self._openai_address(), get("OPENAI_MODEL")
        if address and named and _is_installed(PROVIDERS["openai"]):
            return self._compatible(named, address)
        for provider in PROVIDERS.values():
            if provider.id == "openai" and address:
                continue  # the key is for that address, and the model's name there is not known
            if self._key(provider) and provider.small and _is_installed(provider):
                model = named if provider.id == "openai" and named else provider.small
                return self._model(provider, model, {"api_key": self._key(provider)})
        host, local = get("OLLAMA_HOST"), get("OLLAMA_MODEL")
        if host and local and _is_installed(PROVIDERS["ollama"]):
            return self._ollama(local, host)
        return OfflineModel()

    def at_address(self, name: str) -> Model:
        """A model at an OpenAI-compatible address, whatever its name is."""
        assert self._base_url
        provider, _, model = name.partition(":")
        if provider == "ollama" and model:
            return self._ollama(model, self._base_url.rstrip("/").removesuffix("/v1"))
        if _ALIASES.get(provider, provider) in ("anthropic", "google_genai") and model:
            raise BadSettings(
                f"the model {name!r} is not reached by base_url, which is for OpenAI-compatible addresses; take one of "
                "the two away"
            )
        named = (model if provider == "openai" else name) or self._environ.get("OPENAI_MODEL", "")
        if not named:
            raise BadSettings(f"base_url is {self._base_url}, and no model is named; set `model` to one it has")
        return self._compatible(named, self._base_url)

    def by_bare_name(self, name: str) -> Model:
        for provider, pattern in _WELL_KNOWN.items():
            if pattern.match(name):
                return self.of_provider(provider, name, name)
        raise BadSettings(f"the model {name!r} is of no provider in particular; use one of: {CHOICES}")

    def of_provider(self, provider_id: str, model: str, name: str) -> Model:
        if not model or not re.fullmatch(r"[a-z][a-z0-9_]*", provider_id):
            raise BadSettings(f"the model {name!r} is not named as provider:model; use one of: {CHOICES}")
        provider = PROVIDERS.get(provider_id) or Provider(id=provider_id, package=f"langchain_{provider_id}")
        if provider.id not in PROVIDERS and not _is_installed(provider):
            raise BadSettings(
                f"the model {name!r} has a provider that is not known here; use one of: {CHOICES}. A provider of "
                f"LangChain's is known once its package ({provider.installation}) is installed"
            )
        _must_be_installed(provider, name)
        if provider.id == "ollama":
            return self._ollama(model, self._environ.get("OLLAMA_HOST"))
        if provider.id == "openai" and (address := self._openai_address()):
            return self._compatible(model, address)
        if provider.keys and not self._key(provider):
            raise BadSettings(f"the model {name!r} needs a key; set the environment variable {provider.keys[0]}")
        return self._model(provider, model, {"api_key": self._key(provider)} if provider.keys else {})

    def _openai_address(self) -> str | None:
        """Where OpenAI's own clients would go by the environment, if not to OpenAI itself."""
        address = self._environ.get("OPENAI_BASE_URL")
        return None if not address or address.startswith(_OPENAI) else address

    def _compatible(self, model: str, address: str) -> Model:
        provider = PROVIDERS["openai"]
        _must_be_installed(provider, model)
        key = {"api_key": self._key(provider) or _NO_KEY}
        return self._model(provider, model, key, address, LOCAL_WINDOW_TOKENS)

    def _ollama(self, model: str, host: str | None) -> Model:
        provider = PROVIDERS["ollama"]
        _must_be_installed(provider, model)
        # What a server listens on is no address to call.
        address = host.replace("0.0.0.0", "127.0.0.1") if host else None
        return self._model(provider, model, {}, address, LOCAL_WINDOW_TOKENS)

    def _model(
        self, provider: Provider, model: str, options: dict[str, Any], address: str | None = None, window: int = 0
    ) -> Model:
        return LangChainModel(
            provider,
            model,
            clock=self._clock,
            window_tokens=self._window_tokens or window or window_of(model),
            options=options,
            base_url=address,
        )

    def _key(self, provider: Provider) -> str | None:
        return next((self._environ[name] for name in provider.keys if self._environ.get(name)), None)


def _is_installed(provider: Provider) -> bool:
    return all(find_spec(package) is not None for package in ("langchain", provider.package))


def _must_be_installed(provider: Provider, name: str) -> None:
    if not _is_installed(provider):
        raise MissingPackage(
            f"the model {name!r} needs the package {provider.package.replace('_', '-')}; install it with: "
            f"pip install '{provider.installation}'"
        )
