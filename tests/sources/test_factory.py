"""From declarations in the settings to sources."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import MissingPackage, SourceError
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import SourceSettings, load
from afterglow.sources.agent import Agent
from afterglow.sources.calendar import Calendar
from afterglow.sources.command import Command
from afterglow.sources.factory import label_of, make, make_now
from afterglow.sources.http import Http
from afterglow.sources.mail import Mail
from afterglow.sources.mcp import McpTool
from afterglow.sources.summarised import Summarised
from tests.kit.loops import for_each
from tests.sources.windows import MORNING, ask_about, calendar, event, wanted


def declared(**settings: Any) -> SourceSettings:
    return SourceSettings(**settings)


@pytest.mark.spec("SRC-3", "SRC-6")
@for_each(
    "settings, kind",
    [
        ({"kind": "calendar", "address": "/tmp/a.ics"}, Calendar),
        ({"kind": "calendar", "address": "https://example.org/a.ics"}, Calendar),
        ({"kind": "calendar", "address": "caldavs://example.org/ana/"}, Calendar),
        ({"kind": "mail", "address": "imaps://ana@example.org/INBOX"}, Mail),
        ({"kind": "mail", "address": "maildir:/tmp/mail"}, Mail),
        ({"kind": "mail", "address": "mbox:/tmp/inbox"}, Mail),
        ({"kind": "http", "address": "https://example.org/report"}, Http),
        ({"kind": "command", "command": ("echo", "hi")}, Command),
        ({"kind": "mcp", "address": "https://example.org/mcp", "tool": "t"}, McpTool),
        ({"kind": "mcp", "address": "uvx some-server --quiet", "tool": "t"}, McpTool),
        ({"kind": "mcp", "command": ("uvx", "some-server"), "tool": "t"}, McpTool),
        ({"kind": "agent", "address": "package.module:callable"}, Agent),
    ],
)
def test_every_kind_can_be_declared(settings: dict[str, Any], kind: type) -> None:
    assert isinstance(make_now("one", declared(**settings), environ={}), kind)


def test_calendar_and_mail_are_rewritten_by_the_model_unless_the_settings_say_no() -> None:
    model = ScriptedModel([])
    settings = {"kind": "mail", "address": "mbox:/tmp/inbox"}
    assert isinstance(make_now("one", declared(**settings), environ={}, model=model), Summarised)
    assert isinstance(make_now("one", declared(**settings, summarise=False), environ={}, model=model), Mail)
    assert isinstance(make_now("one", declared(kind="agent", address="a:b"), environ={}, model=model), Agent)


@pytest.mark.spec("SRC-6")
@for_each(
    "name, settings, label",
    [
        ("calendar-hand", {"kind": "calendar", "address": "/a"}, "Calendar"),
        ("work", {"kind": "mail", "address": "mbox:/a"}, "Mail"),
        ("weather-hand", {"kind": "http", "address": "https://a.example/"}, "Weather"),
        ("weather", {"kind": "http", "address": "https://a.example/", "label": "Sky"}, "Sky"),
        ("-hand", {"kind": "agent", "address": "a:b"}, "-hand"),
    ],
)
def test_how_sources_are_called(name: str, settings: dict[str, Any], label: str) -> None:
    assert label_of(name, declared(**settings)) == label


@pytest.mark.spec("SRC-4")
async def test_an_unset_password_leaves_out_that_source_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.ics").write_text(calendar(event("Dentist", ":20260302T220000Z")))
    mail = make("mail", declared(kind="mail", address="imaps://ana@example.org/", password_env="MAIL_PW"), environ={})
    good = make("calendar", declared(kind="calendar", address=str(tmp_path / "a.ics")), environ={})
    failed, answer = await ask_about(MORNING, wanted(mail, "mail"), wanted(good, "calendar"))
    assert failed.error == "the environment variable MAIL_PW, which should hold its password, is not set; set it"
    assert answer.text == "Dentist 2:00 PM (in 45 minutes)."


@pytest.mark.spec("SRC-4")
@pytest.mark.parametrize(
    ("package", "module", "settings"),
    [
        ("mcp", "mcp", {"kind": "mcp", "command": ("a",), "tool": "t"}),
        ("httpx2", "fetch", {"kind": "http", "address": "https://a.example/"}),
        ("icalendar", "events", {"kind": "calendar", "address": "{path}"}),
    ],
)
async def test_a_missing_package_is_named_with_how_to_install_it(
    package: str, module: str, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ics"
    path.write_text(calendar())
    for name in (module, "http", "agenda", "mcp"):
        monkeypatch.delitem(sys.modules, f"afterglow.sources.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    given = {**settings, "address": settings["address"].format(path=path)} if "address" in settings else settings
    with pytest.raises(MissingPackage, match=r"pip install '.\[sources\]'"):
        await make("one", declared(**given), environ={}).report(MORNING, "", tokens_max=9)


def test_a_password_does_not_show() -> None:
    settings = declared(kind="http", address="https://a.example/", password_env="TOKEN")
    source = make_now("one", settings, environ={"TOKEN": "s3cret"})
    assert "s3cret" not in repr(source) + repr(vars(source))
    with pytest.raises(SourceError, match="TOKEN"):
        make_now("one", settings, environ={})


@pytest.mark.spec("SRC-6")
@for_each("number", range(7))
def test_the_settings_in_the_documentation_load(number: int, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text()
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 7
    path = tmp_path / "afterglow.toml"
    path.write_text(examples[number])
    loaded = load(path, environ={}).settings
    for name, settings in loaded.sources.items():
        assert make_now(name, settings, environ={settings.password_env or "": "x"})
