"""Long conversations held by Afterglow and by its peers: what they cost, what they keep, and how long the user waits.

500 exchanges of 250 tokens (a token is four characters), with fake models, so that nothing but the candidates differs. Each
runs alone in a process of its own, in three rounds without any delay, for tokens, storage and the work of a turn; and in three
with a summariser of 300 ms, a reply of 60 ms and a user who thinks for 100 ms (about a fiftieth of what people see), for the
wait: the round with the median p99 counts, since a busy host takes the
processors away for a tenth of a second at a time. `p99 left alone` leaves those exchanges out, for all candidates alike.

Cost is counted in tokens of the chat model's fresh input: what follows the prefix that did not change since the call before
counts fully, the prefix a tenth, and the summariser's input and output fully.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any, NamedTuple

from benchmarks import arguments, draw, environment, save, table
from benchmarks.compaction_afterglow import Afterglow
from benchmarks.compaction_models import (
    REPLY_TOKENS,
    TOKEN_CHARS,
    USER_TOKENS,
    Candidate,
    Models,
    Pace,
    numbers_of_details,
    tokens_of,
    user_text,
)
from benchmarks.compaction_peers import PEERS
from benchmarks.pictures import context_over_time

EXCHANGES, QUICK_EXCHANGES, LONG_EXCHANGES = 500, 60, 5000
ROUNDS = 3
EDGE = 50
CACHED_PRICE = 0.1
WAIT_FIGURES = ("ms", "stalls", "disturbed", "summaries")
PACES = {
    "tokens": Pace(),
    "wait": Pace(summary_seconds=0.3, reply_seconds=0.06, think_seconds=0.1),
}
CANDIDATES: dict[str, type[Candidate]] = {candidate.name: candidate for candidate in (Afterglow, *PEERS)}
_INDEX_BYTES = """
    SELECT coalesce(sum(pgsize), 0) FROM dbstat JOIN sqlite_schema USING (name)
    WHERE tbl_name LIKE 'search_%' OR name = 'turns_newest'
"""
"""What search takes in Afterglow: the word index, how far it has come, the terms kept for it, and the order that expressions
are looked for in. No peer can search."""
BAR_TIMES_MAX = 2
IN_PICTURE = ("LangChain, untrimmed", "Pydantic AI, background")


class Wait(NamedTuple):
    """How long an exchange took beyond the reply, and for how long meanwhile the host gave our processors to others."""

    seconds: float
    stolen: float


@dataclass(kw_only=True)
class Prompts:
    """What the prompts of a conversation add up to, and how much of each was a prefix of the one before too."""

    sizes: list[int] = field(default_factory=list[int])
    cached: int = 0
    _last: str = ""

    def add(self, context: Sequence[str]) -> None:
        prompt = "".join(context)
        self.sizes.append(tokens_of(prompt))
        self.cached += tokens_of(prompt[: common_prefix(self._last, prompt)])
        self._last = prompt


def common_prefix(before: str, after: str) -> int:
    """How many characters two texts share from the beginning."""
    shared, end = 0, min(len(before), len(after))
    while shared < end:
        middle = (shared + end + 1) // 2
        if before[shared:middle] == after[shared:middle]:
            shared = middle
        else:
            end = middle - 1
    return shared


async def converse(candidate: Candidate, models: Models, exchanges: int) -> dict[str, Any]:
    """Hold the conversation. Only `exchange` is timed; what is done about the figures, and settling, is not."""
    pace, prompts, waits, samples = models.pace, Prompts(), list[Wait](), list[dict[str, Any]]()
    for number in range(1, exchanges + 1):
        calls, stolen = len(models.calls), stolen_seconds()
        started = time.perf_counter()
        await candidate.exchange(user_text(number))
        seconds = time.perf_counter() - started - pace.reply_seconds
        waits.append(Wait(seconds, stolen=stolen_seconds() - stolen))
        if models.replies != number:
            raise RuntimeError(f"{candidate.name} asked the chat model {models.replies} times in {number} exchanges.")
        prompts.add(models.context)
        await (asyncio.sleep(pace.think_seconds) if pace.think_seconds else candidate.settle())
        parts, tokens = candidate.parts(), prompts.sizes[-1]
        samples.append({"tokens": tokens, "parts": parts, "compactions": len(models.calls) - calls})
    await candidate.settle()
    return {**token_figures(models, prompts), **time_figures(waits, pace), "samples": samples}


def token_figures(models: Models, prompts: Prompts) -> dict[str, Any]:
    details, total = models.details(models.context), sum(prompts.sizes)
    tokens_in, tokens_out = (sum(getattr(call, way) for call in models.calls) for way in ("tokens_in", "tokens_out"))
    cost = total - prompts.cached + CACHED_PRICE * prompts.cached + tokens_in + tokens_out
    return {
        "summaries": len(models.calls),
        "summariser_tokens_in": tokens_in,
        "summariser_tokens_out": tokens_out,
        "summariser_largest_in": max((call.tokens_in for call in models.calls), default=0),
        "prompt_tokens": total,
        "prompt_tokens_uncached": total - prompts.cached,
        "prefix_unchanged": round(prompts.cached / total, 4),
        "context_peak": max(prompts.sizes),
        "context_mean": round(mean(prompts.sizes)),
        "context_final": prompts.sizes[-1],
        "cost": round(cost),
        "details_kept": len(details.rewritings),
        "details_left": len(details.left),
        "cost_per_detail_kept": round(cost / len(details.rewritings), 1),
        "cost_per_detail_left": round(cost / len(details.left), 1),
        "rewritings_max": max(details.rewritings.values()),
        "rewritings_mean": round(mean(details.rewritings.values()), 2),
    }


def time_figures(waits: Sequence[Wait], pace: Pace) -> dict[str, Any]:
    warm = [wait.seconds for wait in waits[1:]]  # the first turn imports and creates
    left_alone = [wait.seconds for wait in waits[1:] if not wait.stolen] or warm
    milliseconds = {
        "first": median(warm[:EDGE]),
        "last": median(warm[-EDGE:]),
        "p50": median(warm),
        "p99": quantiles(warm, n=100, method="inclusive")[98],
        "p99_left_alone": quantiles(left_alone, n=100, method="inclusive")[98],
        "max": max(warm),
    }
    long = median(warm) + 0.9 * pace.summary_seconds
    stalls = sum(wait >= long for wait in warm) if pace.summary_seconds else 0
    disturbed = len(warm) - len(left_alone)
    return {
        "stalls": stalls,
        "disturbed": disturbed,
        "ms": {name: round(1000 * value, 2) for name, value in milliseconds.items()},
    }


async def measure(name: str, pace: Pace, exchanges: int, folder: Path) -> dict[str, Any]:
    models = Models(pace=pace)
    candidate = CANDIDATES[name](models)
    await candidate.open(folder)
    try:
        figures = await converse(candidate, models, exchanges)
    finally:
        await candidate.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {**figures, **stored(folder), "memory_mb": memory}


def stolen_seconds() -> float:
    """How long the host has given processors that we wanted to others, all told; 0 where nobody says."""
    about = Path("/proc/stat")
    return int(about.read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK") if about.exists() else 0.0


def stored(folder: Path) -> dict[str, int]:
    """What a candidate left on the disk, its databases brought to rest, and how many of the user's messages are still in it."""
    found, index_bytes = set[int](), 0
    for file in [file for file in folder.rglob("*") if file.is_file() and file.read_bytes()[:6] == b"SQLite"]:
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        index_bytes += connection.execute(_INDEX_BYTES).fetchone()[0]
        connection.execute("VACUUM INTO ?", (str(copy := file.with_suffix(".vacuumed")),))
        connection.close()
        found |= numbers_of_details(copy.read_bytes())
        copy.unlink()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"stored_bytes": size, "word_index_bytes": index_bytes, "stored_messages": len(found)}


