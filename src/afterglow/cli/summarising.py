"""Summaries by hand: which sessions are to have one, what that may cost, and what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from afterglow.cli.screen import count
from afterglow.errors import AfterglowError, BadSettings, ClaimLost, MissingPackage, StoreError
from afterglow.guard import redact
from afterglow.memory import Memory
from afterglow.model.offline import NAME as OFFLINE
from afterglow.model.prices import price_usd
from afterglow.spend import Usage
from afterglow.store.facts import FactsChanged
from afterglow.store.transaction import Scope
from afterglow.summaries import Summary, is_stale
from afterglow.turns import Session

_PAGE = 200
_PROMPT_TOKENS = 1_000
"""What the instructions and the form take of each call, roughly."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Which sessions are to be summarised: one, or the stale ones since a moment; with `force`, all of those."""

    scope: Scope
    since: datetime | None = None
    only: Session | None = None
    force: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What a run may cost, from what the sessions have been counted to hold. It is rough."""

    sessions: int
    tokens: int
    cost_usd: float | None
    models: tuple[str, ...]

    def sentence(self, which: str) -> str:
        models = f" by {', '.join(self.models)}" if self.models else ""
        is_to = "is" if self.sessions == 1 else "are"
        what = f"{count(self.sessions, 'session')}{which} {is_to} to be summarised{models}"
        return f"{what}: roughly {self.tokens:,} tokens, {cost_text([self.cost_usd])}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A summary that was made."""

    owner: str
    session: str
    title: str
    degraded: bool
    cost_usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """A session that could not be worked on, and why."""

    owner: str
    session: str
    error: str


@dataclass(kw_only=True)
class Troubles:
    """What went wrong in a run through sessions. Whatever is wrong with one delays no other."""

    failed: list[Failed] = field(default_factory=list[Failed])
    elsewhere: int = 0
    """Sessions that somebody else sees to meanwhile."""
    stopped: StoreError | None = None
    """Why it makes no sense to go on: what cannot be stored should not be paid for."""

    @contextmanager
    def of(self, session: Session, what: str) -> Generator[None]:
        """Within this is what is done with one session; `what` names it in the log."""
        try:
            yield
        except FactsChanged as error:
            self._fail(session, what, str(error))
        except ClaimLost:
            self.elsewhere += 1
        except StoreError as error:
            self.stopped = error
        except AfterglowError as error:
            self._fail(session, what, str(error))
        except Exception as error:  # noqa: BLE001 - the boundary: one bad session stops no other
            _log.warning("the %s of session %s failed", what, session.id, exc_info=True)
            self._fail(session, what, f"an error of Afterglow's own ({type(error).__name__}); afterglow.log has it")

    def _fail(self, session: Session, what: str, error: str) -> None:
        error = redact(error).text  # a provider's error may quote a key
        _log.warning("the %s of session %s failed: %s", what, session.id, error)
        self.failed.append(Failed(owner=session.owner, session=session.id, error=error))


@dataclass(kw_only=True)
class Tally(Troubles):
    """What a run has done so far."""

    made: list[Made] = field(default_factory=list[Made])

    @property
    def cost_usd(self) -> float | None:
        costs = [each.cost_usd for each in self.made]
        return None if None in costs else sum(cost or 0 for cost in costs)

    def sentence(self) -> str:
        """What was made, and for how much."""
        said = count(len(self.made), "summary was made", "summaries were made")
        if self.made:
            said += f", {cost_text([each.cost_usd for each in self.made])}"
        poor = sum(each.degraded for each in self.made)
        said += f", {poor:,} of them without a model" if poor else ""
        by_others = count(self.elsewhere, "was", "were")
        return said + (f"; {by_others} made by another process meanwhile" if self.elsewhere else "")


