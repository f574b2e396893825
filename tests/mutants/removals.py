"""The removals that the tests must notice: each takes one guard out of the code.

The comment before a removal names the promise or requirement of docs/spec.md that the guard keeps, and what goes wrong without
it. Where a second guard would hide the loss of the first, one removal takes both out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """In `file`, below src/afterglow, `old` stands exactly once and becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """One small patch: `old`, which stands exactly once in `file`, becomes `new`, and so do the other edits in `also`."""

    name: str
    file: str
    old: str
    new: str
    also: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits of the patch."""
        return (Edit(file=self.file, old=self.old, new=self.new), *self.also)

    def problem(self, source: Path) -> str:
        """Why the patch no longer applies to this source; empty where it does."""
        for edit in self.edits:
            file = source / edit.file
            count = file.read_text().count(edit.old) if file.exists() else 0
            if count != 1:
                return f"{self.name} no longer applies: {edit.old!r} stands {count} times in {edit.file}"
        return ""

    def apply(self, source: Path) -> None:
        """Take the guard out of this source."""
        for edit in self.edits:
            file = source / edit.file
            file.write_text(file.read_text().replace(edit.old, edit.new))


_STORE = (
    # guards: P1 – an acknowledged turn is lost when the power fails.
    Removal(
        name="sqlite-synchronous-off",
        file="store/sqlite_file.py",
        old="synchronous = FULL",
        new="synchronous = OFF",
    ),
    # guards: P12 – forgotten words stay in the free pages of the file until a later write happens to cover them.
    Removal(
        name="sqlite-secure-delete-off",
        file="store/sqlite_file.py",
        old="secure_delete = ON",
        new="secure_delete = OFF",
    ),
    # guards: P3, FACT-2 – a second reading of the same turns is committed, and the watermark may move backwards.
    Removal(
        name="facts-watermark-unchecked",
        file="store/readings.py",
        old='if row["facts_seq"] != read.from_seq:',
        new="if False:",
    ),
    # guards: P3 – a worker whose claim passed on commits its facts all the same.
    Removal(
        name="facts-claim-unchecked",
        file="store/readings.py",
        old="queue.check(tx, read.claim)",
        new="pass",
    ),
    # guards: P3, FACT-2 – a slow worker and the one that took over both commit the facts of the same turns.
    Removal(
        name="facts-watermark-and-claim-unchecked",
        file="store/readings.py",
        old='if row["facts_seq"] != read.from_seq:',
        new="if False:",
        also=(Edit(file="store/readings.py", old="queue.check(tx, read.claim)", new="pass"),),
    ),
    # guards: FACT-5 – two sessions of one owner that are read at the same time both store the same fact in other words.
    Removal(
        name="facts-version-unchecked",
        file="store/facts.py",
        old="if (gathered.new or gathered.again) and _version(tx) != gathered.version:",
        new="if False:",
    ),
    # guards: SAFE-2 – an owner is told how many facts all owners have.
    Removal(
        name="fact-counts-of-everyone",
        file="store/facts.py",
        old="count(*) AS n FROM facts WHERE {mine} AND twin_of",
        new="count(*) AS n FROM facts WHERE twin_of",
    ),
    # guards: SAFE-2 – a session shows the turns of another owner's session of the same name.
    Removal(
        name="turns-of-everyone",
        file="store/log.py",
        old="WHERE {mine} AND session = :session AND seq BETWEEN",
        new="WHERE session = :session AND seq BETWEEN",
    ),
    # guards: SAFE-2 – the import of a closed session closes another owner's session of the same name.
    Removal(
        name="restored-session-of-everyone",
        file="store/sessions.py",
        old="sunset_seq = :sunset_seq WHERE {mine} AND id = :id",
        new="sunset_seq = :sunset_seq WHERE id = :id",
    ),
    # guards: SAFE-2 – PostgreSQL shows an owner's transaction the rows of every owner once a query lacks its filter.
    Removal(
        name="postgres-row-level-security-off",
        file="store/postgres.py",
        old='"afterglow_worker" if everyone else "afterglow_owner"',
        new='"afterglow_worker"',
    ),
    # guards: P3 – a worker whose claim passed on ends the claim of its successor and commits files, digests and task runs.
    Removal(
        name="finish-unfenced",
        file="store/queue.py",
        old="WHERE {claimed} RETURNING due_at",
        new="WHERE owner = :owner AND kind = :kind AND subject = :subject AND {mine} RETURNING due_at",
    ),
    # guards: P3, P12 – a block that was made before a forget is committed after it, and says the forgotten words again.
    Removal(
        name="blocks-version-unchecked",
        file="store/blocks.py",
        old='if row["blocks_version"] != change.version:',
        new="if False:",
    ),
    # guards: P3, SUM-5 – two workers both commit a summary of the same turns.
    Removal(
        name="summary-watermark-and-claim-unchecked",
        file="store/summaries.py",
        old='if row["summary_seq"] != before_seq:',
        new="if False:",
        also=(
            Edit(
                file="store/queue.py",
                old="WHERE {claimed} RETURNING due_at",
                new="WHERE owner = :owner AND kind = :kind AND subject = :subject AND {mine} RETURNING due_at",
            ),
        ),
    ),
    # guards: P3, FACT-9 – vectors of an embedder that was replaced meanwhile are kept, and the new one never embeds those rows.
    Removal(
        name="vectors-of-another-embedder",
        file="store/vectors.py",
        old='if newest is None or newest["generation"] != generation:',
        new="if newest is None:",
    ),
    # guards: SUM-10, SUM-11 – a second worker takes work whose lease was renewed, and pays for the same model calls.
    Removal(
        name="renewal-not-kept",
        file="store/queue.py",
        old="    _settle(tx, held.owner, held.kind, held.subject)\n    return replace(held",
        new="    return replace(held",
    ),
    # guards: P7 – an owner with thousands of rows due keeps every other owner waiting.
    Removal(
        name="claims-in-turn-off",
        file="store/queue.py",
        old='look_at=max(following["ready_at"], behind_the_others),',
        new='look_at=following["ready_at"],',
    ),
    # guards: P6, SUM-10 – work that kills its worker each time is claimed for ever.
    Removal(
        name="crashing-work-never-parked",
        file="store/queue.py",
        old='if row["attempts"] >= limits.attempts_max and row["parked_at"] is None:',
        new="if False:",
    ),
    # guards: P6 – failed work is tried again at the same short interval for ever.
    Removal(
        name="back-off-not-doubled",
        file="work.py",
        old=" * 2.0 ** min(attempt - 1, 60)",
        new="",
    ),
    # guards: LOG-1, LOG-7 – an import that runs beside another writes the same turns twice, under other numbers.
    Removal(
        name="turns-restored-anywhere",
        file="store/log.py",
        old='if row["turns"] != first_seq - 1:',
        new="if False:",
    ),
    # guards: P9, AWAY-7 – of two messages at the same moment, in two processes, both get the digest.
    Removal(
        name="presence-unlocked",
        file="store/presence.py",
        old="sessions.lock_all_owners(tx, queue.now_us(tx))",
        new="sessions.add_owner(tx, tx.owner, queue.now_us(tx))",
        also=(
            Edit(file="store/presence.py", old="ORDER BY owner {lock}", new="ORDER BY owner"),
            Edit(
                file="store/presence.py",
                old=" AND version = :version RETURNING version",
                new=" RETURNING version",
            ),
        ),
    ),
    # guards: P9, AWAY-7 – the next digest tells the same events again.
    Removal(
        name="events-told-twice",
        file="store/presence.py",
        old="told_to = events, prose = NULL",
        new="prose = NULL",
    ),
    # guards: SAFE-4, P8 – a day's calls cost more than the ceiling in money allows.
    Removal(
        name="spend-ceiling-in-money-off",
        file="store/spend.py",
        old=" AND micro_usd + :micro_usd <= :micro_usd_max",
        new="",
    ),
    # guards: P12, SAFE-3 – a forgotten turn is written again when it is sent or imported once more.
    Removal(
        name="forgotten-turn-returns",
        file="store/log.py",
        old="if salts == {} or not stones.was_forgotten(tx, draft, _at_us(entry), salts):",
        new="if True:",
    ),
    # guards: P12, SAFE-3 – the whole text of a forgotten turn that was too long to show stays in its own table.
    Removal(
        name="forgotten-giant-stays",
        file="store/forgetting.py",
        old='    tx.run(f"DELETE FROM whole_turns WHERE {_HERE} AND seq BETWEEN :first AND :last", **_here(session), **span)\n',
        new="",
    ),
    # guards: SUM-3 – the sweep summarises a session in which people are talking at this moment.
    Removal(
        name="sweep-quiet-seconds-ignored",
        file="store/summaries.py",
        old="(last_at < :quiet_before OR ",
        new="(TRUE OR ",
    ),
    # guards: SAFE-7 – the audit does not say who changed the type of a fact.
    Removal(
        name="retyped-fact-not-audited",
        file="store/contract/facts.py",
        old='self._noted("retype_fact", run, audited.changed_fact(fact))',
        new="run",
    ),
    # guards: P8, AGENT-6 – twice as many messages wait at one place as the limit allows.
    Removal(
        name="inbox-limit-doubled",
        file="store/inbox.py",
        old="if waiting >= WAITING_MAX:",
        new="if waiting >= 2 * WAITING_MAX:",
    ),
)

_COMPACTION = (
    # guards: CTX-2 – the newest turns are folded, and the model no longer sees them word for word.
    Removal(
        name="keep-recent-ignored",
        file="compaction.py",
        old="last_kept = session.turns - limits.keep_recent + 1",
        new="last_kept = session.turns",
    ),
    # guards: CTX-2 – the tail begins with an answer, and its question is folded away.
    Removal(
        name="cut-inside-an-exchange",
        file="compaction.py",
        old="if begins_exchange(turn.role, previous) and turn.seq > waits_to:",
        new="if turn.seq > waits_to:",
    ),
    # guards: CTX-11 – a tool call without a result is sent to the provider, which refuses the request.
    Removal(
        name="missing-result-left-out",
        file="pairing.py",
        old="ordered.append(_answering(turns[answer], call) if answer is not None else _no_result(turn, call))",
        new="ordered.extend([_answering(turns[answer], call)] if answer is not None else [])",
    ),
    # guards: CTX-8 – a summary that is longer than the turns it replaces is kept, and the context grows.
    Removal(
        name="overlong-summary-kept",
        file="checks.py",
        old='"it was longer than what it summarises": tokens >= replaced_tokens,\n        TOO_LONG: tokens > tokens_max,\n',
        new="",
    ),
    # guards: CTX-8, P6 – the text of a refusal stands in place of what was said.
    Removal(
        name="flawed-summary-kept",
        file="fold.py",
        old="    if flaw is not None:\n        of = summary",
        new="    if flaw is not None and not summary:\n        of = summary",
    ),
    # guards: CTX-4, CTX-6 – a level holds twice as many blocks as it may, and the blocks outgrow their budget.
    Removal(
        name="fanout-doubled",
        file="compaction.py",
        old="if count >= fanout)",
        new="if count >= 2 * fanout)",
    ),
    # guards: CTX-1 – every exchange is compacted, and each costs a model call and the provider's cache.
    Removal(
        name="interval-ignored",
        file="compaction.py",
        old="due = limits.interval and session.exchanges - session.folded.exchanges >= limits.interval",
        new="due = limits.interval",
        also=(
            Edit(
                file="compaction.py",
                old='return (reason == "interval" and since < limits.interval) or (',
                new="return (",
            ),
        ),
    ),
    # guards: CTX-2 – a few huge turns never compact, and the context stays over its limit.
    Removal(
        name="threshold-keeps-the-whole-tail",
        file="compaction.py",
        old="_first_that_fits([*early[-1:], *late], tail, session, limits)",
        new="_first_that_fits(early[-1:], tail, session, limits)",
    ),
    # guards: CTX-9, IDLE-3 – a session counts as idle, and is cleared, although a person wrote while it was summarised.
    Removal(
        name="idle-over-a-new-message",
        file="store/blocks.py",
        old='change.idle is not None and row["turns"] == change.turns and row["state"] == "open"',
        new='change.idle is not None and row["state"] == "open"',
    ),
    # guards: CTX-8 – a session is compacted twice in a row although nothing was said in between.
    Removal(
        name="compaction-without-a-new-turn",
        file="compaction.py",
        old="if new_turns <= 0 or session.exchange_seq - 1 <= session.folded.to_seq:",
        new="if session.exchange_seq - 1 <= session.folded.to_seq:",
        also=(
            Edit(
                file="compaction.py",
                old="    if session.turns == session.folded.turns:\n        return True\n",
                new="",
            ),
        ),
    ),
    # guards: LOG-1, P3 – a message that comes again under its key is answered and paid for a second time.
    Removal(
        name="replayed-message-answered-again",
        file="conversation.py",
        old="if _is_complete(there_already) or is_stone(turn.removed):",
        new="if is_stone(turn.removed):",
    ),
)

_FACTS = (
    # guards: P10, FACT-4 – a fact is stored with a quote that stands in no turn.
    Removal(
        name="quote-not-in-the-turn",
        file="facts/checks.py",
        old="is_there = named is not None and plain in said.plain[named.seq]",
        new="is_there = named is not None",
        also=(
            Edit(
                file="facts/quoted.py",
                old='    assert at >= 0, "it was found there"\n',
                new="    if at < 0:\n        return quote\n",
            ),
        ),
    ),
    # guards: P11, FACT-10, LOG-3 – what another person writes counts as the owner's own word.
    Removal(
        name="others-speak-for-the-owner",
        file="facts/gate.py",
        old='turn.trust == "owner" and turn.role == "user"',
        new='turn.role == "user"',
    ),
    # guards: P11, FACT-10 – a preference that only a tool, a mail or a page states is kept.
    Removal(
        name="preference-of-others-kept",
        file="facts/gate.py",
        old=(
            '    if proved.type == "preference":\n'
            '        return Verdict(status="dropped", why="a preference is the owner\'s to state")\n'
        ),
        new="",
    ),
    # guards: FACT-10 – memory that was shown to the model is extracted again as something new.
    Removal(
        name="recalled-text-extracted",
        file="facts/said.py",
        old='own = without(turn.text, merged(turn.recalled, ranges(turn.text)), put="\\n")',
        new="own = turn.text",
    ),
    # guards: FACT-4 – a fact is stored with a number that was never said.
    Removal(
        name="unsaid-number-kept",
        file="facts/checks.py",
        old="if unsaid_numbers(content, around.text, day):",
        new="if False:",
    ),
    # guards: FACT-5 – the same statement in nearly the same words is stored as a second fact.
    Removal(
        name="near-duplicate-stored",
        file="reconciling.py",
        old='        if "same" in by_words:\n            return Found(same=others[by_words.index("same")])\n',
        new="",
    ),
    # guards: FACT-10 – the agent's report takes the place of what the owner said, without the owner's consent.
    Removal(
        name="owners-word-replaced",
        file="reconciling.py",
        old='if older.is_owners_word and fact.trust != "owner" and fact.status == "active":',
        new="if False:",
    ),
    # guards: FACT-11, P12 – a forgotten fact comes back in other words at the next reading of its turn.
    Removal(
        name="forgotten-fact-reworded",
        file="reconciling.py",
        old='if held.status == "forgotten" if held is not None else await self._is_settled(proved):',
        new='if held is not None and held.status == "forgotten":',
    ),
)

_AWAY = (
    # guards: AWAY-2 – a person who was away for a minute gets a digest.
    Removal(
        name="away-threshold-ignored",
        file="digest.py",
        old='    if now - last_seen < timedelta(hours=away.threshold_hours):\n        return "too soon"\n',
        new="",
    ),
    # guards: AWAY-3 – the digest does not say that it leaves older events out.
    Removal(
        name="older-events-unmentioned",
        file="digest.py",
        old="if absence.total > shown:",
        new="if False:",
    ),
    # guards: AWAY-6 – a person's message waits for as long as the delivery of the digest hangs.
    Removal(
        name="digest-deadline-off",
        file="telling.py",
        old="asyncio.timeout_at(deadline)",
        new="asyncio.timeout_at(None)",
    ),
    # guards: AWAY-10 – a person is written to unasked at night.
    Removal(
        name="awake-hours-ignored",
        file="proactive.py",
        old="at = next_awake(max(now, writing_until), hours)",
        new="at = max(now, writing_until)",
    ),
    # guards: AWAY-7, P3 – a message that the platform delivers twice is processed twice.
    Removal(
        name="redelivered-message-processed",
        file="inbound.py",
        old='if arrival is not None and arrival.state != "new":',
        new="if False:",
    ),
    # guards: AWAY-9 – the title of a goal calls a whole Slack channel or hides a link.
    Removal(
        name="slack-text-unescaped",
        file="channels/slack.py",
        old="escape(inert(quiet(text)))",
        new="inert(quiet(text))",
    ),
)

_SAFETY = (
    # guards: SAFE-1 – a page whose name an attacker points to 127.0.0.1 reads the memory.
    Removal(
        name="host-unchecked",
        file="web/gate.py",
        old="if host.name not in own:",
        new="if False:",
    ),
    # guards: SAFE-1 – a page from elsewhere sends requests in the name of the browser's user.
    Removal(
        name="origin-unchecked",
        file="web/gate.py",
        old="if origin is not None and not origins.is_own_page(origin, host, scheme):",
        new="if False:",
    ),
    # guards: SAFE-1 – a token that may only read writes turns.
    Removal(
        name="read-token-writes",
        file="web/gate.py",
        old='if access.token.scope == "read" and path not in (SIGN_IN, mcp.PATH):',
        new="if False:",
    ),
    # guards: SAFE-1, P8 – one client floods the server.
    Removal(
        name="request-rate-unlimited",
        file="web/rate.py",
        old="wait = 0.0 if left >= 1 else (1 - left) / self._per_second",
        new="wait = 0.0",
    ),
    # guards: SAFE-1 – a script on the page can read the cookie that signs the browser in.
    Removal(
        name="cookie-open-to-scripts",
        file="web/signin.py",
        old="httponly=True",
        new="httponly=False",
    ),
    # guards: SAFE-1 – a request that only has the cookie sent along writes as the browser's user.
    Removal(
        name="csrf-word-unchecked",
        file="web/credentials.py",
        old='if not hmac.compare_digest(word.encode("latin-1"), csrf_of(access.secret).encode()):',
        new="if False:",
    ),
    # guards: SAFE-2 – a token that is bound to one owner opens the memory of all.
    Removal(
        name="bound-token-opens-all",
        file="web/whose.py",
        old="if access.owners is not None and owner not in access.owners:",
        new="if False:",
    ),
    # guards: FACT-10, DOOR-4 – an agent's token approves the facts that wait for the owner.
    Removal(
        name="agent-token-approves",
        file="web/whose.py",
        old='if access.token is None or access.token.scope != "owner":',
        new="if access.token is None:",
    ),
    # guards: FACT-8, SAFE-2 – the path ../… reads the memory files of another owner.
    Removal(
        name="path-leads-out",
        file="memory_files/reading.py",
        old=' or ".." in names:',
        new=":",
        also=(
            Edit(
                file="memory_files/reading.py",
                old='if name.startswith(".") or name != name.strip(" .") or is_device(name):',
                new="if is_device(name):",
            ),
        ),
    ),
    # guards: LOG-4 – a key in the arguments of a tool call is written to the log.
    Removal(
        name="parts-not-redacted",
        file="intake.py",
        old="parts, removed = guard.redact_within(list(draft.parts), **switches)",
        new="parts, removed = list(draft.parts), dict[str, int]()",
    ),
    # guards: SAFE-6 – the address of a calendar reaches a service on a private network.
    Removal(
        name="private-address-reached",
        file="sources/addresses.py",
        old="refused = [] if allow_private else [address for address in addresses if not is_public(address)]",
        new="refused = list[str]()",
    ),
    # guards: DOOR-8, AWAY-1 – a misspelt key in the settings of an agent or a source is passed over in silence.
    Removal(
        name="unknown-setting-ignored",
        file="settings/values.py",
        old='extra="forbid",',
        new='extra="ignore",',
    ),
    # guards: AGENT-6 – two messages of one session are answered at the same time, and neither answer knows of the other.
    Removal(
        name="exchanges-side-by-side",
        file="agent/order.py",
        old="if self._order.live.get(key) not in _inside.get():",
        new="if False:",
    ),
    # guards: SAFE-4 – a model that fails on every call is called, and paid for, again and again.
    Removal(
        name="breaker-never-opens",
        file="model/metered.py",
        old="if wait > 0:",
        new="if False:",
    ),
)

REMOVALS: tuple[Removal, ...] = (*_STORE, *_COMPACTION, *_FACTS, *_AWAY, *_SAFETY)
"""All removals: the store, compaction, facts, the digest, then the doors and what models may cost."""
