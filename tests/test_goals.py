"""Outcomes: one closed set, whatever word a system has for it."""

from __future__ import annotations

import logging

import pytest

from afterglow import goals
from afterglow.goals import OUTCOMES, known_outcome, outcome_of
from tests.kit.loops import for_each


@pytest.mark.spec("AWAY-5")
@for_each(
    "word, meant",
    [
        ("done", "completed"),
        ("aborted", "cancelled"),
        ("cancelled", "cancelled"),
        ("canceled", "cancelled"),
        ("budget_exhausted", "failed"),
        ("needs_retry", "failed"),
        ("escalate", "needs_you"),
        ("continue", "running"),
        ("sleep", "running"),
        ("Completed", "completed"),
        ("failed_quota", "failed"),
        ("aborted by user", "cancelled"),
        ("needs-you", "needs_you"),
        *((outcome, outcome) for outcome in OUTCOMES),
    ],
)
def test_words_of_other_systems_mean_one_of_five_outcomes(word: str, meant: str) -> None:
    assert outcome_of(word) == meant


@pytest.mark.spec("AWAY-5")
def test_an_unknown_word_counts_as_running_and_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    goals._warned.discard("completely_new")  # pyright: ignore[reportPrivateUsage]
    with caplog.at_level(logging.WARNING):
        assert [outcome_of("completely_new") for _ in range(3)] == ["running"] * 3
    (warning,) = caplog.messages
    assert "'completely_new'" in warning and "counts as running" in warning
    assert known_outcome("completely_new") is None, "it only begins like a word that is known"
