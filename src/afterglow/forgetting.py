"""Forgetting: turns, a session or an owner, step by step, and a proof of it where one is asked for.

What the proof looks for is gathered before anything is forgotten, and held in memory alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from afterglow import log_lines
from afterglow.errors import AfterglowError, BadInput, NotFound
from afterglow.facts import Fact
from afterglow.memory_files import FOLDER
from afterglow.memory_files.folder import LOCK
from afterglow.memory_files.names import folder_name
from afterglow.proof import Proof, pieces, prove
from afterglow.store.contract import Store
from afterglow.store.forgetting import Forgotten
from afterglow.summaries import text_of
from afterglow.turns import Session, Turn

SOUGHT_MAX = 200
"""The most pieces of text that are looked for."""
_FACT_CHARS_MIN = 12
_OWN_FILES_NAMED = 3
_PAGE_TURNS = 200
_PAGE_SESSIONS = 100

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told how many turns of how many are forgotten."""
Rewrite = Callable[[str], Awaitable[object]]
"""Writes the memory files of an owner anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgetting:
    """What was forgotten, and the proof, where one was asked for."""

    forgotten: Forgotten
    proof: Proof | None = None


async def forget_turns(
    store: Store,
    session: Session,
    first_seq: int,
    last_seq: int | None = None,
    *,
    verify: bool = False,
    data_dir: Path | None = None,
    rewrite: Rewrite | None = None,
    progress: Progress | None = None,
) -> Forgetting:
    """One turn, or a run of turns. Blocks over them are made anew of what is left; facts that only they prove are forgotten.

    Of turns that were all forgotten before there is no proof: none of their words is left to look for.
    """
    last = first_seq if last_seq is None else last_seq
    if last < first_seq:
        raise BadInput(f"turns {first_seq} to {last} are no run; write {last} to {first_seq}")
    now = await store.session(session.owner, session.id)
    if not 1 <= first_seq <= last <= now.turns:
        raise NotFound(f"session {session.id!r} has turns 1 to {now.turns}; {first_seq} to {last} are not among them")
    sought = await _gathered(_turns(store, session, first_seq, last)) if verify else []
    facts = await _facts(store, session, first_seq, last) if verify else []

    async def step() -> Forgotten:
        return await store.forget_turns(session.owner, session.id, first_seq, last)

    done = await _all_steps(step, progress)
    provable = verify and done.turns > 0
    proof = partial(_proved, store, sought, facts, session.owner, session.id, data_dir) if provable else None
    return await _concluded(store, [session.owner], done, rewrite, proof)


async def forget_session(
    store: Store,
    session: Session,
    *,
    verify: bool = False,
    data_dir: Path | None = None,
    rewrite: Rewrite | None = None,
    progress: Progress | None = None,
) -> Forgetting:
    """A session with all that was made of it. Another of the same name may begin anew."""
    sought = await _gathered(_session_texts(store, session)) if verify else []
    facts = await _facts(store, session) if verify else []

    async def step() -> Forgotten:
        return await store.forget_session(session.owner, session.id)

    done = await _all_steps(step, progress)
    proof = partial(_proved, store, sought, facts, session.owner, session.id, data_dir) if verify else None
    return await _concluded(store, [session.owner], done, rewrite, proof)


async def forget_owner(
    store: Store,
    owner: str,
    *,
    keep_stones: bool = True,
    verify: bool = False,
    data_dir: Path | None = None,
    rewrite: Rewrite | None = None,
    progress: Progress | None = None,
) -> Forgetting:
    """All that is the owner's. Those joined to it stand for themselves again, and keep what is theirs.

    With a `data_dir`, what was logged there does not name the owner any more. Without stones the proof looks for the name too,
    and what an owner that was forgotten before had left goes as well. There is no proof where nothing is left to look for.
    """
    together = await store.folder_owners(owner)  # as long as they are: the files of the others tell of this one too
    sought = await _gathered(_owner_texts(store, owner)) if verify else []
    other = None if keep_stones or not verify else await _named_alike(store, owner)
    name = [] if keep_stones or other else [owner]
    facts = (
        [each async for session in _sessions(store, owner) for each in await _facts(store, session)] if verify else []
    )

    async def step() -> Forgotten:
        return await store.forget_owner(owner, keep_stones=keep_stones)

    done = await _all_steps(step, progress)
    pieces = [*name, *sought]
    proof = partial(_proved, store, pieces, facts, owner, None, data_dir) if verify and pieces else None
    unname = None if data_dir is None else partial(_unname, data_dir, owner)
    concluded = await _concluded(store, together, done, rewrite, proof, unname)
    if keep_stones or concluded.proof is None:
        return concluded
    return replace(concluded, proof=_with_name(concluded.proof, owner, other, data_dir))


async def _named_alike(store: Store, owner: str) -> str | None:
    """Another owner in whose name this one's stands, if there is one: then bytes do not tell whose it is."""
    after = ""
    while page := await store.owners(after=after):
        names = [name for each in page for name in (each.id, *each.joined)]
        if found := next((name for name in names if name != owner and owner in name), None):
            return found
        after = page[-1].id
    return None


def _with_name(proof: Proof, owner: str, other: str | None, data_dir: Path | None) -> Proof:
    """A folder has the owner's name, and stays where somebody put something of their own into it: the proof says so."""
    if other is not None:
        untold = f"the name {owner}, since it stands in that of {other} too"
        proof = replace(proof, not_looked_at=(*proof.not_looked_at, untold))
    folder = None if data_dir is None else data_dir / FOLDER / folder_name(owner)
    if folder is None or not folder.exists():
        return proof
    return replace(proof, clean=False, found=(*proof.found, f"{folder}: its name{_why_it_stays(folder)}"))


