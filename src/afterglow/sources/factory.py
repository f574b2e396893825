"""From a declaration in the settings to a source.

A source is made when it is first asked, in a thread: packages such as that of MCP take a second to load. So a missing
package or an unset password leaves out that one source with a sentence that says so, and holds up nothing else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from afterglow.errors import SourceError
from afterglow.model import Model
from afterglow.settings import SourceSettings
from afterglow.sources import Source, Window
from afterglow.sources.addresses import Access
from afterglow.sources.patience import in_thread
from afterglow.sources.summarised import Summarised

_LABELS = {"calendar": "Calendar", "mail": "Mail"}


def label_of(name: str, settings: SourceSettings) -> str:
    """How a source is called in the context: `Calendar`, `Mail`, or `weather-hand` as `Weather`."""
    plain = re.sub(r"[-_ ]hand$", "", name) or name
    return settings.label or _LABELS.get(settings.kind) or plain[:1].upper() + plain[1:]


def make(name: str, settings: SourceSettings, *, environ: Mapping[str, str], model: Model | None = None) -> Source:
    """The source that is declared under this name. It is only made when it is asked; what is wrong shows then."""
    return _Declared(name, settings, environ, model)


def make_now(name: str, settings: SourceSettings, *, environ: Mapping[str, str], model: Model | None = None) -> Source:
    """The same at once; MissingPackage or SourceError where it cannot be made."""
    address, access = settings.address or "", _access(settings, environ)
    match settings.kind:
        case "calendar" | "mail":
            return _listing(settings, access, model)
        case "http":
            from afterglow.sources.http import Http

            return Http(address, access=access)
        case "command":
            from afterglow.sources.command import Command

            return Command(settings.command, environ=environ)
        case "mcp":
            return _mcp(settings, access)
        case "agent":
            from afterglow.sources.agent import Agent

            return Agent(address)


def _listing(settings: SourceSettings, access: Access, model: Model | None) -> Source:
    from afterglow.sources.calendar import Calendar
    from afterglow.sources.mail import Mail

    address = settings.address or ""
    if settings.kind == "mail":
        source = Mail(address, access=access)
    else:
        source = Calendar(address, access=access, ahead_hours=settings.ahead_hours)
    return Summarised(source, model, label=settings.kind) if settings.summarise and model is not None else source


def _mcp(settings: SourceSettings, access: Access) -> Source:
    from afterglow.sources.mcp import McpTool

    tool, address = settings.tool or "", settings.address or ""
    if address and "://" in address.split(" ")[0]:
        return McpTool(tool, address=address, access=access)
    own = {settings.password_env: access.password} if settings.password_env and access.password else {}
    return McpTool(tool, command=settings.command or shlex.split(address), environ=own)


def _access(settings: SourceSettings, environ: Mapping[str, str]) -> Access:
    variable = settings.password_env
    if variable and not environ.get(variable):
        raise SourceError(f"the environment variable {variable}, which should hold its password, is not set; set it")
    password = environ[variable] if variable else None
    return Access(username=settings.username, password=password, allow_private=settings.allow_private)


class _Declared:
    """A source that is made when it is first asked."""

    def __init__(self, name: str, settings: SourceSettings, environ: Mapping[str, str], model: Model | None) -> None:
        self._name = name
        self._settings = settings
        self._environ = environ
        self._model = model
        self._made: Source | None = None

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        if self._made is None:
            self._made = await in_thread(
                lambda: make_now(self._name, self._settings, environ=self._environ, model=self._model)
            )
        return await self._made.report(window, prompt, tokens_max=tokens_max)
