"""Real clients of LangChain against a server on this machine that answers, and fails, as providers do."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
from pydantic import BaseModel

from afterglow.clock import FixedClock
from afterglow.errors import (
    BadSettings,
    MissingPackage,
    ModelBadOutput,
    ModelBusy,
    ModelError,
    ModelStopped,
    ModelTooLong,
)
from afterglow.model import CallLost, Model, PaidAnswer, Request, choice
from afterglow.model.answers import filled, without_thoughts
from afterglow.model.choice import choose
from afterglow.model.failures import classify, retry_after_seconds, wait_seconds
from afterglow.model.langchain import LangChainModel
from afterglow.model.prices import price_usd
from afterglow.model.providers import LOCAL_WINDOW_TOKENS, PROVIDERS
from afterglow.spend import Usage
from tests.kit.loops import for_each
from tests.kit.provider import KEY, Server, openai_at, server
from tests.kit.records import NOON

__all__ = ["server"]


class Note(BaseModel):
    title: str
    tags: list[str] = []


def said(text: str | None, finish: str = "stop", usage: Any = ..., **message: Any) -> str:
    """An answer as OpenAI gives it."""
    counted = {
        "prompt_tokens": 120,
        "completion_tokens": 9,
        "total_tokens": 129,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    choices = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}]
    answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4.1-mini", "choices": choices}
    return json.dumps(answer | ({"usage": counted if usage is ... else usage} if usage is not None else {}))


def failed(message: str, code: str | None = None, type: str = "error") -> str:
    return json.dumps({"error": {"message": message, "type": type, "param": None, "code": code}})


def asking(schema: type[BaseModel] | None = None, deadline_seconds: float = 30) -> Request:
    return Request(
        purpose="fold",
        instructions="Summarise.",
        material="[2026-03-02 09:15] user: hello",
        tokens_max=50,
        deadline_seconds=deadline_seconds,
        schema=schema,
    )


async def failure(model: Model, request: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await model.complete(request or asking())
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None, "what caused it may quote the key"
    return raised.value


# --- answers


async def test_an_answer_comes_with_what_the_provider_counted(server: Server) -> None:
    server.body = said("Hello was said.")
    model = openai_at(server)
    done = await model.complete(asking())
    assert (done.text, done.model, done.data) == ("Hello was said.", "openai:llama-of-ours", None)
    assert done.usage == Usage(input_tokens=120, output_tokens=9, cached_tokens=64)
    assert done.cost_usd is None, "nobody knows what it costs at that address"
    (asked,) = server.asked
    assert [message["content"] for message in asked["messages"]] == ["Summarise.", "[2026-03-02 09:15] user: hello"]
    assert asked["max_tokens"] == 139, "by the name that other servers know"
    assert "max_completion_tokens" not in asked


async def test_what_is_not_counted_is_estimated(server: Server) -> None:
    server.body = said("Hello was said.", usage=None)
    done = await openai_at(server).complete(asking())
    assert done.usage.input_tokens > 10
    assert done.usage.output_tokens in range(3, 8)


async def test_thinking_aloud_is_no_part_of_the_answer(server: Server) -> None:
    server.body = said("<think>\nThe user said hello.\n</think>\n\nHello was said.")
    assert (await openai_at(server).complete(asking())).text == "Hello was said."


@for_each(
    "text, left",
    [
        ("<think>a</think> b", " b"),
        ("<think>a</think>\n<thinking>x</thinking>b", "b"),
        ("<think>never ends", ""),
        ("template opened it\n</think>\nb", "\nb"),
        ("we spoke of <think> tags and </think> ends", "we spoke of <think> tags and </think> ends"),
        ("they said </think> once", "they said </think> once"),
        ("plain", "plain"),
    ],
)
def test_thoughts_are_told_from_text_about_them(text: str, left: str) -> None:
    assert without_thoughts(text) == left


async def test_a_schema_is_filled(server: Server) -> None:
    server.body = said('{"title": "Hello", "tags": ["greeting"]}')
    done = await openai_at(server).complete(asking(Note))
    assert done.data == Note(title="Hello", tags=["greeting"])
    assert server.asked[0]["response_format"]["type"] == "json_schema"
    assert server.asked[0]["max_tokens"] == 139


async def test_a_server_that_knows_no_schemas_is_asked_in_words_from_then_on(server: Server) -> None:
    def answers(asked: dict[str, Any]) -> tuple[int, str]:
        if "response_format" in asked:
            return 400, failed("response_format json_schema is unavailable now")
        return 200, said('```json\n{"title": "Hello"}\n```')

    server.answers = answers
    model = openai_at(server)
    for _ in range(2):
        assert (await model.complete(asking(Note))).data == Note(title="Hello")
    assert ["response_format" in asked for asked in server.asked] == [True, False, False]
    assert '"title"' in server.asked[1]["messages"][0]["content"]


@for_each(
    "text, data",
    [
        ('{"title": "a"}', Note(title="a")),
        ('```\n{"title": "a"}\n```', Note(title="a")),
        ('{"title": 1}', None),
        ("Sure! Here it is", None),
        ('{"title": "a"', None),
    ],
)
def test_json_is_checked_against_the_schema(text: str, data: Note | None) -> None:
    assert filled(Note, text) == data


async def test_a_model_outlives_its_event_loop(server: Server) -> None:
    """A library's user may call asyncio.run more than once."""
    server.body = said("Hello was said.")
    model = openai_at(server)
    for _ in range(3):
        done = await asyncio.to_thread(asyncio.run, model.complete(asking()))
        assert done.text == (await model.complete(asking())).text == "Hello was said."


