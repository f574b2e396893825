"""Real servers on this machine, for sources to be asked about."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trustme

from afterglow.sources.asking import settle
from tests.sources.hostile import Hostile


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextlib.contextmanager
def running(*argv: str, port: int) -> Iterator[int]:
    """A server in a process of its own, from when it takes connections until it is killed."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while True:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            assert process.stderr is not None
            raise AssertionError(f"{argv[:3]} ended: {process.stderr.read().decode()[-2000:]}")
        yield port
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
async def nothing_goes_on() -> AsyncIterator[None]:
    """What was late ends with the test that asked for it."""
    yield
    await settle()


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with Hostile() as server:
        yield server


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real CalDAV server, with the users ana and ben; the address of its root."""
    folder = tmp_path_factory.mktemp("radicale")
    (folder / "users").write_text("ana:pässword\nben:ben\n")
    port = free_port()
    options = {
        "server-hosts": f"127.0.0.1:{port}",
        "auth-type": "htpasswd",
        "auth-htpasswd-filename": str(folder / "users"),
        "auth-htpasswd-encryption": "plain",
        "storage-filesystem-folder": str(folder / "store"),
    }
    argv = [sys.executable, "-m", "radicale", "--config", "", *(f"--{key}={value}" for key, value in options.items())]
    with running(*argv, port=port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def pymap() -> Iterator[int]:
    """A real IMAP server in the clear, with the user demouser; its port."""
    port = free_port()
    argv = [str(Path(sys.executable).parent / "pymap"), "--host", "127.0.0.1", "--port", str(port), "--no-tls"]
    with running(*argv, "dict", "--demo-data", port=port):
        yield port


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Somebody who signs certificates, and whom this test trusts."""
    signer = trustme.CA()
    signer.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return signer


@contextlib.contextmanager
def tls_before(port: int, certificate: trustme.LeafCert) -> Iterator[int]:
    """A port that speaks TLS, and hands what comes on to another port of this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=serve_one, args=(plain,), daemon=True).start()

    def serve_one(plain: socket.socket) -> None:
        with plain, contextlib.suppress(OSError):
            with (
                context.wrap_socket(plain, server_side=True) as near,
                socket.create_connection(("127.0.0.1", port)) as far,
            ):
                back = threading.Thread(target=pump, args=(far, near), daemon=True)
                back.start()
                pump(near, far)
                back.join()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
