"""Facts through the front door: read, checked, gated, compared, committed with the watermark."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from afterglow import recalled
from afterglow.clock import FixedClock
from afterglow.errors import AfterglowError, BadInput, ClaimLost, ModelBadOutput, ModelBusy, ModelStopped, NotFound
from afterglow.extraction import FACTS_MAX, Outcome
from afterglow.facts import EVIDENCE_MAX, FactType, digest_of
from afterglow.means import SettingsMeans
from afterglow.memory import Memory, open_memory
from afterglow.model import Request, scripted
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.proof import pieces, prove
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import memory_search
from afterglow.steward import Round, Steward, Stewardship
from afterglow.store import forgetting
from afterglow.store.contract import Store
from afterglow.transfer import export_lines, import_lines
from afterglow.turns import Binding, Draft, Turn
from afterglow.work import Due
from tests.kit.databases import other_store
from tests.kit.facts import remember
from tests.kit.loops import for_each
from tests.kit.models import as_claims, claiming
from tests.kit.records import KATE, NOON, OTHER
from tests.kit.talks import drain, statements
from tests.paths.conftest import OpenMemory

SEATS = "I prefer aisle seats on flights."
FACT = {"type": "preference", "content": "The user prefers aisle seats on flights.", "confidence": "high"}


def fact(turn: int, quote: str = SEATS, **more: Any) -> dict[str, Any]:
    return {**FACT, "turn": turn, "speaker": "user", "quote": quote, **more}


def _person(which: object) -> Binding:
    """Another person for each of the rounds of a loop."""
    return Binding(agent="kate", channel="telegram", sender=digest_of("person", repr(which))[:12])


@pytest.mark.spec("FACT-2", "FACT-3", "FACT-4", "P10")
async def test_a_fact_is_kept_with_its_proof_and_the_watermark_moves_with_it(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    session = await statements(memory, SEATS, "And now something else.")
    outcome = await memory.facts.extract(session)
    assert (outcome.claimed, outcome.stored, outcome.pending) == (1, 1, 0)
    (kept,) = await memory.facts.list(KATE.owner)
    assert (kept.type, kept.content, kept.confidence, kept.status) == (*FACT.values(), "active")
    assert (kept.source_date, kept.trust, kept.session, kept.way) == ("2026-03-02", "owner", session.id, "extracted")
    assert [(proof.seq, proof.quote) for proof in kept.evidence] == [(1, SEATS)]
    (proof,) = await memory.facts.proofs(kept)
    assert [turn.seq for turn in proof.turns] == [1, 2]
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 2


@pytest.mark.spec("FACT-2")
async def test_only_what_is_new_is_read(memory_with: OpenMemory) -> None:
    asked: list[str] = []

    def answer(request: Request) -> scripted.Step:
        asked.append(request.material)
        return json.dumps({"facts": []})

    memory = memory_with(answering=ScriptedModel(answer))
    session = await statements(memory, *(f"Statement number {n} of many." for n in range(1, 8)))
    await memory.facts.extract(session)
    session = await statements(memory, "One more statement.")
    await memory.facts.extract(session)
    assert "[8]" in asked[1] and "[4]" not in asked[1], (
        "of what was read, a few turns are shown for what they are about"
    )
    await memory.facts.extract(await memory.session(session.id, owner=KATE.owner))
    assert len(asked) == 2, "nothing new, nothing asked"


@pytest.mark.spec("FACT-4")
@for_each(
    "claim, why",
    [
        (fact(1, quote="I prefer window seats."), "quote not in the turn"),
        (fact(9, quote="I prefer window seats."), "no such turn"),
        (fact(1, speaker="assistant"), "wrong speaker"),
        (fact(1, content="The user prefers aisle seats on flights to Lisbon."), "a name that was not said"),
        (fact(1, content="The user prefers aisle seats on 12 flights."), "a number that was not said"),
        (fact(1, content="On 5 May 2026 the user prefers aisle seats on flights."), "a day that was not said"),
        (fact(1, content="The user owns a small brown dog and a parrot."), "not in what was said"),
        (fact(1, type="secret"), "unknown type or confidence"),
        (fact(1, confidence="certain"), "unknown type or confidence"),
        (fact(1, content="x" * 501), "too short or too long"),
        (fact(1, quote=""), "too short or too long"),
    ],
)
async def test_what_is_not_proved_is_dropped_and_counted(
    memory_with: OpenMemory, claim: dict[str, Any], why: str
) -> None:
    memory, to = memory_with(answering=claiming(claim)), _person(claim)
    outcome = await memory.facts.extract(await statements(memory, SEATS, to=to))
    assert {reason: n for reason, n in outcome.dropped.items() if n} == {why: 1}
    assert await memory.facts.list(to.owner, status=None) == []
    ((_, _, reading),) = await memory.store.readings(to.owner)
    assert (reading.claimed, reading.stored, dict(reading.dropped)) == (1, 0, {why: 1})


@pytest.mark.spec("FACT-4", "P10")
async def test_a_wrong_number_is_put_right_where_one_turn_alone_holds_the_quote(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(2), fact(9, quote="I see birds.", content="The user sees birds.")))
    session = await statements(memory, SEATS, "Fine.", "I see birds.", "I see birds.")
    outcome = await memory.facts.extract(session)
    (kept,) = await memory.facts.list(KATE.owner)
    assert [proof.seq for proof in kept.evidence] == [1]
    assert outcome.dropped["no such turn"] == 1, "which of two turns it was is not to be guessed"


@pytest.mark.spec("FACT-4", "P6")
@for_each(
    "answer",
    [
        "not JSON at all",
        '{"facts": [{"type": "preference", "content":',
        '{"facts": "all of them"}',
        '{"facts": [{"type": 1, "content": null, "turn": "x", "quote": []}]}',
        json.dumps({"facts": [fact(1)] * 3})[:-40],
        "[]",
        "{}",
        json.dumps({"items": [fact(1)]}),
        scripted.ERROR_TEXT,
        scripted.EMPTY,
        scripted.REFUSAL,
    ],
)
async def test_an_answer_of_no_use_is_asked_for_once_more_and_then_tried_later(
    memory_with: OpenMemory, answer: Any
) -> None:
    asked = 0

    def script(request: Request) -> scripted.Step:
        nonlocal asked
        asked += 1
        return answer

    memory, to = memory_with(answering=ScriptedModel(script)), _person(answer)
    session = await statements(memory, SEATS, to=to)
    with pytest.raises(ModelBadOutput):
        await memory.facts.extract(session)
    assert asked == 2
    assert await memory.facts.list(to.owner, status=None) == []
    assert (await memory.session(session.id, owner=to.owner)).facts_seq == 0, "what was not read is not called read"
    (waiting,) = [each for each in await memory.store.work_list(to.owner) if each.kind == "facts"]
    assert waiting.attempts == 1 and waiting.last_error, "it is tried again later, and parked where a person sees it"


@pytest.mark.spec("FACT-4", "P6")
async def test_one_bad_entry_does_not_spoil_the_answer(memory_with: OpenMemory) -> None:
    asked = 0
    bad: list[Any] = [{"turn": 1, "quote": SEATS}, "no fact at all", None, fact(1, content=["a", "list"])]

    def script(request: Request) -> scripted.Step:
        nonlocal asked
        asked += 1
        return json.dumps({"facts": [*bad, fact(1)]})

    memory = memory_with(answering=ScriptedModel(script))
    outcome = await memory.facts.extract(await statements(memory, SEATS))
    assert (asked, outcome.claimed, outcome.stored, outcome.dropped["malformed"]) == (1, 5, 1, 4)
    ((_, _, reading),) = await memory.store.readings(KATE.owner)
    assert (reading.claimed, dict(reading.dropped)) == (5, {"malformed": 4})


@pytest.mark.spec("FACT-4")
async def test_a_flood_of_facts_is_cut_off_and_the_same_one_again_is_stored_once(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(*[fact(1)] * 500))
    outcome = await memory.facts.extract(await statements(memory, SEATS))
    assert (outcome.claimed, outcome.stored, outcome.dropped["too many"]) == (500, 1, 460)


@pytest.mark.spec("P6", "FACT-2")
async def test_a_model_that_is_down_moves_no_watermark(memory_with: OpenMemory) -> None:
    steps: list[scripted.Step] = [scripted.SERVER_ERROR, json.dumps({"facts": [fact(1)]})]
    memory = memory_with(answering=ScriptedModel(lambda request: steps.pop(0)))
    session = await statements(memory, SEATS)
    with pytest.raises(Exception, match="500"):
        await memory.facts.extract(session)
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 0
    assert (await memory.facts.extract(session)).stored == 1


@pytest.mark.spec("FACT-3")
async def test_a_relative_day_is_made_absolute_from_the_turns_own_time(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    text = "The launch of the shop is tomorrow."
    claim = fact(1, quote=text, type="event", content="The launch of the shop is tomorrow.")
    memory = memory_with(answering=claiming(claim), zone="Pacific/Auckland")
    session = await statements(memory, text)
    clock.move(40 * 86400)
    await memory.facts.extract(session)
    (kept,) = await memory.facts.list(KATE.owner)
    assert kept.content == "The launch of the shop is on 4 March 2026.", "noon in UTC is the next day in Auckland"
    assert kept.source_date == "2026-03-03"


@pytest.mark.spec("FACT-5")
async def test_a_fact_that_is_said_again_gains_a_proof(memory_with: OpenMemory, clock: FixedClock) -> None:
    def answer(request: Request) -> scripted.Step:
        turn = 2 if "[2]" in request.material else 1
        return as_claims(request, [fact(turn)])

    memory = memory_with(answering=ScriptedModel(answer))
    await memory.facts.extract(await statements(memory, SEATS))
    clock.move(86400)
    outcome = await memory.facts.extract(await statements(memory, "As I told you: " + SEATS))
    assert (outcome.stored, outcome.again) == (0, 1)
    (kept,) = await memory.facts.list(KATE.owner)
    assert [proof.seq for proof in kept.evidence] == [1, 2]


@pytest.mark.spec("FACT-5")
async def test_two_sessions_of_one_owner_that_are_read_at_once_store_a_fact_once(
    memory_with: OpenMemory, store: Store
) -> None:
    both, asked = asyncio.Event(), 0

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Any:
            nonlocal asked
            asked += 1
            if asked == 2:
                both.set()
            await both.wait()
            return await super().complete(request)

    memory = memory_with(answering=Slow(lambda request: as_claims(request, [fact(1)])))
    one = await memory.append(KATE, "user", SEATS, session="one")
    two = await memory.append(KATE, "user", SEATS, session="two")
    sessions = [await memory.session(each.session, owner=KATE.owner) for each in (one, two)]
    outcomes = await asyncio.gather(*(memory.facts.extract(each) for each in sessions))
    assert sorted((each.stored, each.again) for each in outcomes) == [(0, 1), (1, 0)]
    (kept,) = await memory.facts.list(KATE.owner)
    assert {proof.session for proof in kept.evidence} == {"one", "two"}
    assert asked == 2, "it was compared again, not asked again"


@pytest.mark.spec("FACT-5", "P7")
async def test_many_sessions_of_one_owner_that_are_read_at_once_are_all_read(memory_with: OpenMemory) -> None:
    def answer(request: Request) -> scripted.Step:
        text = request.material.splitlines()[-2].partition(": ")[2]
        return as_claims(request, [fact(1, text, type="event", content=text)])

    memory = memory_with(answering=ScriptedModel(answer))
    sessions = [
        await statements(memory, f"The library of room {n} opened in {1900 + n}.", session=f"room{n}")
        for n in range(24)
    ]
    outcomes = await asyncio.gather(*(memory.facts.extract(each) for each in sessions))
    assert [each.stored for each in outcomes] == [1] * 24
    assert len(await memory.facts.list(KATE.owner, status=None)) == 24


@pytest.mark.spec("FACT-5")
async def test_a_fact_that_contradicts_an_older_one_takes_its_place_and_both_stay_readable(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    berlin, hamburg = "I live in Berlin near the park.", "I now live in Hamburg near the park."

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            return json.dumps({"pairs": [{"pair": 1, "verdict": "replaces"}]})
        if hamburg in request.material.replace("\n", " ") and "[2]" in request.material:
            return as_claims(
                request, [fact(2, hamburg, type="person", content="The user lives in Hamburg near the park.")]
            )
        return as_claims(request, [fact(1, berlin, type="person", content="The user lives in Berlin near the park.")])

    memory = memory_with(answering=ScriptedModel(answer))
    await memory.facts.extract(await statements(memory, berlin))
    clock.move(86400)
    await memory.facts.extract(await statements(memory, hamburg))
    (new,) = await memory.facts.list(KATE.owner)
    (old,) = await memory.facts.list(KATE.owner, status="superseded")
    assert (new.content, new.supersedes) == ("The user lives in Hamburg near the park.", old.id)
    assert old.content == "The user lives in Berlin near the park."


@pytest.mark.spec("FACT-5", "FACT-10")
async def test_what_the_owner_said_gives_way_to_the_owners_word_alone(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    mine, theirs = "The review of the shop is on 3 March.", "The review of the shop is on 9 March."

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            return json.dumps({"pairs": [{"pair": 1, "verdict": "replaces"}]})
        if "[2]" in request.material:
            return as_claims(request, [fact(2, theirs, type="event", speaker="tool", content=theirs)])
        return as_claims(request, [fact(1, mine, type="event", content=mine)])

    memory = memory_with(answering=ScriptedModel(answer))
    await memory.facts.extract(await statements(memory, mine))
    clock.move(3600)
    turn = await memory.append(KATE, "tool", theirs)
    await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
    assert [each.content for each in await memory.facts.list(KATE.owner)] == [mine]
    (waiting,) = await memory.facts.list(KATE.owner, status="pending")
    assert (waiting.content, waiting.why) == (theirs, "it changes what the owner said")
    await memory.facts.approve(KATE.owner, waiting.id)
    assert [each.content for each in await memory.facts.list(KATE.owner)] == [theirs]


@pytest.mark.spec("FACT-5", "FACT-10")
async def test_what_the_owner_approved_gives_way_to_the_owners_word_alone(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    first, second = "The shop takes orders at shop-orders.example now.", "The shop takes orders at the market now."

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            return json.dumps({"pairs": [{"pair": 1, "verdict": "replaces"}]})
        turn, text = (2, second) if "[2]" in request.material else (1, first)
        return as_claims(request, [fact(turn, text, type="event", speaker="tool", content=text)])

    memory = memory_with(answering=ScriptedModel(answer))
    for text in (first, second):
        turn = await memory.append(KATE, "tool", text)
        await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
        (waiting,) = await memory.facts.list(KATE.owner, status="pending")
        assert waiting.content == text
        if text == first:
            assert (await memory.facts.approve(KATE.owner, waiting.id)).why == "the owner approved it"
        clock.move(3600)
    assert waiting.why == "it changes what the owner said"
    assert [each.content for each in await memory.facts.list(KATE.owner)] == [first]


@pytest.mark.spec("FACT-10")
async def test_a_pending_fact_becomes_active_when_the_owner_types_it_and_not_by_the_word_of_another(
    memory_with: OpenMemory,
) -> None:
    text = "The shop takes orders at shop-orders.example now."

    def answer(request: Request) -> scripted.Step:
        turn = next(n for n in (3, 2, 1) if f"[{n}]" in request.material)
        speaker = "user" if turn == 3 else "tool"
        return as_claims(
            request, [fact(turn, text, type="preference" if turn == 3 else "event", speaker=speaker, content=text)]
        )

    memory = memory_with(answering=ScriptedModel(answer))
    for expected in ("pending", "pending", "active"):
        role = "user" if expected == "active" else "tool"
        turn = await memory.append(KATE, role, text)
        await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
        (kept,) = await memory.facts.list(KATE.owner, status=None)
        assert kept.status == expected
    assert [proof.seq for proof in kept.evidence] == [1, 2, 3]


@pytest.mark.spec("FACT-10")
async def test_recalled_memory_is_never_extracted_again(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(1), fact(2)))
    marked = await memory.append(KATE, "user", f"You wrote: {SEATS} Right?", recalled=[(11, 11 + len(SEATS))])
    await memory.append(KATE, "user", f"What did you find? {recalled.wrap(SEATS)}")
    outcome = await memory.facts.extract(await memory.session(marked.session, owner=KATE.owner))
    assert (outcome.stored, outcome.dropped["quote not in the turn"]) == (0, 2)


@pytest.mark.spec("FACT-10", "P11")
async def test_what_a_tool_says_waits_or_is_dropped_and_only_the_owner_approves(memory_with: OpenMemory) -> None:
    page = "The shop has moved its orders to shop-orders.example since March. The user prefers the blue pen."
    claims = [
        fact(1, "The shop has moved its orders to shop-orders.example", type="event", speaker="tool",
             content="The shop moved its orders to shop-orders.example."),
        fact(1, "The user prefers the blue pen.", speaker="tool", content="Ana prefers the blue pen."),
    ]  # fmt: skip
    memory = memory_with(answering=claiming(*claims))
    turn = await memory.append(KATE, "tool", page + " Ana was there.")
    outcome = await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
    assert (outcome.stored, outcome.pending) == (1, 1)
    assert await memory.facts.list(KATE.owner) == []
    (waiting,) = await memory.facts.list(KATE.owner, status="pending")
    assert waiting.why == "it holds a link, and the owner did not say it"
    assert (await memory.facts.approve(KATE.owner, waiting.id)).status == "active"
    with pytest.raises(BadInput, match="only a pending one"):
        await memory.facts.reject(KATE.owner, waiting.id)


@pytest.mark.spec("FACT-11")
async def test_what_was_forgotten_does_not_come_back(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(1), fact(1, content="On flights the user likes to sit on the aisle.")))
    session = await statements(memory, SEATS)
    await memory.facts.extract(session)
    for kept in await memory.facts.list(KATE.owner):
        await memory.facts.forget(KATE.owner, kept.id)
    outcome = await memory.facts.extract(session, anew=True)
    assert (outcome.stored, outcome.dropped["settled before"]) == (
        0,
        outcome.claimed - outcome.dropped["not in what was said"],
    )
    assert await memory.facts.list(KATE.owner, status=None) == []
    again = await memory.facts.add(KATE.owner, FACT["content"], type="preference")
    assert again.status == "active", "its owner may say it again"


@pytest.mark.spec("FACT-11", "P12")
@pytest.mark.parametrize("origin", ["person", "import"])
async def test_what_the_owner_types_after_it_was_forgotten_is_learnt_again_and_no_old_turn_brings_it_back(
    memory_with: OpenMemory, clock: FixedClock, origin: Any
) -> None:
    memory = memory_with(answering=OfflineModel())
    session = await statements(memory, SEATS, "Hello.")
    again = await memory.append(KATE, "user", SEATS, session="before")
    await memory.facts.extract(session)
    clock.move(60)
    await memory.forget.turns(session, 1)
    clock.move(60)
    assert (await memory.facts.extract(await memory.session(again.session, owner=KATE.owner))).stored == 0
    typed = await memory.append(KATE, "user", SEATS, session="after", origin=origin)
    outcome = await memory.facts.extract(await memory.session(typed.session, owner=KATE.owner))
    assert (outcome.stored, outcome.dropped["settled before"]) == ((1, 0) if origin == "person" else (0, 1))
    kept = await memory.facts.list(KATE.owner, status=None)
    assert [each.evidence[0].session for each in kept] == ["after"] * outcome.stored
    for each in kept:
        clock.move(60)
        await memory.facts.forget(KATE.owner, each.id)
        after = await memory.facts.extract(await memory.session("after", owner=KATE.owner), anew=True)
        assert (after.stored, after.dropped["settled before"]) == (0, 1)


@pytest.mark.spec("SAFE-3")
async def test_the_proof_of_a_forgotten_fact_is_not_upset_by_a_turn_that_still_says_its_words(
    memory_with: OpenMemory,
) -> None:
    bees = "I keep bees named Zorblatt5512 in Oslo."
    claim = fact(1, bees, type="other", content="The user keeps bees named Zorblatt5512 in Oslo.")
    memory = memory_with(answering=claiming(claim))
    await memory.facts.extract(await statements(memory, bees))
    (kept,) = await memory.facts.list(KATE.owner)
    await memory.facts.forget(KATE.owner, kept.id)
    proof = await prove(memory.store, pieces(kept.content), owner=KATE.owner)
    assert (proof.clean, proof.found) == (True, ())
    assert any("Zorblatt5512" in each for each in proof.said_elsewhere)


@pytest.mark.spec("FACT-3", "FACT-11")
async def test_what_an_owner_states_for_tomorrow_is_kept_with_the_day(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    await statements(memory, "Hello.")
    kept = await memory.facts.add(KATE.owner, "The dentist is tomorrow at nine")
    assert kept.content == "The dentist is on 3 March 2026 at nine"
    assert [proof.quote for proof in kept.evidence] == ["The dentist is tomorrow at nine"]
    assert (await memory.facts.add(KATE.owner, "The dentist is on 3 March 2026 at nine")).id == kept.id
    await memory.facts.forget(KATE.owner, kept.id)
    assert not (await memory.recall("dentist", owner=KATE.owner)).hits


@pytest.mark.spec("FACT-11")
async def test_an_owner_adds_and_edits_facts_each_with_a_proof_of_its_own(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    session = await statements(memory, "Hello.")
    tea = await memory.facts.add(KATE.owner, "  I like   green tea.", type="preference")
    assert (tea.content, tea.status, tea.way, tea.trust) == ("I like green tea.", "active", "owner", "owner")
    assert (await memory.facts.add(KATE.owner, "I like green tea!")).id == tea.id, "it is known already"
    black = await memory.facts.edit(KATE.owner, tea.id, "I like black tea.")
    assert (black.supersedes, black.type) == (tea.id, "preference")
    assert (await memory.facts.show(KATE.owner, tea.id)).status == "superseded"
    (proof,) = await memory.facts.proofs(black)
    assert proof.turns[-1].text == "I like black tea."
    current = await memory.store.current_session(KATE)
    assert current is not None and current.id == session.id, "the next message goes where it went before"
    with pytest.raises(BadInput, match="1 to 500"):
        await memory.facts.add(KATE.owner, " ")
    with pytest.raises(NotFound):
        await memory.facts.edit(KATE.owner, "nothing", "x")


@pytest.mark.spec("FACT-11")
async def test_facts_are_their_owners_alone(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    await statements(memory, "Hello.")
    await statements(memory, "Hello.", to=OTHER)
    mine = await memory.facts.add(KATE.owner, "I like green tea.")
    assert await memory.facts.list(OTHER.owner) == []
    with pytest.raises(NotFound):
        await memory.facts.show(OTHER.owner, mine.id)
    with pytest.raises(NotFound):
        await memory.facts.forget(OTHER.owner, mine.id)


@pytest.mark.spec("FACT-1")
async def test_sessions_are_read_by_schedule_with_one_catch_up(memory_with: OpenMemory, clock: FixedClock) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    session = await statements(memory, SEATS)
    rounds = (Round(name="facts", schedule="hourly", zone=clock.now().tzinfo or None),)  # type: ignore[arg-type]
    steward = Steward(memory.store, "w", Stewardship(rounds=rounds, auto_summarize=False))
    await steward.turn()
    assert await drain(memory) == 0, "who has just begun waits for the next time"
    clock.move(3600)
    await steward.turn()
    await drain(memory)
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 1
    await statements(memory, "More.")
    clock.move(3 * 86400)
    await steward.turn()
    await steward.turn()
    other = Steward(memory.store, "other", Stewardship(rounds=rounds, auto_summarize=False))
    await other.turn()
    due = [each for each in await memory.store.work_list(KATE.owner) if each.kind == "facts"]
    assert len(due) == 1 and due[0].wanted == 1, "what was missed for days is caught up with once"


@pytest.mark.spec("FACT-1", "IDLE-1")
async def test_the_end_of_a_conversation_has_it_read(memory_with: OpenMemory, clock: FixedClock) -> None:
    def answer(request: Request) -> scripted.Step:
        return as_claims(request, [fact(1)]) if request.purpose == "facts" else "They spoke of seats."

    memory = memory_with(answering=ScriptedModel(answer))
    session = await statements(memory, SEATS)
    await memory.sunset(session)
    await drain(memory)
    assert len(await memory.facts.list(KATE.owner)) == 1


@pytest.mark.spec("FACT-1")
async def test_an_agent_whose_facts_are_turned_off_is_not_read_unasked(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(1)), agents=({"id": "kate", "facts": {"enabled": False}},))
    session = await statements(memory, SEATS)
    await memory.sunset(session)
    await drain(memory)
    assert await memory.facts.list(KATE.owner) == []
    assert (await memory.facts.extract(session)).stored == 1, "by hand it is"


@pytest.mark.spec("FACT-2", "P3")
async def test_a_long_history_is_read_in_parts_and_a_stop_repeats_none(memory_with: OpenMemory) -> None:
    asked: list[str] = []
    texts = [f"Statement {n}: the shelf in room {n} holds {n} books about the sea and its birds." for n in range(1, 41)]

    def answer(request: Request) -> scripted.Step:
        asked.append(request.material)
        return scripted.SERVER_ERROR if len(asked) == 3 else json.dumps({"facts": []})

    memory = memory_with(answering=ScriptedModel(answer), facts={"part_tokens": 250})
    session = await statements(memory, *texts)
    with pytest.raises(Exception, match="500"):
        await memory.facts.extract(session)
    read_to = (await memory.session(session.id, owner=KATE.owner)).facts_seq
    assert 0 < read_to < 40
    steps: list[tuple[int, int]] = []
    await memory.facts.extract(
        await memory.session(session.id, owner=KATE.owner), progress=lambda done, whole: steps.append((done, whole))
    )
    assert steps[-1] == (40 - read_to, 40 - read_to)
    seen = [int(line[1 : line.index("]")]) for each in asked[2:] for line in each.splitlines() if line.startswith("[")]
    assert min(seen) > read_to - 4, "what was read is not read again, but for what leads up to the rest"


class Hours:
    """The event loop's clock, which a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop, self._ahead = asyncio.get_running_loop(), 0.0
        read = loop.time
        monkeypatch.setattr(loop, "time", lambda: read() + self._ahead)

    def pass_by(self, seconds: float) -> None:
        self._ahead += seconds


