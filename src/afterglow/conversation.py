"""The foreground path: message → log → context → respond → reply → log → work due.

A person waits for the log and for whoever answers, and for nothing else: folding, merging and asking sources happen behind
the reply. The one exception is a context that would not fit the model's window at all. Then the oldest turns are folded on
the spot, without a model, by choosing sentences; that is counted in the session, and made good behind the reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from inspect import isawaitable
from typing import Any, cast

from afterglow.blocks import extracted
from afterglow.clock import new_fence
from afterglow.compaction import SUNSET, Frame, Limits, choose_span, due_after, parts_of
from afterglow.context import Context, render
from afterglow.errors import BadInput, ClaimLost
from afterglow.guard import default_trust
from afterglow.store.blocks import Change, Shown
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.store.stones import is_stone
from afterglow.turns import Binding, Draft, Part, Role, Session, Turn, tool_calls
from afterglow.work import Due

_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 60
"""How long a summary waits for the answer to the message that ended the session."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where a turn goes: a session by its id, or the open one of a binding, or its one of a name."""

    binding: Binding
    owner: str
    place: Binding | str
    named: str | None = None
    stays: bool = False
    """Whether it goes to this session even if that has ended, as an answer goes where its question stands."""


Answer = str | Reply | Sequence[Reply]
Respond = Callable[[Context], Answer | Awaitable[Answer] | AsyncIterator[Reply]]
"""Whoever answers: gets the context, gives the reply. Replies that come one by one are written down one by one."""


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

    def __init__(
        self,
        store: Store,
        frame_of: Callable[[str], Frame],
        prepare: Callable[[Draft, str], Awaitable[Entry]],
    ) -> None:
        self._store = store
        self._frame_of = frame_of
        self._prepare = prepare
        self._reported: set[str] = set()

    async def exchange(
        self, to: Address, message: Draft, respond: Respond, window_tokens: int | None = None
    ) -> Exchanged:
        """One message through the log, the context, whoever answers, and the log again."""
        frame = within(self._frame_of(to.binding.agent), window_tokens)
        entry = await self._prepare(message, to.binding.agent)
        now = self._store.clock.now()
        turn, shown = await self._store.begin_exchange(
            to.owner,
            to.place,
            entry,
            lambda session: _after_the_answer(due_after(message, session, frame, now)),
            to.named,
            boot=frame.boot.summaries,
        )
        there_already = await self._replies_to(turn, message.key, shown)
        if _is_complete(there_already) or is_stone(turn.removed):  # what was forgotten is not answered again
            return Exchanged(message=turn, replies=there_already, context=None)
        if there_already:  # by one that died half-way: whoever answers now sees what it did
            last = there_already[-1].seq
            shown = await self._store.context_rows(turn.owner, turn.session, at=last, boot=frame.boot.summaries)
        context, waited = await self._fitting(shown, frame)
        there = replace(to, owner=turn.owner, place=turn.session, named=None, stays=True)
        written: list[Turn] = []
        async with aclosing(_replies(respond(context))) as replies:
            async for reply in replies:
                draft = self._draft(reply, message, len(there_already) + len(written) + 1)
                turn_of_reply, due = await self.write(there, draft)
                written.append(turn_of_reply)
                waited = waited or due
        return Exchanged(message=turn, replies=(*there_already, *written), context=context, due=waited)

    async def write(self, to: Address, draft: Draft, also: Sequence[Due] = ()) -> tuple[Turn, bool]:
        """Write a turn down, and say whether the context is to be folded now."""
        frame = self._frame_of(to.binding.agent)
        entry = await self._prepare(draft, to.binding.agent)
        now = self._store.clock.now()
        seen: list[tuple[Session, list[Due]]] = []

        def asked(session: Session) -> list[Due]:
            due = due_after(draft, session, frame, now)
            seen[:] = [(session, due)]
            return [*also, *due]

        turn = await self._store.append(to.owner, to.place, entry, asked, to.named, stays=to.stays)
        for session, _ in seen:
            self._report(session, frame.limits)
        return turn, any(each.kind == "context" for _, due in seen for each in due)

    def context(self, shown: Shown, frame: Frame) -> Context:
        """What the model sees of this, as it is."""
        return render(
            shown.session.id,
            at=shown.at,
            fence=shown.fence,
            blocks=shown.blocks,
            reports=shown.reports,
            tail=shown.tail,
            earlier=shown.earlier,
            earlier_tokens_max=frame.boot.tokens_max,
            limit_tokens=frame.limits.context_limit_tokens,
            window_tokens=frame.limits.window_tokens,
            zone=frame.zone,
        )

    async def _fitting(self, shown: Shown, frame: Frame) -> tuple[Context, bool]:
        """What the model sees, made to fit its window if it would not, and whether it was."""
        context = self.context(shown, frame)
        waited = False
        for _ in range(2):  # once more where somebody else compacted it meanwhile: then less is left to fold
            if not context.left_out or not await self._make_room(shown, frame):
                break
            waited = True
            shown = await self._store.context_rows(shown.session.owner, shown.session.id, boot=frame.boot.summaries)
            context = self.context(shown, frame)
        return context, waited

    async def _make_room(self, shown: Shown, frame: Frame) -> bool:
        session = shown.session
        span = choose_span(shown.tail, session, "threshold", frame.limits)
        if span is None or span.first_seq != session.folded.to_seq + 1:
            return False  # the turns to begin with were too many to be read here; the work behind the reply folds them
        turns = [turn for turn in shown.tail if turn.seq <= span.last_seq]
        parts = parts_of(turns, _ROOM_PART_TOKENS)
        blocks = await asyncio.to_thread(lambda: [extracted(session, part, frame, shown.blocks) for part in parts])
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
            await self._store.commit_blocks(session.owner, session.id, change, more=[again])
        return True

    async def _replies_to(self, turn: Turn, key: str | None, shown: Shown) -> tuple[Turn, ...]:
        """The replies that are there already, where a message comes again under its key."""
        if key is None or turn.seq == shown.session.turns:
            return ()
        following = await self._store.turns(turn.owner, turn.session, first_seq=turn.seq + 1, limit=1000)
        begin = reply_key(key, "")
        return tuple(each for each in following if each.key is not None and each.key.startswith(begin))

    def _draft(self, reply: Reply, message: Draft, number: int) -> Draft:
        return Draft(
            role=reply.role,
            text=reply.text,
            trust=default_trust(reply.role),
            origin="agent",
            at=self._store.clock.now(),
            parts=reply.parts,
            channel=message.channel,
            model=reply.model,
            usage=reply.usage,
            key=reply_key(message.key, number) if message.key else None,
        )

    def _report(self, session: Session, limits: Limits) -> None:
        """Say once that folding cannot help: what is given to the model beside the session is over the limit alone."""
        if session.overhead_tokens >= limits.context_limit_tokens and session.id not in self._reported:
            self._reported.add(session.id)
            _log.warning(
                "session %s: the model reports %d tokens beside the conversation, the system prompt and tools alone are "
                "over context_limit_tokens (%d); shorten them, or raise the limit",
                session.id,
                session.overhead_tokens,
                limits.context_limit_tokens,
            )


