"""Memories for the tests and pictures of the page: a small one that looks like life, and a session of 2,000 turns."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from afterglow import Binding, FixedClock, Inbound, Memory, Part, Settings
from afterglow.clock import new_id
from afterglow.facts import Evidence, Fact
from afterglow.memory import EVERYONE
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.spend import Amount, Call, Reservation, Usage
from afterglow.store.contract import Store
from afterglow.store.facts import Gathered
from afterglow.turns import Session
from tests.kit.facts import remember
from tests.kit.records import KATE

WORK = Binding(agent="kate", channel="slack", sender="ana")
BEN = Binding(agent="iris", channel="telegram", sender="ben")
LONG = "the-long-one"
TOGETHER = Binding(agent="kate", channel="web", sender="all-of-them")
"""Who says and is told every hostile string in one session, which has the same name."""
_FOLD_EVERY = 8

_LIFE: dict[str, Any] = json.loads((Path(__file__).parent / "life.json").read_text())
_WHO = {"ana": KATE, "work": WORK, "ben": BEN}
HOSTILE: list[str] = json.loads((Path(__file__).parent / "hostile.json").read_text())
assert len(set(HOSTILE)) == 60


def scripted() -> ScriptedModel:
    """A model that knows what each session of this scene was about."""
    return ScriptedModel(_answer)


def _answer(request: Request) -> str:
    if request.purpose == "agent":
        return "Casa do Rio, at 128 a night. Tram 15E stops in front of it and takes 22 minutes to the conference."
    title, category = _LIFE["titles"].get(request.session or "", ("A talk about this and that", "other"))
    if request.purpose == "summary":
        return json.dumps(
            {
                "title": title,
                "summary": f"{title}. It was discussed, and what was agreed is listed below.",
                "category": category,
                "decisions": ["It is done as proposed."],
                "open_threads": ["The team has to look at it again next week."],
                "outcomes": [],
                "people": [],
            }
        )
    return "Ana asked how far the move was, and what happens if it stops half way. Most records are moved; nothing is lost."


async def fill_small(memory: Memory, clock: FixedClock) -> None:
    """A few sessions of three owners, some closed and summarised, with facts, goals, digests and spend."""
    for place, each in enumerate(_LIFE["talks"]):
        session = await talk(memory, _WHO[each["with"]], each["session"], each["said"], clock)
        if place < 5:
            session = await memory.sunset(session)
        if place < 7:
            await memory.summarize(session)
        clock.move(3600 * 5)
    for each in _LIFE["facts"]:
        await believe(memory.store, _WHO[each["of"]].owner, each)
    for each in _LIFE["goals"]:
        clock.move(60)
        rest = {name: each[name] for name in ("step", "title", "note")}
        await memory.record_goal(_WHO[each["of"]], each["goal"], each["outcome"], **rest)
    await digests(memory, clock)
    await spend(memory.store, clock)


async def talk(
    memory: Memory, binding: Binding, name: str, said: Sequence[tuple[str, str]], clock: FixedClock
) -> Session:
    for question, answer in said:
        await memory.append(binding, "user", question, session=name)
        clock.move(40)
        await memory.append(binding, "assistant", answer, session=name, model="claude-sonnet")
        clock.move(300)
    return await memory.session(name, owner=binding.owner)


async def believe(store: Store, owner: str, given: dict[str, Any]) -> None:
    """A fact with the turn of the talks that proves it."""
    turn = await store.turn(owner, given["session"], given["seq"])
    assert given["quote"] in turn.text
    known = await store.known_facts(owner, [given["content"]])
    fact = Fact(
        owner=owner,
        id=new_id(store.clock),
        type=given["type"],
        content=given["content"],
        confidence="high",
        source_date=turn.at.date().isoformat(),
        extracted_at=store.clock.now(),
        trust=given.get("trust", "owner"),
        status=given.get("status", "active"),
        why=given.get("why"),
        supersedes=None,
        session=turn.session,
        way="extracted",
        model="gpt-mini",
        prompt="facts-1",
        changed_at=store.clock.now(),
        evidence=(Evidence(session=turn.session, seq=turn.seq, quote=given["quote"], at=turn.at),),
    )
    await store.commit_facts(owner, Gathered(version=known.version, new=(fact,)))


async def digests(memory: Memory, clock: FixedClock) -> None:
    """One that was told, and one that was not, with the reason."""

    for number, hours in enumerate((0, 9, 30)):
        clock.move(3600 * hours)
        if hours == 30:
            await memory.record_goal(KATE, "backup", "completed", step="9", title="Back up the photos")
        await memory.on_inbound(Inbound(binding=KATE, text="Good morning", id=f"back-{number}"), deliver=deliver)


async def deliver(to: Binding, part: Part) -> None:
    """Deliver nothing: the page shows what the store keeps."""


async def spend(store: Store, clock: FixedClock) -> None:
    day = clock.now().date().isoformat()
    for model, purpose, tokens, micro in (
        ("claude-sonnet", "context", 48_210, 412_000),
        ("claude-sonnet", "summary", 12_904, 96_000),
        ("gpt-mini", "facts", 91_377, 31_000),
        ("offline", "context", 3_020, 0),
    ):
        call = Call(day=day, model=model, purpose=purpose, owner=KATE.owner, session="lisbon")
        most = Amount(tokens=tokens, micro_usd=micro)
        reserved = await store.reserve_spend(call, most, Amount(tokens=10**9, micro_usd=10**9))
        assert isinstance(reserved, Reservation)
        await store.settle_spend(reserved, Usage(input_tokens=tokens - 500, output_tokens=500), micro)


async def fill_long(memory: Memory, clock: FixedClock, turns: int = 2_000) -> Session:
    """One long talk, folded as it goes, as a server would."""
    chance = random.Random(4)
    await memory.append(WORK, "user", "We move the archive to the new store.", session=LONG)
    session = await memory.session(LONG, owner=WORK.owner)
    for number in range(2, turns + 1):
        clock.move(chance.randint(20, 400))
        subject = chance.choice(_LIFE["subjects"])
        if number % 2:
            await memory.append(session, "user", chance.choice(_LIFE["questions"]).format(subject))
        else:
            figures = (f"{chance.randint(100, 99_999):,}", f"{chance.randint(2, 900):,}")
            await memory.append(session, "assistant", chance.choice(_LIFE["answers"]).format(subject, *figures))
        if number % _FOLD_EVERY == 0:
            await memory.settle()
    await memory.settle()
    await memory.summarize(await memory.session(LONG, owner=WORK.owner))
    return await memory.session(LONG, owner=WORK.owner)


async def fill_hostile(memory: Memory, clock: FixedClock) -> list[Fact]:
    """Every hostile string as a session's name, a sender, a turn, a tool call, a title, a goal, a digest and a fact."""
    facts: list[Fact] = []
    bindings = [Binding(agent="kate", channel="web", sender=_name(text, place)) for place, text in enumerate(HOSTILE)]
    for place, (text, binding) in enumerate(zip(HOSTILE, bindings, strict=True)):
        session = (await memory.append(binding, "user", text, session=_name(text, place))).session
        await memory.append(
            binding,
            "assistant",
            text,
            session=session,
            model=_name(text, place),
            parts=[_tool_call(text)],
        )
        await memory.on_inbound(Inbound(binding=binding, id="before"), deliver=deliver)
        await memory.record_goal(binding, _name(text, place), "failed", title=text, note=text)
        facts.append(await remember(memory.store, f"{place} {text}", binding=binding, type="other"))
        await memory.append(TOGETHER, "user", text, session=TOGETHER.sender)
        clock.move(1)
    more: dict[str, Any] = {"session": TOGETHER.sender, "model": _name(HOSTILE[0], 0)}
    await memory.append(TOGETHER, "assistant", "All of them.", parts=[_tool_call(text) for text in HOSTILE], **more)
    clock.move(86_400)
    for binding in bindings:
        await memory.on_inbound(Inbound(binding=binding, id="back"), deliver=deliver)
    return facts


def _tool_call(text: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": text, "name": text, "arguments": {text: text}}


def _name(text: str, place: int) -> str:
    """The string as far as a name may hold it."""
    return "".join(char for char in text if char.isprintable())[:150] + f" {place}"


def settings(folder: Path) -> Settings:
    """What the scene runs with: digests are wanted, the rest is as it comes."""
    chosen = Settings(data_dir=folder)
    return chosen.model_copy(update={"away_summary": chosen.away_summary.model_copy(update={"enabled": True})})


async def hostile_summaries(memory: Memory) -> None:
    """Each string as the title and the words of a summary too, as an obedient model would write it."""
    for session in await memory.sessions(owner=EVERYONE, limit=200):
        await memory.summarize(session)


def obedient() -> ScriptedModel:
    """A model that repeats what it was told, in every field."""

    def answer(request: Request) -> str:
        text = next((each for each in HOSTILE if each in request.material), "x")
        if request.purpose != "summary":
            return text
        fields = {name: [text] for name in ("decisions", "open_threads", "outcomes", "people")}
        return json.dumps({"title": text, "summary": text, "category": text, **fields})

    return ScriptedModel(answer)
