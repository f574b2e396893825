"""The log of what happens inside: for people, and for programs."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from afterglow.cli import logfile
from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.work import Limits
from afterglow.worker import Worker
from tests.conftest import KATE


@pytest.mark.spec("SUM-9")
async def test_lines_of_json_name_the_act_and_the_session(store: Store, clock: FixedClock, tmp_path: Path) -> None:
    memory = Memory(store, Settings(data_dir=tmp_path, zone="UTC"), environ={}, folds=False)
    session = await memory.open_session(KATE)
    for number in range(5):
        await memory.exchange(KATE, f"Message {number}, which is to be kept in mind.", lambda context: "I see. " * 30)
    with logfile.written(tmp_path, "json") as path:
        await Worker(store, memory.acts, holder="w", limits=Limits()).drain()
        logging.getLogger("afterglow").info("by itself")
        try:
            raise ValueError("odd")
        except ValueError:
            logging.getLogger("afterglow").warning("it failed", exc_info=True)
    assert path is not None
    made, alone, failed = (json.loads(line) for line in path.read_text().splitlines())
    assert (made["act"], made["session"], made["owner"], made["reason"]) == (
        *("context", session.id, KATE.owner, "interval"),
    )
    assert (made["level"], made["attempt"]) == ("INFO", 1)
    assert alone["message"] == "by itself" and "act" not in alone
    assert "ValueError: odd" in failed["error"]


def test_the_log_can_go_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logfile.written(tmp_path, "text", "stderr") as path:
        logging.getLogger("afterglow").info("here I am")
    assert path is None and not list(tmp_path.iterdir())
    assert "INFO afterglow: here I am" in capsys.readouterr().err
    assert sys.stderr is not None
