"""What a provider's failure means: wait, give less, ask again, or tell the operator.

Every provider has its own exceptions, and LangChain wraps them. What they share is read from them as they are: a status
of HTTP, headers, a body, a text, and the exception that caused them. So no provider's package is needed to understand
another's errors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from afterglow.errors import ModelBadOutput, ModelBusy, ModelError, ModelStopped, ModelTooLong
from afterglow.model import CallLost

WAIT_SECONDS_MAX = 86_400.0
EXCERPT_CHARS = 200

_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context (window|length|size|limit)|prompt is too long"
    r"|exceeds? the (maximum number of tokens|available context)|input tokens? (count|exceed)|token limit"
    r"|request (is )?too large|too many (input )?tokens|string_above_max_length|ContextOverflow|ContextWindowExceeded",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|billing_hard_limit|credit balance|insufficient (funds|balance|credits)|out of credits"
    r"|payment required",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[ _]?key (not valid|not found|expired)|API_KEY_INVALID|invalid api[ _]key", re.IGNORECASE)
_FILTERED = re.compile(r"content[ _](filter|management policy|policy)|safety (system|filter)|ContentFilter", re.I)
_CUT = "LengthFinishReasonError"
_NO_SCHEMA = re.compile(
    r"response_?format|json_?schema|output_(format|config)|structured output|grammar", re.IGNORECASE
)
_NOT_SENT = re.compile(
    r"ConnectError|ConnectTimeout|PoolTimeout|ConnectionRefused|gaierror|UnsupportedProtocol|InvalidURL"
)
_ON_THE_WAY = re.compile(r"Timeout|Connection|ReadError|WriteError|RemoteProtocol|NetworkError|Disconnected|Incomplete")
_OPAQUE = re.compile(r"[A-Za-z0-9_\-*.]{24,}")


def classify(error: BaseException, name: str, now: datetime) -> ModelError:
    """The error to raise in place of a provider's, for the model of this name."""
    status = _status(error)
    said = " ".join(map(_said, _chain(error)))
    if status == 413 or (_TOO_LONG.search(said) and status in (None, 400, 422, 429, 500)):
        return ModelTooLong(f"{name} was given more than it can take: {_excerpt(error)}; give it less")
    if stopped := _stopped(error, name, status, said):
        return stopped
    if _CUT in said or _FILTERED.search(said):
        return ModelBadOutput(f"{name} gave no whole answer: {_excerpt(error)}")
    if status is not None and (status in (408, 409, 425, 429) or status >= 500):
        wait = wait_seconds(error, now)
        # A gateway that gave up waiting: the model behind it may have answered, and charged for it.
        kind = CallLost if status in (408, 502, 504, 524) else ModelBusy
        return kind(f"{name} cannot answer now (HTTP {status}): {_excerpt(error)}; try again later", wait)
    if status is not None and status >= 400:
        return ModelStopped(
            f"{name} refuses the request (HTTP {status}): {_excerpt(error)}; check the name of the model and its address"
        )
    return _without_status(error, name, said)


def refuses_schemas(error: BaseException) -> bool:
    """Whether the provider does not know how to fill a schema, so that it must be asked in words."""
    said = " ".join(map(_said, _chain(error)))
    return _status(error) in (400, 404, 422, 501) and bool(_NO_SCHEMA.search(said)) and not _TOO_LONG.search(said)


def wait_seconds(error: BaseException, now: datetime) -> float | None:
    """How long the provider asks to be left alone, where it says so in any of the ways they do."""
    for each in _chain(error):
        headers = getattr(getattr(each, "response", None), "headers", None)
        if isinstance(headers, Mapping) and (wait := retry_after_seconds(cast(Mapping[str, str], headers), now)):
            return wait
        for body in (getattr(each, "body", None), getattr(each, "details", None)):
            if (wait := _retry_info_seconds(body)) is not None:
                return wait
    return None


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """From `retry-after-ms`, or `Retry-After` as seconds, as a fraction of them, or as a date."""
    given = {key.lower(): value.strip() for key, value in headers.items()}
    if (milliseconds := _number(given.get("retry-after-ms"))) is not None:
        return _bounded(milliseconds / 1000)
    after = given.get("retry-after")
    if (seconds := _number(after)) is not None:
        return _bounded(seconds)
    until = _date(after)
    # By the server's own clock where it tells it: ours may differ.
    return None if until is None else _bounded((until - (_date(given.get("date")) or now)).total_seconds())


def _stopped(error: BaseException, name: str, status: int | None, said: str) -> ModelStopped | None:
    if status == 402 or _NO_MONEY.search(said):
        return ModelStopped(f"{name} cannot be paid for: {_excerpt(error)}; see to the account at the provider")
    if status in (401, 403) or _NO_KEY.search(said):
        # What the provider says may quote the key, so it is not repeated.
        return ModelStopped(f"{name} does not accept the key (HTTP {status or 'none'}); set one that may use it")
    if status == 404:
        return ModelStopped(f"there is no {name}: {_excerpt(error)}; check the name of the model and its address")
    return None


def _without_status(error: BaseException, name: str, said: str) -> ModelError:
    kinds = " ".join(type(each).__name__ for each in _chain(error))
    if _NOT_SENT.search(kinds):
        return ModelBusy(f"{name} cannot be reached: {_excerpt(error).rstrip('.')}; check the network and the address")
    if _ON_THE_WAY.search(kinds) or any(isinstance(each, OSError) for each in _chain(error)):
        return CallLost(f"{name} was asked and did not answer: {_excerpt(error)}; try again later")
    return ModelBadOutput(f"{name} answered with something that is no completion: {_excerpt(error)}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that caused it, at most eight."""
    each: BaseException | None = error
    for _ in range(8):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def _status(error: BaseException) -> int | None:
    for each in _chain(error):
        for found in (getattr(each, "status_code", None), getattr(each, "code", None)):
            if isinstance(found, int) and 100 <= found < 600:
                return found
    return None


def _said(error: BaseException) -> str:
    """All words that tell what happened: the kind of error, its text, the provider's codes for it."""
    codes = (getattr(error, "code", None), getattr(error, "type", None))
    return " ".join([type(error).__name__, str(error), *(code for code in codes if isinstance(code, str))])


def _excerpt(error: BaseException) -> str:
    """A few words of what was said, on one line, with nothing in it that may be a key."""
    said = getattr(error, "message", None)
    text = " ".join((said if isinstance(said, str) and said else str(error) or type(error).__name__).split())
    text = _OPAQUE.sub("…", text)
    return text if len(text) <= EXCERPT_CHARS else text[:EXCERPT_CHARS] + "…"


def _retry_info_seconds(body: Any) -> float | None:
    """Google says it in the body: {"error": {"details": [{"@type": "….RetryInfo", "retryDelay": "34.5s"}]}}."""
    if isinstance(body, list):
        found = (_retry_info_seconds(each) for each in cast(list[Any], body))
        return next((each for each in found if each is not None), None)
    if not isinstance(body, dict):
        return None
    known = cast(dict[str, Any], body)
    if str(known.get("@type", "")).endswith("RetryInfo"):
        delay = _number(str(known.get("retryDelay", "")).removesuffix("s"))
        return None if delay is None else _bounded(delay)
    return _retry_info_seconds([known.get("error"), known.get("details")])


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), WAIT_SECONDS_MAX)
