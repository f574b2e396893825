"""Sessions that hold a secret in everything that is made of one, for tests of forgetting."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

from afterglow import transfer
from afterglow.facts import Evidence, Fact
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.spend import Amount, Call
from afterglow.store.contract import Store
from afterglow.store.facts import Gathered
from afterglow.store.log import Entry, Shown
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding, Session
from afterglow.work import Due, Limits
from tests.faults import verbs
from tests.kit import faults
from tests.kit.facts import remember
from tests.kit.promises import dump
from tests.kit.records import KATE, NOON, said

OWNER = KATE.owner
RUN = uuid.uuid4().hex[:6]
"""Other tests on the same server have words of their own."""
SECRET = f"zanzibar4711{RUN}"
LIMITS = Limits(lease_seconds=60)


async def talk(store: Store, *texts: str, session: str = "talk", to: Binding = KATE, **more: Any) -> Session:
    """What was said, by the user and the assistant in turn, a minute apart, each under a key."""
    await store.open_session(to, session)
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        entry = said(text, role, key=f"{session}-{number}", at=NOON + timedelta(minutes=number), **more)
        await store.append(to.owner, session, entry)
    return await store.session(to.owner, session)


def fact(content: str, *proofs: tuple[str, int], **more: Any) -> Fact:
    """A fact that these turns (session, seq) prove."""
    given: dict[str, Any] = {
        "owner": OWNER,
        "id": f"f-{content}",
        "type": "preference",
        "content": content,
        "confidence": "high",
        "source_date": "2026-03-02",
        "extracted_at": NOON,
        "trust": "owner",
        "status": "active",
        "why": None,
        "supersedes": None,
        "session": proofs[0][0],
        "way": "extracted",
        "model": "scripted",
        "prompt": "facts-1",
        "changed_at": NOON,
        "evidence": tuple(Evidence(session=where, seq=seq, quote=content, at=NOON) for where, seq in proofs),
    }
    return Fact(**{**given, **more})


async def store_facts(store: Store, *facts: Fact, owner: str = OWNER) -> None:
    for each in facts:
        known = await store.known_facts(owner, [each.content])
        await store.commit_facts(owner, Gathered(version=known.version, new=(each,)))


async def holders(store: Store, word: str) -> list[str]:
    """The tables that have a row with this in it."""
    return [table for table, rows in (await dump(store)).items() if any(word in row for row in rows)]


async def miscounted(store: Store) -> list[str]:
    """Sessions that count another number of stones than they have."""

    def look(tx: Tx) -> list[str]:
        rows = tx.rows(
            """SELECT s.id FROM sessions s WHERE s.stones <> (SELECT count(*) FROM turns t
                 WHERE t.owner = s.owner AND t.session = s.id AND t.removed = '{"forgotten":1}')"""
        )
        return [row["id"] for row in rows]

    return await store._read("look", EVERYONE, look)


async def kinds_due(store: Store, subject: str) -> dict[str, str]:
    return {work.kind: work.state for work in await store.work_list(EVERYONE) if work.subject == subject}


async def merged(store: Store) -> Session:
    """Six turns in three blocks of two, all of them in one block of level 1, and two turns behind it."""
    session = await talk(store, *(f"turn {seq} {SECRET if seq == 3 else 'calm'}" for seq in range(1, 9)))
    for number, first in enumerate((1, 3, 5)):
        text = f"{SECRET if first == 3 else 'calm'} {first}"
        one = verbs.block("talk", first, first + 1, text=text, tokens=30, lost=(SECRET,) if first == 3 else ())
        await store.commit_blocks(OWNER, "talk", verbs.change(one, version=number))
    top = verbs.block("talk", 1, 6, level=1, children=(1, 2, 3), text=f"all of it, {SECRET}", tokens=60)
    await store.commit_blocks(OWNER, "talk", verbs.change(top, version=3, replaces=(1, 2, 3), turns=8, exchanges=4))
    return session


async def chain(store: Store) -> list[Fact]:
    """Four facts, each in the place of the one before."""
    facts: list[Fact] = []
    for place in ("Rome", "Bonn", "Oslo", "Bern"):
        before = facts[-1].id if facts else None
        facts.append(await remember(store, f"Ana lives in {place}", supersedes=before))
    return facts


def memory_over(store: Store, model: ScriptedModel | None = None, **given: Any) -> Memory:
    """A memory whose model says the secret, and which leaves all work to a worker."""
    return faults.memory_over(store, model or ScriptedModel(secretive), folds=False, **given)


def secretive(request: Request) -> str:
    """A model that says the secret wherever it was shown it, and claims a fact about it where that was said."""
    told = f"They talked about {SECRET if SECRET in request.material else 'this and that'} at some length. " * 6
    if request.schema is None:
        return told
    if request.purpose == "facts":
        quote = f"I really like {SECRET}"
        claimed = {
            "turn": 1,
            "speaker": "user",
            "quote": quote,
            "content": f"The user likes {SECRET}",
            "type": "preference",
        }
        return json.dumps({"facts": [claimed] if quote in request.material else []})
    return json.dumps({"title": told[:40], "summary": told, "category": "other"})


async def exported(store: Store) -> list[str]:
    return [line async for line in transfer.export_lines(memory_over(store))]


async def made(store: Store) -> Session:
    """A session with everything that is made of one, the secret in all of it."""
    session = await talk(store, *(f"turn {seq} about {SECRET} as one may say" for seq in range(1, 7)))
    one = verbs.block("talk", 1, 2, text=f"a block about {SECRET}", tokens=30)
    report = verbs.report("talk", f"a report about {SECRET}")
    await store.commit_blocks(OWNER, "talk", verbs.change(one, reports=(report,), turns=6, exchanges=3))
    about = replace(verbs.summary("talk"), last_seq=6, title=SECRET, summary=f"about {SECRET}", people=(SECRET,))
    await store.commit_summary(OWNER, about, before_seq=0)
    await store_facts(store, fact(f"a fact about {SECRET}", ("talk", 1), id="f1"))
    call = Call(day="2026-03-02", model="openai:m", purpose="fold", owner=OWNER, session="talk")
    await store.reserve_spend(call, Amount(tokens=10, micro_usd=5), Amount(tokens=1000, micro_usd=1000))
    await store.mark_due(OWNER, Due(kind="facts", at=NOON, reason="idle", subject="talk"))
    return session


async def canaries(store: Store, count: int) -> list[Session]:
    """Sessions with a word of their own in everything that is kept of one."""
    made: list[Session] = []
    for number in range(count):
        word, name = f"canary{number:04d}{RUN}", f"s{number}"
        session = await talk(store, *(f"{word} {place} said here" for place in ("one", "two", "three")), session=name)
        parts = [{"type": "tool_result", "id": "1", "content": f"{word} in a tool's answer"}]
        giant = said(f"{word} in a giant turn " * 300, "tool", parts=parts, key=f"{word} key", terms=[word, "giant"])
        shown = Shown(text=f"{word} in a giant …", parts=parts)
        await store.append(OWNER, name, Entry(draft=giant.draft, terms=giant.terms, bytes=giant.bytes, shown=shown))
        block = verbs.block(name, 1, 2, text=f"{word} in a block", tokens=30, lost=(word,))
        change = verbs.change(block, reports=(verbs.report(name, f"{word} in a report"),), turns=4, exchanges=2)
        await store.commit_blocks(OWNER, name, change)
        about = replace(verbs.summary(name), title=f"{word} in a title", open_threads=(f"{word} is open",))
        await store.commit_summary(OWNER, about, before_seq=0)
        await store_facts(store, fact(f"{word} in a fact", (name, 1), id=f"f{number}"))
        made.append(session)
    return made
