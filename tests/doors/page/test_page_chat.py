"""Chat on the page: a real server with its agent behind it, and a model that answers from a script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Page, expect

from afterglow import EVERYONE
from afterglow.model import Request
from afterglow.model.scripted import DISCONNECTED, ScriptedModel, Step, calls
from tests.doors.page.conftest import OpenPage, Site, served
from tests.kit.records import KATE

pytestmark = pytest.mark.spec("AGENT-9", "DOOR-5")
HOSTILE = "fit. <script>alert(1)</script><img src=x onerror=alert(1)>"
ME = "assistant/page/me"


class Script:
    """Looks something up first, then answers; while `down` it does not."""

    def __init__(self) -> None:
        self.down = Event()
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Step:
        if request.purpose != "agent":
            return "They talked about hotels."
        last = request.messages[-1]
        if last.role == "user":
            self.asked.append(last.text)
        if self.down.is_set():
            return DISCONNECTED
        wants_tool = last.role == "user" and "hotels" in last.text
        return calls(("memory_search", {"query": "<b>hotels</b>"})) if wants_tool else f"Two hotels {HOSTILE}"


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def site(tmp_path: Path, script: Script) -> Iterator[Site]:
    with served(tmp_path, model=ScriptedModel(script)) as site:
        yield site


def say(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message").fill(text)
    page.keyboard.press("Enter")


def said(site: Site) -> list[tuple[str, str]]:
    (session,) = site.do(site.memory.sessions(owner=EVERYONE))
    return [(turn.role, turn.text) for turn in site.do(site.memory.turns(session))]


def test_an_answer_is_written_as_letters_with_its_tools_and_the_context_beside_it(
    site: Site, open_page: OpenPage
) -> None:
    page = open_page(site, f"#/chat?owner={KATE.owner}")
    say(page, "Which hotels?")
    expect(page.locator(".talk-log")).to_contain_text(f"Two hotels {HOSTILE}")
    expect(page.locator(".talk-log details")).to_contain_text("Tool: memory_search")
    expect(page.locator(".side")).to_contain_text("What the model sees now")
    assert [role for role, _ in said(site)] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.whole
def test_without_a_chosen_owner_the_talk_is_found_again(site: Site, open_page: OpenPage) -> None:
    page = open_page(site, "#/chat")
    say(page, "Good morning")
    expect(page.locator(".talk-log")).to_contain_text("Two hotels")
    page.reload()
    expect(page.locator(".talk-log")).to_contain_text("Good morning")
    (session,) = site.do(site.memory.sessions(owner=EVERYONE))
    assert session.owner == ME


@pytest.mark.whole
@pytest.mark.spec("AGENT-9", "DOOR-5", "SAFE-2")
def test_who_is_bound_to_an_owner_talks_as_that_owner(site: Site, open_page: OpenPage) -> None:
    page = open_page(site, link=site.link(owner=KATE.owner))
    page.goto(f"{site.url}/#/chat")
    say(page, "Good morning")
    expect(page.locator(".talk-log .turn-assistant")).to_contain_text("Two hotels")
    page.reload()
    expect(page.locator(".talk-log")).to_contain_text("Good morning")
    (session,) = site.do(site.memory.sessions(owner=EVERYONE))
    assert session.owner == KATE.owner


@pytest.mark.whole
def test_a_message_that_failed_is_sent_again_without_standing_twice(
    site: Site, script: Script, open_page: OpenPage
) -> None:
    page = open_page(site, "#/chat")
    script.down.set()
    say(page, "Good morning")
    expect(page.locator(".talk-log .trouble")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Good morning")
    script.down.clear()
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".talk-log .turn-assistant").last).to_contain_text("Two hotels")
    assert [text for role, text in said(site) if role == "user"] == ["Good morning"]


@pytest.mark.whole
def test_another_message_after_one_that_failed_is_answered_itself(
    site: Site, script: Script, open_page: OpenPage
) -> None:
    page = open_page(site, "#/chat")
    script.down.set()
    say(page, "Good morning")
    expect(page.locator(".talk-log .trouble")).to_be_visible()
    script.down.clear()
    say(page, "Good evening")
    expect(page.locator(".talk-log .turn-assistant").last).to_contain_text("Two hotels")
    assert [text for role, text in said(site) if role == "user"] == ["Good morning", "Good evening"]
    assert script.asked[-1].startswith("Good evening")
