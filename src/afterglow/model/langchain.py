"""Every provider's models, through LangChain's `init_chat_model`.

LangChain is imported when the first request is made, and in a thread: it takes seconds. Retrying is left to the work
queue, which knows when a call is worth another one, so the providers' own retries are off.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, cast

from afterglow.clock import Clock
from afterglow.errors import ModelError, ModelStopped
from afterglow.model import CallLost, Completion, PaidAnswer, Request, Said, ToolCall, ToolSpec
from afterglow.model.answers import Answer, Thoughts, completion
from afterglow.model.failures import classify, refuses_schemas
from afterglow.model.prices import price_usd
from afterglow.model.providers import PROVIDERS, Provider
from afterglow.spend import Usage
from afterglow.tokens import estimate

_IN_WORDS = "Answer with one JSON object and nothing else. It must fit this JSON schema:\n"


class LangChainModel:
    """One model of one provider. `options` go to LangChain's class for that provider as they are."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        clock: Clock,
        window_tokens: int,
        options: Mapping[str, Any] | None = None,
        base_url: str | None = None,
    ) -> None:
        self._provider = provider
        self._model = model
        self._clock = clock
        self._window_tokens = window_tokens
        self._options = dict(options or {})
        self._base_url = base_url
        self._takes_schemas = True
        self._building = threading.Lock()
        self._built: tuple[asyncio.AbstractEventLoop, Any] | None = None

    @property
    def name(self) -> str:
        return f"{self._provider.id}:{self._model}"

    @property
    def window_tokens(self) -> int:
        return self._window_tokens

    def most(self, request: Request) -> Usage:
        """Estimates are right to within a few per cent in most languages; a fifth more covers the others."""
        given = request.given_tokens + (estimate(_in_words(request)) if request.schema is not None else 0)
        return Usage(input_tokens=given * 6 // 5, output_tokens=self._output_tokens(request))

    def price(self, usage: Usage) -> float | None:
        return price_usd(self._provider.id, self._model, usage, self._base_url)

    async def complete(self, request: Request) -> Completion:
        chat = await self._chat()
        try:
            async with asyncio.timeout(request.deadline_seconds):
                message = await self._ask(chat, request)
        except TimeoutError:
            raise CallLost(f"{self.name} gave no answer in {request.deadline_seconds:g} seconds") from None
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a provider's package raises
            # Not "from error": what caused it may quote the request's headers, and the material.
            raise self._failure(error) from None
        return completion(self._answer(message, request), request, self.name)

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The words as they come, without what the model thinks aloud, and at last the completion that has them all."""
        chat = self._equipped(self._limited(await self._chat(), request), request)
        loop = asyncio.get_running_loop()
        end = loop.time() + request.deadline_seconds
        thoughts, whole = Thoughts(), None
        try:
            async with aclosing(chat.astream(_messages(request))) as chunks:
                # A timeout around the whole would go off in whoever listens, between two pieces.
                while (chunk := await asyncio.wait_for(anext(chunks, None), end - loop.time())) is not None:
                    whole = chunk if whole is None else whole + chunk
                    if piece := thoughts.spoken(str(chunk.text)):
                        yield piece
        except TimeoutError:
            raise CallLost(f"{self.name} gave no whole answer in {request.deadline_seconds:g} seconds") from None
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a provider's package raises
            raise self._failure(error) from None
        answer = None if whole is None else self._answer(whole, request)
        # Every provider says why its answer ends; one that does not was broken off, and half an answer passes for none.
        if answer is None or (not answer.finish and self._provider.id in PROVIDERS):
            raise CallLost(f"{self.name} broke off in the middle of its answer; try again later")
        yield completion(answer, request, self.name)

    def _equipped(self, chat: Any, request: Request) -> Any:
        """With the tools of the request; where they cannot be forbidden and are, without."""
        tools = [_tool(each) for each in request.tools]
        if tools and request.may_call:
            return chat.bind_tools(tools)
        forbidding = self._provider.no_calls
        return chat.bind_tools(tools, tool_choice=forbidding) if tools and forbidding else chat

    def _limited(self, chat: Any, request: Request) -> Any:
        return chat.model_copy(update=self._provider.limit(self._model, self._output_tokens(request), self._base_url))

    async def _ask(self, chat: Any, request: Request) -> Any:
        chat = self._limited(chat, request)
        if request.schema is None:
            return await chat.ainvoke(_messages(request))
        if self._takes_schemas:
            filling = chat.with_structured_output(
                request.schema.model_json_schema(), method="json_schema", include_raw=True
            )
            try:
                return (await filling.ainvoke(_messages(request)))["raw"]
            except Exception as error:
                if not refuses_schemas(error):
                    raise
                self._takes_schemas = False
        return await chat.ainvoke(_messages(request, _in_words(request)))

    async def _chat(self) -> Any:
        """LangChain's model. A client lives in the event loop that it was first used in."""
        loop = asyncio.get_running_loop()
        if self._built is None or self._built[0] is not loop:
            self._built = (loop, await asyncio.to_thread(self._build))
        return self._built[1]

    def _build(self) -> Any:
        with self._building:
            from langchain.chat_models import init_chat_model

            self.price(Usage())  # reads the list of prices here rather than in the event loop
            try:
                options = self._provider.options(self._model, self._window_tokens, self._base_url) | self._options
                return cast(Any, init_chat_model)(self._model, model_provider=self._provider.id, **options)
            except Exception as error:  # noqa: BLE001 - the boundary: whatever a provider's package raises
                raise ModelStopped(
                    f"{self.name} cannot be set up ({type(error).__name__}); check its key, its address and its name"
                ) from None

    def _output_tokens(self, request: Request) -> int:
        # Half as much again and some: an answer that is a little too long is better than one cut in the middle of a number.
        return request.tokens_max * 3 // 2 + 64 + self._provider.thinking_tokens(self._model)

    def _answer(self, message: Any, request: Request) -> Answer:
        usage = _usage(message) or self._estimated(message, request)
        about = cast(dict[str, Any], message.response_metadata)
        finish = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason") or ""
        return Answer(
            text=str(message.text),
            usage=usage,
            cost_usd=self.price(usage),
            finish=str(finish),
            refusal=str(message.additional_kwargs.get("refusal") or ""),
            calls=tuple(_calls(message)),
        )

    def _estimated(self, message: Any, request: Request) -> Usage:
        return Usage(input_tokens=request.given_tokens, output_tokens=estimate(str(message.text)))

    def _failure(self, error: Exception) -> ModelError:
        failure = classify(error, self.name, self._clock.now())
        counted = getattr(getattr(error, "completion", None), "usage", None)  # OpenAI's, of an answer that was cut off
        if counted is None:
            return failure
        usage = Usage(input_tokens=counted.prompt_tokens, output_tokens=counted.completion_tokens)
        return PaidAnswer(str(failure), usage, self.price(usage))


def _messages(request: Request, more: str = "") -> list[Any]:
    instructions = f"{request.instructions}\n\n{more}" if more else request.instructions
    said = [_message(each) for each in request.messages] or [("human", request.material)]
    return [("system", instructions), *said] if instructions else said


def _message(said: Said) -> Any:
    from langchain_core.messages import AIMessage, ToolMessage

    match said.role:
        case "assistant":
            calls = [{"name": call.name, "args": dict(call.arguments), "id": call.id} for call in said.calls]
            return AIMessage(said.text, tool_calls=calls)
        case "tool":
            return ToolMessage(said.text, tool_call_id=said.answers or "")
        case "user":
            return ("human", said.text)
        case "system":
            return ("system", said.text)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.schema)},
    }


def _calls(message: Any) -> Iterator[ToolCall]:
    for n, call in enumerate(cast("list[Any]", message.tool_calls), 1):
        yield ToolCall(id=str(call["id"] or f"call{n}"), name=str(call["name"]), arguments=call["args"])
    for n, call in enumerate(cast("list[Any]", message.invalid_tool_calls), 1):
        fault = "its arguments are not a JSON object; call it again with one"
        yield ToolCall(id=str(call["id"] or f"bad{n}"), name=str(call["name"] or ""), arguments={}, fault=fault)


def _in_words(request: Request) -> str:
    assert request.schema is not None
    return _IN_WORDS + json.dumps(request.schema.model_json_schema(), ensure_ascii=False)


def _usage(message: Any) -> Usage | None:
    counted = cast(dict[str, Any] | None, message.usage_metadata)
    if not counted or not (counted.get("input_tokens") or counted.get("output_tokens")):
        return None
    details = cast(dict[str, Any], counted.get("input_token_details") or {})
    return Usage(
        input_tokens=int(counted.get("input_tokens") or 0),
        output_tokens=int(counted.get("output_tokens") or 0),
        cached_tokens=int(details.get("cache_read") or 0),
    )
