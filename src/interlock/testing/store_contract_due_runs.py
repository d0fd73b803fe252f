"""The part of a store's contract about which runs are due: by time, by what they were told, by their approvals."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.core.approval import ApprovalState
from interlock.ports import ApprovalChange, Asking, NotClaimed, RunClaim
from interlock.testing.store_contract_runs import (
    LATER_US,
    WORDS,
    RunStore,
    begun,
    due,
    found,
    let_go,
    new_run,
    sequences,
    step,
)
from interlock.testing.store_contract_shared import ContractTests, claimed
from interlock.testing.store_values import NOW_US, RUN, TENANT, Values


class DueRunContract(ContractTests):
    """What a store promises of runs that wait."""

    async def test_runs_are_due_when_their_time_has_come_the_longest_first(self, store: RunStore) -> None:
        for wake_s in (3, 1, 2, 4):
            await let_go(store, f"run-{wake_s}", wake_us=NOW_US + wake_s)
        await let_go(store, "never", wake_us=None)
        claim = await begun(store, "held")
        await store.runs.move_run(step(claim, wake_us=NOW_US + 1))
        assert await due(store, NOW_US + 3) == ["run-1", "run-2", "run-3"]
        first, second = await store.runs.due_runs(NOW_US + 3, 2)
        assert (first, second) == (await found(store, "run-1"), await found(store, "run-2"))
        await store.runs.tell_run(TENANT, "never", replace(WORDS, at_us=NOW_US + 2))
        await store.runs.tell_run(TENANT, "held", replace(WORDS, at_us=NOW_US))
        assert (await due(store, NOW_US + 3))[:2] == ["held", "run-1"]
        assert set(await due(store, NOW_US + 3)) == {"held", "run-1", "run-2", "never", "run-3"}

    @pytest.mark.parametrize("state", [each for each in ApprovalState if each is not ApprovalState.PENDING])
    async def test_an_approval_that_changes_makes_its_run_due(
        self, *, store: RunStore, values: Values, state: ApprovalState
    ) -> None:
        await let_go(store, RUN, wake_us=None)
        await let_go(store, "run-2", wake_us=None)
        asking, other = values.asking("k"), values.asking("k2", run=None)
        for each in (asking, other):
            await store.ask(each)
        assert await due(store) == []
        for each in (asking, other):
            changed = replace(each.approval, state=state)
            assert await store.change(ApprovalChange(each.approval, changed, values.event())) is not None
        assert await due(store) == [RUN]
        assert await sequences(store) == [1, 2]

    async def test_a_vote_that_decides_nothing_makes_nothing_due(self, *, store: RunStore, values: Values) -> None:
        await let_go(store, RUN, wake_us=None)
        asking = values.asking("k")
        await store.ask(asking)
        granted = values.granted(asking)
        voted = replace(granted.changed, state=ApprovalState.PENDING)
        assert await store.change(replace(granted, changed=voted)) is not None
        assert await store.change(granted) is None
        assert await due(store) == []
        assert await store.change(replace(granted, expected=voted)) is not None
        assert await due(store) == [RUN]

    async def test_a_claim_makes_the_runs_due_whose_approvals_it_uses_or_voids(
        self, *, store: RunStore, values: Values
    ) -> None:
        used, sibling, apart = values.asking("k"), values.asking("k", run="run-2"), values.asking("k3", run="run-3")
        for each in (used, sibling, apart):
            await store.ask(each)
        await store.change(values.granted(used))
        for run in (RUN, "run-2", "run-3"):
            await let_go(store, run, wake_us=None)
        await claimed(store, intent=values.intent("unasked"))
        assert await due(store) == []
        await claimed(store, intent=values.resumed(used))
        assert set(await due(store)) == {RUN, "run-2"}

    async def test_no_approval_wakes_a_run_that_is_over_or_anothers(self, *, store: RunStore, values: Values) -> None:
        asking = await self.granted_while_held(store, values)
        assert (await found(store)).wake_us == 0
        await store.runs.begin_run(new_run(tenant="globex"))
        assert await store.runs.move_run(step(RunClaim(TENANT, RUN, 1), ended="done")) == 2
        assert await store.claim(values.resumed(asking)) is NotClaimed.RUN
        granted = values.granted(asking).changed
        withdrawn = replace(granted, state=ApprovalState.WITHDRAWN)
        assert await store.change(ApprovalChange(granted, withdrawn, values.event())) is not None
        assert (await found(store)).wake_us is None
        assert await due(store, LATER_US) == []

    async def granted_while_held(self, store: RunStore, values: Values) -> Asking:
        """A question of a run that is held, and its answer."""
        await begun(store)
        asking = values.asking("k")
        await store.ask(asking)
        assert await store.change(values.granted(asking)) is not None
        return asking

    async def test_a_move_on_its_way_hides_no_approval(self, *, store: RunStore, values: Values) -> None:
        await self.granted_while_held(store, values)
        claim = RunClaim(TENANT, RUN, 1)
        assert await store.runs.move_run(step(claim, wake_us=LATER_US)) == 2
        assert ((await found(store)).wake_us, await due(store)) == (0, [RUN])
        assert await store.runs.move_run(step(claim, 2, wake_us=LATER_US)) == 3
        assert ((await found(store)).wake_us, await due(store)) == (LATER_US, [])

    async def test_who_takes_a_run_has_seen_its_approvals(self, *, store: RunStore, values: Values) -> None:
        await let_go(store, RUN, wake_us=None)
        asking = values.asking("k")
        await store.ask(asking)
        assert await store.change(values.granted(asking)) is not None
        claim = await store.runs.take_run(TENANT, RUN, NOW_US)
        assert claim is not None
        assert (await found(store)).wake_us is None
        await store.runs.move_run(step(claim, 2, wake_us=LATER_US))
        assert (await found(store)).wake_us == LATER_US
