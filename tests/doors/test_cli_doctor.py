"""`doctor` and the spend in `status`: what is found, what `--fix` does, and hints that can be pasted."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from afterglow import Memory
from afterglow.cli import doctor
from afterglow.cli.findings import pasteable
from afterglow.settings import Settings, load
from afterglow.spend import Amount, Call, Reservation, Usage, day_of
from afterglow.work import Due, Limits
from tests.kit.command_line import Run, asked, one_line, really, remember
from tests.kit.command_line import findings as found
from tests.kit.records import KATE

pytestmark = pytest.mark.spec("DOOR-2")


# --fix


@pytest.mark.spec("SAFE-1")
def test_fix_takes_from_others_what_they_could_read_and_says_so(run: Run, filled: Path) -> None:
    memory = filled / "memory"
    memory.mkdir(exist_ok=True)
    for path, mode in ((filled, 0o755), (memory, 0o750), (filled / "afterglow.db", 0o644)):
        path.chmod(mode)
    assert {each["fixable"] for each in found(run, "data folder", code=1)} == {True}
    assert "`afterglow doctor --fix` mends what can be mended" in one_line(run("doctor", code=1).stderr)
    result = run("doctor", "--fix")
    assert one_line(result.stderr).count("Mended: others on this machine can") == 3
    modes = [path.stat().st_mode & 0o777 for path in (filled, memory, filled / "afterglow.db")]
    assert modes == [0o700, 0o700, 0o600]
    assert [each["level"] for each in found(run, "data folder")] == ["fine"]
    again = run("doctor", "--fix", "--json")
    assert json.loads(again.stdout)["mended"] == [] and not again.stderr


def test_fix_changes_nothing_where_nothing_is_wrong(run: Run, folder: Path) -> None:
    shown = run("doctor", "--fix").stdout
    assert "run `afterglow init`" in shown and not folder.exists()


def test_a_fix_that_fails_is_found_again_and_not_called_done(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (filled / "afterglow.db").chmod(0o644)

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "chmod", refused)
    result = run("doctor", "--fix", "--json", code=1)
    assert json.loads(result.stdout)["mended"] == []


def test_a_settings_file_elsewhere_with_a_password_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('database = "postgresql://me:hunter2@127.0.0.1/x"\n')
    file.chmod(0o644)
    loaded = load(file, environ={})
    (open_to_all,) = doctor.secret_settings(loaded)
    assert open_to_all.mark == "✗" and "hunter2" not in open_to_all.text + open_to_all.mend
    assert open_to_all.fix is not None
    open_to_all.fix()
    assert list(doctor.secret_settings(loaded)) == []
    assert list(doctor.secret_settings(load(None, environ={}))) == []


def test_a_log_of_changes_that_has_grown_is_found_and_worked_off(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, log = Settings(data_dir=filled), filled / "afterglow.db-wal"
    assert list(doctor.log_of_changes(chosen)) == []
    with sqlite3.connect(filled / "afterglow.db") as database:  # another process keeps it open
        database.execute("UPDATE sessions SET tokens = tokens + 1")
        database.commit()
        size = log.stat().st_size
        monkeypatch.setattr(doctor, "_LOG_BYTES_WARNING", size)
        (grown,) = doctor.log_of_changes(chosen)
        assert grown.mark == "!" and "has grown" in grown.text
        assert grown.fix is not None
        grown.fix()
        assert log.stat().st_size == 0 < size
    assert list(doctor.log_of_changes(Settings(data_dir=filled / "nowhere"))) == []


# what is found


@pytest.mark.spec("P1")
def test_a_database_that_is_gone_while_its_log_is_there_is_not_begun_again(run: Run, filled: Path) -> None:
    (filled / "afterglow.db").rename(filled / "moved.db")
    (filled / "afterglow.db-wal").write_bytes(b"x" * 100)
    (gone,) = found(run, "database", code=1)
    assert gone["level"] == "fault" and "is still there" in gone["text"] and "init" not in gone["mend"]
    (filled / "afterglow.db-wal").unlink()
    (new,) = found(run, "database")
    assert new["level"] == "warning" and "afterglow init" in new["mend"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_files_that_are_not_ours_to_write_are_found(run: Run, filled: Path) -> None:
    (filled / "afterglow.db").chmod(0o400)
    assert "is not yours to read and write" in json.dumps(found(run, "data folder", code=1))


@pytest.mark.spec("SUM-1")
def test_it_says_who_is_primary_and_when_that_stops_another(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (free,) = found(run, "primary")
    assert free["level"] == "fine" and "no process is primary" in free["text"]
    really(filled, lambda memory: memory.store.take_primary("host:1", 7, lease_seconds=600))
    (held,) = found(run, "primary")
    assert held["text"] == "host:1 (the setting is auto)"
    monkeypatch.setenv("AFTERGLOW_PRIMARY", "true")
    (stops,) = found(run, "primary")
    assert stops["level"] == "warning" and "stops at once" in stops["text"] and "auto" in stops["mend"]


@pytest.mark.spec("SAFE-1")
def test_an_address_for_others_without_a_token_is_a_fault(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_SERVER__HOST", "0.0.0.0")
    assert found(run, "server") == [], "init has made a token"
    (token,) = asked(run, "token")["items"]
    run("token", "revoke", token["id"])
    (fault,) = found(run, "server", code=1)
    assert fault["level"] == "fault" and "afterglow token create" in fault["mend"]
    monkeypatch.setenv("AFTERGLOW_SERVER__HOST", "127.0.0.1")
    assert found(run, "server") == []


def test_a_turn_from_the_future_says_that_a_clock_was_wrong(run: Run, filled: Path) -> None:
    assert len(found(run, "clock")) == 1
    ahead = datetime.now(UTC) + timedelta(days=3)
    with sqlite3.connect(filled / "afterglow.db") as database:
        database.execute("UPDATE sessions SET last_at = ?", (int(ahead.timestamp() * 1_000_000),))
    (warned, _) = found(run, "clock")
    assert warned["level"] == "warning" and f"{ahead:%Y-%m-%d}" in warned["text"]


# spend


def spend(folder: Path, *calls: tuple[str, str, int, int]) -> None:
    """Calls of models today: model, purpose, tokens, millionths of a dollar."""

    async def pay(memory: Memory) -> None:
        day = day_of(memory.store.clock.now(), UTC)
        for model, purpose, tokens, micro_usd in calls:
            call = Call(day=day, model=model, purpose=purpose, owner=KATE.owner)
            most = Amount(tokens=tokens, micro_usd=micro_usd)
            made = await memory.store.reserve_spend(call, most, Amount(tokens=10**12, micro_usd=10**12))
            assert isinstance(made, Reservation)
            await memory.store.settle_spend(made, Usage(input_tokens=tokens), micro_usd)

    really(folder, pay)


@pytest.mark.spec("SAFE-4")
def test_status_shows_today_by_model_and_purpose_against_the_ceiling(run: Run, filled: Path) -> None:
    quiet = asked(run, "status")["spend"]
    assert quiet["models"] == [] and quiet["ceiling_reached"] is False and quiet["put_off"] == []
    spend(filled, ("dear", "facts", 1_000, 90_000), ("cheap", "fold", 5_000, 1_000), ("dear", "facts", 500, 10_000))
    shown = one_line(run("status").stdout)
    assert "$0.1010 of $5, 6,500 of 5,000,000 tokens, in 3 calls" in shown
    assert "dear for facts: $0.1000, 1,500 tokens, 2 calls" in shown
    assert "cheap for fold: $0.0010, 5,000 tokens, 1 call" in shown
    found = asked(run, "status")["spend"]
    assert [(each["model"], each["purpose"], each["calls"]) for each in found["models"]] == [
        ("dear", "facts", 2),
        ("cheap", "fold", 1),
    ]


@pytest.mark.spec("SAFE-4")
def test_a_ceiling_that_is_reached_is_said_by_status_and_doctor(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(filled, ("dear", "facts", 1_000, 90_000))
    (fine,) = found(run, "spend")
    assert fine["level"] == "fine" and "$0.09 of $5" in fine["text"]
    monkeypatch.setenv("AFTERGLOW_SPEND__DAY_CEILING_USD", "0.05")
    assert "the ceiling is reached: no model is asked before tomorrow" in one_line(run("status").stdout)
    (warned,) = found(run, "spend")
    assert warned["level"] == "warning" and "spend.day_ceiling_usd" in warned["mend"]


@pytest.mark.spec("SAFE-4")
def test_status_shows_what_a_breaker_said_to_the_work_it_put_off(run: Run, filled: Path) -> None:
    said = "model-x failed 5 times in a row and is left alone for 60 seconds"

    async def fail(memory: Memory) -> None:
        due = Due(kind="facts", at=memory.store.clock.now(), reason="idle", subject="s")
        await memory.store.mark_due(KATE.owner, due)
        (claim,) = await memory.store.claim(["facts"], limit=1, holder="test", limits=Limits())
        await memory.store.give_back(claim, said, wait_seconds=60, park=False)

    really(filled, fail)
    (put_off,) = asked(run, "status")["spend"]["put_off"]
    assert put_off["why"] == said and put_off["subject"] == "s"
    assert f"put off facts of s: {said}" in one_line(run("status").stdout)


# hints


def test_hints_of_the_doctor_and_of_status_carry_the_folder_that_was_named(
    run: Run, filled: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "a folder"
    (new,) = found(run, "database", "--data-dir", str(elsewhere))
    hint = new["mend"].partition("`")[2].partition("`")[0]
    assert shlex.split(hint) == ["afterglow", "--data-dir", str(elsewhere), "init"]
    shown = one_line(run("status", "--data-dir", str(filled)).stdout).replace(" ", "")
    assert f"`afterglow--data-dir{filled}serve`" in shown


def test_a_hint_is_changed_only_where_it_is_a_command() -> None:
    text = "run `afterglow init` or `afterglow`; afterglow.toml, `afterglowing` and afterglow serve stay"
    assert pasteable(text, "afterglow --data-dir x") == (
        "run `afterglow --data-dir x init` or `afterglow --data-dir x`; "
        "afterglow.toml, `afterglowing` and afterglow serve stay"
    )


def test_every_finding_of_a_filled_folder_has_a_name_and_a_sentence(run: Run, filled: Path) -> None:
    remember(filled, lambda memory: memory.append(KATE, "user", "hello"))
    items = asked(run, "doctor")["items"]
    names = {each["name"] for each in items}
    assert {"settings", "data folder", "database", "soundness", "work", "primary", "spend", "clock", "model"} <= names
    assert all(each["text"] and (each["mend"] is not None or each["level"] == "fine") for each in items)
