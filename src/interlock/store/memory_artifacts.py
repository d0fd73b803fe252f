"""Kept results in memory."""

from __future__ import annotations

from interlock.core.artifact import Artifact


class MemoryArtifacts:
    """The port `Artifacts`, in dictionaries."""

    def __init__(self) -> None:
        self._artifacts: dict[tuple[str, str], Artifact] = {}
        self._parts: dict[tuple[str, str, int], tuple[int, bytes]] = {}

    async def append(self, tenant: str, artifact_id: str, *, number: int, data: bytes, at_us: int) -> None:
        """Keep one part; nobody can read it before the artifact is kept."""
        self._parts[tenant, artifact_id, number] = (at_us, data)

    async def keep(self, artifact: Artifact) -> None:
        """All parts are there."""
        self._artifacts[artifact.tenant, artifact.id] = artifact

    async def artifact(self, tenant: str, artifact_id: str) -> Artifact | None:
        """What is known of one."""
        return self._artifacts.get((tenant, artifact_id))

    async def part(self, tenant: str, artifact_id: str, *, number: int) -> bytes | None:
        """One part of a kept one."""
        found = self._parts.get((tenant, artifact_id, number)) if (tenant, artifact_id) in self._artifacts else None
        return None if found is None else found[1]

    async def forget(self, before_us: int) -> None:
        """Forget what was kept before then."""
        self._artifacts = {place: each for place, each in self._artifacts.items() if each.at_us >= before_us}
        self._parts = {place: part for place, part in self._parts.items() if part[0] >= before_us}
