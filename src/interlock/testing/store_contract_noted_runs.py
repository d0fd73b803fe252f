"""The part of a store's contract about calls of runs: what came of one is written into its run where it is settled."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from interlock.core.chain import Receipt
from interlock.core.effect import CallEvent, CallState
from interlock.ports import Claim, NotMoved, RunClaim, RunEntry, RunMove, RunNote
from interlock.testing.store_contract_runs import LATER_US, WORDS, RunStore, begun, found, sequences, step
from interlock.testing.store_contract_shared import ContractTests, claimed, verified
from interlock.testing.store_values import NOW_US, RUN, TENANT, Values


def note(claim: RunClaim, version: int = 1) -> RunNote:
    """A step that writes down the receipt of the call."""

    def move(receipt: Receipt) -> RunMove:
        return replace(step(claim, version), entries=(RunEntry("came", NOW_US, b"%d" % receipt.sequence),))

    return RunNote(claim, move)


async def state_of(store: RunStore, call: Claim) -> CallState:
    """Where the call stands, which has to be there."""
    there = await store.find(TENANT, call.operation_id)
    assert there is not None
    return there.state


class NotedRunContract(ContractTests):
    """What a store promises of calls that are settled in a run."""

    @pytest.mark.parametrize("is_read", [True, False])
    async def test_what_came_of_a_call_is_written_with_its_settlement(
        self, *, store: RunStore, values: Values, is_read: bool
    ) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.read() if is_read else values.intent("k"))
        receipt, moved = await store.runs.settle_in_run(values.settlement(call), note(run))
        assert (receipt is not None, moved) == (True, 2)
        head = await found(store)
        assert (head.version, head.state, head.held, head.changed_us) == (2, "waiting", True, NOW_US + 1)
        came = RunEntry("came", NOW_US, b"%d" % (receipt.sequence if receipt else 0), 2)
        assert await store.runs.run_entries(TENANT, RUN, after=1) == (came,)
        kept = await store.find(TENANT, call.operation_id)
        assert is_read if kept is None else kept.state is CallState.SUCCEEDED
        assert [each.sequence for each in await verified(store)] == [receipt.sequence if receipt else 0]
        assert await store.runs.move_run(step(run, 2)) == 3

    async def test_what_came_of_a_call_without_a_claim_is_written_with_its_record(
        self, *, store: RunStore, values: Values
    ) -> None:
        run = await begun(store)
        receipt, moved = await store.runs.settle_in_run(values.entry(calls=1), note(run))
        assert (receipt is not None, moved) == (True, 2)
        came = RunEntry("came", NOW_US, b"%d" % (receipt.sequence if receipt else 0), 2)
        assert await store.runs.run_entries(TENANT, RUN, after=1) == (came,)
        assert [each.sequence for each in await verified(store)] == [receipt.sequence if receipt else 0]
        assert await store.runs.tell_run(TENANT, RUN, WORDS) == 3
        again, moved = await store.runs.settle_in_run(values.entry(calls=1), note(run, 2))
        assert (again is not None, moved) == (True, NotMoved.BEHIND)
        assert await sequences(store) == [1, 2, 3]
        assert [each.sequence for each in await verified(store)] == [again.sequence if again else 0]

    async def test_of_a_run_that_was_told_something_the_call_alone_is_settled(
        self, *, store: RunStore, values: Values
    ) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.intent("k"))
        assert await store.runs.tell_run(TENANT, RUN, WORDS) == 2
        receipt, moved = await store.runs.settle_in_run(values.settlement(call), note(run))
        assert (receipt is not None, moved) == (True, NotMoved.BEHIND)
        assert await state_of(store, call) is CallState.SUCCEEDED
        assert await sequences(store) == [1, 2]
        assert await store.runs.move_run(step(run, 2)) == 3

    @pytest.mark.parametrize("why", [NotMoved.LOST, NotMoved.OVER, NotMoved.MISSING])
    async def test_who_does_not_have_the_run_any_more_settles_its_call_alone(
        self, *, store: RunStore, values: Values, why: NotMoved
    ) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.intent("k"))
        match why:
            case NotMoved.LOST:
                await store.runs.move_run(step(run, release=True))
                assert await store.runs.take_run(TENANT, RUN, LATER_US) is not None
            case NotMoved.OVER:
                await store.runs.move_run(step(run, ended="done"))
            case _:
                run = replace(run, id="none")
        receipt, moved = await store.runs.settle_in_run(values.settlement(call), note(run))
        assert (receipt is not None, moved) == (True, why)
        assert await state_of(store, call) is CallState.SUCCEEDED
        assert await sequences(store) == ([1] if why is NotMoved.MISSING else [1, 2])

    async def test_nothing_is_written_of_a_call_that_is_not_settled(self, *, store: RunStore, values: Values) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.intent("k"))
        fenced = replace(call, fence=call.fence + 1)
        assert await store.runs.settle_in_run(values.settlement(fenced), note(run)) == (None, None)
        assert await state_of(store, call) is CallState.CLAIMED
        await store.settle(values.settlement(call))
        assert await store.runs.settle_in_run(values.settlement(call), note(run)) == (None, None)
        assert await sequences(store) == [1]
        assert (await found(store)).version == 1

    @pytest.mark.parametrize("fault", [ValueError, RecursionError, AssertionError])
    async def test_of_a_step_that_cannot_be_made_the_call_alone_is_settled(
        self, *, store: RunStore, values: Values, fault: type[Exception]
    ) -> None:
        def move(receipt: Receipt) -> RunMove:
            raise fault("it cannot be made")

        run = await begun(store)
        call = await claimed(store, intent=values.intent("k"))
        receipt, moved = await store.runs.settle_in_run(values.settlement(call), RunNote(run, move))
        assert (receipt is not None, moved) == (True, None)
        assert await state_of(store, call) is CallState.SUCCEEDED
        assert await sequences(store) == [1]
        assert await store.runs.move_run(step(run)) == 2
        assert len(await verified(store)) == 1

    async def test_an_outcome_that_was_lost_is_written_too(self, *, store: RunStore, values: Values) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.read())
        lost = values.settlement(call, CallEvent.LOSE_OUTCOME)
        receipt, moved = await store.runs.settle_in_run(lost, note(run))
        assert (receipt is not None, moved) == (True, 2)
        assert await state_of(store, call) is CallState.UNKNOWN

    async def test_of_calls_that_end_at_once_each_version_takes_one(self, *, store: RunStore, values: Values) -> None:
        run = await begun(store)
        calls = [await claimed(store, intent=values.intent(f"k{number}")) for number in range(8)]
        came = await asyncio.gather(
            *[
                store.runs.settle_in_run(values.settlement(call), note(run, 1 + number // 2))
                for number, call in enumerate(calls)
            ]
        )
        assert all(receipt is not None for receipt, _ in came)
        assert sorted(moved for _, moved in came if isinstance(moved, int)) == [2, 3, 4, 5]
        assert await sequences(store) == [1, 2, 3, 4, 5]
        assert {await state_of(store, call) for call in calls} == {CallState.SUCCEEDED}

    async def test_what_was_handed_over_of_a_run_is_settled_and_written(
        self, *, store: RunStore, values: Values
    ) -> None:
        run = await begun(store)
        call = await claimed(store, intent=values.intent("k"))
        settling = asyncio.create_task(store.runs.settle_in_run(values.settlement(call), note(run)))
        await asyncio.sleep(0)
        settling.cancel()
        assert (await found(store)).version == 2
        assert await state_of(store, call) is CallState.SUCCEEDED
