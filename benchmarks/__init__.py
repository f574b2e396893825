"""What the benchmarks share: texts to write, measuring in turns, the figures of a run as a table, as JSON and as a picture."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import afterglow
from afterglow.search.words import STOP_WORDS

Act = Callable[[int], Awaitable[object]]
"""Something to measure, done for the caller of this number."""

RESULTS = Path(__file__).parent / "results"
TEXT_CHARS = 200
VOCABULARY = 5000


def arguments(about: str) -> argparse.ArgumentParser:
    """The command line every benchmark has."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short run: smaller, less sure, not saved")
    return parser


def texts(count: int, seed: int = 1) -> list[str]:
    """Texts of about 200 characters: half little words, the rest from 5,000 words, some far more common than others."""
    chance = random.Random(seed)
    little = sorted(STOP_WORDS)
    words = [_word(chance) for _ in range(VOCABULARY)]
    weights = [1 / (rank + 10) for rank in range(VOCABULARY)]
    made: list[str] = []
    for _ in range(count):
        rare = chance.choices(words, weights, k=TEXT_CHARS // 5)
        text = " ".join(word if chance.random() < 0.5 else chance.choice(little) for word in rare)
        made.append(text[:TEXT_CHARS])
    return made


def p50s(run: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: median(times) for name, times in run.items()}


def p95s(run: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: quantiles(times, n=20)[-1] for name, times in run.items()}


async def in_turns(acts: Mapping[str, Act], calls: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(calls):
        for name, act in acts.items():
            started = time.perf_counter()
            await act(0)
            times[name].append((time.perf_counter() - started) * 1e6)
    return times


def compared(runs: list[dict[str, float]], against: str) -> dict[str, Any]:
    """The medians over the rounds, and the medians of each round's ratio to one of the candidates."""
    return {
        "median": {name: round(median(run[name] for run in runs), 1) for name in runs[0]},
        "ratio": {name: round(median(run[name] / run[against] for run in runs), 3) for name in runs[0]},
        "rounds": [{name: round(value, 1) for name, value in run.items()} for run in runs],
    }


def percentiles(runs: list[dict[str, list[float]]], against: str) -> dict[str, Any]:
    return {
        "p50": compared([p50s(run) for run in runs], against),
        "p95": compared([p95s(run) for run in runs], against),
    }


def environment(*packages: str) -> dict[str, Any]:
    """What the figures depend on, and nothing that names the machine."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "afterglow": afterglow.__version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        **{package: _version(package) for package in packages},
    }


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain table, the first column to the left and the others to the right."""
    cells = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    lines = [
        "  ".join(f"{cell:{'<' if not place else '>'}{widths[place]}}" for place, cell in enumerate(row))
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def save(name: str, figures: dict[str, Any]) -> None:
    """Keep the figures of a full run."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def draw(name: str, title: str, bars: Sequence[tuple[str, float, str]]) -> None:
    """A picture of labelled bars, (label, length, figure), that reads on light and on dark."""
    longest = max(length for _, length, _ in bars)
    rows = "".join(
        f'<text class="label" x="200" y="{y + 16}">{escape(label)}</text>'
        f'<rect class="{"ours" if label.startswith("Afterglow") else "theirs"}" x="210" y="{y}" '
        f'width="{max(2, 330 * length / longest):.0f}" height="22" rx="3"/>'
        f'<text x="{218 + max(2, 330 * length / longest):.0f}" y="{y + 16}">{escape(figure)}</text>'
        for y, (label, length, figure) in zip(range(44, 44 + 32 * len(bars), 32), bars, strict=True)
    )
    height, width = 52 + 32 * len(bars), max(660, 560 + max(7 * len(figure) for _, _, figure in bars))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">{_STYLE}<text class="title" x="10" y="24">{escape(title)}</text>'
        f"{rows}</svg>\n",
        encoding="utf-8",
    )


_STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:15px;font-weight:600}"
    ".label{text-anchor:end}.ours{fill:#d9730d}.theirs{fill:#8c959f}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#f0883e}.theirs{fill:#6e7681}}</style>"
)


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(chance.randint(1, 4))) + (
        chance.choice("nrst")
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
