"""The part of a store's contract about versions and policies, and the epoch that rises with them."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.core.errors import VersionExists
from interlock.core.lifecycle import Lifecycle
from interlock.core.policy import PolicySource
from interlock.testing.store_contract_shared import ContractTests, Store
from interlock.testing.store_values import Values

PERMIT = "permit (principal, action, resource);"


class CatalogueContract(ContractTests):
    """What is published, and when it changed."""

    async def test_many_versions_are_published_as_one_change(self, *, store: Store, values: Values) -> None:
        found = (values.registered("b"), values.registered("a"))
        assert await store.publish(found, values.event()) == 1
        assert await store.versions() == (1, found)
        assert await store.epoch() == 1

    async def test_a_moved_version_keeps_its_place(self, *, store: Store, values: Values) -> None:
        first, second = values.registered("b"), values.registered("a")
        await store.publish((first, second), values.event())
        moved = replace(first, state=Lifecycle.RETIRED, retirement='{"by":"c"}')
        assert await store.publish((moved,), values.event()) == 2
        assert await store.versions() == (2, (moved, second))

    async def test_what_changed_after_an_epoch_is_read_without_the_rest(self, *, store: Store, values: Values) -> None:
        first, second, third = values.registered("b"), values.registered("a"), values.registered("c")
        await store.publish((first, second), values.event())
        await store.publish((third,), values.event())
        moved = replace(first, state=Lifecycle.FROZEN)
        assert await store.publish((moved, third), values.event()) == 3
        assert await store.changes(-1) == await store.changes(0) == (3, (moved, second, third))
        assert await store.changes(1) == (3, (moved, third))
        assert await store.changes(2) == (3, (moved,))
        assert await store.changes(3) == (3, ())

    async def test_what_changes_nothing_leaves_the_epoch(self, *, store: Store, values: Values) -> None:
        found = (values.registered("a"),)
        await store.publish(found, values.event())
        assert await store.publish(found, values.event()) == 1
        assert (await store.heads())[0].sequence == 2

    async def test_a_published_version_never_changes(self, *, store: Store, values: Values) -> None:
        old = values.registered("a")
        await store.publish((old,), values.event())
        with pytest.raises(VersionExists):
            await store.publish((values.registered("b"), replace(old, digest="2" * 64)), values.event())
        assert await store.versions() == (1, (old,))
        assert (await store.heads())[0].sequence == 1

    async def test_one_change_cannot_publish_a_version_as_two_things(self, *, store: Store, values: Values) -> None:
        one = values.registered("a")
        with pytest.raises(VersionExists):
            await store.publish((one, replace(one, digest="2" * 64)), values.event())
        assert await store.versions() == (0, ())

    async def test_a_version_belongs_to_its_tenant_and_source(self, *, store: Store, values: Values) -> None:
        one = values.registered("a")
        others = (replace(one, tenant="globex", digest="2" * 64), replace(one, source="mcp:x", digest="3" * 64))
        await store.publish((one, *others), values.event())
        assert await store.versions() == (1, (one, *others))

    async def test_policies_of_a_tenant_are_replaced_together(self, *, store: Store, values: Values) -> None:
        shared, own = PolicySource("base", PERMIT), PolicySource("base", PERMIT, tenant="acme")
        extra = PolicySource("extra", PERMIT, tenant="acme")
        assert await store.save_policies((shared, own, extra), values.event()) == 1
        assert await store.save_policies((own,), values.event()) == 2
        epoch, sources = await store.policies()
        assert (epoch, set(sources), len(sources)) == (2, {shared, own}, 2)

    async def test_policies_that_say_the_same_leave_the_epoch(self, *, store: Store, values: Values) -> None:
        sources = (PolicySource("b", PERMIT), PolicySource("a", PERMIT))
        await store.save_policies(sources, values.event())
        assert await store.save_policies(sources[::-1], values.event()) == 1
        assert await store.save_policies((replace(sources[0], text=PERMIT * 2), sources[1]), values.event()) == 2
