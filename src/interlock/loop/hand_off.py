"""The tool by which an agent hands its task to another: governed like any other, and nothing but a word to the run.

The run stays the same: principal, budgets, labels and keys. What changes is who is asked next, with which instructions
and which of the run's tools; policy sees the name of the agent and may say who may hand what to whom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.canonical import Json
from interlock.core.choice import FIND_TOOLS
from interlock.core.observation import Observation, Status
from interlock.loop.agent import Agent

HAND_OFF: Final = "hand_off"


def is_tool_of(agent: Agent, name: str) -> bool:
    """Whether the agent has a tool of this name among those of its run, as far as that is its own affair."""
    if name == HAND_OFF:
        return bool(agent.hand_offs)
    return name == FIND_TOOLS or agent.tools is None or name in agent.tools


def narrowed(schema: dict[str, Json], agent: Agent, agents: Mapping[str, Agent]) -> dict[str, Json]:
    """The schema as this agent is told it: only those whom it may hand the task to, and what they are for."""
    others = [agents[name] for name in agent.hand_offs]
    words = "; ".join(f"{each.name}: {each.description}" if each.description else each.name for each in others)
    properties = schema.get("properties")
    known: dict[str, Json] = properties if isinstance(properties, dict) else {}
    names: list[Json] = [each.name for each in others]
    to: dict[str, Json] = {"type": "string", "enum": names, "description": f"who takes over: {words}"}
    return {**schema, "properties": {**known, "agent": to}}


def handed_to(seen: Observation, agent: Agent) -> tuple[str, str] | None:
    """To whom a call has handed the task, and with which words; None where it has not."""
    if seen.tool != HAND_OFF or seen.status is not Status.OK or not isinstance(seen.data, dict):
        return None
    to, message = seen.data.get("agent"), seen.data.get("message")
    return (to, str(message)) if isinstance(to, str) and to in agent.hand_offs else None
