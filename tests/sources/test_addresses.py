"""Where sources may connect to: fifty ways to name a private place, and not one connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from afterglow.errors import SourceError
from afterglow.sources.addresses import Access, is_public, resolve, site
from afterglow.sources.calendar import Calendar
from afterglow.sources.fetch import fetch
from afterglow.sources.http import Http
from tests.kit.loops import for_each
from tests.sources.hostile import Hostile
from tests.sources.windows import MORNING

PRIVATE_URLS = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://0177.0x0.0.1/",
    "https://127.255.255.254/",
    "https://0/",
    "https://0.0.0.0/",
    "https://localhost/",
    "https://localhost./",
    "https://LOCALHOST/",
    "https://127.0.0.1./",
    "https://user:pass@127.0.0.1/",
    "https://example.com@127.0.0.1/",
    "https://example.com:443@127.0.0.1/",
    "https://example.com%40@127.0.0.1/",
    "https://127.0.0.1#@example.com/",
    "https://127.0.0.1?@example.com/",
    "https://example.com\\@127.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25lo]/",
    "https://[fec0::1]/",
    "https://[fc00::1]/",
    "https://[fd12:3456::1]/",
    "https://[ff02::1]/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://100.127.255.254/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://240.0.0.1/",
    "https://192.0.2.1/",
    "https://198.18.0.1/",
    "https://rebinding.example/",
    "https://mixed.example/",
    "https://mapped.example/",
    "https://①②⑦.0.0.1/",
    "https://127。0。0。1/",
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "https:///",
]
NAMES = {
    "rebinding.example": ["127.0.0.1"],
    "mixed.example": ["93.184.216.34", "10.0.0.1"],
    "mapped.example": ["::ffff:169.254.169.254"],
    "example.com": ["93.184.216.34"],
}


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Every connection that is tried. Names are looked up in a book of our own; numbers as the system reads them."""
    tried: list[Any] = []
    look_up = socket.getaddrinfo

    def tries(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            tried.append(address)
            raise ConnectionRefusedError("the test lets nobody out")

    def from_book(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = NAMES.get(host.decode() if isinstance(host, bytes) else host)
        if found is None:
            return look_up(host, port, *args, **kwargs)
        families = [(socket.AF_INET6 if ":" in ip else socket.AF_INET, ip) for ip in found]
        return [(family, socket.SOCK_STREAM, 6, "", (ip, port)) for family, ip in families]

    monkeypatch.setattr(socket.socket, "connect", tries)
    monkeypatch.setattr(socket.socket, "connect_ex", tries)
    monkeypatch.setattr(socket, "getaddrinfo", from_book)
    yield tried


@pytest.mark.spec("SAFE-6")
@for_each("url", PRIVATE_URLS)
async def test_a_private_place_is_not_connected_to_however_it_is_named(url: str, connections: list[Any]) -> None:
    with pytest.raises(SourceError):
        await fetch("GET", url, Access())
    assert connections == []


@pytest.mark.spec("SAFE-6")
async def test_the_connection_goes_to_the_address_that_was_checked(
    connections: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers for the name gives a public address first, and a private one from then on."""
    answers = iter([["93.184.216.34"], *[["127.0.0.1"]] * 9])

    async def rebinding(*args: Any, **kwargs: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in next(answers)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", rebinding)
    with pytest.raises(SourceError, match=r"https://example\.com gives no answer"):
        await fetch("GET", "https://example.com/a", Access())
    assert connections == [("93.184.216.34", 443)]


@pytest.mark.spec("SAFE-6")
async def test_a_redirect_to_this_machine_is_not_followed(hostile: Hostile) -> None:
    with pytest.raises(SourceError, match="redirects are not followed"):
        await fetch("GET", hostile.at("redirects"), Access(allow_private=True))
    assert [one["path"] for one in hostile.seen] == ["/redirects"]


@pytest.mark.spec("SAFE-6")
@for_each("address", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_of_the_open_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.spec("SAFE-6")
async def test_private_addresses_are_reached_where_the_settings_allow_it(hostile: Hostile) -> None:
    assert await resolve("127.0.0.1", 80, allow_private=True) == ["127.0.0.1"]
    assert (await fetch("GET", hostile.at("plain"), Access(allow_private=True))).status == 200


@pytest.mark.spec("SAFE-6")
async def test_no_proxy_of_the_environment_is_used(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await fetch("GET", hostile.at("plain"), Access(allow_private=True))).status == 200


def test_the_rest_of_an_address_is_not_shown() -> None:
    assert site("https://user:pw@calendar.example:8443/private-0123456789/basic.ics") == "https://calendar.example:8443"
    assert site("https://[broken") == "an address that cannot be read"


@pytest.mark.spec("SRC-4")
async def test_errors_do_not_tell_the_secret_part_of_an_address(connections: list[Any]) -> None:
    address = "https://rebinding.example/private-0123456789/basic.ics"
    for source in (Calendar(address), Http(address)):
        with pytest.raises(SourceError) as raised:
            await source.report(MORNING, "", tokens_max=100)
        assert "0123456789" not in str(raised.value)
