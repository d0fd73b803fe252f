"""Calls about several items, and tools that may do instead of one that does not work."""

import asyncio

from interlock import Caller, Context, Gate, Item, ItemState, PolicySource, Principal, Result, Status, ToolCall, tool
from interlock.runtime.health import HealthState

FULL = {"carol@example.com"}
SENT: list[str] = []


@tool(effect="write", owner="eng", key=["subject"], resumes=True)
async def send_mail(subject: str, to: list[str], context: Context) -> Result:
    """Send a mail to several people."""
    wanted = context.open_items or to  # all that is left to do of a call that was done in part
    delivered = [each for each in wanted if each not in FULL]
    SENT.extend(delivered)
    return Result(
        subject,
        items=tuple(
            Item(each, ItemState.DONE, "delivered") if each in delivered else Item(each, ItemState.OPEN, "mailbox full")
            for each in wanted
        ),
    )


@tool(effect="read", owner="eng", standby=True)
async def rate_from_file(currency: str) -> float:
    """Read yesterday's rate from a file."""
    return 1.2


@tool(effect="read", owner="eng", fallback=rate_from_file)
async def rate(currency: str) -> float:
    """Read today's rate."""
    return 1.25


POLICY = PolicySource("eng", '@id("eng") permit(principal in Group::"eng", action, resource);')
alice = Principal("default", "alice", groups=frozenset({"eng"}))


async def main() -> None:
    """Send in part, then the rest; then do without a tool that is being repaired."""
    async with Gate.open(tools=[send_mail, rate, rate_from_file], policies=[POLICY]) as gate:
        call = ToolCall("c1", "send_mail", {"subject": "news", "to": ["bob@example.com", "carol@example.com"]})
        seen = await gate.call(call, principal=alice, task="t1")
        assert (seen.status, seen.open_items) == (Status.PARTIAL, ("carol@example.com",))
        FULL.clear()
        seen = await gate.call(call, principal=alice, task="t1")  # the same call: only what is open is done
        assert seen.status is Status.OK
        assert SENT == ["bob@example.com", "carol@example.com"]
        print([(each.name, each.state, each.says) for each in seen.items])

        gate.health.set("*", "rate", state=HealthState.MAINTENANCE)
        print([each.spec.name for each in gate.catalogue.visible(Caller(alice))])  # rate_from_file stands in
        seen = await gate.call(ToolCall("c2", "rate", {"currency": "EUR"}), principal=alice)
        assert seen.error is not None
        print(seen.error.message)


if __name__ == "__main__":
    asyncio.run(main())
