"""Very long talk of every kind: the context stays within its bound and valid, and every turn is in one place."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.context import Context
from afterglow.conversation import Reply
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Session
from tests.kit.campaign import Campaign
from tests.kit.faults import misplaced, refusable, true_tokens
from tests.kit.records import KATE

SEED = 20260302
LIMIT, BUDGET = 8_000, 2_000


# --- the talk


class Talker:
    """Says and answers things of every kind, by a seeded chance."""

    def __init__(self, seed: int, *, ids_again: bool) -> None:
        self._chance = random.Random(seed)
        self._ids_again = ids_again
        self._ids = 0
        self.kinds: dict[Callable[[], Any], float] = {
            self._small: 40,
            self._medium: 25,
            self._large: 4,
            self._tool: 12,
            self._parallel: 6,
            self._interrupted: 5,
            self._many_tools: 2,
            self._fails: 3,
            self._huge: 0.3,
        }

    def next(self) -> tuple[str, Any]:
        """What the user says, and what is answered; None is a failure to answer."""
        self._ids = 0 if self._ids_again else self._ids  # as providers do that number the calls of each answer
        (kind,) = self._chance.choices(list(self.kinds), list(self.kinds.values()))
        return self._words(self._chance.choice((3, 12, 40, 120))), kind()

    def _words(self, count: int) -> str:
        few = (
            "review",
            "Ben",
            "budget",
            "please",
            "tomorrow",
            "OPS-1172",
            "kettle",
            "and",
            "the",
            "3 March",
            "请",
            "ok",
        )
        return " ".join(self._chance.choice(few) for _ in range(count))

    def _id(self) -> str:
        self._ids += 1
        return f"call_{self._ids}"

    def _call(self, *ids: str) -> Reply:
        return Reply(
            text="", parts=[{"type": "tool_call", "id": id, "name": "look", "arguments": {"q": 1}} for id in ids]
        )

    def _result(self, id: str, words: int) -> Reply:
        return Reply(text="", role="tool", parts=[{"type": "tool_result", "id": id, "content": self._words(words)}])

    def _small(self) -> Any:
        return self._words(8)

    def _medium(self) -> Any:
        return self._words(150)

    def _large(self) -> Any:
        return self._words(2_500)

    def _huge(self) -> Any:
        return [Reply(text=self._words(40_000)), Reply(text=self._words(5))]

    def _tool(self) -> Any:
        id = self._id()
        return [self._call(id), self._result(id, 60), Reply(text=self._words(20))]

    def _parallel(self) -> Any:
        ids = [self._id() for _ in range(self._chance.randint(2, 3))]
        order = self._chance.sample(ids, len(ids))
        return [self._call(*ids), *(self._result(id, 30) for id in order), Reply(text=self._words(20))]

    def _many_tools(self) -> Any:
        ids = [self._id() for _ in range(self._chance.randint(10, 30))]
        steps = [step for id in ids for step in (self._call(id), self._result(id, 300))]
        return [*steps, Reply(text=self._words(20))]

    def _interrupted(self) -> Any:
        """Calls without results, or with some of them, and no answer after them."""
        ids = [self._id(), self._id()]
        return [self._call(*ids), *(self._result(id, 10) for id in ids[: self._chance.randint(0, 1)])]

    def _fails(self) -> Any:
        return None


def summary(request: Request) -> str:
    """As long as it may be, so that the budget is put to the test."""
    words = "They went on about the review with Ben, OPS-1172 and the budget, and agreed on a thing or two. "
    return words * max(1, request.tokens_max // 30)


async def talk_and_check(
    store: Store,
    clock: FixedClock,
    folder: Path,
    exchanges: Iterator[int],
    seed: int,
    *,
    ids_again: bool = False,
    tail_max: int = 200,
) -> str:
    """Talk for so many exchanges, look at each context, and say what was done."""
    model = ScriptedModel(summary)
    settings = Settings.model_validate({"data_dir": str(folder), "zone": "UTC"})
    memory = Memory(store, settings, model=model, environ={})
    talker, largest, versions = Talker(seed, ids_again=ids_again), 0, set[int]()
    session, number = None, 0
    for number in exchanges:
        text, answer = talker.next()
        session, context = await _one(memory, text, answer)
        where = f"seed {seed}, exchange {number}"
        assert refusable(context.messages) == [], where
        assert context.left_out == 0, where
        clock.move(20)
        if session.folded.version not in versions:
            versions.add(session.folded.version)
            now = await memory.context(session)
            assert refusable(now.messages) == [], where
            sizes = [(portion.name, portion.tokens, portion.first_seq, portion.last_seq) for portion in now.portions]
            assert true_tokens(now.messages) <= LIMIT * 1.02, f"{where}: over the limit after a compaction: {sizes}"
            assert session.folded.block_tokens <= BUDGET, where
            largest = max(largest, true_tokens(now.messages[:1]))
        if number % 500 == 499:
            assert await misplaced(store, session) == [], where
    assert session is not None
    session = await memory.session(session.id, owner=KATE.owner)
    assert await misplaced(store, session) == [], f"seed {seed}, exchange {number}"
    tail = session.turns - session.folded.to_seq
    blocks = await memory.blocks(session)
    assert len(versions) > 10, "it was compacted again and again"
    assert any(block.level == 1 for block in blocks), "and blocks were merged"
    assert len(model.requests) <= 1.5 * len(blocks), "most summaries are good at the first try"
    assert tail < tail_max, "what could be folded is folded"
    assert largest <= BUDGET, "the record of the past is within the budget of blocks"
    done = f"{number + 1} exchanges of {session.turns} turns, {len(model.requests)} calls, {len(versions)} compactions"
    return f"{done}, a tail of {tail}, a record of {largest} tokens"


async def _one(memory: Memory, text: str, answer: Any) -> tuple[Session, Context]:
    seen: list[Context] = []

    def respond(context: Context) -> Any:
        seen.append(context)
        if answer is None:
            raise ConnectionError("no answer")
        return answer

    try:
        await memory.exchange(KATE, text, respond)
    except ConnectionError:
        assert answer is None
    await memory.settle()
    return await memory.open_session(KATE), seen[0]


@pytest.mark.spec("CTX-2", "CTX-4", "CTX-6", "CTX-11", "P8")
async def test_over_sixty_exchanges_the_context_stays_within_its_bound_and_valid(
    tmp_path: Path, clock: FixedClock
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    try:
        await talk_and_check(store, clock, tmp_path, iter(range(60)), SEED, ids_again=True, tail_max=40)
    finally:
        await store.close()


@pytest.mark.campaign
@pytest.mark.spec("CTX-2", "CTX-4", "CTX-6", "CTX-11", "P8")
@pytest.mark.parametrize(("ids_again", "whole"), [(False, 10_000), (True, 1_500)], ids=["own-ids", "ids-again"])
async def test_over_thousands_of_exchanges_the_context_stays_within_its_bound_and_valid(
    tmp_path: Path, clock: FixedClock, ids_again: bool, whole: int, campaign: Campaign
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    exchanges = campaign.rounds(at_least=100, whole=whole)
    try:
        campaign.did(await talk_and_check(store, clock, tmp_path, exchanges, campaign.seed, ids_again=ids_again))
    finally:
        await store.close()


@pytest.mark.campaign
@pytest.mark.spec("CTX-6", "CTX-11", "P13")
async def test_over_many_exchanges_it_is_the_same_on_postgresql(
    tmp_path: Path, clock: FixedClock, postgres_address: str, campaign: Campaign
) -> None:
    store = await PostgresStore.open(postgres_address, clock)
    exchanges = campaign.rounds(at_least=100, whole=1_500)
    try:
        campaign.did(await talk_and_check(store, clock, tmp_path, exchanges, campaign.seed))
    finally:
        await store.close()
