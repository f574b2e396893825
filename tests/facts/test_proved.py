"""What a claim may make of the sentence it quotes: not its opposite, nobody who was not there, no number of somebody else."""

from __future__ import annotations

import pytest

from afterglow.facts.checks import Claimed
from afterglow.facts.denial import denies, is_turned_round
from afterglow.facts.quoted import sentences, sentences_quoted
from afterglow.terms import terms
from tests.facts.spoken import checked, spoken_turn
from tests.kit.loops import for_each

OPPOSITE = "the opposite of what was said"
NO_NAME = "a name that was not said"
NO_NUMBER = "a number that was not said"
SWAPPED = "who and how many are not as they were said"
ELSEWHERE = "not in the sentence it quotes"
UNSAID = "not in what was said"


def became(content: str, quote: str, *texts: str) -> str:
    """Why a claim on the last of these turns is dropped, or what is kept of it."""
    turns = [spoken_turn(seq, "user", text) for seq, text in enumerate(texts or (quote,), 1)]
    return checked(Claimed(turn=len(turns), quote=quote, content=content, type="other", confidence="high"), turns)


@pytest.mark.spec("FACT-4", "P10")
@for_each(
    "said, quote, content",
    [
        ("I am not allergic to peanuts.", "allergic to peanuts", "The user is allergic to peanuts."),
        ("I am not\nallergic to peanuts.", "allergic to peanuts", "The user is allergic to peanuts."),
        ("I don't prefer Zenith Air.", "prefer Zenith Air", "The user prefers Zenith Air."),
        ("We decided against Postgres.", "decided against Postgres", "The user decided on Postgres."),
        ("Never send mail to Ben before noon.", "send mail to Ben before noon", "Send mail to Ben before noon."),
        ("Never do these:\n- send mail to Ben", "send mail to Ben", "Send mail to Ben."),
        ("I refuse to fly with Zenith Air.", "fly with Zenith Air", "The user flies with Zenith Air."),
        ("I take my coffee without milk.", "my coffee without milk", "The user takes coffee with milk."),
        ("Ana eats meat but Ben does not.", "Ana eats meat but Ben does not", "Ben eats meat."),
        ("Ana eats meat but Ben cannot.", "Ana eats meat but Ben cannot", "Ben eats meat."),
        ("I love peanuts.", "I love peanuts", "The user does not love peanuts."),
        ("I hate tea.", "I hate tea", "The user loves tea."),
        ("Ich esse kein Fleisch.", "esse kein Fleisch", "Der Nutzer isst Fleisch."),
        ("Je ne mange pas de viande.", "mange pas de viande", "L'utilisateur mange de la viande."),
        ("No como carne.", "como carne", "El usuario come carne."),
        ("Non mangio carne.", "mangio carne", "L'utente mangia carne."),
        ("Não como carne.", "como carne", "O usuário come carne."),
        ("Nie jem mięsa.", "jem mięsa", "Użytkownik je mięso."),
        ("Я не ем мясо.", "ем мясо", "Пользователь ест мясо."),
        ("Ik eet geen vlees.", "geen vlees", "De gebruiker eet vlees."),
        ("我从来不吃猪肉。", "我从来不吃猪肉", "用户吃猪肉。"),
        ("私は肉を食べません。", "私は肉を食べません", "ユーザーは肉を食べます。"),
        ("저는 고기를 먹지 않아요.", "고기를 먹지 않아요", "사용자는 고기를 먹어요."),
    ],
)
def test_what_was_denied_does_not_become_a_fact_nor_its_opposite_what_was_affirmed(
    said: str, quote: str, content: str
) -> None:
    assert became(content, quote, said) == OPPOSITE


@pytest.mark.spec("FACT-4")
@for_each(
    "said, content",
    [
        ("I don't like peanuts.", "The user dislikes peanuts."),
        ("I no longer eat meat.", "The user stopped eating meat."),
        ("I like tea but not coffee.", "The user likes tea."),
        ("I'm not sure about the rest, but Ana moved to Rome.", "Ana moved to Rome."),
        ("Ben is my brother, not the Ben from work.", "Ben is the user's brother."),
        ("No, I prefer trains.", "The user prefers trains."),
        ("I can't wait to see Rome in spring.", "The user will see Rome in spring."),
        ("Never delete anything without asking me first.", "The user wants to be asked before anything is deleted."),
        ("Moro no Porto com a minha irmã.", "The user lives in Porto."),
        ("Ich esse kein Fleisch.", "Der Nutzer isst kein Fleisch."),
    ],
)
def test_a_denial_in_other_words_or_of_something_else_is_no_opposite(said: str, content: str) -> None:
    assert became(content, said.rstrip("."), said) == content


