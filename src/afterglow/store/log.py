"""The log's verbs: turns.

`append` does all of the foreground's bookkeeping in one go: it finds or opens the session and locks its row, numbers
the turn, keeps the counters, and marks work due. It looks at a fixed number of rows, whatever the length of the history.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.compaction import SUNSET, ended
from afterglow.errors import BadInput, NotFound
from afterglow.store import audit, queue, sessions, stones
from afterglow.store.search import group_of, index_turn
from afterglow.store.sessions import Fresh
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Binding, Draft, Part, Session, Turn, begins_exchange, is_real, says_something
from afterglow.work import Due


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """Head and tail of a turn that is over the size limit: what lists and models are shown of it."""

    text: str
    parts: Sequence[Part]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A turn ready to be written: the draft, the terms it is searched by, and how it is shown where it is too long."""

    draft: Draft
    terms: Sequence[str]
    bytes: int
    shown: Shown | None = None


Asked = Sequence[Due] | Callable[[Session], Sequence[Due]]
"""The work that a turn makes due, or a rule that says so by looking at the session as it is with that turn."""


def append(
    tx: Tx, to: Binding | str, entry: Entry, named: str | None, fresh: Fresh, due: Asked, stays: bool = False
) -> Turn:
    session = _session_for(tx, to, named, fresh, _at_us(entry))
    written = _turn_by_key(tx, session, entry.draft.key)
    stays = stays or _answers_the_end(session, entry.draft)
    if written is None and (session is None or _is_over(session, stays)):
        binding = to if isinstance(to, Binding) else sessions.binding_of(sessions.existing(session, to))
        session = sessions.open_new(tx, binding, fresh, _at_us(entry))
        written = _turn_by_key(tx, session, entry.draft.key)
    if written is not None:
        return written
    assert session is not None
    entry = _unless_forgotten(tx, session, entry)
    wakes = is_real(entry.draft.role, entry.draft.origin) and session["state"] != "closed"
    turn = _add_turn(tx, session, entry, reopen=wakes)
    audit.note_writer(tx, turn, fresh.by)
    if wakes and session["state"] == "idle":
        queue.cancel(tx, turn.owner, "clear", turn.session)
    asked = list(due(sessions.session(tx, turn.session)) if callable(due) else due)
    if session["closed_by"] == "sunset":  # the summary is to cover the answer too
        asked += ended(from_us(_at_us(entry)), SUNSET)
    for each in sorted(asked, key=lambda each: each.kind):  # always in this order, or two could wait for each other
        queue.mark_due(tx, each, turn.owner, each.subject or turn.session)
        sessions.note(tx, turn.owner, turn.session, each)
    return turn


def _is_over(session: Row, stays: bool) -> bool:
    """Whether another session follows this one: it is closed, unless the turn stays with it, or it is being forgotten."""
    return (session["state"] == "closed" and not stays) or bool(session["forgetting"])


def _unless_forgotten(tx: Tx, session: Row, entry: Entry, salts: Mapping[str, str] | None = None) -> Entry:
    """The turn as it is written: of one that was forgotten and comes again, an empty stone. `salts` are for imports."""
    draft = entry.draft
    if salts == {} or not stones.was_forgotten(tx, draft, _at_us(entry), salts):
        return entry
    key = None if draft.key is None else stones.key_of(tx, session, draft.key)
    removed = {stones.FORGOTTEN: 1}
    bare = replace(draft, text="", parts=(), recalled=(), model=None, usage=None, key=key, tokens=0, removed=removed)
    return Entry(draft=bare, terms=(), bytes=0)


def _answers_the_end(session: Row | None, draft: Draft) -> bool:
    """Whether this is the answer to the message that ended the session: it stands where its question does."""
    if session is None or session["closed_by"] != "sunset":
        return False
    return draft.role in ("assistant", "tool") and session["last_role"] != "assistant"


def announce(tx: Tx, session_row: Row, entry: Entry) -> Turn:
    """Write down what became of the session, without waking it."""
    return _add_turn(tx, session_row, entry, reopen=False)


def turn(tx: Tx, session: str, seq: int) -> Turn:
    found = sessions.existing(sessions.find(tx, session), session)
    row = tx.row(
        "SELECT * FROM turns WHERE {mine} AND owner = :owner AND session = :session AND seq = :seq",
        owner=found["owner"],
        session=session,
        seq=seq,
    )
    if row is None:
        raise NotFound(f"session {session!r} has no turn {seq}")
    return _whole(tx, row) if row["cut"] else _turn(row)


def turn_by_key(tx: Tx, binding: Binding, key: str, since: int) -> Turn | None:
    """In the sessions that have a turn of that moment or a later one."""
    row = tx.row(
        """SELECT * FROM turns WHERE {mine} AND key = :key AND session IN (
             SELECT id FROM sessions WHERE {mine} AND last_at >= :since
               AND agent = :agent AND channel = :channel AND sender = :sender)
           ORDER BY at DESC, session DESC LIMIT 1""",
        key=key,
        since=since,
        agent=binding.agent,
        channel=binding.channel,
        sender=binding.sender,
    )
    return None if row is None else _turn(row)


