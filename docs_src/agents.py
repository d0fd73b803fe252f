"""Give an agent its tools in exact versions, try a newer one on some, and go back by one act."""

import asyncio

from interlock import (
    AgentTools,
    Caller,
    Canary,
    Gate,
    Origin,
    PolicySource,
    Principal,
    Settings,
    ShadowRule,
    ToolCall,
    ToolUse,
    Upgrade,
    tool,
)

OPERATOR = Principal("acme", "olga", groups=frozenset({"operator"}))
ALICE = Principal("acme", "alice")
POLICY = PolicySource("reads", 'permit (principal, action in Action::"read", resource);')


@tool(effect="read", owner="notes", name="find_note", version="1")
async def find_note(title: str) -> str:
    """Find a note by its title."""
    return f"found {title}"


@tool(effect="read", owner="notes", name="find_note", version="2")
async def find_note_anywhere(title: str) -> str:
    """Find a note by its title, in archives too."""
    return f"found {title}"


async def main() -> None:
    tools = [find_note, find_note_anywhere]
    async with Gate.open(tools=tools, policies=[POLICY], settings=Settings(tenant="acme")) as gate:
        agent = AgentTools("clerk", "acme", (ToolUse("find_note", "1"),), owner="notes")
        await gate.agents.save(agent, by=OPERATOR, reason="what it was tested with")

        # Whoever calls as this agent means version 1 by the name; a model never sees a version.
        clerk = Caller(ALICE, origin=Origin(agent="clerk"))
        seen = await gate.propose(ToolCall("1", "find_note", {"title": "plan"}), clerk)
        assert seen.version == "1"

        # 5 of 100 people get version 2, always the same ones; growing the share only adds to them.
        some = Canary("2", per_mille=50)
        await gate.agents.canary("clerk", "find_note", canary=some, by=OPERATOR, reason="archives")
        everybody = Canary("2", per_mille=1000)
        await gate.agents.canary("clerk", "find_note", canary=everybody, by=OPERATOR, reason="went well")
        explained = await gate.agents.explain("clerk", "find_note", principal=ALICE)
        assert (explained.version, explained.why) == ("2", "canary_share")

        # One act ends a canary; without one it goes back to the version before, while its window lasts.
        await gate.agents.roll_back("clerk", "find_note", by=OPERATOR, reason="it is slow")
        assert (await gate.agents.explain("clerk", "find_note", principal=ALICE)).version == "1"

        # What a name means to everybody else is the version published last, until somebody promotes one.
        await gate.catalogue.promote("find_note", "1", by=OPERATOR, reason="2 is slow")
        await gate.agents.upgrade("clerk", "find_note", mode=Upgrade.AUTOMATIC, by=OPERATOR, reason="follow")

        # A version in the shadow of the one in use is judged for every call; reads are run in both, and compared.
        trial = ShadowRule("2")
        await gate.agents.shadow("clerk", "find_note", shadow=trial, by=OPERATOR, reason="is it worth it?")
        for number in range(3):
            await gate.propose(ToolCall(f"s{number}", "find_note", {"title": "plan"}), clerk)
        await gate.shadows.flush()
        report = await gate.shadows.report("clerk", "find_note", version="2", by=OPERATOR)
        assert report.tally.outputs == {"equal": 3}
        assert report.proposal.reason == "3 calls are too few to speak: 100 are wanted"


if __name__ == "__main__":
    asyncio.run(main())
