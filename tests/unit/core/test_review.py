"""A review puts log and catalogue together, and says what is not there."""

from dataclasses import replace

import pytest

from interlock.core.journal import AuditRecord, EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.review import Frame, Review, review
from interlock.core.review_rules import DEFAULTS
from interlock.core.review_tool import Published, Version
from interlock.core.tool import spec_to_json
from tests.unit.core.compatibility_cases import spec
from tests.unit.core.review_cases import DAY_US, call, invented, refused, settled, tallied


def of(*records: AuditRecord, names: tuple[str, ...] = ("find", "save")) -> Review:
    catalogue = {
        name: Published(
            replace(spec(), name=name, description=f"It will {name}."), (Version("1", Lifecycle.AVAILABLE, name),)
        )
        for name in names
    }
    return review(tallied(records), catalogue, Frame("acme", 10 * DAY_US, None, DEFAULTS))


@pytest.mark.requirement("REG-11")
def test_a_tool_that_nobody_called_stands_in_the_review_and_so_does_one_that_is_gone() -> None:
    found = {each.name: each for each in of(settled("gone")).tools}
    assert list(found) == ["find", "gone", "save"]
    assert found["save"].numbers.last_used_us is None
    assert found["gone"].state is None


@pytest.mark.requirement("REG-11")
def test_a_name_that_no_tool_has_is_told_with_those_that_are_near() -> None:
    (wanted,) = of(invented("fnd"), invented("fnd")).coverage.invented
    assert (wanted.text, wanted.times, wanted.nearest) == ("fnd", 2, ("find",))


@pytest.mark.requirement("REG-11")
def test_a_name_that_a_tool_has_by_now_is_not_told_as_one_that_none_has() -> None:
    coverage = of(invented("fnd"), invented("find"), invented("find")).coverage
    assert ([each.text for each in coverage.invented], coverage.names) == (["fnd"], 1)


@pytest.mark.requirement("REG-11")
def test_what_policy_refuses_again_and_detours_are_gaps() -> None:
    denied = [refused("PERMISSION_DENIED", "save", run="r", at_us=at) for at in (1, 2)]
    back = [call(EventKind.REPLAYED, name, run="q", at_us=at) for at, name in enumerate(["find", "save"] * 2)]
    coverage = of(*denied, *back).coverage
    assert coverage.denied_again == {"save": 1}
    assert coverage.detours[0].tools == ("find", "save")


@pytest.mark.requirement("REG-11")
def test_the_whole_adds_up_over_tools_and_over_proposals_of_none() -> None:
    found = of(settled("find"), refused("PERMISSION_DENIED", "save"), invented("fnd"))
    assert found.whole.counts.proposals == 3
    assert sum(each.numbers.counts.proposals for each in found.tools) == 2
    assert isinstance(spec_to_json(found), dict)
