"""Take the pictures of the documentation, of the scene that the tests use: `python -m tests.doors.page.pictures`."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, sync_playwright

from afterglow import FixedClock, Memory
from tests.doors.page import scene
from tests.doors.page.conftest import CHROMIUM, NO_BROWSER, Site, served
from tests.kit.records import KATE

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
WIDE = {"viewport": {"width": 1280, "height": 800}}
NARROW = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2}
PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "overview": ("#/", WIDE),
    "sessions": ("#/sessions", WIDE),
    "session": (f"#/sessions/{scene.LONG}?at=1501", WIDE),
    "session-dark": (f"#/sessions/{scene.LONG}", {**WIDE, "color_scheme": "dark"}),
    "session-narrow": (f"#/sessions/{scene.LONG}", NARROW),
    "facts": ("#/facts", WIDE),
    "digests": ("#/digests", WIDE),
    "goals": ("#/goals", WIDE),
    "search": (f"#/search?owner={scene.WORK.owner}&q=disk", WIDE),
    "chat": (f"#/chat?owner={KATE.owner}", WIDE),  # last, since it says something
}


async def fill(memory: Memory, clock: FixedClock) -> None:
    await scene.fill_long(memory, clock)
    clock.move(3600 * 20)
    await scene.fill_small(memory, clock)
    await memory.store.take_primary("afterglow-1", 1, lease_seconds=3600)


def take(browser: Browser, site: Site, name: str) -> None:
    address, options = PICTURES[name]
    context = browser.new_context(locale="en-GB", timezone_id="Europe/Lisbon", reduced_motion="reduce", **options)
    page = context.new_page()
    page.clock.set_fixed_time(site.clock.now() + timedelta(minutes=1))
    page.route("**/api/v1/status", without_place)
    page.goto(site.link())
    page.wait_for_selector("#live.on")
    page.goto(f"{site.url}/{address}")
    page.wait_for_load_state("load")
    page.wait_for_timeout(600)
    if name == "facts":
        choose(page)
    if name == "chat":
        say(page)
    page.screenshot(path=FOLDER / f"{name}.png")
    context.close()


def without_place(route: Route) -> None:
    """Leave out the folder of the scene."""
    told = route.fetch().json()
    route.fulfill(json={**told, "where": "~/afterglow/afterglow.db"})


def choose(page: Page) -> None:
    for key in ("j", "j", "j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".proof .turn")


def say(page: Page) -> None:
    page.get_by_role("textbox", name="Message").fill("Which hotel did we settle on?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".talk-log .turn-assistant:last-child:not(.writing)")
    page.wait_for_timeout(300)


def main() -> None:
    assert CHROMIUM, NO_BROWSER
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), fill) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        for name in PICTURES:
            take(browser, site, name)
            print(FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
