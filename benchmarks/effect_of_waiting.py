"""Does it pay to let a finished block wait? A simulation of what the chat model's input costs, with nothing else in it.

A block is made after every fifth exchange. It may be shown from the next call on, which makes the provider read the rest of
the text anew. Or it waits, and the turns it covers stay word for word, until the provider's cache is cold anyway, or until a
block is made and the turns have grown over a budget. (To look at the budget before every call is worse: a block is then
shown late, when the turns behind it are many again.) The summariser's work is the same either way.

Fresh input counts 1, a cached prefix 0.1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

from benchmarks import arguments, environment, save, table
from benchmarks.compaction_models import REPLY_TOKENS, USER_TOKENS

EXCHANGES, SEEDS = 500, 20
KEEP_EXCHANGES = 3
FANOUT = 6
BLOCK_BUDGET_TOKENS, BLOCK_TOKENS_MIN = 2000, 60
CACHE_TTL_SECONDS = 300
CACHED_PRICES = (0.1, 0.25, 0.5)
BRIEF_SECONDS, LONG_SECONDS = 20, 20 * 60
LONG_SHARES = {"always 20 s": 0.0, "20 % after 20 min": 0.2, "50 % after 20 min": 0.5}


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of the prompt that is sent as it is or not at all: a turn (level -1), or a block over some exchanges."""

    first: int
    last: int
    level: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    name: str
    interval: int = 5
    tail_tokens: int = 0
    """A block is shown as soon as it is made if the turns are over this; 0: always."""


POLICIES = (
    Policy(name="at once"),
    *(Policy(name=f"wait, turns up to {tokens:,}", tail_tokens=tokens) for tokens in (2500, 4000, 5000, 6000)),
    Policy(name="at once, every 10 exchanges", interval=10),
    Policy(name="at once, every 15 exchanges", interval=15),
)


@dataclass(kw_only=True)
class Blocks:
    """The blocks made so far. `tiers` is what would be shown if everything were shown now."""

    tiers: list[Piece] = field(default_factory=list[Piece])

    def fold(self, last: int) -> None:
        """A new block over the exchanges up to this one; a full level folds into one block of the next."""
        first = self.tiers[-1].last + 1 if self.tiers else 1
        if first > last:
            return
        self.tiers.append(Piece(first=first, last=last, level=0, tokens=self._size()))
        level = 0
        while len(full := [block for block in self.tiers if block.level == level]) == FANOUT:
            level += 1
            self.tiers = [block for block in self.tiers if block not in full]
            size = self._size(level)
            self.tiers.append(Piece(first=full[0].first, last=full[-1].last, level=level, tokens=size))

    def _size(self, level: int = 0) -> int:
        levels = 1 + max([level, *(block.level for block in self.tiers)])
        return max(BLOCK_TOKENS_MIN, BLOCK_BUDGET_TOKENS // FANOUT // levels)


def prompts(policy: Policy, gaps: Sequence[float]) -> Iterator[list[Piece]]:
    """What the chat model is sent in each exchange; before each the user thought for so many seconds."""
    made, shown = Blocks(), list[Piece]()
    for exchange, gap in enumerate(gaps, start=1):
        if gap > CACHE_TTL_SECONDS:
            shown = list(made.tiers)
        turns = turns_after(shown, exchange)
        yield [*shown, *turns]
        if exchange % policy.interval == 0:
            made.fold(exchange - KEEP_EXCHANGES)
            if sum(turn.tokens for turn in turns) > policy.tail_tokens:
                shown = list(made.tiers)


def turns_after(shown: Sequence[Piece], exchange: int) -> list[Piece]:
    """The turns word for word: whole exchanges, and the message that is to be answered now."""
    first = shown[-1].last + 1 if shown else 1
    whole = [Piece(first=n, last=n, level=-1, tokens=USER_TOKENS + REPLY_TOKENS) for n in range(first, exchange)]
    return [*whole, Piece(first=exchange, last=exchange, level=-1, tokens=USER_TOKENS)]


def spend(policy: Policy, gaps: Sequence[float]) -> dict[str, float]:
    """The input of the whole conversation, and how large the contexts were. After a long pause nothing is cached."""
    fresh, cached, sizes, last = 0, 0, list[int](), list[Piece]()
    for prompt, gap in zip(prompts(policy, gaps), gaps, strict=True):
        total = sum(piece.tokens for piece in prompt)
        kept = shared(last, prompt) if gap <= CACHE_TTL_SECONDS else 0
        fresh, cached, last = fresh + total - kept, cached + kept, prompt
        sizes.append(total)
    return {"fresh": fresh, "cached": cached, "mean": mean(sizes), "peak": max(sizes)}


def shared(before: Sequence[Piece], after: Sequence[Piece]) -> int:
    """The tokens of the prefix that two prompts have in common; a message stays, once answered, where it stood."""
    kept = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            same_beginning = replace(one, tokens=0) == replace(other, tokens=0)
            return kept + (min(one.tokens, other.tokens) if same_beginning and one.level < 0 else 0)
        kept += one.tokens
    return kept


def gaps(long_share: float, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [LONG_SECONDS if chance.random() < long_share else BRIEF_SECONDS for _ in range(EXCHANGES)]


def simulate(long_share: float) -> dict[str, Any]:
    """Each policy over the same users, and its cost beside showing at once."""
    users = [gaps(long_share, seed) for seed in range(SEEDS if long_share else 1)]
    means = {policy.name: averaged([spend(policy, user) for user in users]) for policy in POLICIES}
    at_once = means[POLICIES[0].name]
    for figures in means.values():
        for price in CACHED_PRICES:
            figures[f"cost, cached {price}"] = round(cost(figures, price))
            figures[f"ratio, cached {price}"] = round(cost(figures, price) / cost(at_once, price), 3)
    return means


def averaged(runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    return {name: round(mean(run[name] for run in runs)) for name in runs[0]}


def cost(figures: dict[str, Any], cached_price: float) -> float:
    return figures["fresh"] + cached_price * figures["cached"]


def report(figures: dict[str, Any]) -> str:
    heads = ("fresh", "cached", "mean context", "peak", "cost", *(f"ratio, cached {price}" for price in CACHED_PRICES))
    tables = [
        table(
            (name, *heads),
            [
                (
                    policy,
                    *(f"{one[way]:,}" for way in ("fresh", "cached", "mean", "peak", "cost, cached 0.1")),
                    *(f"{one[f'ratio, cached {price}']:.3f}" for price in CACHED_PRICES),
                )
                for policy, one in figures[name].items()
            ],
        )
        for name in LONG_SHARES
    ]
    return "\n\n".join(tables)


def main() -> None:
    quick = arguments(__doc__ or "").parse_args().quick
    figures = {name: simulate(share) for name, share in LONG_SHARES.items()}
    print(report(figures))
    if not quick:
        save("effect_of_waiting", {"environment": environment(), "exchanges": EXCHANGES, **figures})


if __name__ == "__main__":
    main()
