"""What the tables of settings are made of: limited numbers, and the checks of paths, hosts, zones, addresses and names."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import zoneinfo
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterglow.errors import BadInput, BadSettings
from afterglow.settings.text import shown
from afterglow.turns import binding_of, check_name

DAY_SECONDS = 24 * 60 * 60
MIB = 1024 * 1024

SQLITE = "sqlite:///"
POSTGRES = "postgresql://"

A_MODEL = "offline, provider:model, or the name of a well-known model, such as gemini-2.5-flash"


class Table(BaseModel):
    """A table of settings: frozen, and strict about what is in it. One that a program makes wrongly is BadSettings."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,  # "yes" is no number, and true is not 1
        validate_default=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    if not TYPE_CHECKING:  # the arguments are the fields, as pydantic tells the checkers of types

        def __init__(self, **data: Any) -> None:
            try:
                super().__init__(**data)
            except ValidationError:
                # It knows all tables, and so it imports this module.
                from afterglow.settings.checking import explained

                raise BadSettings(explained(type(self), data)) from None

        # Tables within tables are checked without it, so that all that is wrong is found before anything is raised.
        __init__.__pydantic_base_init__ = True


class Contradictions(ValueError):
    """What is wrong between several keys: for each the way to the key that is to be changed, and a sentence."""

    def __init__(self, found: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {reason}" for path, reason in self.found))


def number(default: float, low: float, high: float, description: str) -> Any:
    """A number, which always has limits."""
    return Field(default=default, ge=low, le=high, description=description)


def absolute(value: Any) -> Any:
    """An absolute path, with `~` expanded."""
    if not isinstance(value, str | Path):
        return value
    if not str(value) or "\0" in str(value):
        raise ValueError("it is empty or holds a NUL character; give a path")
    try:
        return Path.cwd() / Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"{shown(value)} names a home that is not known; write the path in full") from None


def database(value: str | None) -> str | None:
    if value is None or value.startswith(POSTGRES):
        return value
    path = value.removeprefix(SQLITE)
    if path == value or "?" in path or Path(path).name in ("", ":memory:"):
        raise ValueError
    return f"{SQLITE}{absolute(path)}"


def zone(value: str) -> str:
    if _is_zone(value):
        return value
    known = {name.lower(): name for name in zoneinfo.available_timezones()}
    close = [known[name] for name in difflib.get_close_matches(value.lower(), known)]
    nearest = f" (nearest: {', '.join(close)})" if close else ""
    raise ValueError(f"{shown(value)} is not a time zone; give an IANA name, such as Europe/Berlin{nearest}")


def owner(value: str | None) -> str | None:
    if value is not None and binding_of(value) is None:
        raise ValueError(f"{shown(value)} is no owner; write one as agent/channel/sender, such as kate/telegram/ana")
    return value


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return False
    return True


def machine_zone() -> str:
    """The machine's zone as far as it can be told, else UTC."""
    if "TZ" in os.environ:
        names = [os.environ["TZ"].removeprefix(":")]
    else:
        listed = Path("/etc/timezone")
        names = [
            Path("/etc/localtime").resolve().as_posix().rpartition("/zoneinfo/")[2],
            listed.read_text(errors="replace").strip() if os.access(listed, os.R_OK) else "",
        ]
    return next((name for name in names if name and _is_zone(name)), "UTC")


def host(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        pass
    label = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
    if len(value) > 253 or not re.fullmatch(rf"{label}(\.{label})*", value) or re.fullmatch(r"[\d.]+", value):
        raise ValueError
    return value.lower()


def name(value: str) -> str:
    try:
        check_name(value, "the name")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return value


def fault_of_name(value: str) -> str:
    """Why this can be no name; empty where it can."""
    try:
        name(value)
    except ValueError as error:
        return str(error)
    return ""


def model(value: str) -> str:
    if not value.isprintable() or " " in value:
        raise ValueError
    return value


def one_line(value: str | None) -> str | None:
    """Text without control characters, which may be empty or not given."""
    if value and not value.isprintable():
        raise ValueError("it holds control characters; write it on one line, in printable ones")
    return value


def url(value: str, schemes: Iterable[str]) -> SplitResult:
    """The parts of a URL of one of these schemes."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in schemes and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is no number, brackets that are not closed
        known, parts = None, SplitResult("", "", "", "", "")
    if not known or not value.isprintable() or " " in value:
        raise ValueError
    return parts


def base_url(value: str | None) -> str | None:
    if value is not None and url(value, ("http", "https")).password is not None:
        raise ValueError("a password stands in it; passwords stand in the environment, so take it out")
    return value
