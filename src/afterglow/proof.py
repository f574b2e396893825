"""The proof that something is forgotten: no row and no file holds any of its words.

Words that another turn says too prove nothing; they are named with the turn that says them, so that it can be forgotten too.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterglow.errors import StoreError
from afterglow.facts.readable import COMMON
from afterglow.search.literals import Literals
from afterglow.store.contract import Store
from afterglow.store.holding import Held, Scrubbed

_OF_ONE_TEXT_MAX = 30
_RARE_CHARS_MIN = 9
_RUN_WORDS = 3
_RUN_WORDS_MAX = 6
_TELLING_MIN = 2
"""So many words of a run must not be common ones: "I prefer the" is said of everything."""
_TELLING_BYTES_MIN = 3
_RUN_CHARS_MIN = 12
_WHOLE_BYTES_MIN = 6
_NUMBER_BYTES_MIN = 4
"""What is shorter, or a short word without a digit, stands in any file by chance."""
_WHOLE_CHARS_MAX = 80
_WORD = re.compile(r"\w[\w'’.@:/+-]*\w|\w")
_ENDING = re.compile(r"n['’]t$|['’].*$")
_SAID_OF_ALL = (
    "like likes liked love want wants wanted prefer prefers preferred please thank thanks sorry hello yes okay well"
)
_COMMON = COMMON | frozenset(_SAID_OF_ALL.split())
_SAID = ("turns", "whole_turns", "reports")
"""What somebody said, a source among them; all else is made of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What a search of all bytes found of what was forgotten."""

    clean: bool
    """Whether all was looked at and nothing is left. Where all that was forgotten is too short to tell, it is not."""
    looked_at: tuple[str, ...]
    found: tuple[str, ...]
    """Where something of it still is, though no turn says it."""
    said_elsewhere: tuple[str, ...]
    """Where other turns, sessions or owners have the same words; these prove nothing about what was forgotten."""
    not_looked_at: tuple[str, ...]
    sought: int
    """How many pieces of text were looked for. Without any, nothing is proved."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Searched:
    there: list[tuple[Path, str]]
    """What stands in which file."""
    closed: dict[Path, str]
    """The files that cannot be read, and why."""


async def prove(
    store: Store, sought: Sequence[str], *, owner: str, session: str | None = None, data_dir: Path | None = None
) -> Proof:
    """Whether nothing of these pieces of text is left, after the database has written over what it removed.

    They were said by this owner, in this session or in all of its. Where bytes are left that belong to no row, all of the
    database is written anew, and searched again.
    """
    short = [piece for piece in sought if _is_too_short(piece)]
    sought = [piece for piece in sought if piece not in short]
    scrubbed = await _scrubbed(store)
    if not scrubbed.files or (await _look(store, scrubbed, scrubbed.files, sought))[1].there:
        scrubbed = await _scrubbed(store, whole=True)
    others, closed = _others(data_dir, scrubbed.files)
    files = [*scrubbed.files, *others]
    held, searched = await _look(store, scrubbed, files, sought)
    closed |= searched.closed
    in_files = [f"{path}: {_brief(piece)}" for path, piece in searched.there]
    said = {
        each.word.casefold() for each in held if each.table in _SAID
    }  # the index has a word that a turn says in small letters
    left = [each for each in held if each.word.casefold() not in said and _came_from(each, owner, session)]
    return Proof(
        clean=not (in_files or left or closed or (short and not sought)),
        looked_at=("the rows of every table", *(str(path) for path in files if path not in closed)),
        found=tuple(dict.fromkeys([*map(_row, left), *in_files])),
        said_elsewhere=tuple(dict.fromkeys(_row(each) for each in held if each not in left)),
        not_looked_at=(
            *scrubbed.unseen,
            *(f"{path}: it cannot be read ({problem})" for path, problem in closed.items()),
            *_untold(len(short)),
        ),
        sought=len(sought),
    )


async def _scrubbed(store: Store, *, whole: bool = False) -> Scrubbed:
    """What was removed is written over; if that cannot be done now, it is forgotten all the same, and the proof says so."""
    try:
        return await store.scrub(whole=whole)
    except StoreError as error:
        return Scrubbed(
            files=(), unseen=(f"the database's files: what was removed is not written over yet ({error})",), plain=False
        )


async def _look(
    store: Store, scrubbed: Scrubbed, files: Sequence[Path], sought: Sequence[str]
) -> tuple[list[Held], _Searched]:
    """The rows that hold any of these, and the files that hold any that stands in no row.

    Where files hold text as it was written, rows are only looked at for what stands in a file.
    """
    held = [] if scrubbed.plain else await store.rows_holding(sought)
    looked_for = set[str]() if scrubbed.plain else set(sought)
    while True:
        alive = {each.word for each in held}
        searched = await asyncio.to_thread(_search, files, [piece for piece in sought if piece not in alive])
        new = sorted({piece for _, piece in searched.there} - looked_for)
        if not new:
            return held, searched
        held += await store.rows_holding(new)
        looked_for |= set(new)