# --- failures, from a server


@pytest.mark.spec("P6", "SAFE-4")
@for_each(
    "headers, wait",
    [
        ({}, None),
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"Date": "Mon, 02 Mar 2026 10:00:00 GMT", "Retry-After": "Mon, 02 Mar 2026 10:00:30 GMT"}, 30),
        ({"Retry-After": "Mon, 02 Mar 2026 12:01:00 GMT"}, 60),
        ({"Retry-After": "Mon, 02 Mar 2020 12:01:00 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1e400"}, None),
        ({"Retry-After": "99999999999"}, 86_400),
    ],
)
async def test_a_rate_limit_says_how_long_to_wait_in_each_of_its_forms(
    server: Server, headers: dict[str, str], wait: float | None
) -> None:
    server.status, server.headers, server.asked = 429, headers, []
    server.body = failed("Rate limit reached for requests", "rate_limit_exceeded")
    busy = await failure(openai_at(server))
    assert type(busy) is ModelBusy
    assert busy.wait_seconds == wait
    assert len(server.asked) == 1, "the queue repeats, not the client"


@pytest.mark.spec("P6")
@for_each(
    "status, body, kind",
    [
        (500, failed("The server had an error"), ModelBusy),
        (502, "<html>Bad gateway</html>", CallLost),
        (503, failed("The engine is overloaded"), ModelBusy),
        (529, failed("Overloaded", type="overloaded_error"), ModelBusy),
        (408, failed("Timed out"), CallLost),
        (401, failed(f"Incorrect API key provided: {KEY}", "invalid_api_key"), ModelStopped),
        (403, failed("Country not supported"), ModelStopped),
        (404, failed("The model `llama-of-ours` does not exist", "model_not_found"), ModelStopped),
        (429, failed("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), ModelStopped),
        (402, failed("Insufficient Balance"), ModelStopped),
        (400, failed("Unknown parameter: x"), ModelStopped),
        (
            400,
            failed("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
            ModelTooLong,
        ),
        (
            400,
            failed(
                "the request exceeds the available context size, try increasing it", type="exceed_context_size_error"
            ),
            ModelTooLong,
        ),
        (413, failed("Request body too big"), ModelTooLong),
        (429, failed("Request too large for gpt-4.1-mini on tokens per min (TPM): Limit 30000"), ModelTooLong),
        (400, failed("The response was filtered by our content management policy", "content_filter"), ModelBadOutput),
    ],
)
async def test_each_status_is_of_a_kind(server: Server, status: int, body: str, kind: type[ModelError]) -> None:
    server.status, server.body = status, body
    assert type(await failure(openai_at(server))) is kind


@pytest.mark.spec("P6", "CTX-8")
@for_each(
    "body, schema, words",
    [
        (said(""), None, "empty answer"),
        (said(None), None, "empty answer"),
        (said(" \n\t"), None, "empty answer"),
        (said("<think>for ever", "length"), None, "ran out of tokens"),
        (said("The", "content_filter"), None, "refused"),
        (said(None, refusal="I can't help with that."), None, "refused"),
        (said(None, refusal="I can't help with that."), Note, "refused"),
        (said("Sure! The title is Hello."), Note, "no valid JSON"),
        (said('{"title": "Hel'), Note, "no valid JSON"),
        (said('{"title": "Hel', "length"), Note, "no whole answer"),
        (said('{"title": "Hel', "content_filter"), Note, "no whole answer"),
        (said('{"name": "Hello"}'), Note, "no valid JSON"),
    ],
)
async def test_an_answer_of_no_use_is_bad_output_and_was_paid_for(
    server: Server, body: str, schema: type[BaseModel] | None, words: str
) -> None:
    server.body = body
    bad = await failure(openai_at(server), asking(schema))
    assert isinstance(bad, PaidAnswer), bad
    assert words in str(bad)
    assert (bad.usage.input_tokens, bad.usage.output_tokens) == (120, 9)


@for_each("body", ['{"choices": null}', "{}", "<html>Welcome</html>", '{"error": {"message": "no"}}', ""])
async def test_what_is_no_completion_is_bad_output(server: Server, body: str) -> None:
    server.body = body
    assert isinstance(await failure(openai_at(server)), ModelBadOutput)


@pytest.mark.spec("P6", "P8")
async def test_a_model_that_hangs_is_given_up_at_the_deadline(server: Server) -> None:
    server.hangs = True
    lost = await failure(openai_at(server), asking(deadline_seconds=0.2))
    assert isinstance(lost, CallLost)
    assert "no answer in 0.2 seconds" in str(lost)


async def test_a_connection_that_breaks_may_have_been_paid_for(server: Server) -> None:
    server.disconnects = True
    assert type(await failure(openai_at(server))) is CallLost


async def test_a_server_that_is_not_there_was_not_paid() -> None:
    nowhere = choose("m", environ={}, base_url="http://127.0.0.1:9/v1")
    assert type(await failure(nowhere)) is ModelBusy


async def test_errors_are_one_short_line(server: Server) -> None:
    server.status, server.body = 500, failed(f"very\nlong {KEY} " * 500)
    busy = await failure(openai_at(server))
    assert len(str(busy)) < 400
    assert "\n" not in str(busy)


# --- other providers' clients


async def test_anthropics_client_is_understood(server: Server) -> None:
    model = LangChainModel(
        PROVIDERS["anthropic"],
        "claude-haiku-4-5",
        clock=FixedClock(NOON),
        window_tokens=200_000,
        options={"api_key": KEY},
        base_url=server.address,
    )
    server.body = json.dumps(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": "Hello was said."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 20, "output_tokens": 5, "cache_read_input_tokens": 100},
        }
    )
    done = await model.complete(asking())
    assert done.text == "Hello was said."
    assert done.usage == Usage(input_tokens=120, output_tokens=5, cached_tokens=100)
    assert await asyncio.to_thread(asyncio.run, model.complete(asking())) == await model.complete(asking()) == done
    assert server.asked[0]["max_tokens"] == 139
    server.body = server.body.replace("Hello was said.", '{\\"title\\": \\"Hello\\"}')
    assert (await model.complete(asking(Note))).data == Note(title="Hello")
    for stop, kind in (("refusal", PaidAnswer), ("max_tokens", PaidAnswer)):
        server.body = server.body.replace("end_turn", stop)
        assert type(await failure(model, asking(Note))) is kind
        server.body = server.body.replace(stop, "end_turn")

    def error(type: str, message: str) -> str:
        return json.dumps({"type": "error", "error": {"type": type, "message": message}})

    for status, body, kind in (
        (529, error("overloaded_error", "Overloaded"), ModelBusy),
        (429, error("rate_limit_error", "too many requests"), ModelBusy),
        (400, error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), ModelTooLong),
        (400, error("invalid_request_error", "input length and `max_tokens` exceed context limit"), ModelTooLong),
        (400, error("invalid_request_error", "Your credit balance is too low"), ModelStopped),
        (401, error("authentication_error", "invalid x-api-key"), ModelStopped),
        (404, error("not_found_error", "model: claude-9"), ModelStopped),
    ):
        server.status, server.body, server.asked = status, body, []
        assert type(await failure(model)) is kind, body
        assert len(server.asked) == 1


async def test_googles_client_is_understood(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    # With aiohttp, which a bot's library may bring along, it warns at each error that it awaits something too late.
    monkeypatch.setattr("google.genai._api_client.has_aiohttp", False)
    model = LangChainModel(
        PROVIDERS["google_genai"],
        "gemini-2.5-flash",
        clock=FixedClock(NOON),
        window_tokens=1_000_000,
        options={"api_key": KEY},
        base_url=server.address,
    )

    def answer(text: str, finish: str = "STOP") -> str:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish, "index": 0}
        usage = {"promptTokenCount": 120, "candidatesTokenCount": 5, "totalTokenCount": 125}
        return json.dumps({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"})

    server.body = answer("Hello was said.")
    done = await model.complete(asking())
    assert (done.text, done.usage) == ("Hello was said.", Usage(input_tokens=120, output_tokens=5))
    assert await asyncio.to_thread(asyncio.run, model.complete(asking())) == await model.complete(asking()) == done
    assert server.asked[0]["generationConfig"]["maxOutputTokens"] == 139
    assert server.asked[0]["generationConfig"]["thinkingConfig"] == {"thinking_budget": 0}
    server.body = answer('{"title": "Hello"}')
    assert (await model.complete(asking(Note))).data == Note(title="Hello")
    for body in (answer("", "SAFETY"), answer('{"title', "MAX_TOKENS")):
        server.body = body
        assert isinstance(await failure(model, asking(Note)), PaidAnswer)

    retry = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    for status, message, details, kind in (
        (429, "You exceeded your current quota, please check your plan and billing details.", retry, ModelBusy),
        (503, "The model is overloaded.", [], ModelBusy),
        (400, "API key not valid. Please pass a valid API key.", [], ModelStopped),
        (403, "Permission denied", [], ModelStopped),
        (404, "models/gemini-9 is not found", [], ModelStopped),
        (400, "The input token count (2000000) exceeds the maximum number of tokens allowed", [], ModelTooLong),
    ):
        server.status, server.asked = status, []
        server.body = json.dumps({"error": {"code": status, "message": message, "status": "X", "details": details}})
        raised = await failure(model)
        assert type(raised) is kind, message
        assert len(server.asked) == 1, "the queue repeats, not the client"
        if details:
            assert isinstance(raised, ModelBusy)
            assert raised.wait_seconds == 34.5


async def test_ollamas_client_is_understood(server: Server) -> None:
    model = choose("ollama:llama3.2:3b", environ={"OLLAMA_HOST": server.address.removeprefix("http://")})
    assert (model.name, model.window_tokens) == ("ollama:llama3.2:3b", LOCAL_WINDOW_TOKENS)

    def answer(text: str, done: str = "stop") -> str:
        message = {"role": "assistant", "content": text}
        return json.dumps({"model": "llama3.2:3b", "created_at": "2026-03-02T12:00:00Z", "message": message}) + (
            "\n"
            + json.dumps(
                {
                    "model": "llama3.2:3b",
                    "created_at": "2026-03-02T12:00:00Z",
                    "message": {"role": "assistant", "content": ""},
                    "done": True,
                    "done_reason": done,
                    "prompt_eval_count": 120,
                    "eval_count": 5,
                }
            )
            + "\n"
        )

    server.body = answer("Hello was said.")
    done = await model.complete(asking())
    assert (done.text, done.usage, done.cost_usd) == ("Hello was said.", Usage(input_tokens=120, output_tokens=5), 0.0)
    assert await asyncio.to_thread(asyncio.run, model.complete(asking())) == await model.complete(asking()) == done
    options = server.asked[0]["options"]
    assert (options["num_ctx"], options["num_predict"]) == (LOCAL_WINDOW_TOKENS, 139)
    server.body = answer('{"title": "Hello"}')
    assert (await model.complete(asking(Note))).data == Note(title="Hello")
    server.status, server.body = 404, '{"error": "model \'llama3.2:3b\' not found"}'
    assert type(await failure(model)) is ModelStopped
    away = choose("ollama:llama3.2", environ={"OLLAMA_HOST": "127.0.0.1:9"})
    assert type(await failure(away)) is ModelBusy


# --- choosing

KEYS = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "GEMINI_API_KEY": "c"}


@pytest.mark.spec("CTX-1")
@for_each(
    "name, environ, chosen",
    [
        ("", {}, "offline"),
        ("offline", KEYS, "offline"),
        ("", KEYS, "openai:gpt-4.1-mini"),
        ("", {"OPENAI_API_KEY": ""}, "offline"),
        ("", {"ANTHROPIC_API_KEY": "b"}, "anthropic:claude-haiku-4-5"),
        ("", {"GOOGLE_API_KEY": "b"}, "google_genai:gemini-2.5-flash"),
        ("", {"GEMINI_API_KEY": "b"}, "google_genai:gemini-2.5-flash"),
        ("", {"OPENAI_API_KEY": "a", "OPENAI_MODEL": "gpt-5-nano"}, "openai:gpt-5-nano"),
        ("", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "llama"}, "openai:llama"),
        ("", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "a"}, "offline"),
        ("", {"OPENAI_BASE_URL": "https://api.openai.com/v1", "OPENAI_API_KEY": "a"}, "openai:gpt-4.1-mini"),
        ("", {"OLLAMA_HOST": "127.0.0.1", "OLLAMA_MODEL": "qwen3"}, "ollama:qwen3"),
        ("", {"OLLAMA_HOST": "127.0.0.1"}, "offline"),
        ("gpt-4o", KEYS, "openai:gpt-4o"),
        ("o4-mini", KEYS, "openai:o4-mini"),
        ("claude-opus-5", KEYS, "anthropic:claude-opus-5"),
        ("gemini-2.5-flash", KEYS, "google_genai:gemini-2.5-flash"),
        ("google:gemini-2.5-pro", KEYS, "google_genai:gemini-2.5-pro"),
        ("ollama:llama3.2:3b", {}, "ollama:llama3.2:3b"),
    ],
)
def test_the_model_is_the_named_one_or_the_one_there_is_a_key_for(
    name: str, environ: dict[str, str], chosen: str
) -> None:
    assert choose(name, environ=environ).name == chosen


