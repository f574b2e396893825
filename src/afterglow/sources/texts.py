"""A text from outside made fit for one line of a context: nothing invisible, no secrets, no line breaks, not too long."""

from __future__ import annotations

from afterglow.guard import redact, strip_invisible
from afterglow.tokens import estimate

CHARS_MAX = 400_000
"""More than any report needs; what lies beyond is not even looked at."""


def one_line(text: str, tokens_max: int) -> str:
    """The text as one line of at most so many tokens; `…` stands where it was cut.

    Secrets are looked for when the lines are joined, because one may have been broken over two, and before the cut.
    """
    visible = strip_invisible(text[:CHARS_MAX].encode("utf-8", "replace").decode())[0]
    folded = redact(" ".join(visible.split())).text
    return cut(" ".join(folded.split()), tokens_max)


def cut(text: str, tokens_max: int) -> str:
    """The beginning of a text that fits, up to the end of a word, with `…` after it; the text itself if it fits."""
    if estimate(text) <= tokens_max:
        return text
    low, high = 0, min(len(text), 16 * tokens_max)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle] + " …") <= tokens_max else (low, middle - 1)
    head = text[:low]
    at_word = head.rpartition(" ")[0] if low < len(text) and text[low] != " " else head
    return f"{(at_word or head).rstrip()} …".strip()


def shorter(text: str, chars_max: int) -> str:
    """A title or a name as one line of at most so many characters."""
    line = " ".join(strip_invisible(text[: 20 * chars_max].encode("utf-8", "replace").decode())[0].split())
    return line if len(line) <= chars_max else line[: chars_max - 1].rstrip() + "…"
