"""What rests on a version, counted whole and named in part."""

from dataclasses import replace

import pytest

from interlock.core.references import SHOWN_MAX, References, resting_on
from tests.unit.core.call_cases import spec

pytestmark = pytest.mark.requirement("REG-7")


def test_tools_that_name_another_are_told_with_what_for() -> None:
    undo = replace(spec("undo"), version="2")
    specs = [
        replace(spec("save"), compensate="undo"),
        replace(spec("find"), fallback="undo", depends_on=("undo", "login")),
        undo,
    ]
    assert resting_on("undo", specs) == ("find 1: depends on", "find 1: fallback", "save 1: compensate")
    assert resting_on("nothing", specs) == ()


def test_all_are_counted_and_as_many_named_as_can_be_read() -> None:
    many = References(runs=tuple(map(str, range(SHOWN_MAX + 1))), runs_looked=True)
    told = many.told["runs"]
    assert isinstance(told, dict)
    assert isinstance(told["named"], list)
    assert (told["count"], len(told["named"])) == (SHOWN_MAX + 1, SHOWN_MAX)
    assert not many.is_empty
    assert References().is_empty


def test_what_was_not_looked_at_is_not_told_as_none() -> None:
    assert "not looked at" in str(References(runs_looked=False).told["runs"])
