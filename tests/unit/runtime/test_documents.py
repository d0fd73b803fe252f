"""Documents are read as they stand, and what cannot be read is a fault with the name of what it is."""

import pytest

from interlock.core.errors import DocumentChanged, StoreError
from interlock.ports import DocumentKind
from interlock.runtime.documents import held_in, standing, unwritten
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_documents import saved
from interlock.testing.store_values import Values


async def test_what_is_not_there_yet_is_written_by_its_first_change_and_by_one_alone() -> None:
    store, values = MemoryStore(), Values()
    first, second = [await standing(store.documents, DocumentKind.AGENT, tenant="acme", name="desk") for _ in range(2)]
    assert first.is_removed
    await saved(store, values, first.changed(b"1"))
    with pytest.raises(DocumentChanged):
        await saved(store, values, second.changed(b"2"))
    kept = await standing(store.documents, DocumentKind.AGENT, tenant="acme", name="desk")
    assert (kept.revision, kept.body) == (1, b"1")


def test_a_body_is_read_where_there_is_one_and_is_a_fault_where_it_cannot_be() -> None:
    none = unwritten(DocumentKind.AGENT, tenant="acme", name="desk")
    assert held_in(none, int, what="the number") is None
    assert held_in(none.changed(b"7"), int, what="the number") == 7
    with pytest.raises(StoreError, match="the number cannot be read"):
        held_in(none.changed(b"x"), int, what="the number")
