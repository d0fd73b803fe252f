"""What is proposed follows from numbers and thresholds, with the command that would do it."""

import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.lifecycle import Lifecycle
from interlock.core.review_counts import Counts, Numbers, bucket
from interlock.core.review_likeness import Likeness
from interlock.core.review_proposals import Kind, Known, command, proposals
from interlock.core.review_rules import DEFAULTS, ReviewRules
from interlock.core.review_runs import Signs
from interlock.core.review_tool import Logged, Published, ToolReview, Version, reviewed
from tests.unit.core.compatibility_cases import spec
from tests.unit.core.review_cases import DAY_US

NOW = Known(DEFAULTS, 1_000 * DAY_US, 0)


def tool(name: str = "find", counts: Counts | None = None, /, **said: Any) -> ToolReview:
    """A tool that lacks nothing, and of which nothing is known but what is said."""
    state, signs = said.pop("state", Lifecycle.AVAILABLE), said.pop("signs", Signs())
    numbers = Numbers(counts or Counts(), last_used_us=said.pop("last_used_us", NOW.at_us), **said.pop("numbers", {}))
    whole = replace(spec(), name=name, owner="eng", business_owner="sales", **said)
    published = Published(whole, (Version("1", state, "d"),), stale_examples=0)
    return reviewed(name, published, Logged({"1": numbers}, signs, {"1": 0}), at_us=NOW.at_us)


def kinds(*tools: ToolReview, known: Known = NOW, pairs: tuple[Likeness, ...] = ()) -> list[Kind]:
    return [each.kind for each in proposals(tools, pairs, known)]


CASES: dict[Kind, tuple[ToolReview, ToolReview]] = {
    Kind.FREEZE: (
        tool("a", Counts(started=20, failed=10, succeeded=10)),
        tool("a", Counts(started=20, failed=9, succeeded=11)),
    ),
    Kind.RETIRE: (tool(last_used_us=910 * DAY_US), tool(last_used_us=910 * DAY_US + 1)),
    Kind.NARROW: (
        tool("a", Counts(refused=10, started=10), numbers={"refusals": {"PERMISSION_DENIED": 10}}),
        tool("a", Counts(refused=10, started=10), numbers={"refusals": {"PERMISSION_DENIED": 9, "RATE_LIMITED": 1}}),
    ),
    Kind.FIX_DESCRIPTION: (
        tool("a", Counts(started=20), signs=Signs(steps=20, exchanged=4)),
        tool("a", Counts(started=20), signs=Signs(steps=20, exchanged=3)),
    ),
    Kind.ADD_OWNER: (replace(tool(), gaps=("owner",)), tool()),  # type: ignore[arg-type]
    Kind.ADD_EXAMPLES: (replace(tool(), gaps=("stale_examples",)), tool()),  # type: ignore[arg-type]
    Kind.RAISE_TIMEOUT: (
        tool("a", Counts(started=20, failed=1, succeeded=19), numbers={"failures": {"TOOL_TIMEOUT": 1}}),
        tool("a", Counts(started=20, failed=1, succeeded=19), numbers={"failures": {"TOOL_ERROR": 1}}),
    ),
    Kind.LOWER_TIMEOUT: (
        tool("a", Counts(started=20, succeeded=20), numbers={"working": {bucket(100): 20}}, timeout_ms=30_001),
        tool("a", Counts(started=20, succeeded=20), numbers={"working": {bucket(100): 20}}, timeout_ms=30_000),
    ),
}


@pytest.mark.requirement("REG-11")
@pytest.mark.parametrize("kind", CASES)
def test_a_proposal_is_made_at_its_threshold_and_not_below(kind: Kind) -> None:
    at, below = CASES[kind]
    (found,) = proposals([at], (), NOW)
    assert (found.kind, found.tool) == (kind, at.name)
    assert found.reason.endswith(".")
    assert found.command.startswith("interlock ")
    assert ("takes a new version" in found.reason) == (found.command == "interlock tools check")
    assert kinds(below) == []


@pytest.mark.requirement("REG-11")
@pytest.mark.parametrize("state", [Lifecycle.FROZEN, Lifecycle.RETIRED, Lifecycle.CANDIDATE, Lifecycle.QUARANTINED])
def test_nothing_is_proposed_for_a_tool_that_takes_no_calls(state: Lifecycle) -> None:
    assert kinds(tool("a", Counts(started=99, failed=99), state=state)) == []


@pytest.mark.requirement("REG-11")
def test_of_few_calls_a_share_says_nothing() -> None:
    assert kinds(tool("a", Counts(started=19, failed=19))) == []
    assert kinds(tool("a", Counts(started=19, failed=19)), known=replace(NOW, rules=ReviewRules(calls_min=19))) == [
        Kind.FREEZE
    ]


@pytest.mark.requirement("REG-11")
def test_a_tool_is_idle_only_where_the_log_goes_back_so_far() -> None:
    unused = tool(last_used_us=None)
    assert kinds(unused) == [Kind.RETIRE]
    for since_us in (None, NOW.at_us - 89 * DAY_US):
        assert kinds(unused, known=replace(NOW, since_us=since_us)) == []
    assert kinds(replace(unused, published_at_us=None)) == []
    assert kinds(replace(unused, published_at_us=NOW.at_us - 89 * DAY_US)) == []


def pair(instead: str, *, same_effect: bool = True) -> Likeness:
    return Likeness("a", "b", 80, {}, (), same_effect, instead)


@pytest.mark.requirement("REG-11")
def test_of_two_that_are_alike_the_one_gives_way_whose_calls_the_other_takes() -> None:
    busy, idle = Counts(started=9), Counts(started=1)

    def gone(instead: str) -> list[tuple[str, str]]:
        found = proposals([tool("a", busy), tool("b", idle)], (pair(instead),), NOW)
        return [(each.tool, each.other) for each in found]

    assert gone("both") == gone("one") == [("b", "a")]
    mistaken = tool("a", busy, signs=Signs(steps=9, exchanged=9))
    assert [each.tool for each in proposals([mistaken, tool("b", idle)], (pair("both"),), NOW)] == ["a"]
    assert gone("other") == [("a", "b")]
    assert gone("neither") == gone("uncertain") == []
    assert kinds(tool("a"), tool("b"), pairs=(pair("both", same_effect=False),)) == []


@given(st.text(min_size=1))
def test_a_command_says_a_name_to_the_shell_and_nothing_else(name: str) -> None:
    assert shlex.split(command("tools", "retire", "--", name)) == ["interlock", "tools", "retire", "--", name]
