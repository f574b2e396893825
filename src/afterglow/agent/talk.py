"""From the context to what a model is asked, and from what it says to what is written down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, cast

from afterglow.context import Context, Message
from afterglow.conversation import Reply
from afterglow.errors import BadInput
from afterglow.model import Completion, Said, ToolCall
from afterglow.turns import Part, tool_calls

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


def said_in(context: Context, now: datetime, zone: tzinfo) -> tuple[Said, ...]:
    """The context as a talk. What time it is stands behind what was asked last, where it spoils no provider's cache."""
    talk = [_said(message) for message in context.messages]
    asked = [place for place, message in enumerate(context.messages) if message.role == "user" and message.seq]
    if asked:
        here, last = now.astimezone(zone), talk[asked[-1]]
        moment = f"(now: {here:%A %Y-%m-%d %H:%M %Z})"
        talk[asked[-1]] = replace(last, text=f"{last.text}\n\n{moment}", counted=last.counted + 20)
    return tuple(talk)


def _said(message: Message) -> Said:
    results = [part for part in message.parts if part.get("type") == "tool_result"]
    contents = [_text_of(part.get("content", "")) for part in results]
    text = "\n".join(text for text in dict.fromkeys([message.text, *contents]) if text)
    return Said(
        role=message.role,
        text=text or ("" if tool_calls(message.parts) else _kinds(message.parts)),
        calls=tuple(_calls(message.parts)) if message.role == "assistant" else (),
        answers=str(results[0].get("id", "")) if message.role == "tool" and results else None,
        counted=message.tokens,
    )


def _kinds(parts: Sequence[Part]) -> str:
    """What a message without words has: providers take none that is empty."""
    return f"({', '.join(dict.fromkeys(str(part.get('type', 'something')) for part in parts)) or 'nothing was said'})"


def _calls(parts: Iterable[Part]) -> Iterator[ToolCall]:
    for part in parts:
        if part.get("type") == "tool_call":
            given: Any = part.get("arguments")
            arguments = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
            yield ToolCall(id=str(part.get("id", "")), name=str(part.get("name", "")), arguments=arguments)


def reply_of(done: Completion) -> Reply:
    """What the model said, as it is written down."""
    return Reply(
        text=done.text,
        parts=[
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            | ({"fault": call.fault} if call.fault else {})
            for call in done.calls
        ],
        model=done.model,
        usage={
            "input_tokens": done.usage.input_tokens,
            "output_tokens": done.usage.output_tokens,
            "cached_tokens": done.usage.cached_tokens,
        },
    )


def result_of(call: ToolCall, text: str) -> Reply:
    """What a tool gave, as it is written down. It is the text of the turn, where recalled memory is found by its marks."""
    return Reply(role="tool", text=text, parts=[{"type": "tool_result", "id": call.id, "name": call.name}])


def given(messages: Sequence[Any]) -> tuple[Said, ...]:
    """Messages that a caller has: LangChain's, (role, text), or mappings with role and content."""
    if not isinstance(messages, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller checks
        raise BadInput(f"messages are given as a list; this is a {type(messages).__name__}")
    talk = tuple(_given(message, place) for place, message in enumerate(messages, 1))
    if not any(each.role in ("user", "system") for each in talk):
        raise BadInput("there is no message for the model to go by; give one of role user or system at least")
    return talk


def _given(message: Any, place: int) -> Said:
    role, content = _role_and_content(message)
    if role not in _ROLES or content is None or not _is_readable(content):
        raise BadInput(
            f"message {place} is a {type(message).__name__} that cannot be read; give LangChain's messages, pairs of role and "
            f"text, or mappings with role and content; roles are {', '.join(dict.fromkeys(_ROLES))}"
        )
    return Said(role=cast("Any", _ROLES[role]), text=_text_of(content))


def _role_and_content(message: Any) -> tuple[str, Any]:
    if isinstance(message, Said):
        return message.role, message.text
    if isinstance(message, Mapping):
        table = cast("Mapping[str, Any]", message)
        return str(table.get("role", "")), table.get("content")
    if isinstance(message, tuple | list):
        pair = cast("Sequence[Any]", message)
        return (str(pair[0]), pair[1]) if len(pair) == 2 else ("", None)
    return str(getattr(message, "type", "")), getattr(message, "content", None)


def _text_of_part(part: Any) -> str:
    if isinstance(part, Mapping):
        return str(cast("Mapping[str, Any]", part).get("text", ""))
    return str(part) if part else ""


def _is_readable(content: Any) -> bool:
    """Whether a list of parts is one of texts and mappings."""
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return all(isinstance(part, str | Mapping) for part in parts)


def _text_of(content: Any) -> str:
    """Plain text, or the texts among a list of parts; anything else as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        return "\n".join(text for text in map(_text_of_part, parts) if text)
    return json.dumps(content, ensure_ascii=False, default=str)
