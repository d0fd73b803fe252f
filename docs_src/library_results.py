"""Results: given again, kept whole where they are long, and effects that meet the version they were meant for."""

import asyncio
from collections.abc import AsyncIterator

from interlock import (
    Binary,
    CacheRule,
    Deny,
    Gate,
    PolicySource,
    Principal,
    Resource,
    Settings,
    ToolCall,
    tool,
)

NOTES: dict[str, tuple[int, str]] = {"plan": (1, "first draft")}
READS: list[str] = []


@tool(effect="read", owner="eng", resource=("Note", "note"), cache=CacheRule(lifetime_s=300))
async def read_note(note: str) -> str:
    """Read a note."""
    READS.append(note)
    return NOTES[note][1]


async def look_up(note: str) -> Resource:
    """The note as it is now, with its version."""
    return Resource("Note", note, version=str(NOTES[note][0]))


@tool(
    effect="write",
    owner="eng",
    key=["note", "text"],
    resource=("Note", "note"),
    resolve=look_up,
    resource_version="seen",  # the argument that says which version the caller has seen
)
async def write_note(note: str, text: str, seen: int) -> int:
    """Replace a note."""
    NOTES[note] = (NOTES[note][0] + 1, text)
    return NOTES[note][0]


@tool(effect="read", owner="eng", output_bytes_max=2_000)
async def read_log(day: str) -> AsyncIterator[str]:
    """Read the log of a day."""
    for number in range(10_000):
        yield f"{day} line {number}\n"  # kept while it comes: no more than a part of it is ever in memory


@tool(effect="read", owner="eng")
async def draw_plan(note: str) -> Binary:
    """Draw a plan as a picture."""
    return Binary(b"\x89PNG...", "image/png", f"{note}.png")


POLICY = PolicySource("eng", '@id("eng") permit(principal in Group::"eng", action, resource);')
alice = Principal("default", "alice", groups=frozenset({"eng"}))
mallory = Principal("default", "mallory")


async def main() -> None:
    """Read twice, write, read anew; then read on in what was too long."""
    settings = Settings(results_owner="eng")
    async with Gate.open(
        tools=[read_note, write_note, read_log, draw_plan], policies=[POLICY], settings=settings
    ) as gate:
        read = ToolCall("c1", "read_note", {"note": "plan"})
        await gate.call(read, principal=alice)
        again = await gate.call(read, principal=alice)
        assert again.cached_s is not None  # it was read so many seconds ago
        late = {"note": "plan", "text": "over all of it", "seen": 0}
        stale = await gate.call(ToolCall("c2", "write_note", late), principal=alice, task="t1")
        assert stale.error is not None
        print(stale.error.code)  # PRECONDITION_FAILED, and nothing ran
        fresh = {"note": "plan", "text": "second draft", "seen": 1}
        await gate.call(ToolCall("c3", "write_note", fresh), principal=alice, task="t1")
        assert (await gate.call(read, principal=alice)).data == "second draft"
        assert READS == ["plan", "plan"]

        seen = await gate.call(ToolCall("c4", "read_log", {"day": "monday"}), principal=alice)
        assert seen.handle is not None
        print(seen.truncated, "bytes; the beginning is in seen.data")
        page = await gate.results.read(seen.handle, by=alice, offset=100_000, length=200)
        found = await gate.results.search(seen.handle, "line 9876", by=alice)
        print(page, found)
        assert isinstance(await gate.results.read(seen.handle, by=mallory), Deny)  # who may not call it may not read it
        told = await gate.call(
            ToolCall("c5", "read_result", {"handle": seen.handle, "find": "line 777"}), principal=alice
        )  # the same, for a model: a tool like any other
        print(told.data)

        picture = await gate.call(ToolCall("c6", "draw_plan", {"note": "plan"}), principal=alice)
        print(picture.data)  # what it is and how long, not the bytes
        assert await gate.results.raw(str(picture.handle), by=alice) == b"\x89PNG..."


if __name__ == "__main__":
    asyncio.run(main())
