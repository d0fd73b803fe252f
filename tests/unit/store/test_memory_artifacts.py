"""Kept results in memory hold the contract of `tests/contract`; here: nothing is shared with who wrote it."""

from interlock.store.memory_artifacts import MemoryArtifacts
from interlock.testing.store_contract_artifacts import KEPT
from interlock.testing.store_values import NOW_US, TENANT


async def test_two_stores_share_nothing() -> None:
    one, other = MemoryArtifacts(), MemoryArtifacts()
    await one.append(TENANT, "a1", number=0, data=b"x", at_us=NOW_US)
    await one.keep(KEPT)
    assert await other.artifact(TENANT, "a1") is None
    assert await other.part(TENANT, "a1", number=0) is None
