"""Cutting text into terms, ranking turns by them, and showing where they stand."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.search.words import (
    CHARS_MAX,
    QUERY_TERMS_MAX,
    TERM_CHARS_MAX,
    Scored,
    query_terms,
    rank,
    snippet,
    terms,
)
from afterglow.store.search import GROUPS, Group, Indexed, Stats, group_of
from afterglow.turns import Role
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("LOG-7")

Log = list[tuple[str, Role, str]]
"""Session, role and text of turns in the order they were said."""

SMALL_TALK: Log = [
    ("s0", "user", "Good morning, how did you sleep?"),
    ("s0", "assistant", "Very well, thank you. The weather looks pleasant today."),
    ("s0", "user", "Let us plan the week then."),
    ("s0", "assistant", "Monday is free, Tuesday has two meetings, Friday has none."),
]


def index(log: Log) -> list[Indexed]:
    seqs: Counter[str] = Counter()
    turns: list[Indexed] = []
    for at, (session, role, text) in enumerate(log):
        seqs[session] += 1
        turns.append(Indexed(session=session, seq=seqs[session], role=role, at_us=at, terms=tuple(terms(text))))
    return turns


def stats_of(turns: list[Indexed]) -> Stats:
    number: Counter[Group] = Counter()
    lengths: Counter[Group] = Counter()
    holding: Counter[tuple[Group, str]] = Counter()
    session_terms: Counter[str] = Counter()
    for turn in turns:
        group = group_of(turn.role)
        number[group] += 1
        lengths[group] += len(turn.terms)
        holding.update((group, term) for term in set(turn.terms))
        session_terms[turn.session] += len(turn.terms)
    return Stats(turns=number, terms=lengths, holding=holding, sessions=len(session_terms), session_terms=session_terms)


def search(log: Log, text: str, limit: int = 10) -> list[Scored]:
    turns = index(log)
    return rank(query_terms(text), turns, stats_of(turns), limit)


def places(found: list[Scored]) -> list[tuple[str, int]]:
    return [(one.session, one.seq) for one in found]


# Cutting


@for_each(
    "said, asked",
    [("running", "runs"), ("decided", "decide"), ("The babies", "baby"), ("Anna's bicycles", "anna bicycle")],
)
def test_an_inflected_english_word_is_found_by_its_other_forms(said: str, asked: str) -> None:
    assert terms(said) == terms(asked)


@for_each(
    "said, asked",
    [
        ("Zażółć gęślą jaźń", "zazolc gesla jazn"),
        ("ŁÓDŹ", "lodz"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("smørrebrød", "smorrebrod"),
        ("ｆｕｌｌ ｗｉｄｔｈ ３", "full width 3"),
        ("٤٤٧١", "4471"),
        ("ΟΔΟΣ", "οδός"),
        ("Ёлка", "елка"),
    ],
)
def test_accents_case_and_forms_of_letters_do_not_matter(said: str, asked: str) -> None:
    assert terms(said) == terms(asked) != []


def test_chinese_is_cut_into_pairs_of_characters() -> None:
    assert terms("今天天气很好") == ["今天", "天天", "天气", "气很", "很好"]


def test_a_single_character_gives_itself() -> None:
    assert terms("茶") == ["茶"]
    assert terms("用 PostgreSQL") == ["用", *terms("PostgreSQL")]


@for_each(
    "said, asked",
    [
        ("昨日は東京タワーに行きました", "東京タワー"),
        ("ガイド", "ｶﾞｲﾄﾞ"),
        ("학교에서 공부했다", "학교"),
        ("ผมชอบกาแฟมาก", "กาแฟ"),
    ],
)
def test_japanese_korean_and_thai_words_are_found_inside_a_run(said: str, asked: str) -> None:
    assert asked and set(terms(asked)) <= set(terms(said))


def test_the_strokes_of_kana_are_kept() -> None:
    assert terms("かき") != terms("がき")


def test_hindi_and_arabic_words_are_found_with_or_without_their_marks() -> None:
    assert terms("बाज़ार") == terms("बाजार")
    assert terms("مُحَمَّد") == terms("محمد")


@for_each(
    "said, asked",
    [
        ("see INC-4471 please", ["INC-4471", "inc4471", "4471", "INC", "inc 4471"]),
        ("see INC4471 please", ["INC-4471", "4471", "inc"]),
        ("call foo_bar(1)", ["foo_bar", "foobar", "foo", "bar", "fooBar"]),
        ("the camelCase word", ["camelCase", "camelcase", "camel", "case", "camel_case"]),
        ("class HTTPServerError", ["HTTPServerError", "http", "server", "errors", "httpservererror"]),
        ("open src/app.py", ["src/app.py", "app.py", "app", "src"]),
        ("at 2026-11-16 15:30", ["2026-11-16", "2026", "15:30"]),
        ("write to anna@example.com", ["anna@example.com", "anna", "example.com"]),
        ("our e-mail", ["email", "e-mail", "mail"]),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(said: str, asked: list[str]) -> None:
    held = set(terms(said))
    missed = [one for one in asked if not held & set(terms(one))]
    assert not missed


def test_an_identifier_as_it_is_written_holds_every_term_of_itself_as_a_query() -> None:
    for name in ("INC-4471", "foo_bar", "camelCase", "src/app.py", "HTTPServer2"):
        assert set(query_terms(name)) <= set(terms(f"We saw ({name}), twice."))


def test_a_whole_identifier_ranks_above_one_that_shares_a_part() -> None:
    log: Log = [*SMALL_TALK, ("s1", "user", "INC-4471 is closed"), ("s2", "user", "INC-4472 is closed")]
    assert places(search(log, "INC-4471"))[0] == ("s1", 1)


def test_stop_words_are_dropped_in_english_and_polish() -> None:
    assert terms("What is it that you don't have?") == []
    assert terms("czy to jest to, że się nie da") == ["da"]


def test_words_that_people_look_for_are_not_stop_words() -> None:
    for word in ("ten", "PO", "US", "Z", "ale", "may", "long", "new", "need"):
        assert terms(word), word


def test_a_query_of_stop_words_alone_gives_no_terms() -> None:
    assert query_terms("to be or not to be") == []
    assert rank([], index(SMALL_TALK), stats_of(index(SMALL_TALK)), 5) == []


def test_a_query_has_each_term_once_and_not_too_many() -> None:
    assert query_terms("tea TEA teas coffee") == ["tea", "coffe"]
    assert len(query_terms(" ".join(f"word{number}" for number in range(100)))) == QUERY_TERMS_MAX


def test_only_the_beginning_of_a_giant_text_is_indexed() -> None:
    giant = "needle " + "hay " * CHARS_MAX + "pin"
    found = set(terms(giant))
    assert "needl" in found
    assert "pin" not in found
    assert len(terms("天" * 1_000_000)) < CHARS_MAX


def test_a_word_without_end_is_cut() -> None:
    assert terms("x" * 500) == ["x" * TERM_CHARS_MAX]


@given(st.text(max_size=300))
def test_a_term_is_letters_and_digits_and_short_enough_for_any_database(text: str) -> None:
    for term in terms(text):
        assert term.isalnum(), term
        assert 1 <= len(term) <= TERM_CHARS_MAX


@given(st.lists(st.sampled_from("INC-4471 foo_bar camelCase Zażółć 今天天气 tea ß ﬁ ガ".split()), max_size=8))  # noqa: SIM905
def test_a_text_holds_the_terms_of_its_words_one_after_the_other(words: list[str]) -> None:
    assert terms(", ".join(words)) == [term for word in words for term in terms(word)]


# Ranking


def test_the_turn_with_the_rarer_words_comes_first() -> None:
    log: Log = [
        *SMALL_TALK,
        ("s1", "user", "the meeting was moved"),
        ("s2", "user", "the harpsichord was moved"),
        ("s3", "user", "the meeting was moved again"),
    ]
    assert places(search(log, "harpsichord meeting"))[0] == ("s2", 1)


def test_a_short_statement_of_the_user_beats_a_long_answer_that_repeats_the_word() -> None:
    answer = "Hazelnut desserts are many. " + "A hazelnut cake needs roasted hazelnut flour and hazelnut cream. " * 6
    log: Log = [
        *SMALL_TALK,
        ("s1", "user", "What could I bake for the party?"),
        ("s1", "assistant", answer),
        ("s2", "user", "I am allergic to hazelnuts"),
        ("s2", "assistant", "Understood, I will remember that."),
    ]
    older_answer, newer_answer = log, [*SMALL_TALK, *log[-2:], *log[-4:-2]]
    for either in (older_answer, newer_answer):
        assert places(search(either, "hazelnut"))[0] == ("s2", 1)


def test_an_answer_is_found_by_the_words_of_the_question_before_it() -> None:
    log: Log = [
        *SMALL_TALK,
        ("s1", "user", "Which wine goes with salmon?"),
        ("s1", "assistant", "Try a dry Riesling."),
        ("s1", "user", "Thanks a lot."),
    ]
    found = search(log, "wine salmon")
    assert places(found) == [("s1", 1), ("s1", 2)]
    assert found[1].by_turn == 0
    assert found[1].by_pair > 0


def test_a_pair_never_reaches_over_the_edge_of_a_session() -> None:
    log: Log = [("s1", "user", "salmon"), ("s2", "user", "Thanks a lot")]
    assert places(search(log, "salmon")) == [("s1", 1)]


def test_the_topic_of_a_session_lifts_its_turns() -> None:
    about_sailing: Log = [
        ("s1", "user", "Sailing was wonderful"),
        ("s1", "assistant", "Sailing on the lake sounds fine"),
        ("s1", "user", "The rope broke though"),
        ("s1", "assistant", "A new rope costs little"),
        ("s1", "user", "We go sailing again in June"),
    ]
    about_climbing: Log = [
        ("s2", "user", "Climbing was wonderful"),
        ("s2", "assistant", "Climbing in the hills sounds fine"),
        ("s2", "user", "The rope broke though"),
        ("s2", "assistant", "A new rope costs little"),
        ("s2", "user", "We go climbing again in June"),
    ]
    found = search([*about_sailing, *SMALL_TALK, *about_climbing], "rope sailing", 20)
    order = places(found)
    assert order.index(("s1", 3)) < order.index(("s2", 3))
    parts = {(one.session, one.seq): one for one in found}
    assert parts["s1", 3].by_session > parts["s2", 3].by_session


def test_of_equals_the_newest_comes_first() -> None:
    same: Log = [("s1", "user", "blue kayak"), ("s2", "user", "blue kayak"), ("s3", "user", "blue kayak")]
    assert places(search(same, "kayak")) == [("s3", 1), ("s2", 1), ("s1", 1)]


def test_of_equals_of_one_moment_the_session_decides_and_then_the_later_turn() -> None:
    turns = [
        turn._replace(at_us=7)
        for turn in index([("b", "user", "kayak"), ("a", "user", "kayak"), ("b", "system", ""), ("b", "user", "kayak")])
    ]
    found = rank(["kayak"], turns, stats_of(turns), 10, weights=(1, 0, 0))
    assert places(found)[:3] == [("a", 1), ("b", 3), ("b", 1)]


def test_every_part_of_a_score_lies_between_0_and_1_and_the_score_is_their_weighted_sum() -> None:
    turns = index([*SMALL_TALK, ("s1", "user", "meetings on Monday"), ("s1", "assistant", "Two on Monday")])
    found = rank(query_terms("monday meetings"), turns, stats_of(turns), 10, weights=(0.5, 0.25, 0.25))
    assert found
    for one in found:
        assert all(0 <= part <= 1 for part in (one.by_turn, one.by_pair, one.by_session))
        assert one.score == one.by_turn * 0.5 + one.by_pair * 0.25 + one.by_session * 0.25
    assert max(one.by_turn for one in found) == max(one.by_session for one in found) == 1


def test_the_limit_cuts_the_end() -> None:
    log: Log = [(f"s{number}", "user", "kayak " + "paddle " * number) for number in range(9)]
    assert places(search(log, "kayak", 3)) == places(search(log, "kayak", 9))[:3]


_WORDS = "tea cake river stone lamp kayak meeting rope".split()  # noqa: SIM905
_TURNS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["user", "assistant", "tool", "system"]),
        st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join),
    ),
    max_size=25,
)


@given(_TURNS, st.lists(st.sampled_from(_WORDS), max_size=5), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_arrive_changes_nothing_to_the_last_bit(
    log: Log, query: list[str], chance: random.Random
) -> None:
    turns = index(log)
    stats = stats_of(turns)
    shuffled = turns + turns[:5]
    chance.shuffle(shuffled)
    asked = query_terms(" ".join(query))
    assert rank(asked, shuffled, stats, 50) == rank(asked, turns, stats, 50)


@given(_TURNS, st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5))
def test_turns_that_hold_no_term_and_follow_none_may_be_left_out_of_the_candidates(log: Log, query: list[str]) -> None:
    turns = index(log)
    asked = query_terms(" ".join(query))
    holding = {(turn.session, turn.seq) for turn in turns if set(asked) & set(turn.terms)}
    near = {(session, seq + step) for session, seq in holding for step in (-1, 0, 1)}
    candidates = [turn for turn in turns if (turn.session, turn.seq) in near]
    assert rank(asked, candidates, stats_of(turns), 50) == rank(asked, turns, stats_of(turns), 50)


@given(_TURNS, st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5))
def test_statistics_that_lag_behind_the_log_do_no_harm(log: Log, query: list[str]) -> None:
    turns = index(log)
    asked = query_terms(" ".join(query))
    nothing: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    empty = Stats(turns=nothing, terms=nothing, holding={}, sessions=0, session_terms={})
    assert {*places(rank(asked, turns, empty, 50))} == {*places(rank(asked, turns, stats_of(turns), 50))}


# Showing


def test_a_snippet_shows_the_match_and_where_it_is() -> None:
    text = "Nothing of interest here. " * 30 + "We decided to paint the kitchen\ngreen in May. " + "And so on. " * 30
    shown, ranges = snippet(text, query_terms("kitchen decision decide"))
    assert len(shown) <= 162
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "\n" not in shown
    assert [shown[start:end] for start, end in ranges] == ["decided", "kitchen"]


def test_a_snippet_prefers_the_place_where_most_terms_stand_together() -> None:
    text = "kitchen " + "filler " * 60 + "the green kitchen door " + "filler " * 60 + "kitchen"
    shown, ranges = snippet(text, query_terms("green kitchen door"), 60)
    assert [shown[start:end] for start, end in ranges] == ["green", "kitchen", "door"]


def test_a_snippet_of_chinese_marks_the_characters_that_matched() -> None:
    text = "我们昨天讨论了很多事情，" * 20 + "北京的天气不好。" + "然后大家都回家了。" * 20
    shown, ranges = snippet(text, query_terms("北京天气"), 40)
    assert [shown[start:end] for start, end in ranges] == ["北京", "天气"]
    assert len(shown) <= 42


def test_a_snippet_marks_the_text_as_it_was_written() -> None:
    text = "Ta Straße w ŁODZI: zażo\u0301łć INC-4471, camelCase, cafe\u0301."
    shown, ranges = snippet(text, query_terms("strasse lodzi zazolc inc4471 case cafe"))
    assert shown == text
    marked = ["Straße", "ŁODZI", "zażo\u0301łć", "INC-4471", "Case", "cafe\u0301"]
    assert [shown[start:end] for start, end in ranges] == marked


def test_a_snippet_without_a_match_is_the_beginning() -> None:
    assert snippet("short text", ["zebra"]) == ("short text", [])
    shown, ranges = snippet("many words " * 100, [], 50)
    assert shown.startswith("many words")
    assert shown.endswith("…")
    assert ranges == []


@given(st.text(max_size=400), st.text(max_size=40), st.integers(min_value=10, max_value=200))
def test_a_snippet_is_short_and_its_ranges_lie_inside_it_in_order(text: str, asked: str, chars: int) -> None:
    shown, ranges = snippet(text, query_terms(asked), chars)
    assert len(shown) <= chars + 2
    flat = [edge for pair in ranges for edge in pair]
    assert flat == sorted(set(flat))
    assert all(0 <= edge <= len(shown) for edge in flat)


@given(
    st.lists(st.sampled_from([*_WORDS, "天气", "今天很好。", "foo_bar", "Zażółć"]), min_size=1, max_size=80), st.data()
)
def test_a_word_of_the_text_is_marked_in_the_snippet_that_it_asks_for(said: list[str], data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(said))
    shown, ranges = snippet(" ".join(said), query_terms(word), 80)
    marked = {term for start, end in ranges for term in terms(shown[start:end])}
    assert marked & set(query_terms(word))
