"""Documents in memory hold the contract of `tests/contract`; here: nothing is shared with another store."""

from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_documents import AGENT, document, of, saved
from interlock.testing.store_values import Values


async def test_two_stores_share_nothing() -> None:
    one, other, values = MemoryStore(), MemoryStore(), Values()
    assert await saved(one, values, document()) == 1
    assert await of(other, AGENT) == ()
    assert await other.epoch() == 0
