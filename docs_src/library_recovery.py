"""A process that dies in the middle of an effect, and the next one, which finds out what became of it."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from interlock import Deny, Gate, PolicySource, Principal, Status, ToolCall, tool

IS_DOOMED = len(sys.argv) > 1
FOLDER = Path(sys.argv[1] if IS_DOOMED else tempfile.mkdtemp())


def find_order(order_id: str) -> str | None:
    """Say whether an order was placed: a value means yes, None no, an exception that it cannot be told."""
    order = FOLDER / order_id
    return order.read_text() if order.exists() else None


@tool(effect="write", key=["order_id"], reconcile=find_order)
async def place_order(order_id: str, article: str) -> str:
    """Place an order."""
    (FOLDER / order_id).write_text(article)
    if IS_DOOMED:
        os._exit(9)  # the order is placed, and nobody lives to say so
    return article


@tool(effect="write", key=["to"])
async def send_letter(to: str) -> str:
    """Send a letter. Nothing can look up whether it was sent."""
    raise ConnectionResetError(to)


POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')
alice = Principal("acme", "alice")
olga = Principal("acme", "olga", groups=frozenset({"operator"}))
ORDER = ToolCall("c1", "place_order", {"order_id": "o1", "article": "chair"})


def opened(store: Path) -> AbstractAsyncContextManager[Gate]:
    """A gate on this store."""
    return Gate.open(store, tools=[place_order, send_letter], policies=[POLICY])


async def die(store: Path) -> None:
    """What the first process does."""
    async with opened(store) as gate:
        await gate.call(ORDER, principal=alice, task="furnish")


async def go_on(store: Path) -> None:
    """What the next one finds."""
    async with opened(store) as gate:
        print(gate.recovered)  # found_out=1: opening asked find_order about the call that was cut off
        again = await gate.call(ORDER, principal=alice, task="furnish")
        assert (again.status, again.replayed, again.data) == (Status.OK, True, "chair")  # nothing ran twice

        lost = await gate.call(ToolCall("c2", "send_letter", {"to": "bob"}), principal=alice, task="write")
        assert lost.status is Status.UNKNOWN  # never "failed": it may have been sent
        for call in await gate.recovery.unknown(by=olga):
            closed = await gate.recovery.close(
                call.operation.id, by=olga, happened=True, evidence="bob has it, he says on the telephone"
            )
            assert not isinstance(closed, Deny), closed.message
        assert await gate.recovery.unknown(by=olga) == ()


def main() -> None:
    """Let a process die, then look."""
    if IS_DOOMED:
        asyncio.run(die(FOLDER / "interlock.db"))
    died = subprocess.run([sys.executable, __file__, FOLDER], check=False)
    assert died.returncode == 9
    asyncio.run(go_on(FOLDER / "interlock.db"))
    shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
