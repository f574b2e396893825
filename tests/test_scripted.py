"""The scripted model answers as told, and fails in every way a provider can."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from afterglow.errors import ModelBadOutput, ModelBusy, ModelError, ModelStopped, ModelTooLong
from afterglow.model import CallLost, PaidAnswer, Request, scripted
from afterglow.model.scripted import FAILURES, ScriptedModel, Step
from afterglow.tokens import estimate
from tests.kit.loops import for_each

pytestmark = pytest.mark.spec("P6", "CTX-8")


class Note(BaseModel):
    title: str


def asking(
    material: str = "user: The kettle is red.", schema: type[BaseModel] | None = None, *, seconds: float = 30
) -> Request:
    return Request(
        purpose="fold",
        instructions="Summarise.",
        material=material,
        tokens_max=50,
        deadline_seconds=seconds,
        schema=schema,
    )


async def test_it_answers_in_order_and_keeps_the_requests() -> None:
    model = ScriptedModel(["One.", lambda request: request.material.upper()])
    requests = [asking("a"), asking("b")]
    assert [(await model.complete(request)).text for request in requests] == ["One.", "B"]
    assert model.requests == requests
    with pytest.raises(ModelStopped, match="no answer for request 3"):
        await model.complete(asking())


async def test_a_function_can_be_the_whole_script() -> None:
    model = ScriptedModel(lambda request: scripted.EMPTY if request.material == "a" else "Fine.")
    with pytest.raises(ModelBadOutput):
        await model.complete(asking("a"))
    assert (await model.complete(asking("b"))).text == "Fine."


async def test_a_schema_is_filled_from_the_script() -> None:
    model = ScriptedModel(['{"title": "Kettle"}'])
    assert (await model.complete(asking(schema=Note))).data == Note(title="Kettle")


async def test_usage_is_estimated_and_priced() -> None:
    model = ScriptedModel(["A red kettle."], usd_per_million_tokens=2.0)
    done = await model.complete(asking())
    assert done.usage.output_tokens == estimate("A red kettle.")
    assert done.cost_usd == pytest.approx(done.usage.tokens * 2e-6)


@for_each(
    "step, wait",
    [
        (scripted.RATE_LIMITED, None),
        (scripted.RATE_LIMITED_SECONDS, 7),
        (scripted.RATE_LIMITED_FRACTION, 1.5),
        (scripted.RATE_LIMITED_MILLISECONDS, 0.25),
        (scripted.RATE_LIMITED_DATE, 30),
        (scripted.SERVER_ERROR, None),
    ],
)
async def test_a_busy_provider_may_say_how_long(step: Step, wait: float | None) -> None:
    with pytest.raises(ModelBusy) as raised:
        await ScriptedModel([step]).complete(asking())
    assert raised.value.wait_seconds == wait


@for_each(
    "step, schema, kind",
    [
        (scripted.TIMEOUT, None, CallLost),
        (scripted.DISCONNECTED, None, CallLost),
        (scripted.WRONG_KEY, None, ModelStopped),
        (scripted.TOO_LONG, None, ModelTooLong),
        (scripted.EMPTY, None, PaidAnswer),
        (scripted.BLANK, None, PaidAnswer),
        (scripted.REFUSAL, None, PaidAnswer),
        (scripted.FILTERED, None, PaidAnswer),
        (scripted.MALFORMED_JSON, Note, PaidAnswer),
        (scripted.CUT_JSON, Note, PaidAnswer),
        (scripted.ERROR_TEXT, Note, PaidAnswer),
        (scripted.REFUSAL_IN_WORDS, Note, PaidAnswer),
    ],
)
async def test_what_is_known_to_be_a_failure_is_raised(
    step: Step, schema: type[BaseModel] | None, kind: type[ModelError]
) -> None:
    with pytest.raises(ModelError) as raised:
        await ScriptedModel([step]).complete(asking(schema=schema, seconds=0.05 if step == scripted.TIMEOUT else 30))
    assert type(raised.value) is kind


async def test_a_slow_model_is_late_when_it_takes_longer_than_the_deadline() -> None:
    assert (await ScriptedModel(["Red."], delay_seconds=0.001).complete(asking())).text == "Red."
    with pytest.raises(CallLost, match=r"no answer in 0\.05 seconds"):
        await ScriptedModel(["Red."], delay_seconds=5).complete(asking(seconds=0.05))


async def test_what_only_a_reader_can_tell_to_be_wrong_is_given_as_it_is() -> None:
    """The one who asked must check: an error as text, an echo, an endless answer, another language."""

    async def answer(step: Step) -> str:
        return (await ScriptedModel([step]).complete(asking())).text

    material = asking().material
    assert len(await answer(scripted.LONGER_THAN_INPUT)) > 2 * len(material)
    assert await answer(scripted.ECHO) == f"Summarise.\n\n{material}"
    assert len(await answer(scripted.MEGABYTE)) > 1_000_000
    assert "server_error" in await answer(scripted.ERROR_TEXT)
    assert not (await answer(scripted.WRONG_LANGUAGE)).isascii()
    assert "sorry" in await answer(scripted.REFUSAL_IN_WORDS)


async def test_every_failure_has_a_name() -> None:
    assert len(FAILURES) == 22
    for name, step in FAILURES.items():
        model = ScriptedModel([step])
        try:
            done = await model.complete(asking(seconds=0.05 if step == scripted.TIMEOUT else 30))
        except ModelError:
            continue
        assert done.text, name
