"""Summaries of sessions: who makes them unasked, when a session counts as over, and what a new one begins with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from afterglow.settings import values
from afterglow.settings.text import WORDS, Told, shown, value_text
from afterglow.settings.values import A_MODEL, DAY_SECONDS, Table, number

_FLAGS = {"auto": "auto", **{word: value_text(truth) for word, truth in WORDS.items()}}


def _flag(value: Any) -> Any:
    """One of the three texts, whatever word or truth value says it."""
    word = str(value).strip().lower() if isinstance(value, str | bool) else ""
    return _FLAGS.get(word, value)


def _marker(value: str) -> str:
    if value != value.strip():
        raise ValueError("it begins or ends with a space, which nobody would see; take it away")
    return value


Primary = Annotated[
    Literal["auto", "true", "false"],
    Told(allowed="auto, true or false"),
    BeforeValidator(_flag),
    WithJsonSchema({"enum": ["auto", "true", "false", True, False]}),
]
SunsetMarker = Annotated[
    str,
    Told(allowed='up to 200 printable characters, or "" to turn it off'),
    AfterValidator(_marker),
    AfterValidator(values.one_line),
]
OwnSummarize = Annotated[float | None, Told(default="the one at the top of the file", example=1800)]
OwnClear = Annotated[float | None, Told(default="the one at the top of the file", example=3600)]


def timeout(default: float | None, description: str) -> Any:
    """After how much quiet something happens."""
    return Field(default=default, ge=0, le=366 * DAY_SECONDS, description=description)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuietSettings:
    """What happens to a session that is quiet, of one agent. 0 is never."""

    timeout_summarize_seconds: float
    """From the last message of a person to the summary of the whole session."""
    timeout_clear_seconds: float
    """From that summary to the end of the session, with an empty context."""


class BootSettings(Table):
    """What a new session begins with: what earlier ones of its owner left."""

    summaries: int = number(3, 0, 100, "How many summaries, the newest; 0 gives an empty context.")
    tokens_max: int = number(600, 50, 100_000, "The most tokens that they have in the context.")

    def over(self, context_limit_tokens: int) -> Iterator[tuple[tuple[str], str]]:
        """What does not fit in a context of so many tokens. A default is made to fit instead."""
        if "tokens_max" in self.model_fields_set and self.tokens_max >= context_limit_tokens:
            yield (
                ("tokens_max",),
                f"{shown(self.tokens_max)} is not under context.context_limit_tokens, "
                f"which is {shown(context_limit_tokens)}; lower the one or raise the other",
            )

    def tokens_max_in(self, context_limit_tokens: int) -> int:
        """The most tokens in a context of so many: where it is left to its default, not over half of it."""
        given = "tokens_max" in self.model_fields_set
        return self.tokens_max if given else min(self.tokens_max, context_limit_tokens // 2)


class SummariesSettings(Table):
    """Summaries of sessions."""

    model: Annotated[
        str, Told(allowed=A_MODEL, default="the model of compaction", example=""), AfterValidator(values.model)
    ] = Field(default="", max_length=200, description="The model that summarises sessions.")
    tokens_max: int = number(800, 50, 100_000, "The most tokens of one summary.")
    results_max: int = number(1_000, 1, 100_000, "The most summaries of one answer.")
