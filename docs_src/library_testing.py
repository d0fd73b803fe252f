"""How a program tests its own tools and policies: a whole gate in memory, with a clock, people and secrets to hand."""

import asyncio

from interlock import Code, Context, Gate, Host, PolicySource, Principal, Status, ToolCall, tool
from interlock.testing.fakes import FakeClock, FakeFacts, FakePrincipals, FakeSecrets, SeededEntropy

SENT: list[str] = []


@tool(effect="write", key=["to"], secrets=["token"], facts=["office_is_open"])
async def send_fax(to: str, context: Context) -> str:
    """Send a fax."""
    SENT.append(f"{context.secrets['token']} {to}")
    return to


POLICY = PolicySource(
    "fax",
    """
    @id("fax") @approval("clerk") @lifetime("1h") permit(principal in Group::"sales", action, resource);
    @id("closed") forbid(principal, action == Action::"send_fax", resource) unless { context.facts.office_is_open };
    """,
)
alice = Principal("acme", "alice", groups=frozenset({"sales"}))
clara = Principal("acme", "clara", groups=frozenset({"clerk"}))


async def main() -> None:
    """What may go wrong between a question and its answer."""
    clock, people = FakeClock(), FakePrincipals()
    facts, secrets = FakeFacts({"office_is_open": True}), FakeSecrets({"token": "fax-token-1"})
    host = Host(
        clock=clock,
        entropy=SeededEntropy("docs"),
        principals=people,
        facts=facts,
        fact_names=frozenset({"office_is_open"}),
        secrets=secrets,
    )
    async with Gate.open(tools=[send_fax], policies=[POLICY], host=host) as gate:

        async def ask(number: int) -> str:
            call = ToolCall(f"c{number}", "send_fax", {"to": f"+49 {number}"})
            seen = await gate.call(call, principal=alice, run=f"run-{number}")
            assert seen.status is Status.WAITING
            return seen.approval_id or ""

        async def ends(approval_id: str) -> Code | Status:
            seen = await gate.approvals.resume(approval_id, by=clara)
            return seen.status if seen.error is None else seen.error.code

        granted, late, gone = await ask(1), await ask(2), await ask(3)
        for each in (granted, late, gone):
            await gate.approvals.approve(each, by=clara)

        assert await ends(granted) is Status.OK
        assert (SENT, secrets.asked) == (["fax-token-1 +49 1"], [("token", "alice")])

        people.today["alice"] = None  # she has left since
        assert await ends(gone) is Code.PERMISSION_DENIED
        people.today.clear()

        clock.advance(3_601)  # nobody waits an hour for this test
        assert await ends(late) is Code.APPROVAL_EXPIRED

        facts.values["office_is_open"] = False
        closed = await gate.call(ToolCall("c4", "send_fax", {"to": "+49 4"}), principal=alice, run="run-4")
        assert closed.error is not None
        assert closed.error.code is Code.PERMISSION_DENIED


if __name__ == "__main__":
    asyncio.run(main())