def cost_text(costs: Sequence[float | None]) -> str:
    """What calls cost together."""
    known = [cost for cost in costs if cost is not None]
    shown = "less than $0.0001" if 0 < sum(known) < 0.0001 else f"${sum(known):.4f}"
    if len(known) < len(costs):
        return f"{shown} and what is not known" if any(known) else "at a cost that is not known"
    return shown if any(known) else "at no cost"


async def estimate(memory: Memory, choice: Choice) -> Estimate:
    """How many sessions, how many tokens, how much money."""
    sessions: Counter[str] = Counter()
    given: Counter[str] = Counter()
    async for page in _pages(memory, choice):
        for session in page:
            sessions[session.binding.agent] += 1
            given[session.binding.agent] += session.folded.block_tokens + session.tail_tokens + _PROMPT_TOKENS
    models: dict[str, None] = {}
    tokens, cost_usd = 0, 0.0
    unknown = False
    for agent in sessions:
        try:
            means = memory.means_of(agent)
        except (BadSettings, MissingPackage):  # its sessions fail one by one, and say why
            unknown = True
            continue
        models[means.summarising.name] = None
        usage = Usage(input_tokens=given[agent], output_tokens=sessions[agent] * means.summary_tokens_max)
        price = await asyncio.to_thread(_price, memory, agent, means.summarising.name, usage)
        tokens += usage.tokens
        cost_usd += price or 0.0
        unknown = unknown or price is None
    return Estimate(
        sessions=sum(sessions.values()),
        tokens=tokens,
        cost_usd=None if unknown else cost_usd,
        models=tuple(models),
    )


def _price(memory: Memory, agent: str, model: str, usage: Usage) -> float | None:
    if model == OFFLINE:
        return 0.0
    provider, colon, name = model.partition(":")
    base_url = memory.settings.compaction_of(agent).base_url
    return price_usd(provider, name, usage, base_url or None) if colon else None


async def summarise(memory: Memory, choice: Choice, tally: Tally, advance: Callable[[int], None]) -> None:
    """Summarise them, some at a time. Each is committed as it is done, so a run that is broken off can go on later."""
    run = _Run(memory, choice.force, tally, advance)
    async for page in _pages(memory, choice):
        await asyncio.gather(*(run.one(session) for session in page))
        if tally.stopped is not None:
            raise tally.stopped


class _Run:
    def __init__(self, memory: Memory, force: bool, tally: Tally, advance: Callable[[int], None]) -> None:
        self._memory = memory
        self._force = force
        self._tally = tally
        self._advance = advance
        self._room = asyncio.Semaphore(memory.settings.work.concurrency)
        self._began = memory.store.clock.now()

    async def one(self, session: Session) -> None:
        async with self._room:
            if self._tally.stopped is not None:
                return
            with self._tally.of(session, "summary"):
                self._note(await self._memory.summarize(session, force=self._force))
            self._advance(1)

    def _note(self, summary: Summary | None) -> None:
        if summary is None or summary.created_at < self._began:
            self._tally.elsewhere += 1
            return
        self._tally.made.append(
            Made(
                owner=summary.owner,
                session=summary.session,
                title=summary.title,
                degraded=summary.degraded,
                cost_usd=summary.cost_usd,
            )
        )


async def _pages(memory: Memory, choice: Choice) -> AsyncGenerator[list[Session]]:
    """The sessions that are chosen, newest first."""
    if choice.only is not None:
        if choice.only.said_seq and (is_stale(choice.only) or choice.force):
            yield [choice.only]
        return
    before: Session | None = None
    while page := await _page(memory, choice, before):
        before = page[-1]
        yield [session for session in page if session.said_seq]


async def _page(memory: Memory, choice: Choice, before: Session | None) -> list[Session]:
    store, since = memory.store, choice.since
    if not choice.force:
        return await store.stale_sessions(choice.scope, since=since, limit=_PAGE, before=before)
    page = await store.sessions(choice.scope, limit=_PAGE, before=before)
    return [session for session in page if since is None or session.last_at >= since]