def _came_from(held: Held, owner: str, session: str | None) -> bool:
    """Whether a row can have its words from what was forgotten: it is of that session, or of no session in particular."""
    return held.owner == owner and (session is None or held.session in (None, session))


def _is_too_short(piece: str) -> bool:
    has_digit = any(char.isdigit() for char in piece)
    return len(piece.encode()) < (_NUMBER_BYTES_MIN if has_digit else _WHOLE_BYTES_MIN)


def _untold(texts: int) -> list[str]:
    told = "1 text is" if texts == 1 else f"{texts} texts are"
    return [f"{told} too short to be looked for"] if texts else []


def _row(held: Held) -> str:
    return f"table {held.table} ({held.place}): {_brief(held.word)}"


def _brief(piece: str) -> str:
    return repr(piece if len(piece) <= 40 else piece[:40] + "…")


def _others(data_dir: Path | None, known: Iterable[Path]) -> tuple[list[Path], dict[Path, str]]:
    """The other files of the data folder (memory files, logs), and the folders in it that cannot be read."""
    if data_dir is None:
        return [], {}
    seen = {path.resolve() for path in known}
    problems: list[OSError] = []
    found = [Path(folder, name) for folder, _, names in os.walk(data_dir, onerror=problems.append) for name in names]
    closed = {Path(each.filename): _why(each) for each in problems if not isinstance(each, FileNotFoundError)}
    return sorted(path for path in found if _may_be_read(path) and path.resolve() not in seen), closed


def _may_be_read(path: Path) -> bool:
    """Whether it is a file, for all that can be seen: the search then tells."""
    try:
        return path.is_file()
    except OSError:
        return True


def _search(files: Iterable[Path], sought: Sequence[str]) -> _Searched:
    """Which files hold any of these, in any of the ways that text is written down."""
    wanted = {form: piece for piece in sought for form in _forms(piece)}
    literals = Literals(wanted)
    searched = _Searched(there=[], closed={})
    for path in files:
        try:
            found = literals.found_in(path)
        except OSError as error:
            searched.closed[path] = _why(error)
        else:
            searched.there.extend((path, piece) for piece in sorted({wanted[form] for form in found}))
    return searched


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _forms(piece: str) -> set[bytes]:
    escaped = json.dumps(piece)[1:-1]
    return {piece.encode(), piece.encode("utf-16-le"), piece.encode("utf-16-be"), escaped.encode()}


def pieces(text: str) -> list[str]:
    """What a text is recognised by: runs of its words, those that cover it first, and its rare words; without runs, itself.

    That may be too short to be looked for: `prove` says so.
    """
    runs = [run for line in text.splitlines() for run in _runs(line)]
    rare = [match[0] for match in _WORD.finditer(text) if _is_rare(match[0])]
    rare += [word.lower() for word in rare]  # as the index of words has them
    covering = [run for run, covers in runs if covers]
    found = [*rare[:_OF_ONE_TEXT_MAX], *[*covering, *(run for run, covers in runs if not covers)][:_OF_ONE_TEXT_MAX]]
    if not runs:
        found.append(text.strip()[:_WHOLE_CHARS_MAX].rstrip())
    return [piece for piece in dict.fromkeys(found) if piece]


def _runs(line: str) -> Iterator[tuple[str, bool]]:
    """From each word on as many as tell enough, or of common ones many; and whether it begins where the one before ends."""
    spans = [match.span() for match in _WORD.finditer(line)]
    covered = 0
    for first, (start, _) in enumerate(spans):
        weight = 0
        for number, (begin, end) in enumerate(spans[first : first + _RUN_WORDS_MAX], 1):
            weight += _weight(line[begin:end])
            is_telling = number >= _RUN_WORDS and weight >= _TELLING_MIN
            if (is_telling or number == _RUN_WORDS_MAX) and end - start >= _RUN_CHARS_MIN:
                yield line[start:end], start >= covered
                covered = max(covered, end) if start >= covered else covered
                break
        else:  # the line ends before: a short one is looked for as it is, and of one the end, if it tells something
            rest = line[start : spans[-1][1]] if first else line.strip()
            if len(rest) >= _RUN_CHARS_MIN and (not first or (len(spans) - first >= _RUN_WORDS and weight)):
                yield rest[:_WHOLE_CHARS_MAX].rstrip(), not first


def _weight(word: str) -> int:
    return _TELLING_MIN if _is_rare(word) else int(_is_telling(word))


def _is_telling(word: str) -> bool:
    bare = _ENDING.sub("", word.casefold())
    return len(bare.encode()) >= _TELLING_BYTES_MIN and bare not in _COMMON


def _is_rare(word: str) -> bool:
    return len(word) >= _RARE_CHARS_MIN and any(char.isdigit() for char in word)
