"""The contract notices stores that break their promises about calls."""

from typing import Any

import pytest

from interlock.core.effect import CallState
from interlock.ports import Claim, Intent, NotClaimed, Settlement
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_calls import CallContract
from interlock.testing.store_values import Values


class ForgetsKeys(MemoryStore):
    def _is_free(self, intent: Intent) -> bool:
        return True


class ForgetsEpochs(MemoryStore):
    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        self._epoch = intent.epoch
        return await super().claim(intent)


class ForgetsFences(MemoryStore):
    async def settle(self, settlement: Settlement) -> Any:
        claim = settlement.claim
        call = self._calls.get((claim.tenant, claim.operation_id))
        if call is not None:
            call.fence = claim.fence
        return await super().settle(settlement)


class Overwrites(MemoryStore):
    async def settle(self, settlement: Settlement) -> Any:
        place = (settlement.claim.tenant, settlement.claim.operation_id)
        call = self._calls[place]
        call.state = CallState.CLAIMED
        self._open[place] = call
        return await super().settle(settlement)


class ForgetsRuns(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._books.takes_calls = lambda run, *, at: True  # type: ignore[method-assign]


class JoinsLate(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._books.join = lambda key, **_: None  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (ForgetsKeys, "test_of_many_claims_of_one_key_one_wins"),
        (ForgetsKeys, "test_an_operation_is_claimed_once"),
        (ForgetsKeys, "test_only_the_unknown_call_that_has_the_key_is_continued"),
        (ForgetsEpochs, "test_another_epoch_refuses_the_claim"),
        (ForgetsFences, "test_a_claim_with_another_fence_settles_nothing"),
        (ForgetsFences, "test_a_call_of_unknown_outcome_is_continued_under_a_new_fence"),
        (Overwrites, "test_what_has_ended_is_never_overwritten"),
        (ForgetsRuns, "test_a_run_that_has_changed_refuses_the_claim_that_read_it"),
        (JoinsLate, "test_a_claim_joins_its_ceiling_and_its_tool_into_the_run_at_once"),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        await getattr(CallContract(), test)(store=broken(), values=Values())
    await getattr(CallContract(), test)(store=MemoryStore(), values=Values())
