"""What was guessed before a decision is looked up before anything but a claim follows from it."""

import asyncio
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from interlock import Limit, ScopeKind, Unit
from interlock.core.journal import EventKind
from interlock.runtime.gate import Gate as Calls
from tests.gates import ALICE, ALL, ASKS, READS, Shelf, code, opened, records, save, used


async def saved_once(path: str, shelf: Shelf) -> None:
    """A process that saved a note; the next one remembers nothing of its key."""
    async with opened(path, shelf.tools) as gate:
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"


@pytest.mark.requirement("IDEM-2", "APR-1", "BUD-1")
@pytest.mark.parametrize("policy", [ALL, ASKS, READS])
@pytest.mark.parametrize("limits", [(), (Limit(ScopeKind.TENANT, Unit.CALLS, 1),)])
async def test_a_repeat_replays_in_a_process_that_has_not_seen_its_key(
    tmp_path: Path, policy: str, limits: tuple[Limit, ...]
) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    await saved_once(path, shelf)
    async with opened(path, shelf.tools, policy, limits=limits) as gate:
        again = await gate.call(save(), principal=ALICE, task="t")
        assert again.replayed
        assert (again.data_json is None) is (policy is READS)
        assert await used(gate, "calls") == 1
        asked = await records(gate, EventKind.WAITING)
    assert (shelf.saved, asked) == ([("n1", "hello")], [])


@pytest.mark.requirement("IDEM-2")
async def test_other_arguments_conflict_in_a_process_that_has_not_seen_the_key(tmp_path: Path) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    await saved_once(path, shelf)
    async with opened(path, shelf.tools) as gate:
        assert code(await gate.call(save(text="other"), principal=ALICE, task="t")) == "IDEMPOTENCY_CONFLICT"
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("IDEM-2")
async def test_a_repeat_replays_while_the_gate_lets_what_runs_end(tmp_path: Path) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    await saved_once(path, shelf)
    async with opened(path, shelf.tools) as gate:
        shelf.open.clear()
        shelf.started.clear()
        running = asyncio.create_task(gate.call(save("n2"), principal=ALICE, task="t"))
        await shelf.started.wait()
        closing = asyncio.create_task(Calls.close(gate))
        await checkpoint()
        again = await gate.call(save(), principal=ALICE, task="t")
        shelf.open.set()
        assert again.replayed
        assert code(await running) == "ok"
        await closing