@pytest.mark.spec("CTX-1")
@for_each("name", ["llama3", "gemma-3", "qwen3:8b", "mistral", "gpt-oss-20b", "nope:m", "openai:", ":m", "Open AI:x"])
def test_a_name_of_no_provider_in_particular_lists_the_choices(name: str) -> None:
    with pytest.raises(BadSettings, match=r'use one of: "offline"; "openai:gpt-4\.1-mini"'):
        choose(name, environ=KEYS)


@pytest.mark.parametrize(("name", "variable"), [("gpt-4o", "OPENAI_API_KEY"), ("gemini-2.5-flash", "GOOGLE_API_KEY")])
def test_a_model_without_its_key_names_the_variable(name: str, variable: str) -> None:
    with pytest.raises(BadSettings, match=variable):
        choose(name, environ={})


def test_with_an_address_any_name_will_do_but_there_must_be_one() -> None:
    address = "http://127.0.0.1:1/v1"
    for name, chosen in (("llama3", "openai:llama3"), ("qwen3:8b", "openai:qwen3:8b"), ("openai:m", "openai:m")):
        model = choose(name, environ={}, base_url=address)
        assert (model.name, model.window_tokens) == (chosen, LOCAL_WINDOW_TOKENS)
    assert choose("ollama:m", environ={}, base_url=address).name == "ollama:m"
    with pytest.raises(BadSettings, match="no model is named"):
        choose("", environ={}, base_url=address)
    with pytest.raises(BadSettings, match="OpenAI-compatible"):
        choose("anthropic:claude-haiku-4-5", environ=KEYS, base_url=address)


