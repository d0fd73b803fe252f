"""A search goes over what a caller may see and nothing else; a choice says of each tool why it is as it is."""

from collections.abc import Sequence

import pytest

from interlock import Caller, Gate, Host, PolicySource, Principal, tool
from interlock.core.agents import AgentTools, ToolUse
from interlock.core.call import Origin
from interlock.core.catalogue import Lifecycle, Tool
from interlock.core.choice import ToolChoice, Withheld
from interlock.core.policy_judge import Judge
from interlock.core.tool import SHARED
from interlock.declare.find_tools import find_tools
from interlock.ports import Ranked
from interlock.runtime.finding import CALLERS_MAX, FOUND_MAX
from interlock.runtime.health import HealthState
from tests.gates import ALICE, AUDITOR, BOB, OPERATOR, AnyTool, opened

pytestmark = pytest.mark.requirement("REG-10")

NOT_FOR_BOB = """
@id("all") permit (principal, action, resource);
@id("b") forbid (principal == User::"bob", action == Action::"payroll", resource);
"""


def made(name: str, words: str) -> AnyTool:
    @tool(effect="read", owner="eng", name=name, description=words)
    async def handler(query: str) -> str:
        return query

    return handler


class Nobody:
    """Who knows no tools of runs."""

    async def find(self, query: str, *, run_id: str, by: Principal, most: int) -> None:
        return None


TOOLS = (
    made("payroll", "Tells what people earn."),
    made("invoices", "Lists invoices that people have to pay."),
    made("weather", "Tells rain."),
    find_tools(Nobody(), owner="eng"),
)


async def names(gate: Gate, query: str, by: Principal = ALICE) -> list[str]:
    return [each.tool for each in await gate.catalogue.search(query, Caller(by))]


async def chosen(gate: Gate, task: str, by: Principal | None = None, **more: object) -> dict[str, ToolChoice]:
    found = await gate.catalogue.explain_choice(Caller(BOB), task, by=by, **more)  # type: ignore[arg-type]
    return {each.tool: each for each in found}


async def test_a_search_gives_only_what_policy_lets_the_caller_call() -> None:
    async with opened(":memory:", TOOLS, NOT_FOR_BOB) as gate:
        assert {*await names(gate, "what people earn and pay")} == {"payroll", "invoices"}
        assert await names(gate, "what people earn and pay", BOB) == ["invoices"]
        assert await names(gate, "payroll", BOB) == []


async def test_a_change_of_policy_holds_for_the_next_search() -> None:
    async with opened(":memory:", TOOLS) as gate:
        assert await names(gate, "payroll", BOB) == ["payroll"]
        await gate.policies.save([PolicySource("test", NOT_FOR_BOB)], by=gate._host)
        assert await names(gate, "payroll", BOB) == []


async def test_what_is_frozen_or_does_not_work_is_not_found() -> None:
    async with opened(":memory:", TOOLS) as gate:
        await gate.catalogue.move("payroll", Lifecycle.FROZEN, by=gate._host, reason="stop")
        gate.health.set(SHARED, "weather", state=HealthState.MAINTENANCE)
        assert await names(gate, "what people earn") == ["invoices"]
        assert await names(gate, "rain") == []
        gate.health.set(SHARED, "weather", state=HealthState.HEALTHY)
        assert await names(gate, "rain") == ["weather"]


async def test_a_search_gives_no_more_than_is_asked_for() -> None:
    async with opened(":memory:", TOOLS) as gate:
        assert len(await gate.catalogue.search("people", Caller(ALICE), limit=1)) == 1
        assert await gate.catalogue.search("people", Caller(ALICE), limit=0) == ()
        assert len(await gate.catalogue.search("people", Caller(ALICE), limit=10**9)) == 2


async def test_each_tool_is_explained_by_the_first_thing_that_keeps_it_back() -> None:
    async with opened(":memory:", (*TOOLS, made("old", "Old."), made("ill", "Ill.")), NOT_FOR_BOB) as gate:
        await gate.catalogue.move("old", Lifecycle.FROZEN, by=gate._host, reason="stop")
        gate.health.set(SHARED, "ill", state=HealthState.MAINTENANCE)
        found = await chosen(gate, "people pay", OPERATOR, tools_max=1, tools=["weather", "invoices", "old", "ill"])
        assert {name: each.withheld for name, each in found.items()} == {
            "payroll": Withheld.POLICY,
            "old": Withheld.LIFECYCLE,
            "ill": Withheld.HEALTH,
            "find_tools": None,
            "weather": None,
            "invoices": Withheld.LIMIT,
        }
        assert (await chosen(gate, "people pay", OPERATOR, tools=["weather"]))["invoices"].withheld is Withheld.AGENT
        assert all(each.why.endswith(".") for each in found.values())


