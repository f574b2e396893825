"""The loop inside a test: every round runs, and every round that fails is told."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.kit.loops import for_each


def test_every_combination_is_tried_and_every_failure_is_told_with_its_values() -> None:
    tried: list[tuple[str, int, int]] = []

    @for_each("letter", "ab")
    @for_each("number, double", [(1, 2), (2, 5), (3, 7)])
    def test(fixture: str, letter: str, number: int, double: int) -> None:
        tried.append((letter, number, double))
        assert fixture == "given"
        assert double == 2 * number, "no double"

    assert list(inspect.signature(test).parameters) == ["fixture"]
    with pytest.raises(AssertionError, match=r"^4 of 6 rounds failed") as told:
        test(fixture="given")
    assert tried == [(letter, number, double) for letter in "ab" for number, double in ((1, 2), (2, 5), (3, 7))]
    for round in ("'a', number = 2, double = 5", "'a', number = 3", "'b', number = 2", "'b', number = 3, double = 7"):
        assert f"letter = {round}" in str(told.value)
    assert str(told.value).count("AssertionError: no double") == 4 and "number = 1" not in str(told.value)


async def test_a_round_that_raises_nothing_where_it_should_or_skips_fails_too() -> None:
    @for_each("raises", [True, False])
    async def test(raises: bool) -> None:
        with pytest.raises(ValueError, match="wanted"):
            if raises:
                raise ValueError("wanted")

    @for_each("skips", [True, False])
    def other(skips: bool) -> None:
        if skips:
            pytest.skip("not here")

    with pytest.raises(AssertionError, match=r"^1 of 2 rounds failed\n\nraises = False\n"):
        await test()
    with pytest.raises(AssertionError, match=r"^1 of 2 rounds failed\n\nskips = True\n"):
        other()


@for_each("name", ["one", "two"])
@pytest.mark.parametrize("folder", ["a", "b"])
def test_fixtures_and_cases_are_those_of_the_test(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).touch(exist_ok=False)
    assert [each.name for each in tmp_path.iterdir()] == [folder]
