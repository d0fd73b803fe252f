"""Examples of a tool: what comes of a call in a world that each describes, tried without anything real behind it."""

import asyncio
from datetime import UTC, datetime

from interlock import PolicySource, tool
from interlock.importers.examples import read_examples
from interlock.rehearsal import Stage, rehearse

OWNERS = '@id("owners") permit (principal, action, resource) when { principal.groups.contains(context.tool.owner) };'

EXAMPLES = """
examples:
  - name: a price that is known
    tool: price_of
    kind: typical
    caller: {id: alice, groups: [shop]}
    arguments: {product: tea}
    world:
      answers: [{gives: {cents: 450}}]
    expected: {status: ok, data: {cents: 450}, effects: 0}

  - name: the price list does not answer
    tool: price_of
    kind: timeout
    caller: {id: alice, groups: [shop]}
    arguments: {product: tea}
    world:
      answers: [{hangs: true}]
    expected: {status: failed, code: TOOL_TIMEOUT}
"""


@tool(effect="read", owner="shop")
async def price_of(product: str) -> dict[str, int]:
    """Say what a product costs, in cents."""
    raise ConnectionError("an example never comes here")


async def main() -> None:
    library = read_examples(EXAMPLES)
    stage = Stage((price_of,), (PolicySource("owners", OWNERS),))
    for example in library.examples:
        found = await rehearse(example, stage, today=datetime.now(UTC).date())
        print(example.kind, example.name, found.passing, *found.differences)
        assert found.passing == "passed"


if __name__ == "__main__":
    asyncio.run(main())
