"""HTML of a dozen harmless tags: everything else in a message is text. It has no limit."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from afterglow.channels.dialect import is_web, web
from afterglow.channels.tree import Block, Code, Listing, Mark, Paragraph, Quote, Row, Run
from afterglow.channels.weaving import always, woven

_TAGS: dict[Mark, tuple[str, str]] = {
    "bold": ("<strong>", "</strong>"),
    "italic": ("<em>", "</em>"),
    "strike": ("<del>", "</del>"),
}


def html_of(blocks: Iterable[Block], *, tight: bool = False) -> str:
    """The blocks as HTML. In a tight list the text of an item is no paragraph."""
    return "\n".join(_block(block, tight) for block in blocks)


def _block(block: Block, tight: bool) -> str:
    match block:
        case Paragraph():
            text = "<br>\n".join(map(_row, block.rows))
            return text if tight else f"<p>{text}</p>"
        case Code():
            return f"<pre><code>{escape(block.text)}</code></pre>"
        case Quote():
            return f"<blockquote>\n{html_of(block.blocks)}\n</blockquote>"
        case Listing():
            return _listing(block)


def _listing(listing: Listing) -> str:
    items = "\n".join(f"<li>{html_of(item, tight=not listing.loose)}</li>" for item in listing.items)
    if listing.first is None:
        return f"<ul>\n{items}\n</ul>"
    start = "" if listing.first == 1 else f' start="{listing.first}"'
    return f"<ol{start}>\n{items}\n</ol>"


def _row(row: Row) -> str:
    return woven(row, _run, _TAGS, always)


def _run(run: Run) -> str:
    if "code" in run.marks:
        return f"<code>{escape(run.text)}</code>"
    if "address" not in run.marks:
        return escape(run.text)
    address = escape(web(run.text) if is_web(run.text) else run.text)
    href = address if is_web(run.text) else f"mailto:{address}"
    return f'<a href="{href}" rel="noopener noreferrer nofollow">{address}</a>'
