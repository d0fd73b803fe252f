"""Budgets, and the calls that a model proposed together."""

import asyncio

from interlock import (
    Caller,
    Code,
    Gate,
    Limit,
    Limits,
    PolicySource,
    Principal,
    PrincipalKind,
    ScopeKind,
    Settings,
    Status,
    ToolCall,
    Unit,
    tool,
)

SAVED: list[str] = []


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return word.upper()


@tool(effect="write", key=["note"])
async def save_note(note: str) -> str:
    """Save a note."""
    SAVED.append(note)
    return note


POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')
LIMITS = Limits(
    (
        Limit(ScopeKind.RUN, Unit.CALLS, 5),  # five calls in one run
        Limit(ScopeKind.RUN_TOOL, Unit.CALLS, 2),  # of one tool at most two
        Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 1_000, window_s=60),  # a thousand a minute by one principal
    )
)
TOGETHER = [
    Limit(ScopeKind.VENDOR, Unit.CALLS, 600, window_s=60, shared=True),  # the vendor's quota, for all tenants at once
    Limit(ScopeKind.TOOL, Unit.CONCURRENT, 3, shared=True),  # what stands behind a tool takes three calls at a time
]
bot = Principal("acme", "bot", PrincipalKind.AGENT, acting_for="alice")


async def main() -> None:
    """A turn of three calls, then one too many."""
    async with Gate.open(
        tools=[look_up, save_note], policies=[POLICY], settings=Settings(limits=Limits((*LIMITS.limits, *TOGETHER)))
    ) as gate:
        turn = [
            ToolCall("c1", "look_up", {"word": "once"}),
            ToolCall("c2", "look_up", {"word": "only"}),
            ToolCall("c3", "save_note", {"note": "once only"}),
        ]
        seen = await gate.call_many(turn, principal=bot, run="run-1")  # one observation each, in order
        assert [each.status for each in seen] == [Status.OK, Status.OK, Status.OK]

        over = await gate.call(ToolCall("c4", "look_up", {"word": "more"}), principal=bot, run="run-1")
        assert over.error is not None
        assert over.error.code is Code.BUDGET_EXHAUSTED
        print(over.error.message, over.hint)

        caller = Caller(bot, run="run-2", turn=3, deadline_ms=2_000)  # whatever else is known of who proposes
        assert (await gate.propose(ToolCall("c5", "look_up", {"word": "more"}), caller)).status is Status.OK

        for scope, usage in await gate.usage("acme"):
            print(scope.kind, scope.id, usage.used.calls)
    assert SAVED == ["once only"]


if __name__ == "__main__":
    asyncio.run(main())
