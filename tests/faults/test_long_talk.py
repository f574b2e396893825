"""Very long talk of every kind: the context stays within its bound and valid, and every turn is in one place."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.context import Context, Message
from afterglow.conversation import Reply
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Session, tool_calls, tool_results
from tests.kit.records import KATE

EXCHANGES = int(os.environ.get("AFTERGLOW_TEST_EXCHANGES", "1500"))
SEED = int(os.environ.get("AFTERGLOW_TEST_SEED", "0")) or 20260302
LIMIT, BUDGET = 8_000, 2_000


# --- what must be true


def refusable(messages: Sequence[Message]) -> list[str]:
    """What a strict provider would refuse in these messages: its rules, written without our code."""
    found: list[str] = []
    expected: list[str] = []
    if messages and messages[0].role not in ("user", "system"):
        found.append(f"the first message is of role {messages[0].role}")
    for place, message in enumerate(messages):
        if message.role == "tool":
            ids = tool_results(message.parts)
            if len(ids) != 1 or not expected or ids[0] != expected.pop(0):
                found.append(f"message {place} (turn {message.seq}): a result of {ids} without its call before it")
            continue
        if expected:
            found.append(f"message {place} (turn {message.seq}): the calls {expected} before it have no result")
        expected = tool_calls(message.parts)
        if expected and message.role != "assistant":
            found.append(f"message {place} (turn {message.seq}): {message.role} calls tools")
        if message.role == "system" and place:
            found.append(f"message {place} (turn {message.seq}): a system message that is not the first")
    return found + [f"the last calls {expected} have no result"] * bool(expected)


def true_tokens(messages: Sequence[Message]) -> int:
    """What a context takes, counted anew from what is in it."""
    return sum(estimate(message.text) + estimate_parts(message.parts) for message in messages)


async def misplaced(store: Store, session: Session) -> list[str]:
    """Turns that are not in exactly one of block or tail, blocks that do not fit together, counters that are wrong."""
    shown = await store.context_rows(session.owner, session.id, tail_turns=10**6)
    found: list[str] = []
    places = [seq for block in shown.blocks for seq in range(block.first_seq, block.last_seq + 1)]
    places += [turn.seq for turn in shown.tail]
    if places != list(range(1, shown.session.turns + 1)):
        found.append(f"{shown.session.turns} turns are in blocks and tail as {places[:5]} … {places[-5:]}")
    levels = [block.level for block in shown.blocks]
    if levels != sorted(levels, reverse=True):
        found.append(f"older talk is not coarser: {levels}")
    counted, folded = shown.session, shown.session.folded
    if folded.block_tokens != sum(block.tokens for block in shown.blocks):
        found.append("the tokens of the blocks are counted wrong")
    if counted.tail_tokens != sum(turn.tokens for turn in shown.tail):
        found.append("the tokens of the tail are counted wrong")
    every = await store.blocks(session.owner, session.id)
    by_number = {block.number: block for block in every}
    for block in every:
        children = [by_number[number] for number in block.children]
        spans = [(child.first_seq, child.last_seq) for child in children]
        if block.level and (not spans or (spans[0][0], spans[-1][1]) != (block.first_seq, block.last_seq)):
            found.append(f"block {block.number} is not made of its children {spans}")
        if any(child.shown_until is None for child in children):
            found.append(f"block {block.number} and a child of it are both shown")
    replaced = [(block.first_seq, block.last_seq, block.level) for block in every if not block.extract]
    if len(replaced) != len(set(replaced)):
        found.append("two good blocks stand for the same span at the same level")
    return found


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
        """What the user says, and what is answered; None is a failure of whoever answers."""
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


async def talk_and_check(store: Store, clock: FixedClock, folder: Path, count: int, *, ids_again: bool) -> None:
    model = ScriptedModel(summary)
    settings = Settings.model_validate({"data_dir": str(folder), "zone": "UTC"})
    memory = Memory(store, settings, model=model, environ={})
    talker, largest, versions = Talker(SEED, ids_again=ids_again), 0, set[int]()
    for number in range(count):
        text, answer = talker.next()
        session, context = await _one(memory, text, answer)
        where = f"seed {SEED}, exchange {number}"
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
        if number % 500 == 499 or number == count - 1:
            assert await misplaced(store, session) == [], where
    session = await memory.session(session.id, owner=KATE.owner)
    tail = session.turns - session.folded.to_seq
    print(
        f"\n{session.turns} turns, {len(model.requests)} calls, {len(versions)} compactions; tail {tail}; record {largest}"
    )
    assert len(model.requests) <= 1.5 * len(await memory.blocks(session)), "most summaries are good at the first try"
    assert tail < 200, "what could be folded is folded"
    assert largest <= BUDGET, "the record of the past is within the budget of blocks"


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


@pytest.mark.whole
@pytest.mark.spec("CTX-2", "CTX-4", "CTX-6", "CTX-11", "P8")
@pytest.mark.parametrize("ids_again", [False, True], ids=["own-ids", "ids-again"])
async def test_over_ten_thousand_exchanges_the_context_stays_within_its_bound_and_valid(
    tmp_path: Path, clock: FixedClock, ids_again: bool
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock)
    try:
        await talk_and_check(
            store, clock, tmp_path, EXCHANGES if not ids_again else EXCHANGES // 10, ids_again=ids_again
        )
    finally:
        await store.close()


@pytest.mark.whole
@pytest.mark.spec("CTX-6", "CTX-11", "P13")
async def test_over_a_thousand_exchanges_it_is_the_same_on_postgresql(
    tmp_path: Path, clock: FixedClock, postgres_address: str
) -> None:
    store = await PostgresStore.open(postgres_address, clock)
    try:
        await talk_and_check(store, clock, tmp_path, EXCHANGES // 10, ids_again=False)
    finally:
        await store.close()
