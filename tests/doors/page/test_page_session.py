"""One session of 2,000 turns in a real browser: its picture, its turns, and what the model saw at any of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from afterglow.context import Context
from tests.doors.page import scene
from tests.doors.page.conftest import OpenPage, Site, served

pytestmark = [pytest.mark.spec("DOOR-5"), pytest.mark.whole]
ADDRESS = f"#/sessions/{scene.LONG}"
TURNS = 2_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("long"), scene.fill_long) as site:
        yield site


def context_at(site: Site, at: int | None) -> Context:
    async def look() -> Context:
        session = await site.memory.session(scene.LONG, owner=scene.WORK.owner)
        return await site.memory.context(session, at=at)

    return site.do(look())


def slide(page: Page, at: int) -> None:
    page.locator(".slider").evaluate(
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input', {bubbles: true})); }", at
    )


def test_only_the_turns_in_sight_are_on_the_page_and_scrolling_brings_the_rest(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS)
    expect(page.locator(f"[data-seq='{TURNS}'] .said")).to_be_visible()
    for part in (0, 0.25, 0.5, 0.75, 1):
        page.locator(".turns .rows").evaluate("(rows, part) => { rows.scrollTop = part * rows.scrollHeight; }", part)
        page.wait_for_function("() => document.querySelectorAll('.turn-coming').length === 0")
        assert 3 < page.locator(".turns .turn").count() < 60
        expect(page.locator(".turns .turn .said").first).not_to_be_empty()
    expect(page.locator(f"[data-seq='{TURNS}'] .said")).to_be_visible()


def test_rows_never_overlap_however_high_they_turn_out(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, f"{ADDRESS}?turn=1000")
    expect(page.locator(".turn[data-seq='1000'] .said")).to_be_visible()
    gaps = """() => {
      const boxes = [...document.querySelectorAll('.turns .turn')].map((each) => each.getBoundingClientRect());
      boxes.sort((one, other) => one.top - other.top);
      return boxes.slice(1).map((box, place) => Math.abs(box.top - boxes[place].bottom));
    }"""
    assert max(page.evaluate(gaps)) < 1.5


def test_an_address_with_a_turn_opens_at_that_turn(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, f"{ADDRESS}?turn=777")
    expect(page.locator(".chosen .turn[data-seq='777'] .said")).to_be_in_viewport()


def test_blocks_are_drawn_by_level_over_the_turns(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS)
    expect(page.locator(".block.level-0")).not_to_have_count(0)
    shown = {level: page.locator(f".block.level-{level}").count() for level in range(3)}
    assert shown[0] > shown[1] * 4 > shown[2] * 16 > 0
    first = page.locator(".block.level-2 rect").first.bounding_box()
    child = page.locator(".block.level-0 rect").first.bounding_box()
    assert first and child and first["y"] < child["y"] and first["width"] > child["width"] * 20
    seen = {portion.block for portion in context_at(long, None).portions if portion.block}
    drawn = page.locator(".block.seen").evaluate_all("(all) => all.map((each) => Number(each.dataset.block))")
    assert set(drawn) == seen


@pytest.mark.parametrize("at", [1, 7, 500, 1_501])
def test_the_slider_shows_what_the_model_saw_at_that_turn(long: Site, open_page: OpenPage, at: int) -> None:
    page = open_page(long, ADDRESS)
    expect(page.locator(".side h2")).to_have_text("What the model sees now")
    slide(page, at)
    expect(page.locator(".side h2")).to_have_text(f"What the model saw at turn {at:,}")
    context = context_at(long, at)
    expect(page.locator(".meter-figures")).to_contain_text(f"{context.tokens:,} tokens")
    expect(page.locator(".messages > li")).to_have_count(len(context.messages))
    drawn = page.locator(".block.seen").evaluate_all("(all) => all.map((each) => Number(each.dataset.block))")
    assert set(drawn) == {portion.block for portion in context.portions if portion.block}
    assert f"at={at}" in page.url
    page.reload()
    expect(page.locator(".side h2")).to_have_text(f"What the model saw at turn {at:,}")


def test_arrows_move_by_one_turn_and_brackets_by_one_block(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS)
    expect(page.locator(".side h2")).to_have_text("What the model sees now")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".side h2")).to_have_text("What the model saw at turn 1,997")
    page.keyboard.press("]")
    expect(page.locator(".side h2")).to_contain_text("level 2")
    page.keyboard.press("]")
    _, second, *_ = [portion.block for portion in context_at(long, 1_997).portions if portion.block]
    # Which turns it holds is not always the same: folding goes on beside the filling.
    expect(page.locator(".block.chosen title")).to_contain_text(f"Block {second}, level 2")
    page.keyboard.press("Escape")
    expect(page.locator(".side h2")).to_have_text("What the model saw at turn 1,997")


def test_a_block_opens_to_its_text_its_children_and_its_turns(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS)
    page.locator(".block.level-2").first.click()
    expect(page.locator(".side")).to_contain_text("Made of")
    page.locator(".children button").first.click()
    expect(page.locator(".side h2")).to_contain_text("level 1")
    page.locator(".children button").first.click()
    expect(page.locator(".side h2")).to_contain_text("level 0")
    expect(page.locator(".side")).to_contain_text("then merged")
    page.get_by_role("button", name="Show its").click()
    expect(page.locator(".block-turns .turn").first).to_contain_text("We move the archive to the new store.")
    page.get_by_role("button", name="Go to turn 1").click()
    expect(page.locator(".turns .turn[data-seq='1'].marked")).to_be_visible()


def test_sliding_through_all_turns_asks_for_few_contexts(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS)
    expect(page.locator(".side h2")).to_have_text("What the model sees now")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/context" in request.url else None)
    page.evaluate("""() => {
      const slider = document.querySelector('.slider');
      for (let at = 1; at <= 2000; at += 1) { slider.value = at; slider.dispatchEvent(new Event('input')); }
    }""")
    expect(page.locator(".meter-figures")).to_contain_text("2,000")
    assert len(asked) <= 2


def test_the_summary_and_the_narrow_screen_are_one_tab_away(long: Site, open_page: OpenPage) -> None:
    page = open_page(long, ADDRESS, viewport={"width": 360, "height": 740})
    expect(page.locator(".turns .turn .said").first).to_be_visible()
    page.get_by_role("button", name="What the model saw").click()
    expect(page.locator(".meter")).to_be_visible()
    expect(page.locator(".turns")).to_be_hidden()
    page.get_by_role("button", name="Summary").click()
    expect(page.locator(".summary")).to_contain_text("The team has to look at it again next week.")
