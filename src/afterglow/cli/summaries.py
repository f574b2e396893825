"""`summaries` and `summarize`: what sessions were about, and writing that down by hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command
from afterglow.cli.sessions import FullOption, find, scope
from afterglow.errors import BadInput, ModelError, NotFound, StoreError

if TYPE_CHECKING:
    from datetime import datetime

    from afterglow.cli.summarising import Choice, Estimate, Tally
    from afterglow.memory import Memory
    from afterglow.search.summaries import Listing
    from afterglow.summaries import Summary
    from afterglow.turns import Session

PANEL = "What sessions were about"
DAYS = 30
_CATEGORIES = "planning, decision, build, fix, research, writing, support, personal or other"
_SHOWN_CHARS = 400
SILENT = "Nothing was said in it, so there is nothing to summarise."
_FILTERS = "--agent, --since, --until, --category and --words"

OneSession = Annotated[
    str | None, typer.Argument(metavar="[SESSION]", help="One session; `afterglow sessions` lists them.")
]


def add_to(app: typer.Typer) -> None:
    command(app, "summaries", summaries, panel=PANEL)
    command(app, "summarize", summarize, panel=PANEL)


def summaries(
    call: Call,
    session: OneSession = None,
    owner: OwnerOption = None,
    agent: Annotated[str | None, typer.Option(metavar="AGENT", help="Only sessions with this agent.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only sessions that went on after this: 2026-03-02T09:15, 1d.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only sessions that were over before this.")] = None,
    category: Annotated[str | None, typer.Option(metavar="CATEGORY", help=f"Only these: {_CATEGORIES}.")] = None,
    words: Annotated[str, typer.Option(metavar="WORDS", help="Only those that hold all of these words.")] = "",
    limit: LimitOption = 5,
    full: FullOption = False,
) -> None:
    """Show what sessions were about, the newest first; or one session's summary, whole."""
    filters: dict[str, Any] = {"agent": agent, "category": category, "words": words}
    filtered = any((*filters.values(), since, until))
    if session is not None:
        if filtered:
            raise typer.BadParameter(f"one session is shown whole; leave out {_FILTERS}")
        return _show_one(call, session, owner)

    async def read(memory: Memory) -> tuple[Listing, str]:
        whose = await scope(memory, owner)
        start, end = window(call, memory, since, until)
        found = await memory.summaries(owner=whose, limit=limit, since=start, until=end, **filters)
        return found, "" if found else await _why_none(call, memory, whose, owner)

    found, why_none = call.run(read)
    lines = [line for each in found for line in (*_lines(call, each, full), "")]
    data = {"items": found.items, "degraded": found.degraded or None}
    call.screen.answer({**data, "why_none": why_none or None}, *lines[:-1])
    if why_none:
        call.screen.note(why_none)
    if found.degraded:
        call.screen.warn(f"{found.degraded[0].upper()}{found.degraded[1:]}.")
    return None


