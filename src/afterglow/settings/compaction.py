"""[compaction]: when and how old turns are folded, and which sources are asked meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from afterglow.settings import values
from afterglow.settings.text import Told, shown
from afterglow.settings.values import A_MODEL, DAY_SECONDS, Contradictions, Table, number

Misfits = Iterator[tuple[tuple[str | int, ...], str]]
"""The way to each key that does not fit, inside the table, and a sentence."""


_BLOCK_TOKENS = 80
"""With less room for each block of a level, and as much for the next level, blocks say nothing."""


class ContextSourceSettings(Table):
    """A source that is asked during compaction."""

    source: Annotated[
        str,
        Told(allowed="the name of a source that [sources] declares; hand means the same", example="calendar-hand"),
        AfterValidator(values.name),
    ] = Field(description="The name of the source. The key hand means the same.")
    prompt: Annotated[str, Told(allowed="text of up to 100_000 characters")] = Field(
        default="", max_length=100_000, description="What the source is asked for, sent to it unchanged."
    )
    deadline_seconds: float = number(20, 0.1, 3600, "A source that takes longer is left out.")
    tokens_max: int = number(300, 1, 100_000, "The most tokens that its report has in the context.")


def _asked_once(sources: tuple[ContextSourceSettings, ...]) -> tuple[ContextSourceSettings, ...]:
    names = [one.source for one in sources]
    if again := [place for place, name in enumerate(names) if name in names[:place]]:
        raise Contradictions(
            (
                (place, "source"),
                f"{shown(names[place])} stands there already; ask a source for everything in one prompt",
            )
            for place in again
        )
    return sources


class CompactionSettings(Table):
    """Compaction: old turns are folded into blocks, the newest stay as they are."""

    interval: int = number(5, 0, 10_000, "Compact after so many exchanges; 0 turns it off.")
    keep_recent: int = number(6, 0, 10_000, "The newest turns that stay as they are.")
    model: Annotated[
        str,
        Told(
            allowed=A_MODEL,
            default="one found from the environment",
            example="",
        ),
        AfterValidator(values.model),
    ] = Field(default="", max_length=200, description="The model that summarises.")
    base_url: Annotated[
        str | None,
        Told(
            allowed="the address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1",
            default="the provider's own",
            example="http://127.0.0.1:11434/v1",
        ),
        AfterValidator(values.base_url),
    ] = Field(default=None, max_length=4096, description="Where the model is found.")
    fanout: int = number(6, 2, 100, "So many blocks are folded into one that is coarser.")
    block_budget_tokens: int = number(2_000, 100, 10_000_000, "The most tokens that all blocks have in a context.")
    gap_seconds: float = number(900, 0, 366 * DAY_SECONDS, "After a longer silence, sources report up to now.")
    deadline_seconds: float = number(60, 0.1, 3600, "The longest time that one call of the model takes.")
    in_library: bool = Field(
        default=True, description="Whether a Memory in a program folds the contexts of its own sessions."
    )
    context_sources: Annotated[
        tuple[ContextSourceSettings, ...],
        Told(allowed="up to 100 tables, each with a source: [[compaction.context_sources]] in TOML"),
        AfterValidator(_asked_once),
    ] = Field(default=(), max_length=100, description="The sources that are asked, in the order of the context.")

    def overridden_by(self, other: CompactionSettings) -> CompactionSettings:
        """These settings, with those in their place that were given for the other."""
        given = {name: getattr(other, name) for name in other.model_fields_set}
        return self.model_copy(update=given) if given else self

    def over(self, context_limit_tokens: int) -> Misfits:
        """What cannot fit in a context of so many tokens."""
        limit = (
            f"context.context_limit_tokens, which is {shown(context_limit_tokens)}; lower the one or raise the other"
        )
        if self.keep_recent >= context_limit_tokens:
            yield ("keep_recent",), f"so many turns as {shown(self.keep_recent)} cannot stay under {limit}"
        if self.block_budget_tokens < self.fanout * _BLOCK_TOKENS:
            yield (
                ("block_budget_tokens",),
                f"{shown(self.block_budget_tokens)} is too little for blocks of {_BLOCK_TOKENS} tokens, of which a level holds "
                f"up to compaction.fanout, which is {shown(self.fanout)}; raise the one or lower the other",
            )
        if self.block_budget_tokens >= context_limit_tokens:
            yield ("block_budget_tokens",), f"{shown(self.block_budget_tokens)} is not under {limit}"

    def undeclared(self, names: Collection[str]) -> Misfits:
        """The sources that are asked and are not among these names."""
        others = f", or name one of those declared: {', '.join(names)}" if names else "; none is declared so far"
        for place, one in enumerate(self.context_sources):
            if one.source not in names:
                reason = f"there is no source {shown(one.source)}; declare it in a table [sources.{_key(one.source)}]"
                yield ("context_sources", place, "source"), f"{reason} with its kind and address{others}"


def _key(name: str) -> str:
    """A name as TOML writes it as a key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
