"""A talk of 30 exchanges with a real model, written down as it goes: docs/agent-example.md.

It crosses compactions, goes idle, is cleared, and begins anew; one question only the calendar's report answers.

    python -m benchmarks.worked_example --base-url http://127.0.0.1:8902/v1 --model local
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from afterglow.agent import Agent
from afterglow.memory import Memory, open_memory
from afterglow.settings import Settings
from afterglow.turns import Binding, Session

PAGE = Path(__file__).parent.parent / "docs" / "agent-example.md"
ANA = Binding(agent="kate", channel="terminal", sender="ana")
INSTRUCTIONS = (
    "You are Kate, Ana's friendly assistant. Reply to what Ana just said in one short sentence. When she asks something, "
    "look for the answer in what she told you and in the record, and give it. If it is not there, say that you do not know."
)
TALK = (
    "Hi, I am Ana. I live in Lisbon.",
    "My cat is called Mia. She is nine years old.",
    "I am planning a trip to Porto with my sister Clara.",
    "We want to go by train, not by car.",
    "The hotel is called Casa Azul, booking number QX-7741.",
    "Our budget for the whole trip is 600 euros.",
    "Clara does not eat meat.",
    "So we should book a vegetarian restaurant for the first evening.",
    "I would like to see the Livraria Lello bookshop.",
    "How is my sister called?",
    "The train leaves from Santa Apolónia at 8:30.",
    "I still have to ask my neighbour Rui to feed the cat.",
    "Rui's phone number is 912 555 014.",
    "What must I still ask Rui?",
    "At work I am preparing a talk about tide gauges.",
    "The talk is for the harbour conference, and it must be 20 minutes long.",
    "My colleague Tomás checks the slides.",
    "The slides are in the folder /home/ana/talks/tides.",
    "I prefer dark slides with few words.",
    "Who checks my slides?",
    "For the trip I also want to buy new walking shoes, size 39.",
    "Clara wants to see the sea at Matosinhos.",
    "Let us do that on the second day.",
    "What is the booking number of the hotel?",
    "When is my appointment with the dentist?",
    "Thank you. Is there anything about the trip that is still open?",
    "I decided to leave the laptop at home.",
    "What is our budget?",
    "Good. We go on tomorrow.",
    "Good night, Kate.",
)
LATER = ("Good morning! What is my cat called?", "With whom am I going to Porto?", "How do we travel there?")


def calendar(now: datetime) -> str:
    begin = (now + timedelta(days=1)).replace(hour=15, minute=0)
    stamps = [f"DTSTART:{begin:%Y%m%dT%H%M%SZ}", f"DTEND:{begin + timedelta(hours=1):%Y%m%dT%H%M%SZ}"]
    event = [
        "BEGIN:VEVENT",
        "UID:1",
        f"DTSTAMP:{now:%Y%m%dT%H%M%SZ}",
        *stamps,
        "SUMMARY:Dentist\\, Dr. Brandt",
        "END:VEVENT",
    ]
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//x//EN", *event, "END:VCALENDAR", ""])


def settings(folder: Path, given: argparse.Namespace) -> Settings:
    (folder / "calendar.ics").write_text(calendar(datetime.now(UTC)))
    source = {"kind": "calendar", "address": str(folder / "calendar.ics"), "ahead_hours": 48, "summarise": False}
    return Settings.model_validate(
        {
            "data_dir": str(folder),
            "zone": "UTC",
            "primary": "true",
            "timeout_summarize_seconds": given.quiet,
            "timeout_clear_seconds": 20,
            "sources": {"calendar": source},
            "compaction": {
                "model": given.model,
                "base_url": given.base_url,
                "interval": 12,
                "keep_recent": 6,
                "deadline_seconds": 900,
                "context_sources": ({"source": "calendar", "prompt": "What is coming up?"},),
            },
            "answering": {"tools": (), "tokens_max": 60, "deadline_seconds": 900, "instructions": INSTRUCTIONS},
            "facts": {"enabled": True, "part_tokens": 700, "answer_tokens_max": 500},
            "work": {"concurrency": 1, "act_seconds_max": 3600},
        }
    )


class Page:
    """The page as it is written."""

    def __init__(self, name: str) -> None:
        self.lines = [
            "# A talk with the agent, as it went",
            "",
            f"Thirty exchanges with a small model on the same machine ({name}), and three more in a new session. It was "
            "written by `python -m benchmarks.worked_example`; nothing in it was changed. In the margin stands what "
            "Afterglow did behind the replies. The model is small: where it is wrong, it is wrong here too.",
            "",
        ]

    def add(self, *lines: str) -> None:
        self.lines += [*lines, ""]
        PAGE.write_text("\n".join(self.lines))
        print(*lines, sep="\n", flush=True)


async def exchange(agent: Agent, page: Page, number: int, text: str) -> None:
    began = time.perf_counter()
    reply = await agent.invoke(text)
    took = time.perf_counter() - began
    await agent.memory.settle()
    session = await agent.memory.store.current_session(ANA)
    assert session is not None
    context = await agent.memory.context(session)
    page.add(
        f"**{number}. Ana:** {text}  ",
        f"**Kate:** {reply}",
        f"<sub>{took:.0f} s · context {context.tokens} tokens</sub>",
    )


async def folded(memory: Memory, page: Page, session: Session, seen: int) -> int:
    """Say what was folded since, and how often that happened by now."""
    now = await memory.session(session.id, owner=session.owner)
    if now.folded.version != seen:
        context = await memory.context(now)
        record = context.messages[0].text
        page.add(f"> **Folded** (turns up to {now.folded.to_seq}). The record now begins the context:", *quoted(record))
    return now.folded.version


def quoted(text: str) -> Iterator[str]:
    yield ">"
    for line in text.splitlines():
        yield f"> {line}  "


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--name", default="Qwen2.5-Coder-1.5B-Instruct, 4 bits")
    parser.add_argument("--quiet", type=float, default=240)
    given = parser.parse_args()
    page = Page(given.name)
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(settings(Path(folder), given)) as memory:
            agent = Agent(memory, binding=ANA)
            await talk(agent, page)
            await agent.close()


async def talk(agent: Agent, page: Page) -> None:
    memory, seen = agent.memory, 0
    page.add("## The first day")
    for number, text in enumerate(TALK, 1):
        await exchange(agent, page, number, text)
        session: Any = await memory.store.current_session(ANA)
        seen = await folded(memory, page, session, seen)
    while (session := await memory.session(session.id, owner=ANA.owner)).state != "closed":  # noqa: ASYNC110
        await asyncio.sleep(2)
    page.add(f"> **Quiet.** The session went idle, was folded whole, and was cleared (state: {session.state}).")
    summary = await memory.summarize(session)
    assert summary is not None
    page.add("> **Summary of the session**", *quoted(f"{summary.title}\n{summary.summary}"))
    for _ in range(60):
        if facts := await memory.facts.list(ANA.owner):
            page.add(
                "> **Facts, each with its proof**", *quoted("\n".join(f"{each.type}: {each.content}" for each in facts))
            )
            break
        await asyncio.sleep(5)
    page.add("## A new session")
    for number, text in enumerate(LATER, len(TALK) + 1):
        await exchange(agent, page, number, text)


if __name__ == "__main__":
    asyncio.run(main())
