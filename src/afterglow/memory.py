"""Memory: the one object a library user holds. It prepares what comes in, and delegates the rest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from afterglow import guard, settings
from afterglow.behind import Behind
from afterglow.clock import Clock, SystemClock
from afterglow.compaction import Frame
from afterglow.context import Context
from afterglow.contexts import ASKED, Contexts
from afterglow.conversation import Address, Conversation, Exchanged, Respond, within
from afterglow.endings import Clearing, Summaries
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.extraction import Facts
from afterglow.facts import FACT_TYPES
from afterglow.forget import Forget
from afterglow.forgetting import finish_forgetting, unname_if_gone
from afterglow.intake import Intake
from afterglow.means import SettingsMeans, frame_of
from afterglow.memory_files import MemoryFiles
from afterglow.model import Model
from afterglow.proactive import Proactive
from afterglow.prose import Prose
from afterglow.reading import check_session, one_owner
from afterglow.reconciling import Near
from afterglow.remembering import Remembered
from afterglow.returning import Returning
from afterglow.search.embedders import Embedder, is_there
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import Recollection, memory_search
from afterglow.search.vectors import Vectors
from afterglow.settings import Settings
from afterglow.sources import Source
from afterglow.store.contract import Store
from afterglow.store.search import KINDS
from afterglow.store.search import Kind as SearchKind
from afterglow.store.sqlite import SQLiteLimits, SQLiteStore
from afterglow.store.transaction import EVERYONE
from afterglow.telling import Deliver
from afterglow.turns import (
    Binding,
    Draft,
    Origin,
    Part,
    Role,
    Session,
    Trust,
    Turn,
    check_not_empty,
    check_text,
    is_real,
)
from afterglow.work import Claim, Due, Kind
from afterglow.worker import Act, Commit, Worker, holder_name
from afterglow.working import ANYBODYS, Watch, work_limits, working

_LOOK_SECONDS = 30
"""How often a server looks whether somebody edited a memory file."""
_BITES_MAX = 100
"""So often a long session is folded a bite further while somebody waits for all of it."""
_LOOK_AGAIN_SECONDS = 0.3
_EMBEDDED_AT_ONCE = 200
_CLOSE_SECONDS_MAX = 5
"""How long a memory that is closed waits for what it folds."""


@asynccontextmanager
async def open_memory(
    given: Settings | Path | str | None = None,
    *,
    clock: Clock | None = None,
    model: Model | None = None,
    sources: Mapping[str, Source] | None = None,
    deliver: Deliver | None = None,
    also: Callable[[Memory], Mapping[Kind, Act]] | None = None,
) -> AsyncGenerator[Memory]:
    """Open the memory of these settings, of a data folder, or of the settings file and environment that are found.

    While it is open it folds the contexts of the sessions it writes to, behind the replies; with `primary` set to auto or
    true in the settings it also does the work of all sessions, as a server does. `model` summarises in place of the
    settings' one, and `sources` are asked in place of those declared under the same names. `deliver` sends a part of a text
    to a binding: with it, daily digests are delivered from here. `also` names more acts to do in the background.
    """
    if not isinstance(given, Settings):
        overrides: dict[str, Any] = {} if given is None else {"data_dir": str(given)}
        given = settings.load(environ=os.environ, overrides=overrides).settings
    store = await open_store(given, clock or SystemClock())
    memory = Memory(store, given, model=model, sources=sources, deliver=deliver)
    primary = given.primary_or("false")
    try:
        acts: dict[Kind, Act] = {**memory.acts, **(also(memory) if also else {})}
        if primary != "false":
            await finish_forgetting(store, memory.files.rebuild, given.data_dir)
        async with nullcontext() if primary == "false" else working(store, acts, given, primary, memory.watches):
            yield memory
    finally:
        await memory.close()


async def open_store(chosen: Settings, clock: Clock) -> Store:
    """The store that the settings name."""
    limits, path = chosen.store, chosen.sqlite_path
    if path is not None:
        return await SQLiteStore.open(
            path,
            clock,
            SQLiteLimits(
                batch_max=limits.batch_max,
                batch_milliseconds=limits.batch_milliseconds,
                busy_timeout_seconds=limits.busy_timeout_seconds,
                readers=limits.readers,
            ),
        )
    # Only here is the PostgreSQL driver loaded: it is an extra, and takes a quarter of a second.
    from afterglow.store.postgres import PostgresLimits, PostgresStore

    assert chosen.database is not None
    return await PostgresStore.open(
        chosen.database,
        clock,
        PostgresLimits(pool_max=limits.pool_max, pool_timeout_seconds=limits.pool_timeout_seconds),
    )


class Memory(Returning):
    """What agents and people said to each other, kept."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        model: Model | None = None,
        sources: Mapping[str, Source] | None = None,
        deliver: Deliver | None = None,
        environ: Mapping[str, str] | None = None,
        folds: bool = True,
    ) -> None:
        """`folds` is whether it folds the contexts of its own sessions; a server has a worker for that."""
        self.store = store
        self.settings = settings
        self.deliver = deliver
        self._folds = folds
        self._environ = os.environ if environ is None else environ
        self.means_of = SettingsMeans(settings, store, self._environ, model=model, sources=sources)
        self.intake = Intake(settings)
        self.contexts = Contexts(store, self.means_of)
        self.clearing = Clearing(store, self.intake.prepare)
        self.summarising = Summaries(store, self.means_of, self.contexts)
        self.files = MemoryFiles(store, settings.data_dir, self.intake.prepare, ZoneInfo(settings.zone))
        self.reading = Facts(store, self.means_of, Near(store, lambda: self._meaning))
        self._frames: dict[str, Frame] = {}
        self._conversation = Conversation(store, self.frame_of, self.intake.prepared)
        own: dict[Kind, Act] = {kind: act for kind, act in self.acts.items() if kind in ANYBODYS or kind == "vectors"}
        over = partial(unname_if_gone, store, settings.data_dir)
        self._worker = Worker(store, own, holder=holder_name(), limits=work_limits(settings), over=over)
        self._behind = Behind(store, self._worker)
        self.forget = Forget(store, settings.data_dir, self.files)
        self.facts = Remembered(store, settings, self.intake.prepare, self.reading, self._worker, self.files)

    async def append(
        self,
        to: Binding | Session,
        role: Role,
        text: str,
        *,
        session: str | None = None,
        parts: Sequence[Part] = (),
        trust: Trust | None = None,
        origin: Origin | None = None,
        at: datetime | None = None,
        recalled: Sequence[tuple[int, int]] = (),
        channel: str | None = None,
        model: str | None = None,
        usage: Mapping[str, int] | None = None,
        key: str | None = None,
        due: Sequence[Due] = (),
    ) -> Turn:
        """Write down one turn; when this returns, it is on disk.

        It goes to the binding's open session, to its session of the name you give (made if missing), or to a session.
        `key` makes it safe to repeat: the same key in the same session gives back the turn that is there. Secrets are
        taken out first, as the agent's settings say.
        """
        binding = _binding(to)
        beside: dict[str, Any] = {"parts": parts, "recalled": recalled, "model": model, "usage": usage, "key": key}
        draft = self._draft(binding, role, text, trust=trust, origin=origin, at=at, channel=channel, **beside)
        turn, is_due = await self._conversation.write(_address(to, session), draft, due)
        self._look_after(turn, binding.agent, is_due)
        return turn

    async def exchange(
        self,
        to: Binding | Session,
        text: str,
        respond: Respond,
        *,
        session: str | None = None,
        parts: Sequence[Part] = (),
        at: datetime | None = None,
        trust: Trust | None = None,
        origin: Origin | None = None,
        key: str | None = None,
        window_tokens: int | None = None,
    ) -> Exchanged:
        """One message: it is written down, `respond` gets the context and gives the reply, that is written down.

        `respond` is any callable, sync or async, that gives a text, a Reply, or several where tools were used. Whatever it
        raises reaches you; the message is in the log by then. With a `key` a message that was answered is not answered
        again. A context over `window_tokens`, where the settings allow more, is folded first.
        """
        binding = _binding(to)
        draft = self._draft(binding, "user", text, trust=trust, origin=origin, at=at, parts=parts, key=key)
        done = await self._conversation.exchange(_address(to, session), draft, respond, window_tokens)
        self._look_after(done.message, binding.agent, done.due)
        return done

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until what this memory folds behind the replies is done, at most so long; what is not is given up.

        What is given up stays due, and is done by whoever claims it next.
        """
        await self._behind.settle(seconds)

    async def close(self) -> None:
        """Finish what is folded now, within a few seconds, and close the store."""
        await self._behind.close(_CLOSE_SECONDS_MAX)
        await self.store.close()

    def frame_of(self, agent: str) -> Frame:
        """The limits and the zone in which this agent's contexts are shown."""
        if agent not in self._frames:
            self._frames[agent] = frame_of(self.settings, agent)
        return self._frames[agent]

    def _draft(
        self,
        binding: Binding,
        role: Role,
        text: str,
        *,
        trust: Trust | None,
        origin: Origin | None,
        at: datetime | None,
        channel: str | None = None,
        **beside: Any,
    ) -> Draft:
        check_not_empty(text, beside.get("parts", ()))
        return Draft(
            role=role,
            text=text,
            trust=trust or guard.default_trust(role),
            origin=origin or ("person" if role == "user" else "agent"),
            at=at or self.store.clock.now(),
            channel=channel or binding.channel,
            **beside,
        )

    def _look_after(self, turn: Turn, agent: str, is_due: bool) -> None:
        """Behind whatever comes next, see to the context of a session that was written to here."""
        if not self._folds or not self.settings.compaction_of(agent).in_library:
            return
        if is_due:
            self._behind.fold(turn)
        if is_real(turn.role, turn.origin):
            self._behind.watch(turn, self.frame_of(agent).quiet)

    async def context(self, session: Session, *, at: int | None = None, window_tokens: int | None = None) -> Context:
        """What the model is to see of this session now, or what it saw when turn `at` was the newest."""
        check_session(session)
        frame = within(self.frame_of(session.binding.agent), window_tokens)
        shown = await self.store.context_rows(session.owner, session.id, at=at, boot=frame.boot.summaries)
        return self._conversation.context(shown, frame)

    async def compact(self, session: Session) -> Session:
        """Fold what can be folded of the session now, and wait for it. Where that fails, the work stays due, and says why."""
        check_session(session)
        with suppress(NotFound):  # a person's wish ends the waiting after a failure
            await self.store.retry(session.owner, kind="context", subject=session.id)
        due = Due(kind="context", at=self.store.clock.now(), reason="manual", subject=session.id)
        await self.store.mark_due(session.owner, due)
        await self._worker.attend(session.owner, "context", session.id, at_once=True)
        return await self.store.session(session.owner, session.id)

    async def go_idle(self, session: Session) -> Session:
        """Fold the whole session into its summary now, as if nobody had written for long. What goes wrong is raised."""
        check_session(session)
        for _ in range(_BITES_MAX):
            session = await self.store.session(session.owner, session.id)
            if session.state != "open":
                break
            due = Due(kind="idle", at=self.store.clock.now(), reason=ASKED, subject=session.id)
            await self.store.mark_due(session.owner, due)
            try:
                await self._worker.do_now(session.owner, "idle", session.id, self.contexts.idle)
            except ClaimLost:  # a worker was quicker, and does the same; the next look shows how far it is
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        return session

    @property
    def acts(self) -> dict[Kind, Act]:
        """What there is to do behind the replies, by kind of work."""
        return {
            "context": self.contexts.act,
            "idle": self.contexts.idle,
            "clear": self.clearing.act,
            "summary": self.summarising.act,
            "facts": self.reading.act,
            "files": self.files.act,
            "prose": Prose(self.store, self.means_of, self.settings.away_of, self._quiet_seconds).act,
            **({"vectors": self._embed} if is_there(self.settings.search.embedder) else {}),
            **({"digest": self._proactive(self.deliver).act} if self.deliver else {}),
        }

    def _proactive(self, deliver: Deliver) -> Proactive:
        return Proactive(self.store, self.settings, deliver, self._quiet_seconds)

    def _quiet_seconds(self, agent: str) -> float:
        """How long nobody has written when a session counts as idle."""
        return self.settings.quiet_of(agent).timeout_summarize_seconds

    @property
    def watches(self) -> dict[str, Watch]:
        """What makes work due by itself while a process works for all sessions."""
        found: dict[str, Watch] = {"the look at the memory files": partial(self.files.run, seconds=_LOOK_SECONDS)}
        if self._vectors is not None:
            found["the search for what is not embedded"] = self._vectors.run
        return found

    async def _embed(self, claim: Claim) -> Commit | None:
        assert self._vectors is not None, "who has no embedder does not claim this"
        return await self._vectors.act(claim)

    @cached_property
    def _vectors(self) -> Vectors | None:
        embedder = self.embedder
        return None if embedder is None else Vectors(self.store, embedder)

    async def recall(
        self,
        text: str,
        *,
        owner: str,
        kinds: Sequence[SearchKind] = KINDS,
        types: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
    ) -> Recollection:
        """What fits the text best by words and meaning, of all that is remembered: facts, blocks, summaries and turns."""
        check_text(text, "what to look for")
        if unknown := [each for each in types if each not in FACT_TYPES]:
            raise BadInput(f"{unknown[0]!r} is no type of a fact; use one of {', '.join(FACT_TYPES)}")
        await self._embed_few(one_owner(owner))
        return await memory_search(
            self.store,
            self._meaning,
            one_owner(owner),
            text,
            kinds=kinds,
            types=types,
            since=since,
            until=until,
            limit=self._results(limit),
        )

    async def _embed_few(self, owner: str) -> None:
        """Where no server does it: what was said last gets its vectors now, if it is little enough not to wait for."""
        if self.embedder is None or not self._folds:
            return
        used = await self.store.generations(owner)
        if used and used[0].name != self.embedder.name:  # a server's embedder is another, and its business
            return
        for each in await self.store.folder_owners(owner):  # what joined owners said is listed for each of them
            if 0 < len(await self.store.unembedded(each, _EMBEDDED_AT_ONCE + 1)) <= _EMBEDDED_AT_ONCE:
                due = Due(kind="vectors", at=self.store.clock.now(), reason="search", subject=each)
                await self.store.mark_due(each, due)
                await self._worker.attend(each, "vectors", each, at_once=True)

    @cached_property
    def _meaning(self) -> Meaning | None:
        """What searches by meaning, made when first needed; None where the settings or the packages leave it out."""
        return None if self.embedder is None else Meaning(self.store, self.embedder, self.means_of.earlier_embedder)

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder that the settings name."""
        return self.means_of.embedder()


def _binding(to: Any) -> Binding:
    """The address behind what a caller names."""
    if not isinstance(to, Binding | Session):
        raise BadInput(f"a turn goes to a Binding or a Session; this is a {type(to).__name__}")
    return to.binding if isinstance(to, Session) else to


def _address(to: Binding | Session, named: str | None) -> Address:
    if isinstance(to, Session):
        return Address(binding=to.binding, owner=to.owner, place=to.id)
    return Address(binding=to, owner=to.owner, place=to, named=named)


__all__ = ["EVERYONE", "Memory", "open_memory", "open_store"]
