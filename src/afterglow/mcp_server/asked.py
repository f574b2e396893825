"""What each tool can be asked: its arguments with their limits, their schema, and what is said of wrong ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from afterglow.clock import moment_within
from afterglow.errors import BadInput
from afterglow.facts import FactType
from afterglow.store.search import Kind
from afterglow.summaries import Category
from afterglow.turns import NAME_CHARS_MAX, check_name, check_text

TEXT_CHARS_MAX = 1_000_000
QUERY_CHARS_MAX = 2_000
HITS_MAX = 50
SUMMARIES_MAX = 50
SEQ_MAX = 2**53
_SHOWN_PROBLEMS = 5
_PATH_CHARS_MAX = 500


def _name(text: str) -> str:
    return _checked(check_name, text)


def _clean(text: str) -> str:
    return _checked(check_text, text)


def _checked(check: Any, text: str) -> str:
    try:
        check(text, "it")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return text


def _several(given: Any) -> Any:
    """Some clients write a list as text: `["fact"]`, or fact,block."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        read = [each.strip() for each in given.split(",") if each.strip()]
    return cast("list[Any]", read) if isinstance(read, list) else [given]


Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX), AfterValidator(_name)]
Words = Annotated[str, Field(min_length=1, max_length=QUERY_CHARS_MAX), AfterValidator(_clean)]
Moment = Annotated[str, Field(max_length=40, examples=["2026-03-02", "2026-03-02T15:00:00Z"])]
Seq = Annotated[int, Field(ge=1, le=SEQ_MAX)]
_SESSION = "The session's name; left out, the newest of this client's own"
_SINCE, _UNTIL = "Only from this moment or day on", "Only from before this moment or day"


class Asked(BaseModel):
    """The arguments of a tool. What is not known is refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Nothing(Asked):
    """A tool without arguments."""


class NewTurn(Asked):
    role: Literal["user", "assistant", "tool"] = Field(
        description="Who said it: the person you talk with, you yourself, or a tool whose result it is"
    )
    text: Annotated[str, AfterValidator(_clean)] = Field(
        min_length=1, max_length=TEXT_CHARS_MAX, description="What was said, word for word"
    )
    session: Name | None = Field(
        default=None, description="A session of your own naming, made if it is missing; left out, the one that is open"
    )
    key: Name | None = Field(
        default=None, description="Makes it safe to repeat: the same key in a session gives back the turn that is there"
    )


class OfSession(Asked):
    session: Name | None = Field(default=None, description=_SESSION)


class ContextAsked(OfSession):
    at: Seq | None = Field(default=None, description="What the model saw when this turn was the newest; left out, now")


class PathAsked(Asked):
    path: str = Field(
        default="", max_length=_PATH_CHARS_MAX, description="A folder within the memory folder; left out, all of it"
    )


class FileAsked(Asked):
    path: str = Field(
        min_length=1, max_length=_PATH_CHARS_MAX, description="A file within the memory folder, as in facts/index.json"
    )


class SearchAsked(Asked):
    query: Words = Field(description="What to look for, in words")
    kinds: Annotated[list[Kind], BeforeValidator(_several)] | None = Field(
        default=None, min_length=1, max_length=4, description="Only among these; left out, among all"
    )
    types: Annotated[list[FactType], BeforeValidator(_several)] | None = Field(
        default=None, min_length=1, max_length=7, description="Of facts, only these"
    )
    since: Moment | None = Field(default=None, description=_SINCE)
    until: Moment | None = Field(default=None, description=_UNTIL)
    limit: int = Field(default=10, ge=1, le=HITS_MAX)


class SummariesAsked(Asked):
    limit: int = Field(default=5, ge=1, le=SUMMARIES_MAX)
    category: Category | None = None
    words: Words | None = Field(default=None, description="Only those that hold every one of these words")
    since: Moment | None = Field(default=None, description=_SINCE)
    until: Moment | None = Field(default=None, description=_UNTIL)


class DigestAsked(Asked):
    since: Moment | None = Field(default=None, description="As if the person had been away since then")


class ForgetAsked(Asked):
    """One fact, a run of turns of a session, or a session: one of the three."""

    fact: Name | None = Field(default=None, description="The id of a fact")
    session: Name | None = Field(default=None, description="The name of a session")
    first: Seq | None = Field(default=None, description="With a session: the first turn to forget")
    last: Seq | None = Field(
        default=None, description="With a session: the last turn to forget; left out, only `first`"
    )
    whole_session: bool = Field(default=False, description="With a session and no turns: all of it")


def schema_of(asked: type[Asked]) -> dict[str, Any]:
    """The arguments as JSON Schema, plain enough for every client: no references, and null is how nothing is left out."""
    made = asked.model_json_schema()
    properties: Mapping[str, Any] = made.get("properties", {})
    plain = {name: _plain(each) for name, each in properties.items()}
    required = {"required": made["required"]} if "required" in made else {}
    return {"type": "object", "properties": plain, **required, "additionalProperties": False}


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in given.items() if key != "title" and (key, value) != ("default", None)}
    choices: Sequence[Mapping[str, Any]] = kept.pop("anyOf", ())
    given_one = [each for each in choices if each.get("type") != "null"]
    return {**_plain(given_one[0]), **kept} if given_one else kept


def sentence(error: ValidationError) -> str:
    """What is wrong with the arguments, in words, without repeating them."""
    details = error.errors(include_url=False, include_input=False)
    told = [_told(cast("Mapping[str, Any]", each)) for each in details[:_SHOWN_PROBLEMS]]
    more = len(details) - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)


def _told(detail: Mapping[str, Any]) -> str:
    name = ".".join(str(part)[:80] for part in detail["loc"]) or "the arguments"
    match detail["type"]:
        case "extra_forbidden" if name in ("trust", "origin", "owner"):
            return f"{name}: it follows from the door that was come through, and is never an argument; leave it out"
        case "extra_forbidden":
            return f"{_seen(name)}: the tool has no such argument; leave it out"
        case "missing":
            return f"{name}: it must be given"
        case "value_error":
            return f"{name}: {detail['ctx']['error']}"
        case _:
            message: str = detail["msg"]
            return f"{name}: {message[:1].lower()}{message[1:]}"


def _seen(name: str) -> str:
    return name if name.isprintable() else repr(name)


def moment(text: str | None, zone: ZoneInfo, what: str) -> datetime | None:
    """A moment as a client wrote it; one without an offset is meant in the zone of the settings."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{what}: this is no moment; write one such as 2026-03-02 or 2026-03-02T15:00:00Z") from None
    return moment_within(at if at.tzinfo else at.replace(tzinfo=zone), what)