def within(frame: Frame, window_tokens: int | None) -> Frame:
    """The frame for a model that takes no more than so many tokens."""
    if window_tokens is None or window_tokens >= frame.limits.window_tokens:
        return frame
    limits = frame.limits
    limit = min(limits.context_limit_tokens, window_tokens)
    return replace(frame, limits=replace(limits, window_tokens=window_tokens, context_limit_tokens=limit))


def _after_the_answer(due: Sequence[Due]) -> list[Due]:
    """Where a message ends its session, the summary waits a while for the answer, which has the last word."""
    wait = timedelta(seconds=_ANSWER_SECONDS)
    return [replace(each, at=each.at + wait) if each.reason == SUNSET else each for each in due]


def last_word(following: Sequence[Turn], key: str) -> Turn | None:
    """What the message of this key was answered in the end, among what follows it; None while it was not."""
    begin = reply_key(key, "")
    replies = [each for each in following if each.key is not None and each.key.startswith(begin)]
    return replies[-1] if _is_complete(replies) else None


def reply_key(key: str, number: int | str) -> str:
    """The key of a reply to the message of this key, which no caller's own key can be by chance."""
    return f"reply:{sha256(key.encode()).hexdigest()[:32]}:{number}"


def _is_complete(replies: Sequence[Turn]) -> bool:
    return bool(replies) and replies[-1].role == "assistant" and not tool_calls(replies[-1].parts)


async def _replies(answer: Answer | Awaitable[Answer] | AsyncIterator[Reply]) -> AsyncGenerator[Reply]:
    """The replies of an answer as they come; of one that is given whole all are looked at before the first is written."""
    if isinstance(answer, AsyncIterator):
        replies = cast("AsyncIterator[Any]", answer)
        try:
            async for reply in replies:
                yield _checked(reply)
        finally:
            if isinstance(replies, AsyncGenerator):
                await replies.aclose()
        return
    given: Any = await answer if isawaitable(answer) else answer
    if isinstance(given, str):
        given = Reply(text=given)
    several = list(cast("Sequence[Any]", given)) if isinstance(given, list | tuple) else [given]
    for reply in [_checked(each) for each in several or [given]]:
        yield reply


def _checked(reply: Any) -> Reply:
    if isinstance(reply, Reply) and reply.role in ("assistant", "tool"):
        return reply
    raise BadInput(
        "whoever answers gives a text, a Reply or a list of Replies, of role assistant or tool; this was "
        f"{type(reply).__name__}. The message is in the log; this was not written after it"
    )
