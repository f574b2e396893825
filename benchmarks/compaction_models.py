"""The conversation of the compaction benchmark, its two fake models, and what a candidate must offer.

Every message of the user carries one numbered detail, `detail-aaab` and so on. The fake summariser never forgets a detail that
it was shown: one that is missing in the end was never shown to it. Its summaries are filler of exactly the size asked for,
and begin with a name, `summary-aaab`. Which details each holds, and how often each was rewritten, stands in a table beside.
The table also says which of them were left if every rewriting lost 3 % of the details: one run answers for both summarisers.

The numbers are spelled in letters, and no message asks for anything. Afterglow copies lost identifiers (`FACT-0001` would be
one) and open requests behind a summary by itself, so that such a detail would survive without the summariser: here it may not.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from typing import ClassVar, Protocol

from benchmarks import texts

TOKEN_CHARS = 4
USER_TOKENS, REPLY_TOKENS, SUMMARY_TOKENS = 60, 190, 300
TRIGGER_TOKENS, KEEP_MESSAGES = 8000, 20
SURVIVAL = 0.97

_LETTERS = "abcdefghij"
_DIGITS = str.maketrans(_LETTERS, "0123456789")
_NAMED = re.compile(rf"\bdetail-([{_LETTERS}]{{4,}})\b|\bsummary-([{_LETTERS}]{{4,}})\b")


class Candidate(Protocol):
    """A way to hold a long conversation. It asks the models it was made with and nothing else, and stores in its folder."""

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    """Whose versions the figures depend on."""

    def __init__(self, models: Models) -> None: ...
    async def open(self, folder: Path) -> None: ...

    async def exchange(self, user_text: str) -> str:
        """One turn as a user waits for it: the message stored, `models.reply` asked once, its answer stored and returned."""
        ...

    async def settle(self) -> None:
        """Return when nothing of the candidate runs in the background any more."""
        ...

    async def close(self) -> None: ...

    def parts(self) -> dict[str, int]:
        """The tokens of the last context by part, in the order of the text; empty where there is nothing to tell apart."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How long the models take to answer, and the user to write."""

    summary_seconds: float = 0.0
    reply_seconds: float = 0.0
    think_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Details:
    """What a text holds: each detail with the times it was rewritten, and those of them a losing summariser would have left."""

    rewritings: dict[int, int]
    left: frozenset[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryCall:
    exchange: int
    tokens_in: int
    tokens_out: int


@dataclass(kw_only=True)
class Models:
    """The fake chat model and the fake summariser, and what they were asked."""

    pace: Pace = field(default_factory=Pace)
    context: Sequence[str] = ()
    """What the chat model was last sent, one text for each message."""
    replies: int = 0
    calls: list[SummaryCall] = field(default_factory=list[SummaryCall])
    _held: dict[int, Details] = field(default_factory=dict[int, Details])

    async def reply(self, context: Sequence[str]) -> str:
        self.context = context
        self.replies += 1
        if self.pace.reply_seconds:
            await asyncio.sleep(self.pace.reply_seconds)
        return padded(f"Noted, message {self.replies}.", REPLY_TOKENS)

    async def summarise(self, prompt: str, tokens: int = SUMMARY_TOKENS) -> str:
        """A summary of so many tokens that holds every detail of the prompt."""
        number = len(self.calls) + 1
        self.calls.append(SummaryCall(exchange=self.replies, tokens_in=tokens_of(prompt), tokens_out=tokens))
        self._held[number] = rewritten(self.details([prompt]))
        if self.pace.summary_seconds:
            await asyncio.sleep(self.pace.summary_seconds)
        return padded(named("summary", number), tokens, OWN_WORDS)

    def details(self, shown: Sequence[str]) -> Details:
        """What these texts hold, word for word or in the summaries among them; of two copies the less rewritten counts."""
        rewritings: dict[int, int] = {}
        left: set[int] = set()
        for text in shown:
            for detail, summary in _NAMED.findall(text):
                number = int((detail or summary).translate(_DIGITS))
                found = Details(rewritings={number: 0}, left=frozenset({number})) if detail else self._held[number]
                left |= found.left
                for number, times in found.rewritings.items():
                    rewritings[number] = min(times, rewritings.get(number, times))
        return Details(rewritings=rewritings, left=frozenset(left))


def rewritten(details: Details) -> Details:
    """The same details after one more rewriting, which a losing summariser does not bring all of them through."""
    rewritings = {detail: times + 1 for detail, times in details.rewritings.items()}
    return Details(
        rewritings=rewritings, left=frozenset(detail for detail in details.left if survives(detail, rewritings[detail]))
    )


def survives(detail: int, rewriting: int) -> bool:
    """Whether a detail comes through this rewriting of it: always the same answer for the same two numbers."""
    digest = blake2b(f"{detail}:{rewriting}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) < SURVIVAL * 2**64


def user_text(number: int) -> str:
    return padded(f"{named('detail', number)} is to be noted.", USER_TOKENS)


def named(kind: str, number: int) -> str:
    """A detail or a summary by its number, with letters for the digits."""
    return f"{kind}-{''.join(_LETTERS[int(digit)] for digit in f'{number:04d}')}"


def numbers_of_details(stored: bytes) -> set[int]:
    """The details whose messages stand in these bytes."""
    found = re.findall(rf"detail-([{_LETTERS}]{{4,}}) is to be noted".encode(), stored)
    return {int(name.decode().translate(_DIGITS)) for name in found}


def padded(beginning: str, tokens: int, of: Sequence[str] = ()) -> str:
    """A text of exactly so many tokens: the beginning, then words, other ones for another beginning."""
    size = tokens * TOKEN_CHARS
    seed = int.from_bytes(blake2b(beginning.encode(), digest_size=4).digest())
    filler = list(of) or _WORDS
    words = cycle(filler[seed % len(filler) :] + filler[: seed % len(filler)])
    text = beginning
    while len(text) < size:
        text = f"{text} {next(words)}"
    return text[: size - 1] + "."


def tokens_of(*shown: str) -> int:
    return sum(len(text) for text in shown) // TOKEN_CHARS


_WORDS = texts(40, seed=7)
OWN_WORDS = texts(40, seed=8)
"""A summary is not written in the record's own words; one that is, is refused as a copy."""
