"""Which tests run: the quick ones, all of them, or all but the quick ones, and for how long.

The quick suite leaves out what is marked `whole` or `campaign`, and on PostgreSQL runs only the contract of the store and
what is marked `both`. With `--within` no test starts after so many seconds; the end of the run names those that were left.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import islice

import pytest

_LEFT = "left for a run by hand"
_STARTED = time.monotonic()


def add_options(group: pytest.OptionGroup) -> None:
    group.addoption("--whole", action="store_true", help="run every test on both databases, and the campaigns")
    group.addoption("--rest", action="store_true", help="run what the quick suite leaves out")
    group.addoption("--within", type=float, metavar="SECONDS", help="start no further test after so many seconds")


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    seconds = config.option.seconds + float(config.option.timeout or config.getini("timeout"))
    for item in items:
        if _is_campaign(item):
            item.add_marker(pytest.mark.timeout(seconds))
    if config.option.whole:
        return
    chosen = [item for item in items if is_quick(item) != config.option.rest]
    if len(chosen) < len(items):
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = _dealt(chosen, getattr(config, "workerinput", {}).get("workercount", 1))


def _dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The order in which each worker begins with its share of the campaigns, so that a run with a limit leaves out others.

    pytest-xdist gives each worker one stretch of the list at first, and all stretches are about as long.
    """
    campaigns = [item for item in items if _is_campaign(item)]
    others = iter([item for item in items if not _is_campaign(item)])
    ordered: list[pytest.Item] = []
    for place in range(workers):
        until = len(ordered) + (len(items) - len(ordered)) // (workers - place)
        ordered += campaigns[place::workers]
        ordered += islice(others, max(0, until - len(ordered)))
    return [*ordered, *others]


def _is_campaign(item: pytest.Item) -> bool:
    return item.get_closest_marker("campaign") is not None


def is_quick(item: pytest.Item) -> bool:
    if _is_campaign(item) or item.get_closest_marker("whole"):
        return False
    return not _is_on_postgres(item) or item.get_closest_marker("both") is not None


def _is_on_postgres(item: pytest.Item) -> bool:
    spec = getattr(item, "callspec", None)
    return spec is not None and any(value == "postgres" for value in spec.params.values() if isinstance(value, str))


def stop_when_late(item: pytest.Item) -> None:
    within = item.config.option.within
    if within is not None and time.monotonic() - _STARTED > within:
        pytest.skip(_LEFT)


def summarize(reporter: pytest.TerminalReporter) -> None:
    left = Counter(
        report.nodeid.partition("::")[0]
        for report in reporter.stats.get("skipped", [])
        if _LEFT in str(report.longrepr)
    )
    if left:
        reporter.section(f"{left.total()} tests {_LEFT} (make test-all)")
        for file, count in sorted(left.items()):
            reporter.write_line(f"{count:5d}  {file}")
