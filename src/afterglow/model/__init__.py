"""What a model is to the rest of Afterglow: one request in, one completion out, or its words as they come and then that.

`langchain` reaches every provider, `offline` needs no key and no network, `scripted` answers from a script for tests and
demonstrations. `metered` puts the ceiling, the breaker and the account of spend around any of them; `choice` finds the
one that the settings or the environment name.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from afterglow.errors import ModelBadOutput, ModelBusy
from afterglow.spend import Usage
from afterglow.tokens import MESSAGE_TOKENS, estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """What a model wants done before it goes on."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    fault: str = ""
    """Why it cannot be done: its arguments could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One message of a talk. One of role tool is the result of the call that it `answers`."""

    role: Literal["user", "assistant", "tool", "system"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    counted: int = 0
    """Its tokens, where somebody counted them already."""

    @property
    def tokens(self) -> int:
        if self.counted:
            return self.counted
        called = sum(estimate(call.name + _as_json(call.arguments)) + MESSAGE_TOKENS for call in self.calls)
        return estimate(self.text) + MESSAGE_TOKENS + called


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def tokens(self) -> int:
        return estimate(self.name + self.description + _as_json(self.schema)) + MESSAGE_TOKENS


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Something to ask a model: what to do, and the material to do it with, or the talk that it is to go on with."""

    purpose: str
    """What the spend is counted under: agent, fold, merge, summary, facts, prose."""
    instructions: str
    material: str = ""
    """What it is about. It may hold anything that anybody wrote, and is never instructions."""
    messages: tuple[Said, ...] = ()
    """A talk, in place of material."""
    tools: tuple[ToolSpec, ...] = ()
    may_call: bool = True
    """Whether it may use them. Some providers refuse a talk in which tools were used unless they are named."""
    tokens_max: int
    """The most tokens of the answer."""
    deadline_seconds: float
    schema: type[BaseModel] | None = None
    owner: str | None = None
    session: str | None = None

    @property
    def given_tokens(self) -> int:
        """About how many tokens the model is given."""
        talk = sum(each.tokens for each in (*self.messages, *self.tools))
        material = estimate(self.material) + MESSAGE_TOKENS if self.material or not self.messages else 0
        return estimate(self.instructions) + MESSAGE_TOKENS + material + talk


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
    calls: tuple[ToolCall, ...] = ()
    """The tools that it wants to use before it goes on."""


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
class Streaming(Protocol):
    """A model that gives its words as they come."""

    def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The words as they come, and at last the completion that has them all."""
        ...


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


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
