"""Runs of several processes: held by one, lost with the lease, told by all."""

import asyncio
from dataclasses import replace
from secrets import token_bytes

import psycopg
import pytest

from interlock.core.chain import Receipt
from interlock.core.effect import CallEvent, CallState
from interlock.core.errors import StoreError
from interlock.ports import NotMoved, RunClaim, RunEntry, RunMove, RunNote, RunQuery
from interlock.store.seal_aes import AesSeal
from interlock.testing.store_contract_noted_runs import note, state_of
from interlock.testing.store_contract_runs import LATER_US, WORDS, begun, due, found, new_run, sequences, step
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import NOW_US, RUN, TENANT, Values
from tests.postgres import Opens
from tests.unit.store.test_postgres_calls import end_leases


async def test_moves_share_a_transaction_with_claims_and_records(postgres_stores: Opens) -> None:
    commits, values = list[tuple[str, ...]](), Values()
    store = await postgres_stores(on_commit=lambda when, names: commits.append(names) if when == "after" else None)
    claim = await begun(store)
    await asyncio.gather(
        store.runs.move_run(step(claim)),
        store.claim(values.intent("k")),
        store.record(values.entry()),
        store.runs.tell_run(TENANT, RUN, WORDS),
    )
    assert commits[1:] == [("move_run", "claim", "record", "tell_run")]


async def test_a_step_that_cannot_be_written_leaves_its_call_settled(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    run, call = await begun(store), await claimed(store, intent=values.intent("k"))

    def refused(_: Receipt) -> RunMove:
        raise StoreError("no such step")

    receipt, moved = await store.runs.settle_in_run(values.settlement(call), RunNote(run, refused))
    assert (receipt is not None, moved) == (True, None)
    assert await state_of(store, call) is CallState.SUCCEEDED
    assert await store.runs.move_run(step(run)) == 2


async def test_whose_lease_has_run_out_neither_settles_a_call_of_a_run_nor_writes_it_down(
    postgres_url: str, postgres_stores: Opens
) -> None:
    late, values = await postgres_stores("late"), Values()
    run, call = await begun(late), await claimed(late, intent=values.intent("k"))
    end_leases(postgres_url)
    assert await late.runs.settle_in_run(values.settlement(call), note(run)) == (None, None)
    assert await sequences(late) == [1]


async def test_of_processes_that_begin_or_take_a_run_at_once_one_does(postgres_stores: Opens) -> None:
    stores = [await postgres_stores(name) for name in ("one", "two", "three")]
    began = await asyncio.gather(*[each.runs.begin_run(new_run()) for each in stores])
    (holder,) = [store for store, claim in zip(stores, began, strict=True) if claim is not None]
    assert await holder.runs.move_run(step(RunClaim(TENANT, RUN, 1), release=True)) == 2
    taken = await asyncio.gather(*[each.runs.take_run(TENANT, RUN, NOW_US) for each in stores])
    assert [each for each in taken if each is not None] == [RunClaim(TENANT, RUN, 2)]
    assert await sequences(holder) == [1, 2]


async def test_only_who_holds_a_run_moves_it_and_hears_what_it_is_told(postgres_stores: Opens) -> None:
    first, second = await postgres_stores("first"), await postgres_stores("second")
    claim = await begun(first)
    assert await second.runs.take_run(TENANT, RUN, NOW_US) is None
    assert await second.runs.move_run(step(claim)) is NotMoved.LOST
    assert (await found(second)).held
    assert await second.runs.tell_run(TENANT, RUN, RunEntry("stop", NOW_US, b"")) == 2
    assert (await due(second), await due(first)) == ([], [RUN])


async def test_a_process_whose_lease_has_run_out_moves_nothing(postgres_url: str, postgres_stores: Opens) -> None:
    late, other = await postgres_stores("late"), await postgres_stores("other")
    claim = await begun(late)
    end_leases(postgres_url)
    assert await late.runs.move_run(step(claim)) is NotMoved.LOST
    assert await due(other) == [RUN]
    assert await other.runs.take_run(TENANT, RUN, NOW_US) == RunClaim(TENANT, RUN, 2)
    assert await late.runs.move_run(step(claim)) is NotMoved.LOST
    assert await late.runs.tell_run(TENANT, RUN, WORDS) == 2
    assert await other.runs.move_run(step(RunClaim(TENANT, RUN, 2), 2)) == 3


async def test_a_store_that_is_closed_while_work_goes_on_holds_no_runs(postgres_stores: Opens) -> None:
    first, second, values = await postgres_stores("first"), await postgres_stores("second"), Values()
    await begun(first)
    call = await claimed(first, intent=values.intent("k"))
    await first.settle(replace(values.settlement(call, CallEvent.LOSE_OUTCOME), goes_on=True))
    await first.close()
    assert await due(second) == [RUN]
    assert (await found(second)).held is False


async def test_an_approval_that_another_process_decides_outlasts_a_move(postgres_stores: Opens) -> None:
    first, second, values = await postgres_stores("first"), await postgres_stores("second"), Values()
    claim, asking = await begun(first), values.asking("k")
    await first.ask(asking)
    moved, changed = await asyncio.gather(first.runs.move_run(step(claim)), second.change(values.granted(asking)))
    assert (moved, changed is not None) == (2, True)
    assert await due(first) == [RUN]


async def test_entries_are_sealed_and_bound_to_their_place(postgres_url: str, postgres_stores: Opens) -> None:
    store = await postgres_stores(seal=AesSeal(bytes(32), random=token_bytes))
    await store.runs.begin_run(new_run(entries=2))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        ((first,), (second,)) = admin.execute("SELECT data_sealed FROM run_entries ORDER BY place").fetchall()
        assert b"hello" not in first
        admin.execute("UPDATE run_entries SET data_sealed = %s WHERE data_sealed = %s", (second, first))
    with pytest.raises(StoreError):
        await store.runs.run_entries(TENANT, RUN)
    assert [each.sequence for each in await store.runs.run_entries(TENANT, RUN, after=1)] == [2]


async def test_retention_drops_runs_in_steps(
    monkeypatch: pytest.MonkeyPatch, postgres_url: str, postgres_stores: Opens
) -> None:
    monkeypatch.setattr("interlock.store.postgres.PURGE_ROWS", 10)
    monkeypatch.setattr("interlock.store.postgres_control.RUNS_AT_ONCE", 2)
    store = await postgres_stores()
    for number, entries in enumerate((3, 25, 0, 10, 2, 2)):
        claim = await store.runs.begin_run(new_run(f"run-{number}", entries=entries))
        assert claim is not None
        await store.runs.move_run(replace(step(claim, entries, ended="done"), entries=()))
    await store.runs.begin_run(new_run("open", entries=4))
    await store.purge(LATER_US)
    assert [each.id for each in await store.runs.runs(RunQuery(None))] == ["open"]
    with psycopg.connect(postgres_url) as admin:
        assert admin.execute("SELECT count(*) FROM run_entries").fetchall() == [(4,)]
