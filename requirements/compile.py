"""Pin the newest versions of everything, with hashes, for all supported Pythons and systems: `make requirements`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SERVER = [part for extra in ("agent", "meaning", "models", "postgres", "sources") for part in ("--extra", extra)]
"""What a server may need. The bots' libraries are for programs of their own."""
FILES = {
    "run.txt": [*SERVER, "--group", "build"],
    "dev.txt": ["--all-extras", "--group", "build", "--group", "dev"],
    "bench.txt": [*SERVER, "--group", "build", "--group", "bench"],
}
UV = [str(Path(sys.executable).parent / "uv"), "pip", "compile", "--quiet", "--upgrade", "--universal"]
UV += ["--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"]


def main() -> None:
    for name, options in FILES.items():
        target = str(ROOT / "requirements" / name)
        subprocess.run([*UV, *options, "pyproject.toml", "-o", target], cwd=ROOT, check=True)
    subprocess.run([*UV, "-", "-o", str(ROOT / "requirements" / "uv.txt")], cwd=ROOT, input=b"uv\n", check=True)


main()
