"""Runs in memory by themselves; their behaviour is the contract's."""

from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_runs import begun, due, found


async def test_what_a_dead_process_held_is_due_and_what_it_takes_anew_is_not() -> None:
    store = MemoryStore()
    await begun(store)
    store.abandon()
    assert await due(store) == ["run-1"]
    assert await store.runs.take_run("acme", "run-1", 1) is not None
    assert await due(store) == []
    assert (await found(store)).held
