"""A chat model of LangChain's that says what it is told to, and keeps what it was shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field


class Chat(BaseChatModel):
    """Answers with what stands next in `answers`: a text, a message, or an error to raise."""

    answers: list[Any]
    seen: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages)
        for word in str(answer.content).split(" ") if not answer.tool_calls else []:
            yield ChatGenerationChunk(message=AIMessageChunk(word + " "))
        yield ChatGenerationChunk(
            message=AIMessageChunk("", tool_call_chunks=[_chunk(n, call) for n, call in enumerate(answer.tool_calls)])
        )

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.seen.append(list(messages))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer.model_copy() if isinstance(answer, AIMessage) else AIMessage(answer)

    def texts(self, number: int = -1) -> list[str]:
        """What it was shown in a call, each message as `role: text`."""
        return [f"{message.type}: {message.text}" for message in self.seen[number]]


def _chunk(index: int, call: Any) -> Any:
    import json

    return {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": index}


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """A message that calls these tools, with the ids c1, c2, …"""
    return AIMessage(
        text, tool_calls=[{"name": name, "args": args, "id": f"c{n}"} for n, (name, args) in enumerate(wanted, 1)]
    )
