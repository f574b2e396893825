"""The regular expressions that are compiled when they are first used: every one of them can be compiled."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import warnings

from afterglow import facts
from afterglow.facts.expressions import _Expression  # pyright: ignore[reportPrivateUsage]


def test_every_expression_of_the_facts_can_be_compiled_without_a_warning() -> None:
    for module in pkgutil.walk_packages(facts.__path__, "afterglow.facts."):
        importlib.import_module(module.name)
    wrong: dict[str, str] = {}
    expressions = [each._given for each in gc.get_objects() if isinstance(each, _Expression)]
    assert len(expressions) > 100
    re.purge()  # no warning comes from a pattern that is known already
    with warnings.catch_warnings(action="error"):
        for pattern, flags in expressions:
            try:
                re.compile(pattern, flags)
            except (re.error, Warning) as error:
                wrong[pattern] = f"{type(error).__name__}: {error}"
    assert not wrong
