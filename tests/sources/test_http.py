"""An HTTP endpoint as a source, and everything an endpoint can do wrong."""

from __future__ import annotations

import json

import pytest
import trustme

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access
from afterglow.sources.http import Http
from tests.kit.loops import for_each
from tests.sources.conftest import tls_before
from tests.sources.hostile import Hostile
from tests.sources.windows import MORNING, ask_about, wanted

HERE = Access(allow_private=True)
PROMPT = "Summarize unread or notable emails. Flag anything urgent. {One} paragraph — «ünchanged»."


@pytest.mark.spec("SRC-1", "SRC-2", "SRC-6")
async def test_the_endpoint_is_told_the_window_and_the_users_own_prompt(hostile: Hostile) -> None:
    assert await Http(hostile.at("plain"), access=HERE).report(MORNING, PROMPT, tokens_max=77) == "Sunny,\n18 °C."
    (sent,) = hostile.seen
    assert json.loads(sent["body"]) == {
        "from": "2026-03-02T09:15:00-08:00",
        "to": "2026-03-02T13:15:00-08:00",
        "now": "2026-03-02T13:15:00-08:00",
        "request": "Provide a contextual summary for the period from 2026-03-02T09:15:00-08:00 to "
        f"2026-03-02T13:15:00-08:00. {PROMPT}",
        "prompt": PROMPT,
        "tokens_max": 77,
    }


@pytest.mark.spec("SRC-3")
async def test_json_and_a_token_are_understood(hostile: Hostile) -> None:
    access = Access(password="tok", allow_private=True)
    assert await Http(hostile.at("json"), access=access).report(MORNING, "", tokens_max=77) == "Sunny."
    assert hostile.seen[0]["headers"]["Authorization"] == "Bearer tok"


@pytest.mark.spec("SRC-4")
@for_each(
    "path, error",
    [
        ("dies", "gives no answer"),
        ("endless", "more than 1,048,576 bytes"),
        ("redirects", "redirects are not followed"),
        ("compressed", "compressed"),
        ("fails", "answers 500"),
        ("html", "answers with text/html"),
        ("nested", "says that it answers in JSON, and does not"),
        ("empty-json", "without a text under summary"),
    ],
)
async def test_what_an_endpoint_does_wrong_is_an_error(hostile: Hostile, path: str, error: str) -> None:
    with pytest.raises(SourceError, match=error):
        await Http(hostile.at(path), access=HERE).report(MORNING, "", tokens_max=77)


@pytest.mark.spec("SRC-4")
async def test_endpoints_that_hang_or_trickle_are_left_and_hold_up_no_other(hostile: Hostile) -> None:
    slow = [wanted(Http(hostile.at(path), access=HERE), path, deadline_seconds=0.3) for path in ("hangs", "trickles")]
    good = wanted(Http(hostile.at("plain"), access=HERE), "good")
    answers = await ask_about(MORNING, *slow, good)
    assert [answer.error for answer in answers] == ["it did not answer within 0.3 seconds"] * 2 + [None]
    assert answers[2].text == "Sunny, 18 °C."


@pytest.mark.spec("SRC-4")
async def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    with pytest.raises(SourceError, match="gives no answer"):
        await Http("http://127.0.0.1:1/", access=HERE).report(MORNING, "", tokens_max=77)


@pytest.mark.spec("SAFE-6")
async def test_https_to_a_checked_address_still_asks_for_the_names_certificate(
    hostile: Hostile, authority: trustme.CA
) -> None:
    with tls_before(hostile.port, authority.issue_cert("localhost")) as secure:
        assert await Http(f"https://localhost:{secure}/json", access=HERE).report(MORNING, "", tokens_max=9) == "Sunny."
        assert hostile.seen[0]["headers"]["Host"] == f"localhost:{secure}"
        with pytest.raises(SourceError, match=r"(?i)certificate"):
            await Http(f"https://127.0.0.1:{secure}/json", access=HERE).report(MORNING, "", tokens_max=9)
    assert len(hostile.seen) == 1
