"""What a model may use while it answers: Afterglow's own tools, and anybody's.

A tool's error is an answer to the model, never the end of a reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from afterglow.errors import AfterglowError, BadInput
from afterglow.model import ToolCall, ToolSpec
from afterglow.turns import check_name

if TYPE_CHECKING:
    from afterglow.memory import Memory
    from afterglow.turns import Binding, Session

_log = logging.getLogger(__name__)
_RESULT_CHARS_MAX = 100_000
"""More of a result is not written down; a model is shown less of it anyway."""
G = TypeVar("G", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Used:
    """Where a tool is used: in which session, for whom."""

    memory: Memory
    binding: Binding
    session: Session


Run = Callable[[Mapping[str, Any], Used], Awaitable[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool: what the model is told of it, and what it does."""

    spec: ToolSpec
    run: Run

    @property
    def name(self) -> str:
        return self.spec.name


def tool(name: str, given: type[G], run: Callable[[G, Used], Awaitable[str]]) -> Tool:
    """A tool of ours. What it is for is said by the docstring of its arguments, which are checked before it runs."""

    async def checked(arguments: Mapping[str, Any], used: Used) -> str:
        return await run(given.model_validate(arguments), used)

    schema = given.model_json_schema()
    spec = ToolSpec(
        name=name,
        description=" ".join((given.__doc__ or "").split()),
        schema={key: value for key, value in schema.items() if key not in ("title", "description")},
    )
    return Tool(spec=spec, run=checked)


def adopted(tools: Iterable[Any]) -> list[Tool]:
    """Tools of a caller's: ours, LangChain's, or plain functions with a docstring and types."""
    found = [each if isinstance(each, Tool) else _of_langchain(each) for each in tools]
    names = [each.name for each in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"there are two tools of the name {twice[0]!r}; give one of them another")
    return found


def _of_langchain(given: Any) -> Tool:
    from langchain_core.tools import BaseTool
    from langchain_core.tools import tool as made
    from langchain_core.utils.function_calling import convert_to_openai_tool

    if not isinstance(given, BaseTool):
        if not callable(given):
            raise BadInput(f"a tool is a function, a LangChain tool or a Tool; this is a {type(given).__name__}")
        try:
            given = made(given)
        except ValueError as error:
            raise BadInput(f"the function {getattr(given, '__name__', given)!r} cannot be a tool: {error}") from None
    langchains = given
    told = cast("dict[str, Any]", convert_to_openai_tool(langchains)["function"])
    check_name(told["name"], "the name of a tool")

    async def run(arguments: Mapping[str, Any], used: Used) -> str:
        result: Any = await langchains.ainvoke(dict(arguments))
        content: Any = getattr(result, "content", result)
        return content if isinstance(content, str) else str(content)

    schema = cast("Mapping[str, Any]", told.get("parameters") or {"type": "object", "properties": {}})
    return Tool(spec=ToolSpec(name=told["name"], description=told.get("description", ""), schema=schema), run=run)


async def use(call: ToolCall, tools: Mapping[str, Tool], used: Used, seconds_max: float) -> tuple[str, bool]:
    """What comes of a call, and whether it failed; what went wrong is said to the model in words it can act on."""
    wanted = tools.get(call.name)
    if call.fault:
        return f"This call was not made: {call.fault}.", True
    if wanted is None:
        return f"There is no tool {call.name!r}; there are: {', '.join(tools) or 'none'}.", True
    try:
        async with asyncio.timeout(seconds_max):
            result = await wanted.run(call.arguments, used)
    except TimeoutError:
        return f"The tool {call.name} gave nothing in {seconds_max:g} seconds and was given up.", True
    except ValidationError as error:
        return f"The arguments of {call.name} are wrong: {_first_faults(error)}. Call it again with right ones.", True
    except AfterglowError as error:
        return f"The tool {call.name} refused: {error}", True
    except (Exception, asyncio.CancelledError) as error:  # the boundary: whatever somebody's tool raises
        if isinstance(error, asyncio.CancelledError) and _is_broken_off():
            raise
        _log.warning("the tool %s failed", call.name, exc_info=True)
        return f"The tool {call.name} failed: {type(error).__name__}: {str(error)[:500]}", True
    return _plain(result), False


def _is_broken_off() -> bool:
    """Whether somebody wants this to end; a tool may also cancel something of its own, and let that out."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _plain(result: str) -> str:
    text = result.replace("\0", "").encode(errors="replace").decode()
    if len(text) > _RESULT_CHARS_MAX:
        text = f"{text[:_RESULT_CHARS_MAX]}\n[… {len(text) - _RESULT_CHARS_MAX:,} more characters were left out]"
    return text or "(it gave nothing)"


def _first_faults(error: ValidationError) -> str:
    faults: Sequence[Any] = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'they'}: {each['msg']}" for each in faults[:3])
