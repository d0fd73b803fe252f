"""The contract notices stores that let anybody move a run, lose what was said, or go on after the end."""

import inspect
from dataclasses import replace

import pytest

from interlock.core.journal import Event
from interlock.ports import NewRun, NotMoved, RunClaim, RunEntry, RunMove, RunQuery, StoredRun
from interlock.store.memory import MemoryStore
from interlock.store.memory_runs import MemoryRuns
from interlock.testing.store_contract_runs import RunContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values


class AnyFence(MemoryRuns):
    async def move_run(self, move: RunMove) -> int | NotMoved:
        run = await self.run(move.claim.tenant, move.claim.id)
        fence = move.claim.fence if run is None else run.fence
        return await super().move_run(replace(move, claim=replace(move.claim, fence=fence)))


class AnyVersion(MemoryRuns):
    async def move_run(self, move: RunMove) -> int | NotMoved:
        run = await self.run(move.claim.tenant, move.claim.id)
        return await super().move_run(move if run is None else replace(move, version=run.version))


class AnyOwner(MemoryRuns):
    """Moves what it does not hold."""

    async def move_run(self, move: RunMove) -> int | NotMoved:
        found = self._runs.get((move.claim.tenant, move.claim.id))
        if found is not None and not found.over:
            found.held = found.own = True
        return await super().move_run(move)


class NeverOver(MemoryRuns):
    async def move_run(self, move: RunMove) -> int | NotMoved:
        moved = await super().move_run(move)
        found = self._runs.get((move.claim.tenant, move.claim.id))
        if found is not None:
            found.over = False
        return moved


class EndsNoCalls(MemoryRuns):
    async def move_run(self, move: RunMove) -> int | NotMoved:
        before = self._books.runs[move.claim.tenant, move.claim.id]
        moved = await super().move_run(move)
        self._books.runs[move.claim.tenant, move.claim.id] = before
        return moved


class ChargesFirst(MemoryRuns):
    async def move_run(self, move: RunMove) -> int | NotMoved:
        self._books.charge(move.charges)
        return await super().move_run(replace(move, charges=()))


class RecordsFirst(MemoryRuns):
    async def begin_run(self, new: NewRun) -> RunClaim | None:
        self._record(new.event)
        return await super().begin_run(replace(new, event=None))

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        self._record(event)
        return await super().tell_run(tenant, run_id, entry)


class BeginsAnew(MemoryRuns):
    async def begin_run(self, new: NewRun) -> RunClaim | None:
        self._runs.pop((new.tenant, new.id), None)
        return await super().begin_run(new)


class TakesFromTheLiving(MemoryRuns):
    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        if (tenant, run_id) in self._runs:
            self._runs[tenant, run_id].own = False
        return await super().take_run(tenant, run_id, at_us)


class SameFence(MemoryRuns):
    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        taken = await super().take_run(tenant, run_id, at_us)
        if taken is not None:
            found = self._runs[tenant, run_id]
            found.fence = 1
        return None if taken is None else replace(taken, fence=1)


class HeldByTheDead(MemoryRuns):
    def abandon(self) -> None:
        """Nobody notices."""


class TellsInPassing(MemoryRuns):
    """What is said makes nothing due."""

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        before = await self.run(tenant, run_id)
        told = await super().tell_run(tenant, run_id, entry, event=event)
        if before is not None:
            found = self._runs[tenant, run_id]
            found.wake_us = before.wake_us
        return told


class OldestFirst(MemoryRuns):
    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        return (await super().runs(query))[::-1]


class ForAll(MemoryRuns):
    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        return await super().runs(replace(query, tenant=None))


class Unbounded(MemoryRuns):
    async def run_entries(
        self, tenant: str, run_id: str, *, after: int = 0, limit: int = 1_000
    ) -> tuple[RunEntry, ...]:
        return await super().run_entries(tenant, run_id, after=after)


class DropsAll(MemoryRuns):
    def drop(self, before_us: int) -> None:
        self._runs = {key: run for key, run in self._runs.items() if run.changed_us >= before_us}


class DropsNothing(MemoryRuns):
    def drop(self, before_us: int) -> None:
        """Everything is kept for ever."""


class Crashes(RunContract):
    async def after_crash(self, store: Store) -> Store:
        assert isinstance(store, MemoryStore)
        store.abandon()
        return store


def store_with(runs: type[MemoryRuns]) -> MemoryStore:
    store = MemoryStore()
    store.runs = runs(store._books, chain=store._chain, settle=store.settle)
    return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (AnyFence, "a_move_under_another_fence_is_lost"),
        (SameFence, "a_move_under_another_fence_is_lost"),
        (AnyOwner, "a_move_under_another_fence_is_lost"),
        (AnyOwner, "the_run_of_a_dead_process_is_due_and_lost_to_it"),
        (HeldByTheDead, "the_run_of_a_dead_process_is_due_and_lost_to_it"),
        (AnyVersion, "who_has_not_read_everything_moves_nothing"),
        (AnyVersion, "of_moves_at_once_each_version_takes_one"),
        (ChargesFirst, "who_has_not_read_everything_moves_nothing"),
        (RecordsFirst, "a_run_is_begun_once_and_held_by_who_began_it"),
        (RecordsFirst, "a_run_that_is_over_takes_nothing_any_more"),
        (BeginsAnew, "a_run_is_begun_once_and_held_by_who_began_it"),
        (NeverOver, "a_run_that_is_over_takes_nothing_any_more"),
        (EndsNoCalls, "no_call_of_an_ended_run_is_decided_as_if_it_went_on"),
        (TakesFromTheLiving, "a_run_is_taken_from_nobody_who_is_at_work"),
        (TellsInPassing, "whoever_tells_a_run_makes_it_due"),
        (OldestFirst, "runs_are_listed_newest_first_page_by_page"),
        (ForAll, "runs_are_listed_newest_first_page_by_page"),
        (Unbounded, "entries_are_read_page_by_page"),
        (DropsAll, "retention_drops_runs_that_were_over_before"),
        (DropsNothing, "retention_drops_runs_that_were_over_before"),
    ],
)
async def test_a_store_that_breaks_a_promise_is_noticed(broken: type[MemoryRuns], test: str) -> None:
    run = getattr(Crashes(), f"test_{test}")
    asked = inspect.signature(run).parameters
    given = {name: value for name, value in {"values": Values(), "has_called": True}.items() if name in asked}
    with pytest.raises(AssertionError):
        await run(store=store_with(broken), **given)
    await run(store=MemoryStore(), **given)
