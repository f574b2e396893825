"""The first answers over stdio: what the server is, and which tools it has.

A client that starts the program waits for both, and some begin without the tools where that takes seconds. Neither depends on
the memory, so both are given at once, from first_answers.json, while the SDK is imported and the database is opened. The
file is generated from the server itself (`make docs`).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any


class FirstAnswers:
    """Answers the handshake of a client and its question for the tools.

    The SDK is given these messages too, since it keeps the state of the connection; what it answers to them is dropped.
    """

    def __init__(self, *, read_only: bool) -> None:
        self._read_only = read_only
        self._can_go_on = find_spec("mcp") is not None  # without the SDK the program ends, and says why
        self._given: list[str | int] = []

    def to(self, line: bytes) -> bytes | None:
        """The answer to this line, where it is one of the first."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        match message:
            case {"method": "initialize", "id": str() | int() as id, "params": {**params}} if not self._given:
                if not self._can_go_on or not _is_plain(params):
                    return None
                result = {**_known()["initialize"], "protocolVersion": params["protocolVersion"]}
            case {"method": "tools/list", "id": str() | int() as id} if self._given:
                tools = _known()["tools"]
                result = {
                    "tools": [each for each in tools if each["annotations"]["readOnlyHint"] or not self._read_only]
                }
            case _:
                return None
        self._given.append(id)
        return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}, ensure_ascii=False).encode()

    def was_given(self, id: Any) -> bool:
        """Whether this request was answered here; of each answer it says so once."""
        if id not in self._given:
            return False
        self._given.remove(id)
        return True


def _is_plain(params: dict[str, Any]) -> bool:
    """Whether the SDK takes this handshake as it is."""
    match params:
        case {"protocolVersion": str() as version, "capabilities": {}, "clientInfo": {"name": str(), "version": str()}}:
            return version in _known()["versions"]
        case _:
            return False


@cache
def _known() -> dict[str, Any]:
    return json.loads(files("afterglow.mcp_server").joinpath("first_answers.json").read_text(encoding="utf-8"))
