"""The acts behind work of kinds `clear` and `summary`: what happens to a session that is quiet or has ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo

from afterglow.clock import new_fence
from afterglow.compaction import Block, parts_of
from afterglow.contexts import Contexts, MeansOf
from afterglow.errors import ClaimLost
from afterglow.fold import Material, Order
from afterglow.store.blocks import Shown
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.summaries import TRIGGERS, Summary, Trigger, Written, is_stale, material_of, together, write
from afterglow.transcript import said_by_anybody, transcript
from afterglow.turns import Draft, Session, Turn
from afterglow.work import Claim
from afterglow.worker import Commit

_PROMPT_TOKENS = 1_500
"""What the instructions, the form and the answer take of a model's window."""
_HELPING_TOKENS_MIN = 500
"""A model whose window leaves less room than this is given that much all the same."""
_PAGE_TURNS = 1_000
_SHORT_TOKENS = 800

_log = logging.getLogger(__name__)


class Clearing:
    """Closes sessions that have been quiet for long."""

    def __init__(self, store: Store, entry_of: Callable[[Draft, str], Entry]) -> None:
        self._store = store
        self._entry_of = entry_of

    async def act(self, claim: Claim) -> Commit | None:
        """Close the session, if it is still quiet, and say so in its log."""
        session = await self._store.session(claim.owner, claim.subject)
        if session.state != "idle":
            return None

        async def commit() -> None:
            await self._store.clear_session(claim.owner, session.id, self.announcement(session), claim)
            _log.info("session %s: cleared after it was quiet", session.id)

        return commit

    def announcement(self, session: Session) -> Entry:
        """What the log says of it."""
        text = (
            "The context was cleared and the session closed. Turns, summary and facts stay; "
            f"`afterglow sessions restore {session.id}` undoes it while no newer session has followed."
        )
        draft = Draft(role="system", text=text, trust="agent", origin="task", at=self._store.clock.now())
        return self._entry_of(draft, session.binding.agent)


class Summaries:
    """Writes down what sessions were about."""

    def __init__(self, store: Store, means_of: MeansOf, contexts: Contexts) -> None:
        self._store = store
        self._means_of = means_of
        self._contexts = contexts

    async def act(self, claim: Claim) -> Commit | None:
        """The summary of the session that the claim is about, and its commit; None where it has one that covers all."""
        session = await self._store.session(claim.owner, claim.subject)
        return await self._made(claim, session) if is_stale(session) else None

    async def anew(self, claim: Claim) -> Commit | None:
        """The same, from the beginning, although nothing may have been said since."""
        session = await self._store.session(claim.owner, claim.subject)
        return await self._made(claim, session, from_scratch=True) if session.said_seq else None

    async def _made(self, claim: Claim, session: Session, *, from_scratch: bool = False) -> Commit:
        trigger: Trigger = claim.reason if claim.reason in TRIGGERS else "manual"
        summary = await self.write(session, trigger, from_scratch=from_scratch)

        async def commit() -> None:
            await self._store.commit_summary(claim.owner, summary, before_seq=session.summary_seq, claim=claim)
            _log.info("session %s: summarised to turn %d (%s)", session.id, summary.last_seq, trigger)

        return commit

    async def write(self, session: Session, trigger: Trigger, *, from_scratch: bool = False) -> Summary:
        """The summary of all that the session has said, from the one before and what is new."""
        means = self._means_of(session.binding.agent)
        room = means.summarising.window_tokens - _PROMPT_TOKENS
        shown = await self._contexts.folded_within(session, room)
        old = None if from_scratch else await self._store.summary_of(session.owner, session.id)
        order = Order(
            prompt="summary",
            purpose="summary",
            tokens_max=means.summary_tokens_max,
            fence=shown.fence or new_fence(self._store.clock),
            deadline_seconds=means.deadline_seconds,
            owner=session.owner,
            session=session.id,
        )
        made: list[Written] = []
        for blocks, turns in await self._helpings(shown, old, room - order.tokens_max):
            before = self._summary(shown, made[-1], trigger) if made else old
            said = [_without(turn, means.frame.quiet.sunset_marker) for turn in turns]
            material = self._material(before, blocks, said, means.frame.zone)
            made.append(await write(means.summarising, material, order))
        return self._summary(shown, together(made), trigger)

    async def _helpings(self, shown: Shown, old: Summary | None, room: int) -> list[tuple[list[Block], list[Turn]]]:
        """What is new, in order, in runs that a model can read: one, unless the last exchange alone is too long for it."""
        after = old.last_seq if old else 0
        # Of a short session the turns themselves are read: they cost little, and a block has left something out.
        is_short = shown.session.tokens <= _SHORT_TOKENS
        blocks = [] if is_short else [block for block in shown.blocks if block.last_seq > after]
        turns = await self._turns(shown.session, after if is_short else max(shown.session.folded.to_seq, after))
        left = room - sum(block.tokens for block in blocks)
        if left > 0 and len(parts_of(turns, left)) <= 1:
            return [(blocks, turns)]
        parts = parts_of(turns, max(room, _HELPING_TOKENS_MIN))
        return [*([(blocks, [])] if blocks else []), *(([], part) for part in parts)]

    async def _turns(self, session: Session, seq: int) -> list[Turn]:
        """The turns after this one, however many there are, to the last that says something."""
        turns: list[Turn] = []
        while seq < session.said_seq:
            page = await self._store.turns(
                session.owner, session.id, first_seq=seq + 1, last_seq=session.said_seq, limit=_PAGE_TURNS
            )
            if not page:
                raise ClaimLost(f"session {session.id!r} is being forgotten; there is nothing more to read in it")
            turns += page
            seq = page[-1].seq
        return turns

    def _material(self, old: Summary | None, blocks: Sequence[Block], turns: Sequence[Turn], zone: tzinfo) -> Material:
        tokens = sum(block.tokens for block in blocks) + sum(turn.tokens for turn in turns)
        return material_of(old, blocks, transcript(turns, zone), said_by_anybody(turns), tokens)

    def _summary(self, shown: Shown, written: Written, trigger: Trigger) -> Summary:
        session, filled = shown.session, written.filled
        return Summary(
            owner=session.owner,
            session=session.id,
            agent=session.binding.agent,
            title=filled.title,
            summary=filled.summary,
            category=filled.category,  # pyright: ignore[reportArgumentType] - one of the categories, after the check
            decisions=tuple(filled.decisions),
            open_threads=tuple(filled.open_threads),
            outcomes=tuple(filled.outcomes),
            people=tuple(filled.people),
            first_seq=1,
            last_seq=session.said_seq,
            first_at=session.created_at,
            last_at=session.last_at,
            trigger=trigger,
            model=written.model,
            prompt=written.prompt,
            input_tokens=written.input_tokens,
            output_tokens=written.output_tokens,
            cost_usd=written.cost_usd,
            degraded=written.degraded,
            created_at=self._store.clock.now(),
        )


def _without(turn: Turn, marker: str) -> Turn:
    """The turn without the mark that ended the session: what stands behind it is what was said."""
    text = turn.text.lstrip()
    return replace(turn, text=text.removeprefix(marker).lstrip()) if marker and text.startswith(marker) else turn
