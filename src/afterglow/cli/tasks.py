"""`tasks`: what the agent is to do at set times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.errors import BadInput, NotFound

if TYPE_CHECKING:
    from afterglow.memory import Memory
    from afterglow.store.tasks import Task

PANEL = "While you were away"
_WORDS_CHARS = 120

TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="The task's name; `afterglow tasks` lists them.")]


def add_to(app: typer.Typer) -> None:
    inner = group(app, "tasks", "List what the agent is to do at set times, or add to it.", panel=PANEL)
    command(inner, "list", list_tasks)
    command(inner, "add", add)
    command(inner, "show", show)
    command(inner, "cancel", cancel)
    command(inner, "run", run)


def list_tasks(
    call: Call,
    owner: OwnerOption = None,
    all: Annotated[bool, typer.Option("--all", metavar="", help="Also those that are done or cancelled.")] = False,
    limit: LimitOption = 50,
) -> None:
    """List tasks, those that run first at the top."""
    from afterglow.cli.sessions import scope

    async def read(memory: Memory) -> list[Task]:
        return await memory.store.tasks(await scope(memory, owner), ended=all, limit=limit + 1)

    found = call.run(read)
    shown = found[:limit]
    several = len({each.owner for each in shown}) > 1
    columns = ("name", *(["~owner"] if several else []), "next", "when", "#runs", "~what")
    rows = [
        (
            each.id,
            *([each.owner] if several else []),
            _next(call, each),
            _when(each),
            str(each.runs),
            _brief(each.prompt),
        )
        for each in shown
    ]
    adding = call.typed("tasks", "add", "WHAT", "--at", "TIME", owner=owner or "AGENT/CHANNEL/SENDER")
    call.screen.items(shown, columns, rows, empty=f"There are no tasks; `{adding}` makes one.", more=len(found) > limit)
    if len(found) > limit:
        call.screen.note(f"These are the first {limit:,}; --limit shows more.")


def add(
    call: Call,
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What the agent is to do then, in your words.")],
    owner: OwnerOption = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Once, then: 2026-03-02T09:15. With --plan, the first time."),
    ] = None,
    cron: Annotated[
        str | None,
        typer.Option(
            "--cron", metavar="FIELDS", help="Again and again: minute, hour, day, month, weekday: '30 18 * * 1-5'."
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option("--plan", metavar="WORDS", help="When the model decides, by these words, after each run."),
    ] = None,
    zone: Annotated[
        str | None, typer.Option("--zone", metavar="ZONE", help="Whose clocks count; those of the person without it.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="A name for it.")] = None,
    times: Annotated[
        int | None, typer.Option("--times", metavar="N", min=1, help="It ends after so many runs.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="It does not run after that.")] = None,
) -> None:
    """Have the agent do something at a time, again and again, or when it plans to.

    `afterglow serve` does it, as the agent that the owner's name begins with. The owner is agent/channel/sender, as in
    kate/telegram/42; one that is new is made.
    """

    async def act(memory: Memory) -> Task:
        from afterglow.agent.tasks import Tasks
        from afterglow.cli.goals import binding

        to = await binding(memory, owner, may_be_new=True)
        return await Tasks(memory).create(
            what, at=at, cron=cron, plan=plan, to=to, id=name, zone=zone, runs_max=times, until=until
        )

    if at is None and cron is None and plan is None:
        raise BadInput("say when: --at 2026-03-02T09:15, --cron '30 18 * * 1-5', or --plan 'every few days'")
    task = call.run(act)
    call.screen.answer(task, f"{task.id} is set for {task.owner}; {_to_come(call, task)}.")


def show(call: Call, task: TaskArgument, owner: OwnerOption = None) -> None:
    """Show one task, and how its last run went."""
    from afterglow.cli.screen import pairs

    async def read(memory: Memory) -> Task:
        return await _found(memory, task, owner)

    found = call.run(read)
    time = call.screen.time
    rows = [
        ("name", found.id),
        ("owner", found.owner),
        ("what", found.prompt),
        ("when", _when(found)),
        ("zone", found.zone),
        ("state", found.state),
        ("next", _next(call, found)),
        *([("because", found.why)] if found.why else []),
        ("runs", str(found.runs) if found.runs_max is None else f"{found.runs} of {found.runs_max}"),
        *([("until", time(found.until))] if found.until else []),
        *([("last", time(found.last_at))] if found.last_at else []),
        *([("it said", found.note)] if found.note else []),
        ("made", f"{time(found.created_at)} by the {found.created_by}"),
    ]
    call.screen.answer(found, pairs(rows))


def cancel(call: Call, task: TaskArgument, owner: OwnerOption = None) -> None:
    """Cancel a task: it is not done any more. A run that is under way comes to its end."""

    async def act(memory: Memory) -> tuple[Task, Task]:
        found = await _found(memory, task, owner)
        return found, await memory.store.cancel_task(found.owner, found.id)

    before, after = call.run(act)
    told = f"{after.id} is cancelled." if before.state == "active" else f"{after.id} was {after.state} already."
    call.screen.answer(after, told)


def run(call: Call, task: TaskArgument, owner: OwnerOption = None) -> None:
    """Do a task now, and show what came of it. Its next time stays, unless a model plans it."""
    from afterglow.cli.screen import waiting

    async def act(memory: Memory) -> tuple[str, Task]:
        from afterglow.agent import Agent

        found = await _found(memory, task, owner)
        agent = Agent(memory)
        try:
            text = await agent.tasks.run(found.id, owner=found.owner)
        finally:
            await agent.close()
        return text, await memory.store.task(found.owner, found.id)

    with waiting(f"doing {task}"):
        text, after = call.run(act)
    call.screen.answer({"text": text, "task": after}, text or "It was done, and there was nothing to say.")
    call.screen.note(f"{after.id}: {_to_come(call, after)}.")


async def _found(memory: Memory, name: str, owner: str | None) -> Task:
    """The task of this name, of the owner named or the only one who has it."""
    from afterglow.cli.sessions import scope

    whose = await scope(memory, owner)
    found = await memory.store.tasks(whose, id=name, ended=True, limit=3)
    if not found:
        raise NotFound(f"there is no task {name!r}; `afterglow tasks --all` lists what there is")
    if len(found) > 1:
        raise BadInput(f"{name!r} is a task of {found[0].owner} and of {found[1].owner}; say whose with --owner")
    return found[0]


def _when(task: Task) -> str:
    match task.kind:
        case "once":
            return "once"
        case "cron":
            return task.schedule
        case _:
            return f"planned: {_brief(task.schedule)}"


def _next(call: Call, task: Task) -> str:
    if task.state != "active":
        return task.state
    if task.planning:
        return "to be planned"
    return "" if task.next_at is None else call.screen.time(task.next_at)


def _to_come(call: Call, task: Task) -> str:
    if task.state != "active":
        return f"it is {task.state}"
    if task.next_at is None or task.planning:
        return "its next time is yet to be planned"
    return f"it runs next at {call.screen.time(task.next_at)}"


def _brief(text: Any) -> str:
    words = " ".join(str(text).split())
    return words if len(words) <= _WORDS_CHARS else words[:_WORDS_CHARS] + "…"
