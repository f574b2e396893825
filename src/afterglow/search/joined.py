"""Words and meaning in one order, over turns, facts, blocks and summaries.

Each kind is judged by its words (search/words.py) and by its nearness to the query. Both are put on a scale of 0 to 1 within
the query, where 1 is the best that was found, and added with fixed weights. Ranks are not added: where one way of looking
finds nothing that fits, its first place would count as much as the other's.

Kinds meet on one scale. A fact is worth as much of the query's words as it covers, just as a turn is, and has no neighbour
and no session to borrow from: so one that answers stands before a turn that merely mentions, and behind one that says more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from afterglow.search import words
from afterglow.store.search import Indexed, Kind, Matches, Record, RecordKind, Sought

NEAR_MIN = 0.3
"""What is not so near is not about it; where not even the nearest is, nearness tells nothing."""
MEANING = 0.3
"""What nearness counts beside words. Found by `benchmarks/search_locomo.py`."""
_EVERYTHING = Sought()
WORTH: Mapping[RecordKind, float] = {"fact": 1.0, "block": 0.8, "summary": 0.8}
"""A block and a summary hold many words of many things: where a turn or a fact says the same, that is the better answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """Something that was found, its score, and what it is made of: each between 0 and 1. What does not apply is 0."""

    owner: str
    kind: Kind
    place: str
    seq: int
    at_us: int
    score: float
    by_words: float
    by_meaning: float
    by_turn: float = 0.0
    by_pair: float = 0.0
    by_session: float = 0.0


def join(
    query: Sequence[str],
    matches: Matches,
    cosines: Mapping[int, float],
    limit: int,
    *,
    sought: Sought = _EVERYTHING,
    meaning: float = MEANING,
    scoring: words.Scoring | None = None,
) -> list[Ranked]:
    """The best of all kinds, best first; of equals the newest. `cosines` says how near those are that have a vector.

    `scoring` is the one that has looked at some of the turns before.
    """
    scoring = scoring or words.Scoring(query, matches.stats)
    turns = {(turn.session, turn.seq): turn for turn in matches.turns}
    nearness = _nearness(cosines)
    judged = words.judge(scoring, turns)
    said = words.judge_records(scoring, matches.records, matches.record_stats)
    top = max([*judged.by_turn.values(), *said.values()], default=0.0) or 1.0
    reach = judged.top_turn / top
    weight = meaning if cosines else 0.0
    found: list[tuple[float, Indexed | Record]] = [
        (_sum(words.weighed(judged, place) * reach, nearness.get(turn.id), weight), turn)
        for place, turn in turns.items()
        if place in judged.by_turn or _is_near(cosines, turn.id)  # a session alone is no reason
    ]
    found += [
        (WORTH[record.kind] * _sum(said[_key(record)] / top, nearness.get(record.id), weight), record)
        for record in {record.id: record for record in matches.records}.values()
        if said[_key(record)] or _is_near(cosines, record.id)
    ]
    found = [each for each in found if each[0] > 0 and sought.since_us <= each[1].at_us < sought.until_us]
    best = sorted(found, key=_order)[:limit]
    return [
        _turn(score, each, words.scaled(judged, (each.session, each.seq)), reach, nearness.get(each.id, 0.0))
        if isinstance(each, Indexed)
        else _record(score, each, said[_key(each)] / top, nearness.get(each.id, 0.0))
        for score, each in best
    ]


def _is_near(cosines: Mapping[int, float], record: int) -> bool:
    """Whether it may be about the same though it holds none of the words."""
    return cosines.get(record, 0.0) >= NEAR_MIN


def _key(record: Record) -> words.RecordPlace:
    return record.kind, record.place, record.seq


def _order(found: tuple[float, Indexed | Record]) -> tuple[float, int, str, str, int]:
    score, each = found
    kind, place = ("turn", each.session) if isinstance(each, Indexed) else (each.kind, each.place)
    return -score, -each.at_us, kind, place, -each.seq


def _nearness(cosines: Mapping[int, float]) -> dict[int, float]:
    """From 0 for the farthest of those looked at to 1 for the nearest; where there are few, or none is near, not all are."""
    if not cosines:
        return {}
    top = max(cosines.values())
    if top < NEAR_MIN:  # nothing here is about it
        return dict.fromkeys(cosines, 0.0)
    least = min(top / 2, *cosines.values())
    room = max(top - least, 1e-9)
    return {record: max(0.0, (cosine - least) / room) for record, cosine in cosines.items()}


def _sum(by_words: float, nearness: float | None, weight: float) -> float:
    """Words and meaning together; words alone for what has no vector yet, or what was just said would come last."""
    return by_words if nearness is None else (1 - weight) * by_words + weight * nearness


def _turn(score: float, turn: Indexed, scored: words.Scored, reach: float, nearness: float) -> Ranked:
    return Ranked(
        owner=turn.owner,
        kind="turn",
        place=turn.session,
        seq=turn.seq,
        at_us=turn.at_us,
        score=score,
        by_words=scored.score * reach,
        by_meaning=nearness,
        by_turn=scored.by_turn,
        by_pair=scored.by_pair,
        by_session=scored.by_session,
    )


def _record(score: float, record: Record, by_words: float, nearness: float) -> Ranked:
    return Ranked(
        owner=record.owner,
        kind=record.kind,
        place=record.place,
        seq=record.seq,
        at_us=record.at_us,
        score=score,
        by_words=by_words,
        by_meaning=nearness,
    )
