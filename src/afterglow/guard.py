"""What is taken out of a text before it is kept, and before it is shown to a model.

Before a turn is written, secrets in it become `[redacted: kind]` and `<private>…</private>` is dropped;
`guard_signs.py` knows a secret when it sees one. Before a text goes to a model, characters that a person would not see
are stripped from it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from afterglow.errors import BadInput
from afterglow.guard_signs import ANNOUNCING, find_secrets
from afterglow.turns import Role, Trust

PASSES_MAX = 6
DEPTH_MAX = 200
PRIVATE = "private"

_TRUST_OF_ROLE: Mapping[Role, Trust] = {"user": "owner", "assistant": "agent", "tool": "external", "system": "agent"}


class Edit(NamedTuple):
    """One thing taken out: the characters from `start` to `end`, of this kind, with `put` in their place."""

    start: int
    end: int
    kind: str
    put: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Guarded:
    """A text without its secrets, and how many were removed, by kind."""

    text: str
    removed: dict[str, int]
    passes: tuple[tuple[Edit, ...], ...] = ()

    def moved(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Where character ranges of the old text are in the new one; those of which nothing is left are dropped."""
        found = list(ranges)
        for edits in self.passes:
            found = _moved(found, edits)
        return [(start, end) for start, end in found if start < end]


def redact(text: str, *, secrets: bool = True, private: bool = True) -> Guarded:
    """The text with each secret replaced by `[redacted: kind]`, and `<private>…</private>` dropped.

    A removal can bring two halves together, so it is repeated until there is nothing more to remove.
    """
    passes: list[tuple[Edit, ...]] = []
    while len(passes) < PASSES_MAX:
        edits = (_private_parts(text) if private else ()) or (_secrets(text) if secrets else ())
        if not edits:
            break
        text = _applied(text, edits)
        passes.append(edits)
    removed = Counter(edit.kind for edits in passes for edit in edits)
    return Guarded(text=text, removed=dict(removed), passes=tuple(passes))


def redact_within(value: Any, *, secrets: bool = True, private: bool = True) -> tuple[Any, dict[str, int]]:
    """The same for every string inside lists and mappings, where a mapping's key says what its value is."""
    removed: Counter[str] = Counter()
    switches = {"secrets": secrets, "private": private}
    return _redacted(value, "", switches, removed, 0), dict(removed)


def strip_invisible(text: str) -> tuple[str, int]:
    """The text without what a person would not see, and how many characters that was. `\r` alone becomes a line's end.

    Kept, because people do see them: emoji of several parts and in colour, the flags made of tags, and the joiners
    that Arabic, Persian and the scripts of India need between letters.
    """
    if text.isascii() and not _CONTROL.search(text):
        return text, 0
    stripped = 0

    def seen(match: re.Match[str]) -> str:
        nonlocal stripped
        if match["kept"] is not None:
            return match[0]
        stripped += 1
        return "\n" if match[0] == "\r" else ""

    return _UNSEEN.sub(seen, text), stripped


def default_trust(role: Role) -> Trust:
    """The trust of a turn when its door knows nothing more than its role. Content never changes it."""
    if role not in _TRUST_OF_ROLE:
        raise BadInput(f"role {role!r} is not known; use one of {', '.join(_TRUST_OF_ROLE)}")
    return _TRUST_OF_ROLE[role]


# --- Taking out -----------------------------------------------------------------------------------------------------


def _secrets(text: str) -> tuple[Edit, ...]:
    return tuple(Edit(start, end, kind, f"[redacted: {kind}]") for start, end, kind in find_secrets(text))


_TAG = re.compile(r"<(/?)private\s{0,8}>", re.IGNORECASE)


def _private_parts(text: str) -> tuple[Edit, ...]:
    """Each `<private>` with all that is in it. One that is never closed goes on to the end."""
    edits: list[Edit] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                edits.append(Edit(start, tag.end(), PRIVATE, ""))
    if depth:
        edits.append(Edit(start, len(text), PRIVATE, ""))
    return tuple(edits)


