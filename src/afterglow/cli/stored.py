"""What `afterglow doctor` looks at in the database: whether it opens and is sound, and what it says of the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from zoneinfo import ZoneInfo

from afterglow.cli.extracting import MEND
from afterglow.cli.findings import FAULT, FINE, WARNING, Finding
from afterglow.clock import SystemClock
from afterglow.errors import AfterglowError
from afterglow.health import summarization
from afterglow.memory import open_store
from afterglow.settings import Settings
from afterglow.spend import day_of
from afterglow.store import migrations
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, POSTGRES, SQLITE

_AHEAD = timedelta(minutes=5)
"""So far a clock may go wrong without a word."""
Look = Callable[[Store, Settings], Awaitable[list[Finding]]]


async def database(chosen: Settings) -> list[Finding]:
    """Whether the database opens, is of the newest schema, and is sound; then what it says of all that depends on it."""
    name = "PostgreSQL" if chosen.sqlite_path is None else "database"
    if chosen.sqlite_path and not chosen.sqlite_path.exists():
        return [_missing(chosen)]
    try:
        store = await open_store(chosen, SystemClock())
    except AfterglowError as error:
        return [Finding(mark=FAULT, name=name, text=str(error), mend="do what it says, then run this again")]
    more: list[Finding] = []
    try:
        wrong = await store.check()
        more += [] if wrong else [finding for look in _LOOKS for finding in await look(store, chosen)]
    except AfterglowError as error:
        wrong = [str(error)]
    finally:
        await store.close()
    schema = len(migrations.load(POSTGRES if chosen.sqlite_path is None else SQLITE))
    opened = Finding(mark=FINE, name=name, text=f"{store.where}, schema {schema}, the newest")
    if not wrong:
        return [opened, Finding(mark=FINE, name="soundness", text="every page and reference is in order"), *more]
    text = "; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else "")
    mend = "stop what uses it, `afterglow export` what can be read, and import that into a new data folder"
    return [opened, Finding(mark=FAULT, name="soundness", text=text, mend=mend)]


def _missing(chosen: Settings) -> Finding:
    """No database. Where its log of changes is still there, a new one in its place would lose what that holds."""
    path = chosen.sqlite_path
    assert path is not None
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        text = f"{path} is gone, and its log of changes {log} is still there"
        mend = "put the file back beside it, from a backup of the same moment, before anything is started here"
        return Finding(mark=FAULT, name="database", text=text, mend=mend)
    return Finding(mark=WARNING, name="database", text=f"{path} is not there yet", mend="run `afterglow init`")


async def parked(store: Store, _: Settings) -> list[Finding]:
    """What was tried too often, and why."""
    left = (await store.backlog(EVERYONE)).parked
    found = await store.work_list(EVERYONE, "parked", 1)
    if not found:
        return [Finding(mark=FINE, name="work", text="none is parked")]
    first = found[0]
    what = "1 piece of work is" if left == 1 else f"{left:,} pieces of work are"
    text = f"{what} parked, after too many tries: {first.kind} of {first.subject}: {first.last_error or 'no reason'}"
    mend = "mend what it says (`afterglow work list --state parked` lists all), then run `afterglow work retry`"
    return [Finding(mark=WARNING, name="work", text=text, mend=mend)]


async def primary(store: Store, chosen: Settings) -> list[Finding]:
    """Who makes work due, and whether a server could start here that must be the one."""
    lease = (await store.fleet()).lease
    if lease is None:
        text = f"no process is primary; `afterglow serve` becomes it (the setting is {chosen.primary})"
        return [Finding(mark=FINE, name="primary", text=text)]
    if chosen.primary == "true":
        text = (
            f"{lease.holder} is primary, and the setting is true: a server that is started with it here stops at once"
        )
        mend = "set primary to auto, unless it is that process itself that has this setting"
        return [Finding(mark=WARNING, name="primary", text=text, mend=mend)]
    return [Finding(mark=FINE, name="primary", text=f"{lease.holder} (the setting is {chosen.primary})")]


async def summaries(store: Store, chosen: Settings) -> list[Finding]:
    """Whether somebody makes the summaries that are due."""
    name, health = "summaries", await summarization(store, chosen, chosen.primary)
    waiting = health.queue_depth + health.deferred
    who = f"{health.primary_holder} is primary" if health.primary_holder else "no process is primary"
    found = [Finding(mark=FINE, name=name, text=f"{who}; {waiting:,} due or put off")]
    if waiting and not health.primary_holder:
        mend = "start `afterglow serve`, or make them now with `afterglow summarize`"
        found = [Finding(mark=WARNING, name=name, text=f"{waiting:,} wait to be made, and {who}", mend=mend)]
    if not chosen.auto_summarize:
        text = "false, so only sunsets, idle sessions and manual runs are summarised"
        found.append(Finding(mark=FINE, name="auto_summarize", text=text))
    return found


async def memory_files(store: Store, _: Settings) -> list[Finding]:
    """The files that were left as they are, since nobody can read them."""
    name, troubles = "memory files", await store.file_troubles(EVERYONE)
    found = [
        Finding(
            mark=WARNING,
            name=name,
            text=f"{each.name} of {each.owner} is left as it is: {each.problem}",
            mend=MEND,
        )
        for each in troubles
    ]
    return found or [Finding(mark=FINE, name=name, text="none is left as it is for a fault in it")]


async def doors(store: Store, chosen: Settings) -> list[Finding]:
    """Whether a server could be reached at all by those it is to be reached by."""
    from afterglow.web.origins import is_loopback

    host = chosen.server.host
    active = sum(1 for token in await store.tokens() if token.revoked_at is None)
    if active or is_loopback(host):
        return []
    text = f"server.host is {host}, which others can reach, and there is no token: `afterglow serve` does not start so"
    mend = "make one with `afterglow token create`, or set server.host to 127.0.0.1"
    return [Finding(mark=FAULT, name="server", text=text, mend=mend)]


async def spend(store: Store, chosen: Settings) -> list[Finding]:
    """Whether models may still be asked today."""
    limits, zone = chosen.spend, ZoneInfo(chosen.zone)
    spent = await store.spend_of_day(day_of(store.clock.now(), zone))
    text = f"${spent.usd:.2f} of ${limits.day_ceiling_usd:g} and {spent.tokens:,} of {limits.day_ceiling_tokens:,} tokens today"
    if spent.usd < limits.day_ceiling_usd and spent.tokens < limits.day_ceiling_tokens:
        return [Finding(mark=FINE, name="spend", text=text)]
    mend = "wait for tomorrow, or raise spend.day_ceiling_usd or spend.day_ceiling_tokens; `afterglow status` says for what"
    return [Finding(mark=WARNING, name="spend", text=f"{text}: no model is asked any more", mend=mend)]


async def order_of_time(store: Store, chosen: Settings) -> list[Finding]:
    """Whether the newest turn lies in the future: then the clock was set back since, and timers wait for too long."""
    newest = await store.sessions(EVERYONE, limit=1)
    now = store.clock.now()
    if not newest or newest[0].last_at <= now + _AHEAD:
        return []
    last = newest[0].last_at.astimezone(ZoneInfo(chosen.zone))
    text = f"the newest turn is of {last:%Y-%m-%d %H:%M}, which is still to come: the clock was wrong then, or is now"
    mend = "set the machine's clock; timers of that session wait until then"
    return [Finding(mark=WARNING, name="clock", text=text, mend=mend)]


_LOOKS: tuple[Look, ...] = (parked, primary, summaries, memory_files, doors, spend, order_of_time)
