"""What people decide: two different ones, whoever changes their mind, and what the tool itself demands."""

import asyncio

from interlock import (
    Approval,
    ApprovalFloor,
    ApprovalState,
    Code,
    Deny,
    Gate,
    PolicySource,
    Principal,
    Status,
    ToolCall,
    tool,
)

PAID: list[int] = []


@tool(
    effect="write",
    key=["invoice"],
    resource=("Invoice", "invoice"),
    summary="Pay {amount} EUR for invoice {invoice}",
    approval_floor=ApprovalFloor(frozenset({"treasurer"})),  # policy may ask for more, never for less
)
async def pay(invoice: str, amount: int) -> int:
    """Pay an invoice."""
    PAID.append(amount)
    return amount


POLICY = PolicySource(
    "payments",
    """
    @id("pay") permit(principal, action == Action::"pay", resource);
    @id("large") @approval("treasurer") @quorum("2") @lifetime("8h") @reason("above 10,000 it takes two")
      permit(principal, action == Action::"pay", resource) when { context.args.amount > 10000 };
    """,
)
TREASURERS = frozenset({"treasurer"})
alice = Principal("acme", "alice")
bob, carol = Principal("acme", "bob", groups=TREASURERS), Principal("acme", "carol", groups=TREASURERS)


def granted(decided: Approval | Deny) -> bool:
    """Whether enough have approved. A refusal to count a vote is a value too, and says why."""
    if isinstance(decided, Deny):
        print("not counted:", decided.message)
        return False
    return decided.state is ApprovalState.GRANTED


async def main() -> None:
    """One large payment, one that is declined."""
    async with Gate.open(tools=[pay], policies=[POLICY]) as gate:
        seen = await gate.call(ToolCall("c1", "pay", {"invoice": "i1", "amount": 20_000}), principal=alice, run="run-1")
        assert seen.status is Status.WAITING
        approval_id = seen.approval_id or ""
        for waiting in await gate.approvals.list(by=bob, state=ApprovalState.PENDING):
            print(waiting.id == approval_id, waiting.summary)

        assert not granted(await gate.approvals.approve(approval_id, by=alice))  # no treasurer
        assert not granted(await gate.approvals.approve(approval_id, by=bob, note="seen the contract"))
        assert not granted(await gate.approvals.approve(approval_id, by=bob))  # two means two people
        assert granted(await gate.approvals.approve(approval_id, by=carol))
        paid = await asyncio.gather(*(gate.approvals.resume(approval_id, by=alice) for _ in range(5)))
        assert ({each.status for each in paid}, PAID) == ({Status.OK}, [20_000])  # five resume it, it runs once

        small = await gate.call(ToolCall("c2", "pay", {"invoice": "i2", "amount": 5}), principal=alice, run="run-1")
        await gate.approvals.decline(small.approval_id or "", by=bob, note="paid last week")
        declined = await gate.approvals.resume(small.approval_id or "", by=alice)
        assert declined.error is not None
        assert declined.error.code is Code.APPROVAL_DENIED


if __name__ == "__main__":
    asyncio.run(main())
