"""60 hostile strings as names, turns, titles, goals and facts: on the page they are letters, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from afterglow import FixedClock, Memory
from afterglow.memory import EVERYONE
from tests.doors.page import scene
from tests.doors.page.conftest import Calm, OpenPage, Site, served

pytestmark = pytest.mark.spec("DOOR-5", "SAFE-1", "SAFE-5")
VIEWS = {
    "#/": "Overview",
    "#/sessions": "Sessions",
    "#/facts": "Facts",
    "#/goals": "Goal log",
    "#/digests": "Digests",
}
OF_THE_PAGE = {"first.js", "main.js", "icon.svg"}


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    async def fill(memory: Memory, clock: FixedClock) -> None:
        await scene.fill_hostile(memory, clock)
        await scene.hostile_summaries(memory)

    with served(tmp_path_factory.mktemp("hostile"), fill, scene.obedient()) as site:
        yield site


def check_dead(page: Page) -> None:
    """Nothing stands on the page that the page did not put there."""
    found = page.evaluate("""() => {
      const all = (what) => [...document.querySelectorAll(what)];
      const listens = (each) => [...each.attributes].some((attribute) => /^on/i.test(attribute.name));
      return {
        made: all('iframe, object, embed, base, form[action], meta[http-equiv], template, video, math, marquee').length,
        loaded: all('script[src], img').map((each) => each.src.split('/').pop()),
        inline: all('script:not([src]), style').length,
        listeners: all('*').filter(listens).length,
        links: all('[href]').map((each) => each.getAttribute('href')).filter((href) => !/^(#|\\/assets\\/)/.test(href)),
      };
    }""")
    assert set(found.pop("loaded")) == OF_THE_PAGE
    assert found == {"made": 0, "inline": 0, "listeners": 0, "links": []}


def test_all_hostile_strings_together_on_one_page_stay_letters(hostile: Site, open_page: OpenPage, calm: Calm) -> None:
    page = open_page(hostile, f"#/sessions/{scene.TOGETHER.sender}?owner={quote(scene.TOGETHER.owner, safe='')}")
    expect(page.locator(".turns .turn .said").first).to_be_visible()
    shown = scrolled(page, calm, ".turns", "[data-seq]")
    assert [shown[str(place + 1)] for place in range(60)] == scene.HOSTILE
    assert page.locator(".side .messages .said").count()
    check_tool_calls(page)
    page.get_by_role("button", name="Summary", exact=True).click()
    expect(page.locator(".summary")).to_be_attached()
    check_dead(page)


def check_tool_calls(page: Page) -> None:
    """The last turn of all together holds them."""
    last = page.locator(".turns .turn[data-seq='61']")
    expect(last.locator("header")).to_contain_text(scene.HOSTILE[0])
    calls = last.locator(".parts details")
    expect(calls).to_have_count(60)
    calls.evaluate_all("(all) => all.forEach((each) => { each.open = true; })")
    expect(calls.last.locator("pre")).to_be_visible()
    for text, shown in zip(scene.HOSTILE, calls.locator("pre").all_text_contents(), strict=True):
        call = json.loads(shown)
        assert (call["id"], call["name"], list(call["arguments"])) == (text, text, [text])
    assert calls.locator("summary").all_text_contents() == [f"tool_call: {text}" for text in scene.HOSTILE]


def test_hostile_content_stays_letters_in_every_list(
    hostile: Site, open_page: OpenPage, calm: Calm, subtests: pytest.Subtests
) -> None:
    page = open_page(hostile)
    for address, title in VIEWS.items():
        with subtests.test(address=address):
            page.goto(f"{hostile.url}/{address}")
            expect(page.locator("h1")).to_have_text(title)
            calm(page)
            expect(page.locator("#main .trouble")).to_have_count(0)
            shown = page.locator("#main").text_content() or ""
            assert any(text in shown for text in scene.HOSTILE)
            rows = page.locator(".rows")
            for part in (0, 0.5, 1) if rows.count() else ():
                rows.first.evaluate("(rows, part) => { rows.scrollTop = part * rows.scrollHeight; }", part)
                calm(page)
                check_dead(page)
            check_dead(page)


def scrolled(page: Page, calm: Calm, part: str, each: str) -> dict[str, str]:
    """The words of all turns of a list, by their numbers, seen by scrolling from its start to its end."""
    rows, seen = page.locator(f"{part} .rows"), dict[str, str]()
    rows.evaluate("(rows) => { rows.scrollTop = 0; }")
    for _ in range(100):
        calm(page)
        check_dead(page)
        for seq, text in page.locator(f"{part} {each}").evaluate_all(
            "(all) => all.map((turn) => [turn.dataset.seq, turn.querySelector('.said').textContent])"
        ):
            seen[seq] = text
        if not rows.evaluate(
            "(rows) => { const at = rows.scrollTop; rows.scrollTop += rows.clientHeight; return rows.scrollTop > at; }"
        ):
            return seen
    raise AssertionError("the list has no end")


SOME_OR_ALL = [range(1), *(pytest.param(range(n, n + 12), marks=pytest.mark.whole) for n in range(0, 60, 12))]


@pytest.mark.parametrize("places", SOME_OR_ALL, ids=str)
def test_hostile_content_stays_letters_in_its_session_and_as_a_fact(
    hostile: Site, open_page: OpenPage, places: range
) -> None:
    page = open_page(hostile)
    sessions = hostile.do(hostile.memory.sessions(owner=EVERYONE, limit=200))
    for place in places:
        text = scene.HOSTILE[place]
        session = next(each for each in sessions if each.id.endswith(f" {place}"))
        page.goto(f"{hostile.url}/#/sessions/{quote(session.id, safe='')}?owner={quote(session.owner, safe='')}")
        expect(page.locator(".turns .turn[data-seq='1'] .said")).to_be_visible()
        assert page.locator(".turns .turn[data-seq='1'] .said").text_content() == text
        page.locator(".turns .parts summary").first.click()
        expect(page.locator(".side .messages .said").first).to_be_attached()
        page.get_by_role("button", name="Summary", exact=True).click()
        check_dead(page)
        page.goto(f"{hostile.url}/#/facts?owner={quote(session.owner, safe='')}")
        page.locator(".fact-line").first.click()
        expect(page.locator(".statement")).to_be_visible()
        assert (page.locator(".statement").text_content() or "").startswith(f"{place} ")
        expect(page.locator(".proof blockquote")).to_be_visible()
        check_dead(page)


@pytest.mark.parametrize("step", [60, pytest.param(6, marks=pytest.mark.whole)])
def test_hostile_words_in_the_address_and_the_search_field_stay_words(
    hostile: Site, open_page: OpenPage, calm: Calm, subtests: pytest.Subtests, step: int
) -> None:
    page = open_page(hostile, allowed=("400", "404"))
    for text in scene.HOSTILE[::step]:
        encoded = quote(text, safe="")
        both = f"owner={encoded}&q={encoded}"
        for address in (encoded, f"sessions/{encoded}", f"sessions?q={encoded}", f"facts?{both}", f"search?{both}"):
            with subtests.test(address=address):
                page.goto(f"{hostile.url}/#/{address}")
                expect(page.locator("#main > *").first).to_be_attached()
                calm(page)
                check_dead(page)
