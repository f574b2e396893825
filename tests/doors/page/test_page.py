"""The page in a real browser: every view, signing in, the keyboard, narrow and dark screens, an empty memory."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from afterglow import FixedClock, Memory
from afterglow.memory import EVERYONE
from afterglow.work import Due, Limits
from tests.doors.page import scene
from tests.doors.page.conftest import Calm, OpenPage, Site
from tests.kit.records import KATE, OTHER

pytestmark = pytest.mark.spec("DOOR-5")
VIEWS = {
    "#/": "Overview",
    "#/sessions": "Sessions",
    "#/sessions/lisbon": "lisbon",
    "#/search?owner=kate/telegram/ana&q=train": "Search",
    "#/facts": "Facts",
    "#/digests": "Digests",
    "#/goals": "Goal log",
    "#/chat": "Chat",
}
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 360, "height": 740}
TOO_WIDE = "() => [document.body, document.querySelector('main')].some((each) => each.scrollWidth > each.clientWidth)"
REFUSED = ("401", "403")


def test_every_view_is_shown_and_fits_the_screen(
    life: Site, open_page: OpenPage, calm: Calm, subtests: pytest.Subtests
) -> None:
    page = open_page(life)
    for size, (address, title) in itertools.product((WIDE, NARROW), VIEWS.items()):
        with subtests.test(view=title, size=size):
            page.set_viewport_size(size)
            page.goto(f"{life.url}/{address}")
            expect(page.locator("h1")).to_have_text(title)
            calm(page)
            expect(page.locator("#main .trouble")).to_have_count(0)
            assert not page.evaluate(TOO_WIDE)


@pytest.mark.spec("DOOR-5", "SAFE-1")
def test_a_link_signs_in_once_and_leaves_no_trace_in_the_address(life: Site, open_page: OpenPage) -> None:
    link = life.link()
    page = open_page(life, link=link)
    expect(page.get_by_text("Newest sessions")).to_be_visible()
    assert page.url == f"{life.url}/#/"
    page.reload()
    expect(page.get_by_text("Newest sessions")).to_be_visible()
    again = open_page(life, link=link, allowed=REFUSED)
    expect(again.locator("#told")).to_contain_text("used already")
    expect(again.get_by_text("You are not signed in.")).to_be_visible()


@pytest.mark.whole
def test_who_is_not_signed_in_is_told_how_to(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, link="", allowed=REFUSED)
    expect(page.locator("main")).to_contain_text("afterglow token link")
    page.goto(f"{life.url}/#/facts")
    expect(page.get_by_text("You are not signed in.")).to_be_visible()


@pytest.mark.whole
def test_from_another_machine_who_is_signed_in_sees_the_memory_of_all(
    life: Site, open_page: OpenPage, subtests: pytest.Subtests
) -> None:
    page = open_page(life, extra_http_headers={"x-forwarded-for": "203.0.113.5"})
    for address, shown in (("#/sessions", ".session-line"), ("#/facts", ".fact-line"), ("#/goals", ".log tr")):
        with subtests.test(address=address):
            page.goto(f"{life.url}/{address}")
            expect(page.locator(shown).first).to_be_visible()
            assert page.url == f"{life.url}/{address}", "the page chooses no owner by itself"


@pytest.mark.spec("DOOR-5", "SAFE-2")
def test_who_is_bound_to_an_owner_sees_that_owner_alone(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, link=life.link(owner=KATE.owner))
    expect(page.get_by_text("Newest sessions")).to_be_visible()
    expect(page.get_by_text("Health")).to_have_count(0)
    page.goto(f"{life.url}/#/sessions")
    expect(page.locator(".session-line .line-sub").first).to_contain_text(KATE.owner)
    owners = {each.split(" · ")[0] for each in page.locator(".session-line .line-sub").all_inner_texts()}
    assert owners == {KATE.owner}
    assert OTHER.owner not in page.content()


@pytest.mark.spec("DOOR-5", "SAFE-4")
def test_the_overview_tells_health_queue_primary_and_what_each_model_cost_today(
    life: Site, open_page: OpenPage
) -> None:
    page = open_page(life)
    health = page.locator(".part-health")
    for said in ("ready", "sessions", "Primary", "Queue", "due", "Last sweep"):
        expect(health).to_contain_text(said)
    spend = page.locator(".part-spend")
    expect(spend).to_contain_text("$0.54")
    rows = spend.locator("tbody tr").all_inner_texts()
    assert [re.split(r"\s+", row)[0] for row in rows] == ["claude-sonnet", "gpt-mini", "offline"]


@pytest.mark.whole
@pytest.mark.spec("DOOR-5", "SUM-10")
def test_parked_work_says_why_and_is_tried_again(own: Site, open_page: OpenPage) -> None:
    async def park(memory: Memory, clock: FixedClock) -> None:
        await memory.store.mark_due(KATE.owner, Due(kind="summary", subject="lisbon", at=clock.now(), reason="manual"))
        claims = await memory.store.claim(["summary"], limit=100, holder="me", limits=Limits())
        (claim,) = [each for each in claims if each.subject == "lisbon"]
        await memory.store.give_back(claim, "the model <b>refused</b> it", wait_seconds=60, park=True)

    own.do(park(own.memory, own.clock))
    page = open_page(own)
    line = page.locator(".part-work li", has_text="lisbon")
    expect(line).to_contain_text("parked")
    expect(line).to_contain_text("the model <b>refused</b> it")
    page.get_by_role("button", name="Try parked work again").click()
    expect(line).to_have_count(0)


def test_sessions_are_narrowed_by_state_by_words_and_by_owner(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, "#/sessions")
    lines = page.locator(".session-line")
    expect(lines).to_have_count(8)
    page.get_by_role("button", name="Closed").click()
    expect(lines).to_have_count(5)
    page.get_by_role("button", name="All").click()
    page.get_by_role("searchbox").fill("flaky")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("The flaky login test")
    page.get_by_role("searchbox").fill("zebra")
    expect(page.locator("main")).to_contain_text("No summary has all of these words.")
    page.get_by_role("searchbox").fill("")
    expect(lines).to_have_count(8)
    page.locator("#owner").select_option(scene.BEN.owner)
    expect(lines).to_have_count(1)


def test_a_search_leads_to_the_turn_that_was_found(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, f"#/search?owner={KATE.owner}")
    page.get_by_role("searchbox").fill("window seat")
    expect(page.locator("mark").first).to_be_visible()
    page.locator(".hit").first.click()
    expect(page.locator(".chosen .turn")).to_contain_text("window seat")


@pytest.mark.spec("DOOR-5", "FACT-10", "FACT-11")
def test_a_pending_fact_is_shown_with_its_proof_and_approved(own: Site, open_page: OpenPage) -> None:
    page = open_page(own, "#/facts?status=pending")
    page.locator(".fact-line").click()
    expect(page.locator(".side")).to_contain_text("It was said by a tool")
    expect(page.locator(".proof blockquote")).to_contain_text("legal@partner.example")
    expect(page.locator(".proof .turn.marked")).to_contain_text("legal@partner.example")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#told")).to_contain_text("believed")
    expect(page.locator("main")).to_contain_text("Nothing waits for your approval.")
    facts = own.do(own.memory.facts.list(scene.WORK.owner, limit=50))
    assert any("legal@partner.example" in fact.content for fact in facts)


@pytest.mark.spec("DOOR-5", "FACT-11")
def test_a_fact_is_edited_and_forgotten_only_after_a_question(own: Site, open_page: OpenPage) -> None:
    page = open_page(own, f"#/facts?owner={KATE.owner}")
    page.get_by_text("Jo and Mira take part in design reviews.").click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="What is true").fill("Mira leads design and research.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".statement")).to_have_text("Mira leads design and research.")
    expect(page.locator(".rows")).to_contain_text("Mira leads design and research.")
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("dialog")).to_contain_text("took the place of counts again")
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("#told")).to_contain_text("forgotten")
    expect(page.locator(".rows")).not_to_contain_text("Mira leads")
    expect(page.locator(".rows")).to_contain_text("Jo and Mira take part in design reviews.")
    known = [each.content for each in own.do(own.memory.facts.list(KATE.owner, limit=50))]
    assert "Jo and Mira take part in design reviews." in known
    assert "Mira leads design and research." not in known


@pytest.mark.whole
@pytest.mark.spec("DOOR-5", "FACT-11")
def test_facts_are_found_by_their_words(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, f"#/facts?owner={KATE.owner}")
    page.get_by_role("searchbox").fill("window seat")
    expect(page.locator(".fact-line").first).to_contain_text("window seat")
    expect(page).to_have_url(re.compile("q=window"))


@pytest.mark.whole
def test_a_search_in_everyones_memory_asks_whose(life: Site, open_page: OpenPage, subtests: pytest.Subtests) -> None:
    page = open_page(life)
    for address, found in (("#/facts", ".fact-line"), ("#/search", ".hit")):
        with subtests.test(address=address):
            page.goto(f"{life.url}/{address}")
            page.get_by_role("searchbox").fill("window seat")
            asks = re.compile(r"^Choose whose memory to search, .*“Memory of”\.$")
            expect(page.locator("main .trouble")).to_have_text(asks)
            expect(page.locator("main .trouble")).to_be_in_viewport()
            expect(page.locator("main .rows")).not_to_be_visible()
            page.locator("#owner").select_option(KATE.owner)
            expect(page.locator(found).first).to_contain_text("window seat")


@pytest.mark.whole
def test_a_search_of_facts_asks_for_no_owner_where_there_is_one_alone(empty: Site, open_page: OpenPage) -> None:
    empty.do(empty.memory.append(KATE, "user", "I would like a window seat."))
    empty.do(empty.memory.facts.add(KATE.owner, "Ana likes a window seat."))
    page = open_page(empty, "#/facts")
    page.get_by_role("searchbox").fill("window seat")
    expect(page.locator(".fact-line")).to_contain_text("Ana likes a window seat.")


def test_digests_say_why_and_why_not(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, "#/digests")
    expect(page.locator(".digest-text").first).to_contain_text("While you were away")
    page.get_by_role("button", name="Not told").click()
    expect(page.locator(".digest summary")).to_contain_text("The agent did nothing while they were away.")


def test_the_goal_log_shows_each_step_and_one_goal_alone(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, "#/goals")
    expect(page.locator(".log tr")).to_have_count(6)
    expect(page.locator(".log")).to_contain_text("Quota of the build minutes is used up")
    page.get_by_text("Weekly report").first.click()
    expect(page.locator(".log tr")).to_have_count(2)


@pytest.mark.whole
def test_the_keyboard_reaches_everything(life: Site, open_page: OpenPage) -> None:
    page = open_page(life)
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.locator("h1")).to_have_text("Sessions")
    page.wait_for_selector(".session-line")
    for key in "jjk":
        page.keyboard.press(key)
    expect(page.locator(".session-line").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".session-line").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Moving the design review to 3 March")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("Sessions")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("g f")
    expect(page.locator("h1")).to_have_text("Sessions")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keyboard")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for letter, title in (("f", "Facts"), ("d", "Digests"), ("l", "Goal log"), ("q", "Search"), ("o", "Overview")):
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press(letter)
        expect(page.locator("h1")).to_have_text(title)


@pytest.mark.whole
def test_the_focus_can_be_seen_wherever_tab_leads(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, "#/facts")
    page.wait_for_selector(".fact-line")
    page.locator("#nav a").first.focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        style = "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; }"
        shape, width = page.evaluate(style)
        assert shape != "none" and width != "0px", page.evaluate("() => document.activeElement.outerHTML")


@pytest.mark.whole
def test_colours_follow_the_system_and_the_switch(life: Site, open_page: OpenPage) -> None:
    def ground(page: Page) -> int:
        return int(page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))

    light, dark = open_page(life), open_page(life, color_scheme="dark")
    assert ground(light) > 200 > 60 > ground(dark)
    light.keyboard.press("t")
    light.keyboard.press("t")
    assert ground(light) < 60
    light.reload()
    expect(light.locator("#main .panel").first).to_be_visible()
    assert ground(light) < 60


@pytest.mark.whole
def test_who_wants_less_motion_gets_none(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, reduced_motion="reduce")
    page.keyboard.press("t")
    page.wait_for_selector(".told")
    assert page.evaluate("() => document.getAnimations().length") == 0


@pytest.mark.whole
def test_times_are_in_the_zone_of_the_viewer(life: Site, open_page: OpenPage) -> None:
    shown = [
        open_page(life, "#/goals", timezone_id=zone).locator(".log-time").nth(1).inner_text()
        for zone in ("UTC", "Asia/Tokyo")
    ]
    hours = [int(re.findall(r"(\d\d):\d\d", each)[0]) for each in shown]
    assert (hours[1] - hours[0]) % 24 == 9


@pytest.mark.whole
def test_what_happens_is_shown_without_being_asked_for(own: Site, open_page: OpenPage) -> None:
    page = open_page(own, "#/sessions")
    page.wait_for_selector(".session-line")
    own.do(own.memory.append(KATE, "user", "Something new", session="brand-new"))
    expect(page.locator(".session-line").first).to_contain_text("brand-new")


@pytest.mark.whole
def test_a_session_is_closed_reopened_and_forgotten_from_its_page(own: Site, open_page: OpenPage) -> None:
    page = open_page(own, "#/sessions/lisbon?owner=kate/telegram/ana")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".title-line .state")).to_have_text("closed")
    page.get_by_role("button", name="Reopen").click()
    expect(page.locator(".title-line .state")).to_have_text("open")
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("h1")).to_have_text("Sessions")
    assert "lisbon" not in {each.id for each in own.do(own.memory.sessions(owner=EVERYONE, limit=50))}


def test_a_turn_that_arrives_is_shown_at_the_end(own: Site, open_page: OpenPage) -> None:
    page = open_page(own, "#/sessions/lisbon?owner=kate/telegram/ana")
    expect(page.locator(".side h2")).to_have_text("What the model sees now")

    async def say() -> None:
        session = await own.memory.session("lisbon", owner="kate/telegram/ana")
        await own.memory.append(session, "user", "One more thing: an umbrella.")

    own.do(say())
    expect(page.locator(".turns")).to_contain_text("an umbrella")
    expect(page.locator(".messages")).to_contain_text("an umbrella")


EMPTY = {
    "#/": "Nothing was said yet.",
    "#/sessions": "afterglow import",
    "#/search": "What are you looking for?",
    "#/facts": "afterglow facts add",
    "#/digests": "afterglow digest",
    "#/goals": "memory.record_goal",
}


@pytest.mark.whole
def test_an_empty_memory_says_what_to_do(empty: Site, open_page: OpenPage) -> None:
    page = open_page(empty)
    for address, advice in EMPTY.items():
        page.goto(f"{empty.url}/{address}")
        expect(page.locator("main")).to_contain_text(advice)


@pytest.mark.whole
def test_a_view_that_does_not_exist_and_a_session_that_is_gone_are_told(life: Site, open_page: OpenPage) -> None:
    page = open_page(life, "#/nowhere", allowed=("404",))
    expect(page.locator("main")).to_contain_text("There is no such page")
    page.goto(f"{life.url}/#/sessions/never-was")
    expect(page.locator("main .trouble")).to_contain_text("never-was")
