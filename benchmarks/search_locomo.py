"""How well search finds the turns that answer a question: recall and rank on the LoCoMo conversations.

    python -m benchmarks.search_locomo locomo10.json          # the tables of docs/search.md
    python -m benchmarks.search_locomo locomo10.json --fit    # and the weights, each conversation judged by the others

LoCoMo (Maharana et al., 2024) is not part of this repository. Every conversation is an owner, its sessions are
sessions, and the text of a turn is the speaker's name, the words, and the caption of the picture if there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from afterglow.clock import SystemClock
from afterglow.memory import Memory
from afterglow.search import joined, words
from afterglow.search.embedders import Embedder, chosen
from afterglow.search.joined import Ranked, join
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import FOLLOWED, NEAR_READ, memory_search
from afterglow.search.signs import cosines, packed
from afterglow.search.vectors import Vectors
from afterglow.settings import Settings
from afterglow.store.search import GROUPS, MATCHES_MAX, Group, Indexed, Matches, Stats, group_of
from afterglow.store.sqlite import SQLiteStore
from afterglow.terms import QUERY_TERMS_MAX, terms
from afterglow.turns import Binding, Role
from afterglow.work import Limits
from afterglow.worker import Worker
from benchmarks import environment, save

ANA = Binding(agent="kate", channel="web", sender="ana")
Cut = Callable[[str], list[str]]
Place = tuple[str, int]
Order = Callable[["Asked"], list[Place]]
"""What a method gives for a question: places, the best first."""


@dataclass(frozen=True, kw_only=True)
class Question:
    text: str
    gold: frozenset[Place]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    turns: dict[Place, tuple[str, str]]
    """Speaker and text."""
    first_speaker: str
    questions: list[Question]


class Index:
    """One owner's index, in memory, giving what a store gives."""

    def __init__(
        self, conversation: Conversation, cut: Cut, vectors: Mapping[str, bytes], *, roles: bool = False
    ) -> None:
        self.turns: dict[Place, Indexed] = {}
        self.vectors: dict[Place, bytes] = {}
        for age, ((session, seq), (speaker, text)) in enumerate(conversation.turns.items()):
            role: Role = "assistant" if roles and speaker != conversation.first_speaker else "user"
            held = tuple(cut(text))
            self.turns[session, seq] = Indexed(session=session, seq=seq, role=role, at_us=age, terms=held, id=age)
            self.vectors[session, seq] = vectors[text]
        self._holding: dict[tuple[Group, str], list[Indexed]] = defaultdict(list)
        self._turns: Counter[Group] = Counter()
        self._terms: Counter[Group] = Counter()
        self._session_terms: Counter[str] = Counter()
        for turn in self.turns.values():
            group = group_of(turn.role)
            for term in dict.fromkeys(turn.terms):
                self._holding[group, term].append(turn)
            self._turns[group] += 1
            self._terms[group] += len(turn.terms)
            self._session_terms[turn.session] += len(turn.terms)

    def matches(self, query: list[str]) -> Matches:
        stats = Stats(
            turns=self._turns,
            terms=self._terms,
            holding={(group, term): len(self._holding[group, term]) for group in GROUPS for term in query},
            sessions=len(self._session_terms),
            session_terms=self._session_terms,
        )
        found: dict[Place, Indexed] = {}
        for group in GROUPS:
            mine: dict[Place, Indexed] = {}
            for term in sorted(query, key=lambda term: len(self._holding[group, term])):
                room = MATCHES_MAX - len(mine)
                mine |= {(turn.session, turn.seq): turn for turn in self._holding[group, term][-room:] if room}
            found |= mine
        for session, seq in words.best_alone(words.Scoring(query, stats), list(found.values()), FOLLOWED):
            if (session, seq + 1) in self.turns:
                found[session, seq + 1] = self.turns[session, seq + 1]
        return Matches(turns=list(found.values()), stats=stats, records=[], record_stats={})

    def near(self, cosine: Mapping[Place, float], matches: Matches) -> tuple[Matches, dict[int, float]]:
        """The matches together with what lies nearest, and how near all of it is."""
        nearest = sorted(cosine, key=lambda place: -cosine[place])[:NEAR_READ]
        turns = [*matches.turns, *(self.turns[place] for place in nearest)]
        return replace(matches, turns=turns), {turn.id: cosine[turn.session, turn.seq] for turn in turns}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with all that methods order by."""

    question: Question
    query: list[str]
    plain: list[str]
    conversation: Conversation
    matches: Matches
    near: tuple[Matches, Mapping[int, float]]
    cosine: Mapping[Place, float]
    near_by_roles: tuple[Matches, Mapping[int, float]]


def read(path: Path) -> list[Conversation]:
    return [_conversation(sample) for sample in json.loads(path.read_text())]


def _conversation(sample: dict[str, Any]) -> Conversation:
    said = sample["conversation"]
    turns: dict[Place, tuple[str, str]] = {}
    places: dict[str, Place] = {}
    numbers = sorted(int(match[1]) for key in said if (match := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        for seq, turn in enumerate(said[f"session_{number}"], 1):
            place = (f"{number:03}", seq)
            text = f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption') or ''}"
            turns[place] = (turn["speaker"], text)
            places[turn["dia_id"]] = place
    questions: list[Question] = []
    for asked in sample["qa"]:
        named = {name for evidence in asked.get("evidence", []) for name in re.split(r"[;,\s]+", evidence)}
        gold = frozenset(places[name] for name in named if name in places)
        if gold:
            questions.append(Question(text=asked["question"], gold=gold))
    return Conversation(turns=turns, first_speaker=said["speaker_a"], questions=questions)


def plain(text: str) -> list[str]:
    """Words as they are: no stems, no stop words."""
    return re.findall(r"\w+", text.lower())


def asked(conversation: Conversation, vectors: Mapping[str, bytes]) -> Iterator[Asked]:
    index, roles = Index(conversation, terms, vectors), Index(conversation, terms, vectors, roles=True)
    places = list(index.vectors)
    held = [index.vectors[place] for place in places]
    for question in conversation.questions:
        query = list(dict.fromkeys(terms(question.text)))[:QUERY_TERMS_MAX]
        asked = np.frombuffer(vectors[question.text], dtype=np.int8).astype(np.float32)
        cosine = dict(zip(places, cosines(asked, held), strict=True))  # pyright: ignore[reportArgumentType]
        matches = index.matches(query)
        yield Asked(
            question=question,
            query=query,
            plain=plain(question.text),
            conversation=conversation,
            matches=matches,
            near=index.near(cosine, matches),
            cosine=cosine,
            near_by_roles=roles.near(cosine, roles.matches(query)),
        )


# Methods


class FTS5:
    """SQLite's own search as it comes."""

    def __init__(self) -> None:
        self._made: dict[int, sqlite3.Connection] = {}

    def __call__(self, asked: Asked) -> list[Place]:
        connection = self._made.get(id(asked.conversation)) or self._index(asked.conversation)
        either = " OR ".join(f'"{word}"' for word in dict.fromkeys(asked.plain))
        rows = connection.execute("SELECT session, seq FROM t WHERE t MATCH ? ORDER BY rank", (either,))
        return [(session, int(seq)) for session, seq in rows]

    def _index(self, conversation: Conversation) -> sqlite3.Connection:
        connection = self._made[id(conversation)] = sqlite3.connect(":memory:")
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, session UNINDEXED, seq UNINDEXED)")
        rows = [(text, *place) for place, (_, text) in conversation.turns.items()]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        return connection


