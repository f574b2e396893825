"""An MCP server over stdio that is written without a library: it starts in no time, and so can be started often."""

from __future__ import annotations

import json
import os
import sys

ARGUMENTS = {"weather": {"city": "string"}, "sees": {"names": "array"}, "which": {}, "dies": {}}


def called(name: str, arguments: dict[str, object]) -> str:
    match name:
        case "weather":
            return f"rain in {arguments['city']} for 1 days"
        case "sees":
            return ",".join(os.environ.get(str(each), "nothing") for each in arguments["names"])  # type: ignore[attr-defined]
        case "which":
            return str(os.getpid())
        case _:
            os._exit(3)


def answered(method: str, params: dict[str, object]) -> dict[str, object] | None:
    match method:
        case "initialize":
            about = {"name": "small", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            schemas = {
                name: {"type": "object", "properties": {each: {"type": kind} for each, kind in given.items()}}
                for name, given in ARGUMENTS.items()
            }
            return {"tools": [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]}
        case "tools/call":
            text = called(str(params["name"]), params.get("arguments") or {})  # type: ignore[arg-type]
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answered(message["method"], message.get("params") or {})
        unknown = {"code": -32601, "message": "there is no such method"}
        told = {"error": unknown} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}), flush=True)
