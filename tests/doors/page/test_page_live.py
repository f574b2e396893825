"""What happens, shown as it happens: in many tabs by one stream, out of sight, and after the server has refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from afterglow import Binding
from afterglow.web import events
from tests.doors.page.conftest import TIMEOUT_MS, OpenPage, Site
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-3", "DOOR-5")
TABS = 8
"""More than the six connections that a browser keeps to one server."""
SIGHT = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
NO_LOCKS = "Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined })"


def say(site: Site, session: str, to: Binding = KATE) -> None:
    site.do(site.memory.append(to, "user", "Something new", session=session))


def expect_live(*pages: Page) -> None:
    for page in pages:
        expect(page.locator("#live")).to_have_text("live")


def expect_shown(session: str, *pages: Page) -> None:
    for page in pages:
        expect(page.locator(".session-line").first).to_contain_text(session)


def wait_until(holds: Callable[[], bool], page: Page) -> None:
    end = time.monotonic() + TIMEOUT_MS / 1000
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        page.wait_for_timeout(50)


def streams(site: Site) -> int:
    return site.app.state.streams.open


@pytest.mark.whole
def test_eight_tabs_in_sight_hear_all_by_one_stream_and_go_on_when_its_tab_is_closed(
    own: Site, open_page: OpenPage
) -> None:
    first = open_page(own, "#/sessions")
    others = [open_page(own, "#/sessions", beside=first) for _ in range(TABS - 1)]
    expect_live(first, *others)
    assert streams(own) == 1
    say(own, "heard-by-all")
    expect_shown("heard-by-all", first, *others)
    first.close()
    say(own, "said-between")
    expect_shown("said-between", *others)
    expect_live(*others)
    assert streams(own) == 1


def test_a_tab_out_of_sight_leaves_the_stream_to_another_and_then_catches_up(own: Site, open_page: OpenPage) -> None:
    one = open_page(own, "#/sessions")
    two = open_page(own, "#/sessions", beside=one)
    expect_live(one, two)
    one.evaluate(SIGHT, True)
    say(own, "by-the-other")
    expect_shown("by-the-other", two)
    two.evaluate(SIGHT, True)
    wait_until(lambda: streams(own) == 0, two)
    say(own, "heard-by-no-tab")
    one.evaluate(SIGHT, False)
    expect_shown("heard-by-no-tab", one, two)
    expect_live(one)


@pytest.mark.whole
def test_without_locks_each_tab_in_sight_has_a_stream_of_its_own(own: Site, open_page: OpenPage) -> None:
    """As over plain HTTP from another machine, where browsers give pages no locks."""
    one = open_page(own, "#/sessions")
    one.context.add_init_script(NO_LOCKS)
    one.reload()
    two = open_page(own, "#/sessions", beside=one)
    expect_live(one, two)
    wait_until(lambda: streams(own) == 2, one)
    say(own, "heard-by-both")
    expect_shown("heard-by-both", one, two)
    two.evaluate(SIGHT, True)
    wait_until(lambda: streams(own) == 1, two)
    say(own, "meanwhile")
    expect_shown("meanwhile", one)
    two.evaluate(SIGHT, False)
    expect_shown("meanwhile", two)


@pytest.mark.whole
def test_who_signs_in_as_another_hears_what_that_one_may_hear(own: Site, open_page: OpenPage) -> None:
    bound = open_page(own, link=own.link(owner=KATE.owner))
    expect_live(bound)
    operator = open_page(own, link=own.link(), beside=bound)
    operator.goto(f"{own.url}/#/sessions")
    expect_live(operator)
    say(own, "of-another-owner", to=OTHER)
    expect_shown("of-another-owner", operator)


@pytest.mark.whole
def test_a_stream_that_was_refused_is_tried_again(
    own: Site, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "STREAMS_MAX", 0)
    page = open_page(own, link=own.link(), allowed=("503",))
    expect(page.locator("#live")).to_have_text("not live")
    page.goto(f"{own.url}/#/sessions")
    page.wait_for_selector(".session-line")
    monkeypatch.setattr(events, "STREAMS_MAX", 1)
    expect_live(page)
    say(own, "after-all")
    expect_shown("after-all", page)
