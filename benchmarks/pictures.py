"""The context of a long conversation as a picture: its parts stacked over time, the peers' totals as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from benchmarks import RESULTS

PARTS = {
    "frame": "frame and headings",
    "level 3": "blocks, level 3",
    "level 2": "blocks, level 2",
    "level 1": "blocks, level 1",
    "level 0": "blocks, level 0",
    "sources": "sources",
    "tail": "turns, word for word",
}
"""The parts of a context in the order of its text, which is drawn from the bottom up."""

WIDTH, HEIGHT = 820, 430
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 92, 62
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
LEGEND_STEP = 12


def context_over_time(
    name: str, title: str, samples: Sequence[Mapping[str, Any]], peers: Mapping[str, Sequence[int]]
) -> None:
    """Draw one sample for each exchange: `parts`, the tokens by part, and `compactions`, how many were asked for after it."""
    parts = [part for part in PARTS if any(sample["parts"].get(part) for sample in samples)]
    stacks = [[0, *accumulate(sample["parts"].get(part, 0) for part in parts)] for sample in samples]
    highest = max([stack[-1] for stack in stacks] + [max(line) for line in peers.values()])
    scale = Scale(len(samples), highest)
    layers = "".join(
        f'<path class="{_kind(part)}" d="{scale.band([s[place] for s in stacks], [s[place + 1] for s in stacks])}"/>'
        for place, part in enumerate(parts)
    )
    lines = "".join(
        f'<path class="peer p{place}" d="{scale.line(line)}"/>' for place, line in enumerate(peers.values())
    )
    compacted = [number for number, sample in enumerate(samples) if sample["compactions"]]
    body = scale.grid() + layers + lines + scale.marks(compacted) + _legend(parts, list(peers))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">{_STYLE}'
        f'<text class="title" x="10" y="24">{escape(title)}</text>{body}</svg>\n',
        encoding="utf-8",
    )


class Scale:
    """Where an exchange and a number of tokens lie in the picture."""

    def __init__(self, exchanges: int, tokens: int) -> None:
        self.exchanges = exchanges
        self.step = next(step for step in (500, 1000, 2000, 5000, 10_000, 50_000) if tokens / step <= 8)
        self.top = self.step * -(-tokens // self.step)

    def x(self, number: float) -> float:
        return LEFT + PLOT_WIDTH * number / self.exchanges

    def y(self, tokens: float) -> float:
        return TOP + PLOT_HEIGHT * (1 - tokens / self.top)

    def line(self, tokens: Sequence[int]) -> str:
        """One step for each exchange whose number of tokens is another than before."""
        steps = "".join(
            f"H{self.x(number):.1f}V{self.y(tokens[number]):.1f}"
            for number in range(1, len(tokens))
            if tokens[number] != tokens[number - 1]
        )
        return f"M{LEFT},{self.y(tokens[0]):.1f}{steps}H{self.x(len(tokens)):.1f}"

    def band(self, lower: Sequence[int], upper: Sequence[int]) -> str:
        """What lies between two such lines: along the upper one, and back along the lower one."""
        back = "".join(
            f"H{self.x(number):.1f}V{self.y(lower[number - 1]):.1f}"
            for number in range(len(lower) - 1, 0, -1)
            if lower[number] != lower[number - 1]
        )
        return f"{self.line(upper)}V{self.y(lower[-1]):.1f}{back}H{LEFT}Z"

    def grid(self) -> str:
        rows = "".join(
            f'<path class="grid" d="M{LEFT},{self.y(tokens):.1f}H{WIDTH - RIGHT}"/>'
            f'<text class="number" x="{LEFT - 8}" y="{self.y(tokens) + 4:.1f}">{tokens:,}</text>'
            for tokens in range(0, self.top + 1, self.step)
        )
        columns = "".join(
            f'<text class="{"number" if number == self.exchanges else "middle"}" x="{self.x(number):.1f}" '
            f'y="{HEIGHT - BOTTOM + 32}">{number:,}</text>'
            for number in range(0, self.exchanges + 1, max(1, self.exchanges // 5))
        )
        return (
            f'{rows}{columns}<text class="middle small" x="{LEFT + PLOT_WIDTH / 2:.0f}" y="{HEIGHT - 8}">'
            f'exchanges</text><text class="small" x="{LEFT - 50}" y="{TOP - 12}">tokens</text>'
        )

    def marks(self, compacted: Sequence[int]) -> str:
        """A stroke under the axis for every exchange after which something was compacted."""
        y = HEIGHT - BOTTOM + 5
        return '<path class="mark" d="' + "".join(f"M{self.x(number + 1):.1f},{y}v10" for number in compacted) + '"/>'


def _legend(parts: Sequence[str], peers: Sequence[str]) -> str:
    areas = [
        (PARTS[part], f'<rect class="{_kind(part)}" x="{{x}}" y="{{y}}" width="14" height="12" rx="2"/>')
        for part in parts
    ]
    lines = [(peer, f'<path class="peer p{n}" d="M{{x}},{{y}}m0,6h18"/>') for n, peer in enumerate(peers)]
    lines.append(("compaction", '<path class="mark" d="M{x},{y}m7,1v10"/>'))
    return _row(areas, 38) + _row(lines, 58)


def _row(entries: Sequence[tuple[str, str]], y: int) -> str:
    drawn, x = "", LEFT
    for label, sign in entries:
        drawn += sign.format(x=x, y=y) + f'<text class="small" x="{x + 23}" y="{y + 11}">{escape(label)}</text>'
        x += 23 + int(7.2 * len(label)) + LEGEND_STEP
    return drawn


def _kind(part: str) -> str:
    return part.replace(" ", "")


_STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:15px;font-weight:600}"
    ".small{font-size:12px}.number{text-anchor:end;font-size:12px}.middle{text-anchor:middle;font-size:12px}"
    ".grid{stroke:#d0d7de;stroke-width:1;fill:none}.mark{stroke:#57606a;stroke-width:1;fill:none}"
    ".level3{fill:#7a2e00}.level2{fill:#a84300}.level1{fill:#d9730d}.level0{fill:#f5b06b}"
    ".frame{fill:#7d6a58}.sources{fill:#1a7f64}.tail{fill:#b6c2cf}"
    ".peer{fill:none;stroke-width:1.3}.p0{stroke:#5b3fd1}.p1{stroke:#0b6bcb;stroke-dasharray:5 2}"
    ".p2{stroke:#a0147a;stroke-dasharray:2 2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}.mark{stroke:#9198a1}"
    ".level3{fill:#8f3d0a}.level2{fill:#b9520f}.level1{fill:#e8873a}.level0{fill:#f7c38f}"
    ".frame{fill:#8f7b67}.sources{fill:#2ea88a}.tail{fill:#59636e}"
    ".p0{stroke:#a899ff}.p1{stroke:#58b0ff}.p2{stroke:#ff7bd5}}</style>"
)
