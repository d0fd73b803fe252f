"""The contract notices stores that write into a run what they may not, or settle no call whose run is gone."""

import inspect

import pytest

from interlock.core.chain import Receipt
from interlock.ports import Entry, NotMoved, RunNote, Settlement
from interlock.store.memory import MemoryStore
from interlock.store.memory_runs import MemoryRuns
from interlock.testing.store_contract_noted_runs import NotedRunContract
from interlock.testing.store_values import Values

Came = tuple[Receipt | None, int | NotMoved | None]


class MovesFirst(MemoryRuns):
    """Writes the step, whatever becomes of the settlement."""

    async def settle_in_run(self, settlement: Settlement, note: RunNote) -> Came:
        moved = await self.move_run(note.move(Receipt("memory", 1, b"")))
        return await self._settle(settlement), moved


class SettlesWithTheStep(MemoryRuns):
    """Settles nothing where the run does not stand as the step has it."""

    async def settle_in_run(self, settlement: Settlement | Entry, note: RunNote) -> Came:
        head = await self.run(note.claim.tenant, note.claim.id)
        move = note.move(Receipt("memory", 1, b""))
        if head is None or head.over or (head.version, head.fence) != (move.version, note.claim.fence):
            return None, None
        return await super().settle_in_run(settlement, note)


class ForgetsTheStep(MemoryRuns):
    async def settle_in_run(self, settlement: Settlement | Entry, note: RunNote) -> Came:
        if isinstance(settlement, Entry):
            return self.record(settlement), None
        return await self._settle(settlement), None


class AnyReceipt(MemoryRuns):
    async def settle_in_run(self, settlement: Settlement | Entry, note: RunNote) -> Came:
        receipt = self.record(settlement) if isinstance(settlement, Entry) else await self._settle(settlement)
        return receipt, await self.move_run(note.move(Receipt("memory", 0, b"")))


def store_with(runs: type[MemoryRuns]) -> MemoryStore:
    store = MemoryStore()
    store.runs = runs(store._books, chain=store._chain, settle=store.settle)
    return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (MovesFirst, "nothing_is_written_of_a_call_that_is_not_settled"),
        (AnyReceipt, "what_came_of_a_call_is_written_with_its_settlement"),
        (AnyReceipt, "nothing_is_written_of_a_call_that_is_not_settled"),
        (ForgetsTheStep, "what_came_of_a_call_is_written_with_its_settlement"),
        (ForgetsTheStep, "what_was_handed_over_of_a_run_is_settled_and_written"),
        (AnyReceipt, "what_came_of_a_call_without_a_claim_is_written_with_its_record"),
        (ForgetsTheStep, "what_came_of_a_call_without_a_claim_is_written_with_its_record"),
        (SettlesWithTheStep, "what_came_of_a_call_without_a_claim_is_written_with_its_record"),
        (SettlesWithTheStep, "of_a_run_that_was_told_something_the_call_alone_is_settled"),
        (SettlesWithTheStep, "who_does_not_have_the_run_any_more_settles_its_call_alone"),
        (SettlesWithTheStep, "of_calls_that_end_at_once_each_version_takes_one"),
    ],
)
async def test_a_store_that_breaks_a_promise_is_noticed(broken: type[MemoryRuns], test: str) -> None:
    run = getattr(NotedRunContract(), f"test_{test}")
    asked = inspect.signature(run).parameters
    given = {name: value for name, value in {"is_read": True, "why": NotMoved.LOST}.items() if name in asked}
    with pytest.raises(AssertionError):
        await run(store=store_with(broken), values=Values(), **given)
    await run(store=MemoryStore(), values=Values(), **given)
