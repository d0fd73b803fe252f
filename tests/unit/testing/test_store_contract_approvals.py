"""The contract notices stores that use an approval twice, for something else, or too late."""

from dataclasses import replace

import pytest

from interlock.core.approval import Approval, ApprovalState
from interlock.core.chain import Receipt
from interlock.ports import ApprovalChange, Claim, Intent, NotClaimed
from interlock.store.memory import MemoryStore
from interlock.store.memory_recovery import Key
from interlock.testing.store_contract_approvals import ApprovalContract
from interlock.testing.store_values import Values


class NeverUsesUp(MemoryStore):
    def _use_approvals(self, intent: Intent) -> None:
        return None


class UsesUpBeforeItClaims(MemoryStore):
    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        if intent.approval is not None and self._approval((intent.operation.tenant, intent.approval)) is not None:
            self._use_approvals(intent)
        return await super().claim(intent)


class BelievesWhoAsks(MemoryStore):
    def _approval(self, place: Key) -> Approval | None:
        found = super()._approval(place)
        return None if found is None else replace(found, state=ApprovalState.GRANTED)


class NeverExpires(MemoryStore):
    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        return await super().claim(replace(intent, at_us=0))


class LastVoteWins(MemoryStore):
    async def change(self, change: ApprovalChange) -> Receipt | None:
        stored = self._approval((change.expected.tenant, change.expected.id))
        return None if stored is None else await super().change(replace(change, expected=stored))


class MergesEverything(MemoryStore):
    def _same_question(self, asked: Approval) -> Approval | None:
        return next((each for each, _ in self._approvals.values()), None)


class KeepsQuestions(MemoryStore):
    def _drop_questions(self, before_us: int) -> None:
        return None


class DropsQuestionsThatAnswer(MemoryStore):
    def _drop_questions(self, before_us: int) -> None:
        self._keys.clear()
        super()._drop_questions(before_us)


@pytest.mark.parametrize(
    ("broken", "test", "given"),
    [
        (NeverUsesUp, "test_of_racing_resumes_one_uses_the_approval", {}),
        (NeverUsesUp, "test_a_claim_voids_the_other_questions_that_wait_on_its_key", {}),
        (UsesUpBeforeItClaims, "test_a_refused_claim_leaves_the_approval_unused", {}),
        (BelievesWhoAsks, "test_only_a_granted_approval_can_be_used", {"state": ApprovalState.PENDING}),
        (NeverExpires, "test_an_approval_is_used_before_it_expires_and_for_what_it_was_given", {}),
        (LastVoteWins, "test_of_two_votes_on_the_same_state_one_counts", {}),
        (MergesEverything, "test_a_question_that_differs_is_one_of_its_own", {"differs": "key"}),
        (KeepsQuestions, "test_retention_forgets_closed_questions_whose_key_answers_no_more", {"days": 1}),
        (DropsQuestionsThatAnswer, "test_retention_forgets_closed_questions_whose_key_answers_no_more", {"days": 9}),
        (MergesEverything, "test_questions_without_a_key_are_never_the_same", {}),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str, given: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        await getattr(ApprovalContract(), test)(store=broken(), values=Values(), **given)
    await getattr(ApprovalContract(), test)(store=MemoryStore(), values=Values(), **given)
