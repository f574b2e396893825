"""An owner's name as the name of one folder, on every file system.

Small letters, digits and a few marks stand for themselves; everything else, capitals too, is written as %XX, so that no
two owners share a folder where capitals and small letters are the same, or where accents are stored in another way. A name
that would be too long is cut, and a digest of the whole stands behind `~`, which is written as %7E anywhere else.
"""

from __future__ import annotations

from hashlib import blake2b
from urllib.parse import unquote

CHARS_MAX = 120
_HEAD_CHARS = 80
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def folder_name(owner: str) -> str:
    """The name of the owner's folder."""
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in owner.encode())
    if name.endswith("."):  # which Windows takes away
        name = name[:-1] + "%2E"
    if len(name) > CHARS_MAX:
        head = name[:_HEAD_CHARS].rpartition("%")[0] or name[:_HEAD_CHARS]
        name = f"{head}~{blake2b(owner.encode(), digest_size=16).hexdigest()}"
    if name.startswith(".") or name.split(".")[0] in _DEVICES:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return name


def owner_of(name: str) -> str | None:
    """Whose folder this is, where its name tells: a long owner's does not."""
    owner = unquote(name, errors="replace")
    return owner if folder_name(owner) == name else None


def is_device(name: str) -> bool:
    """Whether this name is that of a device on Windows, whatever it ends in."""
    return name.split(".")[0].strip().lower() in _DEVICES
