"""Every provider's embedders, through LangChain's `init_embeddings`.

LangChain is imported when the first text is embedded, and in a thread: it takes seconds. Retrying is left to the work queue.
LangChain does not say what a call used, so the spend that is counted is an estimate.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from afterglow.clock import Clock
from afterglow.errors import BadSettings, MissingPackage, ModelBadOutput, ModelStopped
from afterglow.model import CallLost
from afterglow.model.failures import classify
from afterglow.model.prices import price_usd
from afterglow.model.providers import PROVIDERS, Provider
from afterglow.spend import Usage
from afterglow.tokens import estimate

_SECONDS_MAX = 60
_NO_KEY = "none"
"""Sent to an address of one's own when there is no key: the client insists on one, the server does not."""


class LangChainEmbedder:
    """One embedder of one provider, or at an OpenAI-compatible address."""

    def __init__(
        self, provider: str, model: str, *, environ: Mapping[str, str], base_url: str | None, clock: Clock
    ) -> None:
        self._provider = PROVIDERS.get(provider) or Provider(id=provider, package=f"langchain_{provider}")
        self._model = model
        self._base_url = base_url
        self._clock = clock
        self._key = next((environ[name] for name in self._provider.keys if environ.get(name)), None)
        self._building = threading.Lock()
        self._built: tuple[asyncio.AbstractEventLoop, Any] | None = None
        self._check()

    @property
    def name(self) -> str:
        at = f"@{self._base_url}" if self._base_url else ""
        return f"{self._provider.id}:{self._model}{at}"

    def most(self, texts: Sequence[str]) -> Usage:
        """The most tokens that embedding these texts can use."""
        return Usage(input_tokens=sum(estimate(text) for text in texts) * 6 // 5 + len(texts))

    def price(self, usage: Usage) -> float | None:
        """What that costs in US dollars; None where it is not known."""
        return price_usd(self._provider.id, self._model, usage, self._base_url)

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        embeddings = await self._embeddings()
        try:
            async with asyncio.timeout(_SECONDS_MAX):
                vectors = cast(list[Sequence[float]], await embeddings.aembed_documents(list(texts)))
        except TimeoutError:
            raise CallLost(f"{self.name} gave no vectors in {_SECONDS_MAX} seconds") from None
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a provider's package raises
            raise classify(error, self.name, self._clock.now()) from None
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise ModelBadOutput(
                f"{self.name} gave {len(vectors)} vectors for {len(texts)} texts, or of several lengths"
            )
        return vectors

    def _check(self) -> None:
        provider = self._provider
        if not all(find_spec(package) for package in ("langchain", provider.package, "numpy")):
            raise MissingPackage(
                f"the embedder {self.name!r} needs the packages {provider.package.replace('_', '-')} and numpy; install "
                f"them with: pip install '{provider.installation}' numpy"
            )
        if provider.keys and not self._key and not self._base_url:
            raise BadSettings(
                f"the embedder {self.name!r} needs a key; set the environment variable {provider.keys[0]}"
            )

    async def _embeddings(self) -> Any:
        """LangChain's embedder. A client lives in the event loop that it was first used in."""
        loop = asyncio.get_running_loop()
        if self._built is None or self._built[0] is not loop:
            self._built = (loop, await asyncio.to_thread(self._build))
        return self._built[1]

    def _build(self) -> Any:
        with self._building:
            from langchain.embeddings import init_embeddings

            try:
                return cast(Any, init_embeddings)(self._model, provider=self._provider.id, **self._options())
            except Exception as error:  # noqa: BLE001 - the boundary: whatever a provider's package raises
                raise ModelStopped(
                    f"{self.name} cannot be set up ({type(error).__name__}); check its key, its address and its name"
                ) from None

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"base_url": self._base_url} if self._base_url else {}
        if self._provider.id == "openai":
            # Other servers than OpenAI's want the text itself, not its tokens.
            options |= {"api_key": self._key or _NO_KEY, "max_retries": 0, "check_embedding_ctx_length": False}
        elif self._key:
            options |= {"google_api_key" if self._provider.id == "google_genai" else "api_key": self._key}
        return options
