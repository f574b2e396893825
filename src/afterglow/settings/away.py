"""The digest for people who were away: whether, after how long, in which words, and when they may be written to unasked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import time
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, field_validator

from afterglow.awake import AwakeHours
from afterglow.settings import values
from afterglow.settings.text import Told, shown
from afterglow.settings.values import Table, number
from afterglow.turns import Binding

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_PLACE = re.compile(r"\{(\w*)\}")
PLACES = ("agent", "counts", "events", "language")
"""What a prompt template has places for."""


def clock_time(value: str) -> time:
    """The time of day that a text such as 08:30 says."""
    hours, minutes = value.split(":")
    return time(int(hours), int(minutes))


def _clock(value: str) -> str:
    if value and not _CLOCK.fullmatch(value):
        raise ValueError(f"{shown(value)} is no time of day; write hours and minutes, such as 08:30")
    return value


def _time(value: str) -> str:
    return _clock(value or "(nothing)")


def _template(value: str) -> str:
    if not value:
        return value
    if unknown := [name for name in _PLACE.findall(value) if name not in PLACES]:
        known = ", ".join(f"{{{name}}}" for name in PLACES)
        raise ValueError(f"it has a place for {{{unknown[0]}}}, which there is not; there are {known}")
    if "{events}" not in value:
        raise ValueError(
            "it has no place for {events}, so the model would not know what happened; put {events} into it"
        )
    return value


def _zone(value: str) -> str:
    return values.zone(value) if value else value


_TIME = Told(allowed="hours and minutes on the wall clock, such as 08:30", example="08:00")
OwnZone = Annotated[
    str,
    Told(allowed="an IANA name, such as Europe/Berlin", default="`zone` at the top", example="Europe/Berlin"),
    AfterValidator(_zone),
]


class AwakeHoursSettings(Table):
    """When somebody may be written to unasked: from `start` to before `end`, also over midnight."""

    start: Annotated[str, _TIME, AfterValidator(_time)] = Field(default="08:00", description="From when.")
    end: Annotated[str, _TIME, AfterValidator(_time)] = Field(
        default="22:00", description="Until before when; the same as `start` means always."
    )
    zone: OwnZone = Field(default="", max_length=100, description="By the clocks of which zone.")

    def hours(self, zone: str) -> AwakeHours:
        """The hours; in this zone, where they name none."""
        return AwakeHours(start=clock_time(self.start), end=clock_time(self.end), zone=ZoneInfo(self.zone or zone))


class AwayTable(Table):
    """What holds for an agent, or for one of its bindings."""

    enabled: bool = Field(
        default=False, description="Whether somebody who was away is told, before their message, what the agent did."
    )
    threshold_hours: float = number(4, 0, 720, "Hours of silence after which somebody was away; 0 is every message.")
    max_events: int = number(50, 1, 1_000, "The most events that one digest looks at, the newest.")
    style: Annotated[Literal["classic", "rich"], Told(allowed="classic or rich")] = Field(
        default="classic", description="Counts alone, or what needs you, what failed and why, what was done, by name."
    )
    prose: bool = Field(
        default=False, description="Whether a model writes one to three sentences for it, while the person is away."
    )
    prompt_template: Annotated[
        str,
        Told(allowed="a text with a place for {events}, and maybe {agent}, {counts}, {language}", example=""),
        AfterValidator(_template),
    ] = Field(default="", max_length=10_000, description="What that model is asked, in place of our own prompt.")
    language: Annotated[
        str,
        Told(allowed="the name of a language, such as Polish", default="the one the person writes in", example=""),
        AfterValidator(values.one_line),
    ] = Field(default="", max_length=50, description="The language of those sentences.")
    show_cost: bool = Field(default=False, description="Whether the digest says what its sentences cost.")
    deadline_seconds: float = number(
        5, 0.1, 60, "How long composing and delivering may take; the message does not wait longer."
    )
    daily_at: Annotated[
        str,
        Told(allowed="a time on the wall clock, such as 08:30", default="never", example="08:30"),
        AfterValidator(_clock),
    ] = Field(
        default="",
        description="When what happened is told every day unasked, by the clock of awake_hours.zone or zone.",
    )
    awake_hours: Annotated[
        AwakeHoursSettings | None,
        Told(allowed="a table with start, end and zone", default="at any hour"),
    ] = Field(default=None, description="When the person may be written to unasked; what is due at night waits.")

    def zone_or(self, zone: str) -> str:
        """The zone of the person's clock; this one, where none is named."""
        return (self.awake_hours.zone if self.awake_hours else "") or zone


class BindingAwaySettings(AwayTable):
    """What is otherwise for those who write from one channel, or for one of them."""

    channel: Annotated[str, Told(allowed="the name of a channel", example="telegram"), AfterValidator(values.name)] = (
        Field(description="The channel that people write from.")
    )
    sender: Annotated[str, Told(allowed="who writes, as the channel names them", default="everybody", example="")] = (
        Field(default="", max_length=200, description="Who of them.")
    )

    def is_for(self, binding: Binding) -> bool:
        """Whether it says something of this binding."""
        return self.channel == binding.channel and self.sender in ("", binding.sender)


class AwaySettings(AwayTable):
    """The digest for people who were away."""

    bindings: Annotated[
        tuple[BindingAwaySettings, ...],
        Told(allowed="tables, each with a channel, maybe a sender, and any of these keys"),
    ] = Field(default=(), max_length=1_000, description="What is otherwise for some of those who write.")

    @field_validator("bindings")
    @classmethod
    def _has_each_once(cls, bindings: tuple[BindingAwaySettings, ...]) -> tuple[BindingAwaySettings, ...]:
        counts = Counter((each.channel, each.sender) for each in bindings)
        if twice := [shown("/".join(each).rstrip("/")) for each, count in counts.items() if count > 1]:
            raise ValueError(f"{', '.join(twice)} stands there more than once; put its settings in one table")
        return bindings

    def overridden_by(self, others: Iterable[AwayTable]) -> AwaySettings:
        """These settings, with those in their place that were given for the others, one after the other."""
        chosen = self
        for other in others:
            given = {name: getattr(other, name) for name in other.model_fields_set & set(AwaySettings.model_fields)}
            chosen = chosen.model_copy(update=given) if given else chosen
        return chosen

    def of(self, binding: Binding) -> AwaySettings:
        """What holds for this binding: what is said of its channel, and over that what is said of its sender."""
        said = [each for each in self.bindings if each.is_for(binding)]
        said.sort(key=lambda each: each.sender != "")
        return self.overridden_by(said)
