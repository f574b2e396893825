"""LangChain's messages as turns, and a context as LangChain's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from afterglow.context import Message
from afterglow.errors import MissingPackage
from afterglow.excerpts import excerpt, shorter_parts
from afterglow.turns import NAME_CHARS_MAX, Part, Role, begins_exchange

try:
    from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
except ImportError:
    raise MissingPackage(
        "this adapter needs the package langchain-core; install it with: pip install '.[agent]' in Afterglow's folder"
    ) from None

_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "tool": "tool", "function": "tool"}
_SAID_AS: Mapping[str, Role] = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
"""The roles of LangChain's ChatMessage, which has any."""
_BAD_ARGUMENTS = "its arguments are not a JSON object; call it again with one"
_RESULT_CHARS_MAX = 100_000
"""More of a tool's result is not written down; a model is shown less of it anyway."""
_MEDIA_CHARS_MAX = 2_000
"""A picture or a file is written down as what it is; its bytes are not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """One message, as it is written down."""

    role: Role
    text: str
    parts: Sequence[Part] = ()
    model: str | None = None
    usage: Mapping[str, int] | None = None
    named: bool = False
    """Whether somebody else's name stands on it: graphs say so of what another agent brings, which is not the owner's word."""


def spoken(message: BaseMessage) -> Spoken | None:
    """What a message says; None where it says nothing. Instructions to the model, which are no part of the talk, are none."""
    role = role_of(message)
    text = _plain(str(message.text))
    if role is None:
        return None
    if isinstance(message, AIMessage):
        found = Spoken(role=role, text=text, parts=_calls(message), model=_model(message), usage=_usage(message))
    elif isinstance(message, ToolMessage):
        found = Spoken(role=role, text=excerpt(text, _RESULT_CHARS_MAX), parts=[_result(message), *_media(message)])
    else:
        found = Spoken(role=role, text=text, parts=_media(message), named=bool(message.name))
    return found if found.text.strip() or found.parts else None


def role_of(message: BaseMessage) -> Role | None:
    """Who speaks; None for instructions to the model, and for what LangChain's own middleware put in in a person's place."""
    if message.additional_kwargs.get("lc_source"):  # pyright: ignore[reportUnknownMemberType]
        return None
    if message.type == "chat":
        return _SAID_AS.get(str(getattr(message, "role", "")))
    return _ROLES.get(message.type.removesuffix("MessageChunk").lower())


def is_instruction(message: BaseMessage) -> bool:
    """Whether it tells the model what to be, and is no part of the talk."""
    return message.type == "system" or str(getattr(message, "role", "")) in ("system", "developer")


def key_of(message: BaseMessage) -> str:
    """The message's id, under which it is written once."""
    assert message.id, "who writes a message has given it an id"
    fits = len(message.id) <= NAME_CHARS_MAX and message.id.isprintable()
    return message.id if fits else sha256(message.id.encode(errors="replace")).hexdigest()


def last_exchange(messages: Sequence[BaseMessage]) -> int:
    """Where the last exchange begins: with the first of the messages that nobody has answered before."""
    begins, previous = 0, None
    for place, message in enumerate(messages):
        role = role_of(message)
        if role is not None and begins_exchange(role, previous):
            begins = place
        previous = role or previous
    return begins


def shown(message: Message) -> AnyMessage:
    """A message of the context, as LangChain has it."""
    text = "\n".join(each for each in (message.text, *_notes(message.parts)) if each)
    match message.role:
        case "user":
            return HumanMessage(text)
        case "system":
            return SystemMessage(text)
        case "tool":
            results = [part for part in message.parts if part.get("type") == "tool_result"]
            contents = [str(part["content"]) for part in results if part.get("content")]
            said = "\n".join(dict.fromkeys(each for each in (text, *contents) if each))
            return ToolMessage(said, tool_call_id=str(results[0].get("id", "")) if results else "")
        case "assistant":
            calls: Any = [
                {"name": part.get("name", ""), "args": _arguments(part), "id": part.get("id", "")}
                for part in message.parts
                if part.get("type") == "tool_call"
            ]
            return AIMessage(text, tool_calls=calls)


def is_shown_whole(message: Message, original: BaseMessage) -> bool:
    """Whether the context shows all of a message: then the message itself, with its pictures and signatures, can be sent."""
    said = spoken(original)
    return said is not None and (message.role, message.text, list(message.parts)) == (
        said.role,
        said.text,
        list(said.parts),
    )


def _calls(message: AIMessage) -> list[Part]:
    calls: list[Part] = [
        {"type": "tool_call", "id": call["id"] or f"call{n}", "name": call["name"], "arguments": call["args"]}
        for n, call in enumerate(message.tool_calls, 1)
    ]
    for n, call in enumerate(message.invalid_tool_calls, 1):
        named = {"id": call["id"] or f"bad{n}", "name": call["name"] or ""}
        calls.append({"type": "tool_call", **named, "arguments": {}, "fault": _BAD_ARGUMENTS})
    return calls


def _result(message: ToolMessage) -> Part:
    named = {"name": message.name} if message.name else {}
    failed = {"status": "error"} if message.status == "error" else {}
    return {"type": "tool_result", "id": message.tool_call_id, **named, **failed}


def _media(message: BaseMessage) -> list[Part]:
    """What a message carries beside text: each block as what it is, without its bytes."""
    content: Any = message.content  # pyright: ignore[reportUnknownMemberType]
    blocks = cast("list[Any]", content if isinstance(content, list) else [])
    others = [cast("Part", each) for each in blocks if isinstance(each, Mapping)]
    return [short for each in others if each.get("type") != "text" for short in shorter_parts([each], _MEDIA_CHARS_MAX)]


def _notes(parts: Sequence[Part]) -> Iterator[str]:
    """A word for each picture or file of a message that is shown as text."""
    for part in parts:
        if part.get("type") not in ("tool_call", "tool_result", "text"):
            yield f"[{part.get('type') or 'something'} that was sent with this]"


def _arguments(part: Part) -> dict[str, Any]:
    given: Any = part.get("arguments")
    return dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}


def _model(message: AIMessage) -> str | None:
    told = cast("Mapping[str, Any]", message.response_metadata)  # pyright: ignore[reportUnknownMemberType]
    name = str(told.get("model_name") or told.get("model") or "")
    return name if name.isprintable() and 0 < len(name) <= NAME_CHARS_MAX else None


def _usage(message: AIMessage) -> Mapping[str, int] | None:
    told = message.usage_metadata
    if not told:
        return None
    cached = (told.get("input_token_details") or {}).get("cache_read")
    counted = {"input_tokens": told["input_tokens"], "output_tokens": told["output_tokens"], "cached_tokens": cached}
    return {name: int(count) for name, count in counted.items() if count is not None}


def _plain(text: str) -> str:
    """Text that every database can hold."""
    return text.replace("\0", "").encode(errors="replace").decode()
