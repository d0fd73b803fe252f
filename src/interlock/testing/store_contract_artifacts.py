"""The part of a store's contract about results that are kept whole: in parts, per tenant, forgotten with age."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from interlock.core.artifact import JSON, Artifact
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.ports import Artifacts
from interlock.testing.store_contract_shared import ContractTests, Store
from interlock.testing.store_values import NOW_US, TENANT

LABELS = Labels(Confidentiality.CONFIDENTIAL, Trust.UNTRUSTED, frozenset({"web"}))
KEPT = Artifact(TENANT, "a1", "operation-1", "read_log", "alice", JSON, 9, LABELS, NOW_US, b'{"sealed":1}')


class ArtifactStore(Store, Protocol):
    """A store that keeps results whole."""

    @property
    def artifacts(self) -> Artifacts:
        """Where it keeps them."""


async def kept(store: ArtifactStore, artifact: Artifact = KEPT) -> None:
    """Two parts, and what is known of them."""
    for number, data in enumerate((b"first", b"last")):
        await store.artifacts.append(artifact.tenant, artifact.id, number=number, data=data, at_us=artifact.at_us)
    await store.artifacts.keep(artifact)


class ArtifactContract(ContractTests):
    """What a store promises of kept results."""

    async def test_what_is_kept_is_found_part_by_part(self, store: ArtifactStore) -> None:
        await kept(store)
        assert await store.artifacts.artifact(TENANT, "a1") == KEPT
        assert [await store.artifacts.part(TENANT, "a1", number=number) for number in range(3)] == [
            b"first",
            b"last",
            None,
        ]

    async def test_nobody_reads_what_is_not_kept_yet(self, store: ArtifactStore) -> None:
        await store.artifacts.append(TENANT, "a1", number=0, data=b"first", at_us=NOW_US)
        assert await store.artifacts.artifact(TENANT, "a1") is None
        assert await store.artifacts.part(TENANT, "a1", number=0) is None

    async def test_no_tenant_finds_what_is_anothers(self, store: ArtifactStore) -> None:
        await kept(store)
        await kept(store, replace(KEPT, tenant="umbrella", sealed=b"theirs"))
        assert await store.artifacts.artifact("nobody", "a1") is None
        assert await store.artifacts.part("nobody", "a1", number=0) is None
        assert await store.artifacts.artifact("umbrella", "a1") == replace(KEPT, tenant="umbrella", sealed=b"theirs")

    async def test_what_is_old_is_forgotten_with_parts_that_belong_to_nothing(self, store: ArtifactStore) -> None:
        await kept(store)
        await kept(store, replace(KEPT, id="a2", at_us=NOW_US + 10))
        await store.artifacts.append(TENANT, "a3", number=0, data=b"left behind", at_us=NOW_US)
        await store.artifacts.forget(NOW_US + 1)
        await store.artifacts.keep(replace(KEPT, id="a3"))
        assert await store.artifacts.artifact(TENANT, "a1") is None
        assert await store.artifacts.part(TENANT, "a2", number=1) == b"last"
        assert await store.artifacts.part(TENANT, "a3", number=0) is None

    async def test_much_that_is_old_is_forgotten_whole(self, store: ArtifactStore) -> None:
        for number in range(200):
            await store.artifacts.append(TENANT, "a1", number=number, data=b"x", at_us=NOW_US)
        await store.artifacts.keep(KEPT)
        await store.artifacts.forget(NOW_US + 1)
        await store.artifacts.keep(KEPT)
        assert [await store.artifacts.part(TENANT, "a1", number=number) for number in (0, 100, 199)] == [None] * 3

    async def test_it_outlives_the_process(self, store: ArtifactStore) -> None:
        await kept(store)
        after: ArtifactStore = await self.after_crash(store)  # type: ignore[assignment]
        assert await after.artifacts.artifact(TENANT, "a1") == KEPT
        assert await after.artifacts.part(TENANT, "a1", number=1) == b"last"
