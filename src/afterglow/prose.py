"""The act behind work of kind `prose`: a few sentences about what somebody will be told, written while they are away.

They are made when nobody has written for a while, never when the person is back, and made anew when more happens. What the
model says is checked against the counts. Where it fails, twice, or there is none, the digest is what it is without.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from afterglow.checks import not_an_answer
from afterglow.clock import new_fence
from afterglow.contexts import MeansOf
from afterglow.digest import last_of_each_goal
from afterglow.errors import ModelBadOutput
from afterglow.goals import GoalEvent
from afterglow.guard import strip_invisible
from afterglow.language import LANGUAGES, language_of
from afterglow.model import Completion, PaidAnswer, Request
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.store.presence import binding_of
from afterglow.turns import Binding
from afterglow.work import Claim, Due
from afterglow.worker import Commit

SETTLE_SECONDS = 60
"""So long after an event the words are made, and not at each of many."""
AGAIN_SECONDS = 1800
"""So long after they were made they may be made anew."""
_TOKENS_MAX = 200
_CHARS_MAX = 600
_SENTENCES_MAX = 3
_SAID_TURNS = 20
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LISTED = re.compile(r"^\s*(?:[-*•#]|\d+[.)]|\w+:\s*$)", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?。！？]+(?=\s|$)")
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORDS = {word: number for number, word in enumerate(_COUNTS) if word != "one"}  # which is also a pronoun
_DONE = r"\b(?:complet\w+|done|finished|succe\w+)\b"
_FAILED = r"\b(?:fail\w*|unsuccessful\w*|not|n['’]t|unable|cancel\w+|abort\w+)\b|n['’]t\b"
_ALL_WELL = re.compile(rf"\b(?:all|every\w*)\b[^.!?]*{_DONE}", re.IGNORECASE)
_CLAUSE = re.compile(r"[.!?;,]\s|\b(?:but|however|while|whereas)\b", re.IGNORECASE)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Events:
    """What is to be told."""

    goals: Sequence[GoalEvent]
    """How each goal stands."""

    @property
    def counts(self) -> Counter[str]:
        return Counter(goal.outcome for goal in self.goals)

    @property
    def counted(self) -> str:
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.counts.items())

    @property
    def listed(self) -> str:
        return "\n".join(_line(goal) for goal in self.goals)


class Prose:
    """Writes the sentences."""

    def __init__(
        self,
        store: Store,
        means_of: MeansOf,
        away_of: Callable[[Binding], AwaySettings],
        quiet_seconds: Callable[[str], float],
    ) -> None:
        self._store = store
        self._means_of = means_of
        self._away_of = away_of
        self._quiet_seconds = quiet_seconds

    async def act(self, claim: Claim) -> Commit | None:
        """The sentences for what the owner does not know yet, and their commit; later, where they only just wrote."""
        found = await self._store.untold(claim.owner, claim.subject, limit=1_000)
        seen = await self._store.presence(claim.owner, claim.subject)
        binding = None if seen is None else binding_of(seen)
        if found is None or not found[1] or seen is None or seen.seen_at is None or binding is None:
            return None
        presence, events = found
        away = self._away_of(binding)
        model = self._means_of(claim.subject).summarising
        if not (away.enabled and away.prose) or model.name == OFFLINE or presence.prose_to == events[0].number:
            return None
        now = self._store.clock.now()
        later = seen.seen_at + timedelta(seconds=self._quiet_seconds(claim.subject))
        if presence.prose_at is not None:  # of many events in a row not each is worth a call
            later = max(later, presence.prose_at + timedelta(seconds=AGAIN_SECONDS))
        if now < later:
            return partial(self._store.finish, claim, [_due(later)])
        told = Events(goals=last_of_each_goal(events[: away.max_events]))
        made = await self._written(claim, told, away)
        if made is None:
            return None
        text, cost = made
        return partial(self._store.commit_prose, claim, events[0].number, text, cost)

    async def _written(self, claim: Claim, told: Events, away: AwaySettings) -> tuple[str, float | None] | None:
        """Sentences that say nothing wrong, as far as can be told; None where the model gives none."""
        means = self._means_of(claim.subject)
        language = away.language.title() or await self._language(claim.owner) or "English"
        fence = new_fence(self._store.clock)
        flaw, costs = "", list[float | None]()
        for _ in range(2):
            request = _request(told, away, claim, language, fence, flaw, means.deadline_seconds)
            answer: Completion | PaidAnswer
            try:
                answer = await means.summarising.complete(request)
                flaw = flaw_in(answer.text, told, request, fence, language)
                text = " ".join(strip_invisible(answer.text)[0].split())
            except ModelBadOutput as bad:
                flaw, text = str(bad), ""
                if not isinstance(bad, PaidAnswer):
                    continue
                answer = bad
            costs.append(answer.cost_usd)
            if not flaw:
                return text, None if None in costs else sum(cost or 0 for cost in costs)
        _log.info("a digest goes without prose: %s", flaw)
        return None

    async def _language(self, owner: str) -> str | None:
        """The language in which the person wrote last."""
        for session in await self._store.sessions(owner, limit=1):
            first = max(1, session.turns - _SAID_TURNS)
            turns = await self._store.turns(owner, session.id, first_seq=first, limit=_SAID_TURNS + 1)
            return language_of("\n".join(turn.text for turn in turns if turn.role == "user"))
        return None


def due_after(now: datetime) -> Due:
    """The sentences are to be made soon after an event, or after the last of several."""
    return _due(now + timedelta(seconds=SETTLE_SECONDS))


def flaw_in(text: str, told: Events, request: Request, fence: str, language: str) -> str:
    """What is wrong with the sentences, in words for the model; empty where nothing is."""
    problem = not_an_answer(
        text,
        instructions=request.instructions,
        material=request.material,
        fence=fence,
        tokens_max=_TOKENS_MAX,
        replaced_tokens=10 * _TOKENS_MAX,
    )
    if problem:
        return problem
    if _LISTED.search(text) or told.listed.split("\n")[0].removeprefix("- ") in text:
        return "it was the list itself, and sentences are wanted"
    if len(text) > _CHARS_MAX or len(_SENTENCE_END.findall(text)) > _SENTENCES_MAX:
        return "it was longer than three short sentences"
    if wrong := _wrong_numbers(text, told):
        return f"it said {wrong[0]}, and that number is not among the counts"
    if not any(_names(text, goal.title) for goal in told.goals):
        return "it named none of the goals"
    bad = told.counts["failed"] + told.counts["needs_you"]
    if bad and _ALL_WELL.search(text):
        return "it said that all went well, and it did not"
    if wrong := next((goal for goal in told.goals if _is_turned_round(text, goal)), None):
        return f"{wrong.title!r} is {wrong.outcome.replace('_', ' ')}, and it said otherwise"
    written = language_of(text)
    if written not in (None, language, language_of(told.listed)) and language in LANGUAGES:
        return f"it was in {written}, and {language} is wanted"
    return ""


def _names(text: str, title: str) -> bool:
    """Whether at least half of the title's words are in it; word endings may differ."""
    words = [word[:5] for word in re.findall(r"\w+", title.lower()) if len(word) > 2] or [title.lower()]
    return 2 * sum(word in text.lower() for word in words) >= len(words)


