"""The boundary between Afterglow and whoever typed the command: every error ends here, as a sentence and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from afterglow.cli.call import Call
from afterglow.errors import AfterglowError, BadInput, BadSettings

FINE, WRONG, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


class Entrance(TyperGroup):
    """The outermost group: it runs the command inside the boundary."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        _prepare_streams()
        given = list(sys.argv[1:] if args is None else args)
        options = given[: given.index("--")] if "--" in given else given
        call = Call(as_json="--json" in options, debug="--debug" in options)
        inside = super().main
        sys.exit(
            guarded(
                call,
                lambda: inside(
                    args=given,
                    prog_name="afterglow",
                    complete_var=complete_var,
                    standalone_mode=False,
                    windows_expand_args=windows_expand_args,
                    obj=call,
                    **extra,
                ),
            )
        )


def guarded(call: Call, run: Callable[[], Any]) -> int:
    """Run it and give the exit code. Whatever it raises becomes one sentence on stderr."""
    try:
        code = run()
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except AfterglowError as error:
        return _tell(call, type(error).__name__, str(error), _code(error))
    except typer.TyperException as error:
        return _tell(call, "Usage", _usage(error), error.exit_code)
    except BrokenPipeError:
        _let_go_of_stdout()
        return WRONG
    except OSError as error:
        _let_go_of_stdout()
        return _tell(call, "OSError", _told_by_the_system(error), WRONG)
    except Exception as error:  # noqa: BLE001 - this is the boundary
        return _tell(call, "InternalError", _unexpected(call, error), WRONG)
    if code == INTERRUPTED:
        return _tell(call, "Interrupted", "interrupted; what was finished before stays", INTERRUPTED)
    return code if isinstance(code, int) else FINE


def _code(error: AfterglowError) -> int:
    """Whether what was typed is to be mended, or something else: the settings are no part of the command."""
    return WRONG_USAGE if isinstance(error, BadInput) and not isinstance(error, BadSettings) else WRONG


def _tell(call: Call, kind: str, message: str, code: int) -> int:
    from afterglow.cli import screen

    with suppress(BrokenPipeError):
        screen.tell_error(kind, message, as_json=call.as_json)
    return code


def _usage(error: typer.TyperException) -> str:
    context: Any = getattr(error, "ctx", None)
    hint = f"\n`{context.command_path} --help` tells how it is used." if context else ""
    return error.format_message() + hint


def _told_by_the_system(error: OSError) -> str:
    what = error.strerror or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else f"the system refused: {what}"


def _unexpected(call: Call, error: Exception) -> str:
    name = type(error).__name__
    if call.debug:
        import traceback

        from afterglow.cli.screen import visible

        sys.stderr.write(visible("".join(traceback.format_exception(error)), lines=True))
        return f"this is an error of Afterglow's own ({name}), not of yours"
    log = _write_log(call, error)
    details = f"the details are in {log}" if log else "run it again with --debug to see the details"
    return f"this is an error of Afterglow's own ({name}), not of yours; {details}"


def _write_log(call: Call, error: Exception) -> Path | None:
    import logging

    from afterglow.cli import logfile

    try:
        with logfile.written(call.loaded.settings.data_dir) as path:
            logging.getLogger(__name__).error("%s failed", call.context.command_path, exc_info=error)
    except Exception:  # noqa: BLE001 - a log that cannot be written must not hide the error itself
        return None
    return path


def _prepare_streams() -> None:
    """A closed stdout, or a terminal that has no ✓, is no reason to fail."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - it stays open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _let_go_of_stdout() -> None:
    """Nobody reads any more: what is still in the buffer must not fail again when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
