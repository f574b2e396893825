"""Time and chance."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from afterglow.clock import FixedClock, SystemClock, from_us, new_id, new_token, to_us
from tests.kit.records import NOON


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30))])))
def test_a_moment_is_stored_to_the_microsecond(moment: datetime) -> None:
    assert from_us(to_us(moment)) == moment


def test_names_of_new_things_sort_by_age_and_never_repeat() -> None:
    clock = FixedClock(NOON)
    names: list[str] = []
    for _ in range(100):
        names.append(new_id(clock))
        clock.move(0.001)
    assert names == sorted(names)
    assert len({new_id(clock) for _ in range(1000)}) == 1000
    assert {len(name) for name in names} == {16}


def test_a_fixed_clock_repeats_itself_and_the_system_does_not() -> None:
    assert [FixedClock(NOON, seed=3).bits(64) for _ in range(2)] == [FixedClock(NOON, seed=3).bits(64)] * 2
    assert SystemClock().bits(64) != SystemClock().bits(64)
    assert abs(SystemClock().now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_tokens_are_long_and_known_by_their_beginning() -> None:
    token = new_token(SystemClock())
    assert token.startswith("ag_")
    assert len(token) == 55
