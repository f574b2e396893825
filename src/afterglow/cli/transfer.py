"""`export` and `import`: the log as lines of JSON, out and in again."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO, cast

import typer

from afterglow.cli.call import Call, OwnerOption, command
from afterglow.cli.sessions import scope
from afterglow.errors import BadInput

if TYPE_CHECKING:
    from afterglow.memory import Memory

PANEL = "In and out"
_STANDARD = Path("-")


def add_to(app: typer.Typer) -> None:
    command(app, "export", export_log, panel=PANEL)
    command(app, "import", import_log, panel=PANEL)


def export_log(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="[FILE|-]", help="Where to; - is stdout.")] = _STANDARD,
    owner: OwnerOption = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write over a file that is there.")] = False,
) -> None:
    """Write the log as lines of JSON: owners, sessions, turns, blocks, summaries, facts, work.

    The file appears when it is whole. `afterglow import` reads it.
    """
    if file == _STANDARD:
        cast("Any", sys.stdout).reconfigure(encoding="utf-8", newline="\n")  # as in a file
        call.run(lambda memory: _write_lines(memory, owner, sys.stdout, as_list=call.as_json))
        return
    target = _target(file, force)
    with _becoming(target) as temporary:
        lines = call.run(lambda memory: _write_lines(memory, owner, temporary))
    call.screen.answer({"file": target, "lines": lines}, f"{target} holds {lines:,} lines.")


def import_log(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE|-", help="An export of Afterglow; - is stdin.")],
) -> None:
    """Read an export. What is there already is left alone, so a broken import goes on where it stopped."""
    from collections import Counter

    from afterglow.cli.screen import count

    passed_over: Counter[str] = Counter()

    async def read(memory: Memory) -> tuple[int, int]:
        from afterglow.transfer import import_lines

        with _opened(file) as source, _interruptible(), progress("importing", _size(file)) as advance:
            lines = _Lines(source, advance)
            return await import_lines(memory, lines, passed_over), lines.number

    if file != _STANDARD:
        from afterglow.transfer import check_first_line

        _check_source(file)
        with file.open("rb") as source:  # before a database is made for what may be no export at all
            check_first_line(next(iter(_Lines(source, lambda _: None)), ""))
    new, lines = call.run(read, create=True)
    told = f"{count(new, 'turn')} new, from {count(lines, 'line')}."
    call.screen.answer({"new_turns": new, "lines": lines, "passed_over": passed_over}, told)
    for what, number in passed_over.items():
        call.screen.warn(f"Passed over: {what} ({number:,}).")


async def _write_lines(memory: Memory, owner: str | None, file: TextIO, *, as_list: bool = False) -> int:
    """Write the export; with `as_list`, as one JSON document instead of lines."""
    from afterglow.cli.screen import plain_json
    from afterglow.transfer import export_lines

    whose = await scope(memory, owner)
    totals = await memory.store.totals(whose)
    before, between, after = ('{"items": [\n', ",\n", "\n]}\n") if as_list else ("", "\n", "\n")
    number = 0
    with progress("exporting", totals.sessions + totals.turns) as advance:
        async for line in export_lines(memory, whose):
            file.write((between if number else before) + plain_json(line))
            number += 1
            advance(1)
    file.write(after)
    return number


class _Lines:
    """The lines of a file, counted, and told to the progress bar in bytes."""

    def __init__(self, source: BinaryIO, advance: Callable[[int], None]) -> None:
        self._source = source
        self._advance = advance
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._source:
            self.number += 1
            self._advance(len(line))
            try:
                yield line.decode()
            except UnicodeDecodeError:
                raise BadInput(f"line {self.number}: this is not UTF-8 text, and no export of Afterglow") from None


def _check_source(file: Path) -> None:
    if not file.exists() or file.is_dir():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise BadInput(f"{file} {what}; name the file of an export, or - for stdin")


def _target(file: Path, force: bool) -> Path:
    """Where the export will stand, if it may."""
    target = file.resolve()
    if target.exists() and not target.is_file():
        raise BadInput(f"{file} is not a file; name the file to write, or - for stdout")
    if target.exists() and not force:
        raise BadInput(f"{file} is there already; name another, or write over it with --force")
    if not target.parent.is_dir():
        raise BadInput(f"there is no folder {target.parent} to write {target.name} into; make it first")
    return target


@contextmanager
def _becoming(target: Path) -> Generator[TextIO]:
    """A file beside the target that takes its place when all is written, or vanishes."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _opened(file: Path) -> Any:
    return sys.stdin.buffer if file == _STANDARD else file.open("rb")


@contextmanager
def _interruptible() -> Generator[None]:
    """While lines are read, Ctrl-C ends it at once: asyncio's own handler would wait until the next line came."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _size(file: Path) -> int | None:
    return None if file == _STANDARD else file.stat().st_size


@contextmanager
def progress(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """A bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress

    from afterglow.cli.screen import console_on

    with Progress(console=console_on(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)
