"""The tools, people and policies that the benchmarks govern: one of everything, so that every gate is on."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, TypedDict

from interlock import Arg, Limit, Limits, PolicySource, Principal, ScopeKind, Settings, Unit, tool

logging.getLogger("interlock.look").setLevel(logging.ERROR)  # calls here belong to no run, of which it would warn

MANY = 10**12
ALICE = Principal("default", "alice", groups=frozenset({"research"}))

POLICY = PolicySource(
    "bench",
    """
    @id("reads") permit(principal, action in Action::"read", resource)
      when { principal.groups.contains(context.tool.owner) };
    @id("writes") permit(principal, action in Action::"effect", resource)
      when { principal.groups.contains(context.tool.owner) };
    @id("confidential-stays-in") forbid(principal, action, resource)
      when { context.run.confidentiality >= 2 && context.tool.external };
    """,
)

BY_VALUE = PolicySource(
    "by-value",
    """
    @id("reads") permit(principal, action in Action::"read", resource)
      when { principal.groups.contains(context.tool.owner) && context.args.query != "forbidden" };
    """,
)

SETTINGS = Settings(
    environment="production",
    limits=Limits(
        (
            Limit(ScopeKind.TENANT, Unit.CALLS, MANY),
            Limit(ScopeKind.PRINCIPAL, Unit.CALLS, MANY),
            Limit(ScopeKind.TOOL, Unit.CONCURRENT, MANY),
        )
    ),
)


class Hit(TypedDict):
    """One passage that a search found."""

    file: str
    line: int


@tool(effect="read", owner="research")
async def search(query: Annotated[str, Arg(max_length=200)], limit: int = 3) -> list[Hit]:
    """Search the documents for a few words.

    Args:
        query: the words
        limit: how many passages
    """
    return [{"file": "a.md", "line": number} for number in range(limit)]


@tool(effect="read", owner="research")
async def search_slowly(query: Annotated[str, Arg(max_length=200)]) -> str:
    """Search a system that takes ten milliseconds to answer.

    Args:
        query: the words
    """
    await asyncio.sleep(0.010)
    return query


@tool(effect="write", owner="research", key=["draft_id"], resource=("Draft", "draft_id"))
async def save_draft(
    draft_id: Annotated[str, Arg(max_length=64)], content: Annotated[str, Arg(max_length=10_000)]
) -> dict[str, str]:
    """Save a draft under its id.

    Args:
        draft_id: the draft's id
        content: its text
    """
    return {"draft_id": draft_id}


TOOLS = (search, search_slowly, save_draft)
