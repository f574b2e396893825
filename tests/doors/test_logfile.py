"""The log of what happens inside: for people, and for programs."""

from __future__ import annotations

import json
import logging
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from afterglow import log_lines
from afterglow.cli import logfile
from afterglow.clock import FixedClock
from afterglow.forgetting import unname_if_gone
from afterglow.memory import Memory
from afterglow.memory_files.names import folder_name
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.work import Claim, Due, Limits
from afterglow.worker import Commit, Worker
from tests.kit.records import KATE


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


# --- what was logged of an owner who was forgotten


NAME = KATE.owner
LIKE = KATE.owner + "bel"


def _log_of_both(folder: Path, form: Any) -> list[str]:
    """Records of one who is forgotten then, in every way that a line names an owner, and of one with a longer name."""
    log = logging.getLogger("afterglow.test")
    with logfile.written(folder, form):
        log.info("before")
        log.info("files of %s: one was edited", NAME)
        log.info("files of %s: one was edited", LIKE)
        log.warning("there is no owner %r, nor /memory/%s/facts", NAME, folder_name(NAME))
        try:
            raise ValueError(f"they said: zebrafinch\n{NAME} is not to be had")
        except ValueError:
            log.warning("it failed", exc_info=True)
        log.info("after")
    return (folder / "afterglow.log").read_text().splitlines()


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_name_is_written_over_where_it_stands_while_others_go_on_writing(tmp_path: Path, form: Any) -> None:
    _log_of_both(tmp_path, form)
    path = tmp_path / "afterglow.log"
    path.rename(tmp_path / "afterglow.log.1")
    before = _log_of_both(tmp_path, form)
    size = path.stat().st_size
    with logfile.written(tmp_path, form):
        assert log_lines.unname(tmp_path, NAME) == 6
        logging.getLogger("afterglow").info("and on")
    for file in (path, tmp_path / "afterglow.log.1"):
        text = file.read_text()
        assert not re.search(rf"{NAME}\b|{folder_name(NAME)}\b|zebrafinch|Traceback", text)
        assert f"files of {LIKE}: one was edited" in text and text.count("(of somebody who was forgotten)") == 3
    lines = path.read_bytes()[:size].decode().splitlines()
    kept = [line for line in before if "before" in line or "after:" in line or LIKE in line]
    assert [line for line in lines if line in kept] == kept
    assert path.read_text().rstrip().endswith("and on" if form == "text" else "}")
    if form == "json":
        assert all(json.loads(line)["message"] for line in path.read_text().splitlines())
    assert log_lines.unname(tmp_path, NAME) == 0


@pytest.mark.spec("SAFE-3")
def test_a_log_that_is_not_there_names_no_owner(tmp_path: Path) -> None:
    assert log_lines.unname(tmp_path, NAME) == 0


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize("form", ["text", "json"])
async def test_work_under_way_for_an_owner_who_was_forgotten_leaves_no_name_in_the_log(
    store: Store, tmp_path: Path, form: Any
) -> None:
    memory = Memory(store, Settings(data_dir=tmp_path, zone="UTC"), environ={}, folds=False)
    await memory.append(KATE, "user", "hello")
    await store.mark_due(KATE.owner, Due(kind="vectors", at=store.clock.now(), reason="new", subject=KATE.owner))

    async def act(claim: Claim) -> Commit | None:
        await memory.forget.owner(KATE.owner, keep_stones=False)
        logging.getLogger("afterglow").warning("%s is worked for", claim.owner)
        return None

    over = partial(unname_if_gone, store, tmp_path)
    with logfile.written(tmp_path, form) as path:
        await Worker(store, {"vectors": act}, holder="w", limits=Limits(), over=over).drain()
    assert path is not None and KATE.owner not in path.read_text()
    assert path.read_text().count("(of somebody who was forgotten)") >= 2


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize("form", ["text", "json"])
def test_of_two_who_are_forgotten_one_after_the_other_neither_is_named(form: Any, tmp_path: Path) -> None:
    one, other = "k/t/x", 'k/t/a"b'
    with logfile.written(tmp_path, form) as path:
        for name in (one, other, f"{one}-y", f"{one}@z.org"):
            logging.getLogger("afterglow").info("a turn of %s.", name)
    assert path is not None
    assert [log_lines.unname(tmp_path, name) for name in (one, other)] == [1, 1]
    assert "a turn of k/t/x-y" in path.read_text() and "a turn of k/t/x@z.org" in path.read_text()
    assert "k/t/a" not in path.read_text()
