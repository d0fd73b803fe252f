"""Acts of control of several processes, one after the other."""

import asyncio

import pytest

from interlock.core.errors import VersionExists
from interlock.core.key_mark import KeyMark
from interlock.testing.store_values import Values
from tests.postgres import Opens


async def test_versions_published_by_several_processes_at_once_raise_the_epoch_one_by_one(
    postgres_stores: Opens,
) -> None:
    stores, values = [await postgres_stores() for _ in range(3)], Values()
    found = [(values.registered(f"tool-{number}"),) for number in range(6)]
    epochs = await asyncio.gather(
        *[store.publish(each, values.event()) for store, each in zip(stores * 2, found, strict=True)]
    )
    assert sorted(epochs) == [1, 2, 3, 4, 5, 6]


async def test_a_refused_publication_writes_nothing_and_the_next_one_does(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    await store.publish((values.registered("save"),), values.event())
    with pytest.raises(VersionExists):
        await store.publish((values.registered("other"), values.registered("save", digest="2" * 64)), values.event())
    assert [each.name for each in (await store.versions())[1]] == ["save"]
    assert await store.publish((values.registered("other"),), values.event()) == 2
    assert [head.sequence for head in await store.heads()] == [2]


async def test_of_processes_that_bring_keys_at_once_one_is_believed(postgres_stores: Opens) -> None:
    stores = [await postgres_stores() for _ in range(3)]
    kept = await asyncio.gather(*[store.keep_keys(KeyMark(f"{at}", "c")) for at, store in enumerate(stores)])
    assert len(set(kept)) == 1
    assert await stores[0].keys() == kept[0]
