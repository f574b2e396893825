"""Runs of one line put together, with signs where bold, italic and struck-out text begins and ends.

The signs nest properly, and stand next to text, never next to spaces. Chats take `*` for bold only between words, so a
channel may refuse a span; its text is then shown without the mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple
from unicodedata import category

from afterglow.channels.tree import Mark, Run


class Edges(NamedTuple):
    """The characters at the ends of a span: those outside it, empty at the end of a line, and those inside."""

    mark: Mark
    before: str
    first: str
    last: str
    after: str
    shared: bool
    """Another span begins or ends with this one."""


Allowed = Callable[[Edges], bool]


class Span(NamedTuple):
    """The pieces from `begin` up to `end`."""

    begin: int
    end: int
    mark: Mark


def woven(
    runs: Sequence[Run], show: Callable[[Run], str], signs: Mapping[Mark, tuple[str, str]], allowed: Allowed
) -> str:
    """The line as text."""
    if not signs or not any(run.marks for run in runs):
        return "".join(map(show, runs))
    pieces = [piece for run in runs for piece in spaced(run)]
    shown = [show(piece) if piece.text.strip() else piece.text for piece in pieces]
    spans = [span for mark in signs for span in spans_of(pieces, mark)]
    ends = Counter(end for span in spans for end in span[:2])
    spans = [span for span in spans if allowed(_edges(span, shown, ends))]
    return _joined(shown, spans, signs)


def between_words(edges: Edges) -> bool:
    """The rule of Slack and WhatsApp."""
    return not _is_word(edges.before) and not _is_word(edges.after)


def by_flanks(edges: Edges) -> bool:
    """The rule of markdown: between spaces or punctuation always, inside words where letters are on all four sides."""
    if _is_edge(edges.before) and _is_edge(edges.after):
        return True
    sides = ((edges.before, edges.first), (edges.after, edges.last))
    inside = all(_is_edge(outer) or inner.isalnum() for outer, inner in sides)
    return inside and edges.mark != "italic" and not edges.shared


def always(edges: Edges) -> bool:
    """No rule: the signs cannot be mistaken."""
    return True


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_edge(char: str) -> bool:
    return not char or char.isspace() or category(char)[0] == "P" or (char.isascii() and not char.isalnum())


def spaced(run: Run) -> list[Run]:
    """The run, with the spaces at its ends apart."""
    core = run.text.strip()
    if run.text == core or not core or "code" in run.marks:
        return [run]
    begin = run.text.index(core)
    ends = (run.text[:begin], core, run.text[begin + len(core) :])
    return [Run(text, run.marks) for text in ends if text]


def spans_of(pieces: Sequence[Run], mark: Mark) -> list[Span]:
    """Where pieces next to each other have this mark, without the spaces at the ends."""
    spans: list[Span] = []
    begin = end = None
    for place, piece in enumerate(pieces):
        if mark not in piece.marks:
            if begin is not None and end is not None:
                spans.append(Span(begin, end, mark))
            begin = end = None
        elif piece.text.strip():
            begin = place if begin is None else begin
            end = place + 1
    if begin is not None and end is not None:
        spans.append(Span(begin, end, mark))
    return spans


def _edges(span: Span, shown: Sequence[str], ends: Mapping[int, int]) -> Edges:
    return Edges(
        mark=span.mark,
        before=shown[span.begin - 1][-1:] if span.begin else "",
        first=shown[span.begin][:1],
        last=shown[span.end - 1][-1:],
        after=shown[span.end][:1] if span.end < len(shown) else "",
        shared=ends[span.begin] > 1 or ends[span.end] > 1,
    )


def nested(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, outer ones first. One that begins inside another and ends outside becomes two."""
    waiting = [(span.begin, -span.end, span) for span in spans]
    heapify(waiting)
    done: list[Span] = []
    around: list[Span] = []
    while waiting:
        span = heappop(waiting)[2]
        while around and around[-1].end <= span.begin:
            around.pop()
        if around and span.end > around[-1].end:
            rest = Span(around[-1].end, span.end, span.mark)
            heappush(waiting, (rest.begin, -rest.end, rest))
            span = Span(span.begin, rest.begin, span.mark)
        around.append(span)
        done.append(span)
    return done


def _joined(shown: Sequence[str], spans: Sequence[Span], signs: Mapping[Mark, tuple[str, str]]) -> str:
    begins: dict[int, list[Span]] = {}
    for span in nested(spans):
        begins.setdefault(span.begin, []).append(span)
    out: list[str] = []
    around: list[Span] = []
    for place, text in enumerate((*shown, "")):
        while around and around[-1].end <= place:
            out.append(signs[around.pop().mark][1])
        for span in begins.get(place, ()):
            out.append(signs[span.mark][0])
            around.append(span)
        out.append(text)
    return "".join(out)
