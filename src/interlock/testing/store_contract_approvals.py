"""The part of a store's contract about approvals: asked once, changed by one, used once, void where they must be."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from interlock.core.approval import ApprovalState, Vote
from interlock.core.budget import Amounts, Reservation, Usage
from interlock.ports import ApprovalChange, Asking, Claim, NotClaimed
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import DAY_US, NOW_US, SCOPE, TENANT, Values

VOTE = Vote("bob", frozenset({"editor"}), approve=True, at_us=NOW_US, note="\N{GRINNING FACE}")


async def granted(store: Store, *, values: Values, asking: Asking) -> Asking:
    """The same question, granted."""
    await store.ask(asking)
    assert await store.change(values.granted(asking)) is not None
    return asking


async def state_of(store: Store, *, asking: Asking) -> ApprovalState:
    """Where the approval stands."""
    found = await store.approval(TENANT, asking.approval.id)
    assert found is not None
    return found[0].state


class ApprovalContract(ContractTests):
    """Questions, votes and grants."""

    async def test_a_question_is_kept_with_the_operation_that_will_run(self, *, store: Store, values: Values) -> None:
        asking = values.asking("k")
        asked, receipt = await store.ask(asking)
        assert receipt is not None
        assert (asked, receipt.sequence) == (asking.approval, 1)
        assert await store.approval(TENANT, asked.id) == (asking.approval, asking.operation)
        assert await store.approval("globex", asked.id) is None
        assert await store.approvals("globex") == ()
        assert await store.approvals(None) == await store.approvals(TENANT) != ()

    async def test_waiting_binds_no_key_and_holds_no_budget(self, *, store: Store, values: Values) -> None:
        charge = (Reservation(SCOPE, Amounts(calls=1)),)
        await store.ask(replace(values.asking("k"), charges=charge))
        seen = await store.look(values.look("k"))
        assert seen.prior is None
        assert seen.usage[0] == Usage(Amounts(calls=1))
        await claimed(store, intent=values.intent("k"))

    async def test_an_identical_question_is_given_back_and_nothing_is_written(
        self, *, store: Store, values: Values
    ) -> None:
        first = values.asking("k")
        charge = (Reservation(SCOPE, Amounts(calls=1)),)
        same = replace(first, approval=replace(first.approval, id="again"), event=values.event(), charges=charge)
        await store.ask(first)
        assert await store.ask(same) == (first.approval, None)
        assert await store.approvals(TENANT) == (first.approval,)
        assert [head.sequence for head in await store.heads()] == [1]
        assert Usage.read((await store.look(values.look("k"))).usage[0]).used == Amounts()

    @pytest.mark.parametrize(
        "differs", ["key", "operation_digest", "slice_digest", "principal", "resource_version", "expired", "decided"]
    )
    async def test_a_question_that_differs_is_one_of_its_own(
        self, *, store: Store, values: Values, differs: str
    ) -> None:
        first = values.asking("k")
        await store.ask(first)
        approval = replace(first.approval, id="second")
        match differs:
            case "key":
                approval = replace(approval, key="other")
            case "expired":
                approval = replace(approval, asked_at_us=first.approval.expires_at_us)
            case "decided":
                decided = values.granted(first)
                await store.change(replace(decided, changed=replace(decided.changed, state=ApprovalState.DENIED)))
            case _:
                approval = replace(approval, binding=replace(approval.binding, **{differs: "another"}))
        asked, _ = await store.ask(replace(first, approval=approval, event=values.event()))
        assert asked.id == "second"

    async def test_an_unused_grant_is_given_back_while_it_is_enough_and_nobody_is_asked_again(
        self, *, store: Store, values: Values
    ) -> None:
        first = values.asking("k")
        given = values.granted(first)
        await store.ask(first)
        await store.change(given)
        same = replace(first, approval=replace(first.approval, id="again"), event=values.event())
        assert await store.ask(same) == (given.changed, None)
        more = replace(first.approval.requirement, roles=frozenset({"editor", "lead"}))
        larger = replace(first, approval=replace(first.approval, id="larger", requirement=more), event=values.event())
        assert (await store.ask(larger))[0].id == "larger"

    async def test_a_claim_leaves_another_grant_of_its_key_as_it_is(self, *, store: Store, values: Values) -> None:
        given, other = values.asking("k"), values.asking("k")
        other = replace(other, approval=replace(other.approval, binding=replace(other.approval.binding, principal="x")))
        for each in (given, other):
            await store.ask(each)
            assert await store.change(values.granted(each)) is not None
        await claimed(store, intent=replace(values.intent("k"), approval=None))
        assert [each.state.value for each in await store.approvals(TENANT)] == ["granted", "granted"]

    async def test_questions_without_a_key_are_never_the_same(self, *, store: Store, values: Values) -> None:
        first = values.asking()
        await store.ask(first)
        approval = replace(first.approval, id="second")
        asked, _ = await store.ask(replace(first, approval=approval, event=values.event()))
        assert asked.id == "second"
        assert len(await store.approvals(TENANT)) == 2

    async def test_approvals_are_listed_oldest_first_by_state(self, *, store: Store, values: Values) -> None:
        late, early = values.asking("a"), values.asking("b")
        early = replace(early, approval=replace(early.approval, asked_at_us=NOW_US - 1))
        await store.ask(late)
        await store.ask(early)
        assert await store.approvals(TENANT) == (early.approval, late.approval)
        await store.change(values.granted(early))
        assert await store.approvals(TENANT, ApprovalState.PENDING) == (late.approval,)

    async def test_of_two_votes_on_the_same_state_one_counts(self, *, store: Store, values: Values) -> None:
        asking = values.asking("k")
        await store.ask(asking)
        expected = asking.approval
        changed = replace(expected, votes=(VOTE,))
        steps = [ApprovalChange(expected, changed, values.event()) for _ in range(5)]
        receipts = await asyncio.gather(*[store.change(step) for step in steps])
        assert sum(receipt is not None for receipt in receipts) == 1
        found = await store.approval(TENANT, expected.id)
        assert found is not None
        assert found[0] == changed
        assert await store.change(ApprovalChange(expected, changed, values.event())) is None
        missing = replace(expected, id="none")
        assert await store.change(ApprovalChange(missing, missing, values.event())) is None

    async def test_a_denial_is_remembered_by_the_run(self, *, store: Store, values: Values) -> None:
        asking = values.asking("k")
        await store.ask(asking)
        before = (await store.look(values.look())).run
        changed = replace(asking.approval, state=ApprovalState.DENIED)
        await store.change(ApprovalChange(asking.approval, changed, values.event()))
        run = (await store.look(values.look())).run
        assert run is not None
        assert before is not None
        assert run.denied == frozenset({asking.operation.digest})
        assert run.version == before.version + 1

    async def test_of_racing_resumes_one_uses_the_approval(self, *, store: Store, values: Values) -> None:
        asking = await granted(store, values=values, asking=values.asking())
        intents = [
            replace(values.resumed(asking), operation=replace(asking.operation, id=f"try-{number}"))
            for number in range(5)
        ]
        answers = await asyncio.gather(*[store.claim(intent) for intent in intents])
        assert sum(isinstance(answer, Claim) for answer in answers) == 1
        assert answers.count(NotClaimed.APPROVAL) == 4
        assert await state_of(store, asking=asking) is ApprovalState.USED
        await verified(store)

    async def test_a_refused_claim_leaves_the_approval_unused(self, *, store: Store, values: Values) -> None:
        asking = await granted(store, values=values, asking=values.asking("k"))
        intent = values.resumed(asking)
        holder = await claimed(store, intent=values.intent("k"))
        assert await store.claim(intent) is NotClaimed.KEY
        assert await store.claim(replace(intent, epoch=7)) is NotClaimed.EPOCH
        assert await state_of(store, asking=asking) is ApprovalState.GRANTED
        await store.settle(values.settlement(holder))

    @pytest.mark.parametrize("state", [each for each in ApprovalState if each is not ApprovalState.GRANTED])
    async def test_only_a_granted_approval_can_be_used(
        self, *, store: Store, values: Values, state: ApprovalState
    ) -> None:
        asking = values.asking("k")
        await store.ask(asking)
        changed = replace(values.granted(asking).changed, state=state)
        await store.change(ApprovalChange(asking.approval, changed, values.event()))
        assert await store.claim(values.resumed(asking)) is NotClaimed.APPROVAL
        assert (await store.look(values.look("k"))).prior is None

    async def test_an_approval_that_nobody_voted_for_is_not_used_whatever_its_state(
        self, *, store: Store, values: Values
    ) -> None:
        asking = values.asking("k")
        await store.ask(asking)
        changed = replace(asking.approval, state=ApprovalState.GRANTED)
        await store.change(ApprovalChange(asking.approval, changed, values.event()))
        assert await store.claim(values.resumed(asking)) is NotClaimed.APPROVAL

    async def test_an_approval_is_used_before_it_expires_and_for_what_it_was_given(
        self, *, store: Store, values: Values
    ) -> None:
        asking = await granted(store, values=values, asking=values.asking("k"))
        intent = values.resumed(asking)
        other = replace(asking.operation, digest="another")
        assert await store.claim(replace(intent, at_us=NOW_US + DAY_US)) is NotClaimed.APPROVAL
        assert await store.claim(replace(intent, operation=other)) is NotClaimed.APPROVAL
        assert await store.claim(replace(intent, approval="none")) is NotClaimed.APPROVAL
        await claimed(store, intent=replace(intent, at_us=NOW_US + DAY_US - 1))

    async def test_a_claim_voids_the_other_questions_that_wait_on_its_key(
        self, *, store: Store, values: Values
    ) -> None:
        mine = await granted(store, values=values, asking=values.asking("k"))
        same_key, other_key = values.asking("k"), values.asking("other")
        await store.ask(same_key)
        await store.ask(other_key)
        await claimed(store, intent=values.resumed(mine))
        assert await state_of(store, asking=mine) is ApprovalState.USED
        assert await state_of(store, asking=same_key) is ApprovalState.VOID
        assert await state_of(store, asking=other_key) is ApprovalState.PENDING

    @pytest.mark.parametrize("days", [1, 9])
    async def test_retention_forgets_closed_questions_whose_key_answers_no_more(
        self, *, store: Store, values: Values, days: int
    ) -> None:
        """Its call's key answers for so many days; what waits, or was granted and not used, stays."""
        waiting, unused, used = (values.asking(key) for key in ("waiting", "unused", "used"))
        await store.ask(waiting)
        for asking in (unused, used):
            await granted(store, values=values, asking=asking)
        claim = await claimed(store, intent=replace(values.resumed(used), lifetime_us=days * DAY_US))
        await store.purge(NOW_US + 10 * DAY_US)
        assert await store.approval(TENANT, used.approval.id) is not None
        await store.settle(values.settlement(claim))
        await store.purge(NOW_US + 2 * DAY_US)
        left = {each.id for each in await store.approvals(TENANT)}
        assert left == {each.approval.id for each in ((waiting, unused) if days == 1 else (waiting, unused, used))}