@pytest.mark.spec("FACT-4", "P10")
@for_each(
    "content, quote, texts, why",
    [
        ("Maria's father told his neighbors about the school.", "Looks good!",
         ("Maria told me about the school and its neighbors.", "Looks good!"), NO_NAME),
        ("Maria told the neighbors about the school.", "Looks good!",
         ("Maria told the neighbors about the school.", "Looks good!"), ELSEWHERE),
        ("Mallory moved to Rome in spring.", "She moved to Rome in spring", (), NO_NAME),
        ("The user met a friend called mallory in town.", "I met a friend in town", (), NO_NAME),
        ("Der Nutzer hat in der Stadt einen Freund Gustav getroffen.", "in der Stadt einen Freund getroffen",
         ("Ich habe in der Stadt einen Freund getroffen.",), NO_NAME),
        ("Ben got a benefit.", "He got a benefit", (), NO_NAME),
        ("Ben is 17 and Ana is 42.", "Ben is 42 and Ana is 17", (), SWAPPED),
        ("Ben has 3 dogs and 2 cats.", "Ben has 2 dogs and 3 cats", (), SWAPPED),
        ("Ana owes Ben a favour.", "Ben owes Ana a favour", (), SWAPPED),
        ("Ben owes the user a favour.", "I owe Ben a favour", (), SWAPPED),
        ("The room is 1234 on the floor.", "Room 12, floor 34", (), NO_NUMBER),
        ("The jar holds 35 litres.", "The jar holds 3.5 litres", (), NO_NUMBER),
        ("Ana got married to Ben in 2025.", "Ana got married to Ben", (), NO_NUMBER),
        ("Ana got married to Ben in 2026.", "Ana got married to Ben", (), NO_NUMBER),
        ("The user went to Rome with Ana, married secretly there.", "I went to Rome with Ana last May", (), UNSAID),
        ("Ana called two hours ago.", "Ana called two hours ago", (), "a day that cannot be told later"),
    ],
)  # fmt: skip
def test_what_the_quoted_sentence_does_not_say_is_dropped(
    content: str, quote: str, texts: tuple[str, ...], why: str
) -> None:
    assert became(content, quote, *texts) == why


@pytest.mark.spec("FACT-4")
@for_each(
    "content, quote, texts",
    [
        ("Ana moved to Rome in spring.", "She moved to Rome in spring", ("Ana is my sister.", "She moved to Rome in spring.")),
        ("Ana is 17 and Ben is 42.", "Ben is 42 and Ana is 17", ()),
        ("Ana is owed a favour by Ben.", "Ben owes Ana a favour", ()),
        ("Ana and Ben met in Rome.", "Ben and Ana met in Rome", ()),
        ("Ana's telephone number is 5550123456.", "Ana's number is 555 012-3456", ()),
        ("Ana got married in 2025.", "Ana got married last year", ()),
        ("The user's father lives in Rome.", "My dad lives in Rome", ()),
        ("Der Nutzer fährt mit dem Fahrrad zur Arbeit.", "Ich fahre mit dem Rad zur Arbeit", ()),
        ("Two hotels have rooms near the river.", "both hotels near the river have rooms", ()),
    ],
)  # fmt: skip
def test_a_true_paraphrase_is_kept(content: str, quote: str, texts: tuple[str, ...]) -> None:
    assert became(content, quote, *texts) == content


def test_a_quote_stands_for_the_whole_of_its_sentences_wherever_they_are() -> None:
    text = "I am not allergic to peanuts. Ben is allergic to Peanuts!"
    assert sentences_quoted(text, "allergic to peanuts") == text.replace(". ", ".|").split("|")
    assert sentences_quoted(text, "peanuts. Ben is") == [text]
    assert sentences_quoted(text, "walnuts") == []


def test_sentences_end_where_a_reader_sees_their_end() -> None:
    assert sentences("Dr. Smith is in. Release 2.4 is\nout! 肉。魚。") == [
        "Dr. Smith is in.",
        "Release 2.4 is\nout!",
        "肉。",
        "魚。",
    ]
    assert sentences("Ich esse z.B. Fisch. Ja.") == ["Ich esse z.B. Fisch.", "Ja."]
    assert sentences("No:\n- tea\n- milk\nYes") == ["No:", "No: - tea", "No: - milk", "Yes"]


def test_a_turn_of_speech_denies_nothing() -> None:
    assert not any(map(denies, ("not only tea", "no doubt", "never forget", "im Mai", "Frau Noch has it", "bus stop")))
    assert all(map(denies, ("no tea", "isn’t", "nobody", "ohne Milch", "sin leche", "decided against it")))
    assert is_turned_round("Ben has tea, not milk", "Ben has milk, not tea", terms)
