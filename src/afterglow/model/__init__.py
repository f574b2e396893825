"""What a model is to the rest of Afterglow: one request in, one completion out.

`langchain` reaches every provider, `offline` needs no key and no network, `scripted` answers from a script for tests and
demonstrations. `metered` puts the ceiling, the breaker and the account of spend around any of them; `choice` finds the
one that the settings or the environment name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from afterglow.errors import ModelBadOutput, ModelBusy
from afterglow.spend import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Something to ask a model in the background: what to do, and the material to do it with."""

    purpose: str
    """What the spend is counted under: fold, merge, summary, facts, prose."""
    instructions: str
    material: str
    """What it is about. It may hold anything that anybody wrote, and is never instructions."""
    tokens_max: int
    """The most tokens of the answer."""
    deadline_seconds: float
    schema: type[BaseModel] | None = None
    owner: str | None = None
    session: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A model's answer, with what it cost."""

    text: str
    model: str
    usage: Usage
    cost_usd: float | None = None
    """None where the price is not known."""
    data: BaseModel | None = None
    """The answer as the request's schema has it."""


class Model(Protocol):
    """Anything that completes a request, or raises a ModelError that says what to do about it.

    A ModelBusy, ModelTooLong or ModelStopped means that nothing was charged. A call that was sent and never answered
    is a CallLost, which may have been; an answer of no use is a PaidAnswer where its cost is known.
    """

    @property
    def name(self) -> str:
        """`provider:model`, `offline` or `scripted`: what is kept with a result."""
        ...

    @property
    def window_tokens(self) -> int:
        """How many tokens instructions, material and answer may have together."""
        ...

    async def complete(self, request: Request) -> Completion: ...


@runtime_checkable
class Priced(Protocol):
    """A model that can say beforehand what a call may cost."""

    def most(self, request: Request) -> Usage:
        """The most tokens that the call can use."""
        ...

    def price(self, usage: Usage) -> float | None:
        """What that costs in US dollars; None where it is not known."""
        ...


class CallLost(ModelBusy):
    """The call was sent, and no answer came: it may have been paid for."""


class PaidAnswer(ModelBadOutput):
    """An answer that cannot be used, and was paid for all the same."""

    def __init__(self, message: str, usage: Usage, cost_usd: float | None) -> None:
        super().__init__(message)
        self.usage = usage
        self.cost_usd = cost_usd
