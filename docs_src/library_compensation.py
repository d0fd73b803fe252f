"""Undo what a task has done: the last effect first, each once, and what cannot be undone is said before."""

import asyncio

from interlock import CompensationPlan, CompensationState, Deny, Gate, PolicySource, Principal, Status, ToolCall, tool

ORDERS: dict[str, str] = {}


@tool(effect="write", key=["order_id"])
async def cancel_order(order_id: str, why: str) -> str:
    """Cancel an order."""
    del ORDERS[order_id]
    return why


@tool(
    effect="write",
    key=["article"],
    compensate=cancel_order,
    compensate_arguments={"order_id": "$result.id", "why": "the task was wrong"},
)
async def place_order(article: str) -> dict[str, str]:
    """Place an order."""
    order = {"id": f"o{len(ORDERS) + 1}"}
    ORDERS[order["id"]] = article
    return order


@tool(effect="write", key=["to"])
async def send_letter(to: str) -> str:
    """Send a letter, which nothing takes back."""
    return to


POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')
alice = Principal("acme", "alice")


def begun(plan: CompensationPlan | Deny) -> CompensationPlan:
    """The plan; a refusal says why there is none."""
    assert not isinstance(plan, Deny), plan.message
    return plan


async def main() -> None:
    """Furnish, think better of it, and undo it."""
    async with Gate.open(tools=[cancel_order, place_order, send_letter], policies=[POLICY]) as gate:
        for number, (name, arguments) in enumerate(
            [
                ("place_order", {"article": "chair"}),
                ("send_letter", {"to": "bob"}),
                ("place_order", {"article": "lamp"}),
            ]
        ):
            await gate.call(ToolCall(f"c{number}", name, arguments), principal=alice, task="furnish")

        outline = begun(await gate.compensations.outline(by=alice, task="furnish"))
        print([step.says for step in outline.irreversible])  # what cannot be undone is said before anything is

        plan = begun(await gate.compensations.start(by=alice, task="furnish", reason="the wrong flat"))
        # or WAITING for an approval, or FAILED: see plan.steps[plan.at]
        assert plan.state is CompensationState.COMPENSATED
        assert [step.state.value for step in plan.steps] == ["compensated", "irreversible", "compensated"]
        assert ORDERS == {}

        again = ToolCall("c9", "place_order", {"article": "lamp"})
        told = await gate.call(again, principal=alice, task="furnish")
        assert told.status is Status.COMPENSATED  # the same task is told that it was undone, and nothing runs


if __name__ == "__main__":
    asyncio.run(main())
