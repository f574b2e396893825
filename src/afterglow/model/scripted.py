"""A model that answers from a script, and can fail in every way a provider can. For tests and demonstrations.

    model = ScriptedModel(["First answer.", scripted.RATE_LIMITED, "Second answer."])

A script is a list of steps, one for each request, or a function from a request to its step. A step is the text of the
answer, a function that writes it, tools to call, or a failure. Steps pass through the same checks as the answers of real
models, so an empty one is refused here too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from afterglow.errors import ModelBusy, ModelError, ModelStopped, ModelTooLong
from afterglow.model import CallLost, Completion, Request, ToolCall
from afterglow.model.answers import Answer, completion
from afterglow.model.failures import retry_after_seconds
from afterglow.spend import Usage
from afterglow.tokens import estimate

NAME = "scripted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A step at which no answer comes: the provider refuses with an error, or never says anything."""

    raises: Callable[[str], ModelError] | None = None
    """The error, given the model's name; None hangs until the deadline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A step at which something comes back, with why it ended."""

    write: Callable[[Request], str]
    finish: str = "stop"
    refusal: str = ""
    calls: tuple[ToolCall, ...] = ()


Step = str | Failure | Reply | Callable[[Request], str]
Script = Sequence[Step] | Callable[[Request], Step]


def rate_limited(headers: Mapping[str, str] | None = None) -> Failure:
    """HTTP 429 with these headers."""
    wait = retry_after_seconds(headers or {}, datetime(2026, 3, 2, tzinfo=UTC))
    return Failure(raises=lambda name: ModelBusy(f"{name} cannot answer now (HTTP 429); try again later", wait))


def _words(text: str) -> Callable[[Request], str]:
    return lambda request: text


def calls(*wanted: tuple[str, Mapping[str, Any]], text: str = "") -> Reply:
    """A step at which tools are called: each by its name, with its arguments."""
    return Reply(
        write=_words(text),
        finish="tool_calls",
        calls=tuple(ToolCall(id=f"call{n}", name=name, arguments=given) for n, (name, given) in enumerate(wanted, 1)),
    )


TIMEOUT = Failure()
RATE_LIMITED = rate_limited()
RATE_LIMITED_SECONDS = rate_limited({"Retry-After": "7"})
RATE_LIMITED_FRACTION = rate_limited({"retry-after": "1.5"})
RATE_LIMITED_MILLISECONDS = rate_limited({"retry-after-ms": "250"})
RATE_LIMITED_DATE = rate_limited(
    {"Date": "Mon, 02 Mar 2026 12:00:00 GMT", "Retry-After": "Mon, 02 Mar 2026 12:00:30 GMT"}
)
SERVER_ERROR = Failure(raises=lambda name: ModelBusy(f"{name} cannot answer now (HTTP 500); try again later"))
DISCONNECTED = Failure(raises=lambda name: CallLost(f"{name} was asked and did not answer; try again later"))
WRONG_KEY = Failure(raises=lambda name: ModelStopped(f"{name} does not accept the key (HTTP 401); set one that may"))
TOO_LONG = Failure(raises=lambda name: ModelTooLong(f"{name} was given more than it can take; give it less"))
EMPTY = Reply(write=_words(""))
BLANK = Reply(write=_words(" \n\t "))
REFUSAL = Reply(write=_words(""), refusal="I can't help with that.")
FILTERED = Reply(write=_words("The"), finish="content_filter")
REFUSAL_IN_WORDS = Reply(write=_words("I'm sorry, but I can't help with summarizing this conversation."))
ERROR_TEXT = Reply(write=_words('{"error": {"message": "Internal server error", "type": "server_error", "code": 500}}'))
MALFORMED_JSON = Reply(write=_words('{"title": "Dentist", "items": [1, 2'))
CUT_JSON = Reply(write=_words('{"title": "Dentist", "items": ["move the app'), finish="length")
LONGER_THAN_INPUT = Reply(write=lambda request: f"{request.material}\n\nIn other words: {request.material}")
ECHO = Reply(write=lambda request: f"{request.instructions}\n\n{request.material}")
MEGABYTE = Reply(write=_words("All work and no play makes a dull model. " * 25_600))
WRONG_LANGUAGE = Reply(write=_words("これは要約です。会話の内容は歯医者の予約についてでした。"))

FAILURES: Mapping[str, Step] = {
    name.lower(): step for name, step in list(globals().items()) if isinstance(step, Failure | Reply)
}
"""Every way to fail, by name."""


class ScriptedModel:
    """Answers from a script and keeps every request it got."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = NAME,
        window_tokens: int = 128_000,
        delay_seconds: float = 0.0,
        usd_per_million_tokens: float | None = None,
    ) -> None:
        self._script = script
        self._name = name
        self._window_tokens = window_tokens
        self._delay_seconds = delay_seconds
        self._usd_per_million_tokens = usd_per_million_tokens
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def window_tokens(self) -> int:
        return self._window_tokens

    def most(self, request: Request) -> Usage:
        return Usage(input_tokens=request.given_tokens, output_tokens=request.tokens_max)

    def price(self, usage: Usage) -> float | None:
        per_million = self._usd_per_million_tokens
        return None if per_million is None else usage.tokens * per_million / 1_000_000

    async def complete(self, request: Request) -> Completion:
        number = len(self.requests)
        self.requests.append(request)
        step = self._step(request, number)
        try:
            async with asyncio.timeout(request.deadline_seconds):
                await asyncio.sleep(self._delay_seconds)
                if step == TIMEOUT:
                    await asyncio.Event().wait()
        except TimeoutError:
            raise CallLost(f"{self.name} gave no answer in {request.deadline_seconds:g} seconds") from None
        if isinstance(step, Failure):
            assert step.raises is not None
            raise step.raises(self.name)
        return self._reply(step, request)

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Word by word, as a provider would."""
        done = await self.complete(request)
        for piece in re.findall(r"\S+\s*|\s+", done.text):
            yield piece
        yield done

    def _step(self, request: Request, number: int) -> Step:
        if callable(self._script):
            return self._script(request)
        if number >= len(self._script):
            raise ModelStopped(f"the script of {self.name} has no answer for request {number + 1}; write one more")
        return self._script[number]

    def _reply(self, step: str | Reply | Callable[[Request], str], request: Request) -> Completion:
        reply = step if isinstance(step, Reply) else Reply(write=_words(step) if isinstance(step, str) else step)
        text = reply.write(request)
        usage = Usage(input_tokens=request.given_tokens, output_tokens=estimate(text))
        answer = Answer(text=text, usage=usage, cost_usd=self.price(usage), finish=reply.finish, refusal=reply.refusal)
        answer = replace(answer, calls=reply.calls)
        return completion(answer, request, self.name)
