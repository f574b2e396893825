"""What a real model's facts are worth: how many it claims, how many hold, and how much of a dialogue they cover.

    llama-server -m model.gguf --port 8902                           # or any OpenAI-compatible server
    python -m benchmarks.facts --data locomo10.json --base-url http://127.0.0.1:8902/v1 --model local

Sessions of LoCoMo (which is yours to fetch) are read twice, the second time from the beginning. Counted are the claims, those
that were kept, why the others were not, in how many every quote stands in its turn and most of the words in the turns that are
quoted, which share of what LoCoMo's annotators observed has a fact drawn from one of the same turns, and how many facts the
second reading left doubled: two active ones of the same turn with most of their words in common. All of it is counted here,
by other code than that which checked and compared. Whether a fact is true only a person can say: each one that was kept is
printed and saved with its quotes, and `is_true` beside it is yours to fill in.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

from afterglow.extraction import Outcome
from afterglow.facts import Fact
from afterglow.memory import Memory, open_memory
from afterglow.model.choice import choose
from afterglow.settings import Settings
from afterglow.turns import Binding, Session
from benchmarks import environment, save, table

SESSIONS = (("conv-26", 1), ("conv-30", 1), ("conv-41", 1))
DEADLINE_SECONDS = 900
SECONDS_BETWEEN_TURNS = 20
PART_TOKENS = 300
"""A small model overlooks most of what is more than half a dozen turns."""
WORDED_MIN = 0.5
DOUBLED_MIN = 0.6


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    name: str
    at: datetime
    turns: list[tuple[str, str, str]]
    """Name in the data, speaker, words."""
    observed: list[str]
    """For each observation, the turn it was drawn from."""

    @property
    def binding(self) -> Binding:
        return Binding(agent="bench", channel="chat", sender=self.name)


def dialogues(data: Sequence[dict[str, Any]], wanted: Sequence[tuple[str, int]]) -> Iterator[Dialogue]:
    by_name = {each["sample_id"]: each for each in data}
    for sample, number in [each for each in wanted if each[0] in by_name] or [(name, 1) for name in list(by_name)[:3]]:
        talk, observed = by_name[sample]["conversation"], by_name[sample]["observation"]
        said = talk[f"session_{number}"]
        yield Dialogue(
            name=f"{sample}/{number}",
            at=datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
            turns=[(turn["dia_id"], turn["speaker"], turn["text"]) for turn in said],
            observed=[
                place
                for about in observed[f"session_{number}_observation"].values()
                for _, places in about
                for place in ([places] if isinstance(places, str) else places)
            ],
        )


async def written(memory: Memory, dialogue: Dialogue) -> Session:
    """The dialogue in the log: who speaks first is the owner, the other one the assistant."""
    first = dialogue.turns[0][1]
    for number, (_, speaker, words) in enumerate(dialogue.turns):
        role = "user" if speaker == first else "assistant"
        at = dialogue.at + timedelta(seconds=number * SECONDS_BETWEEN_TURNS)
        await memory.append(dialogue.binding, role, f"{speaker}: {words}", session="talk", at=at)
    return await memory.session("talk", owner=dialogue.binding.owner)


async def measure(memory: Memory, dialogue: Dialogue) -> dict[str, Any]:
    session = await written(memory, dialogue)
    once = await memory.facts.extract(session)
    kept = await memory.facts.list(session.owner, status=None, limit=500)
    twice = await memory.facts.extract(session, anew=True)
    after = await memory.facts.list(session.owner, status=None, limit=500)
    return {
        "turns": len(dialogue.turns),
        "first": told(once),
        "second": told(twice),
        "facts": len(kept),
        "pending": sum(fact.status == "pending" for fact in kept),
        "quoted": sum(is_quoted(fact, dialogue) for fact in after),
        "worded": sum(is_worded(fact, dialogue) for fact in after),
        "after_second": len(after),
        "doubled": len(doubled([fact for fact in after if fact.status == "active"])),
        "observed": len(dialogue.observed),
        "covered": covered(kept, dialogue),
        "kept": [to_label(fact) for fact in after],
    }


def told(outcome: Outcome) -> dict[str, Any]:
    dropped = {why: count for why, count in outcome.dropped.items() if count}
    return {"claimed": outcome.claimed, "stored": outcome.stored, "again": outcome.again, "dropped": dropped}


def to_label(fact: Fact) -> dict[str, Any]:
    """A fact as a person judges it: what it says, and what it rests on."""
    quotes = [{"turn": proof.seq, "quote": proof.quote, "proves": proof.proves} for proof in fact.evidence]
    return {"content": fact.content, "status": fact.status, "quotes": quotes, "is_true": None}


def is_quoted(fact: Fact, dialogue: Dialogue) -> bool:
    """Whether every quote stands in the words of the data's own turn."""
    return bool(fact.evidence) and all(
        bare(proof.quote) in bare(spoken(proof.seq, dialogue)) for proof in fact.evidence
    )


