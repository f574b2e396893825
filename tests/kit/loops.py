"""Loops inside one test: the same assertions for each of many values, without the cost of a case for each."""

from __future__ import annotations

import functools
import inspect
import itertools
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_SHOWN_CHARS = 120
_TRACEBACKS_MAX = 20


def for_each(names: str, values: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test with each of the values, as `pytest.mark.parametrize` does, but as one case.

    A round that fails does not end the loop: the test fails at its end and names every such round by its values. All rounds
    share the fixtures of the test. Several of these decorators, one above the other, try all combinations.
    """
    wanted = [name.strip() for name in names.split(",")]
    rounds = [dict(zip(wanted, value if len(wanted) > 1 else [value], strict=True)) for value in values]
    assert rounds, f"there is no value for {names}"

    def looped(test: Callable[..., Any]) -> Callable[..., Any]:
        loops = [rounds, *getattr(test, "loops", [])]
        body = getattr(test, "body", test)

        def run(**fixtures: Any) -> None:
            __tracebackhide__ = True
            failures = _Failures()
            for values in _combined(loops):
                with failures.note(values):
                    body(**fixtures, **values)
            failures.raise_if_any()

        async def run_async(**fixtures: Any) -> None:
            __tracebackhide__ = True
            failures = _Failures()
            for values in _combined(loops):
                with failures.note(values):
                    await body(**fixtures, **values)
            failures.raise_if_any()

        made: Any = functools.wraps(test)(run_async if inspect.iscoroutinefunction(body) else run)
        made.loops, made.body = loops, body
        signature = inspect.signature(test)
        assert set(wanted) <= set(signature.parameters), f"{test.__name__} does not take {names}"
        fixtures = [each for each in signature.parameters.values() if each.name not in wanted]
        made.__signature__ = signature.replace(parameters=fixtures)
        return made

    return looped


def _combined(loops: list[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for one in itertools.product(*loops):
        yield {name: value for values in one for name, value in values.items()}


class _Failures:
    """The rounds of one test that failed."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._rounds = 0

    @contextmanager
    def note(self, values: dict[str, Any]) -> Generator[None]:
        self._rounds += 1
        try:
            yield
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            if isinstance(error, pytest.fail.Exception) and str(error).startswith("Timeout"):
                raise  # pytest-timeout raises it once: the rounds that are left would run without a limit
            told = ", ".join(f"{name} = {_short(each)}" for name, each in values.items()) + "\n"
            if len(self._told) < _TRACEBACKS_MAX:
                assert error.__traceback__ is not None
                from_the_test_on = error.__traceback__.tb_next.tb_next if error.__traceback__.tb_next else None
                told += "".join(traceback.format_exception(type(error), error, from_the_test_on))
            self._told.append(told)

    def raise_if_any(self) -> None:
        __tracebackhide__ = True
        if self._told:
            raise AssertionError(f"{len(self._told)} of {self._rounds} rounds failed\n\n" + "\n".join(self._told))


def _short(value: Any) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}… ({len(shown):,} characters)"