def by_turn(asked: Asked) -> list[Place]:
    """BM25 with stems and without stop words."""
    found = words.rank(asked.query, asked.matches.turns, asked.matches.stats, 10_000, weights=(1, 0, 0))
    return [(one.session, one.seq) for one in found if one.score]


def by_vector(asked: Asked) -> list[Place]:
    return sorted(asked.cosine, key=lambda place: -asked.cosine[place])


def by_ranks(asked: Asked) -> list[Place]:
    """Reciprocal ranks of the two above, added with the usual 60."""
    score: Counter[Place] = Counter()
    for order in (by_turn(asked), by_vector(asked)):
        for rank, place in enumerate(order, 1):
            score[place] += 1 / (60 + rank)  # pyright: ignore[reportArgumentType]
    return [place for place, _ in score.most_common()]


def by_words(asked: Asked) -> list[Place]:
    """Three granularities."""
    return _places(join(asked.query, asked.matches, {}, 10_000))


def as_shipped(asked: Asked) -> list[Place]:
    return _places(join(asked.query, *asked.near, 10_000))


def with_roles(asked: Asked) -> list[Place]:
    return _places(join(asked.query, *asked.near_by_roles, 10_000))


def _places(ranked: list[Ranked]) -> list[Place]:
    return [(one.place, one.seq) for one in ranked]


METHODS: dict[str, Order] = {
    "SQLite FTS5 as it comes": FTS5(),
    "BM25 with stems, without stop words": by_turn,
    "vectors alone": by_vector,
    "these two, reciprocal ranks": by_ranks,
    "turn, pair and session by words": by_words,
    "and meaning: as shipped": as_shipped,
    "the same, second speaker as the assistant": with_roles,
}


# Through the front door

SHOWN = 50


async def in_a_store(conversations: list[Conversation], embedder: Embedder) -> list[Order]:
    """For each conversation what `memory_search` gives, with the conversation in a SQLite store of its own."""
    return [await _in_a_store(each, embedder) for each in conversations]


