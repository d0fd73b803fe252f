"""The contract notices stores that show one tenant's results to another, or before they are whole, or for ever."""

import pytest

from interlock.core.artifact import Artifact
from interlock.store.memory import MemoryStore
from interlock.store.memory_artifacts import MemoryArtifacts
from interlock.testing.store_contract_artifacts import ArtifactContract


class ForAll(MemoryArtifacts):
    async def artifact(self, tenant: str, artifact_id: str) -> Artifact | None:
        return next((each for place, each in self._artifacts.items() if place[1] == artifact_id), None)


class TooEarly(MemoryArtifacts):
    async def part(self, tenant: str, artifact_id: str, *, number: int) -> bytes | None:
        return self._parts.get((tenant, artifact_id, number), (0, None))[1]


class Keeps(MemoryArtifacts):
    async def forget(self, before_us: int) -> None:
        self._artifacts = {place: each for place, each in self._artifacts.items() if each.at_us >= before_us}


def store_with(artifacts: MemoryArtifacts) -> MemoryStore:
    store = MemoryStore()
    store.artifacts = artifacts
    return store


@pytest.mark.parametrize(
    ("artifacts", "test"),
    [
        (ForAll(), ArtifactContract.test_no_tenant_finds_what_is_anothers),
        (TooEarly(), ArtifactContract.test_nobody_reads_what_is_not_kept_yet),
        (Keeps(), ArtifactContract.test_what_is_old_is_forgotten_with_parts_that_belong_to_nothing),
        (Keeps(), ArtifactContract.test_much_that_is_old_is_forgotten_whole),
    ],
)
async def test_a_store_that_breaks_a_promise_is_noticed(artifacts: MemoryArtifacts, test: object) -> None:
    with pytest.raises(AssertionError):
        await test(ArtifactContract(), store_with(artifacts))  # type: ignore[operator]
