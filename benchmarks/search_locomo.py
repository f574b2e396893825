"""How well search by words finds the turns that answer a question: recall and rank on the LoCoMo conversations.

    python benchmarks/search_locomo.py locomo10.json          # the table of docs/search.md
    python benchmarks/search_locomo.py locomo10.json --fit    # and the weights, each conversation judged by the others

LoCoMo (Maharana et al., 2024) is not part of this repository. Every conversation is an owner, its sessions are
sessions, and the text of a turn is the speaker's name, the words, and the caption of the picture if there is one.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterglow.search import words
from afterglow.store.search import GROUPS, MATCHES_MAX, Group, Indexed, Stats, group_of
from afterglow.turns import Role

Cut = Callable[[str], list[str]]
Weights = tuple[float, float, float]
Place = tuple[str, int]


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

    def __init__(self, conversation: Conversation, cut: Cut, *, roles: bool) -> None:
        self.turns: dict[Place, Indexed] = {}
        for age, ((session, seq), (speaker, text)) in enumerate(conversation.turns.items()):
            role: Role = "assistant" if roles and speaker != conversation.first_speaker else "user"
            self.turns[session, seq] = Indexed(session=session, seq=seq, role=role, at_us=age, terms=tuple(cut(text)))
        self._holding: dict[str, list[Indexed]] = defaultdict(list)
        for turn in self.turns.values():
            for term in dict.fromkeys(turn.terms):
                self._holding[term].append(turn)
        self._turns: Counter[Group] = Counter()
        self._terms: Counter[Group] = Counter()
        self._session_terms: Counter[str] = Counter()
        for turn in self.turns.values():
            self._turns[group_of(turn.role)] += 1
            self._terms[group_of(turn.role)] += len(turn.terms)
            self._session_terms[turn.session] += len(turn.terms)

    def candidates(self, query: list[str]) -> list[Indexed]:
        matches = [turn for term in query for turn in self._holding[term][-MATCHES_MAX:]]
        places = {(turn.session, turn.seq + step) for turn in matches for step in (-1, 0, 1)}
        return [self.turns[place] for place in places if place in self.turns]

    def stats(self, query: list[str]) -> Stats:
        holding = {
            (group, term): sum(group_of(turn.role) == group for turn in self._holding[term])
            for group in GROUPS
            for term in query
        }
        return Stats(
            turns=self._turns,
            terms=self._terms,
            holding=holding,
            sessions=len(self._session_terms),
            session_terms=self._session_terms,
        )


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


Ranked = tuple[Question, list[words.Scored]]


def ranked(conversation: Conversation, cut: Cut, *, roles: bool = False) -> Iterator[Ranked]:
    """All that is found for each question; the parts of a score do not depend on the weights."""
    index = Index(conversation, cut, roles=roles)
    for question in conversation.questions:
        query = list(dict.fromkeys(cut(question.text)))[: words.QUERY_TERMS_MAX]
        yield question, words.rank(query, index.candidates(query), index.stats(query), len(index.turns))


def figures(results: list[Ranked], weights: Weights) -> tuple[float, float, float]:
    """Recall among the first 5 and the first 10, and the mean of 1 / rank of the first right turn: in percent."""
    at_5 = at_10 = reciprocal = 0.0
    for question, found in results:
        order = sorted(found, key=lambda one: (_weighted(one, weights), one.session, one.seq), reverse=True)
        places = [(one.session, one.seq) for one in order]
        at_5 += len(question.gold & set(places[:5])) / len(question.gold)
        at_10 += len(question.gold & set(places[:10])) / len(question.gold)
        reciprocal += next((1 / place for place, one in enumerate(places, 1) if one in question.gold), 0.0)
    return 100 * at_5 / len(results), 100 * at_10 / len(results), 100 * reciprocal / len(results)


def _weighted(one: words.Scored, weights: Weights) -> float:
    return one.by_turn * weights[0] + one.by_pair * weights[1] + one.by_session * weights[2]


def fit(conversations: list[list[Ranked]]) -> Iterator[tuple[Weights, tuple[float, float, float]]]:
    """For each conversation the weights that suit the others best, and what they give on it."""
    twentieths = [(turn, pair, 20 - turn - pair) for turn in range(3, 12) for pair in range(3, 12)]
    grid: list[Weights] = [(a / 20, b / 20, c / 20) for a, b, c in twentieths if c >= 0]
    table = {weights: [figures(results, weights) for results in conversations] for weights in grid}
    for left_out, results in enumerate(conversations):
        others = [number for number in range(len(conversations)) if number != left_out]
        best = max(grid, key=lambda weights: sum(sum(table[weights][number]) for number in others))
        yield best, figures(results, best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a LoCoMo file, such as locomo10.json")
    parser.add_argument(
        "--fit", action="store_true", help="find the weights too, leaving one conversation out each time"
    )
    given = parser.parse_args()
    conversations = read(given.path)
    print(f"{len(conversations)} conversations, {sum(len(one.questions) for one in conversations)} questions\n")

    def gather(cut: Cut, *, roles: bool = False) -> list[list[Ranked]]:
        return [list(ranked(one, cut, roles=roles)) for one in conversations]

    as_shipped = gather(words.terms)
    rows: list[tuple[str, list[list[Ranked]], Weights]] = [
        ("BM25 on turns, words as they are", gather(plain), (1, 0, 0)),
        ("with stems, without stop words", as_shipped, (1, 0, 0)),
        ("the turn with the one before it", as_shipped, (0, 1, 0)),
        ("turn, pair and session, as shipped", as_shipped, words.WEIGHTS),
        ("the same, second speaker as the assistant", gather(words.terms, roles=True), words.WEIGHTS),
    ]
    print("| method | R@5 | R@10 | MRR |\n|---|---|---|---|")
    for name, results, weights in rows:
        at_5, at_10, reciprocal = figures([one for each in results for one in each], weights)
        print(f"| {name} | {at_5:.1f} | {at_10:.1f} | {reciprocal:.1f} |")
    if given.fit:
        fitted = list(fit(as_shipped))
        counts = [len(one.questions) for one in conversations]
        means = [
            sum(got[part] * n for (_, got), n in zip(fitted, counts, strict=True)) / sum(counts) for part in range(3)
        ]
        print(f"\nleave one conversation out: R@5 {means[0]:.1f}, R@10 {means[1]:.1f}, MRR {means[2]:.1f}")
        print("weights:", *(weights for weights, _ in fitted))


if __name__ == "__main__":
    main()