def test_a_missing_package_is_named_where_it_was_asked_for_and_passed_over_where_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert choose("", environ=KEYS).name == "offline"
    with pytest.raises(MissingPackage, match=r"pip install '.\[anthropic\]'"):
        choose("claude-haiku-4-5", environ=KEYS)
    with pytest.raises(MissingPackage, match=r"pip install '.\[openai\]'"):
        choose("m", environ={}, base_url="http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("name", "window"), [("gpt-4.1-mini", 1_000_000), ("gpt-4o-mini", 128_000), ("claude-haiku-4-5", 200_000)]
)
def test_windows_are_known_and_can_be_set(name: str, window: int) -> None:
    assert choose(name, environ=KEYS).window_tokens == window
    assert choose(name, environ=KEYS, window_tokens=5_000).window_tokens == 5_000


def test_choosing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from afterglow.model.choice import choose; "
        f"choose('', environ={KEYS!r}); choose('claude-haiku-4-5', environ={KEYS!r}); "
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('langchain', 'langchain_core', 'openai', 'anthropic', 'genai_prices', 'httpx')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_prices_are_known_without_the_network() -> None:
    million = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert price_usd("openai", "gpt-4.1-mini", million) == pytest.approx(2.0)
    assert price_usd("google_genai", "gemini-2.5-flash", million) == pytest.approx(2.8)
    cached = Usage(input_tokens=1_000_000, cached_tokens=1_000_000)
    assert price_usd("openai", "gpt-4.1-mini", cached) == pytest.approx(0.1)
    assert price_usd("openai", "no-such-model", million) is None
    assert price_usd("openai", "m", million, "http://127.0.0.1:1/v1") is None
    assert price_usd("ollama", "llama3.2", million) == 0.0


def test_the_most_a_call_can_use_is_no_less_than_what_is_sent() -> None:
    model = choose("gpt-5-mini", environ=KEYS)
    assert isinstance(model, LangChainModel)
    assert model.most(asking()).output_tokens == 139 + 4_000, "its thoughts count too"
    assert model.most(asking(Note)).input_tokens > model.most(asking()).input_tokens > 10


# --- failures that no server of ours can make


@for_each(
    "error, kind",
    [
        (TimeoutError("slow"), CallLost),
        (ConnectionRefusedError("no"), ModelBusy),
        (ConnectionResetError("gone"), CallLost),
        (ValueError("strange"), ModelBadOutput),
    ],
)
def test_plain_errors_are_classed_too(error: Exception, kind: type[ModelError]) -> None:
    assert type(classify(error, "m", NOON)) is kind


def test_waits_are_found_in_causes() -> None:
    class Refused(Exception):
        details = ({"@type": "x.RetryInfo", "retryDelay": "2s"},)

        @property
        def body(self) -> object:
            return {"error": {"details": list(self.details)}}

    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = Refused()
    assert wait_seconds(wrapped, NOON) == 2
    assert retry_after_seconds({}, datetime.fromisoformat("2026-03-02T12:00:00Z")) is None