def _is_turned_round(text: str, goal: GoalEvent) -> bool:
    """Whether a part of a sentence calls done what is not, or failed what is done; as far as English words tell."""
    for clause in _CLAUSE.split(text):
        if _names(clause, goal.title):
            done, failed = re.search(_DONE, clause, re.IGNORECASE), re.search(_FAILED, clause, re.IGNORECASE)
            if (goal.outcome == "completed" and failed and not done) or (
                goal.outcome != "completed" and done and not failed
            ):
                return True
    return False


def _wrong_numbers(text: str, told: Events) -> list[str]:
    """Numbers that are neither a count nor part of what is told."""
    allowed = {str(count) for count in (*told.counts.values(), len(told.goals))}
    allowed |= set(_NUMBER.findall(told.listed))
    said = [(each, each) for each in _NUMBER.findall(text)]
    said += [(w, str(_NUMBER_WORDS[w])) for w in re.findall(r"[a-z]+", text.lower()) if w in _NUMBER_WORDS]
    listed = told.listed.lower()
    return [as_said for as_said, number in said if number not in allowed and as_said not in listed]


def _request(
    told: Events, away: AwaySettings, claim: Claim, language: str, fence: str, flaw: str, deadline_seconds: float
) -> Request:
    if away.prompt_template:
        instructions = _filled(away.prompt_template, told, claim, language)
    else:
        instructions = load("prose").filled(language=language, counts=told.counted)
    if flaw:
        instructions += f"\n\nYour last answer was no good: {flaw}. Mind that this time."
    return Request(
        purpose="prose",
        instructions=instructions,
        material=f"{fence}\n{told.counted}.\n{told.listed.replace(fence, '[mark]')}\n{fence}",
        tokens_max=_TOKENS_MAX,
        deadline_seconds=deadline_seconds,
        owner=claim.owner,
    )


def _filled(template: str, told: Events, claim: Claim, language: str) -> str:
    """Somebody's own instructions. The events are below, between marks, wherever they have their place for them."""
    values = {
        "agent": claim.subject,
        "counts": told.counted,
        "events": "the list below",
        "language": language,
    }
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template


def _due(at: datetime) -> Due:
    return Due(kind="prose", at=at, reason="goal", rearm=True)


def _line(goal: GoalEvent) -> str:
    note = f": {goal.note}" if goal.note else ""
    return " ".join(strip_invisible(f"- {goal.outcome.replace('_', ' ')}: {goal.title}{note}")[0].split())
