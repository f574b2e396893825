"""A message as a small tree: markdown read once, so that every channel shows the same thing.

What cannot be shown safely never gets into the tree. Raw HTML is text. A link is its label, followed by its address in
brackets, and only `http`, `https` and `mailto` make one; whatever else looks like a link stays the text it was written
as. Invisible and bidirectional characters are dropped before reading and again after it, because `&#x202e;` only
becomes one then. A table is a code block with its columns aligned, a heading is a bold line.

Nothing that was written is lost: link definitions are not taken out of the text, and where quotes and lists are nested
deeper than `NESTING_MAX`, their signs are shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.token import Token

from afterglow.channels.table import aligned
from afterglow.guard import strip_invisible

Mark = Literal["bold", "italic", "strike", "code", "address"]

Marks = frozenset[Mark]
BlockRule = Callable[[StateBlock, int, int, bool], bool]
CODE: Marks = frozenset({"code"})
ADDRESS: Marks = frozenset({"address"})

NESTING_MAX = 16
"""Levels of quotes and lists; a list is two. The parser drops what is deeper than its own limit, so ours is lower."""
_BRACKETS_MAX = 6
"""How deep brackets may stand in brackets. Each level costs the parser another pass over the line."""
_RULE = "———"
_BOLD: Marks = frozenset({"bold"})
_MARK_OF: dict[str, Marks] = {"strong": _BOLD, "em": frozenset({"italic"}), "s": frozenset({"strike"})}
_SAFE = re.compile(r"(?i:https?://|mailto:)[^<>\"`\\^{|}\0-\x20\x7f-\U0010ffff]+")
_BARE = re.compile(
    r"\bhttps?://[a-z0-9.:@%\[\]_~-]++(?![^\W_])(?:[/?#][^\s<>\"`|\\^{}，。、！？；：（）「」《》]*)?"
    r"|(?<![\w.%+-])[a-z0-9][a-z0-9._%+-]{0,63}@(?!everyone|here|channel)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?![\w@])",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[\t\n\r\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Run:
    """Some text of one line that looks the same throughout."""

    text: str
    marks: Marks = frozenset()


Row = tuple[Run, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """Lines of text. `close`: it stood right below the block before it, with no empty line between."""

    rows: tuple[Row, ...]
    close: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A block of code, or a table."""

    text: str
    language: str = ""
    close: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """Blocks that somebody else said."""

    blocks: tuple[Block, ...]
    close: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """Items, numbered from `first` on or not at all. `loose`: empty lines stand between them."""

    items: tuple[tuple[Block, ...], ...]
    first: int | None = None
    loose: bool = False
    close: bool = False


Block = Paragraph | Code | Quote | Listing


def parse(markdown: str) -> tuple[Block, ...]:
    """The blocks of a text. Any string will do."""
    tokens = _block_parser().parse(strip_invisible(_whole(markdown))[0])
    return tuple(_blocks(iter(tokens), ""))


def cleaned(text: str) -> str:
    """The text without lone surrogates and without what nobody would see."""
    return strip_invisible(_whole(text))[0]