async def test_a_choice_says_which_place_a_tool_has_and_what_its_score_is_made_of() -> None:
    async with opened(":memory:", TOOLS) as gate:
        found = await chosen(gate, "list the invoices that people pay", tools_max=1)
    assert (found["invoices"].rank, found["invoices"].withheld) == (1, None)
    assert (found["payroll"].rank, found["payroll"].withheld) == (2, Withheld.LIMIT)
    assert (found["weather"].rank, found["weather"].score) == (None, 0.0)
    assert sum(found["invoices"].parts.values()) == pytest.approx(found["invoices"].score)


@pytest.mark.parametrize("by", [None, ALICE, Principal("other", "eve", groups=frozenset({"operator"}))])
async def test_who_does_not_read_the_log_hears_of_no_tool_that_the_caller_may_not_see(by: Principal | None) -> None:
    async with opened(":memory:", TOOLS, NOT_FOR_BOB) as gate:
        assert "payroll" not in await chosen(gate, "people earn", by)
        assert "payroll" in await chosen(gate, "people earn", AUDITOR)


async def test_without_a_tool_to_search_with_all_are_offered() -> None:
    async with opened(":memory:", TOOLS[:3]) as gate:
        assert {each.withheld for each in (await chosen(gate, "rain", tools_max=1)).values()} == {None}


class Backwards:
    """A host's own ranker: the last comes first."""

    wanted = 0

    async def rank(self, query: str, among: Sequence[Tool], *, most: int) -> tuple[Ranked, ...]:
        self.wanted = most
        return tuple(Ranked(each.digest, 1.0) for each in among[::-1])[:most]


async def test_a_host_may_bring_a_ranker_of_its_own() -> None:
    ranker = Backwards()
    async with opened(":memory:", TOOLS, host=Host(ranker=ranker)) as gate:
        assert await names(gate, "") == ["weather", "payroll", "invoices", "find_tools"]
        await gate.catalogue.search("", Caller(ALICE), limit=10**9)
        assert ranker.wanted == FOUND_MAX


async def test_what_a_published_agent_does_not_list_is_kept_back_by_the_agent() -> None:
    async with opened(":memory:", TOOLS, NOT_FOR_BOB) as gate:
        await gate.agents.save(AgentTools("clerk", "acme", (ToolUse("invoices"),)), by=OPERATOR, reason="for the test")
        clerk = Caller(BOB, origin=Origin(agent="clerk"))
        found = await gate.catalogue.explain_choice(clerk, "what people pay", by=OPERATOR)
        assert {each.tool: each.withheld for each in found} == {
            "invoices": None,
            "weather": Withheld.AGENT,
            "find_tools": Withheld.AGENT,
            "payroll": Withheld.POLICY,
        }
        assert [each.tool for each in await gate.catalogue.search("people rain tools", clerk)] == ["invoices"]


async def test_each_of_several_callers_finds_what_is_theirs_whoever_asked_before() -> None:
    async with opened(":memory:", TOOLS, NOT_FOR_BOB) as gate:
        finding = gate.catalogue._declaring._finding
        alice, bob = Caller(ALICE), Caller(BOB)
        both = [finding.usable(each) for each in (alice, bob, alice, bob)]
        assert both[0] is both[2] is not both[1]
        assert "payroll" not in [each.spec.name for each in both[1]]
        assert finding.usable(Caller(ALICE, run="r", task="t")) is both[0]
        agent = Caller(BOB, origin=Origin(agent="helper"))
        assert finding.usable(agent) == both[1]
        for number in range(CALLERS_MAX):
            finding.usable(Caller(Principal("acme", f"p{number}")))
        assert [each.spec.name for each in finding.usable(bob)] == [each.spec.name for each in both[1]]
        pinned = alice.pinned(gate.catalogue.get("weather").digest)
        assert finding.usable(pinned) is not finding.usable(alice)


@pytest.mark.requirement("SCALE-3")
async def test_of_tools_that_policy_judges_alike_it_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    sees = Judge.visibility
    monkeypatch.setattr(Judge, "visibility", lambda judge, request: asked.append("") or sees(judge, request))
    async with opened(":memory:", [made(f"tool_{number}", "Does it.") for number in range(30)]) as gate:
        asked.clear()
        assert len(gate.catalogue.visible(Caller(ALICE))) == 30
        assert len(asked) == 1
        assert len(gate.catalogue.page(Caller(BOB), limit=20).tools) == 20
        assert len(asked) == 2
