"""A process whose call stands still between the look and the claim, until it is told to go on.

python -m tests.crash.stop_worker STORE FOLDER    says `looking`, waits for a line, says how the calls ended
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from interlock import Caller, Gate, Host, Settings, ToolCall
from interlock.core.canonical import Json
from interlock.core.operation import Operation
from tests.gates import ALICE, Shelf, code

POLICY = "permit (principal, action, resource) when { context.facts.stands };"


class Standing:
    """A source of facts that answers once the process is told to go on: the look is over, the claim is not made."""

    async def fetch(self, names: Iterable[str], operation: Operation) -> Mapping[str, Json]:
        sys.stdout.write("looking\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        return {"stands": True}


async def main(store: str, folder: str) -> None:
    shelf = Shelf()
    host = Host(facts=Standing(), fact_names={"stands"}, key_folder=Path(folder))
    settings = Settings(tenant="acme", facts_timeout_ms=60_000)
    async with Gate.open(store, tools=shelf.tools, settings=settings, host=host) as gate:
        pin = gate.catalogue.get("save").digest
        call = ToolCall("c1", "save", {"note": "n1", "text": "t"})
        for caller in (Caller(ALICE, run="r", pin=pin), Caller(ALICE, task="t")):
            seen = await gate.propose(call, caller)
            sys.stdout.write(f"{code(seen)} {len(shelf.saved)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