LONG = [f"Statement {n}: the shelf in room {n} holds {n} books about the sea and its birds." for n in range(1, 41)]
"""With parts of 250 tokens it is read in more than three."""


def slow(hours: Hours, seconds: float) -> ScriptedModel:
    """A model that takes so long for every part."""

    def answer(request: Request) -> scripted.Step:
        hours.pass_by(seconds)
        return json.dumps({"facts": []})

    return ScriptedModel(answer)


@pytest.mark.spec("FACT-2", "P8")
async def test_a_history_that_takes_longer_than_one_act_may_is_read_to_its_end_by_hand(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = slow(Hours(monkeypatch), 400)
    memory = memory_with(answering=model, facts={"part_tokens": 250})
    session = await statements(memory, *LONG)
    steps: list[tuple[int, int]] = []
    await memory.facts.extract(session, progress=lambda done, whole: steps.append((done, whole)))
    assert len(model.requests) > 3, "of 900 seconds each takes 400"
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 40
    assert [done for done, _ in steps] == sorted({done for done, _ in steps}), "it goes on, it does not begin again"
    assert {whole for _, whole in steps} == {40} and steps[-1] == (40, 40)


@pytest.mark.spec("FACT-2", "P8")
async def test_a_history_that_takes_longer_than_one_act_may_is_read_behind_without_a_failure(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory = memory_with(answering=slow(Hours(monkeypatch), 400), facts={"part_tokens": 250})
    session = await statements(memory, *LONG)
    await memory.store.mark_due(KATE.owner, Due(kind="facts", at=NOON, reason="schedule", subject=session.id))
    assert await drain(memory) > 1, "what is left is due again"
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 40
    assert not [each for each in await memory.store.work_list(KATE.owner) if each.kind == "facts"]
    assert "failed" not in caplog.text


@pytest.mark.spec("P8", "DOOR-8")
async def test_a_part_that_takes_longer_than_one_act_may_is_told_with_the_limit(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_with(answering=slow(Hours(monkeypatch), 1000))
    session = await statements(memory, SEATS)
    with pytest.raises(AfterglowError, match=r"took longer than 900 seconds.*work\.act_seconds_max"):
        await memory.facts.extract(session)
    (waiting,) = [each for each in await memory.store.work_list(KATE.owner) if each.kind == "facts"]
    assert (waiting.state, waiting.attempts) == ("waiting", 1), "it is tried again later"


@pytest.mark.spec("FACT-2", "P3")
async def test_who_is_broken_off_knows_what_was_kept(memory_with: OpenMemory) -> None:
    def answer(request: Request) -> scripted.Step:
        return scripted.SERVER_ERROR if "[40]" in request.material else as_claims(request, [fact(1)])

    memory = memory_with(answering=ScriptedModel(answer), facts={"part_tokens": 250})
    session = await statements(memory, SEATS, *LONG[1:])
    outcome = Outcome()
    with pytest.raises(ModelBusy):
        await memory.facts.extract(session, outcome=outcome)
    assert outcome.stored == len(await memory.facts.list(KATE.owner)) == 1


def small(window_tokens: int, *facts: dict[str, Any]) -> ScriptedModel:
    """A model that takes so many tokens with its answer, and claims those of these facts whose turn it is shown."""

    def answer(request: Request) -> scripted.Step:
        if request.given_tokens + request.tokens_max > window_tokens:
            return scripted.TOO_LONG
        return as_claims(request, [each for each in facts if f"[{each['turn']}]" in request.material])

    return ScriptedModel(answer, window_tokens=window_tokens)


TEA = fact(3, "I like green tea.", content="The user likes green tea.")


@pytest.mark.spec("FACT-2", "P7", "P8")
async def test_a_turn_too_long_for_the_model_is_read_as_head_and_tail_and_stops_no_later_one(
    memory_with: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    padding = "The weather was fine and then it was not. " * 200
    head, tail, later = (f"The {name} of the town opened in 1998." for name in ("harbour", "library", "theatre"))
    giant = f"{head} {padding}The museum is closed. {padding}{tail}"
    claims = [fact(n, each, type="event", content=each) for n, each in ((2, head), (2, tail), (3, later))]
    model = small(4_000, *claims)
    memory = memory_with(answering=model)
    session = await statements(memory, "Good morning, this will be a long message.", giant, later)
    outcome = await memory.facts.extract(session)
    kept = [each.content for each in await memory.facts.list(KATE.owner, status=None)]
    assert sorted(kept) == sorted([head, tail, later])
    assert (await memory.session(session.id, owner=KATE.owner)).facts_seq == 3
    assert outcome.dropped["the middle of a turn too long for the model"] == 1
    assert "the middle of turn 2 is too long for scripted" in caplog.text
    readings = [reading.dropped for _, _, reading in await memory.store.readings(KATE.owner)]
    assert {"the middle of a turn too long for the model": 1} in readings


@pytest.mark.spec("FACT-2", "P7")
async def test_a_turn_that_is_too_long_only_with_what_is_known_is_read_whole_without_it(
    memory_with: OpenMemory,
) -> None:
    model = small(2_600, TEA)
    memory = memory_with(answering=model)
    for n in range(20):
        await memory.facts.add(KATE.owner, f"I like the green tea number {n} of the shop. {'It is a fine tea. ' * 8}")
    session = await statements(memory, "Hello.", "Hello again.", "I like green tea.")
    outcome = await memory.facts.extract(session)
    assert "The user likes green tea." in [each.content for each in await memory.facts.list(KATE.owner)]
    assert "known already" in model.requests[0].material and outcome.dropped.total() == 0


@pytest.mark.spec("FACT-2", "P8")
async def test_of_what_was_read_before_a_few_words_are_shown(memory_with: OpenMemory) -> None:
    model = claiming()
    memory = memory_with(answering=model)
    long = f"Where do you sit? {'The plane is large and has many rows. ' * 200}Do you like the aisle?"
    await memory.facts.extract(await statements(memory, long))
    await memory.facts.extract(await statements(memory, "Yes."))
    shown = model.requests[-1].material
    assert "Where do you sit?" in shown and "Do you like the aisle?" in shown and len(shown) < 1_000


@pytest.mark.spec("FACT-4")
async def test_without_a_model_only_what_the_owner_plainly_said_is_kept(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    await memory.append(KATE, "assistant", "I prefer tea, and we decided on Tuesday.")
    session = await statements(
        memory, "I prefer aisle seats. Do I like tea? We decided to move the launch to tomorrow."
    )
    await memory.facts.extract(session)
    kept = sorted(each.content for each in await memory.facts.list(KATE.owner))
    assert kept == ["I prefer aisle seats.", "We decided to move the launch to 3 March 2026."]


@pytest.mark.spec("FACT-4")
async def test_without_a_model_nothing_that_was_plainly_said_is_too_much(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    numbers = [f"{number:03}" for number in range(FACTS_MAX + 5)]
    session = await statements(memory, *(f"I prefer the seat {number}{number}." for number in numbers))
    assert (await memory.facts.extract(session)).stored == len(numbers)


@pytest.mark.spec("LOG-7", "FACT-4")
async def test_an_import_counts_the_facts_that_nothing_in_it_proves(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    await memory.facts.extract(await statements(memory, SEATS, "More."))
    lines = [line async for line in export_lines(memory)]
    forged = [re.sub(r'"quote":"[^"]*"', '"quote":"nobody said this"', line) for line in lines]
    assert forged != lines
    passed_over: Counter[str] = Counter()
    async with open_memory(tmp_path / "elsewhere") as other:
        await import_lines(other, forged, passed_over)
        assert passed_over == {"facts that nothing here proves": 1}
        assert await other.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("LOG-7", "FACT-11")
async def test_facts_go_into_an_export_and_come_out_of_it_and_stones_stay_stones(
    memory_with: OpenMemory, tmp_path: Path
) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    session = await statements(memory, SEATS, "More.")
    await memory.facts.extract(session)
    tea = await memory.facts.add(KATE.owner, "I like green tea.")
    gone = await memory.facts.add(KATE.owner, "I keep a quokka.")
    await memory.facts.forget(KATE.owner, gone.id)
    await memory.facts.edit(KATE.owner, tea.id, "I like black tea.")
    lines = [line async for line in export_lines(memory)]
    assert "quokka" not in "\n".join(lines)
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty, answering=claiming(fact(1)))
        for _ in range(2):  # a second time changes nothing
            await import_lines(copy, lines)
            here, there = [await each.facts.list(KATE.owner, status=None) for each in (memory, copy)]
            assert here == there
        assert (await copy.facts.extract(await copy.session(session.id, owner=KATE.owner))).claimed == 0
        assert [hit.fact for hit in (await copy.recall("black tea", owner=KATE.owner, kinds=("fact",))).hits]


@pytest.mark.spec("P10")
async def test_an_import_keeps_no_fact_whose_proof_is_not_there(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    await memory.facts.extract(await statements(memory, SEATS))
    lines = [line async for line in export_lines(memory)]
    forged = [line.replace('"quote":"I prefer', '"quote":"I hate') for line in lines]
    assert forged != lines
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty)
        await import_lines(copy, forged)
        assert await copy.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("FACT-10", "P11")
async def test_the_owners_own_words_take_the_place_of_anothers_that_say_the_same(memory_with: OpenMemory) -> None:
    mine = "The lease of the garage on the green hill behind the old church ends in spring."
    theirs = mine.replace("spring.", "spring per garage.example")

    def answer(request: Request) -> scripted.Step:
        if "[2]" in request.material:
            return as_claims(request, [fact(2, mine, type="event", content=mine)])
        return as_claims(request, [fact(1, theirs, type="event", speaker="tool", content=theirs)])

    memory = memory_with(answering=ScriptedModel(answer))
    for role, text in (("tool", theirs), ("user", mine)):
        turn = await memory.append(KATE, role, text)  # type: ignore[arg-type]
        await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
    (kept,) = await memory.facts.list(KATE.owner)
    assert (kept.content, kept.trust) == (mine, "owner"), "not the tool's words with the owner's trust"
    assert [proof.seq for proof in kept.evidence] == [2]


@pytest.mark.spec("P6")
@pytest.mark.parametrize("text", ["see you frıday", "yeſterday it rained", "5 auguſt", "3 dayſ ago", "next ſunday"])
async def test_odd_letters_in_anybodys_words_stop_no_reading(memory_with: OpenMemory, text: str) -> None:
    claim = fact(2, text, type="event", speaker="tool", content=f"It was said: {text}")
    memory = memory_with(answering=claiming(fact(1), claim))
    await memory.append(KATE, "user", SEATS)
    turn = await memory.append(KATE, "tool", text)
    await memory.facts.extract(await memory.session(turn.session, owner=KATE.owner))
    assert SEATS in [proof.quote for each in await memory.facts.list(KATE.owner) for proof in each.evidence]


@pytest.mark.spec("SAFE-5")
async def test_what_is_known_stands_inside_the_fence_and_pending_facts_are_not_shown(memory_with: OpenMemory) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> scripted.Step:
        asked.append(request)
        return as_claims(request, [])

    memory = memory_with(answering=ScriptedModel(answer))
    session = await statements(memory, "I like tea a lot.")
    await memory.facts.add(KATE.owner, "I like tea.")
    await memory.facts.extract(session)
    assert "known already: I like tea." in asked[0].material and "I like tea" not in asked[0].instructions


async def note(memory: Memory, text: str, owner: str = KATE.owner) -> Turn:
    """A note by which its owner stated something, as it stays where a kill came before the fact."""
    draft = Draft(role="system", text=text, trust="owner", origin="task", at=memory.store.clock.now())
    entry = memory.intake.prepare(draft, KATE.agent)
    return await memory.store.append(owner, Binding(agent=KATE.agent, channel="facts", sender="notes"), entry)


async def saying_still(memory: Memory, word: str) -> list[str]:
    return [hit.text for hit in (await memory.recall(word, owner=KATE.owner)).hits if word in hit.text]


@pytest.mark.spec("FACT-11")
async def test_what_is_stated_again_is_known_already_and_needs_no_other_note(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    first = await memory.facts.add(KATE.owner, "I keep a quokka.")
    assert [await memory.facts.add(KATE.owner, "I keep a quokka!") for _ in range(EVIDENCE_MAX + 5)][-1] == first
    assert (await memory.session(first.session, owner=KATE.owner)).turns == 1


@pytest.mark.spec("FACT-11")
async def test_what_waits_for_approval_is_approved_and_proved_by_being_stated(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    waiting = await remember(memory.store, "I keep a quokka.", status="pending", trust="external", why="a page says so")
    stated = await memory.facts.add(KATE.owner, "I keep a quokka!")
    assert (stated.id, stated.status, stated.trust, len(stated.evidence)) == (waiting.id, "active", "owner", 2)


@pytest.mark.spec("FACT-11")
@pytest.mark.parametrize(
    ("content", "type"),
    [(None, "decision"), ("I keep a quokka.", None), (None, "event"), ("I keep a quokka!", "event")],
)
async def test_what_waits_for_approval_is_approved_by_being_edited(
    memory_with: OpenMemory, content: str | None, type: FactType | None
) -> None:
    memory = memory_with(answering=OfflineModel())
    waiting = await remember(memory.store, "I keep a quokka.", status="pending", trust="external", why="a page says so")
    for _ in range(2):
        edited = await memory.facts.edit(KATE.owner, waiting.id, content, type=type)
        assert (edited.id, edited.status, edited.trust, edited.type) == (
            waiting.id,
            "active",
            "owner",
            type or "decision",
        )
        assert len(edited.evidence) == 2, "the owner's word, once"


@pytest.mark.spec("P12", "FACT-11")
async def test_an_edit_that_is_refused_leaves_no_note(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    quokka = await memory.facts.add(KATE.owner, "I keep a quokka.")
    wombat = await memory.facts.add(KATE.owner, "I like wombats.")
    with pytest.raises(BadInput, match=r"\(active\) says this already; forget"):
        await memory.facts.edit(KATE.owner, wombat.id, "I keep a quokka!")
    await remember(memory.store, "I keep a koala.", status="pending", trust="external", why="a page says so")
    with pytest.raises(BadInput, match=r"\(pending\) says this already; approve that one, and forget"):
        await memory.facts.edit(KATE.owner, wombat.id, "I keep a koala!")
    assert (await memory.session(quokka.session, owner=KATE.owner)).turns == 2
    await memory.facts.forget(KATE.owner, quokka.id)
    assert await saying_still(memory, "quokka") == []


@pytest.mark.spec("P12", "SAFE-3")
@pytest.mark.parametrize("owner", [KATE.owner, OTHER.owner])
async def test_notes_that_say_a_forgotten_fact_go_with_it_though_none_is_its_proof(
    memory_with: OpenMemory, owner: str
) -> None:
    memory = memory_with(answering=OfflineModel())
    await statements(memory, "Hello.", to=OTHER)
    quokka = await memory.facts.add(KATE.owner, "I keep a quokka.")
    await memory.join(OTHER.owner, KATE.owner)
    notes = [await note(memory, text, owner) for text in ("I keep a QUOKKA", "i keep a quokka!", "My quokka is ill.")]
    await memory.facts.forget(KATE.owner, quokka.id)
    assert [(await memory.store.turn(owner, each.session, each.seq)).text for each in notes] == [
        "",
        "",
        "My quokka is ill.",
    ]
    assert await saying_still(memory, "quokka") == ["My quokka is ill."]


@pytest.mark.spec("P12", "SAFE-3")
async def test_a_note_of_another_day_in_the_same_words_is_the_proof_of_another_fact(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    memory = memory_with(answering=OfflineModel())
    late = await note(memory, "The quokka comes tomorrow.")
    monday = await memory.facts.add(KATE.owner, "The quokka comes tomorrow.")
    clock.move(86400)
    tuesday = await memory.facts.add(KATE.owner, "The quokka comes tomorrow.")
    assert monday.id != tuesday.id
    await memory.facts.forget(KATE.owner, monday.id)
    assert (await memory.store.turn(KATE.owner, late.session, late.seq)).text == ""
    assert await memory.facts.show(KATE.owner, tuesday.id) == tuesday
    await memory.facts.forget(KATE.owner, tuesday.id)
    assert await saying_still(memory, "quokka") == []


@pytest.mark.spec("P12", "FACT-11")
async def test_who_states_what_another_forgets_at_this_moment_has_stated_it(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_with(answering=OfflineModel())
    first = await memory.facts.add(KATE.owner, "I like wombats.")
    append = memory.store.append

    async def append_and_forget(*given: Any, **more: Any) -> Turn:
        turn = await append(*given, **more)
        monkeypatch.undo()
        known = await memory.facts.add(KATE.owner, "I keep a quokka.")
        await memory.facts.forget(KATE.owner, known.id)
        return turn

    monkeypatch.setattr(memory.store, "append", append_and_forget)
    stated = await memory.facts.add(KATE.owner, "I keep a quokka.")
    assert {each.id for each in await memory.facts.list(KATE.owner)} == {first.id, stated.id}
    (proof,) = await memory.facts.proofs(stated)
    assert proof.turns[-1].text == "I keep a quokka."


@pytest.mark.spec("FACT-5")
async def test_reading_again_does_not_bring_back_what_was_replaced(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    session = await statements(memory, SEATS)
    await memory.facts.extract(session)
    (seats,) = await memory.facts.list(KATE.owner)
    await memory.facts.edit(KATE.owner, seats.id, "The user prefers window seats on flights.")
    outcome = await memory.facts.extract(session, anew=True)
    assert (outcome.stored, outcome.dropped["settled before"]) == (0, 1)


@pytest.mark.spec("FACT-4")
async def test_what_others_said_does_not_crowd_out_the_owner(memory_with: OpenMemory) -> None:
    flood = "\n".join(f"> I prefer brand number {n} of tea." for n in range(100))
    memory = memory_with(answering=OfflineModel())
    session = await statements(memory, f"Look:\n{flood}", "I prefer quiet hotel rooms.")
    await memory.facts.extract(session)
    assert [each.content for each in await memory.facts.list(KATE.owner)] == ["I prefer quiet hotel rooms."]


@pytest.mark.spec("P6", "FACT-9")
async def test_an_embedder_that_fails_leaves_the_search_by_words(memory_with: OpenMemory) -> None:
    class Broken:
        name = "broken"

        async def embed(self, texts: Any) -> Any:
            raise ModelStopped("no money left")

    memory = memory_with(answering=OfflineModel())
    await statements(memory, SEATS)
    await memory.store.use_embedder("broken")
    found = await memory_search(memory.store, Meaning(memory.store, Broken()), KATE.owner, "aisle seats")
    assert found.hits and not found.by_meaning


@pytest.mark.parametrize("nonsense", ["a name", None, 4])
async def test_who_gives_something_else_than_a_session_is_told_so(memory_with: OpenMemory, nonsense: Any) -> None:
    memory = memory_with(answering=OfflineModel())
    for act in (memory.facts.extract(nonsense), memory.forget.session(nonsense), memory.forget.turns(nonsense, 1)):
        with pytest.raises(BadInput, match="Session"):
            await act
    with pytest.raises(BadInput, match="is no day"):
        await memory.facts.list(KATE.owner, since="banana")
    with pytest.raises(BadInput):
        await memory.facts.add(KATE.owner, nonsense if nonsense != "a name" else "<private>x</private>")


SISTER, ROME = "My sister is called Ana. We talk a lot.", "She moved to Rome in spring."
MOVED = fact(2, ROME, type="person", content="Ana moved to Rome in spring.")


@pytest.mark.spec("SAFE-3", "P12", "LOG-7")
async def test_a_fact_rests_on_the_turn_that_gave_it_a_name_and_goes_with_it(
    memory_with: OpenMemory, tmp_path: Path
) -> None:
    memory = memory_with(answering=claiming(MOVED))
    session = await statements(memory, SISTER, ROME)
    assert (await memory.facts.extract(session)).stored == 1
    (kept,) = await memory.facts.list(KATE.owner, status=None)
    rests_on = [(each.seq, each.quote, each.proves, each.needed) for each in kept.evidence]
    assert rests_on == [(1, "My sister is called Ana.", False, True), (2, ROME, True, False)]
    assert [proof.evidence.seq for proof in await memory.facts.proofs(kept)] == [1, 2]
    lines = [line async for line in export_lines(memory)]
    await memory.forget.turns(session, 1)
    assert await memory.facts.list(KATE.owner, status=None) == []
    assert (await memory.facts.show(KATE.owner, kept.id)).status == "forgotten"
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty)
        await import_lines(copy, lines)
        assert await copy.facts.list(KATE.owner, status=None) == [kept]
        await copy.forget.turns(await copy.session(session.id, owner=KATE.owner), 1)
        assert await copy.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("SAFE-3", "P12")
async def test_an_import_keeps_no_fact_with_words_from_a_turn_that_is_forgotten_here(
    memory_with: OpenMemory, tmp_path: Path
) -> None:
    memory = memory_with(answering=claiming(MOVED))
    session = await statements(memory, SISTER, ROME)
    await memory.facts.extract(session)
    lines = [line async for line in export_lines(memory)]
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty)
        await import_lines(copy, [line for line in lines if not line.startswith('{"fact"')])
        await copy.forget.turns(await copy.session(session.id, owner=KATE.owner), 1)
        await import_lines(copy, lines)
        assert await copy.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("SAFE-3", "FACT-5")
async def test_what_is_said_again_in_other_words_holds_a_fact_up_only_if_it_says_all_of_it(
    memory_with: OpenMemory,
) -> None:
    texts = [
        "Ana moved to Rome in spring.",
        "In spring Ana made her move to Rome.",
        "My sister moved to Rome in spring.",
    ]

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            return json.dumps({"pairs": [{"pair": 1, "verdict": "same"}]})
        turn = next(n for n in (3, 2, 1) if f"[{n}]" in request.material)
        return as_claims(request, [fact(turn, texts[turn - 1], type="person", content=texts[turn - 1])])

    memory = memory_with(answering=ScriptedModel(answer))
    for text in texts:
        await memory.facts.extract(await statements(memory, text))
    (kept,) = await memory.facts.list(KATE.owner, status=None)
    assert [(each.seq, each.proves) for each in kept.evidence] == [(1, True), (2, True), (3, False)]


@pytest.mark.spec("FACT-11")
async def test_what_was_forgotten_does_not_come_back_under_another_type(memory_with: OpenMemory) -> None:
    claims = [fact(1)]
    memory = memory_with(answering=ScriptedModel(lambda request: as_claims(request, claims)))
    session = await statements(memory, SEATS)
    await memory.facts.extract(session)
    (kept,) = await memory.facts.list(KATE.owner)
    await memory.facts.forget(KATE.owner, kept.id)
    claims[:] = [fact(1, type="other", content="Aisle seats on flights are preferred.")]
    outcome = await memory.facts.extract(session, anew=True)
    assert (outcome.stored, outcome.dropped["settled before"]) == (0, 1)
    assert await memory.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("FACT-5")
async def test_a_known_fact_of_a_turn_that_proved_a_forgotten_one_gains_a_proof_still(memory_with: OpenMemory) -> None:
    text = f"{SEATS} I live in Rome."
    home = fact(1, "I live in Rome.", type="person", content="The user lives in Rome.")
    memory = memory_with(answering=claiming(fact(1), home))
    session = await statements(memory, text)
    await memory.facts.extract(session)
    seats = next(each for each in await memory.facts.list(KATE.owner) if each.type == "preference")
    await memory.facts.forget(KATE.owner, seats.id)
    outcome = await memory.facts.extract(session, anew=True)
    assert (outcome.stored, outcome.again, outcome.dropped["settled before"]) == (0, 1, 1)


@pytest.mark.spec("LOG-7", "P10")
@pytest.mark.parametrize(
    ("right", "wrong", "said_why"),
    [
        ('"type":"preference"', '"type":"secret"', "has type 'secret'"),
        ('"status":"active"', '"status":"sure"', "has status 'sure'"),
        ('"trust":"owner","status"', '"trust":"root","status"', "has trust 'root'"),
        ('"content":"The user', f'"content":"{"x" * 501}The user', "1 to 500"),
        ('"source_date":"2026-03-02"', '"source_date":"soon"', "write a day as"),
        ('"changed_at":"2026-03-02T12:00:00+00:00"', '"changed_at":"2026-03-02T12:00:00"', "has no zone"),
    ],
)
async def test_a_fact_in_an_export_that_is_none_is_refused_with_its_line_and_changes_nothing(
    memory_with: OpenMemory, tmp_path: Path, right: str, wrong: str, said_why: str
) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    await memory.facts.extract(await statements(memory, SEATS))
    lines = [line async for line in export_lines(memory)]
    (at,) = [number for number, line in enumerate(lines) if line.startswith('{"fact"')]
    forged = [*lines[:at], lines[at].replace(right, wrong), *lines[at + 1 :]]
    assert forged != lines
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty)
        with pytest.raises(BadInput, match=f"line {at + 1}: .*{said_why}"):
            await import_lines(copy, forged)
        assert await copy.facts.list(KATE.owner, status=None) == []


@pytest.mark.spec("LOG-7", "P10")
async def test_a_forged_digest_does_not_let_a_fact_in_twice(memory_with: OpenMemory, tmp_path: Path) -> None:
    memory = memory_with(answering=claiming(fact(1)))
    await memory.facts.extract(await statements(memory, SEATS))
    lines = [line async for line in export_lines(memory)]
    (line,) = [line for line in lines if line.startswith('{"fact"')]
    value = json.loads(line)["fact"]
    forged = json.dumps({"fact": {**value, "id": "another", "digest": "0" * 32}})
    async with other_store(tmp_path) as empty:
        copy = memory_with(over=empty)
        await import_lines(copy, [*lines[: lines.index(line) + 1], forged, *lines[lines.index(line) + 1 :]])
        assert len(await copy.facts.list(KATE.owner, status=None)) == 1


@pytest.mark.spec("FACT-5")
async def test_the_model_is_asked_about_facts_that_are_near_in_meaning_alone(
    memory_with: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")

    class Flat:
        """To which all texts are one."""

        name = "flat"

        async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
            return [[1.0, 0.5] for _ in texts]

    texts = ["I am single and fine.", "My wedding was lovely."]
    claims = [fact(n, text, type="person", content=text) for n, text in enumerate(texts, 1)]
    compared: list[str] = []

    def answer(request: Request) -> scripted.Step:
        if "pairs" in request.instructions:
            compared.append(request.material)
            return json.dumps({"pairs": [{"pair": 1, "verdict": "replaces"}]})
        return as_claims(request, claims)

    memory = memory_with(answering=ScriptedModel(answer))
    monkeypatch.setattr(SettingsMeans, "embedder", lambda self: None)
    session = await statements(memory, *texts)
    assert (await memory.facts.extract(session)).stored == 2
    assert compared == [], "by words they are not alike"
    memory = memory_with(answering=ScriptedModel(answer))
    monkeypatch.setattr(SettingsMeans, "embedder", lambda self: Flat())
    await memory.facts.extract(await statements(memory, *texts, to=OTHER))
    assert len(compared) == 1 and all(text in compared[0] for text in texts)
    (kept,) = await memory.facts.list(OTHER.owner)
    assert kept.content == texts[1]


@pytest.mark.spec("P7")
@pytest.mark.parametrize("what", ["facts", "summary"])
async def test_what_is_forgotten_while_it_is_read_ends_the_reading(
    memory_with: OpenMemory, store: Store, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    memory = memory_with(answering=claiming())
    session = await statements(memory, *(f"word{number} is said here" for number in range(4)))
    monkeypatch.setattr(forgetting, "TURNS_AT_ONCE", 2)  # the session is still there after the first step
    read = store.turns

    async def gone(*_: Any, **__: Any) -> list[Turn]:
        monkeypatch.setattr(store, "turns", read)
        await store.forget_session(session.owner, session.id)
        return await read(session.owner, session.id, first_seq=1, last_seq=4)

    monkeypatch.setattr(store, "turns", gone)
    with pytest.raises((ClaimLost, NotFound)):
        await (memory.facts.extract(session) if what == "facts" else memory.summarize(session))
