"""Options of a run are named where they are none, missing or of another kind, and limits where no tool has them."""

from typing import Any

import pytest

from interlock.core.call import Principal
from interlock.core.errors import SettingsInvalid
from interlock.loop.begin import RunOptions
from interlock.loop.entries import Bound
from interlock.loop.limits import RunLimits
from interlock.loop.options import KINDS, REQUIRED, check_limited, check_options

KNOWN = tuple(RunOptions.__annotations__)
GOOD: dict[str, Any] = {"model": "m", "task": "Do it.", "principal": Principal("acme", "alice")}
SEARCH = Bound("search", "1", "digest")


def test_what_is_looked_at_are_options_that_there_are() -> None:
    assert {*REQUIRED, *KINDS} <= set(KNOWN)
    check_options(GOOD, KNOWN)
    check_options({**GOOD, "limits": None, "check": None, "tools": None, "agents": ()}, KNOWN)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"principle": 1}, r"no option 'principle' \(do you mean 'principal'\?\)"),
        ({"zzz": 1}, "no option 'zzz'; there are model, task"),
        ({"agents": 5}, "agents is a collection of Agent"),
    ],
)
def test_what_is_none_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        check_options({**GOOD, **changes}, KNOWN)


def test_a_limit_on_a_tool_is_on_one_that_the_run_has() -> None:
    check_limited(RunLimits(calls_per_tool={"search": 1}), [SEARCH])
    with pytest.raises(SettingsInvalid, match="'save', which is no tool of this run: look how"):
        check_limited(RunLimits(calls_per_tool={"save": 1}), [SEARCH])
