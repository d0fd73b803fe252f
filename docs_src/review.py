"""A review of tools: two that are alike, one that nobody answers for, and a name that there is not."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock import Caller, Gate, PolicySource, Principal, Review, ReviewRules, ToolCall, tool
from interlock.doors.cli.review_page import page

ALICE = Principal("default", "alice", groups=frozenset({"notes"}))
AUDITOR = Principal("default", "audrey", groups=frozenset({"auditor"}))
READS = PolicySource("reads", '@id("reads") permit (principal, action in Action::"read", resource);')


@tool(effect="read", owner="notes", description="Find the notes of a customer by words in them.")
async def find_notes(query: str, limit: int = 5) -> list[str]:
    return [query][:limit]


@tool(effect="read", description="Find the notes of a customer by words in them.")
async def search_notes(query: str, limit: int = 5) -> list[str]:
    return []


async def main() -> None:
    async with Gate.open(tools=[find_notes, search_notes], policies=[READS]) as gate:
        for run in range(20):  # a model that takes the wrong one first
            caller = Caller(ALICE, run=f"run-{run}")
            for name in ("search_notes", "find_notes"):
                await gate.propose(ToolCall("c1", name, {"query": "delivery"}), caller)
        await gate.call(ToolCall("c2", "find_note", {"query": "delivery"}), principal=ALICE)

        found = await gate.catalogue.review(by=AUDITOR, rules=ReviewRules(alike_percent=60))
        assert isinstance(found, Review)
        for each in found.proposals:
            print(each.kind, each.tool, each.reason, each.command)
        for wanted in found.coverage.invented:
            print(wanted.text, wanted.times, wanted.nearest)  # find_note 1 ('find_notes',)

    assert [(each.kind, each.tool, each.other) for each in found.proposals] == [
        ("merge", "search_notes", "find_notes"),
        ("fix_description", "search_notes", ""),
        ("add_owner", "search_notes", ""),
    ]
    with TemporaryDirectory() as folder:
        write(found, Path(folder, "review.html"))


def write(found: Review, file: Path) -> None:
    file.write_text(page(found), encoding="utf-8")  # needs nothing else, and loads nothing


if __name__ == "__main__":
    asyncio.run(main())
