"""Every removal still applies to the code, so that `make mutants` has something to try."""

from __future__ import annotations

from tests.kit.loops import for_each
from tests.mutants.reach import SOURCE
from tests.mutants.removals import REMOVALS, Removal


@for_each("removal", REMOVALS)
def test_each_removal_finds_the_line_that_it_takes_out(removal: Removal) -> None:
    assert removal.problem(SOURCE) == ""
