"""Which addresses may be reached: those of the open internet, unless the settings allow private ones.

A name is looked up once, everything it stands for is checked, and the connection goes to the address that was checked.
Looking it up again to connect would let whoever answers for the name give a harmless address first and a private one then.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from afterglow.errors import SourceError

_TRANSLATED = tuple(  # networks of version 6 that carry an address of version 4 inside
    map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96"))
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How a source on a network is reached."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    allow_private: bool = False


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the open internet: not to a machine, a network, a provider or a group."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip.is_site_local or any(ip in network for network in _TRANSLATED):
            return False
    refused = ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_reserved
    return ip.is_global and not refused and not ip.is_unspecified


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses that a name stands for, all of them allowed; or SourceError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"the name {host!r} cannot be looked up ({error}); see whether it is right") from None
    addresses = list(dict.fromkeys(str(row[4][0]) for row in found))
    refused = [] if allow_private else [address for address in addresses if not is_public(address)]
    if refused or not addresses:
        raise SourceError(
            f"{host!r} leads to {', '.join(refused) or 'nowhere'}, which is no address of the open internet; "
            "set allow_private = true for this source if it is meant to be reached"
        )
    return addresses


def site(address: str) -> str:
    """The scheme and the host of an address: what may be shown. The rest of a private calendar's address is a secret."""
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "an address that cannot be read"
