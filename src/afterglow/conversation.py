"""The foreground path: message → log → context → respond → reply → log → work due.

A person waits for the log and for whoever answers, and for nothing else: folding, merging and asking sources happen behind
the reply. The one exception is a context that would not fit the model's window at all. Then the oldest turns are folded on
the spot, without a model, by choosing sentences; that is counted in the session, and made good behind the reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable

from afterglow.compaction import choose_span, due_after, parts_of
from afterglow.context import Context, render
from afterglow.contexts import Means, MeansOf, extracted, new_fence
from afterglow.errors import BadInput, ClaimLost
from afterglow.guard import default_trust
from afterglow.store.blocks import Change, Shown
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.turns import Binding, Draft, Part, Role, Session, Turn, tool_calls
from afterglow.work import Due

_ROOM_PART_TOKENS = 8_000
"""Turns that are folded on the spot are folded in runs of so many tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What somebody answers: one turn of it. A tool call and its result come as replies of their own, in order."""

    text: str
    role: Role = "assistant"
    parts: Sequence[Part] = ()
    model: str | None = None
    usage: Mapping[str, int] | None = None


Answer = str | Reply | Sequence[Reply]
Respond = Callable[[Context], Answer | Awaitable[Answer]]
"""Whoever answers: gets the context, gives the reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchanged:
    """One message and what came of it."""

    message: Turn
    replies: tuple[Turn, ...]
    context: Context | None
    """What the one who answered was shown; None where the answer was already there."""
    due: bool = False
    """Whether the context is to be folded now, behind the reply."""

    @property
    def text(self) -> str:
        """What was answered in the end."""
        return self.replies[-1].text if self.replies else ""


class Conversation:
    """Talks: writes down what is said, shows whoever answers what came before."""

    def __init__(self, store: Store, means_of: MeansOf, prepare: Callable[[Draft, str], Awaitable[Entry]]) -> None:
        self._store = store
        self._means_of = means_of
        self._prepare = prepare

    async def exchange(
        self, to: Binding | Session, message: Draft, respond: Respond, *, named: str | None = None
    ) -> Exchanged:
        """One message through the log, the context, whoever answers, and the log again."""
        binding = to.binding if isinstance(to, Session) else to
        owner, address = (to.owner, to.id) if isinstance(to, Session) else (binding.owner, binding)
        means = self._means_of(binding.agent)
        entry = await self._prepare(message, binding.agent)
        turn, shown = await self._store.begin_exchange(owner, address, entry, named=named)
        if answered := await self._answered(turn, message.key, shown):
            return answered
        context = await self._context(shown, means)
        replies = _replies(await _called(respond, context))
        due: list[Due] = []
        written = [
            await self._write(turn, reply, binding, means, f"{message.key}:{number}" if message.key else None, due)
            for number, reply in enumerate(replies, 1)
        ]
        return Exchanged(message=turn, replies=tuple(written), context=context, due=bool(due))

    async def context(self, shown: Shown, means: Means) -> Context:
        """What the model sees of this, as it is."""
        return render(
            shown.session.id,
            at=shown.at,
            fence=shown.fence,
            blocks=shown.blocks,
            reports=shown.reports,
            tail=shown.tail,
            limit_tokens=means.limits.context_limit_tokens,
            window_tokens=means.limits.window_tokens,
            zone=means.zone,
        )

    async def _context(self, shown: Shown, means: Means) -> Context:
        """What the model sees, made to fit its window if it would not."""
        context = await self.context(shown, means)
        if context.left_out and await self._make_room(shown, means):
            shown = await self._store.context_rows(shown.session.owner, shown.session.id, at=shown.at)
            context = await self.context(shown, means)
        return context

    async def _make_room(self, shown: Shown, means: Means) -> bool:
        session = shown.session
        span = choose_span(shown.tail, session, "threshold", means.limits)
        if span is None or span.first_seq != session.folded.to_seq + 1:
            return False  # the turns to begin with were too many to be read here; the work behind the reply folds them
        turns = [turn for turn in shown.tail if turn.seq <= span.last_seq]
        blocks = await asyncio.to_thread(
            lambda: [extracted(session, part, means, shown.blocks) for part in parts_of(turns, _ROOM_PART_TOKENS)]
        )
        change = Change(
            version=session.folded.version,
            blocks=tuple(blocks),
            turns=session.turns,
            exchanges=session.exchanges,
            waited=True,
            fence=shown.fence or new_fence(self._store.clock),
        )
        again = Due(kind="context", at=self._store.clock.now(), reason="redo")
        with suppress(ClaimLost):  # somebody else made room meanwhile
            await self._store.commit_blocks(session.owner, session.id, change, more=again)
        return True

    async def _answered(self, turn: Turn, key: str | None, shown: Shown) -> Exchanged | None:
        """The answer that is there already, where a message comes again under the key of one that was answered."""
        if key is None or turn.seq == shown.session.turns:
            return None
        following = await self._store.turns(turn.owner, turn.session, first_seq=turn.seq + 1, limit=1000)
        replies = tuple(each for each in following if each.key is not None and each.key.startswith(f"{key}:"))
        complete = replies and replies[-1].role == "assistant" and not tool_calls(replies[-1].parts)
        return Exchanged(message=turn, replies=replies, context=None) if complete else None

    async def _write(
        self, message: Turn, reply: Reply, binding: Binding, means: Means, key: str | None, due: list[Due]
    ) -> Turn:
        """Write a reply down, and note in `due` the work that became due with it."""
        draft = Draft(
            role=reply.role,
            text=reply.text,
            trust=default_trust(reply.role),
            origin="agent",
            at=self._store.clock.now(),
            parts=reply.parts,
            channel=message.channel,
            model=reply.model,
            usage=reply.usage,
            key=key,
        )
        entry = await self._prepare(draft, binding.agent)
        rule = due_after(draft, means.limits, self._store.clock.now())

        def asked(session: Session) -> list[Due]:
            due[:] = rule(session)
            return due

        return await self._store.append(message.owner, message.session, entry, asked)


async def _called(respond: Respond, context: Context) -> Answer:
    answer = respond(context)
    return await answer if isawaitable(answer) else answer


def _replies(answer: Answer) -> list[Reply]:
    if isinstance(answer, str):
        return [Reply(text=answer)]
    replies = [answer] if isinstance(answer, Reply) else list(answer)
    if any(not isinstance(reply, Reply) for reply in replies):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput("respond gives a text, a Reply or a list of Replies; this was something else")
    return replies
