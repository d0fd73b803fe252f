"""Pages of tools: together they are the whole list, each of them what the caller may see, and none looks at all."""

from dataclasses import replace
from itertools import pairwise

import pytest

from interlock import Caller, Gate, PolicySource, SettingsInvalid, tool
from interlock.core import view
from interlock.core.view import ToolPage
from interlock.runtime.health import HealthState
from tests.gates import ALICE, ALL, AnyTool, Shelf, opened
from tests.walk.test_stand_ins import tools


def named(name: str) -> AnyTool:
    @tool(effect="read", name=name)
    async def act(query: str) -> str:
        """Look something up."""
        return query

    return act


NAMES = [f"tool_{letter}" for letter in "abcdefghij"]
HIDES = ALL + "".join(
    f'@id("{name}") forbid (principal, action == Action::"{name}", resource);' for name in NAMES[1:-1]
)


def pages(gate: Gate, limit: int, caller: Caller | None = None) -> list[ToolPage]:
    caller, after, found = caller or Caller(ALICE), "", list[ToolPage]()
    while not found or found[-1].after is not None:
        found.append(gate.catalogue.page(caller, after=found[-1].after or "" if found else after, limit=limit))
    return found


def names(found: list[ToolPage]) -> list[str]:
    return [each.spec.name for page in found for each in page.tools]


@pytest.mark.requirement("SCALE-3")
@pytest.mark.parametrize("limit", [1, 3, 10, 11, 500])
async def test_all_pages_together_are_what_is_listed_at_once(limit: int) -> None:
    async with opened(":memory:", [named(each) for each in reversed(NAMES)]) as gate:
        found = pages(gate, limit)
        assert names(found) == NAMES == [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))]
        assert all(len(each.tools) <= limit for each in found)
        assert all(one.tools[-1].spec.name < other.tools[0].spec.name for one, other in pairwise(found) if other.tools)


@pytest.mark.requirement("SCALE-3")
async def test_what_policy_hides_is_on_no_page_and_makes_a_page_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "LOOKED_MAX", 4)
    async with opened(":memory:", [named(each) for each in NAMES], HIDES) as gate:
        found = pages(gate, 10)
        assert names(found) == [NAMES[0], NAMES[-1]]
        assert [len(each.tools) for each in found] == [1, 0, 1]


async def test_a_tool_that_comes_meanwhile_stands_at_its_place() -> None:
    async with opened(":memory:", [named(each) for each in NAMES]) as gate:
        first = gate.catalogue.page(Caller(ALICE), limit=2)
        await gate.catalogue.register([named("tool_ab").spec(), named("tool_bb").spec()], by=gate._host)
        second = gate.catalogue.page(Caller(ALICE), after=first.after or "", limit=2)
        assert names([first, second]) == ["tool_a", "tool_b", "tool_bb", "tool_c"]


async def test_a_standby_tool_is_listed_while_what_it_stands_in_for_does_not_work() -> None:
    async with opened(":memory:", [*tools(), named("a_tool"), named("z_tool")]) as gate:
        listed = [names(pages(gate, 1))]
        gate.health.set("*", "rate", state=HealthState.MAINTENANCE)
        listed.append(names(pages(gate, 1)))
        assert listed == [["a_tool", "rate", "z_tool"], ["a_tool", "slow_rate", "z_tool"]]


async def test_a_page_of_another_tenant_has_its_own_tools() -> None:
    async with opened(":memory:", Shelf().tools, [PolicySource("all", ALL)]) as gate:
        caller = Caller(replace(ALICE, tenant="globex"))
        assert names([gate.catalogue.page(caller)]) == ["save", "search"]


@pytest.mark.parametrize("limit", [0, -1, 501])
async def test_a_page_has_a_size_that_can_be_meant(limit: int) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(SettingsInvalid, match="1 to 500"):
            gate.catalogue.page(Caller(ALICE), limit=limit)
