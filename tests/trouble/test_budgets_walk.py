"""Budgets that counted something else than they said, replayed against a whole gate."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Cost, Limit, Result, ScopeKind, ToolCall, Unit, tool
from tests.gates import ALICE, AnyTool, Shelf, code, opened, search, used

TroubleCase = Callable[[str], Mapping[str, Any]]


@pytest.mark.trouble
@pytest.mark.requirement("BUD-1")
async def test_a_limit_of_n_turns_lets_n_calls_run(trouble_case: TroubleCase, gate_path: str) -> None:
    """BUD-01: each layer divided the limit that the operator had set."""
    most = trouble_case("BUD-01")["input"]["max_turns"]
    async with opened(gate_path, Shelf().tools, limits=[Limit(ScopeKind.RUN, Unit.CALLS, most)]) as gate:
        ends = [code(await gate.call(search(), principal=ALICE, run="r")) for _ in range(most + 2)]
    assert ends == ["ok"] * most + ["BUDGET_EXHAUSTED"] * 2


@pytest.mark.trouble
@pytest.mark.requirement("BUD-2")
async def test_parallel_children_start_only_as_the_rest_pays_for_them(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """BUD-03: five siblings all read the same stale sum, and all started."""
    case = trouble_case("BUD-03")["input"]
    limit, spent, each = [round(case[name] * 1e6) for name in ("limit_usd", "spent", "each_cost")]
    started: list[int] = []

    def child(name: str, cost: int) -> AnyTool:
        @tool(effect="read", name=name, cost=Cost(cost))
        async def handler() -> Result:
            """Spend."""
            started.append(cost)
            return Result(cost, cost_micros=cost)

        return handler

    budget = Limit(ScopeKind.RUN, Unit.COST_MICROS, limit)
    async with opened(gate_path, [child("first", spent - each), child("child", each)], limits=[budget]) as gate:
        await gate.call(ToolCall("c0", "first", ""), principal=ALICE, run="r")
        calls = [ToolCall(f"c{index}", "child", "") for index in range(case["parallel_children"])]
        seen = await gate.call_many(calls, principal=ALICE, run="r")
        assert sorted(code(each) for each in seen) == ["BUDGET_EXHAUSTED"] * 4 + ["ok"]
        assert await used(gate, "cost_micros") <= limit


@pytest.mark.trouble
@pytest.mark.requirement("BUD-3")
async def test_a_cap_trips_though_nobody_reports_what_it_cost(trouble_case: TroubleCase) -> None:
    """BUD-05: usage that was not reported was booked as zero, and the cap never tripped."""
    usage = trouble_case("BUD-05")["input"]["stream"][1]["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]

    @tool(effect="read", cost=Cost(100))
    async def silent(say: bool) -> Result:
        """Say what it took, or nothing; never what it cost."""
        return Result("x", tokens=tokens if say else None)

    async with opened(":memory:", [silent], limits=[Limit(ScopeKind.RUN, Unit.COST_MICROS, 300)]) as gate:
        calls = [ToolCall("c", "silent", {"say": index % 2 == 0}) for index in range(5)]
        ends = [code(await gate.call(call, principal=ALICE, run="r")) for call in calls]
        assert ends == ["ok"] * 3 + ["BUDGET_EXHAUSTED"] * 2
        assert await used(gate, "tokens") == 2 * tokens
