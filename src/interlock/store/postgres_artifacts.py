"""Kept results in PostgreSQL, sealed where the store is, in parts that each fit into an ordinary transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interlock.core.artifact import Artifact
from interlock.store.postgres_line import Line, Step
from interlock.store.postgres_reads import Reader
from interlock.store.postgres_rows import place_of
from interlock.store.postgres_sheet import Sheet
from interlock.store.postgres_writer import Writer
from interlock.store.rows import read_labels, write_labels
from interlock.store.seal import Seal, of_artifact, of_part

FORGOTTEN_AT_ONCE: Final = 64
"""How many parts one transaction forgets."""


class PostgresArtifacts:
    """The port `Artifacts` of a PostgreSQL store: it writes through the store's writer, and reads beside it."""

    def __init__(self, writer: Writer, reader: Reader, *, seal: Seal) -> None:
        self._writer = writer
        self._reader = reader
        self._seal = seal

    async def append(self, tenant: str, artifact_id: str, *, number: int, data: bytes, at_us: int) -> None:
        """Keep one part; nobody can read it before the artifact is kept."""
        sealed = self._seal.seal(data, context=of_part(tenant, artifact_id, number))
        row = (place_of(tenant, artifact_id), number, at_us, sealed)
        await self._writer.write_alone("artifact_part", _Running(("insert_artifact_part", row)))

    async def keep(self, artifact: Artifact) -> None:
        """All parts are there."""
        tenant, name = artifact.tenant, artifact.id
        row = (
            place_of(tenant, name),
            artifact.operation_id,
            artifact.tool,
            artifact.principal,
            artifact.media_type,
            artifact.size_bytes,
            write_labels(artifact.labels),
            artifact.at_us,
            self._seal.seal(artifact.sealed, context=of_artifact(tenant, name)),
        )
        await self._writer.write_alone("artifact", _Running(("insert_artifact", row)))

    async def artifact(self, tenant: str, artifact_id: str) -> Artifact | None:
        """What is known of one."""
        self._writer.check()
        (rows,) = await self._reader.trip(("select_artifact", (place_of(tenant, artifact_id),)))
        if not rows:
            return None
        operation, tool, principal, media_type, size_bytes, labels, at_us, sealed = rows[0]
        opened = self._seal.open(sealed, context=of_artifact(tenant, artifact_id))
        known = (operation, tool, principal, media_type, size_bytes, read_labels(labels), at_us)
        return Artifact(tenant, artifact_id, *known, opened)

    async def part(self, tenant: str, artifact_id: str, *, number: int) -> bytes | None:
        """One part of a kept one."""
        self._writer.check()
        (rows,) = await self._reader.trip(("select_artifact_part", (place_of(tenant, artifact_id), number)))
        return self._seal.open(rows[0][0], context=of_part(tenant, artifact_id, number)) if rows else None

    async def forget(self, before_us: int) -> None:
        """Forget what was kept before then, some parts at a time so that others can write."""
        for query in ("forget_artifacts", "forget_artifact_parts"):
            gone = FORGOTTEN_AT_ONCE
            while gone == FORGOTTEN_AT_ONCE:
                step: Step = (query, (before_us, FORGOTTEN_AT_ONCE))
                gone = await self._writer.write_alone("forget_artifacts", _Running(step))


@dataclass(frozen=True, slots=True)
class _Running:
    """Run one query; how many rows it has changed."""

    step: Step

    async def carry_out(self, line: Line, sheet: Sheet) -> int:
        (changed,) = await line.count(self.step)
        return changed