def child(name: str, mode: str, exchanges: int, answer: Path) -> None:
    """One candidate in one mode, in this process; the figures go to a file, since a peer may print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        figures = asyncio.run(measure(name, PACES[mode], exchanges, Path(folder)))
    answer.write_text(json.dumps(figures), encoding="utf-8")


def in_a_process(name: str, mode: str, exchanges: int) -> dict[str, Any]:
    print(f"{name}, {mode} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        answer = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "benchmarks.compaction", "--child", name, mode, str(exchanges), str(answer)]
        subprocess.run(command, check=True)
        return json.loads(answer.read_text(encoding="utf-8"))


def run(names: Sequence[str], exchanges: int, rounds: int) -> dict[str, Any]:
    """The candidates in turns, so that a busy moment of the machine does not meet only one of them."""
    in_rounds, waits = (
        [{name: in_a_process(name, mode, exchanges) for name in names} for _ in range(rounds)] for mode in PACES
    )
    results = {name: together([done[name] for done in in_rounds], [done[name] for done in waits]) for name in names}
    return figures_of(results, exchanges)


def run_long() -> dict[str, Any]:
    """Afterglow alone, ten times as long."""
    one = in_a_process(Afterglow.name, "tokens", LONG_EXCHANGES)
    return figures_of({Afterglow.name: {**one, "wait": {way: one[way] for way in WAIT_FIGURES}}}, LONG_EXCHANGES)


def figures_of(results: dict[str, Any], exchanges: int) -> dict[str, Any]:
    packages = sorted({package for name in results for package in CANDIDATES[name].packages})
    text = exchanges * (USER_TOKENS + REPLY_TOKENS) * TOKEN_CHARS
    return {"environment": environment(*packages), "exchanges": exchanges, "text_bytes": text, "candidates": results}


def together(rounds: Sequence[dict[str, Any]], waits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of one candidate: its tokens are the same in every round, of its times the median counts."""
    costs = {one["cost"] for one in rounds}
    if len(costs) > 1:
        raise RuntimeError(f"The rounds should cost the same, but they cost {sorted(costs)}.")
    wait = {way: sorted(waits, key=lambda one: one["ms"]["p99"])[len(waits) // 2][way] for way in WAIT_FIGURES}
    p99s = [
        {"p99": one["ms"]["p99"], "left_alone": one["ms"]["p99_left_alone"], "disturbed": one["disturbed"]}
        for one in waits
    ]
    return {**rounds[0], "ms": median_times(rounds), "wait": {**wait, "rounds": p99s}}


def median_times(rounds: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {way: median(one["ms"][way] for one in rounds) for way in rounds[0]["ms"]}


def report(figures: dict[str, Any]) -> str:
    candidates: dict[str, Any] = figures["candidates"]
    tokens = [
        (
            name,
            one["summaries"],
            f"{one['summariser_tokens_in']:,}",
            f"{one['summariser_tokens_out']:,}",
            f"{one['context_peak']:,}",
            f"{one['context_mean']:,}",
            f"{one['prefix_unchanged']:.1%}",
            f"{one['cost']:,}",
        )
        for name, one in candidates.items()
    ]
    details = [
        (
            name,
            one["details_kept"],
            one["details_left"],
            one["rewritings_max"],
            one["cost_per_detail_kept"],
            one["cost_per_detail_left"],
        )
        for name, one in candidates.items()
    ]
    times = [
        (
            name,
            *(one["wait"]["ms"][way] for way in ("p50", "p99", "p99_left_alone", "max")),
            one["wait"]["disturbed"],
            one["wait"]["stalls"],
            one["ms"]["first"],
            one["ms"]["last"],
            f"{one['stored_bytes'] / 1e6:.2f}",
            f"{one['word_index_bytes'] / 1e6:.2f}",
            one["stored_messages"],
            one["memory_mb"],
        )
        for name, one in candidates.items()
    ]
    heads = ("tokens", "summaries", "read", "written", "peak context", "mean", "prefix kept", "cost")
    kept = (f"details of {figures['exchanges']}", "kept", "left at 97 %", "most rewritings", "cost each", "each left")
    waits = (
        "ms",
        "wait p50",
        "p99",
        "p99 left alone",
        "max",
        "disturbed",
        "stalls",
        "turn, first 50",
        "last 50",
        "stored MB",
        "of it word index",
        "user's messages in it",
        "memory MB",
    )
    text = f"The conversation's text has {figures['text_bytes'] / 1e6:.2f} MB."
    return "\n\n".join([table(heads, tokens), table(kept, details), table(waits, times), text])


def pictures(figures: dict[str, Any]) -> None:
    candidates: dict[str, Any] = figures["candidates"]
    after = f"after {figures['exchanges']} exchanges"
    costs = {name: one["cost_per_detail_left"] for name, one in candidates.items()}
    left = {name: f"{costs[name]:,.0f}, {one['details_left']} left" for name, one in candidates.items()}
    draw("compaction_cost", f"Cost of each detail left, in tokens, {after}", bars(costs, left))
    sizes = {name: one["stored_bytes"] / 1e6 for name, one in candidates.items()}
    messages = {name: f"{sizes[name]:,.1f} MB, {one['stored_messages']} messages" for name, one in candidates.items()}
    draw("compaction_stored", f"Stored, and the user's messages in it, {after}", bars(sizes, messages))
    waits = {name: one["wait"]["ms"]["p99"] for name, one in candidates.items()}
    shown = {name: f"{wait:,.0f} ms" for name, wait in waits.items()}
    draw("compaction_wait", "Wait in a turn, p99 (a summary takes 300 ms)", bars(waits, shown))
    ours = candidates[Afterglow.name]["samples"]
    peers = {peer: [sample["tokens"] for sample in candidates[peer]["samples"]] for peer in IN_PICTURE}
    context_over_time("compaction_context", "What Afterglow shows the model, and two peers", ours, peers)


def bars(lengths: Mapping[str, float], shown: Mapping[str, str]) -> list[tuple[str, float, str]]:
    """One bar for each candidate. One that would dwarf all others is cut, and says so."""
    longest = BAR_TIMES_MAX * sorted(lengths.values())[-2]
    return [
        (name, min(length, longest), shown[name] + (" (bar cut)" if length > longest else ""))
        for name, length in lengths.items()
    ]


def without_samples(figures: dict[str, Any]) -> dict[str, Any]:
    candidates = {
        name: {key: value for key, value in one.items() if key != "samples"}
        for name, one in figures["candidates"].items()
    }
    return {**figures, "candidates": candidates}


def command_line() -> argparse.Namespace:
    parser = arguments(__doc__ or "")
    parser.add_argument("--only", action="append", choices=list(CANDIDATES), help="this candidate; may be given again")
    parser.add_argument("--long", action="store_true", help=f"Afterglow alone, {LONG_EXCHANGES:,} exchanges")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = command_line()
    if given.child:
        name, mode, exchanges, answer = given.child
        child(name, mode, int(exchanges), Path(answer))
        return
    if given.long:
        figures = run_long()
        print(report(figures))
        save("compaction_long", without_samples(figures))
        return
    exchanges, rounds = (QUICK_EXCHANGES, 1) if given.quick else (EXCHANGES, ROUNDS)
    figures = run(given.only or list(CANDIDATES), exchanges, rounds)
    print(report(figures))
    if not given.quick and not given.only:
        pictures(figures)
        save("compaction", without_samples(figures))


if __name__ == "__main__":
    main()
