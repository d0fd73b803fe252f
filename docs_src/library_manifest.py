"""A manifest beside its function, and two versions of one tool beside one another."""

import asyncio
import sys
from pathlib import Path

from interlock import Gate, PolicySource, Principal, Status, ToolCall, tool
from interlock.importers.manifest import declared

MANIFEST = """
# prices.yaml
tools:
  - handler: prices:price_of
    version: "1"
    effect: read
    owner: sales
    resource: {type: Item, id: item}
    description: Say what an item costs.
    input_schema:
      type: object
      properties: {item: {type: string, description: Its number.}}
      required: [item]
      additionalProperties: false
"""
PRICES = """
def price_of(item: str) -> int:
    return 12
"""
POLICY = PolicySource("sales", '@id("sales") permit(principal in Group::"sales", action in Action::"read", resource);')
OLGA = Principal("default", "olga", groups=frozenset({"operator", "sales"}))


@tool(effect="read", owner="sales")
def stock_of(item: str) -> int:
    """Say how many of an item there are."""
    return 7


@tool(name="stock_of", version="2", effect="read", owner="sales")
def stock_of_2(item: str, place: str = "all") -> int:
    """Say how many of an item there are."""
    return 7 if place == "all" else 3


def write_files() -> None:
    """The manifest, and the function that it names, in this folder."""
    Path("prices.yaml").write_text(MANIFEST, encoding="utf-8")
    Path("prices.py").write_text(PRICES, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))  # a project's folder is looked in by itself


async def from_a_manifest() -> None:
    """A tool of YAML is called like any other."""
    tools = declared(Path("prices.yaml"))  # of interlock.importers.manifest
    async with Gate.open(tools=tools, policies=[POLICY]) as gate:
        seen = await gate.call(ToolCall("c1", "price_of", {"item": "bolts"}), principal=OLGA, run="run-1")
        assert (seen.status, seen.data) == (Status.OK, 12)


async def side_by_side() -> None:
    """The name means the newest version, until somebody promotes another."""
    async with Gate.open(tools=[stock_of, stock_of_2], policies=[POLICY]) as gate:
        assert gate.catalogue.get("stock_of").spec.version == "2"
        await gate.catalogue.promote("stock_of", "1", by=OLGA, reason="2 is not ready")
        assert gate.catalogue.get("stock_of").spec.version == "1"


async def main() -> None:
    """Both, one after the other."""
    write_files()
    await from_a_manifest()
    await side_by_side()


if __name__ == "__main__":
    asyncio.run(main())
