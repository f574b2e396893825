"""`goals`: what the agent did by itself, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.sessions import one_owner, those_there_are
from afterglow.errors import BadInput, NotFound

if TYPE_CHECKING:
    from afterglow.goals import GoalEvent
    from afterglow.memory import Memory
    from afterglow.turns import Binding

PANEL = "While you were away"
_WORDS_CHARS = 120
STYLES = {"completed": "green", "cancelled": "dim", "failed": "red", "needs_you": "bold yellow", "running": ""}


def add_to(app: typer.Typer) -> None:
    inner = group(app, "goals", "List what the agent did by itself, or write down a step of it.", panel=PANEL)
    command(inner, "list", list_goals)
    command(inner, "record", record)


def list_goals(
    call: Call,
    owner: OwnerOption = None,
    goal: Annotated[str | None, typer.Option("--goal", metavar="GOAL", help="Only the steps of this goal.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only from then on: 2026-03-02T09:15, 1d.")
    ] = None,
    limit: LimitOption = 50,
) -> None:
    """List the steps of the agent's goals, the newest first."""
    from afterglow.cli.sessions import scope
    from afterglow.cli.summaries import window
    from afterglow.turns import binding_of

    async def read(memory: Memory) -> list[GoalEvent]:
        start, _ = window(call, memory, since, None)
        named = None if owner is None else binding_of(owner)
        whose, agent = await scope(memory, owner), named.agent if named else None
        return await memory.store.goal_events(whose, agent, since=start, limit=limit + 1, goal=goal)

    limit = min(limit, 1_000)
    found = call.run(read)
    events = found[:limit]
    several = len({event.owner for event in events}) > 1
    writing = call.typed("goals", "record", "GOAL", "OUTCOME", owner=owner or "AGENT/CHANNEL/SENDER")
    empty = f"There are no goals; `{writing}` writes one down." if goal is None and since is None else "No goal fits."
    columns = ("when", *(["~owner"] if several else []), "goal", "step", "outcome", "~title and note")
    rows = [_row(call, event, several=several) for event in events]
    call.screen.items(events, columns, rows, empty=empty, more=len(found) > limit)
    if len(found) > limit:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")


def record(
    call: Call,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="The goal's id.")],
    outcome: Annotated[
        str, typer.Argument(metavar="OUTCOME", help="completed, cancelled, failed, needs_you or running.")
    ],
    owner: OwnerOption = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="STEP", help="Which step of it; the same one again changes nothing.")
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is called before people.")] = "",
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="How it went: why it failed, what is needed.")
    ] = "",
) -> None:
    """Write down one step of a goal, for the digest that its owner gets.

    The owner is agent/channel/sender, as in kate/telegram/42; one that is new is made.
    """
    from afterglow.goals import known_outcome, known_words

    if known_outcome(outcome) is None:
        raise BadInput(f"{outcome!r} is no outcome that is known; use one of {known_words()}")

    async def act(memory: Memory) -> GoalEvent:
        to = await binding(memory, owner, may_be_new=True)
        return await memory.record_goal(to, goal, outcome, step=step, title=title, note=note)

    event = call.run(act)
    told = f"{event.title}: {event.outcome.replace('_', ' ')}, step {event.step} of {event.goal}, for {event.owner}."
    call.screen.answer(event, told)
    if event.outcome != known_outcome(outcome):
        call.screen.warn(
            "That step was there already, and stays as it is; give another --step for what happened since."
        )


async def binding(memory: Memory, owner: str | None, *, may_be_new: bool = False) -> Binding:
    """The binding that the owner is named after: the one named, the only one there is, or whoever talks here."""
    from afterglow.turns import binding_of

    name = await one_owner(memory, owner)
    found = binding_of(name)
    if found is None:
        raise BadInput(f"{name!r} is not agent/channel/sender, as in kate/telegram/42; {await those_there_are(memory)}")
    if not may_be_new and owner is not None and not await _is_known(memory, found):
        raise NotFound(f"there is no owner {owner!r}; {await those_there_are(memory, near=owner)}")
    return found


async def _is_known(memory: Memory, found: Binding) -> bool:
    from afterglow.reading import is_owner

    seen = await memory.store.presence(found.owner, found.agent)
    return seen is not None or await is_owner(memory.store, found.owner)


def _row(call: Call, event: GoalEvent, *, several: bool) -> tuple[Any, ...]:
    from afterglow.cli.screen import Styled

    outcome = Styled().add(event.outcome.replace("_", " "), STYLES[event.outcome]).text
    words = ": ".join(each for each in (event.title if event.title != event.goal else "", event.note) if each)
    brief = words if len(words) <= _WORDS_CHARS else words[:_WORDS_CHARS] + "…"
    return call.screen.time(event.at), *([event.owner] if several else []), event.goal, event.step, outcome, brief
