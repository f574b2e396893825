"""`status` and `doctor`: how much there is, and whether all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, command
from afterglow.cli.setup import PANEL
from afterglow.errors import AfterglowError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from afterglow.cli.findings import Finding
    from afterglow.memory import Memory


_PUT_OFF_LOOKED_AT, _PUT_OFF_SHOWN = 200, 3


def add_to(app: typer.Typer) -> None:
    command(app, "status", status, panel=PANEL)
    command(app, "doctor", doctor, panel=PANEL)


def status(call: Call) -> None:
    """Show on one screen what there is: owners, sessions, turns, tokens, work, summaries, and which model folds."""
    from afterglow.cli.findings import pasteable
    from afterglow.cli.screen import count, pairs

    async def read(memory: Memory) -> dict[str, Any]:
        # This process is no server: what it is told to be is what the settings tell one.
        health = await memory.health(call.loaded.settings.primary)
        return {**await _status(memory), "summarization": health.block(), "facts": await _facts(memory)}

    found = call.run(read)
    found["settings_file"] = call.loaded.file
    found["compaction"] = model = _model(call)
    work, tokens = found["work"], found["access_tokens"]
    oldest = work["oldest_due_at"]
    since = f", the oldest since {call.screen.time(oldest)}" if oldest else ""
    rows = [
        ("version", found["version"]),
        ("database", found["database"] + (f" ({_size(found['bytes'])})" if found["bytes"] else "")),
        ("settings", str(found["settings_file"] or "defaults; no settings file was found")),
        ("owners", f"{found['owners']:,}"),
        ("sessions", f"{found['sessions']:,}"),
        ("turns", f"{found['turns']:,} ({count(found['tokens'], 'token')} of text)"),
        ("access tokens", f"{tokens['active']:,} active, {tokens['revoked']:,} revoked"),
        ("work", f"{work['due']:,} due{since}; {work['claimed']:,} claimed, {work['waiting']:,} waiting"),
        ("model", model["model"] or model["error"]),
        ("", f"({model['from']})"),
        *_spend_rows(found["spend"]),
        ("parked work", f"{work['parked']:,}" + (" (see `afterglow work list`)" if work["parked"] else "")),
        *_summaries(found["summarization"], call.screen.time),
        *_facts_rows(found["facts"], call.screen.time),
    ]
    call.screen.answer(found, pairs([(name, pasteable(text, call.typed())) for name, text in rows]))


def _summaries(block: dict[str, Any], time: Callable[[datetime], str]) -> list[tuple[str, str]]:
    """How it goes with the summaries of sessions. What is put off after a failure is not done."""
    oldest, made, swept = block["oldestDueAt"], block["lastSuccessAt"], block["lastSweepAt"]
    due = f"{block['queueDepth']:,} due, of which {block['inProgress']:,} under way"
    due += f", the oldest since {time(oldest)}" if oldest else ""
    last = f"made {time(made)} ({block['triggerSource']})" if made else "none was made yet"
    sweep = f"last sweep {time(swept)}, {block['lastSweepFound'] or 0:,} found" if swept else "no sweep yet"
    rows = [
        ("summaries", f"{due}; {block['deferred']:,} put off after a failure, {block['parked']:,} parked"),
        ("last summary", f"{last}; {sweep}"),
        ("primary", f"{block['primaryHolder'] or 'nobody'} (the setting is {block['primaryFlag']})"),
    ]
    return rows + [("", each) for each in block["off"]]


async def _facts(memory: Memory) -> dict[str, Any]:
    """How it goes with facts: how many there are, when sessions were and will be read for them, and what searches them."""
    from zoneinfo import ZoneInfo

    from afterglow.schedule import next_after
    from afterglow.store.transaction import EVERYONE

    chosen = memory.settings.facts
    readings = await memory.store.readings(EVERYONE, limit=1)
    kept = await memory.store.schedule_kept("facts")
    embedder = memory.embedder
    return {
        "counts": await memory.store.fact_counts(EVERYONE),
        "last_read_at": readings[0][0] if readings else None,
        "last_round_at": kept,
        "next_round_at": next_after(chosen.schedule, memory.store.clock.now(), ZoneInfo(memory.settings.zone))
        if chosen.enabled
        else None,
        "embedder": None if embedder is None else embedder.name,
        "file_troubles": await memory.store.file_troubles(EVERYONE),
    }


def _facts_rows(facts: dict[str, Any], time: Callable[[datetime], str]) -> list[tuple[str, str]]:
    counts, read, following = facts["counts"], facts["last_read_at"], facts["next_round_at"]
    told = f"{counts.get('active', 0):,} active, {counts.get('pending', 0):,} pending"
    told += f"; last read {time(read)}" if read else "; nothing was read yet"
    told += f", next by the clock {time(following)}" if following else ""
    by = f"words and meaning ({facts['embedder']})" if facts["embedder"] else "words alone; see search.embedder"
    troubles = [f"{each.name} of {each.owner} is left as it is: {each.problem}" for each in facts["file_troubles"]]
    return [("facts", told), ("search", f"by {by}"), *(("memory files", each) for each in troubles)]


def _model(call: Call) -> dict[str, Any]:
    """The model that folds the sessions of agents that have none of their own."""
    import os

    from afterglow.cli.models import chosen_models

    chosen = next(chosen_models(call.loaded, os.environ))
    return {"model": chosen.name, "from": chosen.come_by, "error": chosen.error}


async def _status(memory: Memory) -> dict[str, Any]:
    from dataclasses import asdict
    from zoneinfo import ZoneInfo

    from afterglow import __version__
    from afterglow.spend import day_of
    from afterglow.store.transaction import EVERYONE

    store, limits = memory.store, memory.settings.spend
    day = day_of(store.clock.now(), ZoneInfo(memory.settings.zone))
    spent = await store.spend_of_day(day)
    tokens = await store.tokens()
    active = sum(1 for token in tokens if token.revoked_at is None)
    path = memory.settings.sqlite_path
    return {
        "version": __version__,
        "database": store.where,
        "bytes": path.stat().st_size if path else None,
        **asdict(await store.totals(EVERYONE)),
        "access_tokens": {"active": active, "revoked": len(tokens) - active},
        "work": asdict(await store.backlog(EVERYONE)),
        "spend": {
            "day": day,
            "calls": spent.calls,
            "tokens": spent.tokens,
            "usd": spent.usd,
            "ceiling_tokens": limits.day_ceiling_tokens,
            "ceiling_usd": limits.day_ceiling_usd,
            "ceiling_reached": spent.usd >= limits.day_ceiling_usd or spent.tokens >= limits.day_ceiling_tokens,
            "models": [
                {
                    "model": each.model,
                    "purpose": each.purpose,
                    "calls": each.spend.calls,
                    "tokens": each.spend.tokens,
                    "usd": each.spend.usd,
                }
                for each in await store.spend_by_model(EVERYONE, day)
            ],
            "put_off": await _put_off(memory),
        },
    }


async def _put_off(memory: Memory) -> list[dict[str, Any]]:
    """What is tried again later, and why: also what a breaker said that leaves a failing model alone."""
    from afterglow.store.transaction import EVERYONE

    waiting = await memory.store.work_list(EVERYONE, "waiting", _PUT_OFF_LOOKED_AT)
    failed = [each for each in waiting if each.last_error]
    return [
        {"kind": each.kind, "subject": each.subject, "why": each.last_error, "again_at": each.ready_at}
        for each in failed[:_PUT_OFF_SHOWN]
    ]


def _spend_rows(spend: dict[str, Any]) -> list[tuple[str, str]]:
    """The day against its ceilings, then what it went for, the dearest first; and what models left undone."""
    from afterglow.cli.screen import count

    tokens = f"{spend['tokens']:,} of {spend['ceiling_tokens']:,} tokens"
    total = f"${spend['usd']:.4f} of ${spend['ceiling_usd']:g}, {tokens}, in {count(spend['calls'], 'call')}"
    rows = [("spend today", total)]
    if spend["ceiling_reached"]:
        rows.append(("", "the ceiling is reached: no model is asked before tomorrow, unless it is raised"))
    for each in spend["models"]:
        figures = f"${each['usd']:.4f}, {each['tokens']:,} tokens, {count(each['calls'], 'call')}"
        rows.append(("", f"{each['model']} for {each['purpose']}: {figures}"))
    return rows + [("put off", f"{each['kind']} of {each['subject']}: {each['why']}") for each in spend["put_off"]]


def _size(size: float) -> str:
    return f"{size / 10**9:,.1f} GB" if size >= 10**9 else f"{size / 10**6:,.1f} MB"


def doctor(
    call: Call,
    fix: Annotated[
        bool, typer.Option("--fix", metavar="", help="Mend what can be mended without losing or costing anything.")
    ] = False,
) -> None:
    """Check the machine, the settings and the database, and say how to mend what is wrong."""
    from zoneinfo import ZoneInfo

    from afterglow.cli.doctor import examine
    from afterglow.cli.findings import FAULT
    from afterglow.cli.screen import Screen, pairs

    loaded, findings = examine(call)
    mended: list[str] = []
    if fix and any(each.fix for each in findings):
        mended = [told for each in findings if each.fix and (told := _mended(each))]
        loaded, findings = examine(call)
    zone = ZoneInfo(loaded.settings.zone if loaded else "UTC")
    wrong = any(each.mark == FAULT for each in findings)
    items = [{"ok": each.mark != FAULT, **each.record()} for each in findings]
    screen = Screen(as_json=call.as_json, zone=zone)
    rows = [_finding(each) for each in findings]
    screen.answer({"ok": not wrong, "items": items, "mended": mended}, pairs(rows))
    for each in mended:
        screen.note(f"Mended: {each}")
    if not fix and any(each.fix for each in findings):
        screen.note(f"`{call.typed('doctor', '--fix')}` mends what can be mended without losing anything.")
    if wrong:
        raise typer.Exit(1)


def _mended(finding: Finding) -> str:
    """Mend it, and say what it was. What cannot be mended after all is found again, and says so itself."""
    assert finding.fix is not None
    try:
        finding.fix()
    except (OSError, AfterglowError):
        return ""
    return finding.text


def _finding(finding: Finding) -> tuple[Any, Any]:
    from afterglow.cli.screen import Styled

    name = Styled().add(finding.mark, {"✓": "green", "!": "bold yellow", "✗": "bold red"}[finding.mark])
    text = Styled().add(finding.text, lines=True).add(f"\n→ {finding.mend}" if finding.mend else "", "bold", lines=True)
    return name.add(f" {finding.name}", "dim").text, text.text
