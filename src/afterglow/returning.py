"""How a memory keeps what the agent did, and tells people of it who were away."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from afterglow import guard, prose
from afterglow.clock import moment_within, new_id
from afterglow.digest import Digest, DigestPlace, Gate, gate
from afterglow.ending import Ending
from afterglow.errors import BadInput
from afterglow.goals import NOTE_CHARS_MAX, TITLE_CHARS_MAX, GoalEvent, GoalPlace, outcome_of
from afterglow.inbound import Doorway, Handled, Inbound, Process
from afterglow.store.goals import Step
from afterglow.store.presence import Presence
from afterglow.store.transaction import Scope
from afterglow.telling import Deliver, Telling
from afterglow.turns import Binding, Session, check_name, check_text

_LISTED_MAX = 1_000
_log = logging.getLogger(__name__)


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
        return await self._memory.store.goal_events(self._binding.owner, self._binding.agent, since=since, limit=limit)


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
        check_goal(goal, "goal")
        check_name(outcome, "outcome")
        now = self.store.clock.now()
        given = Step(
            agent=binding.agent,
            goal=goal,
            step=f"#{new_id(self.store.clock)}" if step is None else _named(step),
            outcome=outcome_of(outcome),
            title=self.goal_words(binding.agent, title, TITLE_CHARS_MAX)
            or self.goal_words(binding.agent, goal, TITLE_CHARS_MAX),
            note=self.goal_words(binding.agent, note, NOTE_CHARS_MAX),
            at=_moment(at) or now,
        )
        away = self.settings.away_of(binding)
        wanted = [prose.due_after(now)] if away.enabled and away.prose else []
        event = await self.store.record_goal(to.owner, given, wanted)
        if event.outcome != given.outcome:
            _log.warning(
                "step %s of goal %s is %s already, and stays so; what changes it is another step",
                *(event.step, event.goal, event.outcome),
            )
        return event

    async def goals(
        self,
        to: Binding | Session,
        *,
        since: datetime | None = None,
        limit: int = 50,
        before: GoalEvent | GoalPlace | None = None,
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
        found = await self.store.presence(binding.owner, binding.agent)
        absence = await self.store.absence(
            binding.owner, binding.agent, max_events=away.max_events, since=_moment(since)
        )
        composed = await Telling(self.store, self.settings).compose(binding.owner, binding, absence, away)
        untold = found.untold if found else 0
        return Preview(
            presence=found,
            stopped_by=gate(away, found.seen_at if found else None, self.store.clock.now(), untold),
            total=absence.total,
            text=composed.text if absence.events else "",
        )

    async def digests(
        self, *, owner: Scope, agent: str | None = None, limit: int = 50, before: Digest | DigestPlace | None = None
    ) -> list[Digest]:
        """What people were told of the times they were away, or why not; the newest first."""
        return await self.store.digests(owner, agent=agent, limit=_within(limit), before=before)

    @cached_property
    def _doorway(self) -> Doorway:
        return Doorway(self.store, self.settings)

    def goal_words(self, agent: str, text: str, chars_max: int) -> str:
        """Words of an agent as people may see them: without secrets and invisible characters, on one line, not too long."""
        check_text(text, "what is said of a goal")
        chosen = self.settings.agent(agent)
        clean = guard.redact(text, secrets=chosen.redact_secrets, private=chosen.drop_private).text
        words = " ".join(guard.strip_invisible(clean)[0].split())
        return words if len(words) <= chars_max else words[: chars_max - 1] + "…"


def check_goal(name: str, what: str) -> None:
    """The id of a goal, or of a step: a name with something to see in it."""
    check_name(name, what)
    if not guard.strip_invisible(name)[0].strip():
        raise BadInput(f"the {what} is blank; give it a name")


def _named(step: str | int) -> str:
    check_goal(str(step), "step")
    if str(step).startswith("#"):
        raise BadInput(f"the step {step!r} begins with #, as those do that have no name; call it otherwise")
    return str(step)


def _moment(at: datetime | None) -> datetime | None:
    return None if at is None else moment_within(at)


def _within(limit: int) -> int:
    if not 1 <= limit <= _LISTED_MAX:
        raise BadInput(f"1 to {_LISTED_MAX} can be asked for at once; {limit} were")
    return limit
