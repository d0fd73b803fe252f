"""The tool by which an agent hands its task to another agent of its run: governed like any other, and only that."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from interlock.core.errors import ToolFault
from interlock.core.functions import Context
from interlock.core.tool import ErrorContract
from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool

NOT_HANDED = ErrorContract("NOT_HANDED", nothing_happened=True, description="The task cannot be handed to that agent.")


class Hands(Protocol):
    """Who knows to whom a run may be handed (`gate.runs`)."""

    def hands_to(self, tenant: str, run_id: str) -> tuple[str, ...]:
        """The names of the agents that the one who is at the run's task may hand it to."""


def hand_off(hands: Hands, *, owner: str) -> Declared[..., Any]:
    """The tool `hand_off`, of this owner."""

    @tool(
        effect="read",
        owner=owner,
        errors=[NOT_HANDED],
        use_when="another agent is better placed to go on with the task",
    )
    async def hand_off(
        agent: Annotated[str, Arg(max_length=64)], message: Annotated[str, Arg(max_length=4_000)], context: Context
    ) -> dict[str, str]:
        """Hand the task to another agent, which goes on with it in your place.

        Args:
            agent: who takes over
            message: what it has to know: what was found out, and what is left to do
        """
        if context.run is None or agent not in hands.hands_to(context.principal.tenant, context.run):
            raise ToolFault(NOT_HANDED.code, f"The task cannot be handed to {agent}.")
        return {"agent": agent, "message": message}

    return hand_off