def turns(tx: Tx, session: str, first_seq: int, last_seq: int | None, limit: int) -> list[Turn]:
    found = sessions.existing(sessions.find(tx, session), session)
    last = min(found["turns"] if last_seq is None else last_seq, found["turns"], first_seq + limit - 1)
    return _range(tx, session, first_seq, last)


def tail(tx: Tx, session: str, limit: int) -> list[Turn]:
    found = sessions.existing(sessions.find(tx, session), session)
    return _range(tx, session, found["turns"] - limit + 1, found["turns"])


def turns_before(tx: Tx, before: tuple[int, str, int] | None, limit: int) -> list[Turn]:
    at, session, seq = before or (2**62, "", 0)
    rows = tx.rows(
        """SELECT * FROM turns WHERE {mine} AND (at, session, seq) < (:at, :session, :seq)
           ORDER BY at DESC, session DESC, seq DESC LIMIT :limit""",
        at=at,
        session=session,
        seq=seq,
        limit=limit,
    )
    return [_turn(row) for row in rows]


def restore_turns(tx: Tx, session_id: str, first_seq: int, entries: Sequence[Entry]) -> None:
    row = sessions.existing(sessions.find(tx, session_id, lock=True), session_id)
    if row["turns"] != first_seq - 1:
        raise BadInput(
            f"session {session_id!r} has {row['turns']} turns; turn {first_seq} cannot be imported after them"
        )
    salts = stones.salts(tx)
    for entry in entries:
        if _turn_by_key(tx, row, entry.draft.key) is not None:
            raise BadInput(
                f"session {session_id!r} has a turn with the key {entry.draft.key!r}; import it under another"
            )
        _add_turn(tx, row, _unless_forgotten(tx, row, entry, salts), reopen=False)
        row = sessions.existing(sessions.find(tx, session_id), session_id)
    if row["stones"]:  # what was to be summarised at its end may be forgotten here
        tx.run(
            """UPDATE sessions SET sunset_seq = said_seq WHERE {mine} AND owner = :owner AND id = :id
                 AND sunset_seq > said_seq AND sunset_seq <= turns""",
            owner=row["owner"],
            id=session_id,
        )


def _turn_by_key(tx: Tx, session_row: Row | None, key: str | None) -> Turn | None:
    if session_row is None or key is None:
        return None
    row = _row_by_key(tx, session_row, key)
    if row is None and session_row["stones"]:
        row = _row_by_key(tx, session_row, stones.key_of(tx, session_row, key))
    return None if row is None else _turn(row)


def is_stone_there(tx: Tx, session_row: Row, key: str) -> bool:
    """Whether the session had a turn of this key that was forgotten."""
    return _row_by_key(tx, session_row, stones.key_of(tx, session_row, key)) is not None


def _row_by_key(tx: Tx, session_row: Row, key: str) -> Row | None:
    return tx.row(
        "SELECT * FROM turns WHERE {mine} AND owner = :owner AND session = :session AND key = :key",
        owner=session_row["owner"],
        session=session_row["id"],
        key=key,
    )


def _at_us(entry: Entry) -> int:
    assert entry.draft.at is not None, "the door says when a turn was said"
    return to_us(entry.draft.at)


def _add_turn(tx: Tx, session_row: Row, entry: Entry, reopen: bool = True) -> Turn:
    """Write the turn down, and give it back as it will be listed: made from the draft, since reading costs."""
    draft, at_us = entry.draft, _at_us(entry)
    where: dict[str, Any] = {
        "owner": session_row["owner"],
        "session": session_row["id"],
        "seq": session_row["turns"] + 1,
    }
    said: dict[str, Any] = {
        "role": draft.role,
        "text": (entry.shown or draft).text,
        "tokens": draft.tokens or 0,
        "trust": draft.trust,
        "origin": draft.origin,
        "channel": draft.channel,
        "model": draft.model,
        "key": draft.key,
        "bytes": entry.bytes,
    }
    parts = (entry.shown or draft).parts
    tx.run(
        """INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, channel,
                              model, usage, key, removed, bytes, cut)
           VALUES (:owner, :session, :seq, :role, :text, :parts, :at, :tokens, :trust, :origin, :recalled, :channel,
                   :model, :usage, :key, :removed, :bytes, :cut)""",
        **where,
        **said,
        parts=_list_json(parts),
        at=at_us,
        recalled=_list_json(draft.recalled),
        usage=None if draft.usage is None else _encode(dict(draft.usage)),
        removed=_encode(dict(draft.removed)) if draft.removed else "{}",
        cut=int(entry.shown is not None),
    )
    if entry.shown is not None:
        tx.run(
            "INSERT INTO whole_turns (owner, session, seq, text, parts) VALUES (:owner, :session, :seq, :text, :parts)",
            **where,
            text=draft.text,
            parts=_list_json(draft.parts),
        )
    index_turn(tx, **where, role=draft.role, at_us=at_us, terms=entry.terms)
    _count(tx, session_row, entry, at_us, reopen)
    return Turn(
        **where,
        **said,
        at=from_us(at_us),
        parts=tuple(parts),
        recalled=tuple(draft.recalled),
        usage=draft.usage,
        removed=draft.removed,
        cut=entry.shown is not None,
    )


