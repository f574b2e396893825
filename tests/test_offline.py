"""The offline model: useful without a key, never a word of its own, never too long, always the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from afterglow.errors import ModelBadOutput
from afterglow.model import Request
from afterglow.model.offline import OfflineModel, choose_sentences
from afterglow.model.sentences import pieces
from afterglow.tokens import estimate
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("CTX-8", "CTX-13")

TALK = """\
[2026-03-02 09:15] user: Hi Kate! I need to move the dentist appointment from Tuesday 3 March 14:30 to next week. Can you \
call Dr. Novak at +43 1 555 0199?
[2026-03-02 09:16] assistant: Good morning! I looked at your calendar. You have a meeting with Ben on Tuesday at 15:00. I \
will call the practice now and ask for a slot on 10 March.
[2026-03-02 09:20] user: thanks
[2026-03-02 09:21] tool: {"status": "ok", "slot": "2026-03-10T09:00", "id": "apt_83721"}
[2026-03-02 09:22] assistant: Done. The new appointment is on 10 March at 9:00, confirmation apt_83721. Is there anything \
else I can help you with today?
[2026-03-02 09:30] user: Yes. We decided yesterday that the report goes into /srv/reports/q1.md instead of the wiki, please \
remember that.
The wiki is too slow. Also the budget for the trip is 2,400 EUR.
[2026-03-02 09:31] assistant: Understood, the report goes to /srv/reports/q1.md and the wiki is no longer used. Let me know \
whenever you want me to start with it.
"""
CHINESE = (
    "[2026-03-02 09:15] user: 你好，我需要把牙医预约从星期二改到下周。请打电话给诺瓦克医生，电话是555-0199。天气真好！\n"
    "[2026-03-02 09:16] assistant: 早上好！我看了你的日历。星期二15点你和本有个会议。我现在就打电话。\n"
)
CODE = """\
user: Why does this fail?
```python
def total(items):
    return sum(item.price for item in items)
```
assistant: The field is called unit_price since version 3.2. Replace item.price by item.unit_price in billing/total.py.
"""


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def is_verbatim(extract: str, text: str) -> bool:
    """Whether it is pieces of the text and nothing else, in their order, after the names of the speakers."""
    assert all(piece.text in text for piece in pieces(text))
    if extract == text.strip():
        return True
    left = squeezed(re.sub(r"^(user|assistant|tool): ", "", extract, flags=re.MULTILINE))
    for piece in pieces(text):
        left = left.removeprefix(squeezed(piece.text)).lstrip()
    return not left


async def test_it_answers_with_what_it_chose_and_costs_nothing() -> None:
    request = Request(purpose="fold", instructions="Do.", material=TALK, tokens_max=100, deadline_seconds=30)
    done = await OfflineModel().complete(request)
    assert done.text == choose_sentences(TALK, 100)
    assert (done.model, done.cost_usd) == ("offline", 0.0)
    assert done.usage.output_tokens <= 100 < done.usage.input_tokens


async def test_it_fills_no_schema_and_makes_nothing_of_nothing() -> None:
    class Note(BaseModel):
        title: str

    common = {"purpose": "facts", "instructions": "Do.", "tokens_max": 100, "deadline_seconds": 30.0}
    with pytest.raises(ModelBadOutput, match="writes no Note; name a model that can"):
        await OfflineModel().complete(Request(material=TALK, schema=Note, **common))  # type: ignore[arg-type]
    with pytest.raises(ModelBadOutput, match="nothing to choose from"):
        await OfflineModel().complete(Request(material=" \n ", **common))  # type: ignore[arg-type]


def test_it_keeps_requests_decisions_and_identifiers() -> None:
    extract = choose_sentences(TALK, 160)
    for kept in ("Dr. Novak at +43 1 555 0199", "dentist appointment", "/srv/reports/q1.md", "apt_83721"):
        assert kept in extract
    for dropped in ("thanks", "anything else", "Good morning", "Let me know"):
        assert dropped not in extract


def test_a_text_of_nothing_but_small_talk_is_not_nothing() -> None:
    assert choose_sentences("user: Hi!\nassistant: Hello!\n" * 20, 20).startswith("user: Hi!")


def test_who_said_it_is_kept_and_the_order_too() -> None:
    lines = choose_sentences(TALK, 120).splitlines()
    assert all(line.startswith(("user: ", "assistant: ", "tool: ")) for line in lines)
    assert lines[0].startswith("user: I need to move the dentist appointment")
    assert "/srv/reports/q1.md" in lines[-1]


def test_what_was_said_twice_is_kept_once() -> None:
    text = "\n".join(["user: The password hint is about the blue whale of 1987."] * 40 + ["user: Buy 3 lamps today."])
    extract = choose_sentences(text, 60)
    assert extract.count("whale") == 1
    assert "3 lamps" in extract


def test_what_was_said_in_other_words_is_kept_once() -> None:
    hints = [f"user: In note {n} the password hint is about the blue whale from the museum." for n in range(40)]
    extract = choose_sentences("\n".join([*hints, "user: Buy lamps for the kitchen today."]), 100)
    assert extract.count("whale") == 1
    assert "lamps" in extract


def test_of_two_sentences_alike_the_request_is_kept() -> None:
    text = (
        "The fence looks rather green. The river runs rather slowly. The tower stands rather straight. "
        "You must come rather early. The garden smells rather sweetly. The kitchen needs rather more."
    )
    assert "You must come rather early." in choose_sentences(text, 20)


def test_the_names_of_speakers_are_within_the_limit_too() -> None:
    text = "\n".join(f"[2026-03-02 09:15] assistant (kate-{n}): Hello! Item{n} is blue." for n in range(300))
    for tokens_max in (50, 100, 200, 400):
        assert estimate(choose_sentences(text, tokens_max)) <= tokens_max


def test_a_text_that_fits_is_given_back_whole() -> None:
    assert choose_sentences(f"\n {TALK} \n", 10_000) == TALK.strip()


@pytest.mark.parametrize(
    ("text", "tokens_max", "kept"),
    [
        (CHINESE, 45, "请打电话给诺瓦克医生，电话是555-0199。"),
        (CODE, 45, "Replace item.price by item.unit_price in billing/total.py."),
        (
            "- buy milk\n- call Ana at 17:30\n- nothing\n- so and so\n- and more of the same\n" * 2,
            20,
            "call Ana at 17:30",
        ),
    ],
)
def test_it_knows_other_scripts_code_and_lists(text: str, tokens_max: int, kept: str) -> None:
    extract = choose_sentences(text, tokens_max)
    assert kept in extract
    assert is_verbatim(extract, text)
    assert estimate(extract) <= tokens_max


def test_sentences_end_where_they_end() -> None:
    text = "Dr. Novak came at 9. e.g. by train, No. 5. It cost 3.50 EUR! Really? Yes… Then v1.2.3 was out. i.e. late."
    assert [piece.text for piece in pieces(text)] == [
        "Dr. Novak came at 9. e.g. by train, No. 5. It cost 3.50 EUR!",
        "Really?",
        "Yes…",
        "Then v1.2.3 was out. i.e. late.",
    ]
    assert [piece.text for piece in pieces("你好。请来！好？是")] == ["你好。", "请来！", "好？", "是"]


@for_each(
    "text",
    [
        "aGVsbG8" * 20_000,
        "x " * 50_000,
        "." * 50_000,
        "😀" * 10_000,
        "中文" * 10_000,
        "https://example.org/" + "a/" * 10_000,
        "\n".join(f"line {n}" for n in range(20_000)),
        "[" * 10_000,
        "user: " * 10_000,
        "```\n" + "a b c\n" * 5_000,
    ],
)
@for_each("tokens_max", [20, 300])
def test_strange_texts_give_something_that_fits(text: str, tokens_max: int) -> None:
    extract = choose_sentences(text, tokens_max)
    assert extract
    assert estimate(extract) <= tokens_max


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=60)
    ),
    st.integers(20, 200),
)
@settings(deadline=None, max_examples=200)
def test_it_is_always_short_enough_verbatim_and_the_same(lines: list[str], tokens_max: int) -> None:
    text = "\n".join(f"user: {line}" for line in lines) * 3
    extract = choose_sentences(text, tokens_max)
    assert estimate(extract) <= tokens_max
    assert bool(extract) == bool(text.strip())
    assert extract == choose_sentences(text, tokens_max)


@for_each("tokens_max", [20, 40, 60, 100, 150, 200])
def test_every_word_is_the_texts_own(tokens_max: int) -> None:
    for text in (TALK, CHINESE, CODE, TALK + CODE):
        assert is_verbatim(choose_sentences(text, tokens_max), text)


def test_the_proof_of_verbatim_can_fail() -> None:
    assert not is_verbatim("user: I want to move the dentist's appointment", TALK)