def _whole(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# --- The parser -----------------------------------------------------------------------------------------------------


@cache
def _block_parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX + 4})
    md.enable("table").disable(["reference", "html_block", "inline", "text_join"])
    md.block.ruler.at("table", _filled(table), {"alt": ["paragraph", "reference"]})
    md.block.ruler.at("blockquote", _shallow(blockquote), {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.block.ruler.at("list", _shallow(list_block), {"alt": ["paragraph", "reference", "blockquote"]})
    return md


def _shallow(rule: BlockRule) -> BlockRule:
    """The same rule, which does not hold any more where the nesting is deep enough."""

    def shallow(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < NESTING_MAX and rule(state, start, end, silent)

    return shallow


def _filled(rule: BlockRule) -> BlockRule:
    """The same rule for tables, which end at a row that is nearly empty: it would be filled up with empty cells."""

    def filled(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if silent or not rule(state, start, end, True):
            return silent and rule(state, start, end, True)
        least = max(1, _source(state, start + 1).count("|") // 2)
        stop = start + 2
        while stop < end and _source(state, stop).count("|") >= least:
            stop += 1
        return rule(state, start, stop, False)

    return filled


def _source(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] : state.eMarks[line]]


@cache
def _line_parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": _BRACKETS_MAX})
    md.enable("strikethrough").disable("html_inline")
    md.validateLink = lambda url: _SAFE.fullmatch(url) is not None
    return md


# --- Blocks ---------------------------------------------------------------------------------------------------------


def _blocks(tokens: Iterator[Token], end: str) -> Iterator[Block]:
    """The blocks up to the token of this type."""
    below = -1  # the line on which the next block is close to the one before
    for token in tokens:
        if token.type == end:
            return
        block = _block(token, tokens)
        if block is None:
            continue
        lines = token.map or [-2, -1]
        yield replace(block, close=lines[0] == below)
        below = lines[1] if isinstance(block, Paragraph) and token.type == "paragraph_open" else -1


def _block(token: Token, tokens: Iterator[Token]) -> Block | None:
    match token.type:
        case "paragraph_open":
            return _paragraph(next(tokens), frozenset())
        case "heading_open":
            return _paragraph(next(tokens), _BOLD)
        case "fence" | "code_block":
            return _code(token)
        case "blockquote_open":
            blocks = tuple(_blocks(tokens, "blockquote_close"))
            return Quote(blocks=blocks) if blocks else None
        case "bullet_list_open" | "ordered_list_open":
            return _listing(token, tokens)
        case "table_open":
            return _table(tokens)
        case "hr":
            return Paragraph(rows=((Run(_RULE),),))
        case _:
            return None


def _paragraph(inline: Token, marks: Marks) -> Paragraph | None:
    rows = tuple(row for row in _rows(_children(inline), marks) if row)
    return Paragraph(rows=rows) if rows else None


def _code(token: Token) -> Code | None:
    text = cleaned(token.content).replace("\u2028", "\n").replace("\u2029", "\n").strip("\n")
    language = re.match(r"[\w+#.-]{0,30}", token.info.strip(), re.ASCII)
    return Code(text=text, language=language[0] if language else "") if text.strip() else None


def _listing(opening: Token, tokens: Iterator[Token]) -> Listing:
    items: list[tuple[Block, ...]] = []
    loose = False
    for token in tokens:
        if token.type == opening.type.replace("open", "close"):
            break
        hidden: list[bool] = []
        items.append(tuple(_blocks(_noting(tokens, token.level + 1, hidden), "list_item_close")))
        loose = loose or not all(hidden)
    first = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
    return Listing(items=tuple(items), first=first, loose=loose)


def _noting(tokens: Iterator[Token], level: int, hidden: list[bool]) -> Iterator[Token]:
    """The same tokens; whether the item's own paragraphs are hidden, as those of a tight list are, is noted."""
    for token in tokens:
        if token.type == "paragraph_open" and token.level == level:
            hidden.append(token.hidden)
        yield token
        if token.type == "list_item_close" and token.level == level - 1:
            return


def _table(tokens: Iterator[Token]) -> Code | None:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            cells = _rows(_children(token), frozenset()) if token.content else ()
            rows[-1].append(" ".join("".join(run.text for run in row) for row in cells))
    text = aligned(rows)
    return Code(text=text) if text.strip() else None


# --- Lines of text --------------------------------------------------------------------------------------------------


def _children(inline: Token) -> Sequence[Token]:
    tokens = _line_parser().parseInline(inline.content)
    return (tokens[0].children if tokens else None) or ()


def _rows(children: Sequence[Token], marks: Marks) -> list[Row]:
    rows: list[list[Run]] = [[]]
    always = marks
    links: list[tuple[str, int, int]] = []  # the address, and where its label begins
    for token in children:
        row = rows[-1]
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.type in ("softbreak", "hardbreak"):
            rows.append([])
        elif name in _MARK_OF:
            marks = marks | _MARK_OF[name] if token.nesting > 0 else marks - _MARK_OF[name] | always
        elif token.type == "code_inline":
            row.append(Run(_one_line(token.content), marks | CODE))
        elif token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(rows) - 1, len(row)))
        elif token.type == "link_close":
            _end_link(rows, links.pop(), marks)
        elif token.type == "image":
            link = (str(token.attrs.get("src", "")), len(rows) - 1, len(row))
            row.extend(run for inner in _rows(token.children or (), marks) for run in inner)
            _end_link(rows, link, marks)
        else:
            row.extend(_texts(_one_line(token.content), marks))
    return [_trimmed(row) for row in rows]


def _end_link(rows: list[list[Run]], link: tuple[str, int, int], marks: Marks) -> None:
    """Put the address behind the label, or in its place where they are the same."""
    href, line, at = link
    address = Run(_shown(href), marks | ADDRESS)
    label = "".join(run.text for run in rows[line][at:]) if line == len(rows) - 1 else None
    if not href or label == address.text:
        return
    if label is not None and (not label.strip() or _line_parser().normalizeLink(label) in (href, address.text)):
        rows[line][at:] = [address]
        return
    rows[-1].extend((Run(" (", marks), address, Run(")", marks)))


def _shown(href: str) -> str:
    return href[len("mailto:") :] if href[:7].lower() == "mailto:" else href


def _texts(text: str, marks: Marks) -> Iterator[Run]:
    """The text, with the addresses in it apart."""
    done = 0
    for found in _BARE.finditer(text) if "//" in text or "@" in text else ():
        address = found[0].rstrip(".,;:!?'*_~") if "(" in found[0] else found[0].rstrip(".,;:!?'*_~)]")
        yield Run(text[done : found.start()], marks)
        yield Run(address, marks | ADDRESS)
        done = found.start() + len(address)
    yield Run(text[done:], marks)


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", cleaned(text))


def _trimmed(row: list[Run]) -> Row:
    """The row without spaces at its ends and without empty runs; neighbours that look the same are one."""
    runs: list[Run] = []
    for run in row:
        text = run.text if runs else run.text.lstrip()
        if runs and runs[-1].marks == run.marks and not run.marks & (CODE | ADDRESS):
            runs[-1] = Run(runs[-1].text + text, run.marks)
        elif text:
            runs.append(Run(text, run.marks))
    while runs and not runs[-1].text.strip():
        runs.pop()
    return (*runs[:-1], Run(runs[-1].text.rstrip(), runs[-1].marks)) if runs else ()
