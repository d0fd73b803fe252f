"""What tests of agents share: a tool in several versions, who calls it as which agent, and agents that list it."""

from typing import Any

from interlock import Caller, Gate, Observation, Principal, ToolCall, tool
from interlock.core.agents import AgentTools, Canary, ToolUse
from interlock.core.call import Origin
from tests.gates import ALICE, OPERATOR, AnyTool, search

CLERK = "clerk"
WHY = "for the test"


def searches(*versions: str, ran: list[str] | None = None) -> list[AnyTool]:
    """The tool `search` in these versions, each of which says in `ran` that it ran, and gives its version back."""
    return [_search(each, [] if ran is None else ran) for each in versions]


def _search(version: str, ran: list[str]) -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version)
    async def search(query: str) -> str:
        """Search."""
        ran.append(version)
        return version

    return search


def saves(*versions: str, ran: list[str]) -> list[AnyTool]:
    """The tool `save`, an effect, in these versions."""
    return [_save(each, ran) for each in versions]


def _save(version: str, ran: list[str]) -> AnyTool:
    @tool(effect="write", owner="eng", name="save", version=version, key=["note"])
    async def save(note: str, text: str) -> str:
        """Save."""
        ran.append(version)
        return note

    return save


def clerk(*uses: ToolUse, **more: Any) -> AgentTools:
    """The agent `clerk` of acme."""
    return AgentTools(**{"name": CLERK, "tenant": "acme", "tools": uses, **more})


def caller(by: Principal = ALICE, *, agent: str = CLERK, **more: Any) -> Caller:
    """Who calls as an agent."""
    return Caller(by, origin=Origin(agent=agent), **more)


async def called(gate: Gate, by: Principal = ALICE, *, call: ToolCall | None = None, **more: Any) -> Observation:
    """What comes of a call as an agent."""
    return await gate.propose(call or search(), caller(by, **more))


async def version(gate: Gate, by: Principal = ALICE, *, agent: str = CLERK) -> object:
    """Which version of `search` a call of the agent runs, or the code that it is refused with."""
    seen = await called(gate, by, agent=agent)
    return seen.data if seen.error is None else seen.error.code.value


async def saved(gate: Gate, *uses: ToolUse, **more: Any) -> AgentTools:
    """The agent `clerk` as it was saved."""
    return await gate.agents.save(clerk(*uses, **more), by=OPERATOR, reason=WHY)


async def canary_of(gate: Gate, version: str, per_mille: int, **more: Any) -> AgentTools:
    """The agent with a canary of `search`."""
    canary = Canary(version, per_mille, **more)
    return await gate.agents.canary(CLERK, "search", canary=canary, by=OPERATOR, reason=WHY)


def person(number: int) -> Principal:
    """Somebody of acme."""
    return Principal("acme", f"person-{number}", groups=frozenset({"eng"}))
