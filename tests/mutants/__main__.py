"""`make mutants`: take one guard after the other out of a copy of the code, and see that a test of the quick suite fails.

Tests that are known to fail come first (killers.json), then all others that reach the changed line (reach.json), up to the
first failure. A removal that no longer applies is a failure, and so is one that no test notices.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.kit.databases import POSTGRES, PostgresServer
from tests.mutants import reach
from tests.mutants.removals import REMOVALS, Removal

KILLERS = Path(__file__).with_name("killers.json")
_COPIED = ("src", "tests", "docs", "examples", "benchmarks", "deploy", "requirements", "README.md", "ARCHITECTURE.md")
_COPIED += ("CHANGELOG.md", "LICENSE", "llms.txt", "Makefile", "pyproject.toml", "afterglow.example.toml")
_SECONDS_MAX = 1800


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The result of one removal."""

    name: str
    killer: str | None
    """The test that failed."""
    note: str
    seconds: float


class ProjectCopies:
    """Copies of the project: one as it is, and one for each removal that is tried at the same time."""

    def __init__(self, folder: Path, postgres: str) -> None:
        self._folder = folder
        self._postgres = postgres
        self._unchanged = self._copied()

    def check(self, tests: Sequence[str]) -> str:
        """Say why these tests cannot judge a removal: one fails on the code as it is, or they do not run. Empty if not."""
        failed, note = self._run(self._unchanged, tests)
        return f"{failed} fails on the code as it is" if failed else note

    def judge(self, removal: Removal, killers: Sequence[str], others: Sequence[str]) -> Verdict:
        """Try the tests on a copy without the guard. The `killers` are known to pass on the code as it is."""
        started = time.monotonic()
        copy = self._copied()
        try:
            killer, note = self._judged(copy, removal, killers, others)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        return Verdict(name=removal.name, killer=killer, note=note, seconds=time.monotonic() - started)

    def _judged(
        self, copy: Path, removal: Removal, killers: Sequence[str], others: Sequence[str]
    ) -> tuple[str | None, str]:
        if problem := removal.problem(copy / "src" / "afterglow"):
            return None, problem
        removal.apply(copy / "src" / "afterglow")
        killer, note = self._run(copy, killers)
        if killer or note:
            return killer, note
        killer, note = self._run(copy, [test for test in others if test not in killers])
        if killer:
            why = self.check([killer])
            return (None, why) if why else (killer, "")
        count = len({*killers, *others})
        return None, note or (f"it survives the {count} tests that reach it" if count else "no test reaches it")

    def _copied(self) -> Path:
        copy = Path(tempfile.mkdtemp(dir=self._folder))
        for name in _COPIED:
            _copy(reach.ROOT / name, copy / name)
        return copy

    def _run(self, copy: Path, tests: Sequence[str]) -> tuple[str | None, str]:
        """The first test that fails, and what kept the tests from running; neither, if all pass."""
        there = [test for test in tests if _is_there(copy, test)]
        if not there:
            return None, ""
        named = copy / "named-tests.txt"
        named.write_text("\n".join(there))
        options = ["-x", "-q", "-p", "no:randomly", "--timeout", "120", "--tb", "no", "-rfE"]
        environ = {
            **os.environ,
            POSTGRES: self._postgres,
            "PYTHONPATH": str(copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "pytest", *options, f"@{named}"],
                cwd=copy,
                env=environ,
                capture_output=True,
                text=True,
                timeout=_SECONDS_MAX,
            )
        except subprocess.TimeoutExpired:
            return None, f"its tests took more than {_SECONDS_MAX} seconds"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+?::[^\[\s]+)", ended.stdout, re.MULTILINE)
        if ended.returncode == 1 and failed:
            return failed[1], ""
        if ended.returncode in (0, 5):
            return None, ""
        return None, f"pytest ended with {ended.returncode}: {ended.stdout[-400:]} {ended.stderr[-400:]}"


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def _is_there(copy: Path, test: str) -> bool:
    file, _, name = test.partition("::")
    path = copy / file
    return path.exists() and re.search(rf"def {re.escape(name.rpartition('::')[2])}\(", path.read_text()) is not None


def record() -> None:
    """Run the quick suite once, and keep which of its tests reach which removal."""
    problems = [problem for removal in REMOVALS if (problem := removal.problem(reach.SOURCE))]
    if problems:
        raise SystemExit("\n".join(problems))
    folder = reach.ROOT / ".build" / "reach"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "3", "--dist", "worksteal", "-p", "tests.mutants.reach"]
    subprocess.run([*command, f"--reach-folder={folder}"], cwd=reach.ROOT, check=False)
    reach.keep(reach.gathered(folder))
    print("wrote", reach.FILE.relative_to(reach.ROOT))


def judge_all(wanted: Sequence[Removal], jobs: int) -> list[Verdict]:
    reached = reach.kept()
    killers: dict[str, str] = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}
    server = PostgresServer() if not os.environ.get(POSTGRES) else None
    try:
        with tempfile.TemporaryDirectory(prefix="afterglow-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
            copies = ProjectCopies(Path(folder), server.address if server else os.environ[POSTGRES])
            known = sorted({killers[each.name] for each in wanted if each.name in killers})
            if why := copies.check(known):
                raise SystemExit(why)
            asked = [
                pool.submit(
                    copies.judge,
                    each,
                    [killers[each.name]] if each.name in killers else [],
                    reached.get(each.name, []),
                )
                for each in wanted
            ]
            verdicts: list[Verdict] = []
            for each in asked:
                verdicts.append(verdict := each.result())
                told = f"killed by {verdict.killer}" if verdict.killer else f"NOT KILLED: {verdict.note}"
                print(f"{len(verdicts):3d}/{len(asked)} {verdict.name}: {told} ({verdict.seconds:.0f} s)", flush=True)
                if verdict.killer:
                    killers[verdict.name] = verdict.killer
                    KILLERS.write_text(json.dumps(dict(sorted(killers.items())), indent=2) + "\n")
    finally:
        if server:
            server.stop()
    return verdicts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these removals")
    parser.add_argument("--record", action="store_true", help="record which tests reach which removal, and end")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at the same time (default: 2)")
    given = parser.parse_args()
    if given.record:
        record()
        return
    unknown = set(given.names) - {each.name for each in REMOVALS}
    if unknown:
        parser.error(f"no such removal: {', '.join(sorted(unknown))}; see tests/mutants/removals.py")
    verdicts = judge_all([each for each in REMOVALS if not given.names or each.name in given.names], given.jobs)
    killed = sum(each.killer is not None for each in verdicts)
    print(f"{killed} of {len(verdicts)} removals are noticed by the quick suite")
    sys.exit(killed < len(verdicts))


if __name__ == "__main__":
    main()
