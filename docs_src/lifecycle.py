"""A version's life: tried by few, opened through its gate, stopped in an emergency, retired with a replacement."""

import asyncio

from interlock import Gate, Gates, PolicySource, Principal, Settings, ToolCall, tool
from interlock.lifecycle import (
    Grounds,
    Lifecycle,
    MoveEvidence,
    MoveRefused,
    Need,
    Notice,
    Replacement,
    StopScope,
)

OLGA = Principal("default", "olga", groups=frozenset({"operator"}))
RITA = Principal("default", "rita", groups=frozenset({"reviewer"}))
ALICE = Principal("default", "alice", groups=frozenset({"notes"}))
CALL = ToolCall("c1", "search", {"query": "bolts"})


@tool(effect="read", owner="notes")
async def search(query: str, limit: int = 5) -> list[str]:
    """Search notes."""
    return [query][:limit]


@tool(effect="read", owner="notes")
async def find_notes(words: str, limit: int = 5) -> list[str]:
    """Find notes by words."""
    return [words][:limit]


async def main() -> None:
    policies = [PolicySource("all", "permit (principal, action, resource);")]
    settings = Settings(lifecycle=Gates.GATED)
    async with Gate.open(tools=[search, find_notes], policies=policies, settings=settings) as gate:
        for name in ("search", "find_notes"):
            await opened(gate, name)
        await emergency(gate)
        await farewell(gate)
        found: MoveEvidence = await gate.catalogue.evidence("search", version="1", by=OLGA)
        print(found.to_markdown())
        assert [each.to for each in found.packs] == ["candidate", "available", "retired"]


async def opened(gate: Gate, name: str) -> None:
    try:
        await gate.catalogue.move(name, Lifecycle.AVAILABLE, by=OLGA, reason="it is wanted")
    except MoveRefused as refused:
        print(refused)  # ... it lacks errors: it declares no errors; ... review: nobody but who published it ...

    await gate.catalogue.sign_off(name, version="1", by=RITA, reason="read its code, tried it")
    grounds = Grounds(
        reason="the pilot went well",
        samples=("pilot of May",),
        review_on="2999-01-31",
        withdraw_when=("two wrong results in a week",),
        waive=dict.fromkeys((Need.ERRORS, Need.AUDIT_FIELDS, Need.EXAMPLES, Need.ROLLBACK), "a first version"),
    )
    await gate.catalogue.move(name, Lifecycle.AVAILABLE, by=OLGA, reason=grounds)


async def emergency(gate: Gate) -> None:
    stop = await gate.catalogue.stop(StopScope(tenant="*", source="python"), by=OLGA, reason="a leak")
    refused = await gate.call(CALL, principal=ALICE)
    assert refused.error is not None
    assert refused.error.code == "TOOL_FROZEN"
    await gate.catalogue.lift(stop.id, by=OLGA, reason="mended")
    assert (await gate.call(CALL, principal=ALICE)).data == ["bolts"]


async def farewell(gate: Gate) -> None:
    instead = Replacement("find_notes", renames={"query": "words"})
    notice = Notice(retires_on="2999-01-31", reason="find_notes does more", replacement=instead, known=(ALICE,))
    await gate.catalogue.announce("search", by=OLGA, notice=notice)
    assert (await gate.call(CALL, principal=ALICE)).hint == "search is to be retired on 2999-01-31."
    ((_, rests),) = await gate.catalogue.references("search", by=OLGA)
    assert rests.runs == ()
    await gate.catalogue.confirm("search", version="1", by=OLGA, reason="the owner agrees")
    grounds = Grounds(reason="nobody calls it", waive={Need.NOTICE: "its one caller has moved"})
    await gate.catalogue.retire("search", by=OLGA, reason=grounds, drain_until="2999-02-28")
    late = await gate.call(CALL, principal=ALICE)
    assert late.hint == "Call find_notes instead: query is called words."


if __name__ == "__main__":
    asyncio.run(main())
