"""What replaces what goes by when it was said, not by when it was read or in which order a model lists it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadInput
from afterglow.memory import EVERYONE, Memory, open_memory
from afterglow.model import Request, scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.transfer import export_lines, import_lines
from afterglow.turns import Role
from tests.kit.records import KATE, NOON
from tests.paths.conftest import OpenMemory

ROME, MILAN = "I live in Rome near the station.", "I live in Milan near the station now."
TEA = "I prefer green tea in the morning."


def claim(turn: int, quote: str, content: str, **more: Any) -> dict[str, Any]:
    given = {
        "turn": turn,
        "quote": quote,
        "content": content,
        "type": "person",
        "speaker": "user",
        "confidence": "high",
    }
    return {**given, **more}


def replacing(*claims: dict[str, Any]) -> ScriptedModel:
    """A model that claims those of these whose quotes it is shown, and calls the later of any two a new state of things."""

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            return json.dumps({"pairs": [{"pair": n, "verdict": "replaces"} for n in range(1, 9)]})
        return json.dumps({"facts": [each for each in claims if each["quote"] in request.material]})

    return ScriptedModel(answer)


async def written(memory: Memory, *said: tuple[Role, str], session: str = "talk", **more: Any) -> None:
    for role, text in said:
        await memory.append(KATE, role, text, session=session, **more)


async def read(memory: Memory, session: str = "talk") -> None:
    await memory.facts.extract(await memory.session(session, owner=KATE.owner))


async def known(memory: Memory, status: Any = "active") -> list[str]:
    return [fact.content for fact in await memory.facts.list(KATE.owner, status=status)]


@pytest.mark.spec("FACT-5")
@pytest.mark.parametrize("seconds_between", [0, 60])
async def test_of_two_in_one_part_the_later_turn_holds_in_whatever_order_they_are_claimed(
    memory_with: OpenMemory, seconds_between: int
) -> None:
    rome, milan = "The user lives in Rome near the station.", "The user lives in Milan near the station now."
    memory = memory_with(answering=replacing(claim(2, MILAN, milan), claim(1, ROME, rome)))
    await written(memory, ("user", ROME), at=NOON)
    await written(memory, ("user", MILAN), at=NOON + timedelta(seconds=seconds_between))
    await read(memory)
    assert await known(memory) == [milan]
    assert await known(memory, "superseded") == [rome]


@pytest.mark.spec("FACT-5")
async def test_the_owner_who_corrects_the_assistant_in_one_part_is_believed(memory_with: OpenMemory) -> None:
    theirs, mine = "The board meets on the fifth floor.", "The board meets on the sixth floor."
    first = claim(1, theirs, theirs, type="event", speaker="assistant")
    memory = memory_with(answering=replacing(claim(2, mine, mine, type="event"), first))
    await written(memory, ("assistant", theirs), ("user", mine))
    await read(memory)
    assert await known(memory) == [mine]


@pytest.mark.spec("FACT-5")
async def test_an_old_session_that_is_read_after_a_new_one_does_not_undo_it(memory_with: OpenMemory) -> None:
    rome, milan = "The user lives in Rome near the station.", "The user lives in Milan near the station now."
    memory = memory_with(answering=replacing(claim(1, MILAN, milan), claim(1, ROME, rome)))
    await written(memory, ("user", MILAN), session="new", at=NOON)
    await written(memory, ("user", ROME), session="old", at=NOON - timedelta(days=300))
    await read(memory, "new")
    await read(memory, "old")
    assert await known(memory) == [milan]
    assert await known(memory, "superseded") == [rome], "both stay readable"
    session = await memory.session("old", owner=KATE.owner)
    again = await memory.facts.extract(session, anew=True)
    assert (again.stored, again.dropped["settled before"]) == (0, 1)


@pytest.mark.spec("FACT-5")
@pytest.mark.parametrize(
    "then", ["I live in Rome near the station, as you know.", "I live in Florence near the station now."]
)
async def test_what_an_old_session_says_twice_or_changes_itself_does_not_undo_what_was_said_since(
    memory_with: OpenMemory, then: str
) -> None:
    milan = "The user lives in Milan near the station now."
    place = then.split()[3]
    claims = [claim(1, ROME, "The user lives in Rome near the station."), claim(1, MILAN, milan)]
    claims.append(claim(2, then, f"The user lives in {place} near the station."))
    memory = memory_with(answering=replacing(*claims))
    await written(memory, ("user", MILAN), session="new", at=NOON)
    await written(memory, ("user", ROME), ("user", then), session="old", at=NOON - timedelta(days=300))
    await read(memory, "new")
    await read(memory, "old")
    assert await known(memory) == [milan]


@pytest.mark.spec("FACT-5", "P11")
async def test_a_later_word_of_another_does_not_stand_in_place_of_the_owners_that_is_read_after_it(
    memory_with: OpenMemory,
) -> None:
    theirs, mine = "The board meets on the fifth floor.", "The board meets on the sixth floor."
    first = claim(1, theirs, theirs, type="event", speaker="assistant")
    memory = memory_with(answering=replacing(first, claim(1, mine, mine, type="event")))
    await written(memory, ("assistant", theirs), session="new", at=NOON)
    await written(memory, ("user", mine), session="old", at=NOON - timedelta(days=3))
    await read(memory, "new")
    await read(memory, "old")
    assert sorted(await known(memory)) == [theirs, mine]


@pytest.mark.spec("FACT-5", "P10")
async def test_what_is_said_twice_in_one_part_has_both_proofs_and_outlives_either(memory_with: OpenMemory) -> None:
    again = "As I said, I prefer green tea in the morning."
    content = "The user prefers green tea in the morning."
    claims = [claim(1, TEA, content, type="preference"), claim(2, again, content, type="preference")]
    memory = memory_with(answering=replacing(*claims))
    await written(memory, ("user", TEA), ("user", again))
    session = await memory.session("talk", owner=KATE.owner)
    outcome = await memory.facts.extract(session)
    assert (outcome.claimed, outcome.stored, outcome.again) == (2, 1, 1)
    (fact,) = await memory.facts.list(KATE.owner)
    assert [proof.seq for proof in fact.evidence] == [1, 2]
    await memory.forget.turns(session, 1)
    assert await known(memory) == [content]


@pytest.mark.spec("FACT-5", "FACT-10")
async def test_what_waits_becomes_active_when_the_owner_types_it_in_the_same_part(memory_with: OpenMemory) -> None:
    told, typed = "Bob says I want window seats on trains.", "I want window seats on trains."
    content = "The user wants window seats on trains."
    claims = [claim(1, told, content, type="preference"), claim(2, typed, content, type="preference")]
    memory = memory_with(answering=replacing(claims[0]))
    await written(memory, ("user", told))
    await read(memory)
    assert await known(memory, "pending") == [content], "by itself it waits"
    both = memory_with(answering=replacing(*claims))
    await written(both, ("user", told), ("user", typed), session="both")
    await read(both, "both")
    assert await known(both) == [content]
    assert await known(both, "pending") == []


@pytest.mark.spec("FACT-4", "P6")
async def test_an_answer_without_facts_in_it_is_no_answer(memory_with: OpenMemory) -> None:
    answers = iter(['{"turn": 1}', json.dumps({"facts": [claim(1, TEA, TEA, type="preference")]})])
    memory = memory_with(answering=ScriptedModel(lambda request: next(answers)))
    await written(memory, ("user", TEA))
    await read(memory)
    assert await known(memory) == [TEA]


@pytest.mark.spec("FACT-11")
@pytest.mark.parametrize("day", ["2026-03-02", "20260302", "2026-W10-1"])
async def test_a_day_may_be_written_in_any_form_that_names_it(memory_with: OpenMemory, day: str) -> None:
    memory = memory_with(answering=replacing())
    fact = await memory.facts.add(KATE.owner, "I like tea.")
    assert fact.source_date == "2026-03-02"
    assert [each.id for each in await memory.facts.list(KATE.owner, since=day)] == [fact.id]
    assert await memory.facts.list(KATE.owner, until=day) == []


@pytest.mark.spec("FACT-9")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"since": datetime(2026, 1, 1)}, "has no zone"),
        ({"until": "2026"}, "until is a datetime with a zone"),
        ({"limit": 2.5}, "1 to"),
        ({"limit": True}, "1 to"),
    ],
)
async def test_a_search_with_wrong_limits_says_what_is_wrong(
    memory_with: OpenMemory, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        await memory_with().recall("tea", owner=KATE.owner, **given)


@pytest.mark.spec("FACT-6", "LOG-7")
async def test_an_import_writes_the_files_of_what_it_brings(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory = memory_with()
    await memory.facts.add(KATE.owner, "I like green tea.")
    lines = [line async for line in export_lines(memory)]
    async with open_memory(tmp_path / "copy") as copy:
        await import_lines(copy, lines)
        assert "I like green tea." in await copy.files.file_read(KATE.owner, "facts/index.json")
        assert [work for work in await copy.store.work_list(EVERYONE, limit=10) if work.kind == "files"] == []


@pytest.mark.spec("FACT-9")
async def test_what_holds_no_word_and_lies_far_off_is_not_found(memory_with: OpenMemory) -> None:
    memory = memory_with(search={"embedder": "auto"})
    if memory.embedder is None:
        pytest.skip("the packages for meaning are not installed")
    for text in ("Bye!", "I sail on Sundays.", "We rented the hall for the board.", "I like green tea."):
        await memory.append(KATE, "user", text)
    found = await memory.recall("tea", owner=KATE.owner)
    assert [hit.text for hit in found.hits] == ["I like green tea."]
    assert found.by_meaning
