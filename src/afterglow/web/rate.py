"""How often somebody may ask: for each a bucket of requests, which fills again with time."""

from __future__ import annotations

from collections import OrderedDict

BURST_SECONDS = 2.0
"""A full bucket holds what comes in in so long."""
NAMES_MAX = 10_000
"""So many buckets are kept; who asked longest ago has a full one again."""


class Buckets:
    """The buckets of all who ask."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second * BURST_SECONDS)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What is left in each bucket, and when that was."""

    def take(self, who: str, now: float) -> float:
        """One request of somebody at a moment: 0 where it may be made, else in how many seconds it may."""
        if not self._per_second:
            return 0.0
        left, at = self._left.pop(who, (self._most, now))
        left = min(self._most, left + max(0.0, now - at) * self._per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._left[who] = (left if wait else left - 1, now)
        while len(self._left) > NAMES_MAX:
            self._left.popitem(last=False)
        return wait