def _why_it_stays(folder: Path) -> str:
    files = (Path(where, name).relative_to(folder) for where, _, names in os.walk(folder) for name in names)
    own = sorted(str(path) for path in files if path.name != LOCK)
    if not own:
        return ""
    more = len(own) - _OWN_FILES_NAMED
    named = ", ".join(own[:_OWN_FILES_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f", since somebody put a file of their own into it ({named}); move that away, and remove the folder"


async def unname_if_gone(store: Store, data_dir: Path, owner: str) -> None:
    """Nothing that was logged names an owner who is no more: work under way for it may have done so until just now."""
    root, *_ = await store.folder_owners(owner)
    if not any(owner in (each.id, *each.joined) for each in await store.owners(limit=1, only=root)):
        await _unname(data_dir, owner)


async def _unname(data_dir: Path, owner: str) -> None:
    await asyncio.to_thread(log_lines.unname, data_dir, owner)


async def finish_forgetting(store: Store, rewrite: Rewrite | None = None, data_dir: Path | None = None) -> int:
    """Go on with what was begun and broken off; the answer is how many sessions and owners that were."""
    unfinished = await store.unfinished_forgetting()
    for each in unfinished:
        try:
            if each.session is None:
                await forget_owner(store, each.owner, data_dir=data_dir, rewrite=rewrite)
            else:
                await forget_session(store, await store.session(each.owner, each.session), rewrite=rewrite)
        except NotFound:  # somebody else came to its end
            continue
        except AfterglowError as error:
            _log.warning("the forgetting of %s is not finished: %s", each.session or each.owner, error)
    return len(unfinished)


async def _all_steps(step: Callable[[], Awaitable[Forgotten]], progress: Progress | None) -> Forgotten:
    done = await step()
    while True:
        if progress is not None:
            progress(done.turns, done.turns + done.left)
        if done.done:
            return done
        done = done.and_then(await step())


async def _concluded(
    store: Store,
    owners: Sequence[str],
    done: Forgotten,
    rewrite: Rewrite | None,
    proof: Callable[[], Awaitable[Proof]] | None,
    unname: Callable[[], Awaitable[object]] | None = None,
) -> Forgetting:
    """Each folder is written once. If this is killed, the files of all these owners are due still.

    The log is gone through first, since a file may refuse to be written, and last, since that may be logged.
    """
    if unname is not None:
        await unname()
    if rewrite is not None:
        for folder in dict.fromkeys([(await store.folder_owners(each))[0] for each in owners]):
            await rewrite(folder)
    if unname is not None:
        await unname()
    return Forgetting(forgotten=done, proof=None if proof is None else await proof())


async def _proved(
    store: Store, sought: Sequence[str], facts: Sequence[Fact], owner: str, session: str | None, data_dir: Path | None
) -> Proof:
    """Facts are looked for whole, and only where they went too: one that other turns prove stays."""
    gone = [fact.content for fact in facts if len(fact.content) >= _FACT_CHARS_MIN and await _is_gone(store, fact)]
    pieces = list(dict.fromkeys([*sought, *gone[:SOUGHT_MAX]]))
    return await prove(store, pieces, owner=owner, session=session, data_dir=data_dir)


async def _is_gone(store: Store, fact: Fact) -> bool:
    try:
        return (await store.fact(fact.owner, fact.id)).status == "forgotten"
    except NotFound:
        return True


# What to look for


async def _gathered(texts: AsyncIterator[str]) -> list[str]:
    """Pieces of the texts, no more than can be looked for: where there are too many, every second goes, again and again."""
    kept: list[str] = []
    every = number = 0
    async for text in texts:
        for piece in pieces(text):
            number += 1
            if number % (1 << every) == 0:
                kept.append(piece)
            if len(kept) > SOUGHT_MAX:
                kept, every = kept[::2], every + 1
    return list(dict.fromkeys(kept))


async def _turns(store: Store, session: Session, first_seq: int, last_seq: int) -> AsyncIterator[str]:
    for first in range(first_seq, last_seq + 1, _PAGE_TURNS):
        last = min(last_seq, first + _PAGE_TURNS - 1)
        for turn in await store.turns(session.owner, session.id, first_seq=first, last_seq=last, limit=_PAGE_TURNS):
            whole = await store.turn(session.owner, session.id, turn.seq) if turn.cut else turn
            for text in _texts_in(whole):
                yield text


async def _session_texts(store: Store, session: Session) -> AsyncIterator[str]:
    now = await store.session(session.owner, session.id)
    async for text in _turns(store, now, 1, now.turns):
        yield text
    made = await store.made(now.owner, now.id)
    for each in (*made.blocks, *made.reports):
        yield each.text
    if made.summary is not None:
        yield text_of(made.summary)


async def _owner_texts(store: Store, owner: str) -> AsyncIterator[str]:
    async for session in _sessions(store, owner):
        async for text in _session_texts(store, session):
            yield text


async def _sessions(store: Store, owner: str) -> AsyncIterator[Session]:
    after: Session | None = None
    while page := await store.sessions_by_name(owner, limit=_PAGE_SESSIONS, after=after):
        for session in page:
            if session.owner == owner:
                yield session
        after = page[-1]


async def _facts(store: Store, session: Session, first_seq: int = 1, last_seq: int | None = None) -> list[Fact]:
    """Those that these turns say, or all of the session."""
    return await store.facts_of_turns(
        session.owner, session.id, first_seq, session.turns if last_seq is None else last_seq
    )


def _texts_in(turn: Turn) -> Iterator[str]:
    yield turn.text
    for part in turn.parts:  # what kind of part it is, and of which call, are nobody's words
        yield from _strings({name: value for name, value in part.items() if name not in ("type", "id", "name")})


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast(dict[str, Any], value).values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in cast(Sequence[Any], value):
            yield from _strings(inner)
