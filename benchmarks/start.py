"""How long it takes to start, and how much memory it takes: `import afterglow`, `Memory`, and the command line.

Each is run in a process of its own, in turns with the interpreter alone; the best of many runs is what the code costs
when nothing else is in the way.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median
from typing import Any

from benchmarks import arguments, environment, save, table

INTERPRETER = "the interpreter alone"
COMMANDS = {
    INTERPRETER: "pass",
    "import afterglow": "import afterglow",
    "from afterglow import Memory": "from afterglow import Memory",
    "afterglow --help": "import sys; from afterglow.cli import main; sys.argv = ['afterglow', '--help']; main()",
}


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return time.perf_counter() - started


def megabytes(code: str) -> float:
    """The most memory it held. Asked of itself at its end: what a parent is told counts the parent's own memory too."""
    status = "next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    ask = f"import atexit, sys; atexit.register(lambda: sys.stderr.write({status}))\n"
    told = subprocess.run([sys.executable, "-c", ask + code], capture_output=True, check=True, text=True).stderr
    return int(told.split()[-2]) / 1024


def works(code: str) -> bool:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def measure(times: int) -> dict[str, dict[str, float]]:
    """The best of each, in turns; a command that is not there is left out."""
    there = {name: code for name, code in COMMANDS.items() if works(code)}
    runs = [{name: seconds(code) for name, code in there.items()} for _ in range(times)]
    return {
        name: {
            "seconds": round(min(each[name] for each in runs), 3),
            "seconds_median": round(median(each[name] for each in runs), 3),
            "megabytes": round(megabytes(code), 1),
        }
        for name, code in there.items()
    }


def report(figures: dict[str, Any]) -> str:
    rows = [
        (name, found["seconds"], found["seconds_median"], found["megabytes"]) for name, found in figures["best"].items()
    ]
    missing = [name for name in COMMANDS if name not in figures["best"]]
    note = f"\n\nnot there, or failing: {', '.join(missing)}" if missing else ""
    return table(("start", "best, s", "median, s", "MB"), rows) + note


def main() -> None:
    quick = arguments(__doc__ or "").parse_args().quick
    figures = {"environment": environment(), "best": measure(3 if quick else 20)}
    print(report(figures))
    if not quick:
        save("start", figures)


if __name__ == "__main__":
    main()
