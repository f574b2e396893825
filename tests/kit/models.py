"""Scripted models and sources: they summarise, fill in forms, claim facts, or say again what they were told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from afterglow.model import Completion, Request, scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.sources import Window
from afterglow.summaries import Filled


def summary(request: Request) -> str:
    """A summary of the right size, which names the last fact it was shown."""
    facts = [word for word in request.material.replace(",", " ").split() if word.startswith("FACT-")]
    about = facts[-1] if facts else "nothing much"
    return (
        f"They talked about {about}, and nothing is open. The user spoke at some length about how things stand, as one may "
        "put it, and the assistant said that it saw what was meant by that and had nothing to add."
    )


def form_filler(request: Request) -> scripted.Step:
    """Folds, fills in the form of a summary, and claims no facts."""
    if request.schema is None:
        return summary(request)
    if request.purpose == "facts":
        return '{"facts": []}'
    facts = [word for word in request.material.replace(",", " ").split() if word.startswith("FACT-")]
    filled = Filled(
        title="A talk about facts",
        summary=f"They spoke of {facts[-1] if facts else 'nothing'}.",
        category="planning",
        decisions=["Go on."],
        open_threads=["Ask Carla."],
        people=["Nobody Known"],
    )
    return filled.model_dump_json()


def claiming(*facts: dict[str, Any]) -> ScriptedModel:
    """A model that claims these facts whenever it is asked, and takes no two for the same."""
    return ScriptedModel(lambda request: as_claims(request, list(facts)))


def as_claims(request: Request, facts: list[dict[str, Any]]) -> str:
    """These facts as a model claims them; where it compares facts, no two are the same."""
    if "pairs" in request.instructions:
        return json.dumps({"pairs": []})
    return json.dumps({"facts": facts})


def echo(request: Request) -> str:
    """What the last message said, and a summary where one is wanted."""
    if not request.messages:
        return summary(request)
    return f"You said: {said_last(request)}"


def said_last(request: Request) -> str:
    """The last message as the person wrote it: the time is added behind it."""
    return request.messages[-1].text.rpartition("\n\n(now: ")[0] or request.messages[-1].text


class GatedModel(ScriptedModel):
    """Gives no answer while its gate is closed."""

    def __init__(self, script: scripted.Script) -> None:
        super().__init__(script)
        self.gate = asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        completion = await super().complete(request)
        await self.gate.wait()
        return completion


class Calendar:
    """A source that keeps what it was asked, and answers from a script; an exception in it is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Window, str]] = []

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        self.asked.append((window, prompt))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer
