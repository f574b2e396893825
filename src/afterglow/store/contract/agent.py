"""The verbs of messages that wait for the agent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from afterglow.store import inbox
from afterglow.store.contract.running import Running
from afterglow.store.inbox import Waiting
from afterglow.store.transaction import EVERYONE
from afterglow.work import Claim, Due


class AgentVerbs(Running):
    """The verbs of messages that wait for the agent."""

    async def put_message(self, message: Waiting) -> Waiting:
        """The message waits for its answer, behind those that do already."""
        due = Due(kind="reply", at=self.clock.now(), reason=message.reason)
        return await self._write("put_message", message.owner, partial(inbox.put_message, message=message, due=due))

    async def waiting_messages(self, owner: str, place: str, *, limit: int = 100) -> list[Waiting]:
        """The first that wait at this place, in order."""
        return await self._read("waiting_messages", owner, partial(inbox.waiting_messages, place=place, limit=limit))

    async def waiting_places(self, *, limit: int = 1000, after: tuple[str, str] = ("", "")) -> list[tuple[str, str]]:
        """A page of the places where messages wait, of all owners: as (owner, place)."""
        return await self._read("waiting_places", EVERYONE, partial(inbox.waiting_places, limit=limit, after=after))

    async def take_messages(self, claim: Claim, *, limit: int = 50) -> list[Waiting]:
        """The messages that are answered together now: the same again, until they are; or ClaimLost."""
        run = partial(inbox.take_messages, limit=limit, claim=claim)
        return await self._write("take_messages", claim.owner, run)

    async def end_messages(self, claim: Claim, keys: Sequence[str], *, by: str | None = None) -> list[Waiting]:
        """These messages are answered, and the claim ends; where others wait, it stays due. Gives those that still waited.

        `by` hands the answer over, unless another listens for the last of them: then that one stays, as answered, until
        somebody takes it back, which is the right to hand it over. Without `by` nobody is to hear of it.
        """
        run = partial(inbox.end_messages, keys=keys, by=by, claim=claim, now=self.clock.now())
        return await self._write("end_messages", claim.owner, run)

    async def take_back(self, owner: str, place: str, key: str) -> bool:
        """The message is not to be answered any more; the answer is whether it still waited."""
        return await self._write("take_back", owner, partial(inbox.take_back, place=place, key=key))

    async def stop_listening(self, listener: str) -> None:
        """This one hands no answers over any more: what it took is anybody's."""
        await self._write("stop_listening", EVERYONE, partial(inbox.stop_listening, listener=listener))
