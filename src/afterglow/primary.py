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


def may_claim(flag: Flag) -> bool:
    """Whether a process claims summaries, facts and tasks: candidates do, primary or not."""
    return flag != "false"