def window(call: Call, memory: Memory, since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    from zoneinfo import ZoneInfo

    from afterglow.cli.moments import moment

    now, zone = memory.store.clock.now(), ZoneInfo(call.loaded.settings.zone)
    start = None if since is None else moment(since, now, zone)
    end = None if until is None else moment(until, now, zone)
    if start is not None and end is not None and start >= end:
        time = call.screen.time
        raise BadInput(f"this is no span of time: --since is {time(start)}, and --until, {time(end)}, is not after it")
    return start, end


async def _why_none(call: Call, memory: Memory, whose: Any, owner: str | None) -> str:
    if await memory.store.summaries(whose, limit=1):
        return f"No summary fits; {_FILTERS} narrow what is shown."
    waiting = await memory.store.stale_sessions(whose, limit=1)
    if not waiting:
        return "There are no summaries: no session has said anything yet."
    from datetime import timedelta

    is_old = waiting[0].last_at < memory.store.clock.now() - timedelta(days=DAYS)
    making = f"`{call.typed('summarize', *(['--all'] if is_old else []), owner=owner)}` makes them now"
    off = (await memory.health(call.loaded.settings.primary)).off
    return f"There are no summaries yet; {making}." + "".join(f"\n{_sentence(each)}" for each in off[:1])


def _show_one(call: Call, session: str, owner: str | None) -> None:
    from afterglow.cli.screen import count
    from afterglow.summaries import is_stale

    async def read(memory: Memory) -> tuple[Session, Summary]:
        found = await find(memory, session, owner)
        summary = await memory.store.summary_of(found.owner, found.id)
        if summary is None:
            making = f"`{call.typed('summarize', found.id, owner=owner)}` makes one"
            why = making if found.said_seq else "nothing was said in it"
            raise NotFound(f"session {found.id!r} has no summary yet; {why}")
        return found, summary

    found, summary = call.run(read)
    call.screen.answer({"summary": summary, "stale": is_stale(found)}, *whole(call, summary))
    if is_stale(found):
        since = count(found.said_seq - summary.last_seq, "turn")
        making = call.typed("summarize", found.id, owner=owner)
        call.screen.note(f"{since} came since; `{making}` makes it anew.")
    if summary.degraded:
        call.screen.warn("This was made without a model: it is chosen from what was said.")


def _lines(call: Call, summary: Summary, full: bool) -> list[Any]:
    """A summary as people read it."""
    from rich.padding import Padding

    from afterglow.cli.screen import Styled, indented, pairs

    title = Styled().add(summary.title, "bold").add("  (made without a model)" if summary.degraded else "", "yellow")
    where = f"{summary.session}  {call.screen.time(summary.last_at)}  {summary.agent}  {summary.category}"
    is_long = not full and len(summary.summary) > _SHOWN_CHARS
    text = f"{summary.summary[:_SHOWN_CHARS].rstrip()} …" if is_long else summary.summary
    lines: list[Any] = [title.text, Styled().add(f"{where}  {summary.owner}", "dim").text]
    lines.append(indented(Styled().add(text, lines=True).text, 2))
    lists = {"decided": summary.decisions, "outcome": summary.outcomes, "open": summary.open_threads}
    rows = [("" if place else name, item) for name, items in lists.items() for place, item in enumerate(items)]
    rows += [("people", ", ".join(summary.people))] if summary.people else []
    return [*lines, *([Padding(pairs(rows), (0, 0, 0, 2), expand=False)] if rows else [])]


def whole(call: Call, summary: Summary) -> list[Any]:
    """A summary with where it comes from."""
    from afterglow.cli.screen import count, pairs
    from afterglow.cli.summarising import cost_text

    time = call.screen.time
    used = f", {count(summary.input_tokens + summary.output_tokens, 'token')}" if summary.input_tokens else ""
    rows = [
        ("covers", f"turns 1 to {summary.last_seq:,}, {time(summary.first_at)} to {time(summary.last_at)}"),
        ("made", f"{time(summary.created_at)} ({summary.trigger})"),
        ("by", f"{summary.model}{used}, {cost_text([summary.cost_usd])}"),
    ]
    return [*_lines(call, summary, full=True), "", pairs(rows)]


def summarize(
    call: Call,
    session: OneSession = None,
    owner: OwnerOption = None,
    days: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=36_600, help=f"How many days to look back; {DAYS} without this."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Look back to the beginning.")] = False,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Make also those anew that have nothing to add.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Only say how many there are and what it would cost.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask, with --force.")] = False,
) -> None:
    """Summarise now the sessions that have said something since their last summary, or one session.

    It says what that will cost before it begins, and what it did cost after. Each summary is kept as it is made, so that it
    can be broken off, and run again for the rest. It needs no server, and is done whatever `primary` and `auto_summarize` say.
    """
    from afterglow.cli import logfile
    from afterglow.cli.summarising import Tally, estimate, summarise
    from afterglow.cli.transfer import progress

    if (session is not None and (days or everything)) or (days and everything):
        raise typer.BadParameter("give a SESSION, or --days, or --all; one of the three")

    async def plan(memory: Memory) -> tuple[Choice, Estimate]:
        choice = await _choice(memory, session, owner, None if everything else days or DAYS, force)
        return choice, await estimate(memory, choice)

    choice, planned = call.run(plan)
    which = "" if session or everything else f" of the last {'day' if days == 1 else f'{days or DAYS:,} days'}"
    if dry_run:
        return call.screen.answer({"estimate": planned}, planned.sentence(which))
    if planned.sessions:
        call.screen.note(planned.sentence(which))
    if force and session is None and not yes and planned.sessions:
        _ask()
    tally = Tally()

    async def act(memory: Memory) -> Summary | None:
        with progress("summarising", planned.sessions) as advance:
            await summarise(memory, choice, tally, advance)
        return None if choice.only is None else await memory.store.summary_of(choice.only.owner, choice.only.id)

    try:
        with logfile.aside(call.loaded.settings.data_dir):
            made = call.run(act)
    except (KeyboardInterrupt, StoreError):
        call.screen.note(f"Broken off: {tally.sentence()}. Running it again goes on with the rest.")
        raise
    if not planned.sessions and session is None:
        call.screen.note(f"Every session{which} has a summary of all it said.")
    return _tell(call, choice, planned, tally, made)


async def _choice(memory: Memory, session: str | None, owner: str | None, days: int | None, force: bool) -> Choice:
    from datetime import timedelta

    from afterglow.cli.summarising import Choice

    whose = await scope(memory, owner)
    if session is not None:
        return Choice(scope=whose, only=await find(memory, session, owner), force=force)
    since = None if days is None else memory.store.clock.now() - timedelta(days=days)
    return Choice(scope=whose, since=since, force=force)


def _ask() -> None:
    """Nobody pays for every summary again by a slip of the hand."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise typer.BadParameter("--force without a SESSION pays for every summary again; say --yes if that is meant")
    typer.confirm("Make all of them anew?", default=False, abort=True, err=True)


def _tell(call: Call, choice: Choice, planned: Estimate, tally: Tally, made: Summary | None) -> None:
    if tally.failed:
        raise ModelError(_failure(planned, tally))
    done = _sentence(tally.sentence())
    data = {"items": tally.made, "elsewhere": tally.elsewhere, "cost_usd": tally.cost_usd, "estimate": planned}
    if choice.only is None:
        call.screen.answer(data, done)
    elif made is None:
        call.screen.answer({**data, "summary": None}, SILENT)
    else:
        call.screen.answer({**data, "summary": made}, *whole(call, made))
        call.screen.note(done if planned.sessions else "No call was made: nothing was said since.")


def _failure(planned: Estimate, tally: Tally) -> str:
    from afterglow.cli.screen import count

    first = tally.failed[0]
    why = first.error.rstrip(".")
    if planned.sessions == 1:
        return f"{first.session} could not be summarised: {why}. Nothing is lost; run this again to try again"
    told = f"{len(tally.failed):,} of {count(planned.sessions, 'session')} could not be summarised"
    return f"{told}; the first, {first.session}: {why}. {_sentence(tally.sentence())} Run this again for the rest"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
