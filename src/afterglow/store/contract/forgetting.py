"""The verbs of forgetting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from afterglow.facts import Fact
from afterglow.store import (
    audited,
    forgetting,
    forgetting_owners,
    holding,
)
from afterglow.store.contract.running import Running
from afterglow.store.forgetting import Forgotten
from afterglow.store.forgetting_owners import Unfinished
from afterglow.store.holding import Held, Scrubbed
from afterglow.store.transaction import EVERYONE
from afterglow.summaries import Summary
from afterglow.turns import Owner, Session


class ForgettingVerbs(Running):
    """The verbs of forgetting."""

    async def forget_turns(self, owner: str, session: str, first_seq: int, last_seq: int) -> Forgotten:
        """These turns are empty stones, blocks over them are made anew of what is left, summaries of them are gone, and
        facts that only they prove. So many in one transaction as nobody has to wait for long: where the answer is not
        `done`, call again. What was read before cannot be committed any more.
        """
        salt, now, look = self._salt(), self.clock.now(), audited.turns_forgotten(session, first_seq, last_seq)
        run = partial(
            forgetting.forget_turns, session=session, first_seq=first_seq, last_seq=last_seq, salt=salt, now=now
        )
        return await self._write("forget_turns", owner, self._noted("forget_turns", run, look))

    async def forget_fact(self, owner: str, fact: str, *, stated_on: Sequence[str] = ()) -> Fact:
        """Of the fact nothing stays but what keeps it from coming back. The turns on one of these channels that prove it, or
        say it in its words, go with it: what was said there was said to have it kept.
        """
        run = partial(forgetting.forget_fact, fact=fact, stated_on=stated_on, salt=self._salt(), now=self.clock.now())
        return await self._write("forget_fact", owner, self._noted("forget_fact", run, audited.changed_fact(fact)))

    async def forget_session(self, owner: str, session: str) -> Forgotten:
        """The session is closed for good, and goes from its end on, with all that was made of it; until `done`, call again."""
        run = partial(forgetting.forget_session, session=session, salt=self._salt(), now=self.clock.now())
        noted = self._noted("forget_session", run, audited.session_forgotten(session))
        return await self._write("forget_session", owner, noted)

    async def forget_owner(self, owner: str, *, keep_stones: bool = True) -> Forgotten:
        """All sessions of the owner are closed for good, its facts are gone, whoever was joined to it stands for itself,
        and its sessions go one by one; until `done`, call again. What is said meanwhile belongs to a new beginning.

        With stones its name and digests stay, which keep an import from bringing it back; without them nothing does, and
        those of an owner that was forgotten before go too. The audit says that somebody was forgotten, and not who.
        """
        salt, now = self._salt(), self.clock.now()
        run = partial(forgetting_owners.forget_owner, owner=owner, keep_stones=keep_stones, salt=salt, now=now)
        noted = self._noted("forget_owner", run, audited.owner_forgotten(owner, salt))
        return await self._write("forget_owner", EVERYONE, noted)

    async def unfinished_forgetting(self) -> list[Unfinished]:
        """The owners and sessions of which forgetting has begun and is not done."""
        return await self._read("unfinished_forgetting", EVERYONE, forgetting_owners.unfinished)

    async def is_forgotten(self, given: Owner | Session) -> bool:
        """Whether this owner or this session was forgotten; for import."""
        owner = given.id if isinstance(given, Owner) else given.owner
        return await self._read("is_forgotten", owner, partial(forgetting_owners.is_forgotten, given=given))

    async def restore_summary(self, owner: str, summary: Summary, *, stones: int = 0) -> None:
        """The session has this summary, unless it has a newer one or more of it is forgotten than `stones`; for import."""
        run = partial(forgetting_owners.restore_summary, summary=summary, stones_known=stones, now=self.clock.now())
        await self._write("restore_summary", owner, run)

    async def rows_holding(self, words: Sequence[str]) -> list[Held]:
        """The tables of everyone in which any of these words stands, and where."""
        return await self._read("rows_holding", EVERYONE, partial(holding.rows_holding, words=words))

    @abstractmethod
    async def scrub(self, *, whole: bool = False) -> Scrubbed:
        """What was removed is gone from the database's files too, as far as it can; `whole` writes all of them anew."""
