"""What the parts of the contract share holds by itself."""

import pytest

from interlock.ports import Claim
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_shared import ContractTests, claimed, verified
from interlock.testing.store_values import Values


async def test_a_claim_that_has_to_succeed_says_why_it_did_not() -> None:
    store, values = MemoryStore(), Values()
    assert isinstance(await claimed(store, intent=values.intent("k")), Claim)
    with pytest.raises(AssertionError, match="key"):
        await claimed(store, intent=values.intent("k"))


async def test_a_chain_that_was_changed_does_not_verify() -> None:
    store, values = MemoryStore(), Values()
    for _ in range(3):
        await store.append(values.event())
    await verified(store)
    body, *rest = store._chain._links[1]
    store._chain._links[1] = (body + b" ", *rest)
    with pytest.raises(AssertionError):
        await verified(store)


async def test_whoever_provides_a_store_says_how_it_is_found_after_a_crash() -> None:
    with pytest.raises(NotImplementedError, match="does not say"):
        await ContractTests().after_crash(MemoryStore())
