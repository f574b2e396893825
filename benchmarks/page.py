"""How soon each view of the page is painted, with 10,000 sessions and 100,000 facts behind it, and how smooth a long one is.

A real Chromium opens each view anew, with an empty cache and with a warm one. Two moments count, from the start of the
navigation: the first paint of anything, and the paint that shows what was asked for. A document of one word says what of
that is the browser's and the machine's own. Then the slider of a session of 2,000 turns is drawn from end to end and its list
is scrolled, one step in every frame, and each frame is timed.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from afterglow import FixedClock, Memory, Settings
from afterglow.clock import SystemClock, new_id, new_token
from afterglow.facts import FACT_TYPES, Evidence, Fact
from afterglow.store.contract import Store
from afterglow.store.facts import Gathered
from afterglow.store.log import Entry
from afterglow.store.sqlite import SQLiteStore
from afterglow.summaries import CATEGORIES, Summary
from afterglow.turns import Binding, Draft, Turn
from afterglow.web import app
from benchmarks import arguments, environment, save, table, texts

SESSIONS, FACTS, TURNS, OWNERS = 10_000, 100_000, 2_000, 20
FACTS_AT_ONCE = 500
START = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "the-long-one"
BINDINGS = [Binding(agent="kate", channel="web", sender=f"person-{number:02}") for number in range(OWNERS)]
OWNER = BINDINGS[0].owner
VIEWS = {
    "nothing but a word": ("healthz", "body"),
    "overview": ("#/", ".part-health .figures, .part-newest .session-line"),
    "sessions": ("#/sessions", ".session-line"),
    "sessions, searched": ("#/sessions?q=review", ".session-line, .empty"),
    "one session": (f"#/sessions/{LONG}?owner={OWNER}", ".turn .said"),
    "search": (f"#/search?owner={OWNER}&q=note", ".hit, .empty"),
    "facts": ("#/facts", ".fact-line"),
    "facts, one owner": (f"#/facts?owner={OWNER}", ".fact-line"),
    "digests": ("#/digests", ".digest, .empty"),
    "goal log": ("#/goals", ".log tr, .empty"),
}
WATCH = """(selector) => {
  const seen = () => {
    if (!document.querySelector(selector)) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.shownAt = performance.now(); }));
  };
  const watcher = new MutationObserver(seen);
  watcher.observe(document, {childList: true, subtree: true});
}"""
PAINTS = "() => performance.getEntriesByType('paint').map((each) => each.startTime).sort((a, b) => a - b)[0]"
FRAMES = """async ([selector, act]) => {
  const node = document.querySelector(selector);
  const frames = [];
  let before = await new Promise(requestAnimationFrame);
  for (let step = 0; step <= 240; step += 1) {
    if (act === 'slide') { node.value = 1 + step / 240 * (node.max - 1); node.dispatchEvent(new Event('input')); }
    else node.scrollTop = step * 400;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return frames.slice(1);
}"""


async def fill(path: Path, sessions: int, facts: int, turns: int) -> None:
    clock = FixedClock(START)
    store = await SQLiteStore.open(path, clock)
    memory = Memory(store, Settings(data_dir=path.parent))
    said = texts(2_000)
    chance = random.Random(3)
    first: dict[str, Turn] = {}
    for number in range(sessions):
        binding = BINDINGS[number % OWNERS]
        clock.move(30)
        for role in ("user", "assistant"):
            turn = await store.append(
                binding.owner, binding, entry(role, chance.choice(said), clock), named=f"s{number:05}"
            )
            first.setdefault(binding.owner, turn)
        await store.commit_summary(binding.owner, summary(turn, said[number % 2_000], clock), before_seq=0)
    for begin in range(0, facts, FACTS_AT_ONCE):
        await remember(
            store,
            first[BINDINGS[begin // FACTS_AT_ONCE % OWNERS].owner],
            range(begin, begin + FACTS_AT_ONCE),
            said,
            clock,
        )
    for number in range(turns):
        clock.move(30)
        role = "assistant" if number % 2 else "user"
        await memory.append(BINDINGS[0], role, chance.choice(said), session=LONG)
        if number % 8 == 0:
            await memory.settle()
    for number in range(300):
        await memory.record_goal(BINDINGS[number % OWNERS], f"goal-{number // 5}", "completed", title=said[number][:60])
    await memory.close()


def entry(role: Any, text: str, clock: FixedClock) -> Entry:
    trust = "owner" if role == "user" else "agent"
    draft = Draft(
        role=role, text=text, trust=trust, origin="person" if role == "user" else "agent", at=clock.now(), tokens=50
    )
    return Entry(draft=draft, terms=text.lower().split(), bytes=len(text))


def summary(turn: Turn, text: str, clock: FixedClock) -> Summary:
    return Summary(
        owner=turn.owner, session=turn.session, agent="kate", title=text[:60], summary=text,
        category=CATEGORIES[turn.seq % 9], decisions=(), open_threads=(), outcomes=(),
        people=(), first_seq=1, last_seq=turn.seq, first_at=turn.at, last_at=turn.at,
        trigger="manual", model="none", prompt="none", input_tokens=0, output_tokens=0, cost_usd=0.0, degraded=False,
        created_at=clock.now(),
    )  # fmt: skip


async def remember(store: Store, turn: Turn, numbers: range, said: list[str], clock: FixedClock) -> None:
    known = await store.known_facts(turn.owner, [])
    proof = (Evidence(session=turn.session, seq=turn.seq, quote=turn.text[:80], at=turn.at),)
    new = tuple(
        Fact(
            owner=turn.owner, id=new_id(clock), type=FACT_TYPES[number % len(FACT_TYPES)],
            content=f"Fact {number}: {said[number % 2_000]}"[:300], confidence="high",
            source_date=(START + timedelta(hours=number)).date().isoformat(), extracted_at=clock.now(), trust="owner",
            status="pending" if number % 50 == 0 else "active", why=None, supersedes=None, session=turn.session,
            way="extracted", model="none", prompt="none", changed_at=clock.now(), evidence=proof,
        )
        for number in numbers
    )  # fmt: skip
    await store.commit_facts(turn.owner, Gathered(version=known.version, new=new))


@asynccontextmanager
async def serving(memory: Memory) -> AsyncIterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app(memory), lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await running


async def signed_in(browser: Browser, memory: Memory, url: str) -> BrowserContext:
    clock = memory.store.clock
    code = new_token(clock)
    await memory.store.add_token("browser", "owner", code, kind="link", expires_at=clock.now() + timedelta(days=1))
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    await page.goto(f"{url}/#signin={code}")
    await page.wait_for_selector("#live.on")
    await page.close()
    return context


async def opened(context: BrowserContext, url: str, view: str, *, cold: bool) -> tuple[float, float, Page]:
    """When anything was painted, and when what was asked for was, in milliseconds from the start of the navigation."""
    address, selector = VIEWS[view]
    page = await context.new_page()
    if cold:
        devtools = await context.new_cdp_session(page)
        await devtools.send("Network.clearBrowserCache")
    await page.add_init_script(f"({WATCH})({selector!r})")
    await page.goto(f"{url}/{address}")
    shown = await (await page.wait_for_function("() => window.shownAt")).json_value()
    await page.wait_for_function("() => performance.getEntriesByType('paint').length")
    return await page.evaluate(PAINTS), shown, page


async def measure(memory: Memory, chromium: str, times: int) -> dict[str, Any]:
    async with serving(memory) as url, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium)
        context = await signed_in(browser, memory, url)
        found: dict[str, Any] = {}
        for view in VIEWS:
            runs: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
            for number in range(times * 2):
                kind = "cold" if number % 2 else "warm"
                paint, shown, page = await opened(context, url, view, cold=kind == "cold")
                runs[kind].append((paint, shown))
                await page.close()
            found[view] = {kind: _figures(each) for kind, each in runs.items()}
        smooth = await smoothness(context, url)
        version = browser.version
        await browser.close()
    return {"views": found, "long session": smooth, "chromium": version}


def _figures(runs: list[tuple[float, float]]) -> dict[str, float]:
    paints, shown = zip(*runs, strict=True)
    return {
        "first_paint_ms": round(median(paints), 1),
        "first_paint_ms_worst": round(max(paints), 1),
        "shown_ms": round(median(shown), 1),
        "shown_ms_worst": round(max(shown), 1),
    }


async def smoothness(context: BrowserContext, url: str) -> dict[str, Any]:
    _, _, page = await opened(context, url, "one session", cold=False)
    found: dict[str, Any] = {}
    for name, selector, act in (("slider", ".slider", "slide"), ("list", ".turns .rows", "scroll")):
        frames = sorted(await page.evaluate(FRAMES, [selector, act]))
        found[name] = {
            "frames": len(frames),
            "frame_ms": round(median(frames), 1),
            "frame_ms_p95": round(frames[int(0.95 * len(frames))], 1),
            "frame_ms_worst": round(frames[-1], 1),
        }
    await page.close()
    return found


def report(figures: dict[str, Any]) -> str:
    rows = [
        (view, kind, each["first_paint_ms"], each["first_paint_ms_worst"], each["shown_ms"], each["shown_ms_worst"])
        for view, kinds in figures["views"].items()
        for kind, each in kinds.items()
    ]
    frames = [(name, *each.values()) for name, each in figures["long session"].items()]
    views = table(("view", "cache", "first paint, ms", "worst", "shown, ms", "worst"), rows)
    return views + "\n\n" + table(("2,000 turns", "frames", "frame, ms", "p95", "worst"), frames)


async def run(folder: Path, quick: bool) -> dict[str, Any]:
    chromium = shutil.which("chromium")
    assert chromium, "there is no Chromium on this machine; on Debian: apt-get install chromium"
    size = (500, 5_000, 400) if quick else (SESSIONS, FACTS, TURNS)
    path = folder / "afterglow.db"
    if not path.exists():
        await fill(path, *size)
    store = await SQLiteStore.open(path, SystemClock())
    memory = Memory(store, Settings(data_dir=folder), folds=False)
    figures = await measure(memory, chromium, 3 if quick else 15)
    await memory.close()
    return {"environment": environment("playwright"), "sessions": size[0], "facts": size[1], **figures}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--folder", type=Path, help="an empty folder to fill, or one that a run before has filled")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(run(asked.folder or Path(folder), asked.quick))
    print(report(figures))
    if not asked.quick:
        save("page", figures)


if __name__ == "__main__":
    main()
