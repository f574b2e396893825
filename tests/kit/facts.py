"""Facts for tests, each with the turn that proves it."""

from __future__ import annotations

from typing import Any

from afterglow.clock import new_id
from afterglow.facts import Evidence, Fact
from afterglow.store.contract import Store
from afterglow.store.facts import Gathered
from afterglow.turns import Binding
from tests.kit.records import KATE, said

DAY = "2026-03-02"


async def remember(store: Store, content: str, day: str = DAY, binding: Binding = KATE, **more: Any) -> Fact:
    """A fact, with a turn of the owner that says it."""
    turn = await store.append(binding.owner, binding, said(content))
    known = await store.known_facts(binding.owner, [content])
    given: dict[str, Any] = {
        "type": "decision",
        "confidence": "high",
        "trust": "owner",
        "status": "active",
        "why": None,
        "supersedes": None,
        "way": "extracted",
    }
    fact = Fact(
        owner=binding.owner,
        id=new_id(store.clock),
        content=content,
        source_date=day,
        extracted_at=store.clock.now(),
        changed_at=store.clock.now(),
        session=turn.session,
        model="scripted",
        prompt="facts-1",
        evidence=(Evidence(session=turn.session, seq=turn.seq, quote=content, at=turn.at),),
        **{**given, **more},
    )
    (stored,) = await store.commit_facts(binding.owner, Gathered(version=known.version, new=(fact,)))
    return stored
