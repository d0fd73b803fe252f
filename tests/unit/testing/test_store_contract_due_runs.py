"""The contract notices stores that let a run sleep on though an approval was decided, or wake others."""

import inspect

import pytest

from interlock.core.approval import ApprovalState
from interlock.ports import RunClaim, StoredRun
from interlock.store.memory import MemoryStore
from interlock.store.memory_runs import MemoryRuns
from interlock.testing.store_contract_due_runs import DueRunContract
from interlock.testing.store_values import Values


class SleepsOn(MemoryRuns):
    def wake(self, tenant: str, run_id: str | None) -> None:
        """Whatever is decided."""


class WakesAll(MemoryRuns):
    def wake(self, tenant: str, run_id: str | None) -> None:
        for each in tuple(self._runs):
            super().wake(*each)


class WakesTheDead(MemoryRuns):
    def wake(self, tenant: str, run_id: str | None) -> None:
        found = self._runs.get((tenant, run_id or ""))
        if found is not None:
            found.wake_us = 0


class Forgets(MemoryRuns):
    """A move that was on its way has the last word."""

    def wake(self, tenant: str, run_id: str | None) -> None:
        super().wake(tenant, run_id)
        for each in self._runs.values():
            each.woken = False


class NeverForgets(MemoryRuns):
    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        taken = await super().take_run(tenant, run_id, at_us)
        self.wake(tenant, run_id)
        return taken


class AnyOrder(MemoryRuns):
    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        return (await super().due_runs(at_us, limit))[::-1]


class TooEarly(MemoryRuns):
    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        return await super().due_runs(2**62, limit)


def store_with(runs: type[MemoryRuns]) -> MemoryStore:
    store = MemoryStore()
    store.runs = runs(store._books, chain=store._chain, settle=store.settle)
    return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (SleepsOn, "an_approval_that_changes_makes_its_run_due"),
        (SleepsOn, "a_claim_makes_the_runs_due_whose_approvals_it_uses_or_voids"),
        (WakesAll, "an_approval_that_changes_makes_its_run_due"),
        (WakesTheDead, "no_approval_wakes_a_run_that_is_over_or_anothers"),
        (Forgets, "a_move_on_its_way_hides_no_approval"),
        (NeverForgets, "who_takes_a_run_has_seen_its_approvals"),
        (AnyOrder, "runs_are_due_when_their_time_has_come_the_longest_first"),
        (TooEarly, "runs_are_due_when_their_time_has_come_the_longest_first"),
    ],
)
async def test_a_store_that_breaks_a_promise_is_noticed(broken: type[MemoryRuns], test: str) -> None:
    run = getattr(DueRunContract(), f"test_{test}")
    asked = inspect.signature(run).parameters
    given = {
        name: value for name, value in {"values": Values(), "state": ApprovalState.DENIED}.items() if name in asked
    }
    with pytest.raises(AssertionError):
        await run(store=store_with(broken), **given)
    await run(store=MemoryStore(), **given)