def _applied(text: str, edits: Sequence[Edit]) -> str:
    pieces: list[str] = []
    end = 0
    for edit in edits:
        pieces += (text[end : edit.start], edit.put)
        end = edit.end
    return "".join((*pieces, text[end:]))


def _moved(ranges: Iterable[tuple[int, int]], edits: Sequence[Edit]) -> list[tuple[int, int]]:
    ends = [edit.end for edit in edits]
    shifts = list(accumulate((len(edit.put) - (edit.end - edit.start) for edit in edits), initial=0))

    def place(position: int, at_end: bool) -> int:
        before = bisect_right(ends, position)
        if before < len(edits) and edits[before].start < position:  # inside something that was taken out
            return edits[before].start + shifts[before] + (len(edits[before].put) if at_end else 0)
        return position + shifts[before]

    return [(place(start, False), place(end, True)) for start, end in ranges]


def _redacted(value: Any, key: str, switches: Mapping[str, bool], removed: Counter[str], depth: int) -> Any:
    if depth > DEPTH_MAX:
        raise BadInput(f"the parts are nested more than {DEPTH_MAX} deep; flatten them and send them again")
    if isinstance(value, str):
        return _redacted_text(value, key, switches, removed)
    if isinstance(value, Mapping):
        return _redacted_mapping(value, switches, removed, depth)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_redacted(inner, key, switches, removed, depth + 1) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _redacted_mapping(
    value: Mapping[str, Any], switches: Mapping[str, bool], removed: Counter[str], depth: int
) -> dict[str, Any]:
    name = value.get("name", value.get("key"))  # {"name": "DB_PASSWORD", "value": "…"}
    clean: dict[str, Any] = {}
    for key, inner in value.items():
        shown = _redacted_text(key, "", switches, removed)
        while shown in clean:
            shown += "′"
        says = redact(name).text if key == "value" and isinstance(name, str) else shown
        clean[shown] = _redacted(inner, says, switches, removed, depth + 1)
    return clean


def _redacted_text(text: str, key: str, switches: Mapping[str, bool], removed: Counter[str]) -> str:
    """The text redacted by itself, and then as it stands after its key: `"key": "text"`."""
    guarded = redact(text, **switches)
    removed.update(guarded.removed)
    announces = any(word in key.lower() for word in ANNOUNCING)
    if not (announces and switches["secrets"]):
        return guarded.text
    quote = next((mark for mark in "\"'`" if mark not in guarded.text), "")
    before = f'"{key}": {quote}'
    line = redact(before + guarded.text + quote, private=False)
    removed.update(line.removed)
    places = line.moved([(len(before), len(before) + len(guarded.text))])
    return line.text[slice(*places[0])] if line.passes and places else guarded.text


# --- What a person would not see ------------------------------------------------------------------------------------

# Unicode's Default_Ignorable_Code_Point (tags, bidirectional controls, zero-width characters, fillers, selectors),
# the interlinear marks, and controls other than the tab and the end of a line.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f]")
_IGNORABLE = (
    "\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINED = (
    "[\u0600-\u061b\u061d-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]"
_FLAG_TAGS = "|".join("".join(chr(0xE0000 + ord(c)) for c in place) for place in ("beng", "bsct", "bwls"))
_UNSEEN = re.compile(  # the character, and after it the reason to keep it
    f"[{_IGNORABLE}](?P<kept>(?<=\r)\n|(?<={_EMOJI}[\ufe0e\ufe0f])|(?<=[0-9#*]\ufe0f)(?=\u20e3)"
    f"|(?:(?<={_EMOJI}\u200d)|(?<={_EMOJI}\ufe0f\u200d))(?={_EMOJI})"
    f"|(?<={_JOINED}[\u200c\u200d])(?={_JOINED})|(?<={_VIRAMA}[\u200c\u200d])"
    f"|(?<=\U0001f3f4\U000e0067)(?:{_FLAG_TAGS})\U000e007f)?"
)
