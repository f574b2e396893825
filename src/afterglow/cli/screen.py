"""How answers look: one JSON document, or text and tables for people.

What is shown was written by strangers, so no control character in it reaches the terminal: every text that is printed
goes through `visible`, every JSON document through `plain_json`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime, tzinfo
from typing import Any, TextIO, cast

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

NAME_CHARS = 32
"""A column whose longest cell has no more than this is never broken: the names that Afterglow gives have 16."""
_UNLIMITED_COLUMNS = 100_000

# Controls but tab and line feed, what turns the direction of writing, invisible characters but the two joiners that
# emoji and some scripts need, half surrogates, tags.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str, *, lines: bool = False) -> str:
    """The text with its control characters shown rather than obeyed; without `lines`, on one line."""
    text = text.replace("\r\n", "\n")
    if not lines:
        text = text.replace("\n", " ").replace("\t", " ")
    return _HIDDEN.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain_json(text: str) -> str:
    """The same JSON with hidden characters written as escapes, which any reader turns back."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1] if found[0] >= "\x7f" else found[0], text)


class Styled:
    """Text of several styles, made visible piece by piece."""

    def __init__(self) -> None:
        self.text = Text()

    def add(self, text: str, style: str = "", *, lines: bool = False) -> Styled:
        self.text.append(visible(text, lines=lines), style)
        return self


class Screen:
    """Where an answer goes: as JSON or for people, with times in one zone."""

    def __init__(self, *, as_json: bool, zone: tzinfo) -> None:
        self._as_json = as_json
        self._zone = zone

    def time(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%Y-%m-%d %H:%M}"

    def answer(self, data: Any, *shown: RenderableType) -> None:
        """The answer of a command: the data as JSON, or what is shown of it to people."""
        if self._as_json:
            write(self._dump(data))
            return
        console = console_on(sys.stdout)
        with console.capture() as captured:
            for each in shown:
                if isinstance(each, str):
                    _print_sentence(console, visible(each, lines=True))
                else:
                    console.print(each)
        text = captured.get()
        write(text if console.is_terminal else re.sub(" +$", "", text, flags=re.MULTILINE))

    def items(
        self,
        records: Sequence[Any],
        columns: Sequence[str],
        rows: Iterable[Sequence[str | Text]],
        *,
        empty: str,
        **more: Any,
    ) -> None:
        """A list of records: {"items": […]}, or a table, or a sentence where there are none."""
        data = {"items": [_record(each) for each in records], **more}
        if not records and not self._as_json:
            self.note(empty)
        else:
            self.answer(data, table(columns, rows))

    def note(self, text: str) -> None:
        """What is worth knowing beside the answer. A program that asked for JSON has it in there."""
        if not self._as_json:
            _print_sentence(console_on(sys.stderr), visible(text, lines=True))

    def warn(self, text: str) -> None:
        if not self._as_json:
            _print_sentence(console_on(sys.stderr), ("! ", "bold yellow"), visible(text, lines=True))

    def _dump(self, data: Any) -> str:
        as_ascii = "utf" not in (sys.stdout.encoding or "").lower()
        text = json.dumps(data, indent=2, ensure_ascii=as_ascii, default=self._plain)
        return plain_json(text) + "\n"

    def _plain(self, value: Any) -> Any:
        if isinstance(value, datetime):
            return value.astimezone(self._zone).isoformat()
        return _record(value)


def _record(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return cast("Any", value) if isinstance(value, Mapping) else str(value)


def write(text: str) -> None:
    """Data as it is. Whoever calls this has made it fit for a terminal."""
    sys.stdout.write(text)


def tell_error(kind: str, message: str, *, as_json: bool) -> None:
    """An error on stderr."""
    if as_json:
        text = json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=True)
        print(plain_json(text), file=sys.stderr)
    else:
        _print_sentence(console_on(sys.stderr), ("Error: ", "bold red"), visible(message, lines=True))


def _print_sentence(console: Console, *parts: str | tuple[str, str]) -> None:
    """Lines are broken between words alone, so that a path can be copied."""
    console.print(Text.assemble(*parts), overflow="ignore", crop=False)


def console_on(stream: TextIO) -> Console:
    """A console as wide as the terminal; where there is none, lines are as long as they are, for grep and the like."""
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _UNLIMITED_COLUMNS
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table without lines. `#` before a heading aligns to the right, `~` lets the column break, names if long."""
    cells = [[Text(visible(each)) if isinstance(each, str) else each for each in row] for row in rows]
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for place, heading in enumerate(columns):
        widest = max((row[place].cell_len for row in cells), default=0)
        made.add_column(
            heading.lstrip("#~"),
            justify="right" if heading.startswith("#") else "left",
            no_wrap=not heading.startswith("~") and widest <= NAME_CHARS,
            overflow="fold",
        )
    for row in cells:
        made.add_row(*row)
    return made


def pairs(rows: Iterable[tuple[str | Text, str | Text]]) -> Table:
    """Names and what they are, one in a line."""
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(
            Text(visible(name), "dim") if isinstance(name, str) else name,
            Text(visible(value)) if isinstance(value, str) else value,
        )
    return made


def indented(text: Text, columns: int = 4) -> Padding:
    return Padding(text, (0, 0, 0, columns), expand=False)


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 turn`, `2,345 turns`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bar(share: float, columns: int, *, rest: str | None = None) -> str:
    """A share of 0 to 1 as a bar; what is more than nothing shows, and what is more than all is cut off."""
    full, empty = ("█", "░") if "utf" in (sys.stdout.encoding or "").lower() else ("#", ".")
    filled = min(columns, max(round(share * columns), int(share > 0)))
    return full * filled + (empty if rest is None else rest) * (columns - filled)


@contextmanager
def waiting(what: str) -> Generator[None]:
    """A sign of life on stderr while something takes long, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with console_on(sys.stderr).status(Text(f"{visible(what)} …")):
        yield
