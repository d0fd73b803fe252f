"""The tool by which a model searches for tools that it is not offered: governed like any other, and it only reads."""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

from interlock.core.call import Principal
from interlock.core.choice import FoundTool
from interlock.core.errors import ToolFault
from interlock.core.functions import Context
from interlock.core.tool import ErrorContract
from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool

NO_RUN: Final = ErrorContract("NO_RUN", nothing_happened=True, description="Only a run can be offered what is found.")
OFFERED: Final = "You can call them from your next turn on."
NOTHING: Final = "Nothing that you may use fits these words. Try others, or go on without."


class Searches(Protocol):
    """Who knows the tools of runs (`gate.runs`)."""

    async def find(self, query: str, *, run_id: str, by: Principal, most: int) -> tuple[FoundTool, ...] | None:
        """The tools of a run that fit best, of those that its agent may use now; None: it is not driven here."""


def find_tools(searches: Searches, *, owner: str) -> Declared[..., Any]:
    """The tool `find_tools`, of this owner."""

    @tool(
        effect="read",
        owner=owner,
        errors=[NO_RUN],
        use_when="none of the tools that you are offered does what the task takes",
    )
    async def find_tools(
        query: Annotated[str, Arg(min_length=1, max_length=1_000)],
        context: Context,
        limit: Annotated[int, Arg(ge=1, le=20)] = 5,
    ) -> dict[str, Any]:
        """Search for more tools by words. What is found is offered to you from your next turn on.

        Args:
            query: what the tool should do, in a few words
            limit: how many tools to find
        """
        found = None
        if context.run is not None:
            found = await searches.find(query, run_id=context.run, by=context.principal, most=limit)
        if found is None:
            raise ToolFault(NO_RUN.code, "There is no run here that could be offered what is found.")
        tools = [{"name": each.tool, "description": each.line} for each in found]
        return {"tools": tools, "note": OFFERED if tools else NOTHING}

    return find_tools
