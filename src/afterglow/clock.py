"""Where time and chance enter. Everything else gets them as arguments, so that tests can fix both."""

from __future__ import annotations

import random
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from afterglow.errors import BadInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (2, 9998)
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def to_us(moment: datetime) -> int:
    """Microseconds since 1970, UTC: how every moment is stored."""
    assert moment.tzinfo is not None, "a moment without a zone"
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_us(microseconds: int) -> datetime:
    """The moment that `to_us` stored."""
    return _EPOCH + timedelta(microseconds=microseconds)


def moment_within(at: datetime, what: str = "the time") -> datetime:
    """The moment in UTC. It has a zone, and lies where every zone of the world can write it."""
    if at.tzinfo is None:
        raise BadInput(f"{what} {at.isoformat()} has no zone; give one, such as {at.isoformat()}+00:00")
    if not _YEARS[0] <= at.year <= _YEARS[1]:
        raise BadInput(f"{what} {at.isoformat()} lies outside the years {_YEARS[0]} to {_YEARS[1]}")
    return at.astimezone(UTC)


class Clock(Protocol):
    """Time and chance, as the system sees them."""

    @property
    def fixed(self) -> bool:
        """Whether the database must be told this clock's time rather than use its own."""
        ...

    def now(self) -> datetime: ...

    def bits(self, count: int) -> int:
        """A random number of `count` bits that nobody can guess."""
        ...


class SystemClock:
    """The machine's time, and randomness from its operating system."""

    fixed = False

    def now(self) -> datetime:
        return from_us(time.time_ns() // 1000)

    def bits(self, count: int) -> int:
        return secrets.randbits(count)


class FixedClock:
    """A clock that stands still until it is moved, and a seeded chance. For tests and demonstrations."""

    fixed = True

    def __init__(self, start: datetime, seed: int = 0) -> None:
        self._now = start.astimezone(UTC)
        self._random = random.Random(seed)

    def now(self) -> datetime:
        return self._now

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def move(self, seconds: float) -> None:
        """Go on by so many seconds, or back by a negative number of them."""
        self._now += timedelta(seconds=seconds)


class Deadline:
    """A time to be done by, measured by a clock that nobody can set."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self._end


def new_fence(clock: Clock) -> str:
    """A mark that nobody can guess, to stand around what is only a record."""
    return f"~~~ {clock.bits(64):016x} ~~~"


def new_id(clock: Clock) -> str:
    """A name for a new thing of an owner: 9 characters of time, then 7 of chance, so that names sort by age."""
    milliseconds = to_us(clock.now()) // 1000
    return _base32(milliseconds, 9) + _base32(clock.bits(35), 7)


def new_token(clock: Clock) -> str:
    """A secret of 256 bits that a program shows to be let in."""
    return "ag_" + _base32(clock.bits(260), 52)


def _base32(number: int, length: int) -> str:
    digits = (_ALPHABET[number >> (5 * place) & 31] for place in reversed(range(length)))
    return "".join(digits)
