"""Two versions of a tool: one that may follow under the same major, one that may not, and what shows it."""

import asyncio
from typing import Annotated

from interlock import Arg, Gate, Principal, SpecInvalid, tool

OPERATOR = Principal("default", "olga", groups=frozenset({"operator"}))


@tool(effect="read", owner="notes", name="search", version="1.0.0", description="Search notes.")
async def search(query: str, limit: int = 5) -> list[str]:
    return [query][:limit]


@tool(effect="read", owner="notes", name="search", version="1.1.0", description="Search notes.")
async def search_since(query: str, limit: int = 5, since: str | None = None) -> list[str]:
    return [query, since or ""][:limit]


@tool(effect="read", owner="notes", name="search", version="1.2.0", description="Search notes.")
async def search_short(
    query: Annotated[str, Arg(max_length=20)], limit: int = 5, since: str | None = None
) -> list[str]:
    return [query, since or ""][:limit]


async def main() -> None:
    async with Gate.open(tools=[search, search_since]) as gate:
        found = await gate.catalogue.diff("search", "1.0.0", "1.1.0")
        assert (found.verdict, found.is_promised) == ("compatible", True)
        assert [(each.path, each.kind) for each in found.findings if each.part == "input"] == [("/since", "widened")]

        try:
            await gate.catalogue.register([search_short.spec()], by=OPERATOR)
        except SpecInvalid as refused:
            print(refused)  # search 1.2.0 breaks what 1.1.0 promised ... (such as {"query": "..."})


if __name__ == "__main__":
    asyncio.run(main())
