"""Which of many strings of bytes stand in a file, in one pass over it, however many they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

_MEMORY_BYTES_MAX = 256 << 20
_CHUNK_BYTES = 16 << 20


class Literals:
    """Strings of bytes to look for. Of two that overlap in a file, the first is found."""

    def __init__(self, wanted: Iterable[bytes]) -> None:
        self._wanted = sorted(set(wanted))
        self._longest = max(map(len, self._wanted), default=1)
        options = re2.Options()
        options.max_mem = _MEMORY_BYTES_MAX
        cast(Any, options).encoding = cast(Any, re2).Options.Encoding.LATIN1
        pattern = b"|".join(b"".join(b"\\x%02x" % byte for byte in each) for each in self._wanted)
        self._compiled: Any = cast(Any, re2).compile(pattern, options) if self._wanted else None

    def found_in(self, path: Path) -> set[bytes]:
        """Those that stand in this file; of one that is gone meanwhile, none."""
        if not self._wanted:
            return set()
        return {match.group() for chunk in self._chunks(path) for match in self._compiled.finditer(chunk)}

    def _chunks(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                kept = b""
                while chunk := file.read(_CHUNK_BYTES):
                    yield kept + chunk
                    kept = (kept + chunk)[-self._longest + 1 :] if self._longest > 1 else b""
        except FileNotFoundError:
            return
