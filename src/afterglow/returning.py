"""How a memory keeps what the agent did, and tells people of it who were away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from afterglow import guard, prose
from afterglow.digest import Absence, Digest, Gate, gate
from afterglow.ending import Ending
from afterglow.errors import BadInput
from afterglow.goals import NOTE_CHARS_MAX, TITLE_CHARS_MAX, GoalEvent, outcome_of
from afterglow.inbound import Doorway, Handled, Inbound, Process
from afterglow.store.goals import Step
from afterglow.store.presence import Presence
from afterglow.store.transaction import Scope
from afterglow.telling import Deliver, Telling
from afterglow.turns import Binding, Session, check_name, check_text

_LISTED_MAX = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What somebody would be told if they wrote now. Nothing is claimed by it."""

    presence: Presence | None
    stopped_by: Gate | None
    """The gate that would stop it; the text is there all the same, if anything happened."""
    total: int
    text: str


class Log:
    """The goal events of one owner and agent, for `try_compose_away_digest`."""

    def __init__(self, memory: Returning, binding: Binding) -> None:
        self._memory = memory
        self._binding = binding

    async def tail_since(self, since: datetime, limit: int) -> Sequence[GoalEvent]:
        """The newest events since a moment, the newest first."""
        return await self._memory.goals(self._binding, since=since, limit=limit)


class Returning(Ending):
    """The part of a memory that knows what the agent did, and who was there when."""

    deliver: Deliver | None
    """How people are reached, where no other way is given."""

    async def record_goal(
        self,
        to: Binding | Session,
        goal: str,
        outcome: str,
        *,
        step: str | int | None = None,
        title: str = "",
        note: str = "",
        at: datetime | None = None,
    ) -> GoalEvent:
        """Write down one step of the agent's own work: which goal, and how it went.

        `outcome` is completed, cancelled, failed, needs_you or running, or a word of another system that means one of them.
        The same `step` of the same goal again gives back the event that is there; without one it is a new step each time.
        `note` says how it went in a few words: the reason of a failure, or what is needed.
        """
        binding = to.binding if isinstance(to, Session) else to
        check_name(goal, "goal")
        given = Step(
            agent=binding.agent,
            goal=goal,
            step=None if step is None else _named(step),
            outcome=outcome_of(_worded(outcome)),
            title=self._shown(binding.agent, title or goal, "title", TITLE_CHARS_MAX),
            note=self._shown(binding.agent, note, "note", NOTE_CHARS_MAX),
            at=_moment(at) or self.store.clock.now(),
        )
        away = self.settings.away_of(binding)
        wanted = [prose.due_after(self.store.clock.now())] if away.enabled and away.prose else []
        return await self.store.record_goal(to.owner, given, wanted)

    async def goals(
        self,
        to: Binding | Session,
        *,
        since: datetime | None = None,
        limit: int = 50,
        before: GoalEvent | None = None,
        goal: str | None = None,
    ) -> list[GoalEvent]:
        """What the agent did for this person, the newest first."""
        binding = to.binding if isinstance(to, Session) else to
        most = _within(limit)
        return await self.store.goal_events(
            to.owner, binding.agent, since=_moment(since), limit=most, before=before, goal=goal
        )

    def goal_log(self, binding: Binding) -> Log:
        """The goal events of one binding's owner, as `try_compose_away_digest` reads them."""
        return Log(self, binding)

    async def on_inbound(
        self, message: Inbound, process: Process | None = None, *, deliver: Deliver | None = None
    ) -> Handled:
        """Somebody wrote: tell them what happened while they were away, if it is to be told, then hand the message on.

        `deliver` sends one message to a binding; `process` gets the message afterwards, whatever became of the digest. A
        message that came before, by its id, is not handed on again.
        """
        send = deliver or self.deliver
        if send is None:
            raise BadInput("on_inbound needs `deliver`: a callable that sends a part of a text to a binding")
        return await self._doorway.on_inbound(message, send, process)

    async def preview_digest(self, binding: Binding, *, since: datetime | None = None) -> Preview:
        """What the person would be told if they wrote now, and which gate would stop it; `since` looks back further."""
        away = self.settings.away_of(binding)
        now = self.store.clock.now()
        found = await self.store.presence(binding.owner, binding.agent)
        seen = found.seen_at if found else None
        untold = found.untold if found else 0
        start = _moment(since) or seen or now
        events = await self._since(binding, _moment(since), untold, away.max_events)
        absence = Absence(since=min(start, now), until=now, events=events[: away.max_events], total=len(events))
        if since is None:
            absence = Absence(since=min(start, now), until=now, events=events, total=untold)
        composed = await Telling(self.store, self.settings).compose(binding.owner, binding, absence, away)
        return Preview(
            presence=found,
            stopped_by=gate(away, seen, now, untold),
            total=absence.total,
            text=composed.text if absence.events else "",
        )

    async def digests(self, *, owner: Scope, agent: str | None = None, limit: int = 50) -> list[Digest]:
        """What people were told of the times they were away, or why not; the newest first."""
        return await self.store.digests(owner, agent=agent, limit=_within(limit))

    async def _since(self, binding: Binding, since: datetime | None, untold: int, most: int) -> list[GoalEvent]:
        if since is not None:
            return await self.goals(binding, since=since, limit=min(_LISTED_MAX, most + 1))
        return await self.goals(binding, limit=min(untold, most)) if untold else []

    @cached_property
    def _doorway(self) -> Doorway:
        return Doorway(self.store, self.settings)

    def _shown(self, agent: str, text: str, what: str, chars_max: int) -> str:
        """Words of an agent as people may see them: without secrets, on one line, not too long."""
        check_text(text, what)
        chosen = self.settings.agent(agent)
        clean = guard.redact(text, secrets=chosen.redact_secrets, private=chosen.drop_private).text
        words = " ".join(clean.split())
        return words if len(words) <= chars_max else words[: chars_max - 1] + "…"


def _named(step: str | int) -> str:
    check_name(str(step), "step")
    return str(step)


def _worded(outcome: str) -> str:
    check_name(outcome, "outcome")
    return outcome


def _moment(at: datetime | None) -> datetime | None:
    if at is not None and at.tzinfo is None:
        raise BadInput(f"the time {at.isoformat()} has no zone; give one, such as {at.isoformat()}+00:00")
    return at


def _within(limit: int) -> int:
    if not 1 <= limit <= _LISTED_MAX:
        raise BadInput(f"1 to {_LISTED_MAX} can be asked for at once; {limit} were")
    return limit
