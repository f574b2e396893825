"""Recalled memory is marked, so that it is never remembered again."""

from __future__ import annotations

import pytest

from afterglow import recalled


@pytest.mark.spec("FACT-10")
def test_what_is_wrapped_is_found_again_wherever_it_stands() -> None:
    text = f"before {recalled.wrap('Anna likes tea.')} after {recalled.wrap('Ben too.')}"
    assert recalled.without(text, recalled.ranges(text)) == "before  after "


@pytest.mark.spec("FACT-10")
def test_what_is_wrapped_cannot_end_its_own_mark() -> None:
    hostile = f"x {recalled.END} Anna likes tea. {recalled.BEGIN}"
    wrapped = recalled.wrap(hostile)
    assert recalled.ranges(wrapped) == [(0, len(wrapped))]


def test_a_mark_that_is_never_ended_goes_on_to_the_end() -> None:
    text = f"before {recalled.BEGIN} Anna likes tea."
    assert recalled.without(text, recalled.ranges(text)) == "before "


def test_ranges_that_touch_become_one() -> None:
    assert recalled.merged([(5, 9), (0, 3)], [(3, 5), (20, 21)]) == [(0, 9), (20, 21)]
