"""The gates and the texts of a digest, to the letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.channels import CHANNELS, render
from afterglow.digest import Absence, classic_text, gate, rich_text, try_compose_away_digest
from afterglow.goals import OUTCOMES, GoalEvent, Outcome
from afterglow.settings.away import AwaySettings
from tests.kit.loops import for_each
from tests.kit.records import NOON

ON = AwaySettings(enabled=True)
AGO = NOON - timedelta(hours=6, minutes=12, seconds=59)


def event(number: int, outcome: Outcome = "completed", goal: str = "", note: str = "", title: str = "") -> GoalEvent:
    name = goal or f"goal {number}"
    return GoalEvent(
        owner="o",
        agent="kate",
        number=number,
        goal=name,
        step="1",
        outcome=outcome,
        title=title or name,
        note=note,
        at=AGO,
    )


def absence(events: Sequence[GoalEvent], since: datetime = AGO, **more: object) -> Absence:
    return Absence(since=since, until=NOON, events=tuple(events), total=more.pop("total", len(events)), **more)  # type: ignore[arg-type]


@dataclass
class Log:
    events: Sequence[GoalEvent]
    reads: int = 0

    async def tail_since(self, since: datetime, limit: int) -> Sequence[GoalEvent]:
        self.reads += 1
        return [each for each in self.events if each.at >= since][:limit]


MIXED: list[Outcome] = ["completed", "completed", "failed", "completed", "cancelled", "running", "completed"]


@pytest.mark.spec("AWAY-3")
def test_the_classic_text_to_the_letter() -> None:
    events = [event(number, outcome) for number, outcome in enumerate(MIXED, 1)]
    assert classic_text(absence(events)) == (
        "**While you were away** (last 6h12m):\n"
        "- 7 goal turn(s) recorded\n"
        "- 4 completed\n"
        "- 1 aborted/cancelled\n"
        "- 1 failed\n"
        "- 1 in progress / other\n"
    )


@pytest.mark.spec("AWAY-3")
@for_each(
    "seconds, shown",
    [(0, "0h0m"), (59, "0h0m"), (7200, "2h0m"), (9000, "2h30m"), (3 * 86400 + 61, "72h1m")],
)
def test_hours_and_minutes_are_whole_and_rounded_down(seconds: int, shown: str) -> None:
    text = classic_text(absence([event(1)], since=NOON - timedelta(seconds=seconds)))
    assert text == f"**While you were away** (last {shown}):\n- 1 goal turn(s) recorded\n- 1 completed\n"


@pytest.mark.spec("AWAY-3")
def test_what_needs_you_counts_as_other_in_the_classic_text() -> None:
    text = classic_text(absence([event(1, "needs_you"), event(2, "running")]))
    assert text.endswith("- 2 goal turn(s) recorded\n- 2 in progress / other\n")


@pytest.mark.spec("AWAY-3")
async def test_that_older_events_exist_is_said_only_where_they_do() -> None:
    away = AwaySettings(enabled=True, max_events=3)
    exactly = await try_compose_away_digest(away, AGO, NOON, Log([event(n) for n in (3, 2, 1)]))
    assert exactly is not None and "older" not in exactly
    more = await try_compose_away_digest(away, AGO, NOON, Log([event(n) for n in (4, 3, 2, 1)]))
    assert more is not None
    assert more.endswith("- 3 completed\n\n_(showing the most recent 3 — older events may exist)_\n")


@pytest.mark.spec("AWAY-2")
@for_each(
    "away, last_seen, events, stopped_by",
    [
        (AwaySettings(), None, 0, "disabled"),
        (ON, None, 9, "first"),
        (ON, NOON + timedelta(seconds=1), 9, "clock"),
        (AwaySettings(enabled=True, threshold_hours=0), NOON + timedelta(seconds=1), 9, "clock"),
        (ON, NOON - timedelta(hours=4) + timedelta(microseconds=1), 9, "too soon"),
        (ON, NOON - timedelta(hours=4), 9, None),
        (ON, NOON - timedelta(hours=4), 0, "nothing happened"),
        (AwaySettings(enabled=True, threshold_hours=0), NOON, 1, None),
        (AwaySettings(enabled=True, threshold_hours=0.5), NOON - timedelta(minutes=30), 1, None),
    ],
)
def test_the_gates_in_their_order(
    away: AwaySettings, last_seen: datetime | None, events: int, stopped_by: str | None
) -> None:
    assert gate(away, last_seen, NOON, events) == stopped_by


@pytest.mark.spec("AWAY-2")
@pytest.mark.parametrize("last_seen", [None, NOON - timedelta(hours=2), NOON + timedelta(hours=1)])
async def test_a_gate_that_is_closed_reads_nothing(last_seen: datetime | None) -> None:
    log = Log([event(1)])
    assert await try_compose_away_digest(ON, last_seen, NOON, log) is None
    assert await try_compose_away_digest(AwaySettings(), AGO, NOON, log) is None
    assert log.reads == 0
    assert await try_compose_away_digest(ON, AGO, NOON, Log([])) is None


@pytest.mark.spec("AWAY-4")
def test_the_rich_text_goes_by_goals_and_begins_with_what_needs_you() -> None:
    events = [
        event(9, "needs_you", "visa", "the embassy wants a *signed* form", "Book the visa"),
        event(8, "completed", "report", title="Weekly report"),
        event(7, "running", "report"),
        event(6, "failed", "deploy", "quota exceeded", "Deploy [site](http://evil.example)"),
        event(5, "running", "crawl", title="Crawl the docs"),
        event(4, "cancelled", "trip", "the flight is gone", "Book the trip"),
    ]
    text = rich_text(
        absence(
            events, total=312, facts=("The user lives in Rome.",), threads=("Which hotel?",), prose="You are needed."
        ),
        UTC,
    )
    assert text == (
        "**While you were away** (6 h 12 min, since Mon 05:47)\n\n"
        "You are needed.\n\n"
        "**Needs you**\n- Book the visa: the embassy wants a \\*signed\\* form\n\n"
        "**Failed**\n- Deploy \\[site\\](http://evil.example): quota exceeded\n\n"
        "**Done**\n- Weekly report\n\n"
        "**Cancelled**\n- Book the trip: the flight is gone\n\n"
        "**In progress**\n- Crawl the docs\n\n"
        "**Learnt**\n- The user lives in Rome.\n\n"
        "**Still open**\n- Which hotel?\n\n"
        "_(the newest 6 of 312 steps)_\n"
    )


@pytest.mark.spec("AWAY-4")
def test_long_lists_and_long_words_are_cut_and_say_so() -> None:
    events = [event(number, "failed", note="x" * 600, title="t" * 300) for number in range(30, 0, -1)]
    text = rich_text(absence(events, cost_usd=0.00123), UTC)
    assert text.count("\n- t") == 10 and "- and 20 more" in text and "…" in text
    assert "_(its sentences cost $0.0012)_" in text
    assert max(map(len, text.splitlines())) < 300


TEXTS = st.text(max_size=80) | st.sampled_from(
    ["@everyone", "<!channel>", "[a](javascript:x)", "\u202eevil", "```", "* *", "# "]
)
EVENTS = st.builds(event, st.integers(1, 10**6), st.sampled_from(OUTCOMES), goal=TEXTS, note=TEXTS, title=TEXTS)


@pytest.mark.spec("AWAY-3", "AWAY-4", "AWAY-9")
@given(st.lists(EVENTS, max_size=20), st.integers(-(10**9), 10**9), st.lists(TEXTS, max_size=3))
def test_whatever_happened_both_texts_can_be_sent_everywhere(
    events: list[GoalEvent], seconds: int, facts: list[str]
) -> None:
    gone = Absence(
        since=NOON - timedelta(seconds=seconds),
        until=NOON,
        events=events,
        total=len(events) + 7,
        facts=facts,
        prose="@all #x",
    )
    for text in (classic_text(gone), rich_text(gone, UTC)):
        assert text.startswith("**While you were away**")
        for channel in CHANNELS:
            assert "While you were away" in render(text, channel)[0].text


MOMENTS = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1))
ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")]


@pytest.mark.spec("AWAY-2")
@given(
    st.booleans(),
    st.floats(0, 720, allow_nan=False),
    st.none() | MOMENTS,
    MOMENTS,
    st.integers(0, 10**6),
    st.sampled_from(ZONES),
    st.sampled_from(ZONES),
)
def test_a_gate_opens_for_the_four_reasons_and_no_other_whatever_clocks_and_zones_say(
    enabled: bool,
    hours: float,
    seen: datetime | None,
    at: datetime,
    events: int,
    zone: ZoneInfo,
    other: ZoneInfo,
) -> None:
    away = AwaySettings(enabled=enabled, threshold_hours=hours)
    last_seen = None if seen is None else seen.replace(tzinfo=UTC)
    now = at.replace(tzinfo=UTC)
    found = gate(away, last_seen, now, events)
    is_open = (
        enabled
        and last_seen is not None
        and now >= last_seen
        and now - last_seen >= timedelta(hours=hours)
        and events > 0
    )
    assert (found is None) == is_open
    moved = None if last_seen is None else last_seen.astimezone(zone)
    assert gate(away, moved, now.astimezone(other), events) == found, "a moment is the same in every zone"
