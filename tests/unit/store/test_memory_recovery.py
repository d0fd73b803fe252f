"""The part of the store in memory about recovery by itself; its behaviour is the contract's."""

from interlock.core.effect import CallState
from interlock.ports import Claim
from interlock.store.memory import MemoryStore
from interlock.testing.store_values import TENANT, Values


async def test_abandoned_calls_are_anybodys() -> None:
    store, values = MemoryStore(), Values()
    claim = await store.claim(values.intent("k"))
    assert isinstance(claim, Claim)
    assert (await store.due(0, 9)).calls == ()
    store.abandon()
    (due,) = (await store.due(0, 9)).calls
    assert (due.operation.id, due.state, due.orphaned) == (claim.operation_id, CallState.CLAIMED, True)
    found = await store.find(TENANT, claim.operation_id)
    assert found == due
