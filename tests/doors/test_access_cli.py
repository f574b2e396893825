"""`afterglow token`: what is made by it opens what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.command_line import Run, asked
from tests.kit.records import KATE

pytestmark = pytest.mark.spec("SAFE-1", "DOOR-2")


def test_a_token_is_bound_to_the_owner_that_is_named(run: Run, begun: Path) -> None:
    made = run("token", "create", "phone", "--scope", "read", "--owner", KATE.owner)
    assert made.stdout.startswith("ag_") and "There is no owner 'kate/telegram/ana' yet" in made.stderr
    (_, phone) = asked(run, "token", "list")["items"]
    assert (phone["name"], phone["scope"], phone["owner"], phone["kind"]) == ("phone", "read", KATE.owner, "token")
    assert phone["last_used_at"] is None
    shown = run("token", "list").stdout
    assert "everyone" in shown and "kate/telegram/ana"[:10] in shown
    run("token", "create", "bad", "--owner", "", code=2)


def test_a_link_is_printed_for_the_server_that_the_settings_name(
    run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERGLOW_SERVER__PORT", "9000")
    for host, wanted in (("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "127.0.0.1")):
        monkeypatch.setenv("AFTERGLOW_SERVER__HOST", host)
        link = run("token", "link").stdout.strip()
        assert link.startswith(f"http://{wanted}:9000/#signin=ag_"), link
    assert run("token", "link", "--port", "9001").stdout.startswith("http://127.0.0.1:9001/#signin=ag_")
    assert len(asked(run, "token", "list")["items"]) == 1, "a link is no token"
