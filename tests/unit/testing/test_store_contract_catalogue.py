"""The contract notices stores that change what is published."""

import pytest

from interlock.core.journal import Event
from interlock.ports import Registered
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_catalogue import CatalogueContract
from interlock.testing.store_values import Values


class Overwrites(MemoryStore):
    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        for each in found:
            self._versions._rows.pop((each.tenant, each.source, each.name, each.version), None)
        return await super().publish(found, event)


class AlwaysRises(MemoryStore):
    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        await super().publish(found, event)
        self._epoch += 1
        return self._epoch


@pytest.mark.parametrize(
    ("broken", "test", "seen"),
    [
        (Overwrites, "test_a_published_version_never_changes", pytest.fail.Exception),
        (Overwrites, "test_a_moved_version_keeps_its_place", AssertionError),
        (AlwaysRises, "test_what_changes_nothing_leaves_the_epoch", AssertionError),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str, seen: type[BaseException]) -> None:
    with pytest.raises(seen):
        await getattr(CatalogueContract(), test)(store=broken(), values=Values())
    await getattr(CatalogueContract(), test)(store=MemoryStore(), values=Values())
