"""Who may work unasked: one process at a time holds the primary's lease, by the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Flag = Literal["auto", "true", "false"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The primary's lease. `token` fences it: only its holder can renew it or give it up."""

    holder: str
    token: int
    until: datetime
    explicit: bool
    """Whether its holder was told to be primary, rather than free to be."""


def may_claim(flag: Flag) -> bool:
    """Whether a process claims summaries, facts and tasks: candidates do, primary or not."""
    return flag != "false"


def why_no_sweeps(flag: Flag, auto_summarize: bool, interval_seconds: float, *, is_primary: bool) -> str:
    """Why drift repair and sweep are off in a process; empty where they are on."""
    if flag == "false":
        return "primary is false here"
    if not auto_summarize:
        return "auto_summarize is false"
    if not interval_seconds:
        return "sweep_interval_seconds is 0"
    return "" if is_primary else "another process is primary"
