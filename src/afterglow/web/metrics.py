"""What a monitor reads: numbers in the text format of Prometheus, version 0.0.4.

Every family comes with what it is and of which type, each sample on a line of its own. What never happened has no sample:
a zero would say that it happened in 1970.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from afterglow import __version__
from afterglow.spend import ModelSpend, Spend, day_of
from afterglow.store.sessions import Totals
from afterglow.store.summaries import Fleet
from afterglow.store.transaction import EVERYONE
from afterglow.web.problems import PROBLEM
from afterglow.web.whose import Opened
from afterglow.work import KINDS, Backlog, Kind, State

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STATES: tuple[State, ...] = get_args(State)

router = APIRouter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One number, and what tells it from the others of its family."""

    value: float
    labels: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """Numbers of one meaning. All of ours can go up and down."""

    name: str
    about: str
    samples: Sequence[Sample]


@router.get("/metrics", response_class=PlainTextResponse, responses={"default": PROBLEM})
async def metrics(memory: Opened) -> Response:
    """How it is doing, as numbers for a monitor, in the text format of Prometheus."""
    store, now = memory.store, memory.store.clock.now()
    today = day_of(now, ZoneInfo(memory.settings.zone))
    fleet, backlogs, totals, spend = await asyncio.gather(
        store.fleet(), store.backlog_by_kind(EVERYONE), store.totals(EVERYONE), store.spend_by_model(EVERYONE, today)
    )
    families = [*of_work(backlogs, now), *of_summaries(fleet), *of_everything(totals)]
    limits = memory.settings.spend
    families += of_spend(spend, memory.means_of.left_alone())
    families += [
        _one("afterglow_spend_day_ceiling_tokens", "Tokens that a day may cost.", limits.day_ceiling_tokens),
        _one("afterglow_spend_day_ceiling_usd", "US dollars that a day may cost.", float(limits.day_ceiling_usd)),
    ]
    return Response(exposition([_build(), *families]), media_type=CONTENT_TYPE)


def of_work(backlogs: Mapping[Kind, Backlog], now: datetime) -> list[Family]:
    """How much there is to do, of every kind there could be."""
    none = Backlog(due=0, claimed=0, waiting=0, deferred=0, parked=0, oldest_due_at=None)
    each = [(kind, backlogs.get(kind, none)) for kind in KINDS]
    counts = [
        Sample(value=getattr(backlog, state), labels={"kind": kind, "state": state})
        for kind, backlog in each
        for state in STATES
    ]
    ages = [Sample(value=_age(backlog.oldest_due_at, now), labels={"kind": kind}) for kind, backlog in each]
    return [
        Family(name="afterglow_work", about="Pieces of work by kind and state.", samples=counts),
        Family(
            name="afterglow_work_oldest_due_age_seconds",
            about="How long the oldest work that is due has waited; 0 where none is.",
            samples=ages,
        ),
    ]


def of_summaries(fleet: Fleet) -> list[Family]:
    """Who works unasked, and when it last did."""
    holders = {} if fleet.lease is None else {"holder": fleet.lease.holder}
    return [
        _one("afterglow_primary_held", "Whether any process is primary.", fleet.lease is not None),
        Family(
            name="afterglow_primary_info",
            about="Which process is primary.",
            samples=[Sample(value=1, labels=holders)] if holders else [],
        ),
        _one("afterglow_last_sweep_timestamp_seconds", "When it last swept.", _seconds(fleet.last_sweep_at)),
        _one("afterglow_last_sweep_found", "Summaries that the last sweep made due.", fleet.last_sweep_found),
        _one(
            "afterglow_last_success_timestamp_seconds", "When a summary was last made.", _seconds(fleet.last_success_at)
        ),
    ]


def of_everything(totals: Totals) -> list[Family]:
    """How much there is."""
    return [_one(f"afterglow_{name}", f"All {name}.", getattr(totals, name)) for name in Totals.__slots__]


def of_spend(spend: Sequence[ModelSpend], left_alone: Mapping[str, float]) -> list[Family]:
    """What today has cost by model and purpose, and which models are not called because they failed again and again."""
    about = "of today; calls under way count with the most that they could cost."
    each = [({"model": one.model, "purpose": one.purpose}, one.spend) for one in spend]
    waits = [Sample(value=seconds, labels={"model": model}) for model, seconds in left_alone.items()]

    def of(name: str, what: str, value: Callable[[Spend], float]) -> Family:
        samples = [Sample(value=value(spent), labels=labels) for labels, spent in each]
        return Family(name=f"afterglow_spend_today_{name}", about=f"{what} {about}", samples=samples)

    return [
        of("calls", "Calls", lambda spent: spent.calls),
        of("tokens", "Tokens", lambda spent: spent.tokens),
        of("usd", "US dollars", lambda spent: spent.usd),
        Family(
            name="afterglow_model_left_alone_seconds",
            about="For how long this process does not call a model that failed again and again; 0 where it does.",
            samples=waits,
        ),
    ]


def exposition(families: Iterable[Family]) -> str:
    """The families as text. What has no sample is left out."""
    lines: list[str] = []
    for family in families:
        if family.samples:
            lines += [f"# HELP {family.name} {_escaped(family.about)}", f"# TYPE {family.name} gauge"]
            lines += [f"{family.name}{_labels(sample.labels)} {_number(sample.value)}" for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _build() -> Family:
    samples = [Sample(value=1, labels={"version": __version__})]
    return Family(name="afterglow_build_info", about="Which version runs.", samples=samples)


def _one(name: str, about: str, value: float | None) -> Family:
    return Family(name=name, about=about, samples=[] if value is None else [Sample(value=value, labels={})])


def _age(since: datetime | None, now: datetime) -> float:
    return 0 if since is None else max(0.0, (now - since).total_seconds())


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _labels(labels: Mapping[str, str]) -> str:
    told = ",".join(f'{name}="{_escaped(value, quotes=True)}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(text: str, *, quotes: bool = False) -> str:
    text = text.replace("\\", r"\\").replace("\n", r"\n")
    return text.replace('"', r"\"") if quotes else text


def _number(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(int(value))
