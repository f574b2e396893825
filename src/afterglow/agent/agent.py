"""Agent: the one object that answers. Whatever is asked of the model goes through its graph, by `invoke` or `stream`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, takewhile
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from afterglow.agent import running, talk
from afterglow.agent.events import REASONS, Done, Event, Reason
from afterglow.agent.handing import Handle, OnReply
from afterglow.agent.line import Answered, Line
from afterglow.agent.manner import Manner, Manners
from afterglow.agent.order import Hold, Order, leave
from afterglow.agent.tasks import Tasks
from afterglow.clock import new_id
from afterglow.context import Context
from afterglow.conversation import Reply, last_word
from afterglow.errors import BadInput
from afterglow.forgetting import unname_if_gone
from afterglow.memory import Memory
from afterglow.model import Model
from afterglow.store.inbox import WAITING_MAX, Waiting
from afterglow.telling import Deliver
from afterglow.turns import Binding, Draft, Part, Session, Turn, check_not_empty
from afterglow.work import Kind
from afterglow.worker import Act
from afterglow.working import work_limits

T = TypeVar("T")
_CLOSE_SECONDS = 15.0
answered: ContextVar[Binding | None] = ContextVar("answered", default=None)
"""Who is being answered, seen from inside."""


class Agent:
    """Answers people, keeps the order of each session's messages, and does tasks at set times."""

    def __init__(
        self,
        memory: Memory,
        *,
        binding: Binding | None = None,
        model: Model | None = None,
        tools: Sequence[Any] = (),
        instructions: str | None = None,
        deliver: Deliver | None = None,
    ) -> None:
        """`binding` is whom it talks to where a call names nobody. `tools` are LangChain's, functions, or Tools."""
        self.memory = memory
        self.binding = binding
        self._manners = Manners(memory, model, tools, instructions)
        self._order = Order(memory.store)
        self._line = Line(
            memory.store,
            self._answer_waiting,
            self._said,
            deliver=deliver or memory.deliver,
            limits=work_limits(memory.settings),
            concurrency=memory.settings.answering.concurrency,
            over=partial(unname_if_gone, memory.store, memory.settings.data_dir),
        )
        self.tasks = Tasks(memory, self.invoke, deliver or memory.deliver, binding=binding, model=self._manners.model)

    async def invoke(
        self,
        message: str = "",
        reason: Reason = "user_message",
        *,
        to: Binding | Session | None = None,
        session: str | None = None,
        messages: Sequence[Any] | None = None,
        schema: type[BaseModel] | None = None,
        parts: Sequence[Part] = (),
        key: str | None = None,
    ) -> str:
        """The only way to the model.

        `user_message` and `scheduled_task` answer the message in its session; both are written down. `session_timeout` folds
        the session into its summary, which is returned. `complex_reschedule` answers `messages` alone with what fits
        `schema`, as JSON, and changes nothing.
        """
        asked = _Asked(
            message=message,
            reason=reason,
            to=to,
            session=session,
            messages=messages,
            schema=schema,
            parts=parts,
            key=key,
        )
        return (await self._run(asked, _nobody)).text

    async def stream(
        self,
        message: str = "",
        reason: Reason = "user_message",
        *,
        to: Binding | Session | None = None,
        session: str | None = None,
        messages: Sequence[Any] | None = None,
        schema: type[BaseModel] | None = None,
        parts: Sequence[Part] = (),
        key: str | None = None,
    ) -> AsyncGenerator[Event]:
        """As `invoke`, with what happens as it happens: Text and ToolUsed, and at last Done. Who stops listening stops it."""
        asked = _Asked(
            message=message,
            reason=reason,
            to=to,
            session=session,
            messages=messages,
            schema=schema,
            parts=parts,
            key=key,
        )
        happened: asyncio.Queue[Event | None] = asyncio.Queue()
        run = asyncio.create_task(self._run(asked, happened.put_nowait))
        run.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            while (event := await happened.get()) is not None:
                yield event
            yield await run
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)

    async def enqueue(
        self,
        message: str,
        *,
        to: Binding | Session | None = None,
        reply: OnReply | None = None,
        reason: Reason = "user_message",
        parts: Sequence[Part] = (),
        key: str | None = None,
    ) -> Handle:
        """Have a message answered after those that wait in its session; it is on disk when this returns.

        Messages that wait together are answered together. `reply` gets the answer, once, and may call whatever it likes; where
        the process died in between, the next one delivers it. The handle can be awaited for the answer, or cancelled.
        """
        if reason not in ("user_message", "scheduled_task"):
            raise BadInput(f"a message waits for an answer as user_message or scheduled_task, not as {reason!r}")
        place = self._place(to)
        binding, session = _binding_of(place), place.id if isinstance(place, Session) else None
        check_not_empty(message, parts)
        now = self.memory.store.clock.now()
        draft = Draft(role="user", text=message, trust="owner", origin="person", at=now, parts=parts, key=key)
        clean = (await self.memory.intake.prepared(draft, binding.agent)).draft
        in_own_line = isinstance(place, Session) and not await self._is_of_the_bindings_line(place)
        waiting = Waiting(
            owner=place.owner if in_own_line else binding.owner,
            place=session if in_own_line and session else binding.owner,
            agent=binding.agent,
            channel=binding.channel,
            sender=binding.sender,
            session=session,
            reason=reason,
            text=clean.text,
            parts=tuple(clean.parts),
            at=now,
            key=key or f"#{new_id(self.memory.store.clock)}",
        )
        return await self._line.put(waiting, reply)

    async def resume(self) -> int:
        """Go on with messages that wait since before this process began; say in how many sessions."""
        return await self._line.resume()

    async def clear(self, to: Binding | Session | None = None) -> None:
        """The next message begins anew: what was said stays in the log, and in what is remembered."""
        session = await self._session(self._place(to))
        if session is not None:
            await self.memory.clear(session)

    async def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Finish the answers under way, at most so long. What still waits is answered when the agent runs again."""
        await self.finish(seconds)
        await self.let_go()

    async def finish(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Take no more messages, and finish the answers under way, at most so long."""
        await self._line.close(seconds)

    async def let_go(self) -> None:
        """End the connections to MCP servers; tasks under way would lack their tools, so those come to their end before."""
        await self._manners.close()

    @property
    def acts(self) -> dict[Kind, Act]:
        """What an agent does in the background, by kind of work."""
        return dict(self.tasks.acts)

    async def _run(self, asked: _Asked, emit: Callable[[Event], None]) -> Done:
        if asked.reason not in REASONS:
            raise BadInput(f"there is no reason {asked.reason!r}; use one of {', '.join(REASONS)}")
        if (asked.reason == "complex_reschedule") != (asked.messages is not None):
            raise BadInput("`messages` are for complex_reschedule, and that needs them; else give a message")
        if asked.schema is not None and asked.reason != "complex_reschedule":
            raise BadInput(f"a schema is for complex_reschedule, not for {asked.reason}")
        if asked.reason == "complex_reschedule":
            return await self._utility(asked, emit)
        place = self._place(asked.to)
        if asked.reason == "session_timeout":
            return await self._time_out(place, emit)
        return await self._answer(place, asked, emit)

    async def _answer(self, place: Binding | Session, asked: _Asked, emit: Callable[[Event], None]) -> Done:
        manner = await self._ready(place)
        async with self._order.alone(place, asked.session) as hold:
            return await self._exchange(place, asked, emit, manner, hold)

    async def _ready(self, place: Binding | Session) -> Manner:
        """How this place is answered. What may take long to be there is there before anybody waits for the session."""
        await running.graph()
        return await self._manners.equipped(_binding_of(place).agent)

    async def _exchange(
        self, place: Binding | Session, asked: _Asked, emit: Callable[[Event], None], manner: Manner, hold: Hold
    ) -> Done:
        binding = _binding_of(place)

        async def respond(context: Context) -> AsyncGenerator[Reply]:
            await self._go_on(hold, binding.owner, context.session)
            now = self.memory.store.clock.now()
            run = running.talk(self.memory, manner, emit, binding=binding, context=context, now=now)
            async with aclosing(running.replies(run, asked.reason)) as replies:
                async for reply in replies:
                    yield reply

        with _set(answered, binding), running.apart():
            done = await self.memory.exchange(
                place,
                asked.message,
                respond,
                session=asked.session,
                parts=asked.parts,
                key=asked.key,
                origin="task" if asked.reason == "scheduled_task" else None,
                trust="agent" if asked.reason == "scheduled_task" else None,
                window_tokens=manner.window_tokens,
            )
        return Done(text=done.text, exchanged=done)

    async def _go_on(self, hold: Hold, owner: str, session: str) -> None:
        """Hold the session that a message came to: one that began with it, or another that was begun meanwhile."""
        if hold.key is None or hold.key[1] != session:
            found = await self.memory.session(session, owner=owner)
            await hold.move((found.owner, found.id))

    async def _utility(self, asked: _Asked, emit: Callable[[Event], None]) -> Done:
        assert asked.messages is not None
        if asked.schema is not None and not (isinstance(asked.schema, type) and issubclass(asked.schema, BaseModel)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"the schema is a class of Pydantic's BaseModel; this is {asked.schema!r}")
        place = asked.to or self.binding
        binding = None if place is None else _binding_of(place)
        manner = self._manners.of(binding.agent if binding else "agent")
        messages = talk.given(asked.messages)
        await running.graph()
        run = running.talk(self.memory, manner, emit, binding=binding, messages=messages, schema=asked.schema)
        run.instructions = ""  # the messages have their own
        return Done(text=await running.result(run, asked.reason))

    async def _time_out(self, place: Binding | Session, emit: Callable[[Event], None]) -> Done:
        session = await self._session(place)
        if session is None or session.state != "open":
            return Done(text="")
        await running.graph()
        manner = self._manners.of(session.binding.agent)
        run = running.talk(self.memory, manner, emit, binding=session.binding, session=session)
        async with self._order.alone(session):
            return Done(text=await running.result(run, "session_timeout"))

    async def _answer_waiting(self, messages: Sequence[Waiting]) -> Answered:
        """The answer to messages that waited together, all of one reason: one for each session, of which the last counts."""
        leave()  # a line is inside nobody's exchange, whoever woke it
        keys = {each.key for each in messages}
        newest = await self.memory.store.current_session(messages[-1].binding)
        answered = Answered(text="", is_new=False)
        for named, of_one in groupby(
            messages, lambda each: None if newest and each.session == newest.id else each.session
        ):
            together = list(of_one)
            place = await self.memory.session(named, owner=together[0].owner) if named else together[0].binding
            answered = await self._answer_together(place, together, keys)
        return answered

    async def _answer_together(
        self, place: Binding | Session, messages: Sequence[Waiting], keys: Collection[str]
    ) -> Answered:
        """One answer to messages of one session: the earlier ones are said, the last is answered."""
        async with self._order.alone(place) as hold:
            # All of them, so that they are in the log before anything else can fail.
            turns = [await self._written(place, each) for each in messages]
            there = [await self._answer_there(*each, keys) for each in zip(turns, messages, strict=True)]
            unanswered = [n for n, answer in enumerate(there) if answer is None]
            if not unanswered and there[-1] is not None:
                return Answered(text=there[-1].text, is_new=False)
            turn, last = turns[unanswered[-1]], messages[unanswered[-1]]
            asked = _Asked(message=last.text, reason=cast("Reason", last.reason), parts=last.parts, key=last.key)
            # Where its turn stands, whatever was begun since.
            session = await self.memory.session(turn.session, owner=turn.owner)
            await self._go_on(hold, session.owner, session.id)
            done = await self._exchange(session, asked, _nobody, await self._ready(session), hold)
        return Answered(text=done.text, is_new=done.exchanged is None or done.exchanged.context is not None)

    async def _is_of_the_bindings_line(self, session: Session) -> bool:
        """Whether messages for this session wait in the line of its binding: it is the one that this has now, or was lately."""
        binding = session.binding
        newest = await self.memory.store.current_session(binding)
        if newest is not None and newest.id == session.id:
            return True
        waiting = await self.memory.store.waiting_messages(binding.owner, binding.owner, limit=WAITING_MAX)
        return any(each.session == session.id for each in waiting)

    async def _written(self, place: Binding | Session, message: Waiting) -> Turn:
        """The turn of a message: where one that is tried again was written down, or else here."""
        if message.taken and (there := await self._turn_of(message)) is not None:
            return there
        said = {"origin": "task", "trust": "agent"} if message.reason == "scheduled_task" else {}
        beside: dict[str, Any] = {"parts": message.parts, "at": message.at, "key": message.key, **said}
        return await self.memory.append(place, "user", message.text, **beside)

    async def _said(self, message: Waiting) -> str | None:
        """What the log has as the answer to a message that was answered elsewhere."""
        turn = await self._turn_of(message)
        answer = turn and await self._answer_there(turn, replace(message, taken=False), ())
        return answer.text if answer else None

    async def _turn_of(self, message: Waiting) -> Turn | None:
        return await self.memory.store.turn_by_key(message.binding, message.key, since=message.at)

    async def _answer_there(self, turn: Turn, message: Waiting, keys: Collection[str]) -> Turn | None:
        """The answer that a message has already: its own, or that of one which was said right after it.

        Of a message that was taken and is tried again, only those that were taken with it speak for it.
        """
        following = await self.memory.store.turns(turn.owner, turn.session, first_seq=turn.seq + 1, limit=1000)
        together = [each.key for each in takewhile(lambda each: each.role == "user", following) if each.key]
        speaking = [message.key, *(key for key in together if key in keys or not message.taken)]
        return next((answer for key in speaking if (answer := last_word(following, key))), None)

    def _place(self, to: Binding | Session | None) -> Binding | Session:
        place = to or self.binding
        if place is None:
            raise BadInput(
                "say whom it is about: to=Binding(agent=…, channel=…, sender=…), or give the Agent a binding"
            )
        if not isinstance(place, Binding | Session):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller checks
            raise BadInput(f"a message goes to a Binding or a Session; this is a {type(place).__name__}")
        return place

    async def _session(self, place: Binding | Session) -> Session | None:
        """The session of a place as it is now; of a binding its open one."""
        if isinstance(place, Session):
            return await self.memory.session(place.id, owner=place.owner)
        return await self.memory.store.current_session(place)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What was asked of the agent."""

    message: str
    reason: Reason
    to: Binding | Session | None = None
    session: str | None = None
    messages: Sequence[Any] | None = None
    schema: type[BaseModel] | None = None
    parts: Sequence[Part] = ()
    key: str | None = None


def _binding_of(place: Binding | Session) -> Binding:
    return place.binding if isinstance(place, Session) else place


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Generator[None]:
    """The variable has this value within."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def _nobody(event: Event) -> None:
    """Nobody listens."""
