"""The settings of digests: those of the original load as they are, wrong ones are refused with the fix."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import pytest

from afterglow.errors import BadSettings
from afterglow.settings import NEW, Settings, example, load
from afterglow.turns import Binding
from tests.kit.loops import for_each
from tests.kit.records import KATE

SEED = """
agents:
  - id: kate
    away_summary:
      enabled: true
      threshold_hours: 4    # default
      max_events: 50        # default
"""


def loaded(folder: Path, text: str, name: str = "afterglow.yaml") -> Settings:
    (folder / name).write_text(text)
    return load(folder / name, environ={}).settings


@pytest.mark.spec("AWAY-1", "AWAY-4", "DOOR-8")
def test_the_originals_file_loads_as_it_is_and_has_the_classic_text(tmp_path: Path) -> None:
    away = loaded(tmp_path, SEED).away_of(KATE)
    assert (away.enabled, away.threshold_hours, away.max_events, away.style, away.prose) == (
        True,
        4,
        50,
        "classic",
        False,
    )
    assert not loaded(tmp_path, SEED).away_of(Binding(agent="tom", channel="telegram", sender="ana")).enabled


@pytest.mark.spec("AWAY-4")
def test_a_new_set_up_has_the_rich_text(tmp_path: Path) -> None:
    assert loaded(tmp_path, example(NEW), "afterglow.toml").away_of(KATE).style == "rich"


@pytest.mark.spec("AWAY-1", "AWAY-8", "DOOR-8")
@for_each(
    "line, said",
    [
        ("max_events: 0", "away_summary.max_events"),
        ("threshold_hours: 720.5", "a number from 0 to 720"),
        ("threshold_hours: -1", "a number from 0 to 720"),
        ("treshold_hours: 4", "did you mean agents.away_summary.threshold_hours?"),
        ("style: fancy", "give classic or rich"),
        ("prompt_template: 'Tell {name} of {events}'", "it has a place for {name}, which there is not"),
        ("prompt_template: 'Tell them'", "put {events} into it"),
        ("daily_at: '24:00'", "is no time of day"),
        ("awake_hours: {start: noon}", "is no time of day"),
        ("awake_hours: {zone: Mars/Olympus}", "is not a time zone"),
        ("awake_hours: {from: '8:00'}", "there is no such setting"),
        ("bindings: [{max_events: 5}]", "channel"),
        ("bindings: [{channel: telegram, max_events: 0}]", "max_events"),
        ("deadline_seconds: 0", "deadline_seconds"),
        ("awake_hours: {end: '9'}", "is no time of day"),
        ("awake_hours: {end: ''}", "is no time of day"),
        ("bindings: [{channel: telegram}, {channel: telegram, style: rich}]", "stands there more than once"),
    ],
)
def test_what_cannot_be_is_refused_at_load_with_the_fix(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadSettings) as refused:
        loaded(tmp_path, f"agents:\n  - id: kate\n    away_summary:\n      {line}\n")
    assert said in str(refused.value) and "line 4" in str(refused.value)


@pytest.mark.spec("AWAY-1", "AWAY-10")
def test_zero_hours_and_thirty_days_are_allowed_and_hours_have_a_zone(tmp_path: Path) -> None:
    for hours in (0, 720):
        assert loaded(tmp_path, f"away_summary: {{threshold_hours: {hours}}}").away_summary.threshold_hours == hours
    settings = loaded(tmp_path, "zone: Asia/Tokyo\naway_summary: {awake_hours: {start: '7:30'}}")
    assert settings.away_summary.awake_hours is not None
    hours = settings.away_summary.awake_hours.hours(settings.zone)
    assert (hours.start, hours.end, str(hours.zone)) == (time(7, 30), time(22), "Asia/Tokyo")
