"""Who a request says it is meant for, and which page sent it: the rules, pure.

A server on the loopback address is not out of reach: any page in the browser of the same machine can send requests to
it, and a page whose name an attacker lets point to 127.0.0.1 (DNS rebinding) can read the answers. So a request must
call the server by a name that is its own, and one that a page sent must come from the server's own page.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::(\d{1,5}))?", re.ASCII)


class Host(NamedTuple):
    """A name and a port, as they stand in a Host header or an origin; a port of None is the scheme's own."""

    name: str
    port: int | None


def parse(text: str) -> Host | None:
    """`localhost:8765` or `[::1]:8765`, in small letters; None for what is no host."""
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    six, name, port = match.groups()
    if six is not None:
        try:
            name = str(ipaddress.IPv6Address(six))
        except ValueError:
            return None
    return Host(name.lower(), int(port) if port else None)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach a server that listens there. A name other than localhost counts as not."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def own_names(listening_on: str, allowed: Iterable[str]) -> frozenset[str]:
    """The names the server goes by: this machine's own, the address it listens on, and those the settings allow."""
    return LOOPBACK_NAMES | {listening_on} - {"0.0.0.0", "::"} | set(allowed)


def is_own_page(origin: str, host: Host, scheme: str) -> bool:
    """Whether a page of this origin was served by the host that the request was sent to.

    A name that is not the machine's own may have a proxy before it that speaks TLS, so there https is as good.
    """
    its_scheme, separator, rest = origin.partition("://")
    its = parse(rest)
    schemes = {scheme} if host.name in LOOPBACK_NAMES else {scheme, "https"}
    if its is None or not separator or its_scheme not in schemes or its_scheme not in PORTS:
        return False
    port = PORTS[its_scheme]
    return (its.name, its.port or port) == (host.name, host.port or port)
