"""The part of a store's contract about runs of models: begun once, moved by one process, told by anybody, ended."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol, cast

import pytest

from interlock.core.budget import Amounts, Reservation, Usage
from interlock.core.journal import EventKind
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.ports import (
    NewRun,
    NotClaimed,
    NotMoved,
    RunClaim,
    RunEntry,
    RunMove,
    RunQuery,
    RunReads,
    Runs,
    StoredRun,
)
from interlock.testing.store_contract_shared import ContractTests, Store, verified
from interlock.testing.store_values import NOW_US, RUN, SCOPE, TENANT, Values

LATER_US = NOW_US + 60_000_000
WORDS = RunEntry("words", NOW_US, b'{"text":"hello"}')


class KeptRuns(Runs, RunReads, Protocol):
    """Runs, as one object."""


class RunStore(Store, Protocol):
    """A store that keeps runs."""

    @property
    def runs(self) -> KeptRuns:
        """Where it keeps them."""


def new_run(run_id: str = RUN, *, tenant: str = TENANT, at_us: int = NOW_US, entries: int = 1) -> NewRun:
    """A run that begins."""
    return NewRun(tenant, run_id, "thinking", "writer", "alice", (WORDS,) * entries, at_us)


async def begun(store: RunStore, run_id: str = RUN, *, at_us: int = NOW_US) -> RunClaim:
    """The claim to a new run of one entry."""
    claim = await store.runs.begin_run(new_run(run_id, at_us=at_us))
    assert claim is not None
    return claim


async def let_go(store: RunStore, run_id: str, *, wake_us: int | None, at_us: int = NOW_US) -> None:
    """A run that waits, held by nobody."""
    claim = await begun(store, run_id, at_us=at_us)
    assert await store.runs.move_run(step(claim, wake_us=wake_us, release=True)) == 2


def step(
    claim: RunClaim, version: int = 1, *, wake_us: int | None = None, release: bool = False, ended: str | None = None
) -> RunMove:
    """A move that appends one entry."""
    at_us, state = NOW_US + version, "waiting" if ended is None else "ended"
    return RunMove(claim, version, (WORDS,), state, at_us, wake_us, release=release, ended=ended)


async def found(store: RunStore, run_id: str = RUN) -> StoredRun:
    """The run, which has to be there."""
    run = await store.runs.run(TENANT, run_id)
    assert run is not None
    return run


async def due(store: RunStore, at_us: int = NOW_US) -> list[str]:
    """The ids of the runs that are due."""
    return [each.id for each in await store.runs.due_runs(at_us, 100)]


async def sequences(store: RunStore, run_id: str = RUN) -> list[int]:
    """Which entries there are."""
    return [each.sequence for each in await store.runs.run_entries(TENANT, run_id)]


class RunContract(ContractTests):
    """What a store promises of runs."""

    async def next_holder(self, store: RunStore) -> RunStore:
        """The same data as the next process finds it; `after_crash` gives back a store of the same kind."""
        return cast("RunStore", await self.after_crash(store))

    # --- begun and moved ----------------------------------------------------------------------------------------------

    async def test_a_run_is_begun_once_and_held_by_who_began_it(self, *, store: RunStore, values: Values) -> None:
        event = values.event(EventKind.CLAIMED, subject=RUN)
        claim = await store.runs.begin_run(replace(new_run(entries=2), event=event))
        assert claim == RunClaim(TENANT, RUN, 1)
        assert await store.runs.begin_run(replace(new_run(), state="other", event=event)) is None
        assert await found(store) == StoredRun(
            TENANT, RUN, "thinking", 2, 1, "writer", "alice", NOW_US, NOW_US, held=True
        )
        written = await store.runs.run_entries(TENANT, RUN)
        assert written == (replace(WORDS, sequence=1), replace(WORDS, sequence=2))
        assert [head.sequence for head in await verified(store)] == [1]
        assert await store.runs.begin_run(new_run(tenant="globex")) == RunClaim("globex", RUN, 1)
        assert [len(await store.runs.run_entries(tenant, RUN)) for tenant in ("globex", "nobody")] == [1, 0]

    async def test_a_move_is_written_whole(self, *, store: RunStore, values: Values) -> None:
        claim = await begun(store)
        said = (RunEntry("asked", NOW_US + 1, b""), RunEntry("called", NOW_US + 2, bytes(range(256)) * 300))
        spent = (Reservation(SCOPE, Amounts(tokens=7)),)
        move = replace(step(claim, wake_us=LATER_US), entries=said, charges=spent, event=values.event())
        assert await store.runs.move_run(move) == 3
        assert await found(store) == StoredRun(
            TENANT, RUN, "waiting", 3, 1, "writer", "alice", NOW_US, NOW_US + 1, LATER_US, held=True
        )
        assert await store.runs.run_entries(TENANT, RUN, after=1) == tuple(
            replace(each, sequence=sequence) for sequence, each in enumerate(said, 2)
        )
        assert Usage.read((await store.look(values.look())).usage[0]).used == Amounts(tokens=7)
        assert [head.sequence for head in await verified(store)] == [1]
        assert await store.runs.move_run(replace(step(claim, 3), entries=())) == 3

    async def test_who_has_not_read_everything_moves_nothing(self, *, store: RunStore, values: Values) -> None:
        claim = await begun(store)
        before = await found(store)
        spent = (Reservation(SCOPE, Amounts(tokens=7)),)
        for version in (0, 2):
            move = replace(step(claim, version, ended="done"), charges=spent, event=values.event())
            assert await store.runs.move_run(move) is NotMoved.BEHIND
        assert await found(store) == before
        assert await sequences(store) == [1]
        seen = await store.look(values.look())
        assert (Usage.read(seen.usage[0]).used, seen.run and seen.run.ended) == (Amounts(), None)
        assert await store.heads() == ()

    async def test_of_moves_at_once_each_version_takes_one(self, store: RunStore) -> None:
        claim = await begun(store)
        moves = [step(claim, 1 + number // 2) for number in range(20)]
        written = await asyncio.gather(*[store.runs.move_run(move) for move in moves])
        assert sorted(each for each in written if isinstance(each, int)) == list(range(2, 12))
        assert await sequences(store) == list(range(1, 12))

    async def test_a_move_under_another_fence_is_lost(self, store: RunStore) -> None:
        claim = await begun(store)
        for fence in (0, 2):
            assert await store.runs.move_run(step(replace(claim, fence=fence))) is NotMoved.LOST
        await store.runs.move_run(step(claim, release=True))
        assert await store.runs.move_run(step(claim, 2)) is NotMoved.LOST
        again = await store.runs.take_run(TENANT, RUN, LATER_US)
        assert again == RunClaim(TENANT, RUN, 2)
        assert await store.runs.move_run(step(claim, 2)) is NotMoved.LOST
        assert await store.runs.move_run(step(again, 2)) == 3

    async def test_what_is_not_there_is_neither_moved_nor_told_nor_taken(self, store: RunStore) -> None:
        await begun(store)
        for tenant, run in (("globex", RUN), (TENANT, "none")):
            assert await store.runs.move_run(step(RunClaim(tenant, run, 1))) is NotMoved.MISSING
            assert await store.runs.tell_run(tenant, run, WORDS) is NotMoved.MISSING
            assert await store.runs.take_run(tenant, run, NOW_US) is None
            assert await store.runs.run(tenant, run) is None
            assert await store.runs.run_entries(tenant, run) == ()

    # --- held ---------------------------------------------------------------------------------------------------------

    async def test_a_run_is_taken_from_nobody_who_is_at_work(self, store: RunStore) -> None:
        claim = await begun(store)
        assert await store.runs.take_run(TENANT, RUN, NOW_US) is None
        await store.runs.move_run(step(claim, wake_us=LATER_US, release=True))
        assert (await found(store)).held is False
        taken = await asyncio.gather(*[store.runs.take_run(TENANT, RUN, LATER_US) for _ in range(5)])
        assert [each for each in taken if each is not None] == [RunClaim(TENANT, RUN, 2)]
        after = await found(store)
        assert (after.fence, after.held, after.version, after.wake_us) == (2, True, 2, LATER_US)
        assert after.changed_us == LATER_US

    async def test_the_run_of_a_dead_process_is_due_and_lost_to_it(self, store: RunStore) -> None:
        claim = await begun(store)
        await begun(store, "other", at_us=NOW_US - 1)
        await store.runs.move_run(step(claim, wake_us=LATER_US))
        assert await due(store) == []
        store = await self.next_holder(store)
        assert await due(store) == ["other", RUN]
        assert (await found(store)).held is False
        assert [each.held for each in await store.runs.runs(RunQuery(TENANT))] == [False, False]
        assert await store.runs.move_run(step(claim, 2)) is NotMoved.LOST
        assert await store.runs.take_run(TENANT, RUN, LATER_US) == RunClaim(TENANT, RUN, 2)
        assert await store.runs.move_run(step(claim, 2)) is NotMoved.LOST
        assert await due(store) == ["other"]
        assert await sequences(store) == [1, 2]

    # --- ended --------------------------------------------------------------------------------------------------------

    async def test_a_run_that_is_over_takes_nothing_any_more(self, *, store: RunStore, values: Values) -> None:
        claim = await begun(store)
        assert await store.runs.move_run(step(claim, wake_us=0, ended="done")) == 2
        run = await found(store)
        assert (run.over, run.held, run.wake_us, run.state) == (True, False, None, "ended")
        assert await store.runs.move_run(step(claim, 2)) is NotMoved.OVER
        assert await store.runs.tell_run(TENANT, RUN, WORDS, event=values.event()) is NotMoved.OVER
        assert await store.runs.take_run(TENANT, RUN, LATER_US) is None
        assert await store.runs.begin_run(new_run()) is None
        store = await self.next_holder(store)
        assert await due(store, LATER_US) == []
        assert await sequences(store) == [1, 2]
        assert await store.heads() == ()

    @pytest.mark.parametrize("has_called", [True, False])
    async def test_no_call_of_an_ended_run_is_decided_as_if_it_went_on(
        self, *, store: RunStore, values: Values, has_called: bool
    ) -> None:
        claim = await begun(store)
        labels = Labels(Confidentiality.CONFIDENTIAL, Trust.UNTRUSTED, frozenset({"web"}))
        if has_called:
            await store.record(replace(values.entry(), labels=labels))
        before = (await store.look(values.look())).run
        assert before is not None
        await store.runs.move_run(step(claim, ended="the goal is met"))
        ended = replace(before, version=before.version + 1, ended="the goal is met")
        assert (await store.look(values.look())).run == ended
        for version in (before.version, None):
            for intent in (values.intent("k"), values.read()):
                assert await store.claim(replace(intent, run_version=version)) is NotClaimed.RUN
        assert await store.open_calls() == ()
        store = await self.next_holder(store)
        assert (await store.look(values.look())).run == ended

    # --- told ---------------------------------------------------------------------------------------------------------

    async def test_whoever_tells_a_run_makes_it_due(self, *, store: RunStore, values: Values) -> None:
        claim = await begun(store)
        await let_go(store, "waits", wake_us=None)
        told = RunEntry("stop", LATER_US, b'"please"')
        assert await store.runs.tell_run(TENANT, "waits", told, event=values.event()) == 3
        assert await store.runs.tell_run(TENANT, RUN, replace(told, at_us=LATER_US + 1)) == 2
        assert await due(store) == ["waits", RUN]
        run = await found(store)
        assert (run.wake_us, run.changed_us, run.held, run.state) == (0, LATER_US + 1, True, "thinking")
        assert (await store.runs.run_entries(TENANT, "waits", after=2)) == (replace(told, sequence=3),)
        assert [head.sequence for head in await verified(store)] == [1]
        assert await store.runs.move_run(step(claim)) is NotMoved.BEHIND
        assert await store.runs.move_run(step(claim, 2)) == 3
        assert (await found(store)).wake_us is None
        assert await due(store) == ["waits"]

    async def test_who_takes_a_run_has_heard_what_it_was_told_before(self, store: RunStore) -> None:
        await let_go(store, RUN, wake_us=LATER_US)
        await store.runs.tell_run(TENANT, RUN, WORDS)
        assert await store.runs.take_run(TENANT, RUN, NOW_US) is not None
        assert (await found(store)).wake_us is None
        assert await due(store) == []
        await store.runs.tell_run(TENANT, RUN, WORDS)
        assert await due(store) == [RUN]

    async def test_what_many_tell_at_once_stands_in_order(self, store: RunStore) -> None:
        await begun(store)
        said = [replace(WORDS, data=b"%d" % number) for number in range(20)]
        told = await asyncio.gather(*[store.runs.tell_run(TENANT, RUN, each) for each in said])
        assert sorted(cast("list[int]", told)) == list(range(2, 22))
        written = {each.sequence: each.data for each in await store.runs.run_entries(TENANT, RUN, after=1)}
        assert written == {sequence: each.data for sequence, each in zip(told, said, strict=True)}

    async def test_what_was_handed_over_is_carried_out_and_seen(self, store: RunStore) -> None:
        claim = await begun(store)
        move = asyncio.create_task(store.runs.move_run(step(claim)))
        await asyncio.sleep(0)
        move.cancel()
        assert (await found(store)).version == 2
        for version in range(3, 9):
            told, seen = await asyncio.gather(store.runs.tell_run(TENANT, RUN, WORDS), found(store))
            assert (told, seen.version) == (version, version)

    # --- read ---------------------------------------------------------------------------------------------------------

    async def test_runs_are_listed_newest_first_page_by_page(self, store: RunStore) -> None:
        for number in range(5):
            await begun(store, f"run-{number}", at_us=NOW_US + number // 2)
        await store.runs.begin_run(replace(new_run("theirs", tenant="globex"), principal="bob"))
        await store.runs.move_run(step(RunClaim(TENANT, "run-3", 1), ended="done"))
        first = await store.runs.runs(RunQuery(TENANT, limit=3))
        assert [each.id for each in first] == ["run-4", "run-3", "run-2"]
        rest = await store.runs.runs(RunQuery(TENANT, before=(first[-1].started_us, first[-1].id), limit=3))
        assert [each.id for each in rest] == ["run-1", "run-0"]
        assert first[0] == await found(store, "run-4")
        for query, ids in (
            (RunQuery(None, before=(NOW_US + 1, "run-2")), ["theirs", "run-1", "run-0"]),
            (RunQuery(None, principal="bob"), ["theirs"]),
            (RunQuery(TENANT, state="ended"), ["run-3"]),
            (RunQuery(TENANT, over=True), ["run-3"]),
            (RunQuery(TENANT, over=False, limit=2), ["run-4", "run-2"]),
            (RunQuery("globex", principal="alice"), []),
        ):
            assert [each.id for each in await store.runs.runs(query)] == ids

    async def test_entries_are_read_page_by_page(self, store: RunStore) -> None:
        assert await store.runs.begin_run(new_run(entries=5)) is not None
        await begun(store, "after")
        pages = [await store.runs.run_entries(TENANT, RUN, after=after, limit=2) for after in (0, 2, 4, 5, 9)]
        assert [[each.sequence for each in page] for page in pages] == [[1, 2], [3, 4], [5], [], []]

    async def test_retention_drops_runs_that_were_over_before(self, *, store: RunStore, values: Values) -> None:
        for run in ("old", "new", "open"):
            claim = await begun(store, run)
            ended = None if run == "open" else "done"
            at_us = LATER_US if run == "new" else NOW_US
            assert await store.runs.move_run(replace(step(claim, ended=ended), at_us=at_us)) == 2
        await store.purge(NOW_US)
        assert len(await store.runs.runs(RunQuery(TENANT))) == 3
        await store.purge(LATER_US)
        assert {each.id for each in await store.runs.runs(RunQuery(None))} == {"new", "open"}
        assert [await sequences(store, run) for run in ("old", "new", "open")] == [[], [1, 2], [1, 2]]
        assert await store.runs.tell_run(TENANT, "old", WORDS, event=values.event()) is NotMoved.MISSING
        assert await store.runs.begin_run(new_run("old", entries=3)) == RunClaim(TENANT, "old", 1)
        assert await sequences(store, "old") == [1, 2, 3]

    async def test_runs_outlive_the_process(self, store: RunStore) -> None:
        await let_go(store, RUN, wake_us=LATER_US)
        before = await found(store), await store.runs.run_entries(TENANT, RUN)
        store = await self.next_holder(store)
        assert (await found(store), await store.runs.run_entries(TENANT, RUN)) == before
        assert await due(store, LATER_US) == [RUN]
