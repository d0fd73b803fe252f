"""A tool that does not work is withheld, and what may do instead is offered and named, to those who may see it."""

import pytest

from interlock import Caller, Gate, Principal, ToolCall, tool
from interlock.runtime.health import HealthState
from tests.gates import ALICE, ALL, BOB, AnyTool, code, opened

pytestmark = [pytest.mark.requirement("EXEC-3")]

NOT_BOB = """
@id("a") permit (principal, action, resource);
@id("b") forbid (principal == User::"bob", action == Action::"slow_rate", resource);
"""


def tools() -> tuple[AnyTool, ...]:
    @tool(effect="read", owner="eng", standby=True)
    async def slow_rate(currency: str) -> float:
        """Read a rate from a file."""
        return 1.5

    @tool(effect="read", owner="eng", fallback=slow_rate)
    async def rate(currency: str) -> float:
        """Read a rate from a service."""
        return 1.25

    return (rate, slow_rate)


def seen_by(gate: Gate, who: Principal) -> list[str]:
    return [each.spec.name for each in gate.catalogue.visible(Caller(who))]


async def ask(gate: Gate, who: Principal) -> tuple[str, str]:
    seen = await gate.call(ToolCall("c", "rate", {"currency": "EUR"}), principal=who)
    return code(seen), "" if seen.error is None else seen.error.message


async def test_what_stands_in_is_offered_and_named_while_the_tool_does_not_work() -> None:
    async with opened(":memory:", tools(), ALL) as gate:
        assert (seen_by(gate, ALICE), await ask(gate, ALICE)) == (["rate"], ("ok", ""))
        gate.health.set("*", "rate", state=HealthState.MAINTENANCE)
        assert seen_by(gate, ALICE) == ["slow_rate"]
        told, says = await ask(gate, ALICE)
        assert (told, "slow_rate may do instead" in says) == ("TOOL_UNAVAILABLE", True)
        gate.health.set("*", "rate", state=HealthState.HEALTHY)
        assert seen_by(gate, ALICE) == ["rate"]


async def test_it_is_not_named_to_who_may_never_call_it_nor_where_it_does_not_work_either() -> None:
    async with opened(":memory:", tools(), NOT_BOB) as gate:
        gate.health.set("*", "rate", state=HealthState.MAINTENANCE)
        assert seen_by(gate, BOB) == []
        assert "slow_rate" not in (await ask(gate, BOB))[1]
        gate.health.set("*", "slow_rate", state=HealthState.MAINTENANCE)
        assert seen_by(gate, ALICE) == []
        assert "slow_rate" not in (await ask(gate, ALICE))[1]