async def _in_a_store(conversation: Conversation, embedder: Embedder) -> Order:
    """All questions are asked here; the order that is given back only repeats what was answered."""
    with tempfile.TemporaryDirectory() as folder:
        store = await SQLiteStore.open(Path(folder) / "afterglow.db", SystemClock())
        memory = Memory(store, Settings(data_dir=Path(folder)), environ={})
        for (session, _), (_, text) in conversation.turns.items():
            await memory.append(ANA, "user", text, session=session)
        vectors = Vectors(store, embedder)
        await store.use_embedder(embedder.name)
        await store.sweep_vectors()
        await Worker(store, {"vectors": vectors.act}, holder="benchmark", limits=Limits()).drain()
        meaning = Meaning(store, embedder, lambda _: None)
        answers: dict[str, list[Place]] = {}
        for question in conversation.questions:
            found = await memory_search(store, meaning, ANA.owner, question.text, kinds=("turn",), limit=SHOWN)
            assert found.by_meaning, "its vectors are there"
            answers[question.text] = [(hit.session, hit.seq) for hit in found.hits]
        await store.close()
    return lambda asked: answers[asked.question.text]


# Figures

Figures = tuple[float, float, float]


def figures(questions: list[Asked], order: Order) -> Figures:
    """Recall among the first 5 and the first 10, and the mean of 1 / rank of the first right turn: in percent."""
    got = [_figures(each.question.gold, order(each)) for each in questions]
    at_5, at_10, reciprocal = (100 * mean(column) for column in zip(*got, strict=True))
    return at_5, at_10, reciprocal


def _figures(gold: frozenset[Place], places: list[Place]) -> Figures:
    return (
        len(gold & set(places[:5])) / len(gold),
        len(gold & set(places[:10])) / len(gold),
        next((1 / rank for rank, place in enumerate(places, 1) if place in gold), 0.0),
    )


def fit(conversations: list[list[Asked]]) -> Iterator[tuple[float, Figures]]:
    """For each conversation the weight of meaning that suits the others best, and what it gives on it."""
    grid = [number / 20 for number in range(13)]

    def weighted(weight: float) -> Order:
        return lambda asked: _places(join(asked.query, *asked.near, 10_000, meaning=weight))

    scores = {weight: [figures(one, weighted(weight)) for one in conversations] for weight in grid}
    for left_out in range(len(conversations)):
        others = [number for number in range(len(conversations)) if number != left_out]
        best = max(grid, key=lambda weight: sum(sum(scores[weight][number]) for number in others))
        yield best, scores[best][left_out]


async def embedded(embedder: Embedder, conversations: list[Conversation]) -> dict[str, bytes]:
    said = [text for one in conversations for _, text in one.turns.values()]
    said += [question.text for one in conversations for question in one.questions]
    every = list(dict.fromkeys(said))
    vectors: list[bytes] = []
    for first in range(0, len(every), 64):
        vectors += packed(await embedder.embed(every[first : first + 64]))
    return dict(zip(every, vectors, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a LoCoMo file, such as locomo10.json")
    parser.add_argument("--fit", action="store_true", help="find the weight of meaning too, leaving one out each time")
    given = parser.parse_args()
    conversations = read(given.path)
    embedder = chosen("auto", environ={}, base_url=None, clock=SystemClock())
    assert embedder is not None, "pip install 'afterglow[meaning]'"
    vectors = asyncio.run(embedded(embedder, conversations))
    questions = [list(asked(one, vectors)) for one in conversations]
    every = [each for one in questions for each in one]
    print(f"{len(conversations)} conversations, {len(every)} questions, {embedder.name}\n")
    print("| method | R@5 | R@10 | MRR |\n|---|---:|---:|---:|")
    found: dict[str, Any] = {}
    for name, order in METHODS.items():
        at_5, at_10, reciprocal = found[name] = [round(one, 1) for one in figures(every, order)]
        print(f"| {name} | {at_5:.1f} | {at_10:.1f} | {reciprocal:.1f} |")
    through = dict(zip(map(id, conversations), asyncio.run(in_a_store(conversations, embedder)), strict=True))
    name = f"as shipped, through a store; the first {SHOWN}"
    at_5, at_10, reciprocal = found[name] = [
        round(one, 1) for one in figures(every, lambda asked: through[id(asked.conversation)](asked))
    ]
    print(f"| {name} | {at_5:.1f} | {at_10:.1f} | {reciprocal:.1f} |")
    if given.fit:
        fitted = list(fit(questions))
        counts = [len(one) for one in questions]
        means = [
            sum(got[part] * n for (_, got), n in zip(fitted, counts, strict=True)) / sum(counts) for part in range(3)
        ]
        found["leaving one conversation out"] = [round(one, 1) for one in means]
        found["weights of meaning"] = [weight for weight, _ in fitted]
        print(f"\nleave one conversation out: R@5 {means[0]:.1f}, R@10 {means[1]:.1f}, MRR {means[2]:.1f}")
        print("weights of meaning:", *(weight for weight, _ in fitted), "shipped:", joined.MEANING)
    about = {"conversations": len(conversations), "questions": len(every), "embedder": embedder.name}
    save("search_locomo", {"environment": environment("numpy"), **about, "R@5, R@10, MRR": found})


if __name__ == "__main__":
    main()
