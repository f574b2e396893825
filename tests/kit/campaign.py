"""Campaigns: tests that try something at random for as long as they are given, and say what they did."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

_DONE = pytest.StashKey[list[str]]()


class Campaign:
    """The time limit and the seeded random generator of one test. The same seed tries the same things in the same order."""

    def __init__(self, seed: int, seconds: float, *, is_whole: bool = False) -> None:
        self.seed = seed
        self.seconds = seconds
        self._is_whole = is_whole
        self.random = random.Random(seed)
        self.said: list[str] = []
        self._started = time.monotonic()

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self._started >= self.seconds

    def rounds(self, *, at_least: int = 1, whole: int = 1) -> Iterator[int]:
        """Numbers from 0 for as long as there is time, but `at_least` so many, and with `--whole` at least `whole`."""
        fewest = max(at_least, whole) if self._is_whole else at_least
        number = 0
        while number < fewest or not self.is_over:
            yield number
            number += 1

    def did(self, what: str) -> None:
        """Add this to what the end of the run says of the campaign."""
        self.said.append(what)

    def __repr__(self) -> str:
        return f"seed {self.seed}"


def add_options(group: pytest.OptionGroup) -> None:
    group.addoption("--seconds", type=float, default=20, help="how long each campaign goes on (default: 20)")
    group.addoption("--campaign-seed", type=int, help="the seed of the campaigns (default: that of the order)")


def of(request: pytest.FixtureRequest) -> Iterator[Campaign]:
    """The campaign of a test; what it did is kept with the test's report."""
    options = request.config.option
    seed = options.campaign_seed
    if seed is None:
        seed = request.config.getoption("randomly_seed", default=None) or random.randrange(2**32)
    campaign = Campaign(int(seed), options.seconds, is_whole=options.whole)
    request.node.stash[_DONE] = campaign.said
    campaign.did(f"seed {campaign.seed}")
    yield campaign


def keep(item: pytest.Item) -> None:
    """Put what the campaign of this test did into its report, which also reaches the main process."""
    if _DONE in item.stash:
        others = [each for each in item.user_properties if each[0] != "campaign"]
        item.user_properties[:] = [*others, ("campaign", ", ".join(item.stash[_DONE]))]


def summarize(reporter: pytest.TerminalReporter) -> None:
    told = [
        f"{report.nodeid}: {text}"
        for reports in reporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, text in report.user_properties
        if name == "campaign"
    ]
    if told:
        reporter.section("campaigns")
        for line in sorted(told):
            reporter.write_line(line)