def _count(tx: Tx, session_row: Row, entry: Entry, at_us: int, reopen: bool) -> None:
    draft = entry.draft
    group = group_of(draft.role)
    is_stone = stones.is_stone(draft.removed)
    begins = begins_exchange(draft.role, session_row["last_role"])
    shown = session_row["block_tokens"] + session_row["tail_tokens"]
    reported = input_tokens(draft.usage)
    tx.run(
        f"""UPDATE sessions SET turns = turns + 1, exchanges = exchanges + :begins, tokens = tokens + :tokens,
              last_role = :role, last_at = {{greatest}}(last_at, :at), state = CASE WHEN :reopen = 1 THEN 'open' ELSE state END,
              {group}_turns = {group}_turns + :indexed, {group}_terms = {group}_terms + :terms,
              tail_tokens = tail_tokens + :tokens, overhead_tokens = :overhead, stones = stones + :stone,
              said_seq = CASE WHEN :says = 1 THEN turns + 1 ELSE said_seq END,
              real_at = CASE WHEN :real = 1 THEN {{greatest}}(coalesce(real_at, 0), :at) ELSE real_at END,
              exchange_seq = CASE WHEN :begins = 1 THEN turns + 1 ELSE exchange_seq END,
              exchange_tokens = CASE WHEN :begins = 1 THEN :tokens ELSE exchange_tokens + :tokens END
            WHERE {{mine}} AND owner = :owner AND id = :id""",
        owner=session_row["owner"],
        id=session_row["id"],
        begins=int(begins),
        tokens=draft.tokens or 0,
        role=draft.role,
        at=at_us,
        reopen=int(reopen),
        stone=int(is_stone),
        says=int(says_something(draft.role, draft.origin) and not is_stone),
        real=int(is_real(draft.role, draft.origin)),
        indexed=int(bool(entry.terms)),
        terms=len(entry.terms),
        overhead=session_row["overhead_tokens"] if reported is None else max(0, reported - shown),
    )


def input_tokens(usage: Mapping[str, int] | None) -> int | None:
    """How many tokens the model says it was given, by any of the names that providers use."""
    names = ("input_tokens", "prompt_tokens", "prompt_token_count", "input")
    return next((usage[name] for name in names if name in usage), None) if usage else None


def _range(tx: Tx, session_id: str, first: int, last: int) -> list[Turn]:
    rows = tx.rows(
        "SELECT * FROM turns WHERE {mine} AND session = :session AND seq BETWEEN :first AND :last ORDER BY seq",
        session=session_id,
        first=first,
        last=last,
    )
    return [_turn(row) for row in rows]


def _whole(tx: Tx, row: Row) -> Turn:
    whole = tx.one(
        "SELECT text, parts FROM whole_turns WHERE {mine} AND owner = :owner AND session = :session AND seq = :seq",
        owner=row["owner"],
        session=row["session"],
        seq=row["seq"],
    )
    return _turn(row, text=whole["text"], parts=whole["parts"], cut=False)


def _turn(row: Row, **instead: Any) -> Turn:
    parts: str = instead.get("parts", row["parts"])
    recalled: str = row["recalled"]
    usage: str | None = row["usage"]
    return Turn(
        owner=row["owner"],
        session=row["session"],
        seq=row["seq"],
        role=row["role"],
        text=instead.get("text", row["text"]),
        at=from_us(row["at"]),
        tokens=row["tokens"],
        trust=row["trust"],
        origin=row["origin"],
        parts=() if parts == "[]" else tuple(json.loads(parts)),
        recalled=() if recalled == "[]" else tuple((start, end) for start, end in json.loads(recalled)),
        channel=row["channel"],
        model=row["model"],
        usage=None if usage is None else json.loads(usage),
        key=row["key"],
        removed={} if row["removed"] == "{}" else json.loads(row["removed"]),
        bytes=row["bytes"],
        cut=instead.get("cut", bool(row["cut"])),
    )


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _list_json(values: Sequence[Any]) -> str:
    return _encode(list(values)) if values else "[]"


def _session_for(tx: Tx, to: Binding | str, named: str | None, fresh: Fresh, at_us: int) -> Row | None:
    if isinstance(to, str):
        return sessions.existing(sessions.find(tx, to, lock=True), to)
    if named is None:
        return sessions.newest(tx, to, lock=True)
    sessions.open_named(tx, to, named, fresh, at_us)
    return sessions.find(tx, named, lock=True)
