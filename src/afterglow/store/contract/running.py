"""How verbs are run: what each database does in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from afterglow.acting import who
from afterglow.clock import Clock, new_fence, new_id, to_us
from afterglow.store import audit
from afterglow.store.sessions import Fresh
from afterglow.store.transaction import Scope, Tx
from afterglow.summaries import Summary
from afterglow.turns import Place, Session

T = TypeVar("T")


class Running(ABC):
    """How verbs are run: what each database does in its own way."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    @property
    @abstractmethod
    def where(self) -> str:
        """Where the data is, with no password in it."""

    @abstractmethod
    async def check(self) -> list[str]:
        """What is wrong with the database; nothing, for a sound one."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let go of everything."""

    @abstractmethod
    async def _write(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T: ...

    @abstractmethod
    async def _read(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T: ...

    def _noted(self, what: str, verb: Callable[[Tx], T], look: audit.Look[T]) -> Callable[[Tx], T]:
        """The verb with the line of the audit that says who did it: every verb that changes memory is run so."""
        return audit.noted(what, who(), verb, look)

    def _fresh(self) -> Fresh:
        return Fresh(id=new_id(self.clock), fence=new_fence(self.clock), by=who())

    def _salt(self) -> str:
        return f"{self.clock.bits(256):064x}"

    def _now_us(self) -> int:
        return to_us(self.clock.now())


def key_of(before: Session | Summary | Place | None) -> tuple[int, str, str] | None:
    """The place that a list goes on behind, as it is compared."""
    place = None if before is None else before.place
    return None if place is None else (to_us(place.last_at), place.owner, place.session)
