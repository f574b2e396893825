"""What a real model's summaries keep of real dialogues: Afterglow's blocks beside one running summary of the same size.

    llama-server -m model.gguf --port 8902                           # or any OpenAI-compatible server
    python -m benchmarks.quality --data locomo10.json --base-url http://127.0.0.1:8902/v1 --model local

Both are made by the same model from the same turns at the same moments. The running summary is what most do: the old summary
and the new turns make the new summary. It may be as large as all of Afterglow's blocks together at that moment.

Counted are the names, numbers and dates of the turns that were folded: how many of them stand in the blocks or in the
summary; and the words of what LoCoMo's annotators noted about those turns. Afterglow puts identifiers that the model forgot
behind a summary (`Named: …`), so the blocks are counted with those lines and without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any
from zoneinfo import ZoneInfo

from afterglow.compaction import Block
from afterglow.memory import open_memory
from afterglow.model import Model, Request
from afterglow.model.choice import choose
from afterglow.settings import CompactionSettings, Settings
from afterglow.tokens import estimate
from afterglow.transcript import transcript
from afterglow.turns import Binding, Role, Turn
from benchmarks import environment, save, table
from benchmarks.quality_score import KINDS, Said, score

TURNS = 70
SECONDS_BETWEEN_TURNS = 20
DEADLINE_SECONDS = 900
WORDS_A_TOKEN = 0.75
BINDING = Binding(agent="bench", channel="chat", sender="ana")

RUNNING = """
You keep the memory of a conversation between a user and an assistant. You are given your summary so far, if there is one, and
the turns that followed. Later the assistant will see your new summary instead of both. Write it in at most {words} words, in
plain sentences. Keep names, numbers and dates exactly. Answer with the new summary and nothing else.
""".strip()

_ADDED = re.compile(r"^(?:Named|Asked): .*$", re.MULTILINE)


@dataclass(kw_only=True)
class Running:
    """One summary, written anew from itself and the new turns."""

    model: Model
    text: str = ""
    folded_to: int = 0
    calls: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    async def fold(self, turns: Sequence[Turn], tokens_max: int) -> None:
        material = transcript(turns, ZoneInfo("UTC"))
        if self.text:
            material = f"Summary so far:\n{self.text}\n\nTurns that followed:\n{material}"
        done = await self.model.complete(
            Request(
                purpose="fold",
                instructions=RUNNING.format(words=int(tokens_max * WORDS_A_TOKEN)),
                material=material,
                tokens_max=3 * tokens_max,  # an answer that is cut off would be lost; this one is cut to size below
                deadline_seconds=DEADLINE_SECONDS,
            )
        )
        self.text, self.folded_to = cut_to(done.text, tokens_max), turns[-1].seq
        self.calls.append((done.usage.input_tokens, done.usage.output_tokens))


def cut_to(text: str, tokens_max: int) -> str:
    """As much of the beginning of a text as so many tokens hold."""
    words = text.split(" ")
    while estimate(" ".join(words)) > tokens_max:
        words = words[: len(words) * tokens_max // estimate(" ".join(words))]
    return " ".join(words)


def dialogue(sample: dict[str, Any], turns: int) -> list[Said]:
    """The beginning of one conversation of LoCoMo; the first speaker is the user."""
    conversation, noted = sample["conversation"], notes(sample["observation"])
    said: list[Said] = []
    for number in sorted(int(match[1]) for key in conversation if (match := re.fullmatch(r"session_(\d+)", key))):
        start = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for place, turn in enumerate(conversation[f"session_{number}"]):
            role: Role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
            at = start.replace(tzinfo=UTC) + timedelta(seconds=place * SECONDS_BETWEEN_TURNS)
            said.append(Said(role=role, text=turn["text"], at=at, noted=tuple(noted.get(turn["dia_id"], ()))))
    return said[:turns]


def notes(observations: dict[str, Any]) -> dict[str, list[str]]:
    """What the annotators noted, by the turn that says it; where it is several, by the last."""
    found: dict[str, list[str]] = {}
    for by_speaker in observations.values():
        for text, turns in (note for of_speaker in by_speaker.values() for note in of_speaker):
            found.setdefault(turns if isinstance(turns, str) else turns[-1], []).append(text)
    return found


async def compare(said: Sequence[Said], model: Model, settings: Settings) -> AsyncGenerator[dict[str, Any]]:
    """Both ways over one dialogue; after every compaction both are scored, and what is known so far is given."""
    running, moments = Running(model=model), list[dict[str, Any]]()
    async with open_memory(settings, model=model) as memory:
        for each in said:
            await memory.append(BINDING, each.role, each.text, at=each.at)
            await memory.settle()
            session = await memory.open_session(BINDING)
            blocks = await memory.blocks(session)
            shown = [block for block in blocks if block.shown_until is None]
            folded_to = max((block.last_seq for block in shown), default=0)
            if folded_to <= running.folded_to:
                continue
            turns = await memory.turns(session, first_seq=running.folded_to + 1, last_seq=folded_to)
            await running.fold(turns, sum(block.tokens for block in shown))
            text = "\n".join(block.text for block in shown)
            ways = {
                "Afterglow": text,
                "Afterglow, the model alone": _ADDED.sub("", text),
                "running summary": running.text,
            }
            scores = {way: score(text, said[:folded_to], said) for way, text in ways.items()}
            moments.append({"folded": folded_to, **scores, "running": running.text})
            yield {
                "moments": moments,
                "tokens_read": tokens_read(blocks, running),
                "blocks": [told(one) for one in blocks],
            }


def tokens_read(blocks: Sequence[Block], running: Running) -> dict[str, int]:
    ours, theirs = sum(block.input_tokens for block in blocks), sum(tokens for tokens, _ in running.calls)
    return {"Afterglow": ours, "running summary": theirs}


def told(block: Block) -> dict[str, Any]:
    span = [block.first_seq, block.last_seq]
    return {"level": block.level, "turns": span, "tokens": block.tokens, "extract": block.extract, "text": block.text}


def summed(results: Iterable[dict[str, Any]]) -> list[tuple[object, ...]]:
    """A row for each way: at the end, and as a mean over all compactions."""
    results = list(results)
    rows: list[tuple[object, ...]] = []
    for way in ("Afterglow", "Afterglow, the model alone", "running summary"):
        last = [result["moments"][-1][way] for result in results]
        all_of_it = [moment[way] for result in results for moment in result["moments"]]
        kinds = [f"{sum(one[kind][0] for one in last)} of {sum(one[kind][1] for one in last)}" for kind in KINDS]
        kept, wanted = (sum(one[key] for one in last) for key in ("kept", "wanted"))
        share = mean(one["kept"] / one["wanted"] for one in all_of_it)
        invented = len({word for one in all_of_it for word in one["invented"]})
        noted = mean(one["noted"] for one in all_of_it)
        tokens = sum(one["tokens"] for one in last)
        rows.append((way, *kinds, f"{kept / wanted:.0%}", f"{share:.0%}", f"{noted:.0%}", tokens, invented))
    return rows


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the file of LoCoMo's conversations")
    parser.add_argument("--base-url", required=True, help="where the model is served")
    parser.add_argument("--model", default="local", help="its name there")
    parser.add_argument("--turns", type=int, default=TURNS, help="how many turns of each dialogue")
    parser.add_argument("--dialogue", action="append", help="its sample_id; may be given again; else the first two")
    parser.add_argument("--texts", type=Path, help="write the summaries themselves to this file, to read them")
    parser.add_argument("--unsaved", action="store_true", help="print only")
    return parser.parse_args()


async def run(given: argparse.Namespace) -> dict[str, Any]:
    """The dialogues one after the other. Each call takes long, so that what is known is saved after each compaction.

    The figures are saved without the texts: those are made from LoCoMo's, which has a licence of its own.
    """
    samples = json.loads(given.data.read_text(encoding="utf-8"))
    chosen = [sample for sample in samples if sample["sample_id"] in given.dialogue] if given.dialogue else samples[:2]
    model = choose(f"openai:{given.model}", environ={"OPENAI_API_KEY": "none"}, base_url=given.base_url)
    results: dict[str, Any] = {}
    for sample in chosen:
        with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
            compaction = CompactionSettings(deadline_seconds=DEADLINE_SECONDS)
            settings = Settings(data_dir=Path(folder), zone="UTC", compaction=compaction)
            async for result in compare(dialogue(sample, given.turns), model, settings):
                results[sample["sample_id"]] = result
                print(f"{sample['sample_id']}: {len(result['moments'])} compactions", file=sys.stderr, flush=True)
                if given.texts:
                    given.texts.write_text(json.dumps(results, indent=2), encoding="utf-8")
                if not given.unsaved:
                    figures = without_texts(results)
                    save("quality", {"environment": environment(), "turns": given.turns, "dialogues": figures})
    return results


def without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_texts(each) for key, each in value.items() if key not in ("text", "running")}
    return [without_texts(each) for each in value] if isinstance(value, list) else value


def main() -> None:
    results = asyncio.run(run(command_line()))
    heads = ("", *KINDS, "kept at the end", "mean", "noted words", "tokens", "invented")
    print(table(heads, summed(results.values())))


if __name__ == "__main__":
    main()
