"""One call of a command: the options that every command takes, and the way to the settings and the memory."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from afterglow.acting import acting_as
from afterglow.cli.examples import epilog
from afterglow.errors import BadSettings

if TYPE_CHECKING:
    from afterglow.cli.screen import Screen
    from afterglow.memory import Memory
    from afterglow.settings import Loaded

T = TypeVar("T")
Run = Callable[..., None]

_PANEL = "Everywhere"
_SettingsFile = Annotated[
    Path | None, typer.Option("--settings", metavar="FILE", help="The settings file to read.", rich_help_panel=_PANEL)
]
_DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="FOLDER", help="The data folder to use.", rich_help_panel=_PANEL)
]
_Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Answer with one JSON document on stdout.", rich_help_panel=_PANEL)
]
_Debug = Annotated[
    bool, typer.Option("--debug", metavar="", help="Show the traceback of an unexpected error.", rich_help_panel=_PANEL)
]
EVERYWHERE: dict[str, tuple[Any, Any]] = {
    "settings_file": (_SettingsFile, None),
    "data_dir": (_DataDir, None),
    "as_json": (_Json, False),
    "debug": (_Debug, False),
}


def _named(owner: str | None) -> str | None:
    if owner is not None and not owner.strip():
        raise typer.BadParameter("the name is empty; name one that `afterglow owners` lists, or leave --owner out")
    return owner


OwnerOption = Annotated[
    str | None,
    typer.Option("--owner", metavar="OWNER", help="Whose memory; `afterglow owners` lists them.", callback=_named),
]
SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session's name; `afterglow sessions` lists them.")
]
LimitOption = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="The most to show.")]


@dataclass
class Call:
    """What was asked for everywhere: given before the command or after it, the later wins."""

    as_json: bool = False
    debug: bool = False
    settings_file: Path | None = None
    data_dir: Path | None = None
    overrides: dict[str, Any] = field(default_factory=dict[str, Any])
    """Settings that the command's own options give."""
    _context: typer.Context | None = None
    _loaded: Loaded | None = None
    _screen: Screen | None = None

    @property
    def context(self) -> typer.Context:
        assert self._context is not None, "a call is bound to its context before the command runs"
        return self._context

    @property
    def loaded(self) -> Loaded:
        """The settings in effect."""
        if self._loaded is None:
            import os

            from afterglow import settings

            data_dir = None if self.data_dir is None else str(self.data_dir)
            given = {**self.overrides, "data_dir": data_dir}
            self._loaded = settings.load(self.settings_file, environ=os.environ, overrides=given)
        return self._loaded

    @property
    def screen(self) -> Screen:
        """Where the answer goes, with times in the zone of the settings."""
        if self._screen is None:
            from zoneinfo import ZoneInfo

            from afterglow.cli.screen import Screen

            self._screen = Screen(as_json=self.as_json, zone=ZoneInfo(self.loaded.settings.zone))
        return self._screen

    def run(self, act: Callable[[Memory], Awaitable[T]], *, create: bool = False) -> T:
        """Open the memory, do this with it, close it. Only who may `create` a database gets a new one."""
        import asyncio

        from afterglow.memory import open_memory

        chosen = self.loaded.settings
        if not create and chosen.sqlite_path is not None and not chosen.sqlite_path.exists():
            raise BadSettings(f"there is no database at {chosen.sqlite_path} yet; `afterglow init` makes one")

        async def with_memory() -> T:
            # A command does what it was asked and no more, whatever the settings tell a server to be.
            async with open_memory(chosen.model_copy(update={"primary": "false"})) as memory:
                return await act(memory)

        return asyncio.run(with_memory())

    def typed(self, *words: str, owner: str | None = None) -> str:
        """A command as it is to be typed to reach the same data, and the owner that was named."""
        places = {"--settings": self.settings_file, "--data-dir": self.data_dir}
        before = [part for option, path in places.items() if path is not None for part in (option, str(path))]
        return shlex.join(["afterglow", *before, *words, *(["--owner", owner] if owner is not None else [])])

    def take(self, context: typer.Context, given: dict[str, Any]) -> None:
        """Bind the call to a command, and take the options of everywhere out of what that was given."""
        self._context = context
        for name in EVERYWHERE:
            setattr(self, name, given.pop(name) or getattr(self, name))


def everywhere(run: Run) -> Run:
    """Give a command the options that every command takes, and hand it the Call that they make up."""

    @wraps(run)
    def with_call(context: typer.Context, **given: Any) -> None:
        call = context.find_root().obj
        assert isinstance(call, Call)
        call.take(context, given)
        with acting_as(f"cli:{_login()}"):
            run(call, **given)

    signature = inspect.signature(run, eval_str=True)
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    own = list(signature.parameters.values())[1:]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in EVERYWHERE.items()
    ]
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    with_call.__signature__ = signature.replace(parameters=[first, *keywords, *added])  # pyright: ignore
    return with_call


def _login() -> str:
    """Who typed the command; the audit names them."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number that has no name
        return "unknown"


def command(app: typer.Typer, name: str, run: Run, *, panel: str | None = None) -> None:
    """Add a command. Its help is the docstring of the function, and its examples."""
    path = f"{app.info.name} {name}" if app.info.cls is _WithDefault else name
    app.command(name, rich_help_panel=panel, epilog=epilog(path))(everywhere(run))


class _WithDefault(TyperGroup):
    """A group whose first command is what it does when none is named: `sessions` is `sessions list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = (args and not args[0].startswith("-")) or any(each in self.commands for each in args)
        if not (named or ctx.resilient_parsing or {"-h", "--help"} & set(args)):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def group(app: typer.Typer, name: str, about: str, *, panel: str) -> typer.Typer:
    """Add a group of commands."""

    def begin(call: Call) -> None:
        """Nothing but the options of everywhere, which may stand before the command too."""

    inner = typer.Typer(name=name, cls=_WithDefault, help=about, epilog=epilog(name))
    inner.callback()(everywhere(begin))
    app.add_typer(inner, rich_help_panel=panel)
    return inner
