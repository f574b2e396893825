"""LangGraph's threads in the log: what is new of a list of messages is written, each once, and the context is shown for it.

A graph hands over all messages of its state each time, those of years ago among them. A message is known by its id, which is
its key in the log. What stands before the last exchange was written when it was said, unless the thread is new here: then
it is taken over. A thread whose session was cleared goes on in a session of its own, `name~2`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.adapters.messages import (
    AnyMessage,
    BaseMessage,
    is_instruction,
    is_shown_whole,
    key_of,
    last_exchange,
    shown,
    spoken,
)
from afterglow.clock import new_id
from afterglow.context import Context
from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.turns import Binding, Session, Turn

BindingOf = Binding | Callable[[Mapping[str, Any]], Binding]
"""Whose conversation it is: said at once, or found in the config of a run."""

_USERS = ("user_id", "langgraph_auth_user_id")
"""Where the config of a run has its user: by convention, and as LangGraph's own server puts it."""
_KNOWN_MAX = 10_000
"""Of so many messages it is remembered here that they are in the log; for others it is asked."""
_LOOKED_AT_TURNS = 200


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation: of whom, and which, where there are several."""

    binding: Binding
    name: str | None


class Threads:
    """Writes down what is said in threads, and shows their contexts."""

    def __init__(self, memory: Memory, binding: BindingOf | None, *, agent: str, channel: str) -> None:
        self.memory = memory
        self._binding = binding
        self._agent = agent
        self._channel = channel
        self._known: OrderedDict[tuple[Thread, str], tuple[str, int]] = OrderedDict()
        """For a message of a thread, by its key, the session and number of its turn."""
        self._followers: dict[Thread, int] = {}
        self._sessions: OrderedDict[Thread, tuple[str, Session]] = OrderedDict()
        """For a thread the key that its last exchange begins with, and where it stands: its end is written there too."""

    def thread(self, config: Mapping[str, Any]) -> Thread:
        """Which conversation a run is about."""
        told: Mapping[str, Any] = config.get("configurable") or {}
        name = str(told["thread_id"]) if told.get("thread_id") not in (None, "") else None
        if self._binding is not None:
            return Thread(self._binding if isinstance(self._binding, Binding) else self._binding(config), name)
        user = next((str(told[each]) for each in _USERS if told.get(each) not in (None, "")), None)
        if user is None and name is None:
            raise BadInput(
                "it is not said whose conversation this is; give binding=Binding(agent=…, channel=…, sender=…), or run the "
                'graph with config={"configurable": {"thread_id": …}}, and "user_id" where one person has several threads'
            )
        # A thread without a user is somebody of its own, so that no two threads share a memory by chance.
        return Thread(
            Binding(agent=self._agent, channel=self._channel, sender=user or name or ""), name if user else None
        )

    async def catch_up(self, messages: Sequence[BaseMessage], thread: Thread) -> Session:
        """Write down what is new of these messages, and say where."""
        self._name(messages)
        begins = last_exchange(messages)
        session = await self._session(thread, messages[begins] if messages else None)
        first = await self._first_new(messages, begins, session, thread)
        await self._write(messages[first:], session, thread)
        return session

    async def write(self, messages: Sequence[BaseMessage], thread: Thread) -> None:
        """Write down what was said just now, where its question stands."""
        self._name(messages)
        pinned = self._sessions.get(thread)
        await self._write(messages, pinned[1] if pinned else await self._open(thread), thread)

    async def context(self, messages: Sequence[BaseMessage], thread: Thread) -> list[AnyMessage]:
        """What the model is to see in place of these messages, all of which are written by then.

        Those of the last exchange are given as they are, where the context shows them whole: providers want back what they
        signed. Instructions among the messages stand first.
        """
        session = await self.catch_up(messages, thread)
        context = await self._fitting(session)
        if not any(each.seq for each in context.messages):
            return list(messages)  # pyright: ignore[reportReturnType] - there is nothing to show in their place
        places = {self._known.get((thread, key_of(each))): each for each in messages[last_exchange(messages) :]}
        talk: list[Any] = []
        for each in context.messages:
            original = places.get((session.id, each.seq))
            talk.append(original if original is not None and is_shown_whole(each, original) else shown(each))
        return [*(each for each in messages if is_instruction(each)), *talk]  # pyright: ignore[reportReturnType]

    async def _fitting(self, session: Session) -> Context:
        """The context, folded first where it would not fit the window."""
        context = await self.memory.context(session)
        if not context.left_out:
            return context
        return await self.memory.context(await self.memory.compact(session))

    async def _session(self, thread: Thread, head: BaseMessage | None) -> Session:
        """Where the exchange that begins with this message stands; a new one stands where the thread is now."""
        pinned = self._sessions.get(thread)
        if pinned is not None and head is not None and pinned[0] == key_of(head):
            return pinned[1]
        session = await self._open(thread)
        if head is not None:
            self._sessions[thread] = key_of(head), session
            self._sessions.move_to_end(thread)
            while len(self._sessions) > _KNOWN_MAX:
                self._sessions.popitem(last=False)
        return session

    async def _open(self, thread: Thread) -> Session:
        if thread.name is None:
            return await self.memory.open_session(thread.binding)
        number = self._followers.get(thread, 1)
        while True:
            named = thread.name if number == 1 else f"{thread.name}~{number}"
            session = await self.memory.open_session(thread.binding, named)
            if session.state != "closed":
                return session
            number += 1
            self._followers[thread] = number

    async def _first_new(self, messages: Sequence[BaseMessage], begins: int, session: Session, thread: Thread) -> int:
        """The place of the first message that may not be in the log; what is there is not written again, by its key."""
        known = self._last_known(messages, thread)
        if known is None and begins:
            await self._look_up(session, thread)
            known = self._last_known(messages, thread)
        if known is not None:
            return min(begins, known + 1)
        return 0 if begins and await self._is_new(session, thread) else begins

    def _last_known(self, messages: Sequence[BaseMessage], thread: Thread) -> int | None:
        places = range(len(messages) - 1, -1, -1)
        return next((place for place in places if (thread, key_of(messages[place])) in self._known), None)

    async def _look_up(self, session: Session, thread: Thread) -> None:
        first = max(1, session.turns - _LOOKED_AT_TURNS + 1)
        for turn in await self.memory.turns(session, first_seq=first, limit=_LOOKED_AT_TURNS):
            if turn.key is not None:
                self._note(thread, turn.key, turn)

    async def _is_new(self, session: Session, thread: Thread) -> bool:
        """Whether nothing was ever said here: then the past that the graph has is taken over."""
        if session.turns or thread.name is not None:
            return not session.turns and session.id == thread.name
        return len(await self.memory.sessions(owner=session.owner, limit=2)) == 1

    def _name(self, messages: Sequence[BaseMessage]) -> None:
        """Each message has an id from now on; LangGraph gives one only to those that go through its own list."""
        for message in messages:
            message.id = message.id or new_id(self.memory.store.clock)

    async def _write(self, messages: Sequence[BaseMessage], session: Session, thread: Thread) -> None:
        for message in messages:
            key, said = key_of(message), spoken(message)
            if said is not None and (thread, key) not in self._known:
                turn = await self.memory.append(
                    session,
                    said.role,
                    said.text,
                    parts=said.parts,
                    model=said.model,
                    usage=said.usage,
                    key=key,
                    trust="other" if said.named else None,
                )
                self._note(thread, key, turn)

    def _note(self, thread: Thread, key: str, turn: Turn) -> None:
        self._known[thread, key] = turn.session, turn.seq
        while len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
