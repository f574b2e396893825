"""What is particular to Slack: mrkdwn without previews, threads, files, and when Slack delivers again."""

from __future__ import annotations

import asyncio

import pytest

from afterglow.adapters import slack
from afterglow.errors import BadInput
from afterglow.memory import Memory
from tests.adapters import slack_bot
from tests.adapters.conftest import away


@pytest.mark.spec("AWAY-9", "AWAY-11")
async def test_the_text_goes_as_mrkdwn_without_previews_or_mentions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await slack_bot.make(memory, monkeypatch)
    await away(memory, bot)
    await bot.write("I am back", id=2)
    (sent,) = bot.sent
    assert (sent["channel"], sent["mrkdwn"], sent["unfurl_links"], sent["unfurl_media"]) == ("D1", True, False, False)
    assert sent["text"].startswith("*While you were away*") and "<@U2>" not in sent["text"]
    assert "thread_ts" not in sent


@pytest.mark.spec("AWAY-11")
async def test_who_writes_in_a_thread_with_a_file_is_told_there(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await slack_bot.make(memory, monkeypatch)
    await away(memory, bot)
    await bot.feed({**slack_bot.message("see this", 2), "subtype": "file_share", "thread_ts": "1700000000.000001"})
    assert [each["thread_ts"] for each in bot.sent] == ["1700000000.000001"]


@pytest.mark.spec("AWAY-11")
async def test_slack_is_answered_with_ok_and_a_repeat_because_it_took_long_is_not_handled(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await slack_bot.make(memory, monkeypatch, ends_before_answer=False)
    late = {"x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout"}
    assert (await bot.feed(slack_bot.message("hello", 1))).status == 200
    assert (await bot.feed(slack_bot.message("hello", 1), late)).status == 200
    for _ in range(5):
        await asyncio.sleep(0)  # the listener runs beside
    assert bot.seen == ["answer to hello"]


@pytest.mark.spec("AWAY-11")
async def test_a_repeat_after_an_error_tells_nothing_twice(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await slack_bot.make(memory, monkeypatch)
    await away(memory, bot)
    bot.failing = 1
    assert (await bot.feed(slack_bot.message("hello", 2))).status == 500
    assert (await bot.feed(slack_bot.message("hello", 2), slack_bot.RETRY)).status == 200
    assert len(bot.sent) == 1 and bot.seen[-1] == "answer to hello"


def test_a_channel_of_another_kind_is_refused() -> None:
    with pytest.raises(BadInput, match="begins with slack, as slack:work does"):
        slack.attach(None, None, agent="kate", channel="telegram")  # pyright: ignore
