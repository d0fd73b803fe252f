"""The store in memory: what it adds to the contract that it holds (tests/contract)."""

from dataclasses import replace

import pytest

from interlock.core.effect import CallEvent, CallState
from interlock.core.journal import RECORD, AuditQuery
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import NOW_US, TENANT, Values


async def test_abandoned_calls_are_orphaned_as_if_their_process_had_died() -> None:
    store, values = MemoryStore(), Values()
    unknown = values.settlement(await claimed(store, intent=values.intent()), CallEvent.LOSE_OUTCOME)
    await store.settle(replace(unknown, goes_on=True))
    assert [each.orphaned for each in await store.open_calls()] == [False]
    store.abandon()
    assert [(each.state, each.orphaned) for each in await store.open_calls()] == [(CallState.UNKNOWN, True)]
    await store.settle(values.settlement(unknown.claim))
    await claimed(store, intent=values.intent())
    store.abandon()
    (found,) = await store.open_calls()
    assert (found.state, found.orphaned) == (CallState.CLAIMED, True)
    assert await store.take_over(found, values.event()) is not None
    assert not (await store.open_calls())[0].orphaned


@pytest.mark.requirement("AUD-2")
async def test_its_chain_is_named_by_whoever_makes_it() -> None:
    receipt = await MemoryStore(chain="here").append(Values().event())
    assert receipt.chain == "here"


async def test_retention_leaves_what_is_newer() -> None:
    store, values = MemoryStore(), Values()
    await store.append(values.event())
    await store.purge(NOW_US)
    (found,) = await store.records(AuditQuery(tenant=TENANT))
    assert [payload.name for payload in found.payloads] == [RECORD, "result"]


async def test_a_read_that_has_ended_leaves_its_record_and_no_row_and_an_unknown_one_stays_to_be_closed() -> None:
    store, values = MemoryStore(), Values()
    ended, lost = await claimed(store, intent=values.read()), await claimed(store, intent=values.read())
    (seen, *_) = await store.open_calls()
    assert (seen.operation.id, seen.state) == (ended.operation_id, CallState.CLAIMED)
    assert await store.settle(values.settlement(ended)) is not None
    await store.settle(values.settlement(lost, CallEvent.LOSE_OUTCOME))
    assert await store.find(TENANT, ended.operation_id) is None
    found = await store.find(TENANT, lost.operation_id)
    assert found is not None
    assert found.state is CallState.UNKNOWN
    assert len(await store.records(AuditQuery(tenant=TENANT))) == 2


async def test_a_read_whose_process_has_died_is_found_again_once_it_was_taken_over() -> None:
    store, values = MemoryStore(), Values()
    read = await claimed(store, intent=values.read())
    store.abandon()
    (orphan,) = await store.open_calls()
    taken = await store.take_over(orphan, values.event())
    assert taken is not None
    assert await store.settle(values.settlement(taken)) is not None
    found = await store.find(TENANT, read.operation_id)
    assert found is not None
    assert found.state.is_final