def is_worded(fact: Fact, dialogue: Dialogue) -> bool:
    """Whether most of its words stand in the turns it quotes, in whatever form: that far a proof can be counted."""
    said = words(" ".join(spoken(proof.seq, dialogue) for proof in fact.evidence))
    wanted = words(fact.content)
    return len(wanted & said) >= WORDED_MIN * len(wanted)


def spoken(seq: int, dialogue: Dialogue) -> str:
    return ": ".join(dialogue.turns[seq - 1][1:])


def bare(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def words(text: str) -> set[str]:
    """The beginnings of the longer words, and the numbers."""
    return {word[:5] for word in re.findall(r"[^\W\d_]{4,}|\d+", text.lower())} - {
        "user",
        "assis",
        "that",
        "with",
        "they",
    }


def doubled(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """Pairs of one turn with most of their words in common."""
    return [(one.content, other.content) for one, other in combinations(facts, 2) if is_double(one, other)]


def is_double(one: Fact, other: Fact) -> bool:
    turns = [{(proof.session, proof.seq) for proof in fact.evidence if proof.proves} for fact in (one, other)]
    here, there = words(one.content), words(other.content)
    return bool(turns[0] & turns[1]) and len(here & there) >= DOUBLED_MIN * max(1, len(here | there))


def covered(facts: Sequence[Fact], dialogue: Dialogue) -> int:
    places = {dialogue.turns[proof.seq - 1][0] for fact in facts for proof in fact.evidence}
    return sum(place in places for place in dialogue.observed)


async def run(given: argparse.Namespace) -> dict[str, Any]:
    model = choose(f"openai:{given.model}", environ={"OPENAI_API_KEY": "none"}, base_url=given.base_url)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        chosen = Settings.model_validate(
            {
                "data_dir": folder,
                "zone": "UTC",
                "compaction": {"deadline_seconds": DEADLINE_SECONDS},
                "facts": {"part_tokens": PART_TOKENS},
            }
        )
        async with open_memory(chosen, model=model) as memory:
            for dialogue in dialogues(json.loads(given.data.read_text()), SESSIONS):
                print(f"{dialogue.name} …", file=sys.stderr, flush=True)
                found[dialogue.name] = await measure(memory, dialogue)
    return {"environment": environment(), "model": given.model, "sessions": found}


def report(figures: dict[str, Any]) -> str:
    rows = [
        (
            name,
            one["turns"],
            one["first"]["claimed"],
            one["facts"],
            one["pending"],
            f"{one['quoted']} of {one['after_second']}",
            f"{one['worded']} of {one['after_second']}",
            f"{one['covered']} of {one['observed']}",
            one["after_second"] - one["facts"],
            one["doubled"],
        )
        for name, one in figures["sessions"].items()
    ]
    heads = (
        "session",
        "turns",
        "claimed",
        "kept",
        "pending",
        "quoted",
        "worded",
        "observations",
        "new in 2nd",
        "doubled",
    )
    dropped: Counter[str] = Counter()
    for one in figures["sessions"].values():
        dropped.update(one["first"]["dropped"])
    why = "\n".join(f"{count:4} {reason}" for reason, count in dropped.most_common())
    kept = "\n".join(
        f"[{name}] {fact['content']}\n" + "\n".join(f"      {each['turn']}: {each['quote']}" for each in fact["quotes"])
        for name, one in figures["sessions"].items()
        for fact in one["kept"]
    )
    return f"{table(heads, rows)}\n\nNot kept in the first reading:\n{why}\n\nKept, to be judged by a person:\n{kept}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    figures = asyncio.run(run(parser.parse_args()))
    print(report(figures))
    save("facts", figures)


if __name__ == "__main__":
    main()
