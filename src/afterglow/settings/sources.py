"""[sources.NAME]: what can be asked about a time window during compaction, and where it is found."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, cast, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_serializer, field_validator, model_validator

from afterglow.settings.text import Told, masked
from afterglow.settings.values import Contradictions, Table, absolute, number, one_line, url

SourceKind = Literal["calendar", "mail", "http", "command", "mcp", "agent"]
KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

MAIL_FOLDERS = ("maildir:", "mbox:")
FORMS: Mapping[str, str] = {
    "calendar": "the path of an iCalendar file, https://…, caldavs://… or caldav+https://…",
    "mail": "imaps://user@host/FOLDER, maildir:/path or mbox:/path",
    "http": "https://… or http://…",
    "mcp": "https://… or http://…, or the command line that starts the server",
    "agent": "package.module:callable",
}
"""For each kind the forms of an address."""

_SCHEMES: Mapping[str, tuple[str, ...]] = {
    "calendar": ("https", "http", "caldavs", "caldav", "caldav+https", "caldav+http"),
    "mail": ("imaps", "imap"),
    "http": ("https", "http"),
    "mcp": ("https", "http"),
}
_CALLABLE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_PASSWORD_KEYS = ("password", "passwd", "pass", "token", "secret", "api_key")
_PASSWORD_REFUSED = (
    "passwords stand in the environment, not in the settings file; take it out, "
    "and give the name of the variable that holds it as password_env"
)
_PASSWORD_IN_ADDRESS = f"a password stands in it; {_PASSWORD_REFUSED}"


def _command(value: tuple[str, ...]) -> tuple[str, ...]:
    if (value and not value[0]) or any("\0" in part for part in value):
        raise ValueError
    return value


def _variable(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError
    return value


class SourceSettings(Table):
    """A source. [[compaction.context_sources]] says which of them are asked."""

    kind: Annotated[SourceKind, Told(allowed=f"one of {', '.join(KINDS)}", example="calendar")] = Field(
        description="What kind of source it is."
    )
    address: Annotated[
        str | None,
        Told(
            allowed="; ".join(f"{kind}: {form}" for kind, form in FORMS.items()),
            default="none",
            example="~/calendar.ics",
            secret=True,
        ),
        AfterValidator(one_line),
    ] = Field(default=None, max_length=4096, description="Where it is found. No password stands in it.")
    command: Annotated[
        tuple[str, ...],
        Told(allowed="up to 100 texts: a program and its arguments", default="none", example=("khal", "list")),
        AfterValidator(_command),
    ] = Field(
        default=(),
        max_length=100,
        description="command, mcp: the program to run, where it is not found at an address.",
    )
    username: Annotated[
        str | None,
        Told(allowed="text in printable characters", default="the one in the address, if any", example="kate"),
        AfterValidator(one_line),
    ] = Field(default=None, min_length=1, max_length=1024, description="Who logs in.")
    password_env: Annotated[
        str | None,
        Told(
            allowed="the name of an environment variable, such as MAIL_PASSWORD",
            default="none",
            example="CALENDAR_PASSWORD",
            secret=True,
        ),
        AfterValidator(_variable),
    ] = Field(
        default=None, max_length=200, description="The environment variable that holds the password or the token."
    )
    tool: Annotated[
        str | None,
        Told(allowed="the name of a tool of the MCP server", default="none", example="recent_changes"),
        AfterValidator(one_line),
    ] = Field(default=None, min_length=1, max_length=200, description="mcp: the tool to call.")
    label: Annotated[
        str | None,
        Told(
            allowed="up to 100 printable characters",
            default="Calendar, Mail, or else its name without -hand",
            example="Calendar",
        ),
        AfterValidator(one_line),
    ] = Field(default=None, min_length=1, max_length=100, description="How it is called in the context.")
    ahead_hours: float = number(4, 0, 24 * 366, "calendar: how far after now events count as upcoming.")
    allow_private: bool = Field(default=False, description="Whether addresses of private networks may be reached.")
    summarise: bool = Field(
        default=True,
        description="calendar, mail: whether the model of compaction rewrites the list as the prompt asks.",
    )

    @model_validator(mode="before")
    @classmethod
    def _holds_no_password(cls, data: Any) -> Any:
        keys = [str(key) for key in cast("Iterable[Any]", data)] if isinstance(data, Mapping) else []
        if found := [((key,), _PASSWORD_REFUSED) for key in keys if key.lower() in _PASSWORD_KEYS]:
            raise Contradictions(found)
        return cast("Any", data)

    @field_validator("address")
    @classmethod
    def _has_the_form_of_its_kind(cls, address: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("kind")
        if not address or kind is None:
            return address
        try:
            return _checked_address(kind, address)
        except ValueError as error:
            raise ValueError(str(error) or f'this is no address of kind "{kind}"; give {FORMS[kind]}') from None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> SourceSettings:
        if found := [*self._missing(), *self._unsafe()]:
            raise Contradictions(found)
        return self

    def _missing(self) -> Iterator[tuple[tuple[str], str]]:
        kind = self.kind
        if kind == "command" and not self.command:
            yield ("command",), 'it is missing; kind "command" needs it: give a list of a program and its arguments'
        if kind == "mcp" and not self.tool:
            yield ("tool",), 'it is missing; kind "mcp" needs it: give the name of the tool to call'
        if kind == "mcp" and bool(self.address) == bool(self.command):
            fault = "command stands there as well, keep one of the two" if self.command else "it is missing"
            yield ("address",), f'{fault}; kind "mcp" needs the address of a server, or the command that starts it'
        elif kind in FORMS and kind != "mcp" and not self.address:
            yield ("address",), f'it is missing; kind "{kind}" needs it: give {FORMS[kind]}'

    def _unsafe(self) -> Iterator[tuple[tuple[str], str]]:
        parts = urlsplit(self.address or "")
        if parts.scheme == "imap" and not self.allow_private and not _is_loopback(parts.hostname or ""):
            yield (
                ("address",),
                "imap:// would send the password in the clear; give imaps://, "
                "or allow_private = true where the way to the server is safe",
            )

    @field_serializer("address")
    def _without_password(self, address: str | None) -> str | None:
        return masked(address) if address else address


def path_in(kind: str, address: str) -> tuple[str, str] | None:
    """What stands before the path in an address, and the path; None where the address is not a path."""
    if kind == "calendar" and "://" not in address:
        return "", address
    scheme = next((one for one in MAIL_FOLDERS if kind == "mail" and address.startswith(one)), "")
    return (scheme, address.removeprefix(scheme)) if scheme else None


def _checked_address(kind: str, address: str) -> str:
    """The address, or ValueError; without a sentence where the forms of its kind say enough."""
    if found := path_in(kind, address):
        return f"{found[0]}{absolute(found[1])}"
    if kind == "agent" and not _CALLABLE.fullmatch(address):
        raise ValueError
    if kind in _SCHEMES and (kind != "mcp" or "://" in address.split(" ")[0]):
        parts = url(address, _SCHEMES[kind])
        if parts.password is not None:
            raise ValueError(_PASSWORD_IN_ADDRESS)
    return address


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
