"""An HTTP server that does, path by path, what servers should not do."""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENDLESS_BYTES = 64 * 1024


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.server.seen.append({"path": self.path, "headers": dict(self.headers), "body": body})
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, "on_" + self.path.strip("/").replace("-", "_"))()

    do_GET = do_POST
    do_PROPFIND = do_POST

    def answer(self, body: bytes, kind: str = "text/plain", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def on_plain(self) -> None:
        self.answer("Sunny,\n18 °C.".encode())

    def on_json(self) -> None:
        self.answer(json.dumps({"summary": "Sunny."}).encode(), "application/json")

    def on_nested(self) -> None:
        self.answer(b"[" * 100_000, "application/json")

    def on_empty_json(self) -> None:
        self.answer(b'{"other": 1}', "application/json")

    def on_html(self) -> None:
        self.answer(b"<p>Log in", "text/html")

    def on_calendar(self) -> None:
        self.answer(self.server.calendar, "text/calendar")

    def on_entities(self) -> None:
        self.answer(b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "application/xml")

    def on_fails(self) -> None:
        self.answer(b"no", status=500)

    def on_redirects(self) -> None:
        self.answer(b"", status=302, Location=f"http://127.0.0.1:{self.server.server_port}/plain")

    def on_compressed(self) -> None:
        self.answer(b"x", **{"Content-Encoding": "gzip"})

    def on_hangs(self) -> None:
        self.server.stop.wait()

    def on_trickles(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.stop.wait(0.05):
            self.wfile.write(b".")
            self.wfile.flush()

    def on_dies(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"the beginn")
        self.close_connection = True

    def on_endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        while not self.server.stop.is_set():
            self.wfile.write(b"x" * ENDLESS_BYTES)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[dict[str, Any]] = []
        self.stop = threading.Event()
        self.calendar = b""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Hostile:
    """The server, and what it was sent."""

    def __enter__(self) -> Hostile:
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def seen(self) -> list[dict[str, Any]]:
        return self._server.seen

    @property
    def port(self) -> int:
        return self._server.server_port

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def serve_calendar(self, text: str) -> str:
        self._server.calendar = text.encode()
        return self.at("calendar")
