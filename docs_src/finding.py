"""More tools than a model is shown: it searches for the others, and a person sees why it was offered what."""

import asyncio
import json
from typing import Any

from interlock import Caller, Gate, Host, PolicySource, Principal, Settings, tool
from interlock.declare import Declared
from interlock.testing.models import ScriptedModel

POLICY = PolicySource(
    "owners",
    """
    @id("owners") permit (principal, action in Action::"read", resource)
      when { principal.groups.contains(context.tool.owner) };
    """,
)
ALICE = Principal("acme", "alice", groups=frozenset({"office"}))


def reading(name: str, words: str, owner: str = "office") -> Declared[..., Any]:
    """One of many tools."""

    @tool(effect="read", owner=owner, name=name, description=words)
    async def read(what: str) -> str:
        return f"{name} of {what}"

    return read


TOOLS = [
    reading("list_invoices", "Lists the invoices of a customer."),
    reading("show_invoice", "Shows one invoice with its lines."),
    reading("forecast", "Tells rain and sunshine of the next days."),
    reading("read_payroll", "Tells what people earn.", owner="people"),
    *(reading(f"read_sensor_{number}", f"Reads sensor {number} of the hall.") for number in range(60)),
]


async def search(gate: Gate) -> None:
    """What a program asks."""
    found = await gate.catalogue.search("the lines of an invoice", Caller(ALICE), limit=2)
    assert [each.tool for each in found] == ["show_invoice", "list_invoices"]
    assert await gate.catalogue.search("what people earn", Caller(ALICE)) == ()  # there is one, and not for alice

    for choice in await gate.catalogue.explain_choice(Caller(ALICE), "Which invoices are open?"):
        if choice.rank == 1 or choice.tool == "forecast":
            print(choice.tool, choice.withheld, choice.why)


def forecast_in(tools: str) -> str:
    """The declaration of the tool that was found."""
    (found,) = [each for each in json.loads(tools) if each["function"]["name"] == "forecast"]
    return json.dumps(found)


async def run(gate: Gate, model: ScriptedModel) -> None:
    """What a model does: it searches, is offered what it found, and calls it."""
    started = await gate.runs.start(model="scripted", task="Which invoices are open?", principal=ALICE)
    report = await started.result()
    assert report.answer == "Take an umbrella."
    first, second, third = (json.dumps(request["tools"]) for request in model.requests)
    assert "list_invoices" in first  # it fits the task
    assert "forecast" not in first
    assert second == third == f"{first[:-1]}, {forecast_in(second)}]"  # what was found stands behind


async def main() -> None:
    """Open a gate that offers ten tools at once, and a tool to search with."""
    model = ScriptedModel([
        ("find_tools", {"query": "will there be rain", "limit": 1}),
        ("forecast", {"what": "Oslo"}),
        "Take an umbrella.",
    ])  # fmt: skip
    settings = Settings(tenant="acme", finding_owner="office", tools_max=10)
    async with Gate.open(tools=TOOLS, policies=[POLICY], settings=settings, host=Host(models=[model])) as gate:
        await search(gate)
        await run(gate, model)


if __name__ == "__main__":
    asyncio.run(main())
